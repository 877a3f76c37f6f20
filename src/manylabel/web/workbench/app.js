// <ml-workbench>: the frame around all views: which corpus and view are open, who works here, which jobs run, what went wrong.
import { LitElement, html, nothing } from "lit";
import { Problem, corpusPath, get, setToken, unlessGone } from "./api.js";
import { address, current, go } from "./route.js";
import { all, areOn, offer, onKey, turn } from "./shortcuts.js";
import { keyNames } from "./view.js";
import "./job.js";

const VIEWS = [
  { name: "data", title: "Data", element: "ml-data-view", load: () => import("./views/data.js") },
  { name: "compare", title: "Compare", element: "ml-compare-view", load: () => import("./views/compare.js") },
  { name: "labels", title: "Labels", element: "ml-labels-view", load: () => import("./views/labels.js") },
  { name: "try", title: "Try", element: "ml-try-view", load: () => import("./views/try.js") },
  { name: "review", title: "Review", element: "ml-review-view", load: () => import("./views/review.js") },
  { name: "errors", title: "Errors", element: "ml-errors-view", load: () => import("./views/errors.js") },
  { name: "rules", title: "Rules", element: "ml-rules-view", load: () => import("./views/rules.js") },
];
const LETTERS = { data: "d", compare: "c", labels: "l", try: "t", review: "r", errors: "e", rules: "u" };
const USER = "manylabel-user";
const LOOK = 2_000;

class Workbench extends LitElement {
  static properties = {
    route: { state: true }, corpora: { state: true }, models: { state: true }, summary: { state: true }, user: { state: true },
    jobs: { state: true }, problem: { state: true }, said: { state: true }, view: { state: true }, locked: { state: true }, ready: { state: true },
  };

