"""Choosing a setting on held-out training documents, for all labels together or for each label.

Methods that end in SVMs of one label against the rest are measured on `forced_labels`: every label with a positive
score, or the best label where no score is positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.data.splits import Split, iterative_split, iterative_stratification
from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics import compute_metrics, label_counts
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import Bools, best_label
from manylabel.parameters import AnyOf, Number, OneOf, Satisfies
from manylabel.progress import stage

VALIDATION = AnyOf(Number(low=0, high=1, open_low=True, open_high=True), Number(low=2, whole=True))
"""A share of the documents to hold out once, or in how many folds each of them is held out once."""

TUNED_FOR = OneOf("jaccard", "micro-f1", "macro-f1", "sample-f1", "f1-of-means", "exact-match")


def is_numbers(value: object) -> bool:
    """Whether the value is a list (or an array) of finite numbers, at least one.

    >>> is_numbers([1, 0.5]), is_numbers([]), is_numbers(["1"]), is_numbers([float("nan")]), is_numbers(3)
    (True, False, False, False, False)
    """
    items = value.ravel().tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, (list, tuple)) or not items:
        return False
    return all(Number().allows(item) and math.isfinite(item) for item in items)


GRID = Satisfies("a list of numbers", is_numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """The quality of several settings, measured on documents they were not trained on."""

    measured: Floats
    """The mean of the metric over the held-out documents, one number per setting."""
    tp: Ints
    """True positives, settings × labels; `fp` and `fn` likewise."""
    fp: Ints
    fn: Ints

    @property
    def best(self) -> int:
        """The setting of the greatest metric; the first of equally good ones."""
        return int(np.argmax(self.measured))

    def f1(self) -> Floats:
        """F1, settings × labels; 0 where a label was neither true nor predicted."""
        wrong = self.fp + self.fn
        return np.asarray(2 * self.tp / np.maximum(2 * self.tp + wrong, 1))

    def best_per_label(self, min_positives: int, allowed: Bools | None = None) -> Ints:
        """The setting of the greatest F1 of each label, the first of equals; `best` for rare labels.

        A label is rare with fewer than `min_positives` documents. `allowed` (settings × labels) marks settings a label
        may take; one that may take none takes `best`.
        """
        f1 = self.f1() if allowed is None else np.where(allowed, self.f1(), -1.0)
        chosen = np.asarray(f1.argmax(axis=0), dtype=np.int64)
        positives = self.tp[0] + self.fn[0]
        return np.where((positives >= min_positives) & (f1.max(axis=0) >= 0), chosen, self.best)


def validation_splits(Y: Csr, validation: float, seed: int) -> list[Split]:
    """Training and held-out rows, stratified by label; none where there are too few documents to hold any out.

    >>> Y = Csr(np.ones((4, 1), dtype=np.int8))
    >>> len(validation_splits(Y, 0.25, 0)), len(validation_splits(Y, 2, 0)), len(validation_splits(Y[:1], 2, 0))
    (1, 2, 0)
    """
    folds = int(validation) if validation >= 2 else 0
    if Y.shape[0] < max(folds, 2):
        return []
    if folds:
        return iterative_stratification(Y, folds, seed)
    train, test = iterative_split(Y, (1 - validation, validation), seed)
    return [(train, test)]


def try_settings(
    what: str,
    settings: Sequence[Any],
    splits: Sequence[Split],
    Y: Csr,
    predictions: Callable[[Ints, Ints], Iterable[Csr]],
    metric: str,
) -> Trials:
    """Hold out the documents of each split and measure the label sets that every setting predicts.

    `predictions(train, test)` yields the predicted label sets of the held-out documents, one matrix per setting and in
    the order of the settings, so that each solution may start from the previous one.
    """
    measured, held_out = np.zeros(len(settings)), 0
    tp, fp, fn = (np.zeros((len(settings), Y.shape[1]), dtype=np.int64) for _ in range(3))
    with stage(what, len(splits) * len(settings)) as advance:
        for train, test in splits:
            held_out += len(test)
            T = Csr(Y[test])
            for place, S in enumerate(predictions(train, test)):
                counts = label_counts(T, S)
                tp[place] += counts.tp
                fp[place] += counts.fp
                fn[place] += counts.fn
                measured[place] += compute_metrics(T, S, [metric])[metric] * len(test)
                advance(1)
    return Trials(measured / max(held_out, 1), tp, fp, fn)


def forced_labels(scores: Floats) -> Csr:
    """{ k : score_k > 0 }, and where no score is positive the label of the greatest (ties: lowest index); 0/1 CSR.

    Source: Godbole & Sarawagi 2004, section 5.5. A score of exactly 0 counts as negative.

    >>> forced_labels(np.array([[0.3, -0.2, 0.1], [-0.5, -0.1, -0.9], [-1.0, 0.0, 0.0]])).toarray().tolist()
    [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    """
    chosen = scores > 0
    empty = ~chosen.any(axis=1)
    chosen[empty] = best_label(scores[empty])
    return Csr(chosen.astype(np.int8))


def forced_sets(model: MultiLabelModel, X: Csr) -> Csr:
    """`forced_labels` of checked documents by a fitted model, in batches bounded in memory."""
    none = Csr(np.zeros((0, model.n_labels_), dtype=np.int8))
    parts = [forced_labels(scores) for _, scores in model.score_in_batches(X)]
    return Csr(sparse.vstack([none, *parts], format="csr"))
