// Review: queues of documents, decided label by label, by keyboard; several people at once.
import { html, nothing } from "lit";
import { Problem, corpusPath, get, post } from "../api.js";
import { stateMark } from "../documents.js";
import { conditions } from "../filters.js";
import { address, set } from "../route.js";
import { count, counted, keyNames, when } from "../view.js";
import { DecidingView, WHOLE } from "./review/deciding.js";
import { isMinor, sorted } from "./review/document.js";
import { jobInWords } from "./review/jobs.js";
import { shortcutsOf } from "./review/keys.js";
import { notices, othersInWords } from "./review/notices.js";
import { QUEUES, countsOf, progressOf, queueOf, searchOf } from "./review/queues.js";
import { queueTools } from "./review/tools.js";
import { changeOfEvent } from "./review/words.js";
import "../chips.js";
import "./label-changes.js";
import "./review/bulk.js";
import "./review/export.js";
import "./review/history.js";

const LOOK = 4_000;
/* milliseconds between two looks at what others did */
const PAUSE = 600;
/* milliseconds until the queues are counted, which must not slow the list */
const SERVER = "manylabel";

class ReviewView extends DecidingView {
  static properties = {
    ...DecidingView.properties, focused: { state: true }, all: { state: true }, others: { state: true }, touched: { state: true }, isGone: { state: true },
    counts: { state: true }, job: { state: true }, progress: { state: true }, isAtEnd: { state: true }, listed: { state: true }, hasRules: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, { focused: null, all: false, others: [], touched: null, isGone: false, job: null, counts: {}, progress: null, isAtEnd: false, listed: null, hasRules: false });
    Object.assign(this, { places: new Map(), skipped: new Set(), reviewed: new Set(), seen: null });
  }

  get shortcuts() {
    return shortcutsOf(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.later);
  }

  // ---- the address: queue, filter, document, label -------------------------------------------------------------------

  get list() {
    return this.querySelector("ml-documents");
  }

  /** The address of a document in the present queue. */
  addressOf(number) {
    const parameters = new URLSearchParams(this.parameters);
    parameters.set("document", String(number));
    parameters.delete("label");
    return address({ corpus: this.corpus, view: "review", parameters });
  }

  async opened() {
    if (this.corpus !== this.openCorpus) this.forget();
    if (this.parameters.has("bulk")) await this.openAsked();
    const search = JSON.stringify(searchOf(this.parameters));
    if (search !== this.searched) this.begin(search);
    const number = Number(this.parameters.get("document"));
    if (number && number !== this.document?.number) {
      await this.openDocument(number);
      await this.updateComplete;
      if (document.activeElement?.closest("ml-documents")) this.querySelector("ml-review-document")?.focusLabel();
    }
    if (this.parameters.get("label") && this.visible.some(({ label }) => label === this.parameters.get("label"))) this.focused = this.parameters.get("label");
  }

  updated(changed) {
    super.updated(changed);
    if (changed.get("summary") && this.summary && this.listed === 0) this.reload();
  }

  forget() {
    this.openCorpus = this.corpus;
    Object.assign(this, { document: null, wanted: null, searched: null, counts: {}, listed: null, progress: null, others: [], touched: null, seen: null, saved: "", unsaved: null, conflict: null, undone: [], hasRules: false });
  }

  /** Another list: count its progress anew. */
  begin(search) {
    this.searched = search;
    this.reviewed.clear();
    Object.assign(this, { isAtEnd: false, counted: null });
  }

  /** Count what of the queue is reviewed, and later the documents of every queue. */
  async measure(total) {
    const search = (this.counted = this.searched), { corpus } = this;
    const found = await this.attempt(() => progressOf(corpus, this.parameters, total));
    if (!found || search !== this.searched) return;
    this.progress = found;
    clearTimeout(this.later);
    if (!Object.keys(this.counts).length) this.later = setTimeout(() => this.countQueues(corpus), PAUSE);
  }

  /** Count the documents of every queue, and look whether there are keyword rules to train with. */
  async countQueues(corpus) {
    const [counts, saved] = (await this.attempt(() => Promise.all([countsOf(corpus), get(corpusPath(corpus, "rules"))]))) ?? [{}, { rules: "" }];
    if (corpus === this.corpus) Object.assign(this, { counts, hasRules: saved.rules.trim() !== "" });
  }

  /** The first page of the list is there: open its first document where the address names none. */
  async onFound({ detail: { documents, total } }) {
    this.listed = total;
    if (this.counted !== this.searched) this.measure(total);
    const asked = this.parameters.get("document");
    if (!asked && documents.length && total !== null) await this.inOrder(() => this.show(documents[0].number));
    else if (!documents.length && !asked) Object.assign(this, { document: null, wanted: null });
    this.requestUpdate();
  }

  /** Load the list and the document anew. */
  async reload() {
    this.begin(this.searched);
    this.counts = {};
    await Promise.all([this.list?.reload(), this.refresh()]);
  }

  // ---- the document that is open -------------------------------------------------------------------------------------

  /** Show a document; its labels keep their places as long as it is open. */
  take(document) {
    if (document.number !== this.document?.number) {
      this.places = new Map(sorted(document.labels).map(({ label }, place) => [label, place]));
      Object.assign(this, { all: false, isAtEnd: false, touched: null });
      if (this.conflict?.number !== document.number) this.conflict = null;
    }
    for (const { label } of document.labels) if (!this.places.has(label)) this.places.set(label, this.places.size);
    this.document = document;
    if (document.state === "not reviewed") this.reviewed.delete(document.number);
    this.list?.renew(document);
    if (!this.visible.some(({ label }) => label === this.focused)) this.focused = this.firstFocus();
    this.requestUpdate();
  }

  get ordered() {
    return this.document ? [...this.document.labels].sort((a, b) => this.places.get(a.label) - this.places.get(b.label)) : [];
  }

  get visible() {
    return this.all ? this.ordered : this.ordered.filter((one) => !isMinor(one));
  }

  /** The label to decide about first: what an audit suggests, then what the model does, then the first one. */
  firstFocus() {
    const labels = this.visible;
    return (labels.find(({ suggestion }) => suggestion) ?? labels.find(({ state }) => state === "suggested") ?? labels[0])?.label ?? null;
  }

  /** Open a document and put it into the address. */
  async show(number) {
    const inside = this.isAmongLabels();
    this.focused = null;
    await this.openDocument(number);
    set({ document: number, label: null });
    await this.updateComplete;
    this.list?.show(number);
    if (inside && (this.isAmongLabels() || document.activeElement === document.body)) this.querySelector("ml-review-document").focusLabel();
  }

  /** Whether the keyboard is among the labels: only then may it be moved to another one, and never while something is typed. */
  isAmongLabels() {
    return Boolean(document.activeElement?.closest(".review-labels"));
  }

  async openAgain(number) {
    if (number !== undefined) await this.show(number);
  }

  /** Go to a neighbour in the list. */
  step(by, fits) {
    return this.inOrder(async () => {
      const found = await this.list?.neighbour(by, fits);
      if (found) await this.show(found.number);
      else {
        this.isAtEnd = by > 0;
        this.say(by > 0 ? "This is the end of the queue." : "This is the first document.");
        return;
      }
      const place = this.list.placeOf(found.number) + 1;
      this.say(`Document ${count(place)} of ${count(this.listed)}, ${found.state}. ${counted(this.visible.length, "label")}, in focus: ${this.focused ?? "none"}`);
    });
  }

  /** The row of the document that is open: go on to its labels. */
  onChoose(event) {
    if (event.target.closest("a[aria-current]")) this.querySelector("ml-review-document")?.focusLabel();
  }

  skip() {
    if (this.document) this.skipped.add(this.document.number);
    return this.step(1);
  }

  focusOn(label) {
    this.focused = label;
    set({ label });
  }

  async moveFocus(by) {
    const labels = this.visible, place = labels.findIndex(({ label }) => label === this.focused);
    if (!labels.length) return;
    this.focusOn(labels[(place + by + labels.length) % labels.length].label);
    await this.updateComplete;
    this.querySelector("ml-review-document").focusLabel();
  }

  decideLabel(change) {
    return Object.values(change)[0][0] ? this.onSeen(() => this.decide(change)) : undefined;
  }

  toggle(place) {
    return this.onSeen(async () => {
      const one = this.visible[place];
      if (!one) return;
      this.focusOn(one.label);
      await this.decide({ [one.state === "accepted" ? "reject" : "accept"]: [one.label] });
    });
  }

  /** Decide about the document as a whole, then go to the next one. */
  finish(name) {
    return this.onSeen(async () => {
      if (!WHOLE[name](this.document)) {
        const text = `${this.document.id} would have no label. Accept one (a), or tell that no label applies (0).`;
        this.tell("ml-problem", new Problem(0, { detail: text }));
        return;
      }
      if (await this.decide(WHOLE[name])) this.step(1);
    });
  }

  /** Give the document a label, which may be new. */
  addLabel({ label, isNew }) {
    this.querySelector("ml-review-document").focusLabel();
    return this.onSeen(async () => {
      const by = await this.named();
      if (!by) return;
      if (isNew) {
        const made = await this.attempt(() => post(corpusPath(this.corpus, "labels"), { by, do: "add", label }));
        if (!made) return;
        this.mine.add(made.event);
        this.tell("ml-changed", null);
      }
      if (!(await this.decide({ accept: [label] }))) return;
      this.focusOn(label);
      await this.updateComplete;
      if (this.isAmongLabels()) this.querySelector("ml-review-document").focusLabel();
    });
  }

  decided() {
    if (this.document && this.document.state !== "not reviewed") this.reviewed.add(this.document.number);
    this.querySelector("ml-review-history")?.load();
    this.requestUpdate();
  }

  // ---- what others do ------------------------------------------------------------------------------------------------

  /** Look every few seconds for what others decided. */
  async look() {
    if (this.corpus && document.visibilityState === "visible") {
      try {
        const { events, latest } = await get(corpusPath(this.corpus, "events"), this.seen === null ? { limit: 1 } : { after: this.seen, limit: 100 });
        const fresh = this.seen === null ? [] : events.filter(({ number, by }) => by !== SERVER && !this.mine.has(number));
        Object.assign(this, { seen: latest, isGone: false });
        if (fresh.length) await this.notice(fresh);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.isGone = error.status === 0;
      }
    }
    this.lookAgain(LOOK);
  }

  /** Show what others did, and the rows and the document as they are now. */
  async notice(events) {
    const own = this.user && events.every(({ by }) => by === this.user);
    this.others = [...events, ...this.others].map((event) => (own ? { ...event, by: `${event.by} (you, elsewhere)` } : event)).slice(0, 200);
    this.say(othersInWords(events));
    const numbers = new Set(events.flatMap(({ documents }) => documents)), { number } = this.document ?? {};
    const shown = (this.list?.found ?? []).filter((one) => numbers.has(one.number)).slice(0, 20);
    for (const one of shown) if (one.number !== number) this.list.renew(await this.fetchDocument(one.number));
    if (numbers.has(number)) {
      this.inOrder(() => this.refresh());
      this.touched = events.flatMap(({ first }) => first).filter((one) => one.document === number).map(changeOfEvent);
    }
  }

  // ---- dialogs and jobs ----------------------------------------------------------------------------------------------

  openBulk({ action = queueOf(this.parameters) === "audit" ? "take suggestions" : "accept", label = this.focused } = {}) {
    this.querySelector("ml-review-bulk").open({ action, label });
  }

  /** Another view asks for an action on all documents of a filter: `bulk=accept:label` is the dialog, once. */
  async openAsked() {
    const [, action, label] = /^(accept|reject|clear):(.+)$/s.exec(this.parameters.get("bulk")) ?? [];
    set({ bulk: null });
    await this.updateComplete;
    if (action) this.openBulk({ action, label });
  }

  changeLabel(what) {
    return this.querySelector("ml-label-changes").open(what, this.focused);
  }

  /** A label was renamed or merged: the list and the document show it. */
  async labelsChanged({ text, event }) {
    this.mine.add(event);
    this.saved = text;
    this.say(text);
    this.tell("ml-changed", null);
    await this.reload();
    this.decided();
  }

  retrain(rules = false) {
    return this.querySelector("ml-review-jobs").retrain(rules);
  }

  // ---- what is drawn -------------------------------------------------------------------------------------------------

  bar() {
    if (!this.progress?.total) return html`<p class="review-progress quiet">&nbsp;</p>`;
    const { total, before } = this.progress, done = Math.min(total, before + this.reviewed.size);
    return html`<p class="review-progress"><progress max=${Math.max(1, total)} .value=${done} aria-label="Reviewed documents of the queue"></progress>
      <span class="quiet">${count(done)} of ${counted(total, "document")} reviewed</span></p>`;
  }

  /** What was saved last, where it is seen at any width. */
  savedLine() {
    return html`<span class="review-saved" role="status" title=${this.saved}>${this.saving ? "Saving …" : this.saved ? html`<span class="good">✓ Saved</span> <span dir="auto">${this.saved}</span>` : ""}</span>`;
  }

  head() {
    const { id, split, state, reviewed_by: by, reviewed_at: at } = this.document, place = (this.list?.placeOf(this.document.number) ?? -1) + 1;
    const facts = [by && `by ${by}, ${when(at)}`, split, place && `${count(place)} of ${count(this.listed)}`, this.skipped.has(this.document.number) && state === "not reviewed" && "skipped"];
    return html`<header class="review-head"><h2 dir="auto">${id}</h2><span class="state ${state.replaceAll(" ", "-")}">${stateMark(state)}</span>
      <span class="quiet">${facts.filter(Boolean).join(" · ")}</span>
      <span class="review-steps"><button type="button" @click=${() => this.step(-1)}>Previous ${keyNames("k")}</button><button type="button" @click=${() => this.step(1)}>Next ${keyNames("j")}</button></span></header>`;
  }

  foot() {
    const button = (run, title, key, kind = "") => html`<button type="button" class=${kind} ?disabled=${Boolean(this.unsaved) && key !== "s"} @click=${run}>${title} ${keyNames(key)}</button>`;
    return html`<footer class="review-foot">${button(() => this.finish("confirm"), "Keep labels, next", "Enter", "main")}${button(() => this.finish("takeSuggestions"), "Take suggestions, next", "y")}
      ${button(() => this.finish("none"), "No label applies", "0")}${button(() => this.skip(), "Skip", "s")}${button(() => this.inOrder(() => this.undo()), "Undo", "z")}${this.undone.length ? button(() => this.inOrder(() => this.redo()), "Redo", "Z") : nothing}
      ${this.document.state === "not reviewed" ? nothing : button(() => this.onSeen(() => this.decide(WHOLE.reopen)), "Not reviewed", "u")}${this.savedLine()}</footer>`;
  }

  pane() {
    if (!this.document) return html`<div class="panel empty"><p>${this.listed === 0 ? "" : "Loading …"}</p></div>`;
    const minor = this.ordered.filter(isMinor).length;
    return html`<article class="panel review-pane" aria-label=${`Document ${this.document.id}`}>${this.head()}
      <ml-review-document .corpus=${this.corpus} .document=${this.document} .labels=${this.visible} .minor=${minor} .all=${this.all} .focused=${this.focused} .model=${this.model}
        @focus-label=${({ detail }) => this.focusOn(detail)} @decide=${({ detail }) => this.decideLabel(detail)} @add-label=${({ detail }) => this.addLabel(detail)} @show-all=${({ detail }) => { this.all = detail; }} @change-label=${({ detail }) => this.changeLabel(detail)}></ml-review-document>
      ${this.isAtEnd ? html`<p class="notice" role="status">This is the end of the queue. <button type="button" class="link" @click=${() => this.reload()}>Load it again</button></p>` : nothing}
      ${this.foot()}</article>`;
  }

  empty() {
    const { empty, job } = QUEUES[queueOf(this.parameters)], filtered = this.parameters.size > (this.parameters.has("queue") ? 1 : 0);
    return html`<div class="panel empty"><h2>Nothing here</h2><p>${filtered ? "No document of this queue meets the filter. Remove a condition, or choose another queue." : empty}</p>
      ${job ? html`<button type="button" class="main" ?disabled=${Boolean(this.job)} @click=${() => this.querySelector("ml-review-jobs").start({ kind: job })}>${this.job?.kind === job ? jobInWords(this.job) : job === "audit" ? "Run an audit" : "Choose documents"}</button>` : nothing}
      ${this.saved ? html`<p>${this.savedLine()} <button type="button" @click=${() => this.inOrder(() => this.undo())}>Undo ${keyNames("z")}</button></p>` : nothing}</div>`;
  }

  render() {
    if (!this.parameters) return nothing;
    if (!this.corpus) return html`<h1>Review</h1><div class="empty"><h2>No corpus yet</h2><p>Upload a table with texts under <a href="#/data">Data</a>, and review its labels here.</p></div>`;
    const search = searchOf(this.parameters), isEmpty = this.listed === 0 && !this.document;
    const dialog = { corpus: this.corpus, named: () => this.named() };
    return html`<h1>Review</h1>${queueTools(this)}<ml-chips .parameters=${this.parameters}></ml-chips>
      <ml-review-jobs .corpus=${this.corpus} .model=${this.model} @job-changed=${({ detail }) => { this.job = detail; }} @job-done=${() => this.reload()}></ml-review-jobs>
      <div class="split-view review ${isEmpty ? "is-empty" : ""}">
        <div class="review-queue" @click=${this.onChoose}><ml-documents .corpus=${this.corpus} .filter=${search.filter} .order=${search.order} .label=${search.label} .descending=${search.descending}
          .chosen=${this.document?.number ?? null} .addressOf=${({ number }) => this.addressOf(number)} @found=${this.onFound}></ml-documents></div>
        <div>${notices(this)}${isEmpty ? this.empty() : this.pane()}
          <ml-review-history .corpus=${this.corpus} .user=${this.user} .addressOf=${(number) => this.addressOf(number)} @undo=${({ detail }) => this.inOrder(() => this.undo(detail))}></ml-review-history></div></div>
      <ml-review-bulk .corpus=${dialog.corpus} .named=${dialog.named} .filter=${search.filter} .description=${[QUEUES[queueOf(this.parameters)].title, ...conditions(this.parameters).map(({ text }) => text)].join(" · ")} @bulk-done=${({ detail }) => { this.mine.add(detail.event); this.reload(); this.decided(); }}></ml-review-bulk>
      <ml-label-changes .corpus=${dialog.corpus} .named=${dialog.named} @changed=${({ detail }) => this.labelsChanged(detail)}></ml-label-changes>
      <ml-review-export .corpus=${dialog.corpus} .named=${dialog.named}></ml-review-export>`;
  }
}

customElements.define("ml-review-view", ReviewView);
