// What a reviewer must know before going on: decisions that are not saved, changes of others, a server that is gone.
import { html, nothing } from "lit";
import { counted, when } from "../../view.js";
import { changeInWords, changeOfEvent, some } from "./words.js";

/** Events of other people in one sentence per person: "Ann changed 3 documents". */
export function othersInWords(events) {
  const by = new Map();
  for (const event of events) {
    const one = by.get(event.by) ?? { documents: new Set(), more: 0, labels: 0 };
    event.first.forEach(({ document }) => one.documents.add(document));
    one.more += Math.max(0, event.changes - event.first.length);
    one.labels += event.kind.includes("label") ? 1 : 0;
    by.set(event.by, one);
  }
  return [...by].map(([name, { documents, more, labels }]) => {
    const parts = [];
    if (documents.size) parts.push(more ? `more than ${counted(documents.size, "document")}` : counted(documents.size, "document"));
    if (labels) parts.push(counted(labels, "label"));
    return `${name} changed ${parts.join(" and ") || "something"}`;
  }).join("; ");
}

const changesOf = (changes) => html`<ul>${changes.map((one) => html`<li><strong>${one.by}</strong> <span dir="auto">${changeOfEvent(one)}</span> <span class="quiet">${when(one.at)}</span></li>`)}</ul>`;

function conflictNotice(view) {
  const { id, change, changes } = view.conflict, names = [...new Set(changes.map(({ by }) => by))];
  return html`<section class="notice bad" role="alert" aria-label="Not saved: someone else was faster">
    <p><strong>Not saved:</strong> <span dir="auto">${id}: ${changeInWords(change)}</span>. <span dir="auto">${names.join(" and ") || "Someone"}</span> changed the document after you saw it, and nothing was overwritten.</p>
    ${changes.length ? changesOf(changes) : nothing}
    <p class="quiet">The document is shown as it is now.</p>
    <div class="tools"><button type="button" @click=${() => { view.conflict = null; }}>Keep it as it is</button>
      <button type="button" @click=${() => view.insist()}>Decide this all the same</button></div></section>`;
}

function unsavedNotice(view) {
  const { id, change, why } = view.unsaved;
  return html`<section class="notice bad" role="alert" aria-label="Not saved">
    <p><strong>Not saved:</strong> <span dir="auto">${id}: ${changeInWords(change)}</span>. ${why}</p>
    <div class="tools"><button type="button" class="main" ?disabled=${view.saving} @click=${() => view.again()}>Try again</button>
      <button type="button" @click=${() => { view.unsaved = null; }}>Drop it</button></div></section>`;
}

/** All notices that hold now. */
export function notices(view) {
  return html`${view.unsaved ? unsavedNotice(view) : nothing}${view.conflict ? conflictNotice(view) : nothing}
    ${view.isGone && !view.unsaved ? html`<p class="notice" role="status">The server cannot be reached. Nothing can be saved until it runs again; it is looked for every few seconds.</p>` : nothing}
    ${view.others.length ? html`<p class="notice" role="status"><span dir="auto">${othersInWords(view.others)}.</span> ${view.touched ? html`<span dir="auto">In this document: ${some(view.touched)}.</span>` : nothing} <button type="button" class="link" @click=${() => { Object.assign(view, { others: [], touched: null }); }}>Understood</button></p>` : nothing}`;
}
