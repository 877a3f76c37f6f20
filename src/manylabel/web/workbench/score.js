// <ml-score>: the button that scores the documents of a corpus. It is off while they are scored, whoever started that.
import { html } from "lit";
import { runJob } from "./api.js";
import { share } from "./job.js";
import { askThresholds } from "./keep-thresholds.js";
import { View } from "./view.js";

class Score extends View {
  static properties = { ...View.properties, words: { attribute: false }, kind: { attribute: false }, started: { state: true } };

  constructor() {
    super();
    Object.assign(this, { words: "Score the documents", kind: "main", started: null });
  }

  /** The job that scores this corpus, also one that was started elsewhere; undefined for none. */
  get job() {
    return this.jobs?.find(({ kind, request }) => kind === "score" && request.corpus === this.corpus);
  }

  async score() {
    const { corpus } = this, kept = await this.attempt(() => askThresholds(corpus));
    if (!kept) return;
    this.started = corpus;
    const running = runJob({ kind: "score", corpus, ...kept });
    this.tell("ml-job");
    if (await this.attempt(() => running)) this.tell("ml-changed");
    if (this.started === corpus) this.started = null;
  }

  render() {
    const { job } = this, done = job ? share(job) : null, runs = Boolean(job) || this.started === this.corpus;
    return html`<button type="button" class=${this.kind} ?disabled=${runs} title=${runs ? "The documents are being scored already" : "Score each document by a model that did not learn from it"} @click=${this.score}>${
      !runs ? this.words : job?.state === "queued" ? "Scoring … waiting" : done === null ? "Scoring …" : `Scoring … ${Math.round(100 * done)} %`}</button>`;
  }
}

customElements.define("ml-score", Score);
