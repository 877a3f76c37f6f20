// Try: paste or edit a text and watch its labels change, with the evidence marked in it; one model or two side by side.
import { html, nothing } from "lit";
import { corpusPath, get, post } from "../api.js";
import { howToRead, marksOf, whatIf } from "../evidence.js";
import { address, set } from "../route.js";
import { View, count, score } from "../view.js";
import "../marked-text.js";

const PAUSE = 250;
const IN_ADDRESS = 4_000;
/* longer texts are not kept in the address */
const RUNNERS_UP = 3;
const FOUND = 100;
/* a document with given words is drawn from this many */
const TAKEN = 100_000;
/* of a longer document only the beginning is taken: browsers take seconds to draw more in a field, and servers refuse to explain it */
const BARS = 8;
const TERMS = 50;

/** The name of a field that a document without fields has. */
const WHOLE = "text";

class TryView extends View {
  static properties = { ...View.properties, answers: { state: true }, fields: { state: true }, waiting: { state: true }, from: { state: true } };

  constructor() {
    super();
    Object.assign(this, { answers: {}, fields: { [WHOLE]: "" }, waiting: false, from: null, asked: null });
  }

  get shortcuts() {
    return [
      { keys: ["e"], text: "Edit the text", run: () => this.querySelector("textarea").focus() },
      { keys: ["r"], text: "Take a document of the corpus", enabled: () => Boolean(this.summary?.documents), run: () => this.takeDocument() },
    ];
  }

  /** The names of the models side by side. */
  get chosen() {
    const names = (this.models ?? []).map(({ name }) => name), asked = ["model", "other"].map((name) => this.parameters.get(name));
    const first = names.includes(asked[0]) ? asked[0] : names.includes(this.corpus) ? this.corpus : names[0];
    return [first, names.includes(asked[1]) && asked[1] !== first ? asked[1] : null];
  }

  /** Whether there is nothing to label. */
  get isEmpty() {
    return Object.values(this.fields).every((text) => !text.trim());
  }

  get length() {
    return Object.values(this.fields).reduce((sum, text) => sum + text.length, 0);
  }

  async opened() {
    if (this.later) return; // what is being typed comes before the address
    const { parameters } = this;
    if (parameters.has("document") && this.corpus) await this.attempt(() => this.fetchDocument(Number(parameters.get("document"))));
    else if (parameters.has("text")) this.fields = { [WHOLE]: parameters.get("text") };
    else if (parameters.has("fields")) this.fields = fieldsOf(parameters.get("fields"));
    await this.explain();
  }

