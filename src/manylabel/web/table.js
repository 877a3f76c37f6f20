// <ml-table>: a plain HTML table that can be sorted by any column and filtered. The table inside is complete and readable
// without this script; long tables show their first rows until more are asked for.
import { LitElement, css, html } from "lit";

const FIRST_ROWS = 100;
const FILTER_FROM = 30;
const texts = new Intl.Collator(undefined, { numeric: true });

/** The value by which a cell is sorted: its number where it has one, otherwise its text. */
function valueOf(cell) {
  const { value } = cell.dataset, text = cell.textContent.trim();
  if (value !== undefined) return Number(value);
  return cell.classList.contains("figure") && /^[\d,]+$/.test(text) ? Number(text.replaceAll(",", "")) : text;
}

/** Compare two values; numbers come before texts, and what is empty comes last in both directions. */
function compare(a, b, down) {
  const emptyA = a === "" || Number.isNaN(a), emptyB = b === "" || Number.isNaN(b);
  if (emptyA || emptyB) return emptyA - emptyB;
  const order = typeof a === "number" && typeof b === "number" ? a - b : texts.compare(String(a), String(b));
  return down ? -order : order;
}

class Table extends LitElement {
  static properties = { shown: { state: true }, matching: { state: true } };

  static styles = css`
    .tools { display: flex; gap: .75rem; align-items: center; flex-wrap: wrap; margin: .4rem 0; font-size: .875rem; }
    input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .3rem;
            padding: .3rem .6rem; min-width: 14rem; max-width: 100%; }
    button { font: inherit; color: var(--accent); background: none; border: 1px solid var(--line);
             border-radius: .3rem; padding: .3rem .7rem; cursor: pointer; }
    input:focus-visible, button:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
    .count { color: var(--quiet); }
    @media print { .tools { display: none; } }
  `;

  constructor() {
    super();
    this.shown = FIRST_ROWS;
    this.matching = 0;
    this.filter = "";
  }

  connectedCallback() {
    super.connectedCallback();
    this.body = this.querySelector("tbody");
    this.rows = [...this.body.rows].map((row) => ({
      row, values: [...row.cells].map(valueOf), text: [...row.cells].map((cell) => cell.textContent).join("\n").toLowerCase(),
    }));
    this.querySelectorAll("thead th").forEach((head, column) => this.makeSortable(head, column));
    this.arrange();
  }

  makeSortable(head, column) {
    if (this.rows.length < 2 || !head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => this.sort(head, column));
  }

  sort(head, column) {
    const numeric = this.rows.some(({ values }) => typeof values[column] === "number");
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;  // figures: the highest first
    this.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    this.rows.sort((a, b) => compare(a.values[column], b.values[column], down));
    this.arrange();
  }

  /** Put the rows that match the filter into the table, in order, as many as are shown. */
  arrange() {
    const wanted = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = this.rows.filter(({ text }) => wanted.every((word) => text.includes(word)));
    this.body.replaceChildren(...matching.slice(0, this.shown).map(({ row }) => row));
    this.matching = matching.length;
  }

  render() {
    const rest = this.matching - this.shown;
    const long = this.rows.length >= FILTER_FROM;
    const counted = this.matching === this.rows.length ? `${this.rows.length} rows` : `${this.matching} of ${this.rows.length} rows`;
    return html`
      ${long ? html`<div class="tools">
        <input type="search" placeholder="Filter rows" aria-label="Filter the rows of this table" @input=${this.onFilter}>
        <span class="count" role="status">${counted}</span>
      </div>` : ""}
      <slot></slot>
      ${rest > 0 ? html`<div class="tools">
        <button type="button" @click=${this.onMore}>Show all ${this.matching} rows</button>
      </div>` : ""}`;
  }

  onFilter(event) {
    this.filter = event.target.value;
    this.shown = FIRST_ROWS;
    this.arrange();
  }

  onMore() {
    this.shown = Infinity;
    this.arrange();
  }
}

customElements.define("ml-table", Table);
