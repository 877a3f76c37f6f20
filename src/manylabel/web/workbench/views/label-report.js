// <ml-label-report>: what the label report found in the corpus: labels that occur together, imply or avoid each other, names that may mean the
// same, imbalance, and which labels more documents would help. Fires "merge" with [label, documents, target].
import { LitElement, html, nothing } from "lit";
import { Problem, get, runJob } from "../api.js";
import { relation } from "../filters.js";
import { address } from "../route.js";
import { count, counted, day, percent, score } from "../view.js";
import "./label-graph.js";

const ROWS = 15;
const VERDICTS = { rising: "yes", level: "no", open: "unclear", rare: "too few to judge" };

class LabelReport extends LitElement {
  static properties = { corpus: { attribute: false }, models: { attribute: false }, job: { state: true }, working: { state: true }, problem: { state: true }, whole: { state: true } };

  constructor() {
    super();
    Object.assign(this, { models: [], job: null, working: false, problem: null, whole: new Set() });
  }

  createRenderRoot() {
    return this;
  }

  updated() {
    if (this.corpus && this.corpus !== this.loadedFor) this.load();
  }

  /** The last report of this corpus. */
  async load() {
    this.loadedFor = this.corpus;
    this.job = null;
    await this.attempt(async () => {
      const { jobs } = await get("/v1/jobs", { kind: "labels", corpus: this.corpus, state: "done", limit: 1 });
      this.job = jobs.length ? await get(`/v1/jobs/${jobs[0].id}`) : undefined;
    });
  }

  async run() {
    this.working = true;
    const model = this.models?.some(({ name }) => name === this.corpus) ? { model: this.corpus } : {};
    await this.attempt(async () => {
      this.dispatchEvent(new CustomEvent("ml-job", { bubbles: true, composed: true }));
      await runJob({ kind: "labels", corpus: this.corpus, ...model });
      await this.load();
    });
    this.working = false;
  }

  async attempt(work) {
    try {
      await work();
      this.problem = null;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error.message;
    }
  }

  link(label) {
    return html`<a href=${address({ corpus: this.corpus, view: "labels", parameters: { label } })} dir="auto">${label}</a>`;
  }

  /** A number of documents that have one label, or both of two. */
  documents(number, ...conditions) {
    return html`<a href=${address({ corpus: this.corpus, view: "errors", parameters: conditions.map(([how, label]) => relation(how, label)) })}>${count(number)}</a>`;
  }

  /** A table of some rows, all of them when asked for. */
  table(name, columns, rows, cells) {
    const shown = this.whole.has(name) ? rows : rows.slice(0, ROWS);
    return html`<div class="wide" tabindex="0" role="region" aria-label=${name}><table><thead><tr>${columns.map((title, place) => html`<th scope="col" class=${place > 1 ? "figure" : ""}>${title}</th>`)}</tr></thead>
      <tbody>${shown.map((row) => html`<tr>${cells(row).map((cell, place) => html`<td class=${place > 1 ? "figure" : ""}>${cell}</td>`)}</tr>`)}</tbody></table></div>
      ${rows.length > shown.length ? html`<button type="button" @click=${() => { this.whole = new Set([...this.whole, name]); }}>Show all ${count(rows.length)}</button>` : nothing}`;
  }

  pairs(report) {
    const both = ({ first, second, both: number, expected, p }) => [this.link(first), this.link(second), this.documents(number, ["true", first], ["true", second]), score(expected), p < 0.001 ? "< 0.001" : p.toFixed(3)];
    const columns = ["label", "and", "both", "expected", "adjusted p"];
    return html`<section class="panel wide-panel"><h2>Labels that occur together</h2>
        ${report.together.length ? html`<div class="picture"><ml-label-graph .corpus=${this.corpus} .pairs=${report.together}></ml-label-graph><div>${this.table("Labels that occur together", columns, report.together, both)}</div></div>
          ${report.n_together > report.together.length ? html`<p class="quiet">The ${count(report.together.length)} strongest of ${count(report.n_together)} pairs.</p>` : nothing}` : html`<p class="quiet">No two labels occur together more often than by chance.</p>`}</section>
      <section class="panel"><h2>Implications</h2>${report.implications.length ? this.table("Implications", ["label", "implies", "both", "documents", "at least"], report.implications, (one) => [
        this.link(one.label), this.link(one.implied), this.documents(one.both, ["true", one.label], ["true", one.implied]), this.documents(one.documents, ["true", one.label]), percent(one.low)]) : html`<p class="quiet">No label implies another one.</p>`}</section>
      <section class="panel"><h2>Labels that avoid each other</h2>${report.exclusions.length ? this.table("Labels that avoid each other", columns, report.exclusions, both) : html`<p class="quiet">No two labels avoid each other.</p>`}</section>`;
  }

