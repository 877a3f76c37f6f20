// <ml-leaderboard>: the result of a comparison: the methods with intervals, tests and costs, and a model of one of them.
import { html, nothing } from "lit";
import { runJob } from "./api.js";
import { relation } from "./filters.js";
import { spoken } from "./job.js";
import { askThresholds } from "./keep-thresholds.js";
import { address } from "./route.js";
import { validName } from "./upload.js";
import { View, count, counted, percent, points } from "./view.js";
import "../chart.js";

const MOST_DRAWN = 15;
const SHORTEST_P = 0.001;
const title = ({ method, features, rule }) => `${method} · ${features} · ${rule}`;
const between = ({ low, high }) => `${percent(low).replace(" %", "")} to ${percent(high)}`;
const probability = (p) => (p < SHORTEST_P ? `p < ${SHORTEST_P}` : `p = ${p.toFixed(3)}`);
const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** Training times: short ones with a digit, since they differ most. */
const took = (seconds) => (seconds < 10 ? `${seconds.toFixed(1)} s` : spoken(seconds));

/** The chart of a comparison, in the form of chart.js: one dot with its interval per pipeline. */
function chartOf({ leaderboard, metric }) {
  const rows = leaderboard.slice(0, MOST_DRAWN), best = rows.filter((row) => row.no_difference_shown), behind = rows.filter((row) => !row.no_difference_shown);
  const series = (name, chosen, colour) => ({
    name, x: chosen.map(({ value }) => value), y: chosen.map(title), low: chosen.map(({ low }) => low), high: chosen.map(({ high }) => high),
    mark: "dots", colour, dash: "solid", width: 2, text: null, labelled: false, size: null, in_legend: true, hidden: false,
  });
  return {
    title: `${metric.title} over the folds, with its 95 % interval`,
    x: { title: metric.title, kind: "linear", percent: true, low: null, high: null, ticks: null, categories: null },
    y: { title: "", kind: "category", percent: false, low: null, high: null, ticks: null, categories: rows.map(title) },
    series: [series("best, or no difference shown from the best", best, 0), ...(behind.length ? [series("significantly behind the best", behind, 1)] : [])],
  };
}

class Leaderboard extends View {
  static properties = { ...View.properties, job: { attribute: false }, chosen: { state: true }, training: { state: true }, trained: { state: true }, name: { state: true } };

  constructor() {
    super();
    Object.assign(this, { chosen: null, training: false, trained: null, name: "" });
  }

  willUpdate(changed) {
    if (changed.has("job") && changed.get("job")?.id !== this.job.id) Object.assign(this, { chosen: null, trained: null, chart: chartOf(this.job.result) });
  }

  /** Offer to train a row. */
  async choose(row) {
    Object.assign(this, { chosen: row, trained: null, name: validName(`${this.corpus}-${row.method}`) });
    await this.updateComplete;
    this.querySelector(".train input").focus();
  }

  async train(event) {
    event.preventDefault();
    const { chosen, name, corpus } = this;
    const kept = await this.attempt(() => askThresholds(corpus));
    if (!kept) return;
    this.training = true;
    const running = runJob({ kind: "retrain", corpus, model: name, comparison: this.job.id, pipeline: title(chosen), ...kept });
    this.tell("ml-job");
    const trained = await this.attempt(async () => {
      const result = await running;
      return result;
    });
    this.trained = trained ?? null;
    this.training = false;
    if (!this.trained) return;
    this.tell("ml-changed");
    this.tell("ml-say", `The model ${name} was trained on ${counted(this.trained.trained_on, "document")}.`);
  }

  verdict(row, place) {
    if (place === 0) return html`<strong>best</strong>`;
    if (row.no_difference_shown) return html`≈ no difference shown <span class="quiet">${row.p === null ? nothing : probability(row.p)}</span>`;
    return html`behind <span class="quiet">${row.p === null ? nothing : probability(row.p)}</span>`;
  }

  row(row, place) {
    const cost = this.job.result.costs[place], { difference } = row;
    return html`<tr class=${row === this.chosen ? "open" : ""}><th scope="row" data-title="Method"><span class="method">${row.method}</span> <span class="quiet">${row.features}, rule ${row.rule}</span></th>
      <td class="figure" data-title=${this.job.result.metric.title}><strong>${percent(row.value)}</strong> <span class="quiet">${between(row)}</span></td>
      <td class="figure" data-title="To the best">${difference ? html`${points(difference.value)} <span class="quiet">${points(difference.low)} to ${points(difference.high)}</span>` : "–"}</td>
      <td data-title="Test">${this.verdict(row, place)}</td>
      <td class="figure" data-title="Training">${took(cost.train_seconds)}</td><td class="figure" data-title="Size">${size(cost.bytes)}</td>
      <td data-title="" class="act"><button type="button" aria-label=${`Train a model with ${title(row)}`} @click=${() => this.choose(row)}>Train …</button></td></tr>`;
  }

  table() {
    const { leaderboard, metric } = this.job.result;
    return html`<div class="wide" tabindex="0" role="region" aria-label="Leaderboard"><table class="board cards"><thead><tr><th scope="col">Method, features, rule</th><th scope="col" class="figure">${metric.title}, 95 % interval</th>
      <th scope="col" class="figure">To the best, in points</th><th scope="col">Test</th><th scope="col" class="figure">Training</th><th scope="col" class="figure">Size</th><th scope="col"><span class="unseen">Train</span></th></tr></thead>
      <tbody>${leaderboard.map((row, place) => this.row(row, place))}</tbody></table></div>`;
  }

