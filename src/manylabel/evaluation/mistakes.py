"""Wrong predictions: which labels are taken for which, and the single mistakes that are worst."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.estimator import Csr, Floats

MOST_PAIRS = 500
"""Up to this many confused pairs are listed."""
MOST_MISTAKES, PER_LABEL = 10, 2
"""How many wrong and how many missed labels are listed, and how many of these are the same label."""
CANDIDATES = 400
"""How many of each kind are kept while batches come in, so that enough are left for other labels and documents."""


@dataclass(frozen=True, slots=True)
class Confusion:
    """A label that documents miss and another that they wrongly get."""

    missed: str
    wrong: str
    documents: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """A label that a document wrongly gets, with a high score, or misses, with a low one."""

    row: int
    """The number of the document, counted from 0."""
    label: str
    missed: bool
    score: float
    """In the units shown to users."""


def confusions(Y_true: Csr, Y_pred: Csr, names: Sequence[str], most: int = MOST_PAIRS) -> tuple[Confusion, ...]:
    """Pairs of a label that documents miss and another that they wrongly get, with the number of such documents.

    >>> confusions(Csr([[1, 0], [1, 0], [1, 1]]), Csr([[0, 1], [0, 1], [1, 1]]), ["corn", "wheat"])
    (Confusion(missed='corn', wrong='wheat', documents=2),)
    """
    missed, wrong = _missed_and_wrong(Y_true, Y_pred)
    table = (missed.T @ wrong).tocoo()
    order = np.lexsort((table.col, table.row, -table.data))[:most]
    rows, columns, counts = (part[order].tolist() for part in (table.row, table.col, table.data))
    return tuple(Confusion(names[a], names[b], int(n)) for a, b, n in zip(rows, columns, counts, strict=True))


def _missed_and_wrong(Y_true: Csr, Y_pred: Csr) -> tuple[Csr, Csr]:
    """The true labels that are not predicted, and the predicted labels that are not true."""
    true: Any = Y_true.astype(np.int64)
    predicted: Any = Y_pred.astype(np.int64)
    right = true.multiply(predicted)
    missed, wrong = Csr(true - right), Csr(predicted - right)
    missed.eliminate_zeros()
    wrong.eliminate_zeros()
    return missed, wrong


class WorstMistakes:
    """Collects the worst mistakes of batches: wrong labels with the highest and missed ones with the lowest scores."""

    def __init__(self, label_names: Sequence[str]) -> None:
        self.names = list(label_names)
        self.wrong: list[Mistake] = []
        self.missed: list[Mistake] = []

    def add(self, start: int, Y_true: Csr, Y_pred: Csr, scores: Floats) -> None:
        """Take in a batch whose first document has the number `start`; labels without a finite score are left out."""
        missed, wrong = _missed_and_wrong(Y_true, Y_pred)
        self.wrong = self._worst(self.wrong, start, wrong, scores, missed=False)
        self.missed = self._worst(self.missed, start, missed, scores, missed=True)

    def _worst(self, kept: list[Mistake], start: int, cells: Csr, scores: Floats, *, missed: bool) -> list[Mistake]:
        rows, columns = cells.nonzero()
        values = scores[rows, columns]
        finite = np.flatnonzero(np.isfinite(values))
        order = finite[np.argsort(values[finite] if missed else -values[finite], kind="stable")][:CANDIDATES]
        new = [
            Mistake(start + row, self.names[column], missed, value)
            for row, column, value in zip(
                rows[order].tolist(), columns[order].tolist(), values[order].tolist(), strict=True
            )
        ]
        return sorted([*kept, *new], key=lambda one: one.score if missed else -one.score)[:CANDIDATES]

    def finish(self, most: int = MOST_MISTAKES, per_label: int = PER_LABEL) -> list[Mistake]:
        """The worst wrong and then the worst missed labels, at most one of each kind per document."""
        return [*_varied(self.wrong, most, per_label), *_varied(self.missed, most, per_label)]


def _varied(ordered: Sequence[Mistake], most: int, per_label: int) -> list[Mistake]:
    """The first mistakes of different documents, at most `per_label` with the same label."""
    chosen: list[Mistake] = []
    labels: Counter[str] = Counter()
    rows: set[int] = set()
    for one in ordered:
        if len(chosen) < most and labels[one.label] < per_label and one.row not in rows:
            chosen.append(one)
            labels[one.label] += 1
            rows.add(one.row)
    return chosen
