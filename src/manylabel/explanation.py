"""The explanation of one prediction: what each term adds to the score of a label, and where it stands in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from manylabel.notebook import MARK_STYLE, html_table, marked_html, signed

Piece = tuple[int, int, int]
"""A stretch of a document: the number of its field, the first character, and the character behind the last."""
MOST_TERMS = 6
"""Terms that `print` and a notebook list per label."""


@dataclass(frozen=True, slots=True)
class TermEvidence:
    """What one term adds to the score of a label."""

    term: str
    contribution: float
    occurrences: tuple[tuple[Piece, ...], ...]
    """The places of the term in the document; none for an absent term, and where documents are no texts."""


@dataclass(frozen=True, slots=True)
class Share:
    """What another label, or a member of an ensemble, adds to the score of a label."""

    name: str
    contribution: float


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Words without which the prediction of a label would change, as the model itself predicts the shortened text."""

    words: tuple[str, ...]
    score: float
    """The score of the label without them, in the units of `LabelExplanation.score`."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A training document that votes."""

    document: int
    """Its number in the training data, counted from 1."""
    similarity: float
    vote: float
    labels: tuple[str, ...]
    terms: tuple[str, ...]
    """The terms that make it similar, the strongest first."""


@dataclass(frozen=True, slots=True)
class LabelExplanation:
    """Why a label is predicted, or is not; `print` and a notebook show the strongest terms."""

    label: str
    predicted: bool
    score: float
    """As `predict_scores` shows it: a probability where the model has probabilities."""
    is_probability: bool
    threshold: float | None
    """What `score` must reach; None for rules without one threshold per label."""
    quantity: str
    """What the contributions add up to: the method's own score, or what it is computed from."""
    total: float
    intercept: float | None
    """The rest of the total; None where contributions were found by removal and add up to nothing."""
    terms: tuple[TermEvidence, ...]
    """The strongest first."""
    labels: tuple[Share, ...] = ()
    members: tuple[Share, ...] = ()
    rules: tuple[str, ...] = ()
    """The keyword rules of the label that match."""
    what_if: WhatIf | None = None
    vector_words: tuple[Share, ...] = ()
    """For a model with an encoder: what the score loses through the vector when a word is taken out, strongest first.
    """

    @property
    def exact(self) -> bool:
        """Whether intercept and contributions add up to the total; otherwise each is what the score loses without."""
        return self.intercept is not None

    @property
    def score_text(self) -> str:
        """Whether the label is predicted, its score and the threshold."""
        threshold = "" if self.threshold is None else f", threshold {self.threshold:.3f}"
        return f"{'predicted' if self.predicted else 'not predicted'} ({self._kind} {self.score:.3f}{threshold})"

    @property
    def no_evidence_text(self) -> str | None:
        """A sentence for a label on which no term and no other label bears; None where there is evidence."""
        if self.terms or self.labels or self.rules:
            return None
        return "No term of the document speaks for or against this label: its score is the same without them."

    @property
    def what_if_text(self) -> str | None:
        """A sentence on the words that the prediction hangs on; None where none were found."""
        if self.what_if is None:
            return None
        words = ", ".join(f"“{word}”" for word in self.what_if.words)
        change = "not be predicted" if self.predicted else "be predicted"
        return f"Without {words} the label would {change} ({self._kind} {self.what_if.score:.3f})."

    @property
    def vector_text(self) -> str | None:
        """A sentence on the words behind the contribution of the vector; None without them."""
        if not self.vector_words:
            return None
        words = ", ".join(f"“{one.name}” {one.contribution:+.3f}" for one in self.vector_words)
        return f"What the score loses through the vector without a word: {words}."

    @property
    def _kind(self) -> str:
        return "probability" if self.is_probability else "score"

    def __str__(self) -> str:
        """The score, the strongest terms with their contributions, and what the prediction hangs on, as lines."""
        terms = [f"  {term.contribution:+7.2f}  {term.term}" for term in self.terms[:MOST_TERMS]]
        return "\n".join([f"{self.label}: {self.score_text}", *terms, *self._notes])

    def _repr_html_(self) -> str:
        """The same for notebooks; `Explanation`, which has the text, also highlights the evidence in it."""
        return self.html_around("")

    def html_around(self, text: str) -> str:
        """The label and its score, then the document as HTML, then the strongest terms and the notes."""
        strongest = {term.term: signed(term.contribution) for term in self.terms[:MOST_TERMS]}
        table = html_table("contributions", strongest) if strongest else ""
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes)
        return f"<p><b>{escape(self.label)}</b>: {escape(self.score_text)}</p>{text}{table}{notes}"

    @property
    def _notes(self) -> list[str]:
        return [note for note in (self.no_evidence_text, self.vector_text, self.what_if_text) if note is not None]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of the prediction for one document, of predicted and of nearly predicted labels.

    A notebook shows it as the text with the evidence highlighted, one label after the other; `print` lists the terms.
    """

    method: str
    fields: tuple[tuple[str | None, str], ...]
    """The fields of the document with their texts; one without a name for a document that is a string."""
    labels: tuple[LabelExplanation, ...]
    """Predicted labels first, then others; in both, those with the highest scores first."""
    neighbours: tuple[Neighbour, ...] = ()
    predicted: tuple[str, ...] = ()
    """All predicted labels, the best first; `labels` may lack some of them where others were asked for."""
    asked: bool = False
    """Whether labels were asked for by name."""

    def __getitem__(self, label: object) -> LabelExplanation:
        """The explanation of one label, by its name or number."""
        for one in self.labels:
            if one.label == str(label):
                return one
        raise KeyError(f"{label!r} is not among the explained labels. Ask for it: explain(text, labels=[{label!r}]).")

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data; positions count characters from 0, `end` is behind the last one."""
        labels = []
        for one in self.labels:
            plain = asdict(one)
            plain["exact"] = one.exact
            if not one.vector_words:
                del plain["vector_words"]
            plain["terms"] = [
                {
                    "term": term.term,
                    "contribution": term.contribution,
                    "occurrences": [[self._place(piece) for piece in pieces] for pieces in term.occurrences],
                }
                for term in one.terms
            ]
            labels.append(plain)
        named = [{"field": name, "text": text} for name, text in self.fields]
        neighbours = [asdict(one) for one in self.neighbours]
        return {"method": self.method, "fields": named, "labels": labels, "neighbours": neighbours}

    def _place(self, piece: Piece) -> dict[str, Any]:
        field, start, end = piece
        return {"field": self.fields[field][0], "start": start, "end": end}

    def __str__(self) -> str:
        """One label after the other, and how to read the contributions."""
        return "\n\n".join([*map(str, self.labels), self.how_text])

    @property
    def how_text(self) -> str:
        """A sentence on how to read the contributions of this method."""
        if all(one.exact for one in self.labels):
            what = sorted({one.quantity for one in self.labels})
            return f"Contributions are exact: with the intercept they add up to the {' or '.join(what)}."
        return (
            f"The score of {self.method} is not a sum over terms. A contribution is what the score loses when the term "
            "is removed from the document; contributions do not add up."
        )

    def _repr_html_(self) -> str:
        """The explanation for notebooks: per label the text with the evidence highlighted and the strongest terms."""
        parts = [f"<style>{MARK_STYLE}</style>"]
        for one in self.labels:
            marked = (marked_html(marked_text(text, number, one.terms)) for number, (_, text) in enumerate(self.fields))
            parts.append(one.html_around("".join(marked)))
        return "".join([*parts, f"<p>{escape(self.how_text)}</p>"])


