// <ml-label-graph>: the strongest pairs of labels as a picture: a dot is a label, the width of a line is the excess over chance. The places
// depend on the pairs alone, so that the same report shows the same picture. Its table is the list of pairs.
/* global d3 */
import { LitElement, html, svg } from "lit";
import { address } from "../route.js";

const NODES = 40, EDGES = 120;
const [WIDTH, HEIGHT] = [1000, 620];
const LETTER = 7.4, LINE = 30;
/* the width of a letter, and the height of a name with its dot */
const LONGEST = 28;

const shortened = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

/** Nodes and lines of the strongest pairs, as many as can be drawn. */
function chosen(pairs) {
  const nodes = new Map(), links = [];
  for (const { first, second, both, expected } of pairs) {
    const more = [first, second].filter((name) => !nodes.has(name));
    if (nodes.size + more.length > NODES || links.length >= EDGES) continue;
    for (const name of more) nodes.set(name, { name, width: LETTER * shortened(name).length + 10 });
    links.push({ source: nodes.get(first), target: nodes.get(second), excess: Math.max(0, both - expected) });
  }
  return { nodes: [...nodes.values()], links };
}

/** Move names apart that cover each other, along the way on which they overlap less. */
function apart(nodes) {
  for (let round = 0; round < 200; round += 1) {
    let hit = false;
    for (let a = 0; a < nodes.length; a += 1)
      for (let b = a + 1; b < nodes.length; b += 1) {
        const [one, other] = [nodes[a], nodes[b]], dx = one.x - other.x, dy = one.y - other.y;
        const overX = (one.width + other.width) / 2 - Math.abs(dx), overY = LINE - Math.abs(dy);
        if (overX <= 0 || overY <= 0) continue;
        hit = true;
        const [axis, by] = overX < overY ? ["x", (dx < 0 ? -overX : overX) / 2] : ["y", (dy < 0 ? -overY : overY) / 2];
        one[axis] += by;
        other[axis] -= by;
      }
    for (const node of nodes) keepInside(node);
    if (!hit) return;
  }
}

function keepInside(node) {
  node.x = Math.max(node.width / 2, Math.min(WIDTH - node.width / 2, node.x));
  node.y = Math.max(24, Math.min(HEIGHT - 10, node.y));
}

/** The places of all nodes: springs along the lines, and repulsion. */
function placed(pairs) {
  const { nodes, links } = chosen(pairs);
  d3.forceSimulation(nodes).force("links", d3.forceLink(links).distance(90)).force("apart", d3.forceManyBody().strength(-420).distanceMax(420))
    .force("x", d3.forceX(WIDTH / 2).strength(0.05)).force("y", d3.forceY(HEIGHT / 2).strength(0.09)).stop().tick(300);
  const scale = (axis, size) => {
    const values = nodes.map((node) => node[axis]), low = Math.min(...values), high = Math.max(...values);
    for (const node of nodes) node[axis] = high > low ? 60 + ((node[axis] - low) / (high - low)) * (size - 120) : size / 2;
  };
  scale("x", WIDTH);
  scale("y", HEIGHT);
  apart(nodes);
  return { nodes, links };
}

class LabelGraph extends LitElement {
  static properties = { corpus: { attribute: false }, pairs: { attribute: false } };

  createRenderRoot() {
    return this;
  }

  willUpdate(changed) {
    if (changed.has("pairs")) this.places = placed(this.pairs);
  }

  render() {
    const { nodes, links } = this.places, most = Math.max(1e-9, ...links.map(({ excess }) => excess));
    const to = (label) => address({ corpus: this.corpus, view: "labels", parameters: { label } });
    return html`<div class="wide" tabindex="0" role="region" aria-label="Graph of labels that occur together"><svg class="graph" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Labels that occur together; the table below lists the pairs">
      <g aria-hidden="true">${links.map(({ source, target, excess }) => svg`<line x1=${source.x} y1=${source.y} x2=${target.x} y2=${target.y} stroke-width=${0.8 + 5 * Math.sqrt(excess / most)}/>`)}</g>
      ${nodes.map(({ name, x, y }) => svg`<a href=${to(name)} aria-label=${name}><title>${name}</title><rect x=${x - 30} y=${y - 20} width="60" height="26" fill="transparent"/><circle cx=${x} cy=${y} r="5"/><text x=${x} y=${y - 9} text-anchor="middle">${shortened(name)}</text></a>`)}</svg></div>`;
  }
}

customElements.define("ml-label-graph", LabelGraph);
