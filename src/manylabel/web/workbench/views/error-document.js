// <ml-error-document>: a document with its labels, what is true and what is predicted, and the evidence for one of them. Fires "label" with the
// label whose evidence is asked for.
import { LitElement, html, nothing } from "lit";
import { Problem, corpusPath, get, post } from "../api.js";
import { stateMark } from "../documents.js";
import { howToRead, marksOf, whatIf } from "../evidence.js";
import { address } from "../route.js";
import { score } from "../view.js";
import "../marked-text.js";

const SHOWN = 12;
const WHOLE = "text";
const EXPLAINED = 20_000;
/* characters of a document that are explained: its beginning */

/** What a label of a document is: words, and whether it is a mistake. */
function kindOf({ is_true: isTrue, is_predicted: isPredicted, state }, isScored) {
  if (isTrue && !isScored) return ["● true", false];
  if (isTrue && isPredicted) return ["✓ true, predicted", false];
  if (isTrue) return ["● true, not predicted", true];
  if (isPredicted) return [state === "rejected" ? "✕ predicted, rejected" : "○ predicted, not true", true];
  return [state === "rejected" ? "✕ rejected" : "not predicted", false];
}

class ErrorDocument extends LitElement {
  static properties = {
    corpus: { attribute: false }, number: { attribute: false }, label: { attribute: false }, models: { attribute: false }, event: { attribute: false }, isScored: { attribute: false },
    document: { state: true }, explained: { state: true }, why: { state: true }, whole: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { models: [], document: null, explained: null, why: "", whole: false });
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    const key = JSON.stringify([this.corpus, this.number, this.event]);
    if (key !== this.loadedFor) this.load(key);
    else if (this.document && this.explainedFor !== this.wanted) this.explain();
  }

  /** The label whose evidence is shown: the one asked for where the document has to do with it, or its worst mistake. */
  get shown() {
    const labels = this.document?.labels ?? [];
    return labels.find(({ label }) => label === this.label) ?? labels.find((one) => kindOf(one, this.isScored)[1]) ?? labels[0] ?? null;
  }

  /** The model that explains: the one with the name of the corpus. */
  get model() {
    return this.models?.find(({ name }) => name === this.corpus) ?? null;
  }

  get wanted() {
    return JSON.stringify([this.loadedFor, this.shown?.label, this.model?.version]);
  }

  async load(key) {
    Object.assign(this, { loadedFor: key, whole: false });
    if (!this.number || this.documentOf !== this.corpus) Object.assign(this, { document: null, explained: null, documentOf: this.corpus });
    if (!this.number) return;
    const found = await this.attempt((signal) => get(corpusPath(this.corpus, "documents", this.number), {}, signal));
    if (found && key === this.loadedFor) Object.assign(this, { document: found, explained: null });
  }

  async explain() {
    this.explainedFor = this.wanted;
    Object.assign(this, { explained: null, why: "" });
    if (!this.model || !this.shown) return;
    const names = Object.keys(this.document.fields), most = Math.floor(EXPLAINED / names.length);
    const cut = Object.fromEntries(names.map((name) => [name, this.document.fields[name].slice(0, most)])), text = names.join() === WHOLE ? cut[WHOLE] : cut;
    const { name } = this.model, found = await this.attempt((signal) => post(`/v1/models/${encodeURIComponent(name)}/explain`, { text, labels: [this.shown.label] }, signal));
    if (found) this.explained = { ...found.explanations[0].explanation, by: name };
  }

  async attempt(work) {
    this.stop?.abort();
    this.stop = new AbortController();
    try {
      return await work(this.stop.signal);
    } catch (error) {
      if (error.name === "AbortError") return null;
      if (!(error instanceof Problem)) throw error;
      this.why = error.message;
      return null;
    }
  }

  labels() {
    const { labels } = this.document, first = labels.filter((one) => one.is_true || one.is_predicted || one.state), shown = this.whole ? labels : labels.filter((one, place) => first.includes(one) || place < SHOWN).slice(0, Math.max(SHOWN, first.length));
    const row = (one) => {
      const [words, isWrong] = kindOf(one, this.isScored);
      return html`<tr><th scope="row"><button type="button" aria-pressed=${String(one === this.shown)} dir="auto" @click=${() => this.dispatchEvent(new CustomEvent("label", { detail: one.label }))}>${one.label}</button></th>
        <td class=${isWrong ? "wrong" : ""}>${words}</td><td class="figure">${score(one.score)}</td></tr>`;
    };
    return html`<table class="mistakes"><thead><tr><th scope="col">label: press for its evidence</th><th scope="col">it is</th><th scope="col" class="figure">score</th></tr></thead><tbody>${shown.map(row)}</tbody></table>
      ${shown.length < labels.length ? html`<button type="button" @click=${() => { this.whole = true; }}>${labels.length - shown.length} more with low scores</button>` : nothing}`;
  }

  texts() {
    const { fields } = this.document, marked = this.explained?.labels.find(({ label }) => label === this.shown?.label);
    const names = Object.keys(fields).filter((name) => fields[name]);
    const marks = (name, text) => (marked ? marksOf(marked, this.explained.fields.find((one) => one.field === name)?.field ?? null, text) : []);
    return html`${names.map((name) => html`${names.length > 1 ? html`<p class="field-name quiet" dir="auto">${name}</p>` : nothing}<ml-marked-text .text=${fields[name]} .marks=${marks(name, fields[name])} caption=${name}></ml-marked-text>`)}
      ${marked ? html`<p class="quiet legend"><mark class="for" style="--strength:.6">for</mark> <mark class="against" style="--strength:.6">against</mark> <span dir="auto">${marked.label}</span>, by the model ${this.explained.by}. ${howToRead(marked)}${names.some((name) => fields[name].length > EXPLAINED / Object.keys(fields).length) ? " Only the beginning of the text was explained." : ""}</p>
        ${whatIf(marked) ? html`<p dir="auto">${whatIf(marked)}</p>` : nothing}` : html`<p class="quiet">${this.why || (this.model ? "" : html`There is no model of the name ${this.corpus} that could explain its labels. Train one under <a href=${address({ corpus: this.corpus, view: "compare" })}>Compare</a>.`)}</p>`}`;
  }

  render() {
    const { document } = this;
    if (!this.number) return html`<section class="panel document" aria-label="Document"><p class="quiet">Choose a document to see its text, its labels and why they were predicted.</p></section>`;
    if (!document) return html`<section class="panel document" aria-label="Document"><p class="quiet">${this.why || "Loading …"}</p></section>`;
    const to = (view) => address({ corpus: this.corpus, view, parameters: { document: document.number } });
    return html`<section class="panel document" aria-label="Document"><h2 dir="auto">${document.id}</h2>
      <div class="tools"><span class="quiet">${document.split} · ${stateMark(document.state)}${document.reviewed_by ? html` by <span dir="auto">${document.reviewed_by}</span>` : nothing}</span><a href=${to("review")}>Review it</a><a href=${to("try")}>Try its text</a></div>
      ${this.labels()}<h3>Text</h3>${this.texts()}</section>`;
  }
}

customElements.define("ml-error-document", ErrorDocument);