def marked_text(text: str, field: int, terms: Sequence[TermEvidence]) -> list[tuple[str, float]]:
    """A field's text in stretches, each with what it adds to the score; 0 for stretches without evidence.

    The contribution of a term is divided evenly among its occurrences, and that of an occurrence among its characters,
    so that overlapping terms add up.

    >>> marked_text("late bus", 0, [TermEvidence("bus", 0.5, (((0, 5, 8),),))])
    [('late ', 0.0), ('bus', 0.5)]
    """
    density, bounds = np.zeros(len(text) + 1), {0, len(text)}
    for start, end, weight in _stretches(field, terms):
        density[start] += weight / (end - start)
        density[end] -= weight / (end - start)
        bounds |= {start, end}
    cuts = sorted(bounds)
    levels = np.cumsum(density)
    levels[np.abs(levels) < 1e-12] = 0.0
    return [(text[start:end], float(levels[start] * (end - start))) for start, end in pairwise(cuts) if start < end]


def _stretches(field: int, terms: Sequence[TermEvidence]) -> Iterator[tuple[int, int, float]]:
    for term in terms:
        for pieces in term.occurrences:
            size = sum(end - start for _, start, end in pieces)
            for number, start, end in pieces:
                if number == field:
                    yield start, end, term.contribution / len(term.occurrences) * (end - start) / size
