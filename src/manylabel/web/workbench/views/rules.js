// Rules: keyword rules, one `label: query` per line, with what they match and how often they are right, while they are typed.
import { html, nothing } from "lit";
import { Problem, corpusPath, get, post, put, save } from "../api.js";
import { relation } from "../filters.js";
import { address, current, set } from "../route.js";
import { distinctiveWords, excerpt, wordMarks, writtenLabel } from "../rule-words.js";
import { View, count, counted, day, percent } from "../view.js";
import "../label-input.js";
import "../marked-text.js";
import { jobInWords } from "./review/jobs.js";

const PAUSE = 250;
const IN_ADDRESS = 2_000;
/* longer rules are not kept in the address */
const SAMPLE = 4;
const EXCERPT = 260;
const READ = 200_000;
/* characters of a document that are searched for the words of a rule */
const LOOKED_AT = 100;
/* documents with and without a label whose beginnings are searched for words */
const WORDS = 12;
const EXAMPLES = [
  ["parks: park", "documents with the word park, in any case"],
  ["parks: playground* OR tree", "a word that begins with playground, or the word tree"],
  ['buses: "bus stop" AND NOT school', "the phrase bus stop, where the word school does not occur"],
  ["roads: (road OR lane) hole", "both parts: AND may be left out"],
  ['"time: past": yesterday', "a label with a colon is written in quotes"],
  ["# a remark", "a line that begins with # is no rule"],
];
const SAMPLES = {
  all: { title: "All matched documents", of: (query) => [["rule", query]] },
  wrong: { title: "Without the label", of: (query, label) => [["rule", query], relation("not true", label)] },
  right: { title: "With the label", of: (query, label) => [["rule", query], relation("true", label)] },
  missed: { title: "With the label, not matched", of: (query, label) => [["rule", `NOT (${query})`], relation("true", label)] },
};
const drafts = new Map();
/* by corpus, rules that were not saved, for as long as the page is open */

