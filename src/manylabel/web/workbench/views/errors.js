// Errors: documents by label and kind of mistake. Labels and confusions at the left, the documents of the filter beside them, and one document
// with its labels, scores and evidence.
import { html, nothing } from "lit";
import { corpusPath, get, post } from "../api.js";
import { FILTER_NAMES, filterOf, relation } from "../filters.js";
import { address, go, set } from "../route.js";
import { View, count, counted } from "../view.js";
import "../chips.js";
import "../documents.js";
import "../score.js";
import "../virtual-table.js";
import "./error-document.js";

const PAUSE = 200;
const PAIRS = 1_000;
const ORDERS = { disagreement: "most mistakes first", uncertainty: "nearest to a threshold first", "-score": "highest score first", score: "lowest score first", id: "order of the data" };
const MISTAKES = ["disagreement", "false positive", "false negative", "no true label"];
const STATES = ["not reviewed", "reviewed", "no label applies"];

class ErrorsView extends View {
  static properties = { ...View.properties, rows: { state: true }, confusions: { state: true }, found: { state: true }, first: { state: true } };

  constructor() {
    super();
    Object.assign(this, { rows: null, confusions: null, found: null, first: null });
  }

  get shortcuts() {
    return [
      { keys: ["/"], text: "Search the texts", run: () => this.querySelector("#errors-text")?.focus() },
      { keys: ["j", "ArrowDown"], text: "Next document", run: () => this.step(1), enabled: () => (this.querySelector("ml-documents")?.placeOf(this.shown) ?? 0) < this.found - 1 },
      { keys: ["k", "ArrowUp"], text: "Document before", run: () => this.step(-1), enabled: () => (this.querySelector("ml-documents")?.placeOf(this.shown) ?? 0) > 0 },
      { keys: ["o"], text: "Open the document in Review", run: () => go({ view: "review", parameters: { document: this.shown } }), enabled: () => this.shown !== null },
      { keys: ["x"], text: "Remove the last condition", run: () => [...this.querySelectorAll("ml-chips .chip button")].at(-1)?.click(), enabled: () => this.querySelector("ml-chips .chip") !== null },
    ];
  }

  /** The label that the filter is about, or that was chosen in a document. */
  get label() {
    const named = filterOf(this.parameters).labels ?? [];
    return this.parameters.get("label") ?? named.at(-1)?.label ?? null;
  }

  get order() {
    const asked = this.parameters.get("order");
    return asked in ORDERS && (!asked.endsWith("score") || this.label) ? asked : this.summary?.scores ? "disagreement" : "id";
  }

  updated(changed) {
    super.updated(changed);
    if (changed.has("summary") && !changed.has("parameters")) this.opened();
  }

  opened() {
    if (!this.summary?.scores || this.summary.name !== this.corpus) return;
    const key = JSON.stringify([this.corpus, this.summary.event]), typed = this.showsPairs ? this.parameters.get("find") ?? "" : null;
    if (key !== this.loadedFor) {
      this.loadedFor = key;
      this.pairsFor = null;
      this.attempt(() => this.loadLabels());
    }
    if (typed !== null && typed !== this.pairsFor) {
      this.pairsFor = typed;
      this.attempt(() => this.loadPairs(typed));
    }
  }

  /** The document that is shown: the chosen one, or the first of the list. */
  get shown() {
    return Number(this.parameters.get("document")) || this.first;
  }

  get showsPairs() {
    return this.parameters.get("show") === "confusions";
  }

  async loadLabels() {
    const { labels } = await post(corpusPath(this.corpus, "thresholds/study"), { documents: 0 });
    this.rows = labels.map(({ label, saved }) => ({ label, wrong: saved.false_positives, missed: saved.false_negatives, mistakes: saved.false_positives + saved.false_negatives }));
  }

  async loadPairs(typed) {
    this.stop?.abort();
    this.stop = new AbortController();
    this.confusions = await get(corpusPath(this.corpus, "confusions"), { typed, limit: PAIRS }, this.stop.signal);
  }

