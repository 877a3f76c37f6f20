// <ml-review-document>: the texts of a document with the evidence for one label, and its labels with state, score, threshold, who and when.
// Fires "focus-label" with a label, "decide" with { accept | reject | clear: [label] }, "add-label", "change-label" and "show-all".
import { LitElement, html, nothing } from "lit";
import { Problem, get, post } from "../../api.js";
import { howToRead, marksOf, whatIf } from "../../evidence.js";
import { count, counted, keyNames, percent, score, when } from "../../view.js";
import "../../label-input.js";
import "../../marked-text.js";

const PAUSE = 80;
const LONGEST = 200_000;
/* characters: what a server explains by default; evidence in longer texts would take seconds and help nobody */
const MOST_LABELS = 10_000;
const REMEMBERED = 50;
const SIGNS = { imported: "●", accepted: "✓", rejected: "✕", suggested: "○" };
const RANK = { imported: 0, accepted: 0, suggested: 1, rejected: 2 };

/** The labels of a document that one decides about first: its own, then suggested ones, then rejected ones, then those with a score alone. */
export function sorted(labels) {
  const rank = ({ state, suggestion }) => (suggestion && state === null ? 1 : RANK[state] ?? 3);
  return [...labels].sort((a, b) => rank(a) - rank(b) || (b.score ?? -Infinity) - (a.score ?? -Infinity));
}

export const DECIDED = ["imported", "accepted", "rejected"];
export const isMinor = ({ state, suggestion }) => state === null && !suggestion;

const known = new Map();

/** The labels that a model knows, asked for once: to ask for the evidence of another one is an error. */
function labelsOf({ name, sha256 }) {
  const ask = async () => {
    const found = new Set();
    for (let total = 1; found.size < total;) {
      const page = await get(`/v1/models/${encodeURIComponent(name)}/labels`, { offset: found.size, limit: MOST_LABELS });
      page.labels.forEach(({ label }) => found.add(label));
      total = page.labels.length ? page.total : 0;
    }
    return found;
  };
  if (!known.has(sha256)) known.set(sha256, ask().catch((error) => { known.delete(sha256); throw error; }));
  return known.get(sha256);
}

