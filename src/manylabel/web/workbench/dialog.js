// A dialog that works with the server: what it refuses is shown inside, since the page behind cannot be reached.
import { LitElement, html, nothing } from "lit";
import { Problem } from "./api.js";

export class Dialog extends LitElement {
  static properties = { corpus: { attribute: false }, named: { attribute: false }, problem: { state: true }, busy: { state: true } };

  constructor() {
    super();
    Object.assign(this, { problem: null, busy: false });
  }

  createRenderRoot() {
    return this;
  }

  /** The words at the top. */
  get caption() {
    return "";
  }

  open() {
    this.problem = null;
    this.querySelector("dialog").showModal();
  }

  close() {
    this.querySelector("dialog").close();
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  /** Do something; returns undefined where the server refuses it. */
  async attempt(work) {
    Object.assign(this, { busy: true, problem: null });
    try {
      return await work();
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      return undefined;
    } finally {
      this.busy = false;
    }
  }

  /** What stands between the caption and the button that closes. */
  body() {
    return nothing;
  }

  render() {
    return html`<dialog class="work" aria-label=${this.caption}><h2>${this.caption}</h2>${this.body()}
      ${this.problem ? html`<p class="problem" role="alert">${this.problem.message}</p>` : nothing}
      <div class="tools end"><button type="button" @click=${this.close}>Close</button></div></dialog>`;
  }
}
