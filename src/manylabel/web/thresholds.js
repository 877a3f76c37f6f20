// <ml-thresholds>: what each threshold would predict, of all labels together or of one label, with a slider. The JSON inside is
// a record of curves, see manylabel/evaluation/threshold_curves.py: labels predicted, and those of them that are right.
import { LitElement, css, html } from "lit";

const ALL = "all labels, one common threshold";
const SERIES = [["precision", 0, "solid"], ["recall", 1, "dashed"], ["F1", 2, "dotted"]];

const share = (part, whole) => (whole > 0 ? part / whole : 0);
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const count = (value) => value.toLocaleString("en");

/** The figures of a number of predicted labels of which some are right. */
function figures(curve, predicted, right) {
  const precision = share(right, predicted), recall = share(right, curve.true);
  return { precision, recall, F1: share(2 * right, predicted + curve.true), predicted, right, wrong: predicted - right, missed: curve.true - right };
}

class Thresholds extends LitElement {
  static properties = { chosen: { state: true }, place: { state: true } };

  static styles = css`
    .tools { display: flex; flex-wrap: wrap; gap: .6rem 1.5rem; align-items: end; margin: .6rem 0 1rem; }
    label { display: block; font-size: .875rem; font-weight: 600; }
    select, button { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .3rem; padding: .3rem .6rem; max-width: 100%; }
    select { min-width: 14rem; } button { color: var(--accent); cursor: pointer; font-size: .875rem; }
    .slide { flex: 1 1 18rem; } input { width: 100%; accent-color: var(--accent); margin: .35rem 0 0; height: 1.6rem; }
    select:focus-visible, button:focus-visible, input:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.4rem, 1fr)); gap: .5rem; margin: 0; font-variant-numeric: tabular-nums; }
    dl div { background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .6rem; }
    dt, .own { color: var(--quiet); font-size: .8125rem; } dd { margin: 0; } .now { font-weight: 700; font-size: 1.1rem; }
    .charts { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; margin-top: 1rem; } .charts > :first-child { grid-column: 1 / -1; }
    .charts > * { min-width: 0; margin-bottom: 1rem; }
    @media (max-width: 44rem) { .charts { grid-template-columns: 1fr; } }
    @media print { select, button, input { border: none; } }
  `;

  connectedCallback() {
    super.connectedCallback();
    const { common, labels, probabilities } = JSON.parse(this.querySelector("script").textContent);
    this.probabilities = probabilities;
    this.curves = [...(common ? [{ ...common, name: ALL }] : []), ...labels];
    this.choose(0);
  }

  choose(number) {
    this.chosen = number;
    this.place = this.ownPlace;
  }

  get curve() {
    return this.curves[this.chosen];
  }

  /** The point at the model's own threshold or, where it has none, the one that predicts most nearly as many labels. */
  get ownPlace() {
    const { threshold, thresholds, predicted, own_predicted: own } = this.curve;
    const off = threshold === null ? predicted.map((value) => Math.abs(value - own)) : thresholds.map((value) => Math.abs(value - threshold));
    return off.indexOf(Math.min(...off));
  }

  at(place) {
    return figures(this.curve, this.curve.predicted[place], this.curve.right[place]);
  }

  number(threshold) {
    return threshold === null ? "" : Number(threshold.toPrecision(3)).toString();
  }

  announced() {
    const now = this.at(this.place);
    return `threshold ${this.number(this.curve.thresholds[this.place])}: precision ${percent(now.precision)}, recall ${percent(now.recall)}, F1 ${percent(now.F1)}, ${count(now.predicted)} predicted`;
  }

  /** A chart with a mark where the slider is. */
  drawn(title, x, y, series, height) {
    return html`<ml-chart .chart=${{ title, x, y, series: series.map((one) => ({ low: null, high: null, text: null, size: null, labelled: false, in_legend: true, hidden: false, mark: "line", dash: "solid", width: 2, ...one })), height }}></ml-chart>`;
  }

