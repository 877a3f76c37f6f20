// Parts of the view Labels: the columns of its table, the figures of all labels, the bar of tried thresholds, and conflicts.
import { html, nothing } from "lit";
import { relation } from "../filters.js";
import { address } from "../route.js";
import { count, counted, percent, score } from "../view.js";
import { difference } from "./threshold-studio.js";
import { KINDS, isEmpty, together } from "./trials.js";

const SHARES = [["precision", "precision"], ["recall", "recall"], ["f1", "F1"]];
const COUNTS = [["true_positives", "true positives", "true positive"], ["false_positives", "false positives", "false positive"], ["false_negatives", "false negatives", "false negative"]];
const MOST_CHIPS = 12;
export const LOCK_NOTE = "“For all labels” leaves a locked label alone. Locks are part of the address of this page; they are not saved.";

const isMoved = ({ now, saved }) => now !== undefined && now.threshold !== saved.threshold;

/** The columns of the table of all labels; every number opens its documents. */
export function tableColumns({ corpus, parameters, lock }) {
  const opens = (how, row, text) => html`<a href=${address({ corpus, view: "errors", parameters: [relation(how, row.label, isMoved(row) && how !== "true" ? row.now.threshold : null)] })}>${text}</a>`;
  const page = (label) => address({ corpus, view: "labels", parameters: [...parameters, ["label", label]] });
  const figure = (name, title, show, width) => ({ name, title, figure: true, width, value: (row) => row.now?.[name] ?? null, cell: (row) => (row.now ? show(row) : "–") });
  const changed = (row, name, isShare) => (isMoved(row) && difference(row.now[name], row.saved[name], isShare) ? html` <small class="change">${difference(row.now[name], row.saved[name], isShare)}</small>` : nothing);
  const opened = { precision: "predicted", recall: "true", f1: "disagreement" };
  return [
    { name: "label", title: "label", width: "min(13rem, 40vw)", value: ({ label }) => label, cell: ({ label }) => html`<a href=${page(label)} title=${label}>${label}</a>` },
    { name: "documents", title: "documents", figure: true, width: "7.6rem", value: ({ documents }) => documents, cell: (row) => opens("true", row, count(row.documents)) },
    { name: "threshold", title: "threshold", figure: true, width: "8.5rem", value: ({ now, threshold }) => now?.threshold ?? threshold, cell: (row) => thresholdCell(row) },
    ...SHARES.map(([name, title]) => figure(name, title, (row) => html`${changed(row, name, true)} ${opens(opened[name], row, percent(row.now[name]))}`, "7.1rem")),
    ...COUNTS.map(([name, title, how]) => figure(name, title, (row) => html`${changed(row, name, false)} ${opens(how, row, count(row.now[name]))}`, "7rem")),
    { name: "lock", title: "lock", width: "5rem", cell: ({ label, isLocked, now }) => (now ? html`<button type="button" class="lock" aria-pressed=${String(isLocked)} aria-label=${`Lock ${label}`} title=${LOCK_NOTE} @click=${() => lock(label)}>${isLocked ? "✓ locked" : "lock"}</button>` : nothing) },
  ];
}

function thresholdCell(row) {
  if (!row.now) return score(row.threshold);
  if (!row.reached) return html`<span title="No threshold reaches the target for this label; it keeps its own."><small class="change">not reached</small> ${score(row.saved.threshold)}</span>`;
  return isMoved(row) ? html`<s class="quiet">${score(row.saved.threshold)}</s> <strong>${score(row.now.threshold)}</strong>` : score(row.now.threshold);
}

/** The figures of all labels together, at the tried and at the saved thresholds; `how` says where the scores come from. */
export function allFigures(rows, how) {
  if (!rows) return html`<p class="quiet" role="status">Loading the figures …</p>`;
  const all = [...rows.values()], now = together(all.map((one) => one.now)), saved = together(all.map((one) => one.saved)), isSame = all.every((row) => !isMoved(row));
  const tile = (title, name, show, isShare) => html`<div><dt>${title}</dt><dd>${show(now[name])} ${difference(now[name], saved[name], isShare) ? html`<small class="change">${difference(now[name], saved[name], isShare)}</small>` : nothing}</dd>
    ${isSame ? nothing : html`<dd>saved: ${show(saved[name])}</dd>`}</div>`;
  return html`<dl class="figures all" aria-label="All labels together, micro averages">${SHARES.map(([name, title]) => tile(`micro ${title}`, name, percent, true))}${COUNTS.map(([name, title]) => tile(title, name, count, false))}</dl>
    <p class="quiet how-measured">By ${how}, each label at its threshold. Training prints another figure, the quality to expect on new documents: it is measured on documents that the thresholds were not learned on either.</p>`;
}

