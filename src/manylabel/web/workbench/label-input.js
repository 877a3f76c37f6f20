// <ml-label-input>: type some letters of a label and choose it, among thousands; `without` is not offered. Fires "choose" with { label, isNew }.
import { LitElement, html, nothing } from "lit";
import { corpusPath, get } from "./api.js";
import { counted } from "./view.js";

const MOST = 20;
const PAUSE = 60;
let made = 0;

class LabelInput extends LitElement {
  static properties = {
    corpus: { attribute: false }, without: { attribute: false }, caption: {}, allowNew: { type: Boolean, attribute: "allow-new" }, options: { state: true }, active: { state: true }, typed: { state: true },
  };

  constructor() {
    super();
    made += 1;
    Object.assign(this, { without: null, caption: "Label", allowNew: false, options: null, active: -1, typed: "", identifier: `label-input-${made}` });
  }

  createRenderRoot() {
    return this;
  }

  focus() {
    this.querySelector("input").focus();
  }

  onFocus() {
    clearTimeout(this.closing);
    if (this.options === null) this.find();
  }

  /** Close the list, unless the field has the focus again a moment later. */
  onBlur() {
    this.closing = setTimeout(() => this.close(), 150);
  }

  close() {
    this.stop?.abort();
    this.options = null;
  }

  onInput(event) {
    this.typed = event.target.value;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.find(), PAUSE);
  }

  async find() {
    this.stop?.abort();
    this.stop = new AbortController();
    const { typed } = this;
    try {
      const wanted = typed.trim(), ask = (what) => get(corpusPath(this.corpus, what), { typed: wanted, limit: MOST }, this.stop.signal);
      const [{ labels, total, near }, { concepts }] = await Promise.all([ask("labels"), wanted ? ask("concepts") : { concepts: null }]);
      this.foundFor = typed;
      const named = (concepts ?? []).filter((one) => (this.allowNew || !one.is_new) && !labels.some(({ label }) => label === one.label));
      const exact = labels.some(({ label }) => label === wanted) || (concepts ?? []).some(({ label, name, uri }) => [label, name, uri, `<${uri}>`].includes(wanted));
      const options = labels.map(({ label, documents }) => ({ label, note: counted(documents, "document"), isNew: false }));
      for (const { label, name, uri, is_new: isNew } of named) options.push({ label, note: `${name === label ? uri : name}${isNew ? ", in the vocabulary" : ""}`, isNew });
      const others = near.filter(({ label }) => !options.some((one) => one.label === label));
      for (const { label, documents } of others) options.push({ label, note: `did you mean this one? ${counted(documents, "document")}`, isNew: false });
      this.options = options.filter(({ label }) => label !== this.without);
      const words = `add as a new label${concepts ? " (not in the vocabulary)" : ""}`;
      if (this.allowNew && wanted && !exact) this.options.push({ label: wanted, note: others.length ? `${words} (↓, Enter)` : words, isNew: true });
      this.more = Math.max(0, total - labels.length);
      this.active = this.options.length ? 0 : -1;
    } catch (error) {
      if (error.name !== "AbortError") this.dispatchEvent(new CustomEvent("ml-problem", { detail: error, bubbles: true, composed: true }));
    }
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.options === null) this.find();
    else if (step && this.options.length) this.active = (this.active + step + this.options.length) % this.options.length;
    else if (event.key === "Enter" && (this.options !== null || this.typed.trim())) this.take();
    else if (event.key === "Escape") {
      if (this.options === null) return;
      this.options = null;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Choose the active label; one who types fast gets what was typed, not what was found before. */
  async take() {
    if (this.foundFor !== this.typed) {
      clearTimeout(this.waiting);
      await this.find();
    }
    if (this.options?.[this.active]) this.choose(this.options[this.active]);
  }

  choose({ label, isNew }) {
    this.close();
    this.typed = "";
    this.querySelector("input").value = "";
    this.dispatchEvent(new CustomEvent("choose", { detail: { label, isNew } }));
  }

  render() {
    const open = this.options !== null, list = `${this.identifier}-list`;
    return html`<div class="label-input">
      <label for=${this.identifier}>${this.caption}</label>
      <input id=${this.identifier} type="text" role="combobox" autocomplete="off" spellcheck="false" placeholder="type to find a label"
        aria-expanded=${String(open)} aria-controls=${list} aria-autocomplete="list"
        aria-activedescendant=${open && this.active >= 0 ? `${list}-${this.active}` : nothing}
        @input=${this.onInput} @keydown=${this.onKey} @focus=${this.onFocus} @blur=${this.onBlur}>
      <ul id=${list} role="listbox" aria-label=${this.caption} ?hidden=${!open}>
        ${(this.options ?? []).map((option, place) => html`<li id=${`${list}-${place}`} role="option" aria-selected=${String(place === this.active)}
          @mousedown=${(event) => { event.preventDefault(); this.choose(option); }}><span dir="auto">${option.label}</span> <span class="quiet">${option.note}</span></li>`)}
        ${open && !this.options.length ? html`<li role="option" aria-selected="false" aria-disabled="true" class="quiet">No label holds “${this.typed}”.</li>` : nothing}
      </ul>
      ${open && this.more ? html`<p class="quiet more">and ${counted(this.more, "other")}: type more letters</p>` : nothing}</div>`;
  }
}

customElements.define("ml-label-input", LabelInput);