class RulesView extends View {
  static properties = {
    ...View.properties, text: { state: true }, saved: { state: true }, study: { state: true }, studying: { state: true }, sample: { state: true },
    theirs: { state: true }, words: { state: true }, kept: { state: true }, job: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { text: "", saved: null, study: null, studying: false, sample: null, theirs: null, words: null, kept: null, job: null });
  }

  get shortcuts() {
    return [
      { keys: ["e"], text: "Edit the rules", run: () => this.area.focus() },
      { keys: ["f"], text: "Find a label for a new rule", run: () => this.querySelector("ml-label-input").focus() },
      { keys: ["s"], text: "Save the rules", enabled: () => this.isChanged, run: () => this.save() },
      { keys: ["t"], text: "Retrain with the saved rules", enabled: () => this.canRetrain, run: () => this.retrain() },
      { keys: ["j", "ArrowDown"], text: "Next rule", enabled: () => Boolean(this.beside(1)), run: () => set({ line: this.beside(1).line }) },
      { keys: ["k", "ArrowUp"], text: "Previous rule", enabled: () => Boolean(this.beside(-1)), run: () => set({ line: this.beside(-1).line }) },
    ];
  }

  get area() {
    return this.querySelector("#rules-text");
  }

  get isChanged() {
    return this.saved !== null && this.text !== this.saved.rules;
  }

  /** Whether a model can be trained: what is saved is what is seen, and no training runs. */
  get canRetrain() {
    return !this.isChanged && !this.job && Boolean(this.saved?.rules.trim());
  }

  get rows() {
    return this.study?.rules ?? [];
  }

  /** The rule whose documents are shown: that of the address, or the first. */
  get chosen() {
    return this.rows.find(({ line }) => line === Number(this.parameters.get("line"))) ?? this.rows[0];
  }

  async opened() {
    if (!this.corpus || this.later) return; // what is being typed comes before the address
    if (this.loadedFor !== this.corpus) {
      this.loadedFor = this.corpus;
      Object.assign(this, { study: null, sample: null, theirs: null, words: null, kept: null });
      this.saved = (await this.attempt(() => get(corpusPath(this.corpus, "rules")))) ?? null;
      if (!this.saved) return;
      if (!this.later) this.text = this.parameters.get("rules") ?? drafts.get(this.corpus) ?? this.saved.rules;
    } else if (this.parameters.has("rules")) this.text = this.parameters.get("rules");
    await this.measure();
  }

  onInput(event) {
    this.text = event.target.value;
    this.kept = null;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.keep(), PAUSE);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    if (this.later) this.keepDraft(); // the address is that of another view by now
  }

  /** Keep what is not saved for as long as the page is open. */
  keepDraft() {
    clearTimeout(this.later);
    this.later = null;
    if (this.isChanged || this.saved === null) drafts.set(this.corpus, this.text); // typed before the saved rules came
    else drafts.delete(this.corpus);
  }

  /** Keep what is not saved also in the address, where it is short, and match it. */
  keep() {
    this.keepDraft();
    const { corpus, view } = current();
    if (corpus !== this.corpus || view !== "rules") return; // another view is being opened, which has its own address
    set({ rules: this.isChanged && this.text.length <= IN_ADDRESS ? this.text : null });
    this.measure();
  }

  /** What the rules match; nothing is asked twice. */
  async measure() {
    const asked = JSON.stringify([this.corpus, this.text, this.summary?.event]);
    if (asked !== this.asked) {
      this.asked = asked;
      this.stop?.abort();
      const { signal } = (this.stop = new AbortController());
      this.studying = true;
      const began = performance.now(), found = await this.attempt(() => post(corpusPath(this.corpus, "rules", "study"), { rules: this.text }, signal));
      if (signal.aborted) return;
      this.dataset.milliseconds = String(Math.round(performance.now() - began));
      this.studying = false;
      if (!found) this.asked = null;
      this.study = found ?? null;
    }
    await Promise.all([this.fetchSample(), this.fetchWords()]);
  }

  /** Some documents of the chosen rule, with the words that it looks for. */
  async fetchSample() {
    const { chosen } = this, kind = this.sampleKind, asked = chosen ? JSON.stringify([this.asked, chosen.query, chosen.label, kind]) : null;
    if (asked === this.sampledFor) return;
    this.sampledFor = asked;
    if (!chosen) {
      this.sample = null;
      return;
    }
    const filter = filterOfSample(kind, chosen);
    const found = await this.attempt(async () => {
      const { documents } = await post(corpusPath(this.corpus, "search"), { filter, limit: SAMPLE, count: false });
      return Promise.all(documents.map(({ number }) => get(corpusPath(this.corpus, "documents", number))));
    });
    if (this.sampledFor === asked) this.sample = found ?? null;
  }

  get sampleKind() {
    return SAMPLES[this.parameters.get("show")] ? this.parameters.get("show") : "all";
  }

  /** Words that documents of the chosen label have more often than others. */
  async fetchWords() {
    const label = this.chosen?.label ?? null, isKnown = this.study?.labels.some((one) => one.label === label && one.label_documents > 0);
    if (label === this.wordsOf) return;
    Object.assign(this, { wordsOf: label, words: null });
    if (!isKnown) return;
    const beginnings = (how) => post(corpusPath(this.corpus, "search"), { filter: { labels: [{ label, relation: how }] }, limit: LOOKED_AT, count: false });
    const found = await this.attempt(() => Promise.all(["true", "not true"].map(beginnings)));
    if (!found || this.wordsOf !== label) return;
    const [inside, outside] = found.map(({ documents }) => documents.map(({ beginning }) => beginning));
    this.words = distinctiveWords(inside, outside, WORDS);
  }

  /** Save the rules; where others were saved meanwhile, theirs are shown first. */
  async save() {
    const by = await this.named();
    if (!by) return;
    const rules = this.text, { revision } = this.theirs ?? this.saved;
    const event = await this.attempt(async () => {
      try {
        return (await put(corpusPath(this.corpus, "rules"), { by, rules, revision })).event;
      } catch (error) {
        if (error instanceof Problem && error.status === 409) this.theirs = await get(corpusPath(this.corpus, "rules"));
        throw error;
      }
    });
    if (event === undefined) return;
    Object.assign(this, { saved: { rules, revision: event, by, at: Date.now() / 1000 }, theirs: null, kept: event });
    this.settled("The keyword rules are saved.");
  }

  /** Take back what was saved last. */
  async undo() {
    const by = await this.named(), done = by && (await this.attempt(() => post(corpusPath(this.corpus, "undo"), { by, event: this.kept })));
    if (!done) return;
    this.saved = (await this.attempt(() => get(corpusPath(this.corpus, "rules")))) ?? this.saved;
    this.kept = null;
    this.settled("The rules that were saved before are saved again; the text stays as it is.");
  }

  settled(words) {
    this.tell("ml-say", words);
    this.tell("ml-changed");
    this.keep();
  }

  /** Replace the text by the saved rules. */
  revert() {
    this.text = (this.theirs ?? this.saved).rules;
    Object.assign(this, { saved: this.theirs ?? this.saved, theirs: null });
    this.tell("ml-problem", null);
    this.keep();
  }

  /** Train the model of the corpus again, with the saved rules before its method. */
  retrain() {
    return this.querySelector("ml-review-jobs").retrain(true);
  }

  /** Begin a line for a label, or go on with the line that it has. */
  addLine(label) {
    this.area.focus();
    this.area.setSelectionRange(this.text.length, this.text.length);
    this.type(`${this.text && !this.text.endsWith("\n") ? "\n" : ""}${writtenLabel(label)}: `);
  }

  /** Add a word to the chosen rule as an alternative. */
  addWord(word) {
    const { start, line } = this.lineAt(this.chosen.line), at = start + line.length;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    this.type(`${line.trimEnd().endsWith(":") ? " " : " OR "}${word}`);
  }

  /** Type at the cursor: the only way that the browser's own undo knows of. */
  type(letters) {
    document.execCommand("insertText", false, letters);
  }

  /** The next (1) or previous (-1) rule; undefined at the ends. */
  beside(step) {
    return this.rows[this.rows.indexOf(this.chosen) + step];
  }

  /** Where a line of the text starts, by its number from 1, and the line itself. */
  lineAt(number) {
    const lines = this.text.split("\n");
    return { start: lines.slice(0, number - 1).reduce((sum, one) => sum + one.length + 1, 0), line: (lines[number - 1] ?? "").replace(/\r$/, "") };
  }

  /** Put the cursor into a line. */
  goToLine(number) {
    const { start, line } = this.lineAt(number);
    this.area.focus();
    this.area.setSelectionRange(start, start + line.length);
    set({ line: number });
  }

  /** Show the documents of the rule that the cursor is in. */
  followCursor() {
    const line = this.text.slice(0, this.area.selectionStart).split("\n").length;
    if (this.rows.some((one) => one.line === line)) set({ line });
  }

  download() {
    save(new Blob([this.text], { type: "text/plain" }), `${this.corpus}-rules.txt`);
  }

  editor() {
    const problems = this.study?.problems ?? [], { saved } = this;
    return html`<section class="panel rules-editor" aria-label="Rules">
      <ml-label-input .corpus=${this.corpus} caption="Begin a rule for a label" @choose=${({ detail }) => this.addLine(detail.label)}></ml-label-input>
      <label for="rules-text">Keyword rules, one “label: query” per line</label>
      <textarea id="rules-text" rows="12" wrap="off" spellcheck="false" autocapitalize="off" placeholder=${"parks: playground* OR tree\nroads: road AND NOT bus"} .value=${this.text}
        aria-invalid=${String(problems.length > 0)} aria-describedby="rules-problems" @input=${this.onInput} @keyup=${this.followCursor} @click=${this.followCursor}></textarea>
      <ul id="rules-problems" class="rule-problems" role="status">${problems.map(({ line, problem }) => html`<li>
        <button type="button" class="link" @click=${() => this.goToLine(line)}>Line ${line}</button> <span dir="auto">${problem}</span></li>`)}</ul>
      <div class="tools"><button type="button" class="main" ?disabled=${!this.isChanged} title="Save (s)" @click=${() => this.save()}>${this.theirs ? "Save mine instead" : "Save"}</button>
        <button type="button" ?disabled=${!this.isChanged} @click=${this.revert}>${this.theirs ? "Take theirs" : "Back to the saved rules"}</button>
        ${this.kept ? html`<button type="button" @click=${this.undo}>Undo saving</button>` : nothing}
        <button type="button" ?disabled=${!this.text.trim()} @click=${this.download}>Download</button>
        <button type="button" ?disabled=${!this.canRetrain} title=${this.isChanged ? "Save the rules first" : "A model whose labels come from the rules first, then from its method (t)"} @click=${this.retrain}>${this.job ? jobInWords(this.job) : "Retrain with the rules"}</button></div>
      <p class="quiet">${!saved?.revision ? "No rules are saved yet." : `Saved by ${saved.by}, ${day(saved.at)}.${this.isChanged ? " The text was changed since." : ""}`}
        ${this.isChanged && this.text.length > IN_ADDRESS ? " It is too long to be part of the address." : ""}</p>
      ${this.theirs ? html`<label for="rules-theirs">What ${this.theirs.by} saved meanwhile</label><textarea id="rules-theirs" rows="6" readonly wrap="off" .value=${this.theirs.rules}></textarea>` : nothing}
      ${this.suggestedWords()}${help()}</section>`;
  }

  suggestedWords() {
    if (!this.words?.length) return nothing;
    return html`<h3>Words for <span dir="auto">${this.chosen.label}</span></h3>
      <p class="quiet">More frequent in documents with the label than in others. A word is added to line ${this.chosen.line}.</p>
      <ul class="chips" aria-label="Words to add">${this.words.map((word) => html`<li><button type="button" dir="auto" @click=${() => this.addWord(word)}>+ ${word}</button></li>`)}</ul>`;
  }

  link(kind, { query, label }, shown) {
    return html`<a href=${address({ corpus: this.corpus, view: "errors", parameters: SAMPLES[kind].of(query, label) })} title=${SAMPLES[kind].title}>${shown}</a>`;
  }

  row(one) {
    const label = this.study.labels.find(({ label: name }) => name === one.label), missed = label.label_documents - one.true;
    return html`<tr aria-current=${one === this.chosen ? "true" : nothing}>
      <td class="figure" data-title="line"><button type="button" class="link" aria-label=${`Show the documents of line ${one.line}`} @click=${() => set({ line: one.line })}>${one.line}</button></td>
      <td class="rule-cell" data-title=""><strong dir="auto">${one.label}</strong> <code dir="auto">${one.query}</code><br><a class="quiet" href=${this.bulkAddress(one)}>Take the labels of this rule</a></td>
      <td class="figure" data-title="documents">${this.link("all", one, count(one.documents))}</td>
      <td class="figure" data-title="with the label">${this.link("right", one, count(one.true))}</td>
      <td class="figure" data-title="without it">${this.link("wrong", one, count(one.documents - one.true))}</td>
      <td class="figure" data-title="precision">${percent(one.precision)}${one.interval ? html` <span class="quiet">${percent(one.interval[0], 0).replace(" %", "")} to ${percent(one.interval[1], 0)}</span>` : nothing}</td>
      <td class="figure" data-title="recall">${percent(one.recall)} ${this.link("missed", one, html`<span class="quiet">${count(missed)} missed</span>`)}</td></tr>`;
  }

  /** Review, with a preview of giving the label to the documents that a rule matches and that lack it. */
  bulkAddress({ query, label }) {
    return address({ corpus: this.corpus, view: "review", parameters: [...SAMPLES.wrong.of(query, label), ["bulk", `accept:${label}`]] });
  }

  table() {
    const { study } = this;
    if (!study) return html`<p class="quiet">${this.studying ? "Matching …" : ""}</p>`;
    if (!study.rules.length) return html`<div class="empty"><h2>No rule yet</h2><p>Write a line such as <code>label: word OR "two words"</code>, or choose a label to begin one. What it matches appears here as you type.</p></div>`;
    const several = study.labels.filter(({ lines }) => lines > 1);
    return html`<div class="wide" tabindex="0" role="region" aria-label="What the rules match" aria-busy=${String(this.studying)}><table class="rules-table cards">
      <thead><tr><th scope="col" class="figure">line</th><th scope="col">rule</th><th scope="col" class="figure">documents</th><th scope="col" class="figure">with the label</th><th scope="col" class="figure">without it</th><th scope="col" class="figure">precision</th><th scope="col" class="figure">recall</th></tr></thead>
      <tbody>${study.rules.map((one) => this.row(one))}
      ${several.map((one) => this.together(one))}</tbody></table></div>
      <p class="quiet">${study.read < study.documents ? `Counted in a sample of ${counted(study.read, "document")} of ${count(study.documents)}, since matching all would take too long. ` : `Counted in ${counted(study.documents, "document")}. `}Precision leaves out documents that are not labelled yet; its 95 % interval stands below it.</p>`;
  }

  /** The row of all lines of a label. */
  together(one) {
    return html`<tr class="together"><td data-title=""></td><td data-title=""><strong dir="auto">${one.label}</strong>, ${counted(one.lines, "line")} together</td>
      <td class="figure" data-title="documents">${count(one.documents)}</td><td class="figure" data-title="with the label">${count(one.true)}</td><td class="figure" data-title="without it">${count(one.documents - one.true)}</td>
      <td class="figure" data-title="precision">${percent(one.precision)}</td><td class="figure" data-title="recall">${percent(one.recall)}</td></tr>`;
  }

  samples() {
    const { chosen } = this;
    if (!chosen) return nothing;
    const kind = this.sampleKind, parameters = SAMPLES[kind].of(chosen.query, chosen.label);
    return html`<h2>Documents of line ${chosen.line}</h2>
      <div class="tools"><label>Show<select @change=${(event) => set({ show: event.target.value === "all" ? null : event.target.value })}>
        ${Object.entries(SAMPLES).map(([name, { title }]) => html`<option value=${name} ?selected=${name === kind}>${title}</option>`)}</select></label>
        <a class="button" href=${address({ corpus: this.corpus, view: "errors", parameters })}>Open all of them</a></div>
      ${!this.sample ? html`<p class="quiet">Loading …</p>` : this.sample.length ? html`<ul class="rule-sample">${this.sample.map((one) => this.sampled(one, chosen.query))}</ul>` : html`<p class="quiet">There are none.</p>`}`;
  }

  sampled(one, query) {
    const text = Object.values(one.fields).filter(Boolean).join(" · ").slice(0, READ), part = excerpt(text, wordMarks(query, text), EXCERPT);
    const labels = one.labels.filter(({ is_true: isTrue }) => isTrue);
    return html`<li class="panel"><p class="row-head"><a href=${address({ corpus: this.corpus, view: "review", parameters: { document: one.number } })} dir="auto">${one.id}</a><span class="quiet">${one.state}</span></p>
      <p dir="auto">${part.begins ? "" : "… "}${pieces(part)}${part.ends ? "" : " …"}</p>
      <p class="row-labels">${labels.map(({ label }) => html`<span class="label" dir="auto">${label}</span>`)}${labels.length ? nothing : html`<span class="quiet">no true label</span>`}</p></li>`;
  }

  render() {
    if (!this.corpus) return html`<h1>Rules</h1><div class="empty"><h2>No corpus yet</h2><p>Import one under <a href=${address({ view: "data" })}>Data</a>.</p></div>`;
    return html`<h1>Rules</h1><div class="rules">${this.editor()}<section class="rules-found" aria-label="What the rules match">
      <ml-review-jobs .corpus=${this.corpus} .model=${this.model} @job-changed=${({ detail }) => { this.job = detail; }}></ml-review-jobs>${this.table()}${this.samples()}</section></div>`;
  }
}

/** The filter of a sample, as the server takes it. */
function filterOfSample(kind, { query, label }) {
  const rule = kind === "missed" ? `NOT (${query})` : query;
  return kind === "all" ? { rule } : { rule, labels: [{ label, relation: kind === "wrong" ? "not true" : "true" }] };
}

/** An excerpt with its marks. */
function pieces({ text, marks }) {
  let at = 0;
  return [...marks.flatMap(({ start, end }) => {
    if (start < at) return [];
    const before = text.slice(at, start);
    at = end;
    return [before, html`<mark class="for" style="--strength:.5">${text.slice(start, end)}</mark>`];
  }), text.slice(at)];
}

function help() {
  return html`<details class="rules-help"><summary>How to write a rule</summary>
    <dl>${EXAMPLES.map(([rule, meaning]) => html`<dt><code>${rule}</code></dt><dd>${meaning}</dd>`)}</dl>
    <p class="quiet">Lines of one label are alternatives. “Retrain with the rules” trains a model with the saved rules here; <code>manylabel train … --rules FILE</code> does with a file that Download writes.</p></details>`;
}

customElements.define("ml-rules-view", RulesView);
