// The shortcuts of a review: the whole loop works without a mouse.
import { WHOLE } from "./deciding.js";
import { DECIDED } from "./document.js";

/** The shortcuts of the view, as shortcuts.js takes them. */
export function shortcutsOf(view) {
  const has = () => Boolean(view.document);
  const label = (name) => () => view.decideLabel({ [name]: [view.focused] });
  const focused = () => view.visible.find((one) => one.label === view.focused);
  return [
    { keys: ["j", "ArrowRight"], text: "Next document", run: () => view.step(1) },
    { keys: ["k", "ArrowLeft"], text: "Previous document", run: () => view.step(-1) },
    { keys: ["n"], text: "Next document that is not reviewed", run: () => view.step(1, (one) => one.state === "not reviewed" && !view.skipped.has(one.number)) },
    { keys: ["ArrowDown"], text: "Next label", run: () => view.moveFocus(1), enabled: has },
    { keys: ["ArrowUp"], text: "Previous label", run: () => view.moveFocus(-1), enabled: has },
    { keys: ["a"], text: "Accept the label in focus", run: label("accept"), enabled: () => focused() && focused().state !== "accepted" },
    { keys: ["r"], text: "Reject the label in focus", run: label("reject"), enabled: () => focused() && focused().state !== "rejected" },
    { keys: ["c"], text: "Clear the label in focus: neither accepted nor rejected", run: label("clear"), enabled: () => DECIDED.includes(focused()?.state) },
    ...[..."123456789"].map((key, place) => ({
      keys: [key], shown: place ? [] : ["1", "…", "9"], text: "Accept the label of this place; if it is accepted, reject it", run: () => view.toggle(place), enabled: () => place < view.visible.length,
    })),
    { keys: ["Enter"], text: "Keep the labels of the document as they are, mark it as reviewed, next", run: () => view.finish("confirm"), enabled: has },
    { keys: ["y"], text: "Take the suggestions: add the suggested labels, remove the doubted ones; reviewed, next", run: () => view.finish("takeSuggestions"), enabled: has },
    { keys: ["0"], text: "Reviewed, no label applies; next", run: () => view.finish("none"), enabled: has },
    { keys: ["s"], text: "Skip: leave it for later", run: () => view.skip(), enabled: has },
    { keys: ["u"], text: "Mark as not reviewed", run: () => view.onSeen(() => view.decide(WHOLE.reopen)), enabled: () => has() && view.document.state !== "not reviewed" },
    { keys: ["z"], text: "Undo your last decision", run: () => view.inOrder(() => view.undo()) },
    { keys: ["Z"], text: "Do it again", run: () => view.inOrder(() => view.redo()), enabled: () => view.undone.length > 0 },
    { keys: ["l"], text: "Add a label", run: () => view.querySelector("ml-review-document ml-label-input")?.focus(), enabled: has },
    { keys: ["m"], text: "Show all labels that have a score, or hide them", run: () => { view.all = !view.all; }, enabled: has },
    { keys: ["b"], text: "Change all documents of the queue", run: () => view.openBulk() },
    { keys: ["t"], text: "Retrain", run: () => view.retrain() },
    { keys: ["T"], text: "Retrain with the saved keyword rules before the method", run: () => view.retrain(true), enabled: () => view.hasRules },
    { keys: ["e"], text: "Rename the label in focus", run: () => view.changeLabel("rename"), enabled: focused },
    { keys: ["w"], text: "Merge the label in focus into another one", run: () => view.changeLabel("merge"), enabled: focused },
    { keys: ["x"], text: "Export", run: () => view.querySelector("ml-review-export").open() },
    { keys: ["/"], text: "Search", run: () => view.querySelector("input.search").focus() },
    { keys: ["."], text: "Load the queue again", run: () => view.reload() },
  ];
}
