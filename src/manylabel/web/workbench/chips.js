// <ml-chips>: the conditions of the filter in the address, each with a button that removes it.
import { LitElement, html, nothing } from "lit";
import { conditions, filterParameters } from "./filters.js";
import { go } from "./route.js";

class Chips extends LitElement {
  static properties = { parameters: { attribute: false } };

  createRenderRoot() {
    return this;
  }

  clear() {
    const kept = new URLSearchParams([...this.parameters].filter(([name]) => !filterParameters(this.parameters).has(name)));
    go({ parameters: kept });
  }

  render() {
    const found = conditions(this.parameters);
    if (!found.length) return nothing;
    return html`<ul class="chips" aria-label="Filter">${found.map(({ text, without }) => html`<li class="chip"><span>${text}</span>
      <button type="button" aria-label=${`Remove the filter ${text}`} @click=${() => go({ parameters: without })}>×</button></li>`)}
      ${found.length > 1 ? html`<li><button type="button" class="quiet" @click=${this.clear}>Remove all</button></li>` : nothing}</ul>`;
  }
}

customElements.define("ml-chips", Chips);
