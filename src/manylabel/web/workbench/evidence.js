// Explanations of the server as marks in texts.
import { inUtf16 } from "./marked-text.js";

const WEAK = 0.05;
/* terms that contribute less than this share of the strongest are not marked: a text with every word marked cannot be read */

/** The marks of a label's explanation in one field of the document. */
export function marksOf(explained, field, text) {
  const least = WEAK * explained.terms.reduce((most, { contribution }) => Math.max(most, Math.abs(contribution)), 0);
  const marks = explained.terms.filter(({ contribution }) => Math.abs(contribution) >= least).flatMap(({ contribution, occurrences }) =>
    occurrences.flatMap((pieces) => pieces.filter((piece) => piece.field === field).map(({ start, end }) => ({ start, end, weight: contribution }))));
  return inUtf16(text, marks);
}

/** A sentence on the words without which the prediction would change; null where none were found. */
export function whatIf(explained) {
  if (!explained.what_if) return null;
  const words = explained.what_if.words.map((word) => `“${word}”`).join(", ");
  return `Without ${words} the label would ${explained.predicted ? "not be predicted" : "be predicted"}.`;
}

/** How to read the contributions of a label. */
export function howToRead(explained) {
  if (!explained.terms.length) return "No term of the document speaks for or against this label: its score is the same without them.";
  return explained.exact
    ? `Contributions are exact: with the rest they add up to the ${explained.quantity}. Weak ones are not marked.`
    : "The score is not a sum over terms: a contribution is what the score loses when the term is removed. Weak ones are not marked.";
}
