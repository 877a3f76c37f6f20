// <ml-review-jobs>: train again on what was reviewed and see the gain; look for suggestions; choose what to label next.
import { LitElement, html, nothing } from "lit";
import { Problem, get, runJob } from "../../api.js";
import { address } from "../../route.js";
import { askThresholds } from "../../keep-thresholds.js";
import { count, counted, percent, points, when } from "../../view.js";
import { share } from "../../job.js";

const LOOKS = 30, PAUSE = 300;
const AFTER = {
  retrain: () => "Retrained.",
  audit: ({ suggestions }) => `The audit has ${counted(suggestions ?? 0, "suggestion")}.`,
  suggest: ({ documents }) => `${counted(documents.length, "document")} to label next.`,
};

/** The gain of one metric: before, after, difference with its interval. */
function gainRow(title, { before, after, difference, low, high }) {
  const verdict = low > 0 ? "better" : high < 0 ? "worse" : "no clear difference";
  return html`<tr><th scope="row">${title}</th><td class="figure">${percent(before)}</td><td class="figure">${percent(after)}</td>
    <td class="figure"><strong>${points(difference)}</strong></td><td class="figure">${points(low)} to ${points(high)}</td><td>${verdict}</td></tr>`;
}

const DOING = { retrain: "Retraining", audit: "Auditing", suggest: "Choosing" };

/** What a job is doing and how far it is, for the button that started it. */
export function jobInWords(job) {
  const done = share(job);
  return `${DOING[job.kind]} … ${job.state === "queued" ? "waiting" : done === null ? "" : `${Math.round(100 * done)} %`}`.trim();
}

class ReviewJobs extends LitElement {
  static properties = { corpus: { attribute: false }, model: { attribute: false }, job: { state: true }, result: { state: true }, problem: { state: true } };

  constructor() {
    super();
    Object.assign(this, { corpus: null, model: null, job: null, result: null, problem: null });
  }

  createRenderRoot() {
    return this;
  }

  updated(changed) {
    if (changed.has("corpus") && this.corpus) this.findLast();
  }

  /** The gain of the last training, also after the page was left. */
  async findLast() {
    this.result = null;
    const { corpus } = this;
    try {
      const { jobs } = await get("/v1/jobs", { state: "done", limit: 200 });
      const last = jobs.find(({ kind, request }) => kind === "retrain" && request.corpus === corpus);
      if (last && corpus === this.corpus && !this.job) this.result = { ...last.result, ended: last.ended };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  /** Train the model of the corpus again, with the method of the model in use; behind the saved keyword rules if asked to. */
  async retrain(rules) {
    if (this.job) return;
    const kept = await this.attempt(() => askThresholds(this.corpus));
    if (kept) await this.start({ kind: "retrain", model: this.corpus, method: this.model?.method, ...kept, ...(rules ? { rules } : {}) });
  }

  /** Do something; what the server refuses is shown. */
  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
      return undefined;
    }
  }

  /** Run a job on the corpus and tell when it is done. */
  async start(request) {
    if (this.job) return;
    this.problem = null;
    this.change({ kind: request.kind, state: "queued" });
    setTimeout(() => this.tell("ml-job", null), 100);
    try {
      const result = await runJob({ ...request, corpus: this.corpus }, (job) => this.change(job));
      if (request.kind === "retrain") {
        await this.isServed(request.model);
        this.result = { ...result, ended: Date.now() / 1000, isNew: true };
      }
      this.tell("ml-say", AFTER[request.kind](result));
      this.tell("ml-changed", null);
      this.tell("job-done", { kind: request.kind, result });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error;
    } finally {
      this.change(null);
    }
  }

  /** Wait until the server has loaded the new model, which it does within seconds: evidence is of the new one then. */
  async isServed(name) {
    const before = this.model?.name === name ? this.model.version : null;
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const { models } = await get("/v1/models");
      if (models.some((one) => one.name === name && one.version !== before)) return;
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
    }
  }

  change(job) {
    this.job = job;
    this.tell("job-changed", job);
  }

  gain() {
    const { gain, trained_on: trained, left_out: left = 0, ended, isNew = false } = this.result;
    const without = left ? ` (${count(left)} without a label ${left === 1 ? "was" : "were"} left out)` : "";
    const since = gain ? `${counted(gain.reviewed, "document was", "documents were")} reviewed and ${gain.changed_labels ? counted(gain.changed_labels, "label was", "labels were") : "no label was"} changed since ${gain.since_training ? "the last training" : "the corpus was made"}.` : "";
    return html`<details class="panel review-gain" ?open=${isNew}><summary>Trained ${when(ended)} on ${counted(trained, "document")}${without}. ${since}</summary>
      ${left ? html`<p class="quiet">${left === 1 ? "The document without a label counts" : `The ${count(left)} documents without a label count`} as not labelled yet. If no label applies to ${left === 1 ? "it" : "them"}, choose the queue <a href=${address({ corpus: this.corpus, view: "review", parameters: { queue: "unlabelled" } })}>Without a label</a>, choose <em>Change all</em> → “Mark as reviewed, no label applies”, and retrain.</p>` : nothing}
      ${gain?.micro_f1 ? html`<div class="wide" tabindex="0" role="region" aria-label="Gain"><table><thead><tr><th scope="col">metric</th><th scope="col" class="figure">before</th><th scope="col" class="figure">after</th>
          <th scope="col" class="figure">difference</th><th scope="col" class="figure">95 % interval</th><th scope="col"></th></tr></thead>
        <tbody>${gainRow("micro F1", gain.micro_f1)}${gainRow("macro F1", gain.macro_f1)}</tbody></table></div>
        <p class="quiet">Both against the labels as they are now, on ${count(gain.documents)} documents that the models did not see in training; differences in points.</p>`
        : html`<p class="quiet">There were no scores before it to compare with.</p>`}</details>`;
  }

  render() {
    return html`${this.problem ? html`<div class="problem" role="alert"><p>${this.problem.message}</p><button type="button" @click=${() => { this.problem = null; }}>Dismiss</button></div>` : nothing}
      ${this.result && !this.job ? this.gain() : nothing}`;
  }
}

customElements.define("ml-review-jobs", ReviewJobs);
