// <ml-chart>: lines, dots with intervals, or boxes, drawn by Observable Plot from the JSON inside or from the property
// `chart`, with a legend whose entries show and hide series, and the figures as a table. See manylabel/reports/charts.py
// for the form of the JSON.
/* global Plot, d3 */
import { LitElement, css, html, svg } from "lit";

const DASHES = { solid: null, dashed: "7 4", dotted: "2 4", dashdot: "9 3 2 3", long: "14 5" };
const SYMBOLS = ["circle", "square", "triangle", "diamond2", "star", "cross", "wye", "times"];
const COLOURS = 8;

const colourOf = (series) => (series.colour === null ? "var(--quiet)" : `var(--series-${series.colour % COLOURS})`);
const symbolOf = (series) => (series.colour === null ? "diamond2" : SYMBOLS[series.colour % SYMBOLS.length]);

/** A number as people read it, in percent where the axis is. */
function figure(value, axis) {
  if (typeof value !== "number") return value ?? "";
  return axis.percent ? `${(100 * value).toFixed(1)} %` : Number(value.toPrecision(4)).toLocaleString("en");
}

/** 1, 2 and 5 times the powers of ten that lie within some values, or their ends where fewer than two do. */
function roundTicks(values) {
  const low = Math.min(...values), high = Math.max(...values), ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
    for (const digit of [1, 2, 5]) {
      const tick = Number(`${digit}e${power}`);
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  return ticks.length > 1 ? ticks : [low, high];
}

/** Plot's options of the axis `name` for some points; `width` is its length in pixels. */
function scaleOf(axis, name, points, width) {
  const scale = { label: axis.title, grid: axis.kind !== "category", labelArrow: "none" };
  if (axis.kind === "category") Object.assign(scale, { type: "point", domain: axis.categories });
  else {
    scale.type = axis.kind === "log" ? "log" : "linear";
    if (axis.low !== null && axis.high !== null) scale.domain = [axis.low, axis.high];
    else scale.inset = 8;
    if (axis.ticks) scale.ticks = width < 520 ? axis.ticks.filter((_, place) => place % 2 === 0) : axis.ticks;
    else if (axis.kind === "log") scale.ticks = roundTicks(points.map((point) => point[name]));
    else scale.ticks = Math.max(3, Math.round(width / 110));
    scale.tickFormat = (value) => (axis.percent ? `${Math.round(1000 * value) / 10} %` : figure(value, axis));
  }
  return scale;
}

class Chart extends LitElement {
  static properties = { chart: { attribute: false }, hiddenNames: { state: true }, width: { state: true }, open: { state: true }, allNames: { state: true } };

  static styles = css`
    figure { margin: 0; } .plot svg { overflow: visible; background: none; }
    figcaption { font-weight: 600; margin: 0 0 .3rem; }
    .legend { display: flex; flex-wrap: wrap; gap: .15rem .5rem; margin: .2rem 0; padding: 0; }
    .legend button { font: inherit; font-size: .8125rem; color: inherit; background: none; border: 1px solid transparent;
                     border-radius: .3rem; padding: .15rem .4rem; cursor: pointer; display: flex; gap: .35rem; align-items: center; max-width: 100%; }
    .legend button[aria-pressed="false"] { opacity: .62; text-decoration: line-through; }
    .legend .more { color: var(--accent); border-color: var(--line); }
    .legend button:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); }
    details { font-size: .8125rem; color: var(--quiet); } summary { cursor: pointer; }
    .rows { max-height: 22rem; overflow: auto; } table { border-collapse: collapse; }
    th, td { text-align: right; padding: .15rem .6rem; border-bottom: 1px solid var(--line); } th:first-child, td:first-child { text-align: left; }
    @media print { details { display: none; } }
  `;

  constructor() {
    super();
    this.width = 0;
    this.open = false;
    this.allNames = false;
    this.hiddenNames = new Set();
  }

  connectedCallback() {
    super.connectedCallback();
    this.chart ??= JSON.parse(this.querySelector("script").textContent);
    this.hiddenNames = new Set(this.chart.series.filter((series) => series.hidden).map((series) => series.name));
    this.sizes = new ResizeObserver(([entry]) => { this.width = Math.round(entry.contentRect.width); });
    this.sizes.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }

  /** The points of a series as objects that Plot reads. */
  points(series) {
    const part = (name, place) => (series[name] ? series[name][place] : null);
    return series.x.map((x, place) => ({
      series: series.name, x, y: series.y[place], low: part("low", place), high: part("high", place), text: part("text", place), size: part("size", place),
    })).filter(({ x, y }) => x !== null && y !== null);
  }

  get visible() {
    return this.chart.series.filter((series) => !this.hiddenNames.has(series.name));
  }

  marks(series) {
    const points = this.points(series), colour = colourOf(series), marks = [];
    const across = this.chart.y.kind === "category";
    if (series.low) {
      const ends = across ? { y: "y", x1: "low", x2: "high" } : { x: "x", y1: "low", y2: "high" };
      marks.push((across ? Plot.ruleY : Plot.ruleX)(points, { ...ends, stroke: colour, strokeWidth: 1.5 }));
    }
    if (series.mark !== "dots")
      marks.push(Plot.line(points, { x: "x", y: "y", stroke: colour, strokeWidth: series.width, strokeDasharray: DASHES[series.dash], curve: "linear" }));
    if (series.mark !== "line")
      marks.push(Plot.dot(points, { x: "x", y: "y", r: series.size ? "size" : 4, fill: colour, symbol: symbolOf(series), fillOpacity: .85 }));
    if (series.labelled)
      marks.push(Plot.text(points.filter(({ text }) => text), { x: "x", y: "y", text: "text", dy: series.size ? -6 - Math.max(...series.size) : -12, fill: "currentColor" }));
    return marks;
  }

  boxes() {
    const points = this.visible.flatMap((series) => this.points(series).map((point) => ({ ...point, colour: colourOf(series) })));
    const names = this.visible.map((series) => series.name);
    return Plot.plot({
      width: this.width, height: this.chart.height ?? 380, marginBottom: 50, marginRight: 20, style: { background: "none", fontSize: "12px" },
      x: { domain: names, axis: null }, fx: { label: null, domain: this.chart.x.categories },
      y: scaleOf(this.chart.y, "y", points, this.width), color: { type: "identity" },
      marks: [
        Plot.frame({ stroke: "var(--line)" }),
        Plot.boxY(points, { fx: "x", x: "series", y: "y", stroke: "colour", fill: "colour", fillOpacity: .25 }),
        Plot.dot(points, { fx: "x", x: "series", y: "y", r: 2.5, fill: "colour", fillOpacity: .6 }),
        Plot.tip(points, Plot.pointer({ fx: "x", x: "series", y: "y", title: (point) => this.tip(point), fill: "var(--card)" })),
      ],
    });
  }

  /** The axis along which intervals reach. */
  get measured() {
    return this.chart.y.kind === "category" ? this.chart.x : this.chart.y;
  }

  tip(point) {
    const { x, y } = this.chart;
    const lines = [point.series, `${x.title || "x"}: ${figure(point.x, x)}`, `${y.title || "y"}: ${figure(point.y, y)}`];
    if (point.low !== null) lines.push(`${figure(point.low, this.measured)} to ${figure(point.high, this.measured)}`);
    if (point.text) lines.push(point.text);
    return lines.join("\n");
  }

  /** The drawing; for those who cannot see it, a picture with a title, whose figures are in the table. */
  plot() {
    const drawn = this.chart.series[0]?.mark === "boxes" ? this.boxes() : this.lines();
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", this.chart.title || `${this.chart.y.title} by ${this.chart.x.title}`);
    dropCovered(drawn.querySelectorAll("g[aria-label=text] text"));
    drawn.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
    return drawn;
  }

  lines() {
    const { x, y } = this.chart, points = this.visible.flatMap((series) => this.points(series));
    const longest = y.kind === "category" ? Math.max(...y.categories.map((name) => name.length)) : 0;
    const slanted = x.kind === "category" && x.categories.join("").length * 9 > this.width;
    const names = Math.min(longest * 6.6 + 16, this.width * .52), across = scaleOf(x, "x", points, this.width);
    return Plot.plot({
      width: this.width,
      height: this.chart.height ?? (y.kind === "category" ? 80 + 26 * y.categories.length : slanted ? 460 : 380),
      marginLeft: y.kind === "category" ? names : 60, marginRight: 24, marginTop: 32,
      marginBottom: slanted ? 130 : 46,
      style: { background: "none", fontSize: "12px" },
      x: { ...across, ...(slanted ? { tickRotate: -50 } : {}), ...(x.kind === "log" ? { axis: null } : {}) },
      y: { ...scaleOf(y, "y", points, 480), ...(y.kind === "category" ? { label: null, tickFormat: (name) => shortened(name, names) } : {}) },
      r: { type: "identity" }, symbol: { type: "identity" },
      marks: [
        ...(x.kind === "log" ? [logAxis(across, x)] : []),
        ...this.visible.flatMap((series) => this.marks(series)),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: (point) => this.tip(point), fill: "var(--card)" })),
      ],
    });
  }

  swatch(series) {
    const dash = DASHES[series.dash];
    return svg`<svg width="26" height="12" aria-hidden="true">
      ${series.mark === "dots" || series.mark === "boxes" ? "" : svg`<line x1="0" x2="26" y1="6" y2="6" stroke=${colourOf(series)} stroke-width="2.5" stroke-dasharray=${dash ?? "none"}></line>`}
      ${series.mark === "line" ? "" : svg`<path transform="translate(13,6)" d=${symbolPath(symbolOf(series))} fill=${colourOf(series)}></path>`}
    </svg>`;
  }

  legend() {
    const named = this.chart.series.filter((series) => series.in_legend);
    if (named.length < 2) return "";
    const listed = this.allNames ? named : named.filter((series) => !series.hidden), rest = named.length - listed.length;
    return html`<div class="legend" role="group" aria-label="Series: press to show or hide">${listed.map((series) => html`
      <button type="button" aria-pressed=${!this.hiddenNames.has(series.name)} @click=${() => this.toggle(series)}>
        ${this.swatch(series)}<span>${series.name}</span>
      </button>`)}
      ${rest ? html`<button type="button" class="more" @click=${() => { this.allNames = true; }}>${rest} more …</button>` : ""}</div>`;
  }

  toggle(series) {
    const hidden = new Set(this.hiddenNames);
    if (!hidden.delete(series.name)) hidden.add(series.name);
    this.hiddenNames = hidden;
  }

  table() {
    if (!this.open) return "";
    const { x, y } = this.chart, intervals = this.chart.series.some((series) => series.low);
    return html`<div class="rows" tabindex="0" role="region" aria-label="The figures of this chart"><table>
      <thead><tr><th>series</th><th>${x.title || "x"}</th><th>${y.title || "y"}</th>${intervals ? html`<th>from</th><th>to</th>` : ""}</tr></thead>
      <tbody>${this.chart.series.flatMap((series) => this.points(series)).map((point) => html`<tr>
        <td>${point.series}</td><td>${figure(point.x, x)}</td><td>${figure(point.y, y)}</td>
        ${intervals ? html`<td>${figure(point.low, this.measured)}</td><td>${figure(point.high, this.measured)}</td>` : ""}
      </tr>`)}</tbody></table></div>`;
  }

  render() {
    return html`<figure>
      ${this.chart.title ? html`<figcaption>${this.chart.title}</figcaption>` : ""}
      ${this.legend()}
      <div class="plot">${this.width > 0 ? this.plot() : ""}</div>
      <details @toggle=${(event) => { this.open = event.target.open; }}><summary>The figures as a table</summary>${this.table()}</details>
    </figure>`;
  }
}

/** A name cut to about the width in pixels that it has. */
function shortened(name, width) {
  const most = Math.max(6, Math.floor(width / 6.6) - 2);
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** The axis of a logarithmic scale; by itself Plot leaves some of the given ticks without a number. */
function logAxis({ ticks, label }, axis) {
  return Plot.axisX(ticks, { text: (value) => figure(value, axis), label, labelArrow: "none", fontSize: 12 });
}

/** Remove names of points that would cover another one; the tip shows them. */
function dropCovered(names) {
  const kept = [];
  for (const name of names) {
    const [x, y] = name.getAttribute("transform").match(/-?[\d.]+/g).map(Number), half = 3.3 * name.textContent.length;
    if (kept.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < 13)) name.remove();
    else kept.push({ x, y, half });
  }
}

/** The outline of a symbol of the legend. */
function symbolPath(name) {
  const shape = d3[`symbol${name[0].toUpperCase()}${name.slice(1)}`] ?? d3.symbolCircle;
  return d3.symbol(shape, 40)();
}

customElements.define("ml-chart", Chart);
