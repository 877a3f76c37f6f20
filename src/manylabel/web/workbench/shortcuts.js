// Keyboard shortcuts: each view offers its own, and `?` shows those that work now. A key may be two in a row: "g d".

const OFF = "manylabel-no-shortcuts";
const PAUSE = 1_500;
/* milliseconds that the second key of two may take */
const MOVES = /^(j|k|Arrow\w+)$/;
/* keys that go on while they are held down; nothing else is done twice by that */
const offered = new Map();
let first = null, pressed = 0;

/** Offer shortcuts under the name of a view: [{ keys: ["a", "g d"], text: "Accept", run, enabled, shown }]; `shown` are the keys to show instead, none for one of a row. Returns what takes them back. */
export function offer(name, shortcuts) {
  offered.set(name, shortcuts);
  return () => { if (offered.get(name) === shortcuts) offered.delete(name); };
}

export const all = () => [...offered];
export const areOn = () => localStorage.getItem(OFF) === null;

/** Turn shortcuts on or off, for people whose speech or hands press keys by chance; `?` goes on working. */
export function turn(on) {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
}

/** Whether an element takes what is typed. */
function takesText(element) {
  return element?.matches?.("input:not([type=checkbox]):not([type=radio]):not([type=range]):not([type=button]), textarea, select, [contenteditable=true]");
}

/** Whether an element does something of its own with a key: lists and texts scroll, buttons are pressed. */
function needs(element, key) {
  if (key.startsWith("Arrow")) return element?.matches?.("input[type=range], [role=listbox], [role=option], [role=region], [role=tab]");
  if (key === "Enter") return element?.matches?.("button, a[href], summary, [role=option]");
  return key === " " && element?.matches?.("button, summary, input, [role=option]");
}

/** The shortcut of a key, or of two keys in a row; those of the view go before those of the frame. */
function found(key) {
  for (const [, shortcuts] of [...offered].reverse()) {
    const one = shortcuts.find(({ keys, enabled }) => keys.includes(key) && (enabled?.() ?? true));
    if (one) return one;
  }
  return undefined;
}

const begins = (key) => [...offered.values()].some((shortcuts) => shortcuts.some(({ keys }) => keys.some((one) => one.startsWith(`${key} `))));

/** Run the shortcut of a key; keys that are typed into a field, or pressed with Ctrl, Alt or Meta, are left alone. */
export function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.key === "Shift") return;
  const element = event.composedPath()[0];
  if (takesText(element) || needs(element, event.key) || document.querySelector("dialog[open]")) return;
  if (!areOn() && event.key !== "?") return;
  const before = performance.now() - pressed < PAUSE ? first : null;
  const shortcut = (before && found(`${before} ${event.key}`)) ?? found(event.key);
  first = !shortcut && begins(event.key) ? event.key : null;
  pressed = performance.now();
  if (!shortcut && first === null) return;
  event.preventDefault();
  if (!event.repeat || MOVES.test(event.key)) shortcut?.run(event);
}
