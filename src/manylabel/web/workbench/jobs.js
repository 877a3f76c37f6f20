// <ml-jobs>: the latest jobs with their state, what they printed, and buttons that stop them or run them again.
import { html, nothing } from "lit";
import { get, getText, post } from "./api.js";
import { spoken } from "./job.js";
import { View, day } from "./view.js";

const LATEST = 40;
const PAUSE = 2_000;
const SIGNS = { done: "✓", failed: "✕", cancelled: "–", interrupted: "!", running: "▸", queued: "…" };
const RUNS = ["running", "queued"];
const RESUMABLE = ["failed", "cancelled", "interrupted"];

class Jobs extends View {
  static properties = { ...View.properties, jobs: { state: true }, logs: { state: true } };

  constructor() {
    super();
    Object.assign(this, { jobs: null, logs: {} });
  }

  /** Fetch the list, and again while jobs run. */
  async look() {
    const found = await this.attempt(() => get("/v1/jobs", { limit: LATEST }));
    if (found) this.jobs = found.jobs.filter(({ kind, state }) => kind !== "preview" || state !== "done");
    if (this.jobs?.some(({ state }) => RUNS.includes(state))) this.lookAgain(PAUSE);
  }

  async change(job, what) {
    await this.attempt(() => post(`/v1/jobs/${job.id}/${what}`, {}));
    this.tell("ml-job");
    await this.look();
  }

  async showLog(event, { id }) {
    if (!event.target.open) return;
    const text = await this.attempt(() => getText(`/v1/jobs/${id}/log`));
    this.logs = { ...this.logs, [id]: text };
  }

  row(job) {
    const { id, kind, state, request, error, started, ended, created } = job, subject = request.corpus ?? request.data ?? "";
    const log = this.logs[id];
    return html`<li><div class="job-head"><span class="job-state ${state}"><span aria-hidden="true">${SIGNS[state]}</span> ${state}</span>
        <strong>${kind}</strong> <span>${subject}${request.model ? ` → ${request.model}` : ""}</span>
        <span class="quiet">${day(created)}${started && ended ? `, ${spoken(ended - started)}` : ""}</span>
        ${RUNS.includes(state) ? html`<button type="button" aria-label=${`Stop ${kind} ${subject}`} @click=${() => this.change(job, "cancel")}>Stop</button>` : nothing}
        ${RESUMABLE.includes(state) ? html`<button type="button" aria-label=${`Run ${kind} ${subject} again`} @click=${() => this.change(job, "resume")}>Run again</button>` : nothing}</div>
      ${error ? html`<p class="job-error" dir="auto">${error}</p>` : nothing}
      <details @toggle=${(event) => this.showLog(event, job)}><summary>Log<span class="unseen"> of ${kind} ${subject}</span></summary><pre tabindex="0">${log === undefined ? "Loading …" : log || "The job printed nothing."}</pre></details></li>`;
  }

  render() {
    if (this.jobs === null) return html`<div class="placeholder"></div>`;
    if (!this.jobs.length) return html`<p class="quiet">No job has run yet.</p>`;
    return html`<ul class="job-list">${this.jobs.map((job) => this.row(job))}</ul>`;
  }
}

customElements.define("ml-jobs", Jobs);
