// Try: paste or edit a text and watch its labels change, with the evidence marked in it; one model or two side by side.
import { html, nothing } from "lit";
import { get, post } from "../api.js";
import { howToRead, marksOf, whatIf } from "../evidence.js";
import { go, set } from "../route.js";
import { View, score } from "../view.js";
import "../marked-text.js";

const PAUSE = 250;
const IN_ADDRESS = 4_000;
/* longer texts are not kept in the address */
const RUNNERS_UP = 3;

class TryView extends View {
  static properties = { ...View.properties, answers: { state: true }, text: { state: true }, waiting: { state: true } };

  constructor() {
    super();
    Object.assign(this, { answers: {}, text: "", waiting: false });
  }

  get shortcuts() {
    return [{ keys: ["e"], text: "Edit the text", run: () => this.querySelector("textarea").focus() }];
  }

  /** The names of the models side by side. */
  get chosen() {
    const names = (this.models ?? []).map(({ name }) => name), asked = ["model", "other"].map((name) => this.parameters.get(name));
    const first = names.includes(asked[0]) ? asked[0] : names.includes(this.corpus) ? this.corpus : names[0];
    return [first, names.includes(asked[1]) ? asked[1] : null];
  }

  async opened() {
    const { parameters } = this;
    if (parameters.has("text")) this.text = parameters.get("text");
    else if (parameters.has("document") && this.corpus) await this.attempt(() => this.fetchDocument(parameters.get("document")));
    await this.explain();
  }

  /** Take the text of a document of the corpus. */
  async fetchDocument(number) {
    const { fields } = await get(`/v1/corpora/${encodeURIComponent(this.corpus)}/documents/${number}`);
    this.text = Object.values(fields).filter(Boolean).join("\n\n");
  }

  onInput(event) {
    this.text = event.target.value;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keep(), PAUSE);
  }

  /** Put the text into the address, from where it is explained; long ones are explained at once. */
  keep() {
    if (this.text.length <= IN_ADDRESS && this.text !== this.parameters.get("text")) set({ text: this.text, document: null });
    else this.explain();
  }

  async explain() {
    this.stop?.abort();
    if (!this.text.trim() || !this.chosen[0]) {
      this.answers = {};
      return;
    }
    const { signal } = (this.stop = new AbortController()), names = this.chosen.filter(Boolean), text = this.text;
    this.waiting = true;
    const found = await this.attempt(() => Promise.all(names.map((name) => post(`/v1/models/${encodeURIComponent(name)}/explain`, { text, runners_up: RUNNERS_UP }, signal))));
    if (signal.aborted) return;
    this.waiting = false;
    if (!found) return;
    this.answers = Object.fromEntries(found.map((answer, place) => [names[place], { ...answer.explanations[0].explanation, version: answer.version, text }]));
    const predicted = found[0].explanations[0].explanation.labels.filter(({ predicted: is }) => is).map(({ label }) => label);
    this.tell("ml-say", `Predicted labels: ${predicted.join(", ") || "none"}`);
  }

  /** The label whose evidence is marked: the one of the address, or the first. */
  shown(answer) {
    return answer.labels.find(({ label }) => label === this.parameters.get("label")) ?? answer.labels[0];
  }

  answer(name) {
    const answer = this.answers[name];
    if (!answer) return html`<section class="panel"><h2>${name}</h2><p class="quiet">${this.text.trim() ? "Labelling …" : "Labels appear here as soon as there is a text."}</p></section>`;
    const shown = this.shown(answer);
    return html`<section class="panel" aria-label=${`Labels by the model ${name}`}>
      <h2>${name} <span class="quiet">${answer.method}, version ${answer.version.slice(0, 8)}</span></h2>
      <ul class="scores" aria-label="Labels">${answer.labels.map((one) => this.labelRow(one, one === shown))}</ul>
      ${shown ? this.evidence(answer, shown) : html`<p class="quiet">The model predicts no label.</p>`}</section>`;
  }

  labelRow(one, isShown) {
    const place = (value) => `${(100 * Math.max(0, Math.min(1, value))).toFixed(1)}%`;
    return html`<li><button type="button" class="score-row" aria-pressed=${String(isShown)} @click=${() => set({ label: one.label })}>
      <span class="score-name" dir="auto"><span aria-hidden="true">${one.predicted ? "✓" : "·"}</span> ${one.label}</span>
      ${one.is_probability ? html`<span class="score-bar" aria-hidden="true"><span style="width:${place(one.score)}"></span>${one.threshold === null ? nothing : html`<i style="left:${place(one.threshold)}"></i>`}</span>` : html`<span></span>`}
      <span class="score-value">${score(one.score)}<span class="unseen">, ${one.predicted ? "predicted" : "not predicted"}${one.threshold === null ? "" : `, threshold ${score(one.threshold)}`}</span></span></button></li>`;
  }

  evidence(answer, shown) {
    return html`<h3>Why ${shown.predicted ? "" : "not "}<span dir="auto">${shown.label}</span></h3>
      ${answer.fields.map(({ field, text }) => html`<ml-marked-text .text=${text} .marks=${marksOf(shown, field, text)}></ml-marked-text>`)}
      <p class="quiet legend"><mark class="for" style="--strength:.6">for</mark> <mark class="against" style="--strength:.6">against</mark> ${howToRead(shown)}</p>
      ${whatIf(shown) ? html`<p>${whatIf(shown)}</p>` : nothing}
      ${shown.rules.length ? html`<p>Keyword rules that match: ${shown.rules.join("; ")}</p>` : nothing}
      <details><summary>Contributions as a table</summary><table><thead><tr><th scope="col">term</th><th scope="col" class="figure">contribution</th></tr></thead>
        <tbody>${shown.terms.slice(0, 30).map(({ term, contribution }) => html`<tr><td dir="auto">${term}</td><td class="figure">${contribution.toFixed(3)}</td></tr>`)}</tbody></table></details>`;
  }

  modelChoice(title, name, chosen, optional) {
    return html`<label>${title}<select @change=${(event) => set({ [name]: event.target.value })}>
      ${optional ? html`<option value="" ?selected=${!chosen}>none</option>` : nothing}
      ${this.models.map((model) => html`<option value=${model.name} ?selected=${model.name === chosen}>${model.name} (${model.method})</option>`)}</select></label>`;
  }

  render() {
    if (!this.models) return nothing;
    if (!this.models.length) return html`<div class="empty"><h2>No model yet</h2><p>Train one under <a href="#/${this.corpus ?? ""}/compare">Compare</a>, or start the server with a model file.</p></div>`;
    const [first, second] = this.chosen;
    return html`<h1>Try</h1>
      <div class="tools">${this.modelChoice("Model", "model", first, false)}${this.modelChoice("Beside it", "other", second, true)}</div>
      <div class="try">
        <section class="panel"><label for="try-text">Text</label>
          <textarea id="try-text" rows="12" dir="auto" spellcheck="false" placeholder="Paste or write a text." .value=${this.text} @input=${this.onInput}></textarea>
          <div class="tools"><button type="button" ?disabled=${!this.text} @click=${() => { this.text = ""; go({ parameters: {} }); }}>Clear</button>
          <span class="quiet">${this.text.length > IN_ADDRESS ? "This text is too long to be part of the address." : ""}</span></div></section>
        ${this.answer(first)}${second ? this.answer(second) : nothing}
      </div>`;
  }
}

customElements.define("ml-try-view", TryView);
