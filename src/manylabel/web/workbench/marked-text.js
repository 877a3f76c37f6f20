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
    Object.assign(this, { text: "", marks: [], caption: "Text" });
  }

  createRenderRoot() {
    return this;
  }

  /** The parts of a piece, [text, weight or null], given the marks that begin before its end; overlapping ones are added up. */
  parts(start, end, marks) {
    const changes = marks.flatMap((mark) => [[Math.max(start, mark.start), mark.weight, 1], [Math.min(end, mark.end), -mark.weight, -1]]).sort(([a], [b]) => a - b);
    const found = [];
    let from = start, weight = 0, open = 0;
    for (const [at, by, one] of [...changes, [end, 0, 0]]) {
      if (at > from) found.push([this.text.slice(from, at), open ? weight : null]);
      from = at;
      open += one;
      weight = open ? weight + by : 0;
    }
    return found;
  }

  /** Each piece with its parts. Marks are { start, end, weight }. */
  drawn() {
    const sorted = this.marks.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start);
    let next = 0, open = [];
    return pieces(this.text).map(([start, end]) => {
      open = open.filter((mark) => mark.end > start);
      while (next < sorted.length && sorted[next].start < end) open.push(sorted[next++]);
      return this.parts(start, end, open);
    });
  }

  render() {
    const most = this.marks.reduce((largest, { weight }) => Math.max(largest, Math.abs(weight)), 1e-12);
    const shown = ([part, weight]) => (weight === null ? part : html`<mark class=${weight < 0 ? "against" : "for"} style="--strength:${Math.min(1, Math.abs(weight) / most).toFixed(2)}" title=${`${weight < 0 ? "against" : "for"} the label: ${weight.toPrecision(2)}`}>${part}</mark>`);
    return html`<div class="marked-text" dir="auto" tabindex="0" role="region" aria-label=${this.caption}>${this.drawn().map((parts) => html`<span class="piece">${parts.map(shown)}</span>`)}</div>`;
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
