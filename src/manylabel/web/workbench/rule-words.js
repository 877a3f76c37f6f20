// The words of keyword rules: how labels are written in a line, which words a query looks for, and where they stand in a text.

/** A label as it is written before the colon: in quotes where it needs them. */
export function writtenLabel(label) {
  const plain = label.trim() === label && label && !label.includes(":") && !'"#'.includes(label[0]);
  return plain ? label : `"${label.replace(/[\\"]/g, "\\$&")}"`;
}

/** The words, beginnings of words and phrases that a query wants: lists of [letters, whether it is a beginning]. */
function wantedWords(query) {
  const tokens = query.match(/"(?:\\.|[^"\\])*"|\(|\)|(?:\\.|[^\s()"\\])+/g) ?? [], found = [];
  const depth = [];
  let negated = false;
  for (const token of tokens) {
    if (token === "(") {
      depth.push(negated);
      continue;
    }
    if (token === ")") negated = depth.pop() ?? false;
    else if (token === "NOT") negated = !negated;
    else if (token !== "AND" && token !== "OR" && !negated) found.push(token.replace(/^"|"$/g, "").split(/\s+/).filter(Boolean).map(wordOf));
    if (token !== "NOT") negated = depth.at(-1) ?? false;
  }
  return found.filter((words) => words.length);
}

function wordOf(written) {
  const isBeginning = /(^|[^\\])\*$/.test(written);
  return [(isBeginning ? written.slice(0, -1) : written).replace(/\\(.)/g, "$1").toLowerCase(), isBeginning];
}

/** Where the words that a query wants stand in a text: marks for <ml-marked-text>. */
export function wordMarks(query, text) {
  const wanted = wantedWords(query), words = [...text.matchAll(/[\p{L}\p{N}_]+/gu)].map((found) => [found[0].toLowerCase(), found.index]);
  const is = (place, [letters, isBeginning]) => place < words.length && (isBeginning ? words[place][0].startsWith(letters) : words[place][0] === letters);
  return words.flatMap(([, start], place) => wanted.filter((phrase) => phrase.every((word, step) => is(place + step, word)))
    .map((phrase) => ({ start, end: words[place + phrase.length - 1][1] + words[place + phrase.length - 1][0].length, weight: 1 })));
}

/** The part of a text around the first mark, with the marks in it. */
export function excerpt(text, marks, length) {
  const wanted = Math.max(0, Math.floor((marks[0]?.start ?? 0) - length / 3)), from = wanted ? text.indexOf(" ", wanted) + 1 || wanted : 0;
  const last = text.lastIndexOf(" ", from + length), to = from + length >= text.length ? text.length : last > from + length / 2 ? last : from + length;
  const inside = marks.filter(({ start, end }) => start >= from && end <= to).map((mark) => ({ ...mark, start: mark.start - from, end: mark.end - from }));
  return { text: text.slice(from, to), marks: inside, begins: from === 0, ends: to >= text.length };
}

/** Words that are frequent in some texts and rare in others, the best first. */
export function distinctiveWords(texts, others, most) {
  const shares = (all) => {
    const counts = new Map();
    for (const text of all) for (const word of new Set(text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])) counts.set(word, (counts.get(word) ?? 0) + 1);
    return (word) => (counts.get(word) ?? 0) / Math.max(1, all.length);
  };
  const here = shares(texts), there = shares(others), words = new Set(texts.flatMap((text) => text.toLowerCase().match(/\p{L}{3,}/gu) ?? []));
  return [...words].map((word) => [word, here(word) - 2 * there(word)]).filter(([, lead]) => lead > 0.04).sort((a, b) => b[1] - a[1]).slice(0, most).map(([word]) => word);
}
