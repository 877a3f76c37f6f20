// Asks, before documents are scored anew, what becomes of the thresholds that users saved: they are kept, or learned anew.
import { html, render } from "lit";
import { corpusPath, get } from "./api.js";
import { counted } from "./view.js";

/** What the job has to be told about saved thresholds; null where the user gives it up. Asks only where there are some. */
export async function askThresholds(corpus) {
  const { saved_thresholds: saved } = await get(corpusPath(corpus));
  return saved ? ask(saved) : {};
}

function ask(saved) {
  const dialog = document.createElement("dialog"), one = saved === 1, them = one ? "it" : "them";
  dialog.className = "work keep-thresholds";
  dialog.setAttribute("aria-labelledby", "keep-title");
  document.querySelector("ml-workbench").append(dialog);
  return new Promise((resolve) => {
    const end = (choice) => { dialog.remove(); resolve(choice); };
    dialog.addEventListener("cancel", () => end(null));
    render(html`<h2 id="keep-title">${counted(saved, "saved threshold")} would be replaced</h2>
      <p>New scores come with new thresholds. Keep ${one ? "the saved one" : "the saved ones"} if the method stays the same: other methods have scores on another scale.</p>
      <div class="tools"><button type="button" class="main" autofocus @click=${() => end({ keep_thresholds: true })}>Keep ${them}</button>
        <button type="button" @click=${() => end({})}>Replace ${them}</button><button type="button" class="quiet" @click=${() => end(null)}>Cancel</button></div>`, dialog);
    dialog.showModal();
  });
}
