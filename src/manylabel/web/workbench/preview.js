// <ml-preview>: uploaded data before they are imported: what was guessed, label statistics, warnings, the first documents.
import { html, nothing } from "lit";
import { follow, get, post, runJob } from "./api.js";
import { address, go, set } from "./route.js";
import { BUILT_IN, freeName, validName } from "./upload.js";
import { View, count, counted } from "./view.js";
import "./reading.js";

const MOST_LABELS = 20;
const FIRST_DOCUMENTS = 6;
const CONTROLS = {
  text_column: "Text", label_column: "Labels", label_separator: "Between labels", id_column: "Ids", split_column: "Split (train, test)", encoding: "Encoding", format: "Format", sheet: "Sheet", delimiter: "Between cells", header: "First row", label_count: "Labels among the attributes (ARFF)", merge_labels: "Merge labels that differ only in case, blanks or Unicode form",
};
const OPTIONS = /"options": (\{(?:"(?:[^"\\]|\\.)*"|[^"{}])*\})/g;
const TO_FILL_IN = ["NAME", "FILE", true];

/** A control of this page with the value to choose there. */
function control([name, value]) {
  const title = `“${CONTROLS[name] ?? name}”`;
  if (TO_FILL_IN.includes(value)) return title;
  return `${title}: ${name === "header" ? "a document" : [value].flat().join(", ")}`;
}

