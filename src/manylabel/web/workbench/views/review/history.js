// <ml-review-history>: the last ten decisions of the user, each with its document and a button that takes it back.
import { LitElement, html, nothing } from "lit";
import { corpusPath, get } from "../../api.js";
import { when } from "../../view.js";
import { eventInWords } from "./words.js";

const SHOWN = 10;
const QUIET = ["undo", "import", "scores"];

class ReviewHistory extends LitElement {
  static properties = { corpus: { attribute: false }, user: { attribute: false }, addressOf: { attribute: false }, events: { state: true } };

  constructor() {
    super();
    this.events = null;
  }

  createRenderRoot() {
    return this;
  }

  updated(changed) {
    if (changed.has("corpus") || changed.has("user")) this.load();
  }

  /** Load the events anew; a server that is gone changes nothing. */
  async load() {
    if (!this.corpus || !this.user) return;
    try {
      const { events } = await get(corpusPath(this.corpus, "events"), { by: this.user, limit: 5 * SHOWN });
      this.events = events.filter(({ kind }) => !QUIET.includes(kind)).slice(0, SHOWN);
    } catch { /* what is shown stays */ }
  }

  row(event) {
    const numbers = [...new Set(event.first.map(({ document }) => document))];
    const what = eventInWords(event);
    return html`<li class=${event.undone === null ? "" : "undone"}><span class="what" dir="auto">${what}</span>
      <span class="quiet">${when(event.at)}${event.undone === null ? "" : " · taken back"}</span>
      <span class="acts">${numbers.length === 1 && event.changes <= event.first.length ? html`<a href=${this.addressOf(numbers[0])} aria-label=${`Open the document: ${what}`}>Open</a>` : nothing}
        ${event.undone === null ? html`<button type="button" class="link" aria-label=${`Undo: ${what}`} @click=${() => this.dispatchEvent(new CustomEvent("undo", { detail: event.number }))}>Undo</button>` : nothing}</span></li>`;
  }

  render() {
    return html`<details class="panel review-history"><summary>Your last decisions</summary>
      ${this.events?.length ? html`<ol>${this.events.map((event) => this.row(event))}</ol>` : html`<p class="quiet">${this.user ? "Nothing decided yet." : "They are kept with your name, which is asked for at the first one."}</p>`}</details>`;
  }
}

customElements.define("ml-review-history", ReviewHistory);
