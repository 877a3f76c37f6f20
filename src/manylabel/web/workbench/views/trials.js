// Thresholds that are tried and not saved. They stand in the address, so that a link or a reload shows the same:
//
//   try=0.42:parks          the threshold of one label; repeatable
//   all=precision:0.9       for all other labels a precision or recall to reach, or a common threshold (all=threshold:0.4)
//   lock=parks              a label that `all` leaves alone; repeatable

const NAMES = ["try", "all", "lock"];
export const KINDS = { precision: "precision at least", recall: "recall at least", threshold: "the threshold" };

/** Why a value cannot be tried, as the command line words it; "" where it can. A number field is empty where no number was typed. */
export function problemOf(kind, typed, areProbabilities) {
  const value = Number(typed), isNumber = typed.trim() !== "" && Number.isFinite(value), given = isNumber ? `, not ${value}` : "";
  if (kind !== "threshold") return isNumber && value > 0 && value <= 1 ? "" : `The ${kind} must be a number above 0 and up to 1, such as 0.9${given}. Nothing was changed.`;
  if (isNumber && (!areProbabilities || (value >= 0 && value <= 1))) return "";
  return `The threshold must be a number${areProbabilities ? " from 0 to 1, because scores are shown as probabilities" : ""}${given}. Nothing was changed.`;
}

/** "0.42:label" in two parts; numbers have no colon, labels may. */
function halves(value) {
  const at = value.indexOf(":");
  return [value.slice(0, at), value.slice(at + 1)];
}

/** The trial of an address: { tried: Map of label to threshold, all: { kind, value } or null, locked: Set of labels }. */
export function trialOf(parameters) {
  const tried = new Map(parameters.getAll("try").map(halves).map(([number, label]) => [label, Number(number)]).filter(([label, number]) => label && Number.isFinite(number)));
  const [kind, value] = halves(parameters.get("all") ?? ":");
  return { tried, all: kind in KINDS && Number.isFinite(Number(value)) ? { kind, value: Number(value) } : null, locked: new Set(parameters.getAll("lock")) };
}

/** The parameters of an address with another trial. */
export function withTrial(parameters, { tried, all, locked }) {
  const pairs = [...parameters].filter(([name]) => !NAMES.includes(name));
  pairs.push(...[...tried].map(([label, threshold]) => ["try", `${threshold}:${label}`]));
  if (all) pairs.push(["all", `${all.kind}:${all.value}`]);
  pairs.push(...[...locked].map((label) => ["lock", label]));
  return new URLSearchParams(pairs);
}

/** A trial as one text, to compare and to go back to. */
export const written = (trial) => withTrial(new URLSearchParams(), trial).toString();
export const isEmpty = ({ tried, all }) => tried.size === 0 && all === null;

/** What the server is asked to study. */
export function studyBody({ tried, all, locked }) {
  return { tried: Object.fromEntries(tried), ...(all ? { [all.kind]: all.value } : {}), locked: [...locked] };
}

const COUNTS = ["true_positives", "false_positives", "false_negatives"];

/** Counts with precision, recall and F1; null where one is undefined. */
export function metrics({ true_positives: right, false_positives: wrong, false_negatives: missed }) {
  return {
    true_positives: right, false_positives: wrong, false_negatives: missed,
    precision: right + wrong ? right / (right + wrong) : null,
    recall: right + missed ? right / (right + missed) : null,
    f1: right + wrong + missed ? (2 * right) / (2 * right + wrong + missed) : null,
  };
}

/** The figures of several labels together: micro averages. */
export function together(figures) {
  const sums = Object.fromEntries(COUNTS.map((name) => [name, 0]));
  for (const one of figures) for (const name of COUNTS) sums[name] += one[name];
  return metrics(sums);
}

/** The shortest number above `low` and not above `high`: as a threshold it predicts the same as `high`. */
function shortest(low, high) {
  for (let digits = 0; digits < 17; digits += 1) {
    const found = Number((Math.floor(high * 10 ** digits) / 10 ** digits).toFixed(digits));
    if (found > low && found <= high) return found;
  }
  return high;
}

/**
 * The figures of a label by threshold. `points` are those of the server, the highest threshold first; where there are fewer than were asked
 * for, each score has one, and the figures at any threshold are exact.
 */
export class Curve {
  constructor(points, asked, exactFrom) {
    this.points = points;
    this.isComplete = points.length < asked;
    const [first, last] = [points[0].threshold, points.at(-1).threshold];
    const isProbability = last >= 0 && first <= 1;
    this.isProbability = isProbability;
    const none = isProbability && first < 1 ? 1 : first + 0.02 * (first - last || Math.abs(first) || 1);
    const bounds = points.map(({ threshold }, place) => (this.isComplete ? shortest(points[place + 1]?.threshold ?? exactFrom ?? -Infinity, threshold) : threshold));
    /** The thresholds at which figures change, the lowest first; at the last one nothing is predicted. */
    this.positions = [...bounds.filter((bound) => exactFrom === null || bound > exactFrom).reverse(), none];
    this.low = isProbability ? 0 : Math.min(this.positions[0], last);
    this.high = none;
  }

  /** Counts and metrics at a threshold. */
  at(threshold) {
    let found = null;
    for (const point of this.points) {
      if (point.threshold < threshold) break;
      found = point;
    }
    const { true_positives: right, false_negatives: missed } = this.points[0];
    return found ? metrics(found) : metrics({ true_positives: 0, false_positives: 0, false_negatives: right + missed });
  }

  /** The position that is nearest to a threshold. */
  nearest(threshold) {
    return this.positions.reduce((best, one) => (Math.abs(one - threshold) < Math.abs(best - threshold) ? one : best));
  }

  /** The position some steps above a threshold, or below it. */
  step(threshold, steps) {
    const above = this.positions.findIndex((one) => one > threshold), place = above < 0 ? this.positions.length : above;
    const isOne = this.positions[place - 1] === threshold;
    const to = steps > 0 ? place - 1 + steps : (isOne ? place - 1 : place) + steps;
    return this.positions[Math.max(0, Math.min(this.positions.length - 1, to))];
  }
}
