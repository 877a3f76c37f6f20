// <ml-corpus>: what a corpus holds, what to do next, its labels, who did what, and its export.
import { html, nothing } from "lit";
import { corpusPath, download, get, modelFile, post, remove, unlessGone } from "./api.js";
import { relation } from "./filters.js";
import { address } from "./route.js";
import { View, count, counted, day } from "./view.js";
import "./score.js";

const TOP_LABELS = 15;
const EVENTS = 10;
const STATE_TITLES = { "not reviewed": "Not reviewed", reviewed: "Reviewed", "no label applies": "No label applies" };
const KINDS = {
  import: ({ documents }) => `imported ${counted(documents, "document")}`,
  scores: ({ how }) => `scored the documents: ${how}`,
  thresholds: ({ labels }) => `saved the thresholds of ${counted(labels, "label")}`,
  rules: ({ lines }) => `saved keyword rules, ${counted(lines, "line")}`,
  undo: ({ undoes }) => `took back event ${undoes}`,
  "add label": ({ label }) => `added the label “${label}”`,
  "rename label": ({ label, name }) => `renamed the label “${label}” to “${name}”`,
  "merge labels": ({ label, into, documents }) => `merged the label “${label}” into “${into}”, ${counted(documents, "document")}`,
  "retire label": ({ label, documents }) => `retired the label “${label}”, ${counted(documents, "document")}`,
};

/** What a bulk action did, in words. */
function bulkWords({ action: { do: deed, label, state } }, changes) {
  const what = state ? `marked as ${state}` : label ? `${deed} “${label}”` : deed;
  return `changed all documents of a filter: ${what}, ${counted(changes, "change")}`;
}

/** What an event did, in words. */
function eventWords({ kind, detail, changes, first }) {
  if (kind in KINDS) return KINDS[kind](detail);
  if (kind === "bulk") return bulkWords(detail, changes);
  const [one] = first, what = one?.label ? `“${one.label}” ${one.now ?? "cleared"}` : one?.now ? "reviewed" : "not reviewed";
  if (kind === "decision" && one) return `decided on ${one.id}: ${what}${changes > 1 ? ` and ${counted(changes - 1, "change")} more` : ""}`;
  return `${kind}: ${counted(changes, "change")}`;
}