class ReviewDocument extends LitElement {
  static properties = {
    corpus: { attribute: false }, document: { attribute: false }, labels: { attribute: false }, minor: { attribute: false }, all: { attribute: false }, focused: { attribute: false }, model: { attribute: false }, saving: { attribute: false },
    explained: { state: true }, remark: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { document: null, labels: [], minor: 0, all: false, focused: null, model: null, explained: null, remark: "", explanations: new Map() });
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    const asked = JSON.stringify([this.document?.number, this.focused, this.model?.name, this.model?.sha256]);
    if (asked === this.askedFor) return;
    this.askedFor = asked;
    this.stop?.abort();
    clearTimeout(this.later);
    const known = this.explanations.get(asked);
    this.explained = known ?? null;
    this.remark = "";
    if (!known && this.document && this.focused) this.later = setTimeout(() => this.explain(asked), PAUSE);
  }

  /** Ask for the evidence for the label in focus; where there is none, say why. */
  async explain(asked) {
    const { fields } = this.document, size = Object.values(fields).reduce((sum, text) => sum + text.length, 0);
    if (!this.model) this.remark = "Evidence is marked as soon as there is a model: retrain.";
    else if (size > LONGEST) this.remark = `This document has ${count(size)} characters. Evidence is marked in documents of up to ${count(LONGEST)}.`;
    if (this.remark || !size) return;
    const { model: { name }, focused } = this, { signal } = (this.stop = new AbortController());
    try {
      const labels = await labelsOf(this.model);
      if (asked !== this.askedFor) return;
      if (!labels.has(focused)) {
        this.remark = `The model ${name} does not know this label. If it is new, retrain.`;
        return;
      }
      const answer = await post(`/v1/models/${encodeURIComponent(name)}/explain`, { text: fields, labels: [focused] }, signal);
      if (this.explanations.size > REMEMBERED) this.explanations.clear();
      this.explanations.set(asked, answer.explanations[0].explanation);
      if (asked === this.askedFor) this.explained = this.explanations.get(asked);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.remark = error.message;
    }
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Put the focus of the keyboard on the label in focus, or on the document where it has no labels. */
  async focusLabel() {
    await this.updateComplete;
    const target = this.querySelector(".review-labels input:checked") ?? this.querySelector("#labels-title");
    target?.focus({ preventScroll: true });
    target?.closest(".review-label")?.scrollIntoView({ block: "nearest" });
  }

  texts() {
    const shown = this.explained?.labels[0];
    const named = Object.keys(this.document.fields).length > 1;
    return html`<div class="review-text">
      ${Object.entries(this.document.fields).map(([field, text]) => html`${named ? html`<h3>${field}</h3>` : nothing}
        <ml-marked-text caption=${named ? field : "Text"} .text=${text} .marks=${shown ? marksOf(shown, field, text) : []}></ml-marked-text>`)}
      <p class="quiet legend">${this.remark || (shown ? this.legend(shown) : " ")}</p></div>`;
  }

  legend(shown) {
    const rules = shown.rules.length ? `Keyword rules that match: ${shown.rules.join("; ")}.` : "";
    return html`<mark class="for" style="--strength:.6">for</mark> <mark class="against" style="--strength:.6">against</mark> <span dir="auto">${shown.label}</span>. ${[howToRead(shown), whatIf(shown), rules].filter(Boolean).join(" ")}`;
  }

  /** What is known about a label of the document: what it is, and by whom. */
  facts({ state, by, at, suggestion, threshold, is_predicted: isPredicted }) {
    const what = { imported: "imported", accepted: "accepted", rejected: "rejected", suggested: suggestion ? "" : "suggested by the model" }[state] ?? "";
    const who = by && state !== "imported" ? ` by ${by}, ${when(at)}` : "";
    const advice = suggestion ? `${suggestion.source} suggests to ${suggestion.action} it, ${percent(suggestion.probability, 0)}` : "";
    const missed = state === "imported" || state === "accepted" ? (isPredicted || threshold === null ? "" : "not predicted") : "";
    return [what + who, advice, missed].filter(Boolean).join(" · ") || "scored";
  }

  bar({ score: value, threshold }) {
    const place = (number) => `${(100 * Math.max(0, Math.min(1, number))).toFixed(1)}%`;
    const words = value === null ? "no score" : `score ${score(value)}${threshold === null ? "" : `, threshold ${score(threshold)}`}`;
    if (value === null && threshold === null) return html`<span class="review-score"><span class="unseen">no score</span></span>`;
    return html`<span class="review-score" title=${words}>
      <span class="score-bar" aria-hidden="true">${value === null ? nothing : html`<span style="width:${place(value)}"></span>`}${threshold === null ? nothing : html`<i style="left:${place(threshold)}"></i>`}</span>
      <span class="score-value" aria-hidden="true">${value === null ? "–" : value.toFixed(2)}</span><span class="unseen">${words}</span></span>`;
  }

  labelRow(one, place) {
    const { label, state } = one, isFocused = label === this.focused;
    const action = (name, sign, title, pressed) => html`<button type="button" class="sign" title=${title} aria-label=${`${title} ${label}`}
      aria-pressed=${String(pressed)} @click=${() => { this.tell("focus-label", label); this.tell("decide", { [name]: [label] }); }}>${sign}</button>`;
    return html`<div class=${`review-label ${state ?? "scored"}`} ?data-focused=${isFocused} @focusin=${() => { if (!isFocused) this.tell("focus-label", label); }}>
      <label><input type="radio" name="label-in-focus" .checked=${isFocused} @change=${() => this.tell("focus-label", label)}>
        <span class="review-name"><span class="review-sign" aria-hidden="true">${SIGNS[state] ?? "·"}</span><span dir="auto">${label.split(/(?<=\/)/).map((part) => html`${part}<wbr>`)}</span>${place < 9 ? html`<kbd aria-hidden="true">${place + 1}</kbd>` : nothing}</span>
        <span class="quiet review-facts">${this.facts(one)}</span>${this.bar(one)}</label>
      <span class="review-acts">${action("accept", "✓", "Accept", state === "accepted")}${action("reject", "✕", "Reject", state === "rejected")}</span></div>`;
  }

  focusedActions() {
    const one = this.labels.find(({ label }) => label === this.focused);
    const button = (name, key, title, disabled) => html`<button type="button" ?disabled=${disabled} @click=${() => this.tell("decide", { [name]: [one.label] })}>${title} ${keyNames(key)}</button>`;
    return html`<div class="review-focused" role="group" aria-label=${one ? `The label ${one.label}` : "No label in focus"}>
      ${button("accept", "a", "Accept", !one || one.state === "accepted")}${button("reject", "r", "Reject", !one || one.state === "rejected")}
      ${button("clear", "c", "Clear", !DECIDED.includes(one?.state))}
      <span class="review-rename"><button type="button" class="quiet" ?disabled=${!one} @click=${() => this.tell("change-label", "rename")}>Rename … ${keyNames("e")}</button>
        <button type="button" class="quiet" ?disabled=${!one} @click=${() => this.tell("change-label", "merge")}>Merge … ${keyNames("w")}</button></span></div>`;
  }

  render() {
    if (!this.document) return nothing;
    return html`<div class="review-body">${this.texts()}
      <div class="review-side"><div class="review-add"><h3 id="labels-title" tabindex="-1">Labels</h3>
          <ml-label-input .corpus=${this.corpus} caption="Add a label (l)" allow-new @choose=${({ detail }) => this.tell("add-label", detail)}></ml-label-input></div>
        ${this.labels.length ? html`<div class="review-labels" role="radiogroup" aria-labelledby="labels-title">${this.labels.map((one, place) => this.labelRow(one, place))}</div>`
          : html`<p class="quiet">No label yet. Add one, or tell that no label applies.</p>`}
        ${this.minor ? html`<button type="button" class="quiet" aria-expanded=${String(this.all)} @click=${() => this.tell("show-all", !this.all)}>
          ${this.all ? "Hide labels that have a score alone" : `Show ${counted(this.minor, "label")} that ${this.minor === 1 ? "has" : "have"} a score alone`} ${keyNames("m")}</button>` : nothing}
        ${this.focusedActions()}</div></div>`;
  }
}

customElements.define("ml-review-document", ReviewDocument);
