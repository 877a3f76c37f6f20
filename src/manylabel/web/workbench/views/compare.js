// Compare: start a comparison of methods, watch it, read the leaderboard, and train the method that was chosen.
import { html, nothing } from "lit";
import { follow, get, post } from "../api.js";
import { spoken } from "../job.js";
import { address, set } from "../route.js";
import { View, counted, day, percent } from "../view.js";
import "../jobs.js";
import "../leaderboard.js";

const PRESETS = {
  quick: { title: "Quick", text: "the default method and four fast ones, up to half a minute", methods: ["svm", "logistic", "nb", "rocchio"], budget: 30 },
  usual: { title: "Usual", text: "all methods that fit the data, up to 2 minutes", methods: null, budget: 120 },
  thorough: { title: "Thorough", text: "all methods that fit the data, up to 20 minutes", methods: null, budget: 1200 },
  own: { title: "My choice", text: "of methods and time", methods: [], budget: 120 },
};
const BUDGETS = [30, 60, 120, 300, 1200, 3600];
const RUNS = ["running", "queued"];
const HISTORY = 50;
const TICK = 1_000;
const FOLD = /^(.+), fold (\d+) of (\d+)$/;

class CompareView extends View {
  static properties = {
    ...View.properties, catalogue: { state: true }, comparisons: { state: true }, job: { state: true }, preset: { state: true }, chosen: { state: true }, budget: { state: true },
    metric: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { catalogue: null, comparisons: null, job: null, preset: "quick", chosen: new Set(["svm", "nb"]), budget: 120, metric: null });
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.ticking);
    this.stop?.abort();
  }

  /** The time left is that of now: draw it anew each second while a comparison runs. */
  updated(changed) {
    super.updated(changed);
    clearTimeout(this.ticking);
    if (this.job && RUNS.includes(this.job.state)) this.ticking = setTimeout(() => this.requestUpdate(), TICK);
  }

  async opened() {
    if (!this.corpus) return;
    if (!this.catalogue) await this.loadCatalogue();
    await this.loadHistory();
    const latest = this.comparisons?.find(({ state }) => state === "done" || RUNS.includes(state)) ?? this.comparisons?.[0];
    const id = this.parameters.get("job") ?? latest?.id ?? null;
    if (id !== this.job?.id) await this.watch(id);
  }

  /** The methods that there are; the default one is part of the quick comparison, and chosen at first. */
  async loadCatalogue() {
    this.catalogue = (await this.attempt(() => get("/v1/methods"))) ?? null;
    if (this.catalogue) this.chosen = new Set([this.catalogue.default_method, ...this.chosen]);
  }

  /** The methods and the time of the preset; no methods stand for all. */
  get asked() {
    const { methods, default_method: usual } = this.catalogue;
    if (this.preset === "own") return { methods: methods.map(({ name }) => name).filter((name) => this.chosen.has(name)), budget: this.budget };
    const preset = PRESETS[this.preset];
    return { methods: preset.methods && [...new Set([usual, ...preset.methods])], budget: preset.budget };
  }

  /** The comparisons of this corpus, the newest first. */
  async loadHistory() {
    const found = await this.attempt(() => get("/v1/jobs", { kind: "compare", corpus: this.corpus, limit: HISTORY }));
    if (found) this.comparisons = found.jobs;
  }

  /** Follow a comparison until it is over. */
  async watch(id) {
    this.stop?.abort();
    this.job = null;
    if (id === null) return;
    const { signal } = (this.stop = new AbortController());
    const ended = await this.attempt(() => follow(id, (job) => { if (!signal.aborted) this.note(job); }, signal));
    if (!ended || signal.aborted) return;
    this.job = ended;
    if (ended.state === "done") this.tell("ml-say", `The comparison is over. Best: ${ended.result.leaderboard[0].method}.`);
    await this.loadHistory();
  }

  /** Keep what a running comparison is at. */
  note(job) {
    if (job.state === "done" && !job.result) return;  // the last event of a job comes before its result
    this.job = job;
  }

  async start(event) {
    event.preventDefault();
    const { methods, budget } = this.asked;
    const metric = this.metric ?? this.catalogue.default_metric;
    const job = await this.attempt(() => post("/v1/jobs", { kind: "compare", corpus: this.corpus, metric, budget, ...(methods ? { methods } : {}) }));
    if (!job) return;
    this.tell("ml-job");
    this.querySelector("ml-jobs")?.look();
    set({ job: job.id }, { replace: false });
  }

  async halt() {
    await this.attempt(() => post(`/v1/jobs/${this.job.id}/cancel`, {}));
  }

  methodChoice() {
    if (this.preset !== "own") return nothing;
    const toggle = (name, on) => {
      const chosen = new Set(this.chosen);
      if (on) chosen.add(name);
      else chosen.delete(name);
      this.chosen = chosen;
    };
    return html`<label class="stacked">Time <select name="budget" @change=${(event) => { this.budget = Number(event.target.value); }}>${BUDGETS.map((seconds) => html`<option value=${seconds} ?selected=${seconds === this.budget}>up to ${spoken(seconds)}</option>`)}</select></label>
      <fieldset class="methods" tabindex="0"><legend>Methods: ${this.chosen.size} chosen</legend>${this.catalogue.methods.map(({ name, title }) => html`<label class="tick"><input type="checkbox" .checked=${this.chosen.has(name)} @change=${(event) => toggle(name, event.target.checked)}>
        <span><strong>${name}</strong> <span class="quiet">${title}</span></span></label>`)}</fieldset>`;
  }

  form() {
    if (!this.catalogue) return html`<div class="panel placeholder"></div>`;
    const metric = this.metric ?? this.catalogue.default_metric, running = this.job && RUNS.includes(this.job.state);
    return html`<form class="panel" @submit=${this.start}><h2>Compare methods</h2>
      <fieldset class="presets"><legend class="unseen">How thoroughly</legend>${Object.entries(PRESETS).map(([name, { title, text }]) => html`<label class="tick"><input type="radio" name="preset" value=${name} .checked=${this.preset === name} @change=${() => { this.preset = name; }}>
        <span><strong>${title}</strong> <span class="quiet">${text}</span></span></label>`)}</fieldset>
      ${this.methodChoice()}
      <label class="stacked">Metric to optimise for <select name="metric" @change=${(event) => { this.metric = event.target.value; }}>${this.catalogue.metrics.map(({ name, title }) => html`<option value=${name} ?selected=${name === metric}>${title}</option>`)}</select></label>
      <button class="main" ?disabled=${running || (this.preset === "own" && !this.chosen.size)}>${running ? "A comparison is running" : "Start the comparison"}</button></form>`;
  }

  history() {
    if (!this.comparisons?.length) return nothing;
    return html`<section class="panel"><h2>Comparisons of ${this.corpus}</h2><ul class="plain">${this.comparisons.map((job) => html`<li><a href=${address({ corpus: this.corpus, view: "compare", parameters: { job: job.id } })} aria-current=${job.id === this.job?.id ? "true" : nothing}>${day(job.created)}</a>
      <span class="quiet">${this.historyWords(job.id === this.job?.id ? this.job : job)}</span></li>`)}</ul></section>`;
  }

  historyWords({ state, result, request }) {
    if (state !== "done") return state;
    const [best] = result.leaderboard;
    return `${result.metric.title} ${(100 * best.value).toFixed(1)} % ${best.method}, of ${request.methods ? counted(request.methods.length, "method") : "all methods"}`;
  }

  /** The methods so far, best first. */
  soFar() {
    if (!this.catalogue) return nothing;
    const { title, greater_is_better: greater } = this.catalogue.metrics.find((one) => one.name === this.job.request.metric) ?? this.catalogue.metrics[0];
    const rows = Object.entries(this.job.progress?.figures ?? {}).sort(([, one], [, other]) => (greater ? other.value - one.value : one.value - other.value));
    if (!rows.length) return nothing;
    return html`<table class="list-table"><thead><tr><th scope="col">Method</th><th scope="col" class="figure">${title} so far</th><th scope="col" class="figure">Folds</th></tr></thead>
      <tbody>${rows.map(([method, { value, steps }]) => html`<tr><th scope="row">${method}</th><td class="figure">${percent(value)}</td><td class="figure">${steps}</td></tr>`)}</tbody></table>`;
  }

  /** A comparison that runs or waits, with its time left: that of its budget. */
  progress() {
    const { job } = this, budget = job.request.budget ?? null, passed = job.started ? Date.now() / 1000 - job.started : 0;
    const left = budget === null ? "" : passed < budget ? `up to ${spoken(budget - passed)} left` : "about to end";
    const stages = job.progress?.stages ?? [];
    const { stage } = stages.findLast((one) => FOLD.test(one.stage)) ?? stages.at(-1) ?? { stage: "Starting" };
    return html`<section class="panel"><h2>${job.state === "queued" ? "Waiting for another job to end …" : "Comparing …"}</h2>
      <progress class="across" aria-label="Progress of the comparison" max="1" value=${budget === null || job.state === "queued" ? nothing : Math.min(1, passed / budget)}></progress>
      <div class="tools">${job.state === "queued" ? nothing : html`<span>${[stage, left].filter(Boolean).join("; ")}</span>`}<button type="button" @click=${this.halt}>Stop</button></div>
      ${this.soFar()}
      <p class="quiet">Methods that fall behind are stopped early. Intervals and tests appear at the end; you can leave this page meanwhile.</p></section>`;
  }

  shown() {
    const { job } = this;
    if (!job) return this.comparisons?.length === 0 ? html`<div class="empty"><h2>No comparison yet</h2><p>Start one: methods are cross-validated on the labelled documents of ${this.corpus}, and the leaderboard tells which are really better, and which only by chance.</p></div>` : html`<div class="placeholder"></div>`;
    if (RUNS.includes(job.state)) return this.progress();
    if (job.state === "done") return html`<ml-leaderboard .corpus=${this.corpus} .models=${this.models} .job=${job}></ml-leaderboard>`;
    return html`<div class="failure" role="alert"><h2>The comparison ${job.state === "failed" ? "failed" : `was ${job.state}`}</h2><p>${job.error ?? ""}</p>
      <button type="button" @click=${() => this.attempt(async () => { await post(`/v1/jobs/${job.id}/resume`, {}); this.tell("ml-job"); await this.watch(job.id); })}>Run it again</button></div>`;
  }

  render() {
    if (!this.parameters) return nothing;
    if (!this.corpus) return html`<h1>Compare</h1><div class="empty"><h2>No corpus yet</h2><p>Make one under <a href=${address({ corpus: null, view: "data" })}>Data</a> first.</p></div>`;
    return html`<h1>Compare</h1><div class="data compare ${this.job ? "result-first" : ""}"><div class="side-panels">${this.form()}${this.history()}
        <details class="panel" @toggle=${(event) => { if (event.target.open) this.querySelector("ml-jobs").look(); }}><summary>All jobs of this server</summary><ml-jobs></ml-jobs></details></div>
      <div>${this.shown()}</div></div>`;
  }
}

customElements.define("ml-compare-view", CompareView);