  /** Take the texts of a document of the corpus; one that is shown already stays as it is. */
  async fetchDocument(number) {
    if (this.from?.number === number && this.from.corpus === this.corpus) return;
    const { id, fields, labels } = await get(corpusPath(this.corpus, "documents", number));
    this.from = { corpus: this.corpus, number, id, labels: labels.filter(({ is_true: isTrue }) => isTrue).map(({ label }) => label), isCut: Object.values(fields).some((text) => text.length > TAKEN) };
    this.fields = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text.slice(0, TAKEN)]));
  }

  /** Take any document of the corpus, or any of those that hold the words one typed. */
  async takeDocument() {
    const words = this.querySelector("#try-words")?.value.trim();
    if (!words) return set({ document: 1 + Math.floor(Math.random() * this.summary.documents), text: null, fields: null, label: null }, {});
    const found = await this.attempt(() => post(corpusPath(this.corpus, "search"), { filter: { text: words }, limit: FOUND, count: false }));
    if (!found) return undefined;
    if (!found.documents.length) return this.tell("ml-problem", { message: `No document of ${this.corpus} holds “${words}”. Try other words.` });
    const { number } = found.documents[Math.floor(Math.random() * found.documents.length)];
    return set({ document: number, text: null, fields: null, label: null }, {});
  }

  onInput(name, event) {
    this.fields = { ...this.fields, [name]: event.target.value };
    this.from = null;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keep(), PAUSE);
  }

  /** Put the text into the address, from where it is explained; long ones are explained at once. */
  keep() {
    this.later = null;
    const whole = Object.keys(this.fields).join() === WHOLE, kept = this.length <= IN_ADDRESS;
    set({ text: kept && whole ? this.fields[WHOLE] : null, fields: kept && !whole ? JSON.stringify(this.fields) : null, document: null });
    this.explain();
  }

  clear() {
    clearTimeout(this.later);
    this.later = null;
    Object.assign(this, { fields: { [WHOLE]: "" }, from: null });
    this.tell("ml-problem", null);
    set({ text: null, fields: null, document: null, label: null });
    this.explain();
    this.updateComplete.then(() => this.querySelector("textarea").focus());
  }

  /** Ask the models for their labels, unless they have answered already. */
  async explain() {
    const names = this.chosen.filter(Boolean), { fields } = this, versions = this.models?.map(({ name, version }) => [name, version]);
    const asked = JSON.stringify([names, fields, versions]);
    if (asked === this.asked) return;
    this.stop?.abort();
    this.asked = asked;
    if (this.isEmpty || !names.length) {
      Object.assign(this, { answers: {}, waiting: false });
      return;
    }
    const { signal } = (this.stop = new AbortController());
    this.waiting = true;
    const text = Object.keys(fields).join() === WHOLE ? fields[WHOLE] : fields;
    const found = await this.attempt(() => Promise.all(names.map((name) => post(`/v1/models/${encodeURIComponent(name)}/explain`, { text, runners_up: RUNNERS_UP }, signal))));
    if (signal.aborted) return;
    this.waiting = false;
    this.answers = found ? Object.fromEntries(found.map((answer, place) => [names[place], { ...answer.explanations[0].explanation, version: answer.version }])) : {};
    if (!found) this.asked = null;
    else this.tell("ml-say", `Predicted labels: ${[...predictedBy(this.answers[names[0]])].join(", ") || "none"}`);
  }

  /** The label whose evidence is marked: the one of the address, or the first. */
  shown(answer) {
    return answer.labels.find(({ label }) => label === this.parameters.get("label")) ?? answer.labels[0];
  }

  answer(name, other) {
    const answer = this.answers[name], against = other && this.answers[other] ? predictedBy(this.answers[other]) : null;
    if (!answer) return html`<section class="panel" aria-label=${`Labels by the model ${name}`}><h2>${name}</h2><p class="quiet">${this.isEmpty ? "Labels appear here as soon as there is a text." : this.waiting ? "Labelling …" : "The model has not labelled this text; the message above says why."}</p></section>`;
    const shown = this.shown(answer);
    return html`<section class="panel" aria-label=${`Labels by the model ${name}`} aria-busy=${String(this.waiting)}>
      <h2>${name} <span class="quiet">${answer.method}, ${answer.version.slice(0, 10)}</span></h2>
      <ul class="scores" aria-label="Labels">${answer.labels.map((one) => this.labelRow(one, one === shown, against))}</ul>
      ${shown ? this.evidence(answer, shown) : html`<p class="quiet">The model predicts no label.</p>`}
      ${answer.neighbours.length ? neighbourTable(answer.neighbours) : nothing}</section>`;
  }

  /** A label with its score; `against` are the labels that the other model predicts. */
  labelRow(one, isShown, against) {
    const place = (value) => `${(100 * Math.max(0, Math.min(1, value))).toFixed(1)}%`, differs = against && against.has(one.label) !== one.predicted;
    return html`<li><button type="button" class="score-row ${differs ? "differs" : ""}" aria-pressed=${String(isShown)} @click=${() => set({ label: one.label })}>
      <span class="score-name" dir="auto"><span aria-hidden="true">${one.predicted ? "✓" : "·"}</span> ${one.label}${differs ? html` <span class="only">${one.predicted ? "only here" : "only there"}</span>` : nothing}</span>
      ${one.is_probability ? html`<span class="score-bar" aria-hidden="true"><span style="width:${place(one.score)}"></span>${one.threshold === null ? nothing : html`<i style="left:${place(one.threshold)}"></i>`}</span>` : html`<span></span>`}
      <span class="score-value">${one.is_probability ? one.score.toFixed(3) : score(one.score)}<span class="unseen">, ${one.predicted ? "predicted" : "not predicted"}${one.threshold === null ? "" : `, threshold ${score(one.threshold)}`}</span></span></button></li>`;
  }

  evidence(answer, shown) {
    return html`<h3>Why ${shown.predicted ? "" : "not "}<span dir="auto">${shown.label}</span></h3>
      ${answer.fields.map(({ field, text }) => html`${field === null ? nothing : html`<p class="field-name quiet" dir="auto">${field}</p>`}<ml-marked-text .text=${text} .marks=${marksOf(shown, field, text)} caption=${field ?? "Text"}></ml-marked-text>`)}
      <p class="quiet legend"><mark class="for" style="--strength:.6">for</mark> <mark class="against" style="--strength:.6">against</mark> ${howToRead(shown)}</p>
      ${whatIf(shown) ? html`<p dir="auto">${whatIf(shown)}</p>` : nothing}
      ${shown.rules.length ? html`<p dir="auto">Keyword rules that match: ${shown.rules.join("; ")}</p>` : nothing}
      ${shown.terms.length ? contributions("term", shown.terms.map(({ term, contribution }) => [term, contribution])) : html`<p class="quiet">No term of the text speaks for or against the label.</p>`}
      ${shown.labels.length ? contributions("other label", shown.labels.map(({ name, contribution }) => [name, contribution])) : nothing}
      ${shown.members.length ? contributions("member of the ensemble", shown.members.map(({ name, contribution }) => [name, contribution])) : nothing}`;
  }

  /** What two models agree on and what only one of them predicts. */
  difference(first, second) {
    if (!this.answers[first] || !this.answers[second]) return nothing;
    const [one, two] = [first, second].map((name) => predictedBy(this.answers[name]));
    const parts = [["Both", [...one].filter((label) => two.has(label))], [`Only ${first}`, [...one].filter((label) => !two.has(label))], [`Only ${second}`, [...two].filter((label) => !one.has(label))]];
    return html`<dl class="difference" aria-label="Predicted labels of both models">${parts.map(([title, labels]) => html`<div><dt>${title}</dt><dd>${labels.length ? labels.map((label) => html`<span class="label" dir="auto">${label}</span> `) : "none"}</dd></div>`)}</dl>`;
  }

  modelChoice(title, name, chosen, optional) {
    return html`<label>${title}<select @change=${(event) => set({ [name]: event.target.value })}>
      ${optional ? html`<option value="" ?selected=${!chosen}>none</option>` : nothing}
      ${this.models.map((model) => html`<option value=${model.name} ?selected=${model.name === chosen}>${model.name} (${model.method})</option>`)}</select></label>`;
  }

  /** What takes a document of the corpus as the text. */
  documentChoice() {
    if (!this.summary?.documents) return nothing;
    const take = (event) => { event.preventDefault(); this.takeDocument(); };
    return html`<form class="take" @submit=${take}><label>Document of ${this.corpus} with the words<input id="try-words" type="search" dir="auto" maxlength="1000" placeholder="any words"></label>
      <button title="Take a document (r)">Take a document</button></form>`;
  }

  editor() {
    const names = Object.keys(this.fields), long = this.length > IN_ADDRESS;
    return html`<section class="panel" aria-label="Text">
      ${names.map((name, place) => html`<label for=${place ? `try-text-${place}` : "try-text"} dir="auto">${names.length === 1 && name === WHOLE ? "Text" : name}</label>
        <textarea id=${place ? `try-text-${place}` : "try-text"} rows=${names.length > 1 && place < names.length - 1 ? 2 : 12} dir="auto" spellcheck="false" placeholder="Paste or write a text." .value=${this.fields[name]} @input=${(event) => this.onInput(name, event)}></textarea>`)}
      <div class="tools"><button type="button" ?disabled=${!this.length} @click=${this.clear}>Clear</button>
        <span class="quiet">${count(this.length)} characters${long && !this.from ? ", too long to be part of the address" : ""}</span></div>
      ${this.from ? html`<p><a href=${address({ corpus: this.corpus, view: "review", parameters: { document: this.from.number } })} dir="auto">${this.from.id}</a> has the true labels
        ${this.from.labels.length ? this.from.labels.map((label) => html`<span class="label" dir="auto">${label}</span> `) : "none"}${this.from.isCut ? html`<br>Only the first ${count(TAKEN)} characters of each field are labelled here.` : nothing}</p>` : nothing}</section>`;
  }

  render() {
    if (!this.models) return nothing;
    if (!this.models.length) return html`<h1>Try</h1><div class="empty"><h2>No model yet</h2><p>Press <em>Retrain</em> under <a href=${address({ corpus: this.corpus, view: "review" })}>Review</a>, train one under <a href=${address({ corpus: this.corpus, view: "compare" })}>Compare</a>, or start the server with a model file.</p></div>`;
    const [first, second] = this.chosen;
    return html`<h1>Try</h1>
      <div class="tools">${this.modelChoice("Model", "model", first, false)}${this.modelChoice("Beside it", "other", second, true)}${this.documentChoice()}</div>
      ${second ? this.difference(first, second) : nothing}
      <div class="try">${this.editor()}${this.answer(first, second)}${second ? this.answer(second, first) : nothing}</div>`;
  }
}

