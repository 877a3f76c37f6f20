// <ml-review-bulk>: one action on all documents of the filter: choose, look at what would change, confirm, take back.
import { html, nothing } from "lit";
import { corpusPath, post } from "../../api.js";
import { Dialog } from "../../dialog.js";
import { stateMark } from "../../documents.js";
import { counted, percent } from "../../view.js";
import "../../label-input.js";

const ACTIONS = {
  accept: "Accept a label", reject: "Reject a label", clear: "Clear a label", "take suggestions": "Take the most probable suggestions",
  reviewed: "Mark as reviewed", "no label applies": "Mark as reviewed, no label applies", "not reviewed": "Mark as not reviewed",
};
const STATES = ["reviewed", "no label applies", "not reviewed"];
const EXPLAINED = {
  reviewed: "Documents that have no label are left out.",
  "no label applies": "Documents that have a label are left out.",
  "take suggestions": "Labels that the audit suggests to add are accepted, and those that it suggests to remove are rejected, the most probable first.",
  clear: "The label is neither accepted nor rejected then: what models suggest is open again.",
};
const MOST = 20;

class ReviewBulk extends Dialog {
  static properties = {
    ...Dialog.properties, filter: { attribute: false }, description: { attribute: false }, label: { attribute: false },
    action: { state: true }, most: { state: true }, found: { state: true }, done: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { filter: {}, description: "", label: null, action: "accept", most: MOST, found: null, done: null });
  }

  get caption() {
    return "Change all documents of the queue";
  }

  /** Open the dialog; `given` may name the action and the label. */
  open(given = {}) {
    Object.assign(this, { found: null, done: null, ...given });
    super.open();
    this.look();
  }

  /** The action as the server takes it; null while something is missing. */
  get wanted() {
    if (STATES.includes(this.action)) return { state: this.action };
    if (this.action === "take suggestions") return { do: this.action, most: this.most };
    return this.label ? { do: this.action, label: this.label } : null;
  }

  /** Ask what the action would change. */
  async look() {
    this.found = null;
    const { wanted } = this;
    if (!wanted) return;
    const found = await this.attempt(() => post(corpusPath(this.corpus, "bulk/preview"), { filter: this.filter, action: wanted }));
    if (JSON.stringify(wanted) === JSON.stringify(this.wanted)) this.found = found ?? null;
  }

  async apply() {
    const by = await this.named();
    if (!by) return;
    const { wanted, filter, found: { revision } } = this;
    const done = await this.attempt(() => post(corpusPath(this.corpus, "bulk"), { by, filter, action: wanted, revision }));
    if (done) {
      this.done = { ...done, by, words: this.inWords() };
      this.tell("ml-say", `Saved. ${counted(done.changes, "change")}.`);
      this.tell("bulk-done", done);
    } else if (this.problem?.message) {
      const { problem } = this;
      await this.look();
      this.problem = problem;
    }
  }

  async undo() {
    const undone = await this.attempt(() => post(corpusPath(this.corpus, "undo"), { by: this.done.by, event: this.done.event }));
    if (!undone) return;
    this.done = { ...this.done, undone: true };
    this.tell("ml-say", "Taken back.");
    this.tell("bulk-done", undone);
  }

  inWords() {
    return ACTIONS[this.action].replace("a label", this.label ?? "a label");
  }

  change(values) {
    Object.assign(this, values, { done: null });
    this.look();
  }

  choice() {
    const needsLabel = ["accept", "reject", "clear"].includes(this.action);
    return html`<div class="tools"><label>Action <select @change=${(event) => this.change({ action: event.target.value })}>
        ${Object.entries(ACTIONS).map(([name, title]) => html`<option value=${name} ?selected=${name === this.action}>${title}</option>`)}</select></label>
      ${needsLabel ? html`<ml-label-input .corpus=${this.corpus} caption=${this.label ? "Another label" : "Label"} @choose=${({ detail }) => this.change({ label: detail.label })}></ml-label-input>
        ${this.label ? html`<span class="label chosen" dir="auto">${this.label}</span>` : nothing}` : nothing}
      ${this.action === "take suggestions" ? html`<label>At most <input type="number" min="1" max="100000" .value=${String(this.most)} @change=${(event) => this.change({ most: Math.max(1, Math.round(Number(event.target.value)) || MOST) })}></label>` : nothing}
      </div>${EXPLAINED[this.action] ? html`<p class="quiet">${EXPLAINED[this.action]}</p>` : nothing}`;
  }

  preview() {
    if (!this.found) return html`<p class="quiet" role="status">${this.wanted ? "Counting …" : "Choose a label to see what would change."}</p>`;
    const { documents, changes, sample, suggestions } = this.found;
    const rows = suggestions.length
      ? suggestions.map(({ id, label, action, probability }) => html`<tr><td dir="auto">${id}</td><td dir="auto">${action === "add" ? "accept" : "reject"} ${label}</td><td class="figure">${percent(probability, 0)}</td></tr>`)
      : sample.map(({ id, beginning, state }) => html`<tr><td dir="auto">${id}</td><td class="beginning" dir="auto">${beginning}</td><td>${stateMark(state)}</td></tr>`);
    const heads = suggestions.length ? ["document", "decision", "probability"] : ["document", "text", "state"];
    return html`<p role="status"><strong>${counted(documents, "document")} found, ${counted(changes, "change")}.</strong> ${changes ? "" : "Nothing would change."}</p>
      ${rows.length ? html`<div class="bulk-sample" tabindex="0" role="region" aria-label="Some of the documents"><table><thead><tr>${heads.map((head) => html`<th scope="col" class=${head === "probability" ? "figure" : ""}>${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>
        ${!suggestions.length && documents > sample.length ? html`<p class="quiet">The first ${sample.length} of them.</p>` : nothing}` : nothing}`;
  }

  body() {
    if (this.done) {
      return html`<p role="status">${this.done.undone ? "Taken back: " : "Saved: "}<strong dir="auto">${this.done.words}</strong>, ${counted(this.done.changes, "change")}.</p>
        <div class="tools">${this.done.undone ? nothing : html`<button type="button" ?disabled=${this.busy} @click=${this.undo}>Undo</button>`}
          <button type="button" @click=${() => this.change({})}>Another action</button></div>`;
    }
    const { found } = this;
    return html`<p>Documents: <span dir="auto">${this.description}</span></p>${this.choice()}${this.preview()}
      <div class="tools"><button type="button" class="main" ?disabled=${this.busy || !found?.changes} @click=${this.apply}>${found?.changes ? `Make ${counted(found.changes, "change")}` : "Nothing to change"}</button></div>`;
  }
}

customElements.define("ml-review-bulk", ReviewBulk);
