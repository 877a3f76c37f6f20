// Data: upload a file, see how it is read, make a corpus of it; all corpora, and what the present one holds.
import { html, nothing } from "lit";
import { Problem, corpusPath, get, remove, unlessGone } from "../api.js";
import { address, go } from "../route.js";
import { View, count, percent } from "../view.js";
import "../corpus.js";
import "../preview.js";
import "../upload.js";

const BUILT_IN = "townhall";

class DataView extends View {
  static properties = { ...View.properties, corpora: { state: true }, uploads: { state: true }, vocabularies: { state: true }, without: { state: true }, doomed: { state: true } };

  constructor() {
    super();
    Object.assign(this, { corpora: null, uploads: [], vocabularies: [], without: false, doomed: null });
  }

  get shortcuts() {
    return [{ keys: ["u"], text: "Choose a file to upload", run: () => this.querySelector("input[type=file]")?.click(), enabled: () => !this.parameters.has("data") }];
  }

  updated(changed) {
    super.updated(changed);
    if (changed.has("summary")) this.load();
    const before = changed.get("parameters");
    if (before && before.has("data") !== this.parameters.has("data")) this.focusTitle();
  }

  /** Another page of this view was opened: the focus was on something that is gone. */
  async focusTitle() {
    await this.querySelector("ml-preview")?.updateComplete;
    this.querySelector("h1").focus();
  }

  opened() {
    if (!this.parameters.has("data")) this.load();
  }

  /** The corpora with their figures, and the uploaded data; a server without a data directory has neither. */
  async load() {
    try {
      const [{ corpora }, { data, vocabularies }] = await Promise.all([get("/v1/corpora"), get("/v1/data")]);
      const described = await Promise.all(corpora.map((name) => unlessGone(() => get(corpusPath(name)))));
      this.corpora = described.filter(Boolean);
      this.uploads = data.filter((name) => !vocabularies.includes(name));
      this.vocabularies = vocabularies;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 404 && this.corpora === null) this.without = true;
      else this.tell("ml-problem", error);
    }
  }

  open(data) {
    go({ view: "data", parameters: { data } });
  }

  /** Ask before uploaded data are deleted. */
  async doom(name) {
    this.doomed = name;
    await this.updateComplete;
    this.querySelector("dialog.doom").showModal();
  }

  async drop() {
    const name = this.doomed;
    this.querySelector("dialog.doom").close();
    const gone = await this.attempt(async () => { await remove(`/v1/data/${encodeURIComponent(name)}`); return true; });
    if (!gone) return;
    this.tell("ml-say", `The uploaded data ${name} were deleted.`);
    if (this.parameters.has("data")) go({ view: "data", parameters: {} });
    else await this.load();
    this.querySelector("h1").focus();
  }

  /** A file that is dropped beside the zone is meant for it. */
  onDrop(event) {
    if (event.defaultPrevented) return;
    event.preventDefault();
    this.querySelector("ml-upload").take(event.dataTransfer.files);
  }

  corpusRow({ name, documents, labels, states }) {
    const reviewed = documents - states["not reviewed"], isOpen = name === this.corpus;
    return html`<tr class=${isOpen ? "open" : ""}><th scope="row"><a href=${address({ corpus: name, view: "data" })} aria-current=${isOpen ? "true" : nothing}>${name}</a></th>
      <td class="figure">${count(documents)}</td><td class="figure">${count(labels)}</td><td class="figure">${documents ? percent(reviewed / documents, 0) : "–"}</td></tr>`;
  }

  lists() {
    return html`<section class="panel"><h2>Corpora</h2>${this.corpora === null ? html`<div class="placeholder"></div>` : this.corpora.length ? html`<table class="list-table"><thead><tr><th scope="col">Name</th><th scope="col" class="figure">Documents</th><th scope="col" class="figure">Labels</th><th scope="col" class="figure">Reviewed</th></tr></thead>
        <tbody>${this.corpora.map((one) => this.corpusRow(one))}</tbody></table>` : html`<p class="quiet">None yet. Upload a file above, or begin with the letters below.</p>`}</section>
      <section class="panel"><h2>Data to make a corpus of</h2><ul class="plain uploads">${[...this.uploads, BUILT_IN].map((name) => this.uploadItem(name, name === BUILT_IN ? "605 letters that come with manylabel" : "uploaded"))}</ul></section>
      ${this.vocabularies.length ? html`<section class="panel"><h2>Vocabularies</h2><p class="quiet">They name the labels of the data above.</p>
        <ul class="plain uploads">${this.vocabularies.map((name) => this.uploadItem(name, "uploaded"))}</ul></section>` : nothing}`;
  }

  uploadItem(name, note) {
    return html`<li><span><a href=${address({ corpus: this.corpus, view: "data", parameters: { data: name } })}>${name}</a> <span class="quiet">${note}</span></span>
      ${name === BUILT_IN ? nothing : html`<button type="button" class="link" aria-label=${`Delete the uploaded data ${name}`} @click=${() => this.doom(name)}>Delete …</button>`}</li>`;
  }

  question() {
    return html`<dialog class="doom" aria-labelledby="doom-title"><h2 id="doom-title">Delete the uploaded data “${this.doomed}”?</h2>
      <p>Corpora that were made of them keep their own copy. This cannot be undone.</p>
      <form method="dialog" class="tools"><button class="main" autofocus>Keep them</button><button type="button" class="danger" @click=${this.drop}>Delete ${this.doomed}</button></form></dialog>`;
  }

  render() {
    if (!this.parameters) return nothing;
    if (this.without) return html`<h1>Data</h1><div class="empty"><h2>This server keeps no data</h2><p>Start it with a folder for data, models and reviews: manylabel serve --data FOLDER</p></div>`;
    if (this.parameters.has("data")) return html`<ml-preview .corpus=${this.corpus} .parameters=${this.parameters} .user=${this.user} @doom=${({ detail }) => this.doom(detail)}></ml-preview>${this.question()}`;
    return html`<h1 tabindex="-1">Data</h1><div class="data" @dragover=${(event) => event.preventDefault()} @drop=${this.onDrop}><div class="side-panels">
        <ml-upload @uploaded=${({ detail }) => this.open(detail)}></ml-upload>${this.lists()}</div>
      <div>${this.summary ? html`<ml-corpus .corpus=${this.corpus} .models=${this.models} .jobs=${this.jobs} .summary=${this.summary} .parameters=${this.parameters} .user=${this.user}></ml-corpus>`
        : this.corpora?.length === 0 ? this.welcome() : nothing}</div></div>${this.question()}`;
  }

  welcome() {
    return html`<div class="empty"><h2>From a table to a model</h2>
      <p>Upload a file with one document per row: a column of texts and a column of labels. You see how it is read and can change that before a corpus is made of it. The file stays on the server until you delete it.</p>
      <p>Then score the documents, review them, compare methods, and train a model. Everything stays on this server.</p></div>`;
  }
}

customElements.define("ml-data-view", DataView);
