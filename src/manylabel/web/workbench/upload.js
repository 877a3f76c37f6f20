// <ml-upload>: choose or drop a file; it is sent to the server with its progress. Fires "uploaded" with the name of the data.
import { html, nothing } from "lit";
import { get, upload } from "./api.js";
import { View } from "./view.js";

export const BUILT_IN = "townhall";
const LONGEST = 64;
const ENDING = /(\.[A-Za-z0-9]{1,10})?(\.[A-Za-z0-9]{1,10})$/;
const PACKED = /^\.(gz|bz2|xz|zst|zip)$/i;

/** A name that the server takes for the data of a file, and the ending that shows their format; the ending is null where the file has none. */
function dataName(file) {
  const [, inner = "", last = null] = ENDING.exec(file) ?? [];
  const ending = last && PACKED.test(last) ? inner + last : last;
  return { name: validName(file.slice(0, file.length - (ending ?? "").length)) || "data", ending };
}

/** A text as a name: letters, digits, - and _, up to 64 of them; accents are dropped. */
export function validName(text) {
  const plain = text.normalize("NFKD").replace(/\p{M}+/gu, "").replace(/[^A-Za-z0-9_-]+/g, "-");
  return plain.replace(/^[-_]+/, "").slice(0, LONGEST).replace(/-+$/, "");
}

/** The first of name, name-2, name-3 … that is not taken. */
export function freeName(name, taken) {
  for (let number = 1; ; number += 1) {
    const ending = number === 1 ? "" : `-${number}`, found = name.slice(0, LONGEST - ending.length) + ending;
    if (!taken.includes(found)) return found;
  }
}

class Upload extends View {
  static properties = { ...View.properties, sent: { state: true }, file: { state: true }, taken: { state: true }, over: { state: true }, refused: { state: true } };

  constructor() {
    super();
    Object.assign(this, { sent: null, file: null, taken: null, over: false, refused: "" });
  }

  /** Take a file: send it, or ask first where its name is taken. */
  async take(files) {
    const [file] = files, { name, ending } = file ? dataName(file.name) : {};
    this.over = false;
    if (!file) return;
    this.refused = ending ? "" : `“${file.name}” has no ending that shows its format. Give it one, such as .csv or .jsonl.`;
    if (!ending) return;
    const known = await this.attempt(async () => [BUILT_IN, ...(await get("/v1/data")).data]);
    if (!known) return;
    this.file = file;
    if (!known.includes(name)) await this.send(name, ending);
    else {
      this.taken = { name, ending, free: freeName(name, known) };
      await this.updateComplete;
      this.querySelector("dialog").showModal();
    }
  }

  async send(name, ending) {
    this.stop = new AbortController();
    this.sent = 0;
    const path = `/v1/data/${encodeURIComponent(name + ending.toLowerCase())}`;
    const kept = await this.attempt(() => upload(path, this.file, (share) => { this.sent = share; }, this.stop.signal));
    this.sent = null;
    if (kept) this.dispatchEvent(new CustomEvent("uploaded", { detail: kept.data }));
  }

  /** What to do with a file whose name is taken. */
  decide(name) {
    const { ending } = this.taken;
    this.querySelector("dialog").close();
    this.taken = null;
    if (name) this.send(name, ending);
    else this.querySelector("input[type=file]").value = "";
  }

  onDrag(event) {
    event.preventDefault();
    this.over = event.type === "dragover";
  }

  onDrop(event) {
    event.preventDefault();
    this.take(event.dataTransfer.files);
  }

  question() {
    if (!this.taken) return nothing;
    const { name, free } = this.taken, builtIn = name === BUILT_IN;
    return html`<h2 id="taken-title">The name “${name}” is taken</h2>
      <p>${builtIn ? "It is the name of the letters that come with manylabel." : "Data of this name were uploaded before. Corpora made of them keep their own copy."}</p>
      <div class="tools"><button type="button" class="main" @click=${() => this.decide(free)}>Keep both: “${free}”</button>
      ${builtIn ? nothing : html`<button type="button" @click=${() => this.decide(name)}>Replace the former data</button>`}
      <button type="button" class="quiet" @click=${() => this.decide(null)}>Cancel</button></div>`;
  }

  zone() {
    return html`<label class="drop ${this.over ? "over" : ""}" @dragover=${this.onDrag} @dragleave=${this.onDrag} @drop=${this.onDrop}>
      <input type="file" class="unseen" aria-describedby="formats" @change=${(event) => this.take(event.target.files)}>
      <strong>Drop a file here, or choose one</strong>
      <span class="quiet" id="formats">CSV, TSV, Excel, JSON lines, JSON, Parquet, ARFF, libsvm, fastText; also packed (.gz)</span></label>`;
  }

  sending() {
    const share = Math.round(100 * this.sent);
    return html`<div class="drop"><strong dir="auto">${this.file.name}</strong>
      <progress aria-label="Sent" max="1" .value=${this.sent}></progress>
      <span class="quiet">${share} % of ${(this.file.size / 1e6).toFixed(1)} MB sent</span>
      <button type="button" @click=${() => this.stop.abort()}>Stop</button></div>`;
  }

  render() {
    return html`${this.sent === null ? this.zone() : this.sending()}
      ${this.refused ? html`<p class="warning" role="alert">${this.refused}</p>` : nothing}
      <dialog aria-labelledby="taken-title" @cancel=${() => this.decide(null)}>${this.question()}</dialog>`;
  }
}

customElements.define("ml-upload", Upload);
