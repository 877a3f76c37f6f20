// <ml-target-form>: a precision or recall to reach, or a common threshold. Fires "target" with { kind, value }.
import { LitElement, html, nothing } from "lit";
import { KINDS } from "./trials.js";

class TargetForm extends LitElement {
  static properties = { caption: {}, kinds: { attribute: false }, kind: { state: true } };

  constructor() {
    super();
    Object.assign(this, { caption: "", kinds: Object.keys(KINDS), kind: "precision" });
  }

  createRenderRoot() {
    return this;
  }

  send(event) {
    event.preventDefault();
    const value = Number(event.target.elements.value.value);
    this.dispatchEvent(new CustomEvent("target", { detail: { kind: this.kind, value } }));
  }

  render() {
    const isShare = this.kind !== "threshold";
    return html`<form class="target" @submit=${this.send}><label>For ${this.caption}
      <select name="kind" @change=${(event) => { this.kind = event.target.value; }}>${this.kinds.map((kind) => html`<option value=${kind} ?selected=${kind === this.kind}>${KINDS[kind]}</option>`)}</select></label>
      <label><span class="unseen">Value for ${this.caption}</span><input name="value" type="number" required step="any" min=${isShare ? 0.001 : nothing} max=${isShare ? 1 : nothing} value="0.9"></label>
      <button>Try</button></form>`;
  }
}

customElements.define("ml-target-form", TargetForm);