/** What takes back the thresholds that this user saved last. */
export function undoSaveButton(view) {
  return view.lastSave ? html`<button type="button" @click=${() => view.undo(view.lastSave.number, "The last save was undone.")}>Undo the last save</button>` : nothing;
}

/** What writes the saved thresholds into a model. */
export function versionButton(view, isBlocked = false) {
  return html`<button type="button" ?disabled=${isBlocked} title=${isBlocked ? "Save the thresholds first" : "Write the saved thresholds into a model"} @click=${() => view.querySelector("ml-model-version").open()}>Save as a new model version …</button>`;
}

/** The thresholds that are tried, each with a button that takes it back, and what to do with all of them. */
export function saveBar(view, { trial, changed, drop, save, back }) {
  const { past, future } = view, { tried, all, locked } = trial, none = isEmpty(trial);
  const without = (label) => new Map([...tried].filter(([name]) => name !== label));
  const chip = (text, remove) => html`<li class="chip"><span dir="auto">${text}</span><button type="button" aria-label=${`Take back: ${text}`} @click=${remove}>×</button></li>`;
  return html`<section class="save-bar" aria-label="Tried thresholds">
    ${none ? nothing : html`<ul class="chips" aria-label="Tried">${all ? chip(`all labels: ${KINDS[all.kind]} ${score(all.value)}`, () => drop({ ...trial, all: null })) : nothing}
      ${[...tried].slice(0, MOST_CHIPS).map(([label, threshold]) => chip(`${label}: ${score(threshold)}`, () => drop({ ...trial, tried: without(label) })))}
      ${tried.size > MOST_CHIPS ? html`<li class="quiet">and ${counted(tried.size - MOST_CHIPS, "other")}</li>` : nothing}</ul>`}
    <div class="tools"><button type="button" class="main" ?disabled=${!changed} @click=${save}>Save ${counted(changed, "threshold")}</button>
      <button type="button" ?disabled=${none} @click=${back}>Back to the saved ones</button>
      <button type="button" ?disabled=${!past.length} @click=${() => view.travel(past, future)}>Undo</button><button type="button" ?disabled=${!future.length} @click=${() => view.travel(future, past)}>Redo</button>
      ${none ? undoSaveButton(view) : nothing}${versionButton(view, !none)}
      ${locked.size ? html`<span class="quiet">${counted(locked.size, "label")} locked</span>` : nothing}</div></section>`;
}

/** What someone else changed before this user saved. */
export function conflictList(conflict, save, dismiss) {
  if (!conflict) return nothing;
  return html`<section class="problem conflict" role="alert" aria-label="Conflict"><div><p>${conflict.message}</p>
    ${conflict.changes.length ? html`<table><thead><tr><th scope="col">label</th><th scope="col" class="figure">saved before</th><th scope="col" class="figure">saved now</th><th scope="col" class="figure">yours</th></tr></thead>
      <tbody>${conflict.changes.slice(0, 20).map(({ label, before, after, mine }) => html`<tr><th scope="row" dir="auto">${label}</th><td class="figure">${score(before)}</td><td class="figure">${score(after)}</td><td class="figure">${score(mine)}</td></tr>`)}</tbody></table>
      ${conflict.changes.length > 20 ? html`<p>and ${counted(conflict.changes.length - 20, "other label")}</p>` : nothing}` : html`<p>No threshold differs; labels were added, renamed or scored again.</p>`}
    <div class="tools"><button type="button" class="main" @click=${save}>Save mine over it</button><button type="button" @click=${dismiss}>Look first</button></div></div></section>`;
}
