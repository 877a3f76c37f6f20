// <ml-label-changes>: dialogs that add, rename, merge and retire labels. Fires "changed" with { text, event, label }: `label` is the page to open
// then, null for none, and undefined where the page stays.
import { LitElement, html, nothing } from "lit";
import { Problem, corpusPath, post } from "../api.js";
import { counted } from "../view.js";
import "../label-input.js";

class LabelChanges extends LitElement {
  static properties = { corpus: { attribute: false }, named: { attribute: false }, what: { state: true }, label: { state: true }, documents: { state: true }, target: { state: true }, problem: { state: true } };

  createRenderRoot() {
    return this;
  }

  /** Open a dialog: "add", "rename", "merge" or "retire", of a label with some documents; a merge may name its target. */
  async open(what, label = "", documents = undefined, target = null) {
    const by = await this.named();
    if (!by) return;
    Object.assign(this, { by, what, label, documents, target, problem: null });
    await this.updateComplete;
    const dialog = this.querySelector("dialog");
    for (const input of dialog.querySelectorAll("input[name=name]")) input.value = what === "rename" ? label : "";
    dialog.showModal();
  }

  async send(event) {
    event.preventDefault();
    const { what, label } = this, given = event.target.elements.name?.value.trim();
    const to = what === "rename" ? given : what === "merge" ? this.target : null, named = what === "add" ? given : label;
    try {
      const done = await post(corpusPath(this.corpus, "labels"), { by: this.by, do: what, label: named, to });
      this.querySelector("dialog").close();
      const texts = { add: `Added the label “${named}”.`, rename: `Renamed “${label}” to “${to}”.`, merge: `Merged “${label}” into “${to}”.`, retire: `Retired “${label}”.` };
      const page = { add: undefined, rename: to, merge: to, retire: null }[what];
      this.dispatchEvent(new CustomEvent("changed", { detail: { text: texts[what], event: done.event, label: page } }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem = error.message;
    }
  }

  body() {
    const { what, label } = this, documents = this.documents === undefined ? "its documents" : counted(this.documents, "document"), named = html`<strong dir="auto">${label}</strong>`;
    if (what === "add") return html`<p>The new label has no documents and no threshold until you accept it in Review and score the documents again.</p><label>Name <input name="name" required maxlength="2000" autocomplete="off"></label>`;
    if (what === "rename") return html`<p>${named} gets another name. Documents, scores and threshold stay.</p><label>New name <input name="name" required maxlength="2000" autocomplete="off" dir="auto"></label>`;
    if (what === "retire") return html`<p>${named} is taken from ${documents} and offered no more. You can undo this.</p>`;
    return html`<p>All documents of ${named} (${documents}) get the label below instead, and ${named} is offered no more. You can undo this.</p>
      <ml-label-input caption="Merge into" .corpus=${this.corpus} .without=${label} @choose=${({ detail }) => { this.target = detail.label; }}></ml-label-input>
      <p>${this.target ? html`Merge into <strong dir="auto">${this.target}</strong>.` : html`<span class="quiet">Choose the label to merge into.</span>`}</p>`;
  }

  render() {
    const titles = { add: ["Add a label", "Add"], rename: ["Rename a label", "Rename"], merge: ["Merge a label", "Merge"], retire: ["Retire a label", "Retire"] };
    const [title, verb] = titles[this.what] ?? ["", ""];
    return html`<dialog aria-labelledby="change-title">${this.what ? html`<form class="change-form" @submit=${this.send}><h2 id="change-title">${title}</h2>${this.body()}
      ${this.problem ? html`<p class="warning" role="alert">${this.problem}</p>` : nothing}
      <div class="tools"><button class="main" ?disabled=${this.what === "merge" && !this.target}>${verb}</button><button type="button" @click=${() => this.querySelector("dialog").close()}>Cancel</button></div></form>` : html`<h2 id="change-title">Labels</h2>`}</dialog>`;
  }
}

customElements.define("ml-label-changes", LabelChanges);