  overThresholds() {
    const { thresholds } = this.curve, every = thresholds.map((_, place) => this.at(place)), now = thresholds[this.place];
    const lines = SERIES.map(([name, colour, dash]) => ({ name, colour, dash, x: thresholds, y: every.map((one) => one[name]) }));
    const here = { name: "slider", x: [now, now], y: [0, 1], colour: null, width: 1.5, in_legend: false };
    const x = { title: "threshold", kind: "linear", percent: false, low: this.probabilities ? 0 : null, high: this.probabilities ? 1 : null, ticks: null };
    return this.drawn("Precision, recall and F1 by threshold", x, axis(""), [...lines, here], 320);
  }

  precisionRecall() {
    const { thresholds } = this.curve, every = thresholds.map((_, place) => this.at(place)).filter(({ predicted }) => predicted > 0), now = this.at(this.place);
    const line = { name: "at all thresholds", x: every.map(({ recall }) => recall), y: every.map(({ precision }) => precision), colour: 0, in_legend: false };
    const dot = { name: "at the slider", x: [now.recall], y: [now.precision], mark: "dots", colour: 1, size: [7], in_legend: false };
    return this.drawn(`Precision by recall${area(this.curve.average_precision)}`, axis("recall"), axis("precision"), [line, dot], 300);
  }

  roc() {
    const { curve } = this, none = curve.pairs - curve.true, now = this.at(this.place);
    const every = [...curve.thresholds.map((_, place) => this.at(place)), figures(curve, 0, 0)];
    const line = { name: "at all thresholds", x: [1, ...every.map(({ wrong }) => share(wrong, none))], y: [1, ...every.map(({ recall }) => recall)], colour: 0, in_legend: false };
    const dot = { name: "at the slider", x: [share(now.wrong, none)], y: [now.recall], mark: "dots", colour: 1, size: [7], in_legend: false };
    return this.drawn(`ROC${area(curve.roc_auc)}`, axis("false positive rate"), axis("true positive rate"), [line, dot], 300);
  }

  /** Each figure at the slider and, below it, that of the model's own decision rule. */
  figures() {
    const { curve } = this, now = this.at(this.place), own = figures(curve, curve.own_predicted, curve.own_right);
    const shown = (name, value) => (SERIES.some(([series]) => series === name) ? percent(value) : count(value));
    return html`<dl>${Object.keys(now).map((name) => html`<div>
      <dt>${name}</dt><dd class="now">${shown(name, now[name])}</dd><dd class="own">model: ${shown(name, own[name])}</dd></div>`)}</dl>`;
  }

  render() {
    const { curve } = this;
    return html`
      <div class="tools">
        <div><label for="which">Label</label>
          <select id="which" @change=${(event) => this.choose(event.target.selectedIndex)}>
            ${this.curves.map(({ name, true: documents }, number) => html`<option ?selected=${number === this.chosen}>${name === ALL && number === 0 ? name : `${name} (${count(documents)})`}</option>`)}
          </select></div>
        <div class="slide"><label for="threshold">Threshold ${this.number(curve.thresholds[this.place])}${curve.threshold === null ? "" : ` (model: ${this.number(curve.threshold)})`}</label>
          <input id="threshold" type="range" min="0" max=${curve.thresholds.length - 1} step="1" .value=${String(this.place)}
            aria-valuetext=${this.announced()} @input=${(event) => { this.place = Number(event.target.value); }}></div>
        <button type="button" @click=${() => { this.place = this.ownPlace; }}>Back to the model's own</button>
      </div>
      ${this.figures()}
      <div class="charts">${this.overThresholds()}${this.precisionRecall()}${this.roc()}</div>`;
  }
}

/** The area under a curve, for its title. */
function area(value) {
  return value === null ? "" : `, area ${percent(value)}`;
}

/** An axis of shares from 0 to 1. */
function axis(title) {
  return { title, kind: "linear", percent: true, low: 0, high: 1, ticks: null };
}

customElements.define("ml-thresholds", Thresholds);
