// <ml-review-export>: the corrected corpus in any format, and the decisions, as files.
import { html } from "lit";
import { corpusPath, download, get } from "../../api.js";
import { Dialog } from "../../dialog.js";

const NAMES = { csv: "CSV", tsv: "TSV", excel: "Excel", jsonl: "JSON lines", parquet: "Parquet", directory: "folder of texts (zip)", fasttext: "fastText", libmultilabel: "LibMultiLabel" };

class ReviewExport extends Dialog {
  static properties = { ...Dialog.properties, formats: { state: true }, format: { state: true }, saved: { state: true } };

  constructor() {
    super();
    Object.assign(this, { formats: [], format: null, saved: "" });
  }

  get caption() {
    return "Export";
  }

  async open() {
    this.saved = "";
    super.open();
    const found = await this.attempt(() => get(corpusPath(this.corpus, "formats")));
    if (found) Object.assign(this, { formats: found.formats, format: this.format ?? found.formats[0] });
  }

  async fetchFile(path, name, what) {
    this.saved = "";
    await this.attempt(async () => {
      await download(path, name);
      this.saved = `${what} was handed to the browser.`;
      this.tell("ml-say", this.saved);
    });
  }

  exportCorpus(event) {
    event.preventDefault();
    return this.fetchFile(`${corpusPath(this.corpus, "export")}?format=${encodeURIComponent(this.format)}`, null, "The corpus");
  }

  body() {
    return html`<form @submit=${this.exportCorpus}><p>The corpus with all labels as they are now: accepted and imported ones, without rejected ones.</p>
        <div class="tools"><label>Format <select @change=${(event) => { this.format = event.target.value; }}>${this.formats.map((one) => html`<option value=${one} ?selected=${one === this.format}>${NAMES[one] ?? one}</option>`)}</select></label>
          <button class="main" ?disabled=${this.busy || !this.formats.length}>Export the corpus${this.format ? ` as ${NAMES[this.format] ?? this.format}` : ""}</button></div></form>
      <p>How the labels differ from the imported ones, with who and when, for <code>manylabel audit --apply</code>.</p>
      <div class="tools"><button type="button" ?disabled=${this.busy} @click=${() => this.fetchFile(corpusPath(this.corpus, "decisions"), `${this.corpus}-decisions.jsonl`, "The list of decisions")}>Export the decisions</button></div>
      <p role="status">${this.saved}</p>`;
  }
}

customElements.define("ml-review-export", ReviewExport);