  async step(by) {
    const list = this.querySelector("ml-documents"), next = await list?.neighbour(by);
    if (!next) return;
    set({ document: next.number });
    list.show(next.number);
  }

  later(change) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => set(change), PAUSE);
  }

  /** The address of this view with these conditions alone, so that a number opens exactly its documents. */
  opens(...conditions) {
    const kept = [...this.parameters].filter(([name]) => !FILTER_NAMES.includes(name) && !["document", "label"].includes(name));
    return address({ corpus: this.corpus, view: "errors", parameters: [...kept, ...conditions] });
  }

  number(value, ...conditions) {
    const to = this.opens(...conditions), isOpen = conditions.every(([name, text]) => this.parameters.getAll(name).includes(text)) && this.parameters.getAll("is").length === conditions.length;
    return html`<a href=${to} aria-current=${isOpen ? "true" : nothing}>${count(value)}</a>`;
  }

  labelTable() {
    const find = (this.parameters.get("find") ?? "").toLocaleLowerCase(), width = "5.3rem";
    const column = (name, title, how) => ({ name, title, figure: true, width, value: (row) => row[name], cell: (row) => this.number(row[name], relation(how, row.label)) });
    const columns = [
      { name: "label", title: "label", value: ({ label }) => label, cell: ({ label }) => html`<a href=${address({ corpus: this.corpus, view: "labels", parameters: { label } })} title=${label}>${label}</a>` },
      column("mistakes", "both", "disagreement"), column("wrong", "false +", "false positive"), column("missed", "false −", "false negative"),
    ];
    const rows = (this.rows ?? []).filter(({ label }) => label.toLocaleLowerCase().includes(find));
    return html`<p class="quiet count" role="status">${this.rows ? counted(rows.length, "label") : "Loading …"}</p>
      <ml-virtual-table caption="Labels by mistakes: false + is predicted and not true, false − is true and not predicted" .columns=${columns} .rows=${rows} .isChosen=${({ label }) => label === this.label} .sort=${this.parameters.get("sort") ?? "-mistakes"} @sort=${({ detail }) => set({ sort: detail })}></ml-virtual-table>`;
  }

  pairTable() {
    const open = ({ missed, wrong }) => [relation("false negative", missed), relation("false positive", wrong)];
    const columns = [
      { name: "missed", title: "missed", value: ({ missed }) => missed, cell: ({ missed }) => html`<span title=${missed}>${missed}</span>` },
      { name: "wrong", title: "predicted instead", value: ({ wrong }) => wrong, cell: ({ wrong }) => html`<span dir="auto" title=${wrong}>${wrong}</span>` },
      { name: "documents", title: "docs", figure: true, width: "4.6rem", value: ({ documents }) => documents, cell: (pair) => this.number(pair.documents, ...open(pair)) },
    ];
    const { pairs = [], total = 0 } = this.confusions ?? {};
    return html`<p class="quiet count" role="status">${this.confusions ? `${counted(total, "pair")}${total > pairs.length ? `, the ${count(pairs.length)} most frequent are listed` : ""}` : "Loading …"}</p>
      <ml-virtual-table caption="Confusions: a label is missed and another one predicted" .columns=${columns} .rows=${pairs} .isChosen=${(pair) => open(pair).every(([, text]) => this.parameters.getAll("is").includes(text))} .sort=${this.parameters.get("sort") ?? "-documents"} @sort=${({ detail }) => set({ sort: detail })}></ml-virtual-table>`;
  }

  tables() {
    const kept = new URLSearchParams([...this.parameters].filter(([name]) => !["show", "find", "sort"].includes(name)));
    const tab = (name, title) => html`<li><a href=${address({ corpus: this.corpus, view: "errors", parameters: name ? [...kept, ["show", name]] : kept })} aria-current=${(this.parameters.get("show") ?? null) === name ? "page" : nothing}>${title}</a></li>`;
    return html`<section aria-label="Mistakes"><div class="view-head"><nav class="tabs" aria-label="Kinds of mistakes"><ul>${tab(null, "By label")}${tab("confusions", "Confusions")}</ul></nav>
        <label class="inline">Find <input type="search" class="find" .value=${this.parameters.get("find") ?? ""} @input=${(event) => this.later({ find: event.target.value })}></label></div>
      ${this.showsPairs ? this.pairTable() : this.labelTable()}</section>`;
  }

  filterTools() {
    const { parameters, summary } = this;
    const choice = (title, name, options, none) => html`<label>${title}<select @change=${(event) => set({ [name]: event.target.value, document: null })}><option value="" ?selected=${!parameters.get(name)}>${none}</option>
      ${options.map((one) => html`<option value=${one} ?selected=${parameters.get(name) === one}>${one}</option>`)}</select></label>`;
    return html`<div class="tools filter-tools"><label>Search the texts <input id="errors-text" type="search" dir="auto" maxlength="1000" placeholder='words "a phrase" begin* -without' .value=${parameters.get("text") ?? ""} @input=${(event) => this.later({ text: event.target.value, document: null })}></label>
      ${choice("Some label", "any", MISTAKES, "any documents")}${choice("Split", "split", Object.keys(summary.splits).filter(Boolean), "all")}${choice("State", "state", STATES, "all")}
      <label>Order<select @change=${(event) => set({ order: event.target.value })}>${Object.entries(ORDERS).map(([name, title]) => html`<option value=${name} ?selected=${name === this.order} ?disabled=${(name.endsWith("score") && !this.label) || (name !== "id" && !summary.scores)}>${title}${name.endsWith("score") && this.label ? `: ${this.label}` : ""}</option>`)}</select></label></div>`;
  }

  documents() {
    const { order } = this, to = (document) => address({ corpus: this.corpus, view: "errors", parameters: [...[...this.parameters].filter(([name]) => name !== "document"), ["document", document.number]] });
    const byLabel = order.endsWith("score") || (order === "uncertainty" && this.parameters.has("is"));
    return html`<section aria-label="Documents of the filter"><ml-chips .parameters=${this.parameters}></ml-chips>
      <ml-documents .corpus=${this.corpus} .filter=${filterOf(this.parameters)} .order=${order.replace("-", "")} .label=${byLabel ? this.label : null} .descending=${["disagreement", "-score"].includes(order)}
        .chosen=${this.shown} .addressOf=${to} @found=${({ detail }) => { Object.assign(this, { found: detail.total, first: detail.documents[0]?.number ?? null }); }}></ml-documents>
      ${this.found === 0 ? html`<div class="empty"><h2>No document meets all conditions</h2><p>Remove a condition above, or choose another number at the left.</p></div>` : nothing}</section>`;
  }

  noScores() {
    return html`<section class="panel hint"><h2>No scores yet</h2><p>Mistakes are known as soon as the documents are scored: a model is trained on folds of the corpus and labels the documents that it has not seen.</p>
      <ml-score .corpus=${this.corpus} .jobs=${this.jobs}></ml-score></section>`;
  }

  render() {
    if (!this.corpus) return html`<h1>Errors</h1><div class="empty"><h2>No corpus yet</h2><p>Import documents under <a href="#/data">Data</a>.</p></div>`;
    if (this.summary?.name !== this.corpus) return html`<h1>Errors</h1><p class="quiet">Loading …</p>`;
    return html`<h1>Errors</h1><div class="errors">${this.filterTools()}
      ${this.summary.scores ? this.tables() : this.noScores()}${this.documents()}
      <ml-error-document .corpus=${this.corpus} .number=${this.shown} .label=${this.label} .models=${this.models} .event=${this.summary.event} .isScored=${this.summary.scores !== null} @label=${({ detail }) => set({ label: detail })}></ml-error-document></div>`;
  }
}

customElements.define("ml-errors-view", ErrorsView);
