/* A model of manylabel in one file without dependencies, for browsers and Node:

     import { predict, predictScores, labels } from './model.mjs';

     predict('The bus was late.');          // the predicted labels: ['buses']; a list of texts gives a list of lists
     predictScores('The bus was late.');    // one score per label, in the order of `labels`

   `manylabel export` wrote it; manylabel's docs/exporting.md describes the form MODEL. */

const MODEL = null;
const WORD_SIGNS = '';
const STEM = null;
const withoutMarkup = null;

const LIMIT = 700;

/* ---- arrays ---- */

const KINDS = { '<f4': Float32Array, '<f8': Float64Array, '<i4': Int32Array };

function decodeArray(array) {
  const text = atob(array.base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new KINDS[array.type](bytes.buffer);
}

/* The form with typed arrays, row by row, in place of their bytes. */
function decode(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  if (value.base64 !== undefined) return decodeArray(value);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, decode(inner)]));
}

/* Adds amount × row of a table, dense or sparse, to the sums. */
function addRow(table, row, amount, sums) {
  if (table.starts === undefined) {
    const start = row * sums.length;
    for (let k = 0; k < sums.length; k++) sums[k] += amount * table[start + k];
  } else {
    for (let i = table.starts[row]; i < table.starts[row + 1]; i++) sums[table.columns[i]] += amount * table.values[i];
  }
}

const form = { ...decode({ ...MODEL, blocks: null }), blocks: MODEL.blocks.map(decode) };
const components = MODEL.blocks.map((block) => (block.loadings === null ? 0 : block.loadings.shape[0]));

/** The names of the labels, in the order of the scores. */
export const labels = MODEL.labels;
const settings = MODEL.text;
const columnOf = new Map(MODEL.terms.map((term, column) => [term, column]));
const stopWords = new Set(settings.stop_words);

/* ---- texts → terms ---- */

/* One bit per code point: whether regular expressions of Python take it for a word character. */
const wordBits = new Uint8Array(0x110000 / 8);
{
  let at = 0, inside = false;
  for (const run of WORD_SIGNS.split(' ')) {
    const end = at + parseInt(run, 36);
    if (inside) for (let sign = at; sign < end; sign++) wordBits[sign >> 3] |= 1 << (sign & 7);
    [at, inside] = [end, !inside];
  }
}

const isWord = (sign) => (wordBits[sign >> 3] >> (sign & 7)) & 1;
const inRanges = (ranges, sign) => ranges.some(([low, high]) => low <= sign && sign <= high);
const isMark = (sign) => sign > 0x2ff && inRanges(settings.marks, sign);
const isSpaceless = (sign) => sign > 0xdff && inRanges(settings.spaceless, sign);

/* The runs of at least `shortest` characters for which `isInside`. */
function runs(text, isInside, shortest) {
  const found = [];
  let start = 0, length = 0;
  for (let i = 0; i < text.length; ) {
    const sign = text.codePointAt(i), next = i + (sign > 0xffff ? 2 : 1);
    if (isInside(sign)) {
      if (length++ === 0) start = i;
    } else {
      if (length >= shortest) found.push(text.slice(start, i));
      length = 0;
    }
    i = next;
  }
  if (length >= shortest) found.push(text.slice(start));
  return found;
}

const isLetterSign = (sign) => (sign >= 97 && sign <= 122) || (sign >= 65 && sign <= 90);

/* Pairs of neighbouring characters in scripts without spaces, words elsewhere. */
function pairs(text) {
  const signs = Array.from(text, (sign) => sign.codePointAt(0)), found = [];
  const isPart = (sign) => isWord(sign) || isMark(sign);
  const isLetter = (sign) => !isSpaceless(sign) && isPart(sign);
  for (let i = 0; i + 1 < signs.length; i++) {
    if (isSpaceless(signs[i])) {
      if (isSpaceless(signs[i + 1])) found.push(String.fromCodePoint(signs[i], signs[i + 1]));
    } else if (isLetter(signs[i]) && (i === 0 || isSpaceless(signs[i - 1]) || !isPart(signs[i - 1]))) {
      let end = i + 1;
      while (end < signs.length && isLetter(signs[end])) end++;
      if (end - i >= 2) found.push(String.fromCodePoint(...signs.slice(i, end)));
    }
  }
  return found;
}