/** The advice of a message about a request, with the names that its options have on this page. */
function inControls(message) {
  const worded = message.replace(OPTIONS, (_, options) => Object.entries(JSON.parse(options)).map(control).join(", "));
  return worded.replace(/\boptions\.([a-z_]+)/g, (_, name) => control([name, true])).replace(/^uploads\//, "");
}

class Preview extends View {
  static properties = {
    ...View.properties, found: { state: true }, job: { state: true }, failed: { state: true }, isVocabulary: { state: true }, name: { state: true }, making: { state: true }, noLabelApplies: { state: true }, formats: { state: true }, allLabels: { state: true }, allDocuments: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { found: null, job: null, failed: null, isVocabulary: false, name: "", making: false, noLabelApplies: false, formats: [], allLabels: false, allDocuments: false });
  }

  get data() {
    return this.parameters.get("data");
  }

  /** The options of the address: what the user chose instead of the guesses. */
  get options() {
    try {
      return JSON.parse(this.parameters.get("options") ?? "{}");
    } catch {
      return {};
    }
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stop?.abort();
  }

  opened() {
    const asked = JSON.stringify([this.data, this.options]);
    if (asked === this.asked) return;
    if (this.previewed !== this.data) this.begin();
    this.asked = asked;
    this.attempt(() => this.read());
  }

  /** Other data than before: nothing is known of them yet. */
  async begin() {
    Object.assign(this, { previewed: this.data, found: null, isVocabulary: false, allLabels: false, allDocuments: false, noLabelApplies: false, name: "" });
    const [{ corpora }, { formats, vocabularies }] = (await this.attempt(() => Promise.all([get("/v1/corpora"), get("/v1/data")]))) ?? [{ corpora: [] }, { formats: [], vocabularies: [] }];
    Object.assign(this, { isVocabulary: vocabularies.includes(this.data), name: freeName(validName(this.data), corpora), formats });
  }

  /** Have the server read the data; a former reading that still runs is stopped. */
  async read() {
    this.stop?.abort();
    if (this.job) this.cancel(this.job);
    const { signal } = (this.stop = new AbortController());
    this.failed = null;
    const request = { kind: "preview", data: this.data };
    if (Object.keys(this.options).length) request.options = this.options;
    try {
      const started = await post("/v1/jobs", request);
      if (signal.aborted) {  // another reading was asked for before this one had a number
        this.cancel(started);
        return;
      }
      this.job = started;
      const ended = await follow(this.job.id, (job) => { if (!signal.aborted) this.job = job; }, signal);
      this.job = null;
      if (ended.state === "done") this.found = ended.result;
      else this.failed = ended.error ?? `The job was ${ended.state}.`;
      this.tell("ml-say", this.failed ?? (this.found.vocabulary ? this.vocabularyWords() : `Read: ${counted(this.found.documents, "document")}, ${counted(this.found.labels, "label")}.`));
    } catch (error) {
      if (!signal.aborted) this.job = null;
      throw error;
    }
  }

  cancel({ id }) {
    return this.attempt(() => post(`/v1/jobs/${id}/cancel`, {}));
  }

  async make(event) {
    event.preventDefault();
    const { name, data, options } = this;
    this.making = true;
    const unlabelled = this.noLabelApplies ? { no_label_applies: true } : {};
    const started = runJob({ kind: "import", data, corpus: name, ...unlabelled, ...(Object.keys(options).length ? { options } : {}) });
    this.tell("ml-job");
    const made = await this.attempt(() => started);
    this.making = false;
    if (!made) return;
    this.tell("ml-changed");
    this.tell("ml-say", `The corpus ${name} has ${counted(made.documents, "document")}.`);
    go({ corpus: name, view: "data", parameters: {} });
  }

  failure() {
    if (!this.failed) return nothing;
    if (this.isVocabulary) return html`<div class="failure" role="alert"><h2>The vocabulary could not be read</h2><p>${inControls(this.failed)}</p><p class="quiet">Correct the file and upload it again.</p></div>`;
    return html`<div class="failure" role="alert"><h2>The data could not be read</h2><p>${inControls(this.failed)}</p>
      <p class="quiet">Change below how they are read, or correct the file and upload it again. <button type="button" class="link" @click=${() => this.attempt(() => this.read())}>Try again</button></p></div>`;
  }

  progress() {
    if (!this.job) return nothing;
    const words = this.job.state === "queued" ? "Waiting for another job to end …" : "Reading the data …";
    return html`<span class="quiet"><progress aria-label=${words}></progress> ${words}</span>`;
  }

  /** What becomes of the uploaded file. */
  keeping() {
    if (this.data === BUILT_IN) return nothing;
    return html`<span class="quiet">The file stays on the server until you delete it.
      <button type="button" class="link" @click=${() => this.dispatchEvent(new CustomEvent("doom", { detail: this.data }))}>Delete this upload …</button></span>`;
  }

  figures({ documents, labels, cardinality, documents_without_labels: without, language, format, splits }) {
    const parts = Object.entries(splits);
    return html`<dl class="figures"><div><dt>Documents</dt><dd>${count(documents)}</dd>${parts.length ? html`<dd>${parts.map(([name, size]) => `${count(size)} ${name}`).join(", ")}</dd>` : nothing}</div>
      <div><dt>Labels</dt><dd>${count(labels)}</dd></div><div><dt>Labels per document</dt><dd>${cardinality.toFixed(2)}</dd></div>
      <div><dt>Without a label</dt><dd>${count(without)}</dd></div><div><dt>Language</dt><dd class="capital">${language ?? "–"}</dd></div><div><dt>Format</dt><dd>${format}</dd></div></dl>`;
  }

  labelTable({ top_labels: top, labels }) {
    if (!top.length) return html`<p class="quiet">No labels were read. Choose their column under “How it is read”; a corpus without labels can be labelled under Review.</p>`;
    const shown = this.allLabels ? top : top.slice(0, MOST_LABELS), most = top[0].documents;
    return html`<table class="bars"><thead><tr><th scope="col">Label</th><th scope="col" class="figure">Documents</th><td></td></tr></thead>
      <tbody>${shown.map(({ label, documents }) => html`<tr><th scope="row" dir="auto">${label}</th><td class="figure">${count(documents)}</td>
        <td class="bar" aria-hidden="true"><span style="width:${((100 * documents) / most).toFixed(1)}%"></span></td></tr>`)}</tbody></table>
      ${shown.length < top.length ? html`<button type="button" @click=${() => { this.allLabels = true; }}>Show ${top.length} labels</button>` : nothing}
      ${labels > top.length ? html`<p class="quiet">The ${top.length} most frequent of ${count(labels)} labels.</p>` : nothing}`;
  }

  sample({ sample, fields }) {
    const split = sample.some((one) => one.split !== null), shown = this.allDocuments ? sample : sample.slice(0, FIRST_DOCUMENTS);
    return html`<div class="wide" tabindex="0" role="region" aria-label="The first documents"><table class="sample cards"><thead><tr><th scope="col">Id</th>${fields.map((field) => html`<th scope="col" dir="auto">${field}</th>`)}<th scope="col">Labels</th>${split ? html`<th scope="col">Split</th>` : nothing}</tr></thead>
      <tbody>${shown.map((one) => html`<tr><td data-title="Id" dir="auto">${one.id}</td>${fields.map((field) => html`<td data-title=${field} class="words" dir="auto"><span class="clamped">${one.fields[field]}</span></td>`)}
        <td data-title="Labels"><ul class="label-list">${one.labels.map((label) => html`<li class="label" dir="auto">${label}</li>`)}</ul></td>${split ? html`<td data-title="Split">${one.split}</td>` : nothing}</tr>`)}</tbody></table></div>
      ${shown.length < sample.length ? html`<button type="button" @click=${() => { this.allDocuments = true; }}>Show ${sample.length} documents</button>` : nothing}`;
  }

  /** What documents without a label mean: they are to be labelled, or examples of no label. */
  unlabelled() {
    const without = this.found?.documents_without_labels ?? 0;
    if (!without || !this.found.labels) return nothing;
    const choice = (value, text, note) => html`<label class="choice"><input type="radio" name="unlabelled" .checked=${this.noLabelApplies === value} @change=${() => { this.noLabelApplies = value; }}> <span>${text} <span class="quiet">${note}</span></span></label>`;
    return html`<fieldset class="unlabelled"><legend>${counted(without, "document has no label", "documents have no label")}</legend>
      ${choice(false, "not labelled yet:", "training leaves them out until they are reviewed")}
      ${choice(true, "no label applies:", "training learns from them which documents get no label, as manylabel train does")}</fieldset>`;
  }

  makeForm() {
    return html`<form class="panel make" @submit=${this.make}><h2>Make a corpus</h2>
      <p class="quiet">A corpus keeps its own copy of the data. It is what you review, compare methods on and train models with.</p>
      ${this.unlabelled()}
      <div class="tools"><label>Name <input required pattern="[A-Za-z0-9][A-Za-z0-9_\\-]*" maxlength="64" title="Letters, digits, - and _" .value=${this.name} @input=${(event) => { this.name = event.target.value; }}></label>
      <button class="main" ?disabled=${this.making || !this.found || this.job !== null || this.failed !== null}>${this.making ? "Making it …" : "Make the corpus"}</button></div></form>`;
  }

  results() {
    const { found } = this;
    if (!found || found.vocabulary) return this.failed ? nothing : html`<div class="panel placeholder"></div>`;
    return html`${this.figures(found)}
      ${found.warnings.length ? html`<section class="panel warnings"><h2>${counted(found.warnings.length, "warning")}</h2><ul>${found.warnings.map((one) => html`<li dir="auto">${inControls(one)}</li>`)}</ul></section>` : nothing}
      <section class="panel"><h2>First documents</h2>${this.sample(found)}</section>
      <section class="panel"><h2>Labels</h2>${this.labelTable(found)}</section>`;
  }

  vocabularyWords() {
    const { concepts, languages } = this.found.vocabulary;
    return `Vocabulary with ${counted(concepts, "concept")}${languages.length ? ` (${languages.join(", ")})` : ""}.`;
  }

  /** A file of names, which no corpus can be made of. */
  vocabulary() {
    return html`<section class="panel"><p>${this.vocabularyWords()} It names the labels of other uploaded data when a corpus is made of them, where at least half of their labels are in it.
      No corpus can be made of it alone.</p></section>`;
  }

  render() {
    if (this.found?.vocabulary || (this.isVocabulary && this.failed)) {
      return html`<p class="back"><a href=${address({ corpus: this.corpus, view: "data" })}>← All data</a></p>
        <h1 tabindex="-1">Data: <span dir="auto">${this.data}</span></h1>${this.failed ? this.failure() : this.vocabulary()}`;
    }
    const { found } = this, stale = this.job !== null || this.failed !== null;
    return html`<p class="back"><a href=${address({ corpus: this.corpus, view: "data" })}>← All data</a></p>
      <div class="title-row"><h1 tabindex="-1">Data: <span dir="auto">${this.data}</span></h1>${this.progress()}${this.keeping()}</div>${this.failure()}
      <div class="preview"><div class="side-panels">
        <section class="panel"><h2>How it is read</h2>
          ${found || this.failed ? html`<ml-reading .preview=${found} .formats=${this.formats} .options=${this.options} @reading=${({ detail }) => set({ options: Object.keys(detail).length ? JSON.stringify(detail) : null }, { replace: false })}></ml-reading>` : html`<div class="placeholder"></div>`}
          ${found ? html`<details><summary>What was recognised, and why</summary><ul class="recognised">${found.choices.map((one) => html`<li dir="auto">${one}</li>`)}</ul></details>` : nothing}</section>
        ${this.makeForm()}</div>
        <div class="preview-results ${stale ? "stale" : ""}" aria-busy=${String(this.job !== null)}>${this.results()}</div></div>`;
  }
}

customElements.define("ml-preview", Preview);
