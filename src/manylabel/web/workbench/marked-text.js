// <ml-marked-text>: a text with evidence marked where it stands. Long texts stay fluid: pieces out of sight are not drawn.
import { LitElement, html } from "lit";

const PIECE = 4_000;

/** A text cut into pieces at line breaks or blanks, so that the browser can leave out those that are not in sight. */
function pieces(text) {
  const cuts = [0];
  while (text.length - cuts.at(-1) > 1.5 * PIECE) {
    const from = cuts.at(-1) + PIECE, at = text.slice(from, from + PIECE / 2).search(/\s/);
    cuts.push(at < 0 ? from : from + at + 1);
  }
  return cuts.map((start, place) => [start, cuts[place + 1] ?? text.length]);
}

class MarkedText extends LitElement {
  static properties = { text: { attribute: false }, marks: { attribute: false }, caption: {} };

  constructor() {
    super();
    this.text = "";
    this.marks = [];
    this.caption = "Text";
  }

  createRenderRoot() {
    return this;
  }

  /** The parts of a piece: [text, weight or null]. Marks are { start, end, weight }; overlapping ones are added up. */
  parts(start, end) {
    const inside = this.marks.filter((mark) => mark.end > start && mark.start < end);
    if (!inside.length) return [[this.text.slice(start, end), null]];
    const ends = [...new Set([start, end, ...inside.flatMap((mark) => [Math.max(start, mark.start), Math.min(end, mark.end)])])].sort((a, b) => a - b);
    return ends.slice(1).map((stop, place) => {
      const from = ends[place], over = inside.filter((mark) => mark.start <= from && mark.end >= stop);
      return [this.text.slice(from, stop), over.length ? over.reduce((sum, mark) => sum + mark.weight, 0) : null];
    });
  }

  render() {
    const most = Math.max(1e-12, ...this.marks.map(({ weight }) => Math.abs(weight)));
    return html`<div class="marked-text" dir="auto" tabindex="0" role="region" aria-label=${this.caption}>${pieces(this.text).map(([start, end]) => html`<span class="piece">${this.parts(start, end).map(([part, weight]) =>
      (weight === null ? part : html`<mark class=${weight < 0 ? "against" : "for"} style="--strength:${Math.min(1, Math.abs(weight) / most).toFixed(2)}" title=${`${weight < 0 ? "against" : "for"} the label: ${weight.toPrecision(2)}`}>${part}</mark>`))}</span>`)}</div>`;
  }
}

/** Character positions as the server counts them (code points) to those of JavaScript (UTF-16); the same where a text has no others. */
export function inUtf16(text, marks) {
  if (!/[\ud800-\udbff]/.test(text)) return marks;
  const wanted = new Set(marks.flatMap(({ start, end }) => [start, end])), found = new Map();
  let points = 0, place = 0;
  for (const letter of text) {
    if (wanted.has(points)) found.set(points, place);
    points += 1;
    place += letter.length;
  }
  if (wanted.has(points)) found.set(points, place);
  return marks.map((mark) => ({ ...mark, start: found.get(mark.start) ?? place, end: found.get(mark.end) ?? place }));
}

customElements.define("ml-marked-text", MarkedText);