const SPLITTERS = {
  words: (text) => runs(text, isWord, 2),
  letters: (text) => runs(text, isLetterSign, 1),
  marked: (text) => runs(text, (sign) => isWord(sign) || isMark(sign), 2),
  pairs,
};

const BLANKS = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

function characterRuns(text, shortest, longest, withinWords) {
  const plain = text.replace(new RegExp(`[${BLANKS}]{2,}`, 'g'), ' '), found = [];
  const cut = (signs, n) => {
    for (let at = 0; at + n <= signs.length; at++) found.push(signs.slice(at, at + n).join(''));
  };
  if (!withinWords) {
    const signs = Array.from(plain);
    for (let n = shortest; n <= longest; n++) cut(signs, n);
    return found;
  }
  for (const word of plain.split(new RegExp(`[${BLANKS}]+`)).filter((one) => one !== '')) {
    const signs = Array.from(` ${word} `);
    for (let n = shortest; n <= longest; n++) {
      cut(signs, Math.min(n, signs.length));
      if (signs.length <= n) break;
    }
  }
  return found;
}

function withoutAccents(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  const decomposed = text.normalize('NFKD');
  if (settings.strip_accents === 'ascii') return decomposed.replace(/[^\x00-\x7f]/g, '');
  return Array.from(decomposed).filter((sign) => !inRanges(settings.combining, sign.codePointAt(0))).join('');
}

function terms(document) {
  const text = typeof document === 'string' ? document : Object.values(document).join('\n');
  let plain = settings.strip_markup ? withoutMarkup(text) : text;
  if (settings.lowercase) plain = plain.toLowerCase();
  if (settings.strip_accents !== null) plain = withoutAccents(plain);
  const [shortest, longest] = settings.ngram_range;
  if (settings.analyzer !== 'word') return characterRuns(plain, shortest, longest, settings.analyzer === 'char_wb');
  let words = SPLITTERS[settings.tokens](plain).filter((word) => !stopWords.has(word));
  if (STEM !== null) words = words.map(stemOf);
  if (longest === 1) return words;
  const found = [];
  for (let n = shortest; n <= longest; n++) {
    for (let at = 0; at + n <= words.length; at++) found.push(words.slice(at, at + n).join(' '));
  }
  return found;
}

/* Words repeat, so their stems are kept, up to a number of words. */
const stems = new Map();

function stemOf(word) {
  let stem = stems.get(word);
  if (stem === undefined) {
    // Characters beyond the basic plane count as one letter: they are replaced by a sign of one unit, and put back.
    const large = word.match(/[\u{10000}-\u{10ffff}]/gu) ?? [];
    stem = STEM(large.length ? word.replace(/[\u{10000}-\u{10ffff}]/gu, '\ue000') : word);
    if (large.length) stem = stem.replace(/\ue000/g, () => large.shift());
    if (stems.size < 100000) stems.set(word, stem);
  }
  return stem;
}

/* ---- terms → scores ---- */

/* The columns of the known terms, ascending, and how often each occurs. */
function count(text) {
  const found = new Map();
  for (const term of terms(text)) {
    const column = columnOf.get(term);
    if (column !== undefined) found.set(column, (found.get(column) ?? 0) + 1);
  }
  const columns = Int32Array.from(found.keys()).sort();
  return { columns, values: Float64Array.from(columns, (column) => found.get(column)) };
}

function divideByLength(values, norm) {
  let length = 0;
  for (const value of values) length += norm === 'l1' ? Math.abs(value) : value * value;
  if (norm === 'l2') length = Math.sqrt(length);
  return length > 0 ? values.map((value) => value / length) : values;
}

function weigh(document, weighting) {
  if (weighting === null) return document;
  const { columns } = document;
  let values = document.values;
  if (weighting.tf === 'log') values = values.map((value) => 1 + Math.log(value));
  if (weighting.tf === 'binary') values = values.map(() => 1);
  if (weighting.idf !== null) values = values.map((value, i) => value * weighting.idf[columns[i]]);
  if (weighting.norm !== null) values = divideByLength(values, weighting.norm);
  if (!values.includes(0)) return { columns, values };
  return { columns: columns.filter((_, i) => values[i] !== 0), values: values.filter((value) => value !== 0) };
}

