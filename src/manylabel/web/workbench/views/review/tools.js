// The controls above the queue: which queue, search, filter and order. All of them write the address.
import { html, nothing } from "lit";
import { relation } from "../../filters.js";
import { current, go, set } from "../../route.js";
import { count } from "../../view.js";
import { jobInWords } from "./jobs.js";
import { ORDERS, QUEUES, orderLabel, queueOf, searchOf } from "./queues.js";
import "../../label-input.js";

const RELATIONS = ["true", "not true", "predicted", "suggested", "suggested for removal", "imported", "accepted", "rejected", "disagreement", "false positive", "false negative"];
const STATES = ["not reviewed", "reviewed", "no label applies"];
const PAUSE = 250;

/** Begin at the top of the list when what it holds changes. */
const change = (values) => set({ ...values, document: null, label: null });

function addRelation(element, label) {
  const { parameters } = current();
  parameters.append(...relation(element.closest(".filters").querySelector(".relation").value, label));
  parameters.delete("document");
  go({ parameters });
}

let later;
function onSearch(event) {
  const { value } = event.target;
  clearTimeout(later);
  later = setTimeout(() => change({ text: value }), PAUSE);
}

const options = (values, chosen, titleOf = (value) => value) => values.map((value) => html`<option value=${value} ?selected=${value === chosen}>${titleOf(value)}</option>`);

function filterTools(view) {
  const { parameters, summary, corpus } = view, splits = Object.keys(summary?.splits ?? {}), search = searchOf(parameters), label = orderLabel(parameters);
  const orders = Object.keys(ORDERS).filter((one) => one !== "score" || label);
  return html`<details class="filters"><summary>Filter and order</summary><div class="tools">
    <label>Documents where the label is <select class="relation">${options(RELATIONS, "true")}</select></label>
    <ml-label-input .corpus=${corpus} caption="… this one" @choose=${({ detail, target }) => addRelation(target, detail.label)}></ml-label-input>
    ${splits.length > 1 ? html`<label>Split <select @change=${(event) => change({ split: event.target.value })}><option value="">all</option>${options(splits, parameters.get("split"))}</select></label>` : nothing}
    <label>State <select @change=${(event) => change({ state: event.target.value })}><option value="">as in the queue</option>${options(STATES, parameters.get("state"))}</select></label>
    <label>Order <select @change=${(event) => change({ order: event.target.value === QUEUES[queueOf(parameters)].order ? null : event.target.value })}>${options(orders, search.order, (one) => (one === "score" ? `score of ${label}` : ORDERS[one]))}</select></label>
    <label class="choice"><input type="checkbox" .checked=${parameters.has("reversed")} @change=${(event) => change({ reversed: event.target.checked ? "1" : null })}> the other way round</label></div></details>`;
}

/** The queue, the search and the filter. */
export function queueTools(view) {
  const { parameters, counts } = view, queue = queueOf(parameters);
  const title = (name) => (counts[name] === undefined ? QUEUES[name].title : `${QUEUES[name].title} (${count(counts[name])})`);
  return html`<div class="tools review-tools">
    <label>Queue <select class="queue" @change=${(event) => change({ queue: event.target.value, order: null, reversed: null })}>${options(Object.keys(QUEUES), queue, title)}</select></label>
    <label>Search <input type="search" class="search" dir="auto" maxlength="1000" placeholder='words, "phrases", begin*, -without' .value=${parameters.get("text") ?? ""} @input=${onSearch}></label>
    <span class="review-buttons"><button type="button" @click=${() => view.openBulk()}>Change all … <kbd>b</kbd></button>
      <button type="button" @click=${() => view.querySelector("ml-review-export").open()}>Export … <kbd>x</kbd></button>
      <button type="button" class="main" ?disabled=${Boolean(view.job)} @click=${() => view.retrain()}>${view.job?.kind === "retrain" ? jobInWords(view.job) : html`Retrain <kbd>t</kbd>`}</button>
      ${view.hasRules ? html`<button type="button" title="The saved keyword rules come before the method" ?disabled=${Boolean(view.job)} @click=${() => view.retrain(true)}>Retrain with rules <kbd>T</kbd></button>` : nothing}</span></div>
    <div class="review-line">${filterTools(view)}${view.bar()}</div>`;
}
