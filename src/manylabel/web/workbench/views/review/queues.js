// The queues of a review: which documents, in which order. The filter and order of the address go before those of the queue.
import { corpusPath, post } from "../../api.js";
import { filterOf, filterParameters } from "../../filters.js";

const OPEN = { state: "not reviewed" };

export const QUEUES = {
  open: { title: "Not reviewed", filter: OPEN, order: "id", empty: "Every document of this queue was reviewed." },
  audit: {
    title: "Suggestions of the audit", filter: { any_label: "suggested" }, order: "suggestion", descending: true,
    empty: "No suggestion is open. An audit compares the labels with what models predict for documents that they did not see.", job: "audit",
  },
  next: {
    title: "To label next", filter: { queue: "suggest", ...OPEN }, order: "queue",
    empty: "No documents are chosen yet. Chosen are documents without a label from which a model would learn most.", job: "suggest",
  },
  unlabelled: { title: "Without a label", filter: { any_label: "no true label", ...OPEN }, order: "id", empty: "Every document has a label or was reviewed." },
  uncertain: { title: "Uncertain", filter: OPEN, order: "uncertainty", empty: "Every document of this queue was reviewed." },
  disagreement: {
    title: "Labels and model disagree", filter: { any_label: "disagreement", ...OPEN }, order: "disagreement", descending: true,
    empty: "True and predicted labels agree wherever the document was not reviewed.",
  },
  all: { title: "All documents", filter: {}, order: "id", empty: "No document meets the filter." },
};

export const ORDERS = {
  id: "as in the data", queue: "what to label next", suggestion: "probability of suggestions", uncertainty: "uncertainty", disagreement: "labels in disagreement", score: "score of a label",
};
const HIGH_FIRST = ["suggestion", "disagreement", "score"];

/** The name of the queue of an address: what a filter finds is not narrowed by a queue that nobody asked for. */
export function queueOf(parameters) {
  const asked = parameters.get("queue");
  return asked in QUEUES ? asked : filterParameters(parameters).size ? "all" : "open";
}

/** The label whose scores order the list: that of the address, or the first one of the filter. */
export function orderLabel(parameters) {
  return parameters.get("of") ?? filterOf(parameters).labels?.[0]?.label ?? null;
}

/** Filter, order, label and direction of an address, as the server takes them. */
export function searchOf(parameters) {
  const queue = QUEUES[queueOf(parameters)], label = orderLabel(parameters), asked = parameters.get("order");
  const order = asked in ORDERS && (asked !== "score" || label) ? asked : queue.order;
  const high = order === queue.order ? Boolean(queue.descending) : HIGH_FIRST.includes(order);
  const takesLabel = order === "score" || (label !== null && ["uncertainty", "suggestion"].includes(order));
  return {
    filter: { ...queue.filter, ...filterOf(parameters) }, order, label: takesLabel ? label : null,
    descending: parameters.has("reversed") ? !high : high,
  };
}

const countOf = async (corpus, filter) => (await post(corpusPath(corpus, "search"), { filter, limit: 1 })).total;

/** How many documents the list of an address has whatever their state, and how many of these are reviewed; `listed` is what the list has. */
export async function progressOf(corpus, parameters, listed) {
  const { filter: { state, ...rest } } = searchOf(parameters);
  if (state && state !== OPEN.state) return { total: listed, before: listed };
  const other = await countOf(corpus, state ? rest : { ...rest, ...OPEN });
  return state ? { total: other, before: other - listed } : { total: listed, before: listed - other };
}

/** How many documents each queue has. */
export async function countsOf(corpus) {
  const names = Object.keys(QUEUES), totals = await Promise.all(names.map((name) => countOf(corpus, QUEUES[name].filter)));
  return Object.fromEntries(names.map((name, place) => [name, totals[place]]));
}
