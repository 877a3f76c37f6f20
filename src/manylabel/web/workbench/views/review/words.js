// Decisions in words: of the user before they are saved, and of events as the server keeps them.
import { counted } from "../../view.js";

const DONE = { accept: "accepted", reject: "rejected", clear: "cleared" };
const STATE = { reviewed: "marked as reviewed", "no label applies": "reviewed, no label applies", "not reviewed": "marked as not reviewed" };
const MOST = 3;

/** Some names, and how many there are besides. */
export function some(names) {
  return names.length <= MOST ? names.join(", ") : `${names.slice(0, MOST - 1).join(", ")} and ${names.length - MOST + 1} others`;
}

/** What a user decided about a document: "accepted roads, marked as reviewed". */
export function changeInWords(change) {
  const labels = Object.entries(DONE).flatMap(([name, word]) => (change[name]?.length ? [`${word} ${some(change[name])}`] : []));
  return [...labels, ...(change.state ? [STATE[change.state]] : [])].join("; ");
}

/** One change of a document, as events list it. */
export function changeOfEvent({ label, now }) {
  if (label === null) return now === "reviewed" ? STATE.reviewed : STATE["not reviewed"];
  return now === null ? `cleared ${label}` : `${now} ${label}`;
}

const KINDS = {
  "add label": ({ label }) => `added the label ${label}`,
  "rename label": ({ label, name }) => `renamed ${label} to ${name}`,
  "merge labels": ({ label, into }) => `merged ${label} into ${into}`,
  "retire label": ({ label }) => `retired the label ${label}`,
  bulk: ({ action }) => (action.state ? STATE[action.state] : action.do === "take suggestions" ? "took suggestions" : `${DONE[action.do]} ${action.label}`),
  undo: () => "took a decision back",
};

/** What an event did, and to what. */
export function eventInWords({ kind, detail, changes, first }) {
  const documents = [...new Set(first.map(({ id }) => id))];
  const many = changes > first.length || documents.length > 1;
  const where = many ? `in ${counted(changes, "place")}` : documents.length ? `in ${documents[0]}` : "";
  const what = kind in KINDS ? KINDS[kind](detail) : kind === "decision" ? some([...first].sort((a, b) => (a.label === null) - (b.label === null)).map(changeOfEvent)) || "decided as it was" : kind;
  return `${what} ${where}`.trim();
}

/** Whether a document is what a decision wanted it to be. */
export function isFulfilled(document, change) {
  const states = new Map(document.labels.map(({ label, state }) => [label, state]));
  const have = (names, wanted) => (names ?? []).every((label) => wanted.includes(states.get(label) ?? null));
  return have(change.accept, ["accepted"]) && have(change.reject, ["rejected"]) && have(change.clear, [null, "suggested"])
    && (!change.state || change.state === document.state);
}
