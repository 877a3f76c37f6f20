// <ml-reading>: how a file was read, each guess with a control that changes it. Fires "reading" with the new options.
import { LitElement, html, nothing } from "lit";

const DELIMITERS = { ",": "comma ,", ";": "semicolon ;", "\t": "tab", "|": "vertical bar |", " ": "blank" };
const SEPARATORS = { none: "none: a cell is one label", ";": "semicolon ;", ",": "comma ,", "|": "vertical bar |", "/": "slash /", " ": "blank", "\t": "tab", any: "any of ; | , and / between blanks" };
const ENCODINGS = ["utf-8", "cp1252", "latin-1", "utf-16", "cp1250", "cp1251", "gb18030", "shift_jis", "euc-kr"];
const MOST_CHIPS = 12;
const OTHER = "\u0000other";
const GUESSES = { texts: ["text_column", "title_column"], labels: ["label_column", "labels"] };

class Reading extends LitElement {
  static properties = { preview: { attribute: false }, formats: { attribute: false }, options: { attribute: false }, other: { state: true } };

  constructor() {
    super();
    Object.assign(this, { preview: null, formats: [], options: {}, other: false });
  }

  createRenderRoot() {
    return this;
  }

  /** Ask for other options; null takes the guess of the server again. */
  change(changes) {
    const options = { ...this.options };
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) delete options[name];
      else options[name] = value;
    }
    this.dispatchEvent(new CustomEvent("reading", { detail: options }));
  }

  get columns() {
    return this.preview?.available_columns ?? [];
  }

  /** The columns of texts, the main one last. */
  get texts() {
    return this.preview?.columns?.text ?? [this.options.text_column ?? []].flat();
  }

  get labels() {
    return this.preview?.columns ? (this.preview.columns.label ?? []) : [this.options.label_column ?? []].flat();
  }

  /** A control with its name, and a button that takes the guess again where the user has chosen. */
  row(title, names, control, note = nothing) {
    const changed = names.some((name) => name in this.options), taken = Object.fromEntries(names.map((name) => [name, null]));
    return html`<div class="guess ${changed ? "changed" : ""}"><div class="guess-head"><span class="guess-title" id=${`guess-${names[0]}`}>${title}</span>
      ${changed ? html`<span class="quiet">chosen by you</span><button type="button" class="link" aria-label=${`Guess again: ${title}`} @click=${() => this.change(taken)}>guess again</button>` : html`<span class="quiet">guessed</span>`}</div>
      ${control}${note}</div>`;
  }

  /** One of some values; `names` are the words for them. */
  choice(title, name, value, values, names = {}, none = null) {
    const listed = value === null || values.includes(value) ? values : [value, ...values];
    return this.row(title, [name], html`<select aria-labelledby=${`guess-${name}`} @change=${(event) => this.change({ [name]: event.target.value || null })}>
      ${none === null || (value !== null && !(name in this.options)) ? nothing : html`<option value="" ?selected=${value === null}>${none}</option>`}
      ${listed.map((one) => html`<option value=${one} ?selected=${one === value}>${names[one] ?? one}</option>`)}</select>`);
  }

  /** A text where no list of columns or sheets is known, since the file could not be read. */
  typed(title, name, hint = "name of a column") {
    const value = [this.options[name] ?? ""].flat().join(", ");
    return this.row(title, [name], html`<input aria-labelledby=${`guess-${name}`} .value=${value} placeholder=${hint} @change=${(event) => this.change({ [name]: event.target.value.trim() || null })}>`);
  }

  /** Several columns: each with a button that removes it, and a list of those to add. */
  several(title, name, chosen, taken, change) {
    const left = this.columns.filter((one) => !chosen.includes(one) && !taken.includes(one)), shown = chosen.slice(0, MOST_CHIPS);
    return html`<ul class="chips" aria-label=${title}>${shown.map((one) => html`<li class="chip"><span dir="auto">${one}</span>
        <button type="button" aria-label=${`Remove ${one} from ${title}`} @click=${() => change(chosen.filter((other) => other !== one))}>×</button></li>`)}
        ${chosen.length > MOST_CHIPS ? html`<li class="quiet">and ${chosen.length - MOST_CHIPS} more</li>` : nothing}</ul>
      <select aria-label=${`Add to ${title}`} ?disabled=${!left.length} @change=${(event) => { change([...chosen, event.target.value]); event.target.value = ""; }}>
        <option value="">add a column …</option>${left.map((one) => html`<option value=${one}>${one}</option>`)}</select>`;
  }

  textControls() {
    if (!this.columns.length) return this.typed("Text", "text_column");
    const main = this.texts.at(-1), further = this.texts.slice(0, -1);
    const take = (columns) => this.change({ title_column: null, text_column: columns });
    return this.row("Text", GUESSES.texts, html`<select aria-labelledby="guess-text_column" @change=${(event) => take([...further.filter((one) => one !== event.target.value), event.target.value])}>
        ${this.columns.map((one) => html`<option value=${one} ?selected=${one === main}>${one}</option>`)}</select>
      <span class="guess-sub">Title and other texts</span>
      ${this.several("title and other texts", "text_column", further, [main], (columns) => take([...columns, main]))}`);
  }

  labelControls() {
    if (!this.columns.length) return this.typed("Labels", "label_column", "column, or several separated by commas");
    const take = (columns) => this.change(columns.length ? { label_column: columns, labels: null } : { label_column: null, labels: false });
    return this.row("Labels", GUESSES.labels, this.several("labels", "label_column", this.labels, this.texts, take));
  }

  separator() {
    const value = this.preview?.label_separator ?? this.options.label_separator ?? null;
    if (value === null && this.preview) return nothing;
    const values = Object.keys(SEPARATORS), isOther = this.other || (value !== null && !values.includes(value));
    const chosen = (event) => {
      this.other = event.target.value === OTHER;
      if (!this.other) this.change({ label_separator: event.target.value || null });
    };
    return this.row("Between labels", ["label_separator"], html`<select aria-labelledby="guess-label_separator" @change=${chosen}>
        ${value === null ? html`<option value="" selected>recognised</option>` : nothing}
        ${values.map((one) => html`<option value=${one} ?selected=${!isOther && one === value}>${SEPARATORS[one]}</option>`)}
        <option value=${OTHER} ?selected=${isOther}>something else …</option></select>
      ${isOther ? html`<input aria-label="What stands between labels" maxlength="20" .value=${value ?? ""} @change=${(event) => { this.other = false; this.change({ label_separator: event.target.value || null }); }}>` : nothing}`);
  }

  /** Columns of ids and splits. */
  otherColumns() {
    if (!this.preview) return html`${this.typed("Ids", "id_column")}${this.typed("Split (train, test)", "split_column")}`;
    const { id, split } = this.preview.columns, { columns } = this;
    return columns.length ? html`${this.choice("Ids", "id_column", id, columns, {}, "none: the line of each document")}
      ${this.choice("Split (train, test)", "split_column", split, columns, {}, "none")}` : nothing;
  }

  /** The sheet of a workbook. */
  sheet() {
    if (!this.preview) return this.typed("Sheet", "sheet", "name of a sheet");
    return this.preview.sheets?.length ? this.choice("Sheet", "sheet", this.preview.sheet, this.preview.sheets) : nothing;
  }

  /** Controls that only some formats have. */
  table() {
    const { preview, options } = this, has = (name) => !preview || preview[name] !== null;
    const header = preview?.header ?? options.header ?? true;
    return html`${has("delimiter") ? this.choice("Between cells", "delimiter", preview?.delimiter ?? options.delimiter ?? null, Object.keys(DELIMITERS), DELIMITERS, "recognised") : nothing}
      ${has("delimiter") ? this.row("First row", ["header"], html`<select aria-labelledby="guess-header" @change=${(event) => this.change({ header: event.target.value === "yes" })}>
        <option value="yes" ?selected=${header}>names of columns</option><option value="no" ?selected=${!header}>a document</option></select>`) : nothing}
      ${has("encoding") ? this.choice("Encoding", "encoding", preview?.encoding ?? options.encoding ?? "utf-8", ENCODINGS) : nothing}
      ${!preview || preview.format === "arff" ? this.labelCount() : nothing}
      ${this.sheet()}`;
  }

  /** ARFF does not tell which attributes are labels, unless a file of labels comes with it. */
  labelCount() {
    const value = this.options.label_count ?? "", take = (event) => this.change({ label_count: event.target.value === "" ? null : Number(event.target.value) });
    return this.row("Labels among the attributes (ARFF)", ["label_count"], html`<input type="number" step="1" aria-labelledby="guess-label_count" placeholder="5: the first five, -5: the last five" .value=${String(value)} @change=${take}>`);
  }

  tick(title, name, on) {
    return html`<label class="tick"><input type="checkbox" .checked=${this.options[name] === on} @change=${(event) => this.change({ [name]: event.target.checked ? on : null })}>${title}</label>`;
  }

  render() {
    const { preview } = this;
    return html`<div class="guesses">
      ${this.choice("Format", "format", preview?.format ?? this.options.format ?? null, this.formats, {}, "recognised")}
      ${preview && !preview.columns ? nothing : html`${this.textControls()}${this.labelControls()}${this.separator()}${this.otherColumns()}`}
      ${this.table()}</div>
      <div class="ticks">${this.tick("Merge labels that differ only in case, blanks or Unicode form", "merge_labels", true)}
      ${this.tick("Leave out documents that cannot be read", "on_error", "skip")}</div>`;
  }
}

customElements.define("ml-reading", Reading);