/* Calls `visit(row, amount)` for each row of the weights that a document reads. */
function readRows(block, { columns, values }, visit) {
  if (block.values !== 'bins') {
    const amounts = block.values === 'unit' ? divideByLength(values, 'l2') : values;
    columns.forEach((column, i) => visit(column, block.values === 'presence' ? 1 : amounts[i]));
    return;
  }
  const { n_bins: size, low, high, rows, amount, absence } = block.bins;
  columns.forEach((column, i) => {
    const [from, to] = [low[column], high[column]], width = (to - from) / (size - 1);
    const inside = Math.min(Math.max(values[i], from), Math.max(from, to)) - from;
    const bin = 1 + (width > 0 ? Math.min(Math.max(Math.floor(inside / width), 0), size - 2) : 0);
    const stride = rows.length / low.length, away = rows[column * stride], row = rows[column * stride + bin];
    if (absence && away >= 0) visit(away, -1);
    if (row >= 0) visit(row, amount === 'one' ? 1 : amount === 'bin' ? bin : values[i]);
  });
}

function blockScores(block, n_components, document) {
  const sums = new Float64Array(labels.length), part = new Float64Array(n_components);
  readRows(block, weigh(document, block.weighting), (row, amount) => {
    addRow(block.weights, row, amount, sums);
    if (n_components > 0) addRow(block.background, row, amount, part);
  });
  part.forEach((amount, row) => addRow(block.loadings, row, amount, sums));
  const scores = sums.map((sum, k) => sum + block.intercept[k]);
  return block.is_posterior ? posteriors(scores) : scores;
}

const greatest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

function posteriors(joint) {
  const highest = greatest(joint);
  const powers = joint.map((score) => (highest === -Infinity ? 0 : Math.exp(score - highest)));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / (total === 0 ? 1 : total));
}

const clip = (value) => Math.min(Math.max(value, -LIMIT), LIMIT);
const opened = (score, kind) => (kind === 'posterior' ? clip(Math.log(score) - Math.log1p(-score)) : score);

/* The scores that the decision rule reads. */
function rawScores(document) {
  const combination = form.combination;
  if (combination === null) return blockScores(form.blocks[0], components[0], document);
  const scores = Float64Array.from(combination.intercept), n = labels.length;
  form.blocks.forEach((block, m) => {
    const own = blockScores(block, components[m], document);
    for (let k = 0; k < n; k++) {
      const score = opened(own[k], block.score_kind), weight = combination.weights[m * n + k];
      scores[k] += (Math.abs(score) === Infinity ? clip(score) : score) * weight;
    }
  });
  return scores.map((score, k) => (Number.isNaN(combination.constant[k]) ? score : combination.constant[k]));
}

/* ---- scores → labels ---- */

const kind = MODEL.score_kind;
const floor = kind === 'posterior' ? 0 : -Infinity;
const sigmoid = (score) => (score === -Infinity ? 0 : 1 / (1 + Math.exp(-clip(score))));
const onOpenScale = (scores) => scores.map((score) => (score > floor ? opened(score, kind) : -Infinity));

function curveLogOdds(curves, scores) {
  return scores.map((score, k) => {
    if (score === -Infinity) return score;
    return clip(Math.min(Math.max(score, -1e300), 1e300) * curves.slopes[k] + curves.intercepts[k]);
  });
}

function shownScores(raw) {
  const shown = form.shown;
  if (shown.curve === 'none') return raw;
  if (shown.curve === 'sigmoid') return raw.map(sigmoid);
  let scores = onOpenScale(raw);
  if (shown.curve === 'logistic') return curveLogOdds(shown, scores).map(sigmoid);
  if (scores.includes(Infinity)) scores = scores.map((score) => (score === Infinity ? 0 : -Infinity));
  return posteriors(scores.map((score) => score * shown.factor));
}

/* The columns of the labels, the highest score first. */
const ranked = (raw) => Array.from(raw.keys()).sort((a, b) => raw[b] - raw[a] || a - b);

