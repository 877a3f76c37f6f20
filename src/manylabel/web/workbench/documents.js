// <ml-documents>: the documents of a filter, loaded page by page as one scrolls; only the rows in sight are in the page.
import { LitElement, html, nothing } from "lit";
import { Problem, corpusPath, post } from "./api.js";
import { counted, score } from "./view.js";

const ROW = 84;
/* pixels; rows have one height, so that their places are known */
const PAGE = 100;
const SPARE = 6;
const MOST_LABELS = 2;
/* labels of a row, those first of which model and people disagree */

class Documents extends LitElement {
  static properties = {
    corpus: { attribute: false }, filter: { attribute: false }, order: { attribute: false }, label: { attribute: false }, descending: { attribute: false },
    chosen: { attribute: false }, addressOf: { attribute: false }, found: { state: true }, total: { state: true }, top: { state: true }, loading: { state: true }, folded: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { filter: {}, order: "id", label: null, descending: false, chosen: null, addressOf: null, folded: true });
    this.clear();
  }

  createRenderRoot() {
    return this;
  }

  clear() {
    Object.assign(this, { found: [], total: null, next: null, top: 0, loading: false });
  }

  /** What is asked for, as one text: a list is loaded anew when it changes. */
  get asked() {
    return JSON.stringify([this.corpus, this.filter, this.order, this.label, this.descending]);
  }

  /** Remember the row that has the focus: rows move between elements as one scrolls. */
  willUpdate() {
    this.focused = this.contains(document.activeElement) ? document.activeElement.closest("li.row")?.ariaPosInSet ?? null : null;
  }

  updated() {
    if (this.corpus && this.asked !== this.loadedFor) this.reload();
    const link = this.focused === null ? null : this.querySelector(`li.row[aria-posinset="${this.focused}"] a`);
    if (link && link !== document.activeElement) link.focus({ preventScroll: true });
  }

  /** Load the list anew. */
  async reload() {
    this.loadedFor = this.asked;
    this.stop?.abort();
    this.stop = new AbortController();
    const began = performance.now();
    this.coming = this.fetchPage(null, this.stop.signal);
    await this.coming;
    this.dataset.milliseconds = String(Math.round(performance.now() - began));
  }

  async fetchPage(cursor, signal) {
    this.loading = true;
    const { filter, order, label, descending } = this;
    try {
      const page = await post(corpusPath(this.corpus, "search"), { filter, order, label, descending, cursor, limit: PAGE, count: cursor === null }, signal);
      if (cursor === null) Object.assign(this, { found: page.documents, total: page.total, top: 0 });
      else this.found = [...this.found, ...page.documents];
      this.next = page.next;
      this.dispatchEvent(new CustomEvent("found", { detail: { documents: this.found, total: this.total } }));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.dispatchEvent(new CustomEvent("ml-problem", { detail: error, bubbles: true, composed: true }));
    }
    this.loading = false;
  }

  /** Load the next page, once. */
  more() {
    if (!this.loading) this.coming = this.fetchPage(this.next, this.stop.signal);
    return this.coming;
  }

  onScroll(event) {
    const { scrollTop, clientHeight } = event.target;
    this.top = Math.floor(scrollTop / ROW);
    this.visible = Math.ceil(clientHeight / ROW);
    if (this.next && this.top + this.visible > this.found.length - SPARE) this.more();
  }

  /** The place of a document in the list, from 0; -1 where it is not in the part that was loaded. */
  placeOf(number) {
    return this.found.findIndex((one) => one.number === number);
  }

  /** The next document after (1) or before (-1) the chosen one that `fits`, loaded where need be; undefined at the ends. */
  async neighbour(step, fits = () => true) {
    let place = this.placeOf(this.chosen) + (this.placeOf(this.chosen) < 0 && step < 0 ? 0 : step);
    for (; place >= 0; place += step) {
      if (place >= this.found.length && this.next) await this.more();
      if (place >= this.found.length) return undefined;
      if (fits(this.found[place])) return this.found[place];
    }
    return undefined;
  }

  /** Show a document as it is now, where it is in the list. */
  renew(document) {
    this.found = this.found.map((one) => (one.number === document.number ? { ...document, fields: null } : one));
  }

  /** Bring a row into sight. */
  show(number) {
    const place = this.found.findIndex((one) => one.number === number), box = this.querySelector(".list");
    if (place < 0 || !box) return;
    if (place * ROW < box.scrollTop) box.scrollTop = place * ROW;
    else if ((place + 1) * ROW > box.scrollTop + box.clientHeight) box.scrollTop = (place + 1) * ROW - box.clientHeight;
    this.top = Math.floor(box.scrollTop / ROW);
  }

  /** Show the list on a narrow screen, where it is folded away while a document is open; or fold it again. */
  async fold(folded) {
    this.folded = folded;
    await this.updateComplete;
    if (!folded) this.show(this.chosen);
  }

  /** One row takes part in the order of Tab, so that nobody has to pass all of them; arrow keys go from row to row. */
  async onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], link = event.target.closest("a[data-number]");
    if (!step || !link) return;
    event.preventDefault();
    const place = this.placeOf(Number(link.dataset.number)) + step;
    if (place >= this.found.length && this.next) await this.more();
    const next = this.found[place];
    if (!next) return;
    this.show(next.number);
    await this.updateComplete;
    this.querySelector(`a[data-number="${next.number}"]`)?.focus({ preventScroll: true });
  }

  row(document, place, isStop) {
    const labels = document.labels.filter(({ is_true: isTrue, is_predicted: isPredicted, state }) => isTrue || isPredicted || state === "suggested");
    const agrees = ({ is_true: isTrue, is_predicted: isPredicted }) => Number(isTrue && isPredicted), shown = [...labels].sort((a, b) => agrees(a) - agrees(b)).slice(0, MOST_LABELS);
    const position = { top: `${place * ROW}px` };
    return html`<li class="row" style="top:${position.top};height:${ROW}px" aria-setsize=${this.total ?? -1} aria-posinset=${place + 1}>
      <a href=${this.addressOf?.(document) ?? nothing} data-number=${document.number} tabindex=${isStop ? 0 : -1} aria-current=${document.number === this.chosen ? "true" : nothing}>
        <span class="row-head"><span class="row-id" dir="auto">${document.id}</span><span class="quiet">${stateMark(document.state)}</span></span>
        <span class="row-text" dir="auto">${document.beginning}</span>
        <span class="row-labels">${shown.map((one) => labelChip(one))}${labels.length > shown.length ? html`<span class="quiet">+${labels.length - shown.length}<span class="unseen"> more</span></span>` : nothing}</span></a></li>`;
  }

  render() {
    const first = Math.max(0, this.top - SPARE), last = Math.min(this.found.length, this.top + (this.visible ?? 12) + SPARE);
    const rows = this.found.slice(first, last), stop = rows.some(({ number }) => number === this.chosen) ? this.chosen : rows[0]?.number;
    const isFolded = this.folded && this.chosen !== null;
    return html`<div class="list-head"><p class="quiet count" role="status">${this.total === null ? "Loading …" : counted(this.total, "document")}${this.loading && this.total !== null ? " · loading …" : ""}</p>
        ${this.total && this.chosen !== null ? html`<button type="button" class="link fold" aria-expanded=${String(!isFolded)} @click=${() => this.fold(!isFolded)}>${isFolded ? "Show the list" : "Hide the list"}</button>` : nothing}</div>
      ${this.total === 0 ? nothing : html`<div class="list ${isFolded ? "is-folded" : ""}" tabindex="0" role="region" aria-label="Documents" @scroll=${this.onScroll} @keydown=${this.onKey} @click=${() => this.fold(true)}>
        <ul style="height:${this.found.length * ROW}px">${rows.map((one, place) => this.row(one, first + place, one.number === stop))}</ul></div>`}`;
  }
}

const STATES = { "not reviewed": ["○", "not reviewed"], reviewed: ["✓", "reviewed"], "no label applies": ["∅", "reviewed, no label applies"] };

/** The state of a document: a sign and words. */
export function stateMark(state) {
  const [sign, words] = STATES[state];
  return html`<span aria-hidden="true">${sign}</span> ${words}`;
}

/** A label of a document: the sign before its name tells what it is, without colour. */
function labelChip({ label, is_true: isTrue, is_predicted: isPredicted, state, score: value }) {
  const kind = isTrue && isPredicted ? "agreed" : isTrue ? "missed" : state === "rejected" ? "rejected" : "predicted";
  const [sign, words] = { agreed: ["✓", "true and predicted"], missed: ["●", "true"], rejected: ["✕", "rejected"], predicted: ["○", "predicted"] }[kind];
  const title = `${label}: ${words}${value === null ? "" : `, score ${score(value)}`}`;
  return html`<span class="label ${kind}" title=${title} dir="auto"><span aria-hidden="true">${sign}</span><span class="unseen">${words}: </span> ${label}</span>`;
}

customElements.define("ml-documents", Documents);
