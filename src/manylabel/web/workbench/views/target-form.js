// <ml-target-form>: a precision or recall to reach, or a common threshold. Fires "target" with { kind, value }.
import { LitElement, html, nothing } from "lit";
import { KINDS, problemOf } from "./trials.js";

class TargetForm extends LitElement {
  static properties = { caption: {}, kinds: { attribute: false }, probabilities: { attribute: false }, kind: { state: true }, problem: { state: true } };

  constructor() {
    super();
    Object.assign(this, { caption: "", kinds: Object.keys(KINDS), probabilities: false, kind: "precision", problem: "" });
  }

  createRenderRoot() {
    return this;
  }

  async send(event) {
    event.preventDefault();
    const typed = event.target.elements.value.value, value = Number(typed);
    this.problem = "";
    await this.updateComplete; // an alert that stands there already would not be read aloud again
    this.problem = problemOf(this.kind, typed, this.probabilities);
    if (this.problem) return;
    this.dispatchEvent(new CustomEvent("target", { detail: { kind: this.kind, value } }));
  }

  render() {
    return html`<form class="target" novalidate @submit=${this.send}><label>For ${this.caption}
      <select name="kind" @change=${(event) => { this.kind = event.target.value; }}>${this.kinds.map((kind) => html`<option value=${kind} ?selected=${kind === this.kind}>${KINDS[kind]}</option>`)}</select></label>
      <label><span class="unseen">Value for ${this.caption}</span><input name="value" type="number" step="any" value="0.9" @input=${() => { this.problem = ""; }}></label>
      <button>Try</button>${this.problem ? html`<p class="warning" role="alert">${this.problem}</p>` : nothing}</form>`;
  }
}

customElements.define("ml-target-form", TargetForm);
