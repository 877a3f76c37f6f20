// Filters on documents, as parameters of an address and as the server takes them.
//
//   text=road* -bus   split=test   state=not reviewed   by=Ann   any=disagreement   rule=(bus OR tram)
//   is=false negative:parks     how a label relates to a document; repeatable
//   is=false negative at 0.4:parks     the same at another threshold than the saved one
//   score=0.2..0.5:parks        the range of its score; repeatable, either end may be missing

const SIMPLE = { text: "text", split: "split", state: "state", by: "reviewed_by", any: "any_label", rule: "rule" };
const TITLES = { text: "holds", split: "split", state: "state", by: "reviewed by", any: "some label", rule: "rule" };
export const FILTER_NAMES = [...Object.keys(SIMPLE), "is", "score"];

/** "relation:label" in two parts; relations have no colon, labels may. */
function halves(value) {
  const at = value.indexOf(":");
  return [value.slice(0, at), value.slice(at + 1)];
}

/** The filter that the server takes. */
export function filterOf(parameters) {
  const filter = {};
  for (const [name, field] of Object.entries(SIMPLE)) if (parameters.get(name)) filter[field] = parameters.get(name);
  const labels = parameters.getAll("is").map(halves).map(([how, label]) => {
    const [relation, threshold] = how.split(" at ");
    return threshold === undefined ? { label, relation } : { label, relation, threshold: Number(threshold) };
  });
  for (const [range, label] of parameters.getAll("score").map(halves)) {
    const [least, most] = range.split("..").map((end) => (end === "" ? null : Number(end)));
    labels.push({ label, least, most });
  }
  if (labels.length) filter.labels = labels;
  return filter;
}

/** The parameters of a filter alone, without those of the view. */
export function filterParameters(parameters) {
  return new URLSearchParams([...parameters].filter(([name]) => FILTER_NAMES.includes(name)));
}

/** Each condition with words for it and the parameters without it. */
export function conditions(parameters) {
  const pairs = [...parameters];
  return pairs.flatMap(([name, value], place) => {
    if (!FILTER_NAMES.includes(name) || value === "") return [];
    const [first, label] = name === "is" || name === "score" ? halves(value) : [];
    const text = name === "is" ? `${first}: ${label}` : name === "score" ? `score of ${label}: ${first.replace("..", " to ")}` : `${TITLES[name]}: ${value}`;
    return [{ text, without: new URLSearchParams(pairs.filter((_, other) => other !== place)) }];
  });
}

/** The pair of parameters that asks how a label relates to documents, at its saved threshold or at another. */
export const relation = (how, label, threshold = null) => ["is", `${how}${threshold === null ? "" : ` at ${threshold}`}:${label}`];
