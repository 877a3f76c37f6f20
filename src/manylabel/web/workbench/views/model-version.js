// <ml-model-version>: a dialog that writes the saved thresholds into a model, as its new version or as a model of another name.
import { LitElement, html, nothing } from "lit";
import { Problem, download, modelFile, runJob } from "../api.js";
import { address } from "../route.js";
import { counted } from "../view.js";

class ModelVersion extends LitElement {
  static properties = { corpus: { attribute: false }, models: { attribute: false }, state: { state: true }, problem: { state: true }, result: { state: true } };

  constructor() {
    super();
    Object.assign(this, { models: [], state: "", problem: null, result: null });
  }

  createRenderRoot() {
    return this;
  }

  async open() {
    Object.assign(this, { state: "", problem: null, result: null });
    await this.updateComplete;
    this.querySelector("dialog").showModal();
  }

  async send(event) {
    event.preventDefault();
    const { model, name } = event.target.elements, job = { kind: "thresholds", corpus: this.corpus, model: model.value };
    if (name.value.trim()) job.name = name.value.trim();
    Object.assign(this, { state: "running", problem: null });
    try {
      this.dispatchEvent(new CustomEvent("started"));
      this.result = await runJob(job);
      this.dispatchEvent(new CustomEvent("written"));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error.message;
    }
    this.state = "";
  }

  async save() {
    try {
      await download(modelFile(this.result.model));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error.message;
    }
  }

  body() {
    if (!this.models?.length) return html`<p>There is no model yet. Train one under <a href=${address({ corpus: this.corpus, view: "compare" })}>Compare</a>.</p>`;
    if (this.result) return html`<p role="status">The model <strong>${this.result.model}</strong> predicts with the saved thresholds now: ${counted(this.result.labels.length, "threshold is", "thresholds are")} new.${this.result.guarantee_lost ? " Its guarantee no longer holds and was removed." : ""}
      <a href=${address({ corpus: this.corpus, view: "try", parameters: { model: this.result.model } })}>Try it</a></p>
      <div class="tools"><button type="button" @click=${this.save}>Download the model</button></div>`;
    const own = this.models.some(({ name }) => name === this.corpus) ? this.corpus : this.models[0].name;
    return html`<p>The saved thresholds of this corpus are written into a model, which is served at once.</p>
      <label>Model <select name="model">${this.models.map(({ name, method }) => html`<option value=${name} ?selected=${name === own}>${name} (${method})</option>`)}</select></label>
      <label>Name of the new model <input name="name" pattern="[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}" placeholder="the same: a new version of it" autocomplete="off" aria-describedby="version-hint"></label>
      <p class="quiet" id="version-hint">Letters, digits, - and _. Without a name, the model itself gets a new version.</p>`;
  }

  render() {
    const can = this.models?.length && !this.result;
    return html`<dialog aria-labelledby="version-title"><form class="change-form" @submit=${this.send}><h2 id="version-title">Save as a new model version</h2>${this.body()}
      ${this.problem ? html`<p class="warning" role="alert">${this.problem}</p>` : nothing}
      <div class="tools">${can ? html`<button class="main" ?disabled=${this.state !== ""}>${this.state ? "Writing …" : "Write the model"}</button>` : nothing}
        <button type="button" @click=${() => this.querySelector("dialog").close()}>Close</button></div></form></dialog>`;
  }
}

customElements.define("ml-model-version", ModelVersion);
