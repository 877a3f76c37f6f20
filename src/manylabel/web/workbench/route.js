// The address of a view: `#/CORPUS/VIEW?parameters`. All state that is worth sharing or coming back to stands in it.

/** A part of an address decoded; as it stands where a `%` does not begin a code of UTF-8, as in a hand-written `50%`. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The corpus, view and parameters of an address. */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decoded);
  const [corpus, view] = parts.length > 1 ? parts : [null, parts[0] ?? null];
  return { corpus, view, parameters: new URLSearchParams(query) };
}

export const current = () => parse(location.hash);

/** The address of a view; `parameters` are pairs, an object or URLSearchParams, and empty ones are left out. */
export function address({ corpus, view, parameters = {} }) {
  const pairs = parameters instanceof URLSearchParams ? [...parameters] : Array.isArray(parameters) ? parameters : Object.entries(parameters);
  const kept = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(kept).toString();
  const path = [corpus, view].filter(Boolean).map(encodeURIComponent).join("/");
  return `#/${path}${query ? `?${query}` : ""}`;
}

/** Go to a view; parts that are not given stay. `replace`: without a step in the history. */
export function go(change, { replace = false } = {}) {
  const to = address({ ...current(), ...change });
  if (to === location.hash) return;
  if (!replace) location.hash = to;
  else {
    history.replaceState(null, "", to);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

/** Set some parameters of the present view; null removes one. */
export function set(changes, options = { replace: true }) {
  const { parameters } = current();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") parameters.delete(name);
    else parameters.set(name, String(value));
  }
  go({ parameters }, options);
}
