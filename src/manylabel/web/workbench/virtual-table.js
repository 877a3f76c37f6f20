// <ml-virtual-table>: a table of thousands of rows, sorted by any column; only the rows in sight are in the page.
// Columns are { name, title, cell(row), value(row), figure, width }; a column without `value` is not sorted by. Fires "sort" with
// the column's name, with a minus sign before it where the highest comes first.
import { LitElement, html, nothing } from "lit";

const ROW = 36;
/* pixels; rows have one height, so that their places are known */
const SPARE = 8;
const EDGE = 4;
/* pixels at the right that nobody misses */
const CONTROLS = "a, button, input";
const texts = new Intl.Collator(undefined, { numeric: true });

/** Compare two values; what is missing comes last in both directions. */
function compare(a, b, down) {
  const noA = a === null || a === undefined, noB = b === null || b === undefined;
  if (noA || noB) return noA - noB;
  const order = typeof a === "number" && typeof b === "number" ? a - b : texts.compare(String(a), String(b));
  return down ? -order : order;
}

/** Rows in the order of a column; "-name" puts the highest first. */
export function sorted(rows, columns, sort) {
  const down = sort.startsWith("-"), column = columns.find(({ name }) => name === sort.replace(/^-/, ""));
  if (!column?.value) return rows;
  return rows.map((row) => [column.value(row), row]).sort(([a], [b]) => compare(a, b, down)).map(([, row]) => row);
}

class VirtualTable extends LitElement {
  static properties = {
    caption: {}, columns: { attribute: false }, rows: { attribute: false }, sort: { attribute: false }, isChosen: { attribute: false }, top: { state: true }, seen: { state: true }, hasMore: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { caption: "", columns: [], rows: [], sort: "", isChosen: () => false, top: 0, seen: 20, hasMore: false });
  }

  createRenderRoot() {
    return this;
  }

  willUpdate(changed) {
    if (changed.has("rows") || changed.has("sort") || changed.has("columns")) this.ordered = sorted(this.rows, this.columns, this.sort);
    const row = this.contains(document.activeElement) ? document.activeElement.closest("tbody tr") : null;
    this.focused = row ? { place: row.dataset.place, control: [...row.querySelectorAll(CONTROLS)].indexOf(document.activeElement) } : null;
  }

  /** Give the focus back to the control that had it: rows move between elements as one scrolls. */
  updated() {
    if (!this.focused) return;
    const row = this.querySelector(`tr[data-place="${this.focused.place}"]`), control = row?.querySelectorAll(CONTROLS)[this.focused.control];
    if (control !== document.activeElement) (control ?? this.querySelector(".table-box")).focus({ preventScroll: true });
  }

  /** Watch the size of the box: a larger one shows more rows. */
  firstUpdated() {
    this.sizes = new ResizeObserver(() => this.look());
    this.sizes.observe(this.querySelector(".table-box"));
  }

  connectedCallback() {
    super.connectedCallback();
    if (this.sizes) this.sizes.observe(this.querySelector(".table-box"));
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes?.disconnect();
  }

  look() {
    const { scrollTop, clientHeight, scrollLeft, scrollWidth, clientWidth } = this.querySelector(".table-box");
    this.hasMore = scrollWidth - clientWidth - scrollLeft > EDGE;
    this.top = Math.floor(scrollTop / ROW);
    this.seen = Math.ceil(clientHeight / ROW);
  }

  /** Sort by a column: figures with the highest first, a second time the other way round. */
  sortBy(column) {
    const up = column.name, down = `-${column.name}`;
    const next = this.sort === up ? down : this.sort === down ? up : column.figure ? down : up;
    this.dispatchEvent(new CustomEvent("sort", { detail: next }));
  }

  head(column) {
    const direction = this.sort === column.name ? "ascending" : this.sort === `-${column.name}` ? "descending" : nothing;
    return html`<th scope="col" class=${column.figure ? "figure" : ""} aria-sort=${direction}>${column.value
      ? html`<button type="button" @click=${() => this.sortBy(column)}>${column.title}</button>` : column.title}</th>`;
  }

  row(row, place) {
    return html`<tr data-place=${place} aria-rowindex=${place + 2} class=${this.isChosen(row) ? "chosen" : ""} style="height:${ROW}px">${this.columns.map((column, at) => (at === 0
      ? html`<th scope="row" dir="auto">${column.cell(row)}</th>` : html`<td class=${column.figure ? "figure" : ""}>${column.cell(row)}</td>`))}</tr>`;
  }

  render() {
    const { ordered } = this, last = Math.min(ordered.length, this.top + this.seen + SPARE), first = Math.max(0, Math.min(this.top, last) - SPARE);
    const gap = (rows) => (rows > 0 ? html`<tr aria-hidden="true" style="height:${rows * ROW}px"><td colspan=${this.columns.length}></td></tr>` : nothing);
    return html`${this.hasMore ? html`<p class="quiet table-more">More columns: scroll to the right →</p>` : nothing}<div class="table-frame"><div class="table-box" tabindex="0" role="region" aria-label=${this.caption} @scroll=${this.look}>
      <table aria-rowcount=${ordered.length + 1}><caption class="unseen">${this.caption}</caption>
        <colgroup>${this.columns.map(({ width }) => html`<col style=${width ? `width:${width}` : ""}>`)}</colgroup>
        <thead><tr aria-rowindex="1">${this.columns.map((column) => this.head(column))}</tr></thead>
        <tbody>${gap(first)}${ordered.slice(first, last).map((row, place) => this.row(row, first + place))}${gap(ordered.length - last)}</tbody></table></div></div>`;
  }
}

customElements.define("ml-virtual-table", VirtualTable);