function accumulated(rule, raw) {
  const order = ranked(raw), sums = [];
  const possible = order.filter((column) => raw[column] > 0).length;
  if (rule.log_tail) {
    let after = 0;
    for (let i = order.length - 1; i >= 0; i--) {
      sums[i] = -Math.log(after);
      after += raw[order[i]];
    }
  } else {
    order.reduce((before, column, i) => (sums[i] = before + raw[column]), 0);
  }
  const wanted = rule.log_tail ? -rule.threshold : rule.threshold;
  if (!rule.log_tail && wanted >= 1) return order.slice(0, possible);
  return order.slice(0, Math.min(sums.filter((sum) => sum < wanted).length + 1, possible));
}

function bestSet(rule, raw) {
  const { sets } = rule, odds = curveLogOdds(rule.curves, onOpenScale(raw));
  const held = Array.from(rule.log_dependence, (_, t) => sets.columns.slice(sets.starts[t], sets.starts[t + 1]));
  const logs = held.map((set, t) => set.reduce((sum, column) => sum + odds[column], 0) + rule.log_dependence[t]);
  const highest = greatest(logs);
  if (highest === -Infinity) return [];
  let values = logs;
  const weights = logs.map((log) => Math.exp(log - highest));
  if (rule.metric === 'hamming-loss') {
    const total = weights.reduce((a, b) => a + b, 0), sums = new Float64Array(labels.length);
    held.forEach((set, t) => set.forEach((column) => (sums[column] += weights[t])));
    values = held.map((set) => set.reduce((sum, column) => sum + 2 * sums[column] - total, 0));
  } else if (rule.metric === 'sample-f1') {
    values = expectedF1(held, weights);
  }
  let best = -1;
  values.forEach((value, t) => {
    if (logs[t] !== -Infinity && (best < 0 || value > values[best])) best = t;
  });
  return Array.from(held[best]);
}

function expectedF1(held, weights) {
  const bySize = new Map();
  held.forEach((set, t) => {
    if (!bySize.has(set.length)) bySize.set(set.length, new Float64Array(labels.length));
    set.forEach((column) => (bySize.get(set.length)[column] += weights[t]));
  });
  const sums = new Map();
  for (const size of bySize.keys()) {
    const sum = new Float64Array(labels.length);
    for (const [other, own] of bySize) own.forEach((weight, k) => (sum[k] += weight * (2 / (size + other || 1))));
    sums.set(size, sum);
  }
  return held.map((set, t) => {
    const sum = sums.get(set.length);
    return set.length === 0 ? weights[t] : set.reduce((total, column) => total + sum[column], 0);
  });
}

function chosen(rule, raw) {
  if (rule.rule === 'top-k') return ranked(raw).slice(0, rule.k);
  if (rule.rule === 'accumulated-posterior') return accumulated(rule, raw);
  if (rule.rule === 'seen-sets') return bestSet(rule, raw);
  return Array.from(raw.keys()).filter((k) => {
    const score = rule.log_odds ? opened(raw[k], kind) : raw[k];
    return rule.strict ? score > rule.thresholds[k] : score >= rule.thresholds[k];
  });
}

/* The columns of the predicted labels, ascending. */
function decide(document, raw) {
  const rule = form.decision;
  const best = raw.indexOf(greatest(raw));
  if (rule.rule === 'best-label') return [best];
  if (!rule.labels_empty && document.values.length === 0) return [];
  const found = chosen(rule, raw).filter((column) => raw[column] > floor);
  if (rule.at_least_one && found.length === 0 && raw[best] > floor) return [best];
  return found.sort((a, b) => a - b);
}

const read = (text) => weigh(count(text), form.weighting);

/** The predicted labels of a text; of a list of texts, a list of such lists. */
export function predict(text) {
  if (Array.isArray(text)) return text.map(predict);
  const document = read(text);
  return decide(document, rawScores(document)).map((column) => labels[column]);
}

/** The score of each label for a text, a Float64Array in the order of `labels`; of a list of texts, a list of such. */
export function predictScores(text) {
  if (Array.isArray(text)) return text.map(predictScores);
  return shownScores(rawScores(read(text)));
}