class Corpus extends View {
  static properties = {
    ...View.properties, labels: { state: true }, events: { state: true }, formats: { state: true }, disagreements: { state: true }, saving: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { labels: null, events: null, formats: [], disagreements: null, saving: false });
  }

  updated(changed) {
    if (changed.has("summary") && this.summary) this.attempt(() => unlessGone(() => this.load()));
  }

  async load() {
    const { summary } = this, path = (...rest) => corpusPath(summary.name, ...rest);
    const [labels, events, formats, found] = await Promise.all([
      get(path("labels"), { limit: TOP_LABELS }), get(path("events"), { limit: EVENTS }), get(path("formats")),
      summary.scores ? post(path("search"), { filter: { any_label: "disagreement" }, limit: 1 }) : null,
    ]);
    if (summary.name !== this.summary?.name) return;
    Object.assign(this, { labels, events: events.events, formats: formats.formats, disagreements: found?.total ?? null });
  }

  link(view, parameters, words) {
    return html`<a href=${address({ corpus: this.summary.name, view, parameters })}>${words}</a>`;
  }

  async save(event) {
    event.preventDefault();
    const { format } = event.target.elements, query = new URLSearchParams(format.value ? { format: format.value } : {});
    this.saving = true;
    await this.attempt(() => download(`${corpusPath(this.summary.name, "export")}?${query}`));
    this.saving = false;
  }

  async drop() {
    const { name } = this.summary, dialog = this.querySelector("dialog");
    dialog.close();
    const gone = await this.attempt(async () => { await remove(corpusPath(name)); return true; });
    if (!gone) return;
    this.tell("ml-say", `The corpus ${name} was deleted.`);
    this.tell("ml-deleted");
  }

  saveModel(event) {
    event.preventDefault();
    const model = event.target.elements.model.value;
    return this.attempt(() => download(modelFile(model)));
  }

  figures() {
    const { documents, states, splits, labels } = this.summary;
    return html`<dl class="figures"><div><dt>Documents</dt><dd>${this.link("review", {}, count(documents))}</dd></div>
      ${Object.entries(states).map(([state, size]) => html`<div><dt>${STATE_TITLES[state]}</dt><dd>${this.link("review", { state }, count(size))}</dd></div>`)}
      ${Object.entries(splits).filter(([split]) => split).map(([split, size]) => html`<div><dt>Split ${split}</dt><dd>${this.link("review", { split }, count(size))}</dd></div>`)}
      <div><dt>Labels</dt><dd>${this.link("labels", {}, count(labels))}</dd></div>
      ${this.disagreements === null ? nothing : html`<div><dt>With a mistake</dt><dd>${this.link("errors", { any: "disagreement" }, count(this.disagreements))}</dd></div>`}</dl>`;
  }

  /** What to do next: scores first, since the queues of Review and the errors come from them. */
  steps() {
    const { scores, states, documents } = this.summary, left = states["not reviewed"];
    return html`<section class="panel"><h2>Next steps</h2><ol class="next-steps">
      <li>${scores ? html`The documents are scored: ${scores}. <ml-score .corpus=${this.summary.name} .jobs=${this.jobs} .words=${"Score them again"} .kind=${"link"}></ml-score>`
        : html`<ml-score .corpus=${this.summary.name} .jobs=${this.jobs}></ml-score>
          <span class="quiet">Each document gets scores from a model that did not learn from it. Review and Errors need them.</span>`}</li>
      <li>${this.link("review", left ? { state: "not reviewed" } : {}, left === documents ? "Review the documents" : left ? `Go on reviewing: ${counted(left, "document")} left` : "All documents are reviewed")}</li>
      <li>${this.link("compare", {}, "Compare methods")} <span class="quiet">and train a model with the best one.</span></li></ol></section>`;
  }

  labelTable() {
    const { labels, summary } = this;
    if (!labels) return html`<div class="placeholder"></div>`;
    if (!labels.total) return html`<p class="quiet">There are no labels yet. Add some under ${this.link("review", {}, "Review")}.</p>`;
    const most = Math.max(1, labels.labels[0].documents);
    return html`<table class="bars"><thead><tr><th scope="col">Label</th><th scope="col" class="figure">Documents</th><td></td></tr></thead><tbody>${labels.labels.map(({ label, documents }) => html`<tr>
      <th scope="row" dir="auto">${this.link("labels", { label }, label)}</th><td class="figure">${this.link("review", [relation("true", label)], html`${count(documents)}<span class="unseen"> documents with ${label}</span>`)}</td>
      <td class="bar" aria-hidden="true"><span style="width:${((100 * documents) / most).toFixed(1)}%"></span></td></tr>`)}</tbody></table>
      ${summary.labels > labels.labels.length ? html`<p>${this.link("labels", {}, `All ${count(summary.labels)} labels`)}</p>` : nothing}`;
  }

  eventList() {
    if (!this.events) return html`<div class="placeholder"></div>`;
    return html`<ul class="event-list">${this.events.map((one) => html`<li><span class="quiet">${day(one.at)}</span> <strong dir="auto">${one.by}</strong> <span dir="auto">${eventWords(one)}</span>${one.undone ? html` <span class="quiet">(taken back)</span>` : nothing}</li>`)}</ul>`;
  }

  exports() {
    const { name } = this.summary;
    return html`<section class="panel"><h2>Export</h2><form class="tools" @submit=${this.save}>
        <label>Format<select name="format">${this.formats.map((format) => html`<option value=${format}>${format}</option>`)}</select></label>
        <button ?disabled=${this.saving || !this.formats.length}>${this.saving ? "Writing …" : "Download the corrected corpus"}</button></form>
      <p class="quiet">With all decisions of the review.</p>
      ${this.models?.length ? html`<form class="tools" @submit=${this.saveModel}>
        <label>Model<select name="model">${this.models.map((model) => html`<option value=${model.name} ?selected=${model.name === name}>${model.name}</option>`)}</select></label>
        <button>Download the model</button></form><p class="quiet">For <code>manylabel predict</code>, or to serve it elsewhere.</p>` : nothing}
      <div class="tools"><button type="button" @click=${() => this.attempt(() => download(corpusPath(name, "decisions"), `${name}-decisions.jsonl`))}>Download the decisions alone</button>
      <button type="button" class="danger" @click=${() => this.querySelector("dialog").showModal()}>Delete this corpus …</button></div></section>`;
  }

  question() {
    const { name, documents, labels, states } = this.summary, decided = states.reviewed + states["no label applies"];
    return html`<dialog aria-labelledby="delete-title"><h2 id="delete-title">Delete the corpus “${name}”?</h2>
      <p>Its ${counted(documents, "document")} and ${counted(labels, "label")} will be lost, with the decisions on ${counted(decided, "reviewed document")}, all scores and the history of changes. This cannot be undone.
Uploaded data and models stay.</p>
      <form method="dialog" class="tools"><button class="main" autofocus>Keep it</button><button type="button" class="danger" @click=${this.drop}>Delete ${name}</button></form></dialog>`;
  }

  render() {
    if (!this.summary) return nothing;
    return html`<h2 class="corpus-title">Corpus ${this.summary.name} <span class="quiet">${this.summary.format === "builtin" ? "comes with manylabel" : this.summary.format}</span></h2>
      ${this.figures()}${this.steps()}
      <div class="beside"><section class="panel"><h2>Most frequent labels</h2>${this.labelTable()}</section>
        <div><section class="panel"><h2>Latest changes</h2>${this.eventList()}</section>${this.exports()}</div></div>${this.question()}`;
  }
}

customElements.define("ml-corpus", Corpus);
