// Labels: all labels with their figures, one label with the threshold studio, the label report, and changes of labels.
import { html, nothing } from "lit";
import { Problem, corpusPath, get, post, put } from "../api.js";
import { address, current, go, set } from "../route.js";
import { View, count, counted } from "../view.js";
import { LOCK_NOTE, allFigures, conflictList, saveBar, tableColumns, undoSaveButton, versionButton } from "./label-parts.js";
import { isEmpty, studyBody, trialOf, withTrial, written } from "./trials.js";
import "../score.js";
import "../virtual-table.js";
import "./label-changes.js";
import "./label-report.js";
import "./model-version.js";
import "./target-form.js";
import "./threshold-studio.js";

const PAGE = 10_000;

class LabelsView extends View {
  static properties = {
    ...View.properties, listed: { state: true }, rows: { state: true }, done: { state: true }, conflict: { state: true }, lastSave: { state: true }, found: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { listed: null, rows: null, revision: null, done: null, conflict: null, lastSave: null, past: [], future: [], found: "" });
  }

  get shortcuts() {
    return [
      { keys: ["/"], text: "Find a label", run: () => this.querySelector("#find-label").focus(), enabled: () => this.querySelector("#find-label") !== null },
      { keys: ["t"], text: "Go to the slider", run: () => this.querySelector("#studio-slider")?.focus(), enabled: () => this.label !== null },
      { keys: ["l"], text: "Lock or unlock the label", run: () => this.lock(this.label), enabled: () => this.label !== null },
      { keys: ["u"], text: "Undo the last trial", run: () => this.travel(this.past, this.future), enabled: () => this.past.length > 0 },
      { keys: ["U"], text: "Redo it", run: () => this.travel(this.future, this.past), enabled: () => this.future.length > 0 },
      { keys: ["Escape"], text: "Back to all labels", run: () => go({ parameters: this.without("label") }), enabled: () => this.label !== null },
    ];
  }

  get label() {
    return this.parameters?.get("label") ?? null;
  }

  get trial() {
    return trialOf(this.parameters);
  }

  without(...names) {
    return new URLSearchParams([...this.parameters].filter(([name]) => !names.includes(name)));
  }

  updated(changed) {
    super.updated(changed);
    if (changed.has("summary") && !changed.has("parameters")) this.opened();
  }

  opened() {
    if (!this.corpus || this.summary?.name !== this.corpus) return;
    const isShown = (this.listed?.find(({ label }) => label === this.label)?.threshold ?? null) !== null;
    if (this.label === null || !this.summary.scores || this.readyFor === this.label || (this.listed && !isShown)) this.load();
  }

  /** Load what has changed of all labels; on the page of a label, after what it shows of the label itself. */
  load() {
    const key = JSON.stringify([this.corpus, this.summary.event]), asked = JSON.stringify([key, studyBody(this.trial)]);
    this.readyFor = this.label;
    if (key !== this.listedFor) {
      this.listedFor = key;
      this.attempt(() => this.loadLabels());
    }
    if (asked !== this.studiedFor && this.summary.scores) {
      this.studiedFor = asked;
      this.attempt(() => this.loadStudy());
    }
  }

  /** The names of all labels and how many documents have them; and the save of this user that could be undone. */
  async loadLabels() {
    const found = [];
    for (let total = 1; found.length < total;) {
      const page = await get(corpusPath(this.corpus, "labels"), { offset: found.length, limit: PAGE });
      found.push(...page.labels);
      total = page.labels.length ? page.total : 0;
    }
    this.listed = found;
    const { events } = this.user ? await get(corpusPath(this.corpus, "events"), { by: this.user, limit: 20 }) : { events: [] };
    this.lastSave = events.find(({ kind, undone }) => kind === "thresholds" && undone === null) ?? null;
  }

  /** What the trial of the address does to all labels. */
  async loadStudy() {
    this.stop?.abort();
    this.stop = new AbortController();
    const began = performance.now();
    const study = await post(corpusPath(this.corpus, "thresholds/study"), { ...studyBody(this.trial), documents: 0 }, this.stop.signal);
    Object.assign(this, { rows: new Map(study.labels.map((one) => [one.label, one])), revision: study.revision });
    this.dataset.milliseconds = String(Math.round(performance.now() - began));
  }

  // ---- trials ------------------------------------------------------------------------------------------------------------------

  /** Put another trial into the address; it can be undone. */
  change(trial) {
    this.past = [...this.past, written(this.trial)];
    this.future = [];
    go({ parameters: withTrial(current().parameters, trial) }, { replace: true });
  }

  /** One label's threshold was tried: its figures are known, so that the others need not be asked for again. */
  onTry({ tried, now }) {
    const trial = { ...this.trial, tried };
    if (this.rows?.has(this.label)) {
      this.rows = new Map(this.rows).set(this.label, { ...this.rows.get(this.label), now });
      this.studiedFor = JSON.stringify([this.listedFor, studyBody(trial)]);
    }
    this.change(trial);
  }

  /** A wish for all labels replaces what was tried, except where a label is locked. */
  aim(all) {
    const { tried, locked } = this.trial;
    this.change({ tried: new Map([...tried].filter(([label]) => locked.has(label))), all, locked });
  }

  lock(label) {
    const { tried, all, locked } = this.trial, next = new Set(locked);
    if (!next.delete(label)) next.add(label);
    this.change({ tried, all, locked: next });
  }

  /** Go back (or forth) to the trial before. */
  travel(from, to) {
    if (!from.length) return;
    to.push(written(this.trial));
    const target = trialOf(new URLSearchParams(from.pop()));
    [this.past, this.future] = [[...this.past], [...this.future]];
    go({ parameters: withTrial(current().parameters, target) }, { replace: true });
    this.requestUpdate();
  }

  // ---- saving ------------------------------------------------------------------------------------------------------------------

  /** The labels whose threshold is another than the saved one. */
  get changed() {
    return [...(this.rows?.values() ?? [])].filter(({ now, saved }) => now.threshold !== saved.threshold && now.threshold !== null);
  }

  async save() {
    const by = await this.named();
    if (!by) return;
    const { changed } = this, thresholds = Object.fromEntries(changed.map(({ label, now }) => [label, now.threshold]));
    try {
      const { event } = await put(corpusPath(this.corpus, "thresholds"), { by, revision: this.revision, thresholds });
      Object.assign(this, { conflict: null, done: { text: `Saved the ${changed.length === 1 ? "threshold" : "thresholds"} of ${counted(changed.length, "label")}.`, event } });
      go({ parameters: withTrial(current().parameters, { ...this.trial, tried: new Map(), all: null }) }, { replace: true });
      this.tell("ml-changed");
      this.tell("ml-say", this.done.text);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status !== 409) this.tell("ml-problem", error);
      else await this.showConflict(error);
    }
  }

  /** Someone else saved meanwhile: show what, before this user decides again. */
  async showConflict(error) {
    const before = new Map(this.rows), mine = new Map(this.changed.map(({ label, now }) => [label, now.threshold]));
    await this.attempt(() => this.loadStudy());
    const labels = new Set([...before.keys(), ...this.rows.keys()]), threshold = (rows, label) => rows.get(label)?.saved.threshold ?? null;
    const changes = [...labels].filter((label) => threshold(before, label) !== threshold(this.rows, label))
      .map((label) => ({ label, before: threshold(before, label), after: threshold(this.rows, label), mine: mine.get(label) ?? null }));
    this.conflict = { message: error.message, changes };
    this.tell("ml-changed");
  }

  /** Take an event back: a save, a change of labels, or an undo. */
  async undo(event, text) {
    const by = await this.named(), isRedo = event === this.done?.event && Boolean(this.done.undoes);
    if (!by) return;
    const undone = await this.attempt(() => post(corpusPath(this.corpus, "undo"), { by, event }));
    if (!undone) return;
    this.done = isRedo ? { text, event: this.done.undoes } : { text, event: undone.event, undoes: event };
    this.tell("ml-changed");
    this.tell("ml-say", text);
  }

  /** Labels were added, renamed, merged or retired. */
  onChanged({ text, event, label }) {
    this.done = { text, event };
    this.tell("ml-changed");
    this.tell("ml-say", text);
    if (label !== undefined) set({ label });
  }

  // ---- what is shown -----------------------------------------------------------------------------------------------------------

  tabs() {
    const shown = this.parameters.get("show"), kept = this.without("show", "label");
    const tab = (name, title) => html`<li><a href=${address({ corpus: this.corpus, view: "labels", parameters: name ? [...kept, ["show", name]] : kept })} aria-current=${shown === name ? "page" : nothing}>${title}</a></li>`;
    return html`<nav class="tabs" aria-label="Parts of Labels"><ul>${tab(null, "All labels")}${tab("report", "Report")}</ul></nav>`;
  }

  noScores() {
    return html`<div class="panel hint"><p>There are no scores yet, so that no figures are known. Scoring trains a model on folds of the corpus; thresholds, mistakes and suggestions follow from it.</p>
      <ml-score .corpus=${this.corpus} .jobs=${this.jobs}></ml-score></div>`;
  }

  /** Whether something is tried, or could be again. */
  get showsBar() {
    return !isEmpty(this.trial) || this.past.length > 0 || this.future.length > 0;
  }

  bar() {
    return !this.showsBar ? nothing : saveBar(this, {
      trial: this.trial, changed: this.changed.length,
      drop: (trial) => this.change(trial), save: () => this.save(), back: () => this.change({ ...this.trial, tried: new Map(), all: null }),
    });
  }

  allLabels() {
    const find = (this.parameters.get("find") ?? "").toLocaleLowerCase(), { locked } = this.trial;
    const rows = (this.listed ?? []).filter(({ label }) => label.toLocaleLowerCase().includes(find)).map((one) => ({ ...one, ...this.rows?.get(one.label), isLocked: locked.has(one.label) }));
    const columns = tableColumns({ corpus: this.corpus, parameters: this.parameters, lock: (label) => this.lock(label) });
    return html`
      ${this.summary.scores ? html`${allFigures(this.rows, this.summary.scores)}` : this.noScores()}
      <div class="tools">
        <label>Find <input id="find-label" type="search" .value=${this.parameters.get("find") ?? ""} @input=${(event) => set({ find: event.target.value })}></label>
        ${this.summary.scores ? html`<ml-target-form caption="all labels that are not locked" .probabilities=${this.summary.scores_are_probabilities} @target=${({ detail }) => this.aim(detail)}></ml-target-form>` : nothing}
        <button type="button" @click=${() => this.querySelector("ml-label-changes").open("add")}>Add a label …</button>
        ${this.summary.scores && !this.showsBar ? html`${versionButton(this)}${undoSaveButton(this)}` : nothing}</div>
      <p class="quiet count" role="status">${this.listed === null ? "Loading …" : find ? `${count(rows.length)} of ${counted(this.listed.length, "label")}` : counted(rows.length, "label")}</p>
      <ml-virtual-table caption="Labels" .columns=${columns} .rows=${rows} .sort=${this.parameters.get("sort") ?? "-documents"} @sort=${({ detail }) => set({ sort: detail })}></ml-virtual-table>`;
  }

  onePage() {
    const { label, trial } = this, isLocked = trial.locked.has(label), known = this.listed?.find((one) => one.label === label);
    const open = (what) => () => this.querySelector("ml-label-changes").open(what, label, known?.documents);
    if (this.listed && !known) return html`<p><a href=${address({ corpus: this.corpus, view: "labels", parameters: this.without("label") })}>← All labels</a></p>
      <div class="empty"><h2>There is no label <span dir="auto">${label}</span></h2><p>It may have been renamed, merged or retired.</p></div>`;
    return html`<div class="label-head"><a href=${address({ corpus: this.corpus, view: "labels", parameters: this.without("label") })}>← All labels</a><h1 dir="auto">${label}</h1>
        ${known ? html`<a href=${address({ corpus: this.corpus, view: "errors", parameters: [["is", `true:${label}`]] })}>${counted(known.documents, "document")}</a>` : nothing}
        <span class="tools">${this.summary.scores ? html`<button type="button" aria-pressed=${String(isLocked)} title=${LOCK_NOTE} @click=${() => this.lock(label)}>${isLocked ? "✓ Locked" : "Lock"}</button>` : nothing}
          <button type="button" @click=${open("rename")}>Rename …</button><button type="button" @click=${open("merge")}>Merge …</button><button type="button" @click=${open("retire")}>Retire …</button></span></div>
      ${!this.summary.scores ? this.noScores() : this.lacksScores(known) ? html`<div class="empty"><h2>No scores of this label yet</h2><p>Accept it for some documents in <a href=${address({ corpus: this.corpus, view: "review" })}>Review</a>, then score the documents again.</p>
        <ml-score .corpus=${this.corpus} .jobs=${this.jobs} .words=${"Score the documents again"}></ml-score></div>` : html`<ml-threshold-studio .corpus=${this.corpus} .label=${label} .trial=${trial} .probabilities=${this.summary.scores_are_probabilities} .event=${this.summary.event} @ready=${() => this.load()} @try=${({ detail }) => this.onTry(detail)}></ml-threshold-studio>
        <h2>All labels together</h2>${allFigures(this.rows, this.summary.scores)}`}`;
  }

  /** Whether a label is known to have no scores, as new ones. */
  lacksScores(known) {
    return known ? known.threshold === null : this.rows !== null && !this.rows.has(this.label);
  }

  message() {
    if (!this.done) return nothing;
    const { text, event, undoes } = this.done;
    return html`<div class="done" role="status"><p>${text}</p><button type="button" @click=${() => this.undo(event, undoes ? "Done again." : "Undone.")}>${undoes ? "Redo" : "Undo"}</button>
      <button type="button" class="quiet" aria-label="Dismiss" @click=${() => { this.done = null; }}>×</button></div>`;
  }

  render() {
    if (!this.corpus) return html`<h1>Labels</h1><div class="empty"><h2>No corpus yet</h2><p>Import documents under <a href="#/data">Data</a>.</p></div>`;
    if (this.summary?.name !== this.corpus) return html`<h1>Labels</h1><p class="quiet">Loading …</p>`;
    const shown = this.label !== null ? this.onePage() : html`<div class="view-head"><h1>Labels</h1>${this.tabs()}</div>
      ${this.parameters.get("show") === "report" ? html`<ml-label-report .corpus=${this.corpus} .models=${this.models} @merge=${({ detail }) => this.querySelector("ml-label-changes").open("merge", ...detail)}></ml-label-report>` : this.allLabels()}`;
    return html`${this.message()}${conflictList(this.conflict, () => this.save(), () => { this.conflict = null; })}${shown}${this.bar()}
      <ml-label-changes .corpus=${this.corpus} .named=${() => this.named()} @changed=${({ detail }) => this.onChanged(detail)}></ml-label-changes>
      <ml-model-version .corpus=${this.corpus} .models=${this.models} @written=${() => this.tell("ml-changed")} @started=${() => this.tell("ml-job")}></ml-model-version>`;
  }
}

customElements.define("ml-labels-view", LabelsView);
