// <ml-job>: how far a job is, how long it will take, and a button that stops it.
import { LitElement, html, nothing } from "lit";
import { post } from "./api.js";

/** The share of a job that is done, or null where nobody knows. */
export function share(job) {
  const known = (job.progress?.stages ?? []).filter(({ total }) => total);
  return known.length ? known[0].done / known[0].total : null;
}

/** Seconds as people say them. */
export function spoken(seconds) {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

class Job extends LitElement {
  static properties = { job: { attribute: false } };

  createRenderRoot() {
    return this;
  }

  /** The time left, from the time that the part done has taken. */
  left(done) {
    const passed = Date.now() / 1000 - (this.job.started ?? this.job.created);
    return done > 0.03 && passed > 2 ? `, about ${spoken((passed * (1 - done)) / done)} left` : "";
  }

  render() {
    const { job } = this, done = share(job), stage = job.progress?.stages?.at(-1)?.stage;
    const what = [job.kind, job.request?.corpus ?? job.request?.data].filter(Boolean).join(" ");
    return html`<div class="job">
      <span>${what}${stage ? `: ${stage}` : ""}${done === null ? "" : ` ${Math.round(100 * done)} %${this.left(done)}`}</span>
      <progress aria-label=${`Progress of ${what}`} max="1" value=${done ?? nothing}></progress>
      <button type="button" @click=${() => post(`/v1/jobs/${job.id}/cancel`, {})}>Stop</button></div>`;
  }
}

customElements.define("ml-job", Job);