  constructor() {
    super();
    Object.assign(this, {
      route: current(), corpora: [], models: [], summary: null, user: localStorage.getItem(USER) ?? "", jobs: [], problem: null, said: "",
      view: null, locked: false, ready: false,
    });
  }

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    window.addEventListener("hashchange", () => this.open());
    window.addEventListener("keydown", onKey);
    this.addEventListener("ml-problem", ({ detail }) => { this.problem = detail; });
    this.addEventListener("ml-say", ({ detail }) => { this.said = detail; });
    this.addEventListener("ml-changed", () => this.load());
    this.addEventListener("ml-deleted", () => this.leave());
    this.addEventListener("ml-name", ({ detail }) => this.askName(detail));
    this.addEventListener("ml-job", () => this.look());
    offer("everywhere", [
      { keys: ["?"], text: "Show the shortcuts", run: () => this.showShortcuts() },
      ...VIEWS.map(({ name, title }) => ({ keys: [`g ${LETTERS[name]}`], text: `Open ${title}`, run: () => go({ view: name, parameters: {} }) })),
    ]);
    this.begin();
  }

  /** Load what all views need, then open the view of the address. */
  async begin() {
    await this.load();
    if (this.locked) return;
    this.ready = true;
    await this.open();
    this.look();
  }

  /** The corpora and models there are. */
  async load() {
    try {
      const [corpora, models] = await Promise.all([this.listed(), get("/v1/models")]);
      this.corpora = corpora;
      this.models = models.models;
      this.locked = false;
      if (this.ready) await this.loadSummary();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.locked = error.status === 401;
      this.problem = error;
    }
  }

  /** The corpus of the address was deleted: open another one. */
  async leave() {
    await this.load();
    go({ corpus: this.corpora?.[0] ?? null, view: "data", parameters: {} });
  }

  /** The names of corpora; a server without a data directory has none. */
  async listed() {
    try {
      return (await get("/v1/corpora")).corpora;
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return null;
      throw error;
    }
  }

  async loadSummary() {
    const { corpus } = this.route;
    const found = corpus && this.corpora?.includes(corpus) ? await unlessGone(() => get(corpusPath(corpus))) : null;
    this.summary = found ?? null;
  }

  /** Show the view of the address; an incomplete address is completed. */
  async open() {
    if (!this.ready) return;
    const { corpus, view } = current();
    const known = VIEWS.some(({ name }) => name === view);
    const chosen = corpus ?? this.corpora?.[0] ?? null;
    if (!known || chosen !== corpus) {
      go({ corpus: chosen, view: known ? view : chosen ? "review" : this.corpora ? "data" : "try" }, { replace: true });
      return;
    }
    const before = this.route;
    this.route = current();
    this.problem = null;
    try {
      if (before.corpus !== corpus || !this.summary) await this.loadSummary();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    }
    await this.showView(VIEWS.find(({ name }) => name === view));
  }

  async showView({ name, element, load, title }) {
    try {
      await load();
    } catch {
      this.problem = { message: `The scripts of ${title} could not be loaded. Is the server running? Load the page again.` };
      return;
    }
    if (this.route.view !== name) return; // another view was opened while the scripts of this one were loading
    document.title = `${title} · ${this.route.corpus ?? "no corpus"} · manylabel`;
    if (this.view?.localName !== element) this.view = document.createElement(element);
    this.give();
  }

  /** Hand the view what it shows. */
  give() {
    if (!this.view) return;
    const { corpus, parameters } = this.route;
    Object.assign(this.view, { corpus, parameters, summary: this.summary, user: this.user, models: this.models, jobs: this.jobs });
  }

  updated(changed) {
    if (["summary", "user", "models", "jobs"].some((name) => changed.has(name))) this.give();
  }

  /** Look for jobs that run, more often while there are some, and for new models: one is served a moment after its job. */
  async look() {
    clearTimeout(this.looking);
    if (this.corpora === null) return;
    try {
      const before = this.jobs.length;
      const listed = await Promise.all(["running", "queued"].map((state) => get("/v1/jobs", { state, limit: 20 })));
      const jobs = listed.flatMap((one) => one.jobs);
      if (JSON.stringify(jobs) !== JSON.stringify(this.jobs)) this.jobs = jobs;
      if (this.jobs.length < before) await this.load();
      const { models } = await get("/v1/models");
      if (JSON.stringify(models) !== JSON.stringify(this.models)) this.models = models;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    this.looking = setTimeout(() => this.look(), this.jobs.length ? LOOK / 2 : LOOK * 2);
  }

  showShortcuts() {
    this.querySelector("#shortcuts").showModal();
  }

  rename(name) {
    this.user = name.trim();
    localStorage.setItem(USER, this.user);
  }

  /** Ask for the name of the user; `resolve` is called with it, or with null. */
  askName(resolve) {
    const dialog = this.querySelector("#name");
    dialog.addEventListener("close", () => resolve(this.user || null), { once: true });
    dialog.showModal();
  }

  nameDialog() {
    const keep = (event) => {
      event.preventDefault();
      this.rename(event.target.elements.name.value);
      this.querySelector("#name").close();
    };
    return html`<h2 id="name-title">Who decides?</h2>
      <form @submit=${keep}><p>Decisions are kept with a name and a time, so that people who review together see who did what. There are no accounts.</p>
        <div class="tools"><label>Your name <input name="name" autocomplete="name" maxlength="100" required pattern=".*\\S.*"></label></div>
        <div class="tools"><button class="main">Continue</button><button type="button" @click=${() => this.querySelector("#name").close()}>Cancel</button></div></form>`;
  }

  render() {
    if (this.locked) return this.gate();
    const { corpus, view } = this.route;
    return html`
      <a class="skip" href="#view" @click=${(event) => { event.preventDefault(); this.querySelector("#view").focus(); }}>Skip to the view</a>
      <header class="bar">
        <strong class="brand">manylabel</strong>
        <label class="inline"><span>Corpus</span>
          <select ?disabled=${!this.corpora?.length} @change=${(event) => go({ corpus: event.target.value, parameters: {} })}>
            ${this.corpora?.length ? nothing : html`<option>none yet</option>`}
            ${this.corpora?.map((name) => html`<option value=${name} ?selected=${name === corpus}>${name}</option>`)}
          </select></label>
        <nav aria-label="Views"><ul>${VIEWS.map(({ name, title }) => html`<li>
          <a href=${address({ corpus, view: name })} aria-current=${name === view ? "page" : nothing}>${title}</a></li>`)}</ul></nav>
        <label class="inline"><span>Your name</span> <input class="user" autocomplete="name" maxlength="100" placeholder="your name" .value=${this.user} @change=${(event) => this.rename(event.target.value)}></label>
        <button type="button" class="quiet" aria-label="Shortcuts" title="Shortcuts (?)" @click=${this.showShortcuts}>?</button>
      </header>
      <section class="jobs" aria-label="Jobs">${this.jobs.filter(({ state }) => state === "running").map((job) => html`<ml-job .job=${job}></ml-job>`)}
        ${this.waiting()}</section>
      ${this.problem ? html`<div class="problem" role="alert"><p>${this.problem.message}</p>
        <button type="button" @click=${() => { this.problem = null; }}>Dismiss</button></div>` : nothing}
      <main id="view" tabindex="-1">${this.view ?? html`<p class="quiet">Loading …</p>`}</main>
      <div class="unseen" role="status" aria-live="polite">${this.said}</div>
      <dialog id="shortcuts" aria-labelledby="shortcuts-title">${this.shortcutTable()}</dialog>
      <dialog id="name" aria-labelledby="name-title">${this.nameDialog()}</dialog>`;
  }

  waiting() {
    const queued = this.jobs.filter(({ state }) => state === "queued");
    return queued.length ? html`<span class="quiet">Waiting: ${queued.map(({ kind }) => kind).join(", ")}</span>` : nothing;
  }

  shortcutTable() {
    return html`<form method="dialog" class="dialog-head"><h2 id="shortcuts-title">Shortcuts</h2><button autofocus>Close</button></form>
      ${all().reverse().map(([name, shortcuts]) => shortcuts.length ? html`<h3>${name === "everywhere" ? "Everywhere" : "In this view"}</h3>
        <dl class="keys">${shortcuts.filter(({ shown }) => shown?.length !== 0).map(({ keys, shown, text }) => html`<dt>${(shown ?? keys).map((key) => keyNames(key))}</dt><dd>${text}</dd>`)}</dl>` : nothing)}
      <p><label><input type="checkbox" .checked=${areOn()} @change=${(event) => turn(event.target.checked)}> Shortcuts are on; <kbd>?</kbd> always works</label></p>`;
  }

  /** What asks for the token of a server that needs one. */
  gate() {
    const enter = (event) => {
      event.preventDefault();
      setToken(event.target.elements.token.value.trim());
      this.problem = null;
      this.begin();
    };
    return html`<main class="gate"><h1>manylabel</h1>
      <form @submit=${enter}>
        <label>The token of this server <input name="token" type="password" autocomplete="current-password" required></label>
        <button>Open</button>
        <p class="quiet">Whoever started the server has it, in the file that was given with --token. It is kept until this tab is closed.</p>
      </form></main>`;
  }
}

customElements.define("ml-workbench", Workbench);
