// <ml-threshold-studio>: one label's threshold with a slider. Figures follow the slider at once, from the curve; the documents that enter and
// leave come from the server. Fires "ready" when a label is shown, and "try" with { tried, now }: all tried thresholds, and the figures of the label.
import { LitElement, html, nothing } from "lit";
import { Problem, corpusPath, get, post } from "../api.js";
import { relation } from "../filters.js";
import { address } from "../route.js";
import { count, counted, percent, score } from "../view.js";
import { Curve, problemOf, studyBody } from "./trials.js";
import "../../chart.js";
import "./target-form.js";

const POINTS = 1_000;
const CHART_POINTS = 200;
const PAUSE = 60;
/* milliseconds before the server is asked for documents */
const SETTLED = 300;
/* milliseconds without a move after which a threshold is kept in the address */
const LISTED = 50;
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
const LINES = [["precision", "precision", 0, "solid"], ["recall", "recall", 1, "dashed"], ["F1", "f1", 2, "dotted"]];
const COUNTS = { true_positives: "true positive", false_positives: "false positive", false_negatives: "false negative" };

class ThresholdStudio extends LitElement {
  static properties = {
    corpus: { attribute: false }, label: { attribute: false }, trial: { attribute: false }, event: { attribute: false }, probabilities: { attribute: false },
    curve: { state: true }, studied: { state: true }, threshold: { state: true }, missing: { state: true }, unreached: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { curve: null, studied: null, threshold: null, missing: null, unreached: null, probabilities: null });
  }

  createRenderRoot() {
    return this;
  }

  updated(changed) {
    const key = JSON.stringify([this.corpus, this.label, this.event]), asked = JSON.stringify(studyBody(this.trial));
    if (key !== this.loadedFor) this.open(key, asked);
    else if (asked !== this.seen && asked !== this.askedFor) this.follow(asked);
    this.seen = asked;
    if (this.moved !== undefined && (changed.has("threshold") || changed.has("studied"))) this.note(changed);
  }

  /** Keep how long figures and documents took after a move, for tests of speed. */
  note(changed) {
    const passed = String(Math.round(performance.now() - this.moved));
    if (changed.has("threshold")) this.dataset.figures = passed;
    if (changed.has("studied")) this.dataset.milliseconds = passed;
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.stop?.abort();
    clearTimeout(this.later);
    clearTimeout(this.settled);
  }

  /** Load the curve of a label and what the trial of the address does to it. */
  async open(key, asked) {
    Object.assign(this, { loadedFor: key, askedFor: asked, moved: undefined, missing: null, unreached: null });
    if (this.curveOf !== this.label) Object.assign(this, { curve: null, studied: null, threshold: null });
    const { signal } = this.start(), { label } = this;
    try {
      const [curve, study] = await Promise.all([
        get(corpusPath(this.corpus, "thresholds/curve"), { label, points: POINTS }, signal), this.study(studyBody(this.trial), signal)]);
      const [studied] = study.labels;
      Object.assign(this, { curve: new Curve(curve.points, POINTS, studied.exact_from), curveOf: label, studied: { ...studied, ...lists(study) }, threshold: studied.now.threshold });
    } catch (error) {
      this.fail(error);
    }
    if (!signal.aborted) this.dispatchEvent(new CustomEvent("ready"));
  }

  /** The address has another trial: show its threshold. */
  async follow(asked) {
    this.askedFor = asked;
    try {
      const study = await this.study(studyBody(this.trial), this.start().signal);
      Object.assign(this, { studied: { ...study.labels[0], ...lists(study) }, threshold: study.labels[0].now.threshold });
    } catch (error) {
      this.fail(error);
    }
  }

  start() {
    this.stop?.abort();
    clearTimeout(this.later);
    this.stop = new AbortController();
    return this.stop;
  }

  study(body, signal) {
    return post(corpusPath(this.corpus, "thresholds/study"), { ...body, label: this.label, documents: LISTED }, signal);
  }

  fail(error) {
    if (error.name === "AbortError") return;
    if (!(error instanceof Problem)) throw error;
    if (error.status === 422) this.missing = error.message;
    else this.dispatchEvent(new CustomEvent("ml-problem", { detail: error, bubbles: true, composed: true }));
  }

  /** Try a threshold: figures at once, documents after a pause, the address when the slider rests. */
  move(threshold) {
    if (threshold === this.threshold || !Number.isFinite(threshold)) return;
    this.moved = performance.now();
    Object.assign(this, { threshold, unreached: null });
    clearTimeout(this.settled);
    const { signal } = this.start();
    this.later = setTimeout(() => this.fetchMoved(threshold, signal), PAUSE);
    this.settled = setTimeout(() => this.settle(), SETTLED);
  }

  /** Try the number that was typed. Where it cannot be tried, the field has the threshold again that the figures are of. */
  onTyped({ target }) {
    const problem = problemOf("threshold", target.value, this.probabilities ?? this.curve.isProbability);
    if (problem) target.value = this.typed;
    else this.move(Number(target.value));
    this.unreached = problem || null;
  }

  /** The threshold as the field has it. */
  get typed() {
    return this.threshold === null ? "" : String(Number(this.threshold.toPrecision(4)));
  }

  async fetchMoved(threshold, signal) {
    try {
      const study = await this.study({ tried: { [this.label]: threshold } }, signal);
      this.studied = { ...study.labels[0], ...lists(study) };
    } catch (error) {
      this.fail(error);
    }
  }

  settle() {
    const { threshold } = this, { saved } = this.studied, back = threshold === saved.threshold;
    const tried = new Map(this.trial.tried);
    if (back && !this.trial.all) tried.delete(this.label);
    else tried.set(this.label, threshold);
    this.askedFor = JSON.stringify(studyBody({ ...this.trial, tried }));
    this.dispatchEvent(new CustomEvent("try", { detail: { tried, now: { ...this.curve.at(threshold), threshold } } }));
  }

  onKey(event) {
    const steps = STEPS[event.key];
    if (steps === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.move(this.curve.step(this.threshold ?? this.curve.high, steps));
  }

  /** The figures at the threshold: of the server where it has answered, of the curve before. */
  get now() {
    return this.studied.now.threshold === this.threshold ? this.studied.now : this.curve.at(this.threshold);
  }

  said() {
    const { precision, recall, f1, true_positives: right, false_positives: wrong } = this.now;
    return `threshold ${score(this.threshold)}: precision ${percent(precision)}, recall ${percent(recall)}, F1 ${percent(f1)}, ${count(right + wrong)} predicted`;
  }

  chart() {
    const { points, low, high } = this.curve, step = Math.max(1, Math.floor(points.length / CHART_POINTS));
    if (this.drawn?.curve === this.curve) return this.drawn.chart;
    const shown = points.filter((_, place) => place % step === 0 || place === points.length - 1);
    const plain = { low: null, high: null, text: null, size: null, labelled: false, in_legend: true, hidden: false, mark: "line", width: 2 };
    const series = LINES.map(([name, field, colour, dash]) => ({ ...plain, name, colour, dash, x: shown.map(({ threshold }) => threshold), y: shown.map((point) => point[field]) }));
    const x = { title: "threshold", kind: "linear", percent: false, low, high, ticks: null };
    const chart = { title: "", x, y: { title: "", kind: "linear", percent: true, low: 0, high: 1, ticks: null }, series, height: 260 };
    this.drawn = { curve: this.curve, chart };
    return chart;
  }

  figures() {
    const { now } = this, { saved } = this.studied, same = this.threshold === saved.threshold;
    const share = (name, title) => this.tile(title, percent(now[name]), percent(saved[name]), difference(now[name], saved[name], true));
    const whole = (name, title) => this.tile(title, this.link(COUNTS[name], now[name], same ? null : this.threshold), this.link(COUNTS[name], saved[name], null), difference(now[name], saved[name], false));
    return html`<dl class="figures">${share("precision", "precision")}${share("recall", "recall")}${share("f1", "F1")}
      ${whole("true_positives", "true positives")}${whole("false_positives", "false positives")}${whole("false_negatives", "false negatives")}</dl>`;
  }

  /** Why the figures stay the same though the threshold is another one. */
  unmoved() {
    const { saved, now, enter, leave, exact_from: exact } = this.studied, { threshold } = this;
    if (saved.threshold === null || threshold === saved.threshold || now.threshold !== threshold || enter || leave || (exact !== null && threshold <= exact)) return nothing;
    return html`<p class="quiet" id="studio-unmoved" role="status">The figures stay the same: no document has a score between the saved threshold and this one.</p>`;
  }

  tile(title, now, saved, change) {
    return html`<div><dt>${title}</dt><dd>${now} ${change ? html`<small class="change">${change}</small>` : nothing}</dd><dd>saved: ${saved}</dd></div>`;
  }

  link(how, number, threshold) {
    return html`<a href=${address({ corpus: this.corpus, view: "errors", parameters: [relation(how, this.label, threshold)] })}>${count(number)}</a>`;
  }

  slider() {
    const { curve, threshold } = this, { saved } = this.studied, place = (value) => `${(100 * Math.max(0, Math.min(1, (value - curve.low) / (curve.high - curve.low)))).toFixed(2)}%`;
    return html`<div class="slide">
      <input id="studio-slider" type="range" min=${curve.low} max=${curve.high} step="any" .value=${String(threshold ?? curve.high)} aria-label=${`Threshold of ${this.label}`} aria-valuetext=${this.said()}
        @keydown=${this.onKey} @input=${(event) => { this.move(curve.nearest(Number(event.target.value))); event.target.value = String(this.threshold); }}>
      <div class="chart-box"><ml-chart .chart=${this.chart()}></ml-chart>
        <div class="lines" aria-hidden="true">${saved.threshold === null ? nothing : html`<i class="saved" style="left:${place(saved.threshold)}"><span>saved</span></i>`}
        <i class="tried" style="left:${place(threshold ?? curve.high)}"></i></div></div></div>`;
  }

  documents(way, title, words) {
    const { [way]: total, lists: { [way]: listed } } = this.studied;
    return html`<section class="panel" aria-label=${title}><h2>${title}: ${counted(total, "document")}</h2>
      ${total ? html`<ul class="moved">${listed.map((one) => html`<li><a href=${address({ corpus: this.corpus, view: "review", parameters: { document: one.number } })} dir="auto">${one.id}</a>
        <span class=${one.is_true === null ? "quiet" : one.is_true ? "good" : "bad"}>${one.is_true === null ? "○ not labelled" : one.is_true ? "✓ true" : "✕ not true"}</span> <span class="figure">${score(one.score)}</span></li>`)}</ul>
        ${total > listed.length ? html`<p class="quiet">The ${count(listed.length)} nearest to the threshold are listed.</p>` : nothing}` : html`<p class="quiet">${words}</p>`}</section>`;
  }

  render() {
    if (this.missing) return html`<div class="empty"><h2>No scores of this label</h2><p>${this.missing}</p></div>`;
    if (!this.curve || !this.studied) return html`<p class="quiet studio-wait" role="status">Loading the scores …</p>`;
    const { saved, exact_from: exact, reached } = this.studied;
    return html`<div class="tools studio-tools">
        <label>Threshold <input id="studio-number" type="number" step="any" .value=${this.typed} @change=${this.onTyped}></label>
        <button type="button" ?disabled=${this.threshold === saved.threshold || saved.threshold === null} @click=${() => this.move(saved.threshold)}>Back to the saved ${score(saved.threshold)}</button>
        <ml-target-form caption="this label" .kinds=${["precision", "recall"]} @target=${({ detail }) => this.aim(detail)}></ml-target-form></div>
      ${this.unreached ? html`<p class="warning" role="status">${this.unreached}</p>` : nothing}
      ${reached || this.threshold !== this.studied.now.threshold ? nothing : html`<p class="warning">This label does not reach the target of all labels and keeps its threshold.</p>`}
      ${exact !== null && this.threshold <= exact ? html`<p class="warning">Scores up to ${score(exact)} were not kept: at this threshold some counts are too low.</p>` : nothing}
      ${this.figures()}
      ${this.unmoved()}
      ${this.slider()}
      <div class="moved-lists">${this.documents("enter", "Enter", "No document would get the label that did not have it predicted.")}${this.documents("leave", "Leave", "No document would lose the predicted label.")}</div>`;
  }

  /** Try the threshold at which this label reaches a precision or recall. */
  async aim({ kind, value }) {
    try {
      const study = await this.study({ [kind]: value }, this.start().signal), [{ reached, now }] = study.labels;
      const stays = reached && now.threshold === this.threshold;
      this.unreached = stays ? `This threshold is already the best one for a ${kind} of ${percent(value)}.` : reached ? null : `No threshold reaches a ${kind} of ${percent(value)} for this label.`;
      if (reached) this.move(now.threshold);
    } catch (error) {
      this.fail(error);
    }
  }
}

/** The lists of a study, beside the counts of its label. */
const lists = ({ enter, leave, revision }) => ({ lists: { enter, leave }, revision });

/** How a figure changed, in points of percent or as a count; "" where it did not. */
export function difference(now, before, isShare) {
  if (now === null || before === null) return "";
  const change = isShare ? (100 * (now - before)).toFixed(1) : String(now - before);
  return Number(change) === 0 ? "" : `${Number(change) > 0 ? "+" : "−"}${change.replace("-", "")}`;
}

customElements.define("ml-threshold-studio", ThresholdStudio);
