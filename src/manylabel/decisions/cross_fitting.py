"""Decisions about scored documents by rules that did not learn from them: an honest sample of later decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints

if TYPE_CHECKING:
    from manylabel.metrics.targets import TargetMetric

FOLDS = 5
MOST_CELLS = 1 << 20
"""Beyond this many scores, rules are cross-fitted on a sample of the documents, which is enough to compare them."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossFitted:
    """The decisions of one or several candidate rules about documents that they did not learn from.

    A rule that chooses among candidates has one matrix of decisions for each, simpler candidates first, and chooses
    the first whose value of `metric` is within `tolerance` of the best.
    """

    rows: Ints
    """The decided documents, as rows of the scores."""
    folds: Ints
    """The fold of each decided document; the rules that decide it learned from the other folds."""
    decisions: tuple[Csr, ...]
    metric: TargetMetric | None = None
    tolerance: float = 0.0

    def gains(self, Y: Csr, among: Ints) -> Floats:
        """Each candidate's value of the metric on some of the decided documents, negated for a loss."""
        Y_true = Csr(Y[self.rows[among]])
        return np.array([_gain(self.metric, Y_true, Csr(decided[among])) for decided in self.decisions])


def compared_rows(shape: tuple[int, ...], most: int = MOST_CELLS) -> Ints:
    """All rows of scores, or evenly spaced ones if there are more than `most` scores."""
    step = -(-shape[0] * shape[1] // most) or 1
    return np.arange(0, shape[0], step)


def unseen_decisions(tried: Sequence[CrossFitted], Y: Csr) -> tuple[Csr, Csr]:
    """The true and the decided labels of documents, each decided without it: neither the model, nor the thresholds,
    nor the choice among models and rules has seen it.

    `tried` holds the candidate rules of every model that was tried, all on the same documents and folds. For each fold
    the best model and its rule are chosen on the other folds, as training chooses them on all, and decide the fold.
    The chosen value itself would be too high: the best of several candidates is partly the luckiest.

    Source: nested cross-validation, Varma & Simon 2006; without fitting models again, as Tsamardinos, Greasidou &
    Borboudakis 2018.
    """
    first = tried[0]
    kept: list[Csr] = []
    order: list[Ints] = []
    for fold in np.unique(first.folds):
        inside, others = np.flatnonzero(first.folds == fold), np.flatnonzero(first.folds != fold)
        model, candidate = _choose(tried, Y, others)
        kept.append(Csr(tried[model].decisions[candidate][inside]))
        order.append(first.rows[inside])
    return Csr(Y[np.concatenate(order)]), Csr(sparse.vstack(kept, format="csr"))


def _choose(tried: Sequence[CrossFitted], Y: Csr, among: Ints) -> tuple[int, int]:
    """The index of the best model, and that of its simplest rule close to the best, judged on some documents."""
    if len(tried) == 1 and len(tried[0].decisions) == 1:
        return 0, 0
    gains = [one.gains(Y, among) for one in tried]
    model = int(np.argmax([values.max() for values in gains]))
    close = np.flatnonzero(~(gains[model] < gains[model].max() - tried[model].tolerance))
    return model, int(close[0])


def _gain(metric: TargetMetric | None, Y_true: Csr, Y_pred: Csr) -> float:
    from manylabel.metrics.counts import document_counts

    assert metric is not None, "only a rule with a metric has several candidates"
    if metric.k is None:
        return metric.gain(metric.value(Y_true, Y_pred))
    counts = document_counts(Y_true, Y_pred)  # the k best labels were decided, so that recall@k is their recall
    labelled = counts.true > 0
    return float(np.mean(counts.right[labelled] / counts.true[labelled])) if labelled.any() else 0.0
