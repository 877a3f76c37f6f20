// What all views have in common. They are drawn into the page itself, so that one style sheet holds for all of them.
import { LitElement, html } from "lit";
import { Problem } from "./api.js";
import { offer } from "./shortcuts.js";

/**
 * A view of the workbench. The shell sets `corpus` (its name, or null), `summary` (what the server tells of it), `parameters`
 * (URLSearchParams of the address; a view reads its state from them and changes it with `set` or `go` of route.js), `user`,
 * `models` and `jobs` (those that run or wait), and calls `opened` whenever corpus or parameters changed.
 */
export class View extends LitElement {
  static properties = {
    corpus: { attribute: false }, summary: { attribute: false }, parameters: { attribute: false }, user: { attribute: false },
    models: { attribute: false }, jobs: { attribute: false }, problem: { state: true },
  };

  createRenderRoot() {
    return this;
  }

  /** The model of the address, that of the corpus, or the first one. */
  get model() {
    const asked = this.parameters?.get("model") ?? this.corpus;
    return this.models?.find(({ name }) => name === asked) ?? this.models?.[0] ?? null;
  }

  /** The shortcuts of this view: [{ keys, text, run, enabled }]. */
  get shortcuts() {
    return [];
  }

  connectedCallback() {
    super.connectedCallback();
    this.takeBack = offer(this.localName, this.shortcuts);
    this.look();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.takeBack();
    clearTimeout(this.looking);
  }

  /** Look at what changes on the server by itself, as soon as the view is shown; `lookAgain` repeats it. */
  look() {}

  lookAgain(pause) {
    clearTimeout(this.looking);
    if (this.isConnected) this.looking = setTimeout(() => this.look(), pause);
  }

  updated(changed) {
    if (changed.has("corpus") || changed.has("parameters")) this.opened();
  }

  /** The address changed: load what it asks for. */
  opened() {}

  /** Do something; what the server refuses is shown above the view. Returns undefined then. */
  async attempt(work) {
    try {
      const result = await work();
      this.tell("ml-problem", null);
      return result;
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      if (!(error instanceof Problem)) throw error;
      this.tell("ml-problem", error);
      return undefined;
    }
  }

  /** The name of the user; the shell asks for it where there is none yet. Resolves to null where it is not given. */
  named() {
    return this.user ? Promise.resolve(this.user) : new Promise((resolve) => { this.tell("ml-name", resolve); });
  }

  /** Tell the shell: "ml-problem" (an error or null), "ml-changed" (the corpus changed), "ml-say" (words for all, also read aloud). */
  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

export const percent = (value, digits = 1) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`);
/** A difference of shares in points, with its sign unless it is 0.0. */
export const points = (value) => `${value > 0.0005 ? "+" : value < -0.0005 ? "−" : ""}${Math.abs(100 * value).toFixed(1)}`;
export const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const score = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(3)).toString());
export const day = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "");
/** The same, without the day where it is today. */
export const when = (seconds) => (seconds && new Date(seconds * 1000).toDateString() === new Date().toDateString()
  ? new Date(seconds * 1000).toLocaleTimeString(undefined, { timeStyle: "short" }) : day(seconds));
const KEYS = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Enter: "⏎" };
/** A shortcut as it is shown: one key, or two in a row. */
export const keyNames = (keys) => (keys === " " ? [keys] : keys.split(" ")).map((key) => html`<kbd>${KEYS[key] ?? key}</kbd>`);