  names(report) {
    const sizes = new Map(report.labels.map(({ label, documents }) => [label, documents]));
    const merge = ({ first, second }) => {
      const [from, to] = (sizes.get(first) ?? 0) <= (sizes.get(second) ?? 0) ? [first, second] : [second, first];
      return html`<button type="button" @click=${() => this.dispatchEvent(new CustomEvent("merge", { detail: [from, sizes.get(from), to] }))}>Merge …</button>`;
    };
    return html`<section class="panel"><h2>Names that may mean the same</h2>${report.similar_names.length
      ? this.table("Names that may mean the same", ["label", "and", "why", ""], report.similar_names, (one) => [this.link(one.first), this.link(one.second), one.reason, merge(one)])
      : html`<p class="quiet">All names are clearly different.</p>`}</section>
      ${report.missing_ancestors.length ? html`<section class="panel"><h2>Documents that lack an ancestor</h2>${this.table("Documents that lack an ancestor", ["label", "ancestor", "lacking", "documents"], report.missing_ancestors, (one) => [
        this.link(one.label), this.link(one.ancestor), this.documents(one.lacking, ["true", one.label], ["not true", one.ancestor]), this.documents(one.documents, ["true", one.label])])}</section>` : nothing}`;
  }

  imbalance(report) {
    const quality = new Map((report.model?.quality ?? []).map((one) => [one.label, one.more_documents]));
    const columns = ["label", "occurs with", "documents", "share", "imbalance", ...(report.model?.verdicts ? ["would more documents help?"] : [])];
    return html`<section class="panel wide-panel"><h2>Imbalance</h2>
      <p class="quiet">Imbalance: how many times as frequent as the label the most frequent one is; ${score(report.mean_ratio)} on average. SCUMBLE ${report.scumble.toFixed(3)}: how much frequent and rare labels share documents.
        ${report.model?.verdicts ? `More documents help where the F1 of a linear SVM still rises: it was trained on ${report.model.verdicts}.` : ""}</p>
      ${this.table("Imbalance", columns, report.labels, (one) => [this.link(one.label), one.companions.join(", "), this.documents(one.documents, ["true", one.label]), percent(one.share), one.imbalance.toFixed(2),
        ...(report.model?.verdicts ? [VERDICTS[quality.get(one.label)] ?? "–"] : [])])}</section>`;
  }

  render() {
    const { job } = this, button = html`<button type="button" class=${job ? "" : "main"} ?disabled=${this.working} @click=${this.run}>${this.working ? "Writing the report …" : job ? "Write it again" : "Write the report"}</button>`;
    const problem = this.problem ? html`<p class="warning" role="alert">${this.problem}</p>` : nothing;
    if (job === null) return html`${problem}<p class="quiet" role="status">Loading …</p>`;
    if (job === undefined) return html`${problem}<div class="empty"><h2>No label report yet</h2><p>It finds labels that occur together, imply or avoid each other, names that may mean the same, and how frequent labels are. It takes a few seconds.</p>${button}</div>`;
    const report = job.result, rare = report.labels.filter(({ documents }) => documents < 5).length;
    return html`${problem}<div class="tools report-head"><p>${counted(report.documents, "document")}, ${counted(report.labels.length, "label")} in use, ${report.cardinality.toFixed(2)} per document${rare ? `; ${counted(rare, "label has", "labels have")} fewer than 5 documents, too few to learn from` : ""}.
      <span class="quiet">Written ${day(job.ended)}.</span></p>${button}</div>
      <div class="label-report">${this.pairs(report)}${this.names(report)}${this.imbalance(report)}</div>`;
  }
}

customElements.define("ml-label-report", LabelReport);