  trainForm() {
    const { chosen, name } = this;
    if (!chosen) return nothing;
    const known = this.models?.some((model) => model.name === name);
    return html`<form class="panel train" @submit=${this.train}><h2>Train ${title(chosen)} on all labelled documents</h2>
      <div class="tools"><label>Name of the model <input required pattern="[A-Za-z0-9][A-Za-z0-9_\\-]*" maxlength="64" title="Letters, digits, - and _" .value=${name} @input=${(event) => { this.name = event.target.value; }}></label>
        <button class="main" ?disabled=${this.training}>${this.training ? "Training …" : "Train"}</button>
        <span class="quiet">${known ? "A model of this name is there: the new version replaces it." : ""}</span></div>
      <p class="quiet">Its out-of-fold scores become those of the corpus, so that Review, Labels and Errors show this model.</p>${this.outcome()}</form>`;
  }

  outcome() {
    if (!this.trained) return nothing;
    const { model, trained_on: documents, gain } = this.trained, { corpus } = this, change = gain?.micro_f1;
    return html`<p role="status"><strong>The model ${model} was trained on ${counted(documents, "document")}.</strong>
      ${change ? html`Micro F1 ${percent(change.before)} before, ${percent(change.after)} now (${points(change.difference)} points, ${points(change.low)} to ${points(change.high)}).` : nothing}
      <a href=${address({ corpus, view: "try", parameters: { model } })}>Try it</a> · <a href=${address({ corpus, view: "labels" })}>Set its thresholds</a> · <a href=${address({ corpus, view: "errors" })}>See its errors</a></p>`;
  }

  /** The answer in a sentence or two. */
  answer() {
    const { leaderboard, expected, test, metric } = this.job.result, [best, ...others] = leaderboard, level = others.filter((row) => row.no_difference_shown);
    return html`<p class="answer"><strong>${best.method}</strong> is best: ${metric.title} ${percent(best.value)} (${between(best)}).
      ${level.length ? `${counted(level.length, "other")} may be as good: no difference is shown.` : others.length ? "All others are significantly behind." : ""}</p>
      <p>On new documents expect ${percent(expected.value)} (95 % prediction interval ${between(expected)}).
      ${test ? `On the ${counted(test.documents, "document")} of the test split it reached ${percent(test.value)}${test.within ? "" : ", which is outside this interval"}.` : ""}</p>`;
  }

  tests() {
    const { against } = this.job.result;
    if (!against) return nothing;
    const { other, sets, signs } = against;
    return html`<p>Against ${other}: only the best has the whole label set right for ${counted(sets.winner_only, "document")}, only the other for ${count(sets.other_only)} (McNemar's test, ${probability(sets.p)});
      the F1 of ${counted(signs.wins, "label")} is higher, of ${count(signs.losses)} lower (sign test, ${probability(signs.p)}).</p>`;
  }

  perLabel() {
    const { labels, documents, f1, macro_f1: macro } = this.job.result.by_label, names = Object.keys(f1);
    return html`<details><summary>Macro F1 with its 95 % interval, and F1 by label</summary><div class="wide" tabindex="0" role="region" aria-label="F1 by label"><table><thead><tr><th scope="col">Label</th><th scope="col" class="figure">Documents</th>${names.map((name) => html`<th scope="col" class="figure">${name}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">all: macro F1</th><td></td>${names.map((name) => html`<td class="figure"><strong>${percent(macro[name].value)}</strong><br><span class="quiet">${between(macro[name])}</span></td>`)}</tr>
        ${labels.map((label, place) => html`<tr><th scope="row" dir="auto"><a href=${address({ corpus: this.corpus, view: "errors", parameters: [relation("disagreement", label)] })}>${label}</a></th><td class="figure">${count(documents[place])}</td>
        ${names.map((name) => html`<td class="figure">${percent(f1[name][place])}</td>`)}</tr>`)}</tbody></table></div></details>`;
  }

  others() {
    const { stopped, left_out: leftOut } = this.job.result, left = Object.entries(leftOut);
    return html`${stopped.length ? html`<details><summary>${counted(stopped.length, "pipeline")} stopped early</summary><div class="wide" tabindex="0" role="region" aria-label="Stopped early"><table><thead><tr><th scope="col">Method</th><th scope="col" class="figure">Value so far</th><th scope="col">Why</th></tr></thead>
        <tbody>${stopped.map((row) => html`<tr><th scope="row">${title(row)}</th><td class="figure">${percent(row.value)}</td><td>${row.reason}</td></tr>`)}</tbody></table></div></details>` : nothing}
      ${left.length ? html`<details><summary>${counted(left.length, "method")} left out</summary><ul>${left.map(([name, reason]) => html`<li>${name}: ${reason}</li>`)}</ul></details>` : nothing}`;
  }

  measured() {
    const { documents, compared, labels, folds, seed, seconds, conventions, metric, clock_ended_it: ended, toml } = this.job.result;
    return html`<details><summary>How it was measured, and the recipe</summary><p>${counted(compared, "document")}${compared < documents ? ` of ${count(documents)}` : ""}, ${counted(labels, "label")}, ${folds}, seed ${seed}; ${spoken(seconds.all)}.
        ${ended ? "The clock ended the comparison: a longer time may change the order." : ""}
        ${conventions[metric.name] ?? ""} Intervals are bootstrap intervals over documents; p is that of a permutation test, corrected by Holm over the rows.</p><pre tabindex="0">${toml}</pre></details>`;
  }

  render() {
    return html`${this.answer()}<ml-chart .chart=${this.chart}></ml-chart>${this.table()}${this.trainForm()}${this.tests()}${this.perLabel()}${this.others()}${this.measured()}`;
  }
}

customElements.define("ml-leaderboard", Leaderboard);