/** The labels that an answer predicts. */
const predictedBy = (answer) => new Set(answer.labels.filter(({ predicted }) => predicted).map(({ label }) => label));

/** The fields of an address; what is not an object of texts is taken as one text. */
function fieldsOf(written) {
  try {
    const found = Object.entries(JSON.parse(written)).filter(([, text]) => typeof text === "string");
    if (found.length) return Object.fromEntries(found);
  } catch { /* no JSON */ }
  return { [WHOLE]: written };
}

/** Contributions as bars to the right (for) and to the left (against), with their figures; the strongest first. */
function contributions(title, pairs) {
  const rows = pairs.slice(0, TERMS), most = Math.max(...rows.map(([, value]) => Math.abs(value)));
  const row = ([name, value]) => html`<tr><td dir="auto">${name}</td><td class="balance" aria-hidden="true"><div><span class=${value < 0 ? "minus" : ""} style="width:${(100 * Math.abs(value) / most).toFixed(1)}%"></span></div></td><td class="figure">${value > 0 ? "+" : value < 0 ? "−" : ""}${score(Math.abs(value))}</td></tr>`;
  const table = (part) => html`<div class="wide" tabindex="0" role="region" aria-label=${`Contributions by ${title}`}><table class="contributions"><thead><tr><th scope="col">${title}</th><th scope="col" colspan="2" class="figure">contribution</th></tr></thead><tbody>${part.map(row)}</tbody></table></div>`;
  return html`${table(rows.slice(0, BARS))}${rows.length > BARS ? html`<details><summary>${count(rows.length - BARS)} more</summary>${table(rows.slice(BARS))}</details>` : nothing}`;
}

/** The training documents that vote. */
function neighbourTable(neighbours) {
  return html`<h3>Nearest training documents</h3><div class="wide" tabindex="0" role="region" aria-label="Nearest training documents"><table><thead><tr><th scope="col" class="figure">document</th><th scope="col" class="figure">similarity</th><th scope="col" class="figure">vote</th><th scope="col">labels</th><th scope="col">shared terms</th></tr></thead>
    <tbody>${neighbours.map((one) => html`<tr><td class="figure">${count(one.document)}</td><td class="figure">${score(one.similarity)}</td><td class="figure">${score(one.vote)}</td><td dir="auto">${one.labels.join(", ")}</td><td dir="auto">${one.terms.join(", ")}</td></tr>`)}</tbody></table></div>`;
}

customElements.define("ml-try-view", TryView);
