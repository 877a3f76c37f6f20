// Keyboard shortcuts: each view offers its own, and `?` shows those that work now.

const offered = new Map();

/** Offer shortcuts under the name of a view: [{ keys: ["a"], text: "Accept", run }]. Returns what takes them back. */
export function offer(name, shortcuts) {
  offered.set(name, shortcuts);
  return () => { if (offered.get(name) === shortcuts) offered.delete(name); };
}

export const all = () => [...offered];

/** Whether an element takes what is typed. */
function takesText(element) {
  return element?.matches?.("input:not([type=checkbox]):not([type=radio]):not([type=range]):not([type=button]), textarea, select, [contenteditable=true]");
}

/** Run the shortcut of a key; keys that are typed into a field, or pressed with Ctrl, Alt or Meta, are left alone. */
export function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
  if (takesText(event.composedPath()[0]) || document.querySelector("dialog[open]")) return;
  const range = event.composedPath()[0]?.matches?.("input[type=range], [role=listbox], [role=option]");
  for (const [, shortcuts] of [...offered].reverse()) {
    const found = shortcuts.find(({ keys, enabled }) => keys.includes(event.key) && (enabled?.() ?? true));
    if (!found || (range && event.key.startsWith("Arrow"))) continue;
    event.preventDefault();
    found.run(event);
    return;
  }
}
