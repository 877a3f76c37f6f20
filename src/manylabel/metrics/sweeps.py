"""Precision, recall and 0/1 loss as functions of one threshold common to all labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import DataError
from manylabel.metrics.counts import LabelMatrix, document_counts, indicator
from manylabel.metrics.label_metrics import ratio


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdSweep:
    """Counts at each threshold, in the order of the thresholds; sweeps of batches can be added.

    `right` and `predicted` are numbers of labels, `exact` is the number of documents with exactly the true label set;
    `true` (labels) and `documents` do not depend on the threshold.
    """

    thresholds: Floats
    right: Ints
    predicted: Ints
    exact: Ints
    true: int
    documents: int

    def __add__(self, other: ThresholdSweep) -> ThresholdSweep:
        if not np.array_equal(self.thresholds, other.thresholds):
            raise DataError("Sweeps can be added only if their thresholds are the same.")
        return ThresholdSweep(
            self.thresholds,
            self.right + other.right,
            self.predicted + other.predicted,
            self.exact + other.exact,
            self.true + other.true,
            self.documents + other.documents,
        )

    @property
    def precision(self) -> Floats:
        """Micro precision at each threshold; 0 where nothing is predicted."""
        return ratio(self.right, self.predicted, 0.0)

    @property
    def recall(self) -> Floats:
        """Micro recall at each threshold; 0 if there are no true labels."""
        return ratio(self.right, np.full_like(self.right, self.true), 0.0)

    @property
    def f1(self) -> Floats:
        """Micro F1 at each threshold."""
        return ratio(2 * self.right, self.predicted + self.true, 0.0)

    @property
    def predicted_cardinality(self) -> Floats:
        """The mean number of predicted labels per document at each threshold; nan without documents."""
        return ratio(self.predicted, np.full_like(self.predicted, self.documents), np.nan)

    @property
    def zero_one_loss(self) -> Floats:
        """The share of documents whose set is not exactly right, at each threshold; nan without documents."""
        return ratio(self.documents - self.exact, np.full_like(self.exact, self.documents), np.nan)


def threshold_sweep(
    Y_true: LabelMatrix, scores: npt.ArrayLike, thresholds: npt.ArrayLike, *, labelled_only: bool = False
) -> ThresholdSweep:
    """The counts of the label sets {label : score ≥ τ} for each threshold τ.

    Source: the curves over τ of Vilar, Castro & Sanchis 2004, Fig. 1 and 2, binary classifiers. One pass over
    the scores (dense: pass a batch of documents at a time and add the sweeps): each score is replaced by the number of
    thresholds it reaches. A document is exactly right from the first threshold above the scores of its other labels to
    the last that all its true labels reach. `labelled_only` leaves out documents without true labels.

    >>> sweep = threshold_sweep([[1, 0], [1, 1]], [[.9, .4], [.8, .3]], [.2, .35, .5])
    >>> sweep.precision
    array([0.75      , 0.66666667, 1.        ])
    >>> sweep.recall.round(3)
    array([1.   , 0.667, 0.667])
    >>> sweep.zero_one_loss
    array([0.5, 1. , 0.5])
    """
    true = indicator(Y_true, "Y_true")
    score, tau = np.asarray(scores, dtype=np.float64), _thresholds(thresholds)
    if score.shape != true.shape:
        raise DataError(f"Y_true and scores must have the same shape, but have {true.shape} and {score.shape}.")
    if np.isnan(score).any():
        raise DataError("Scores must be numbers, but some are nan.")
    if labelled_only:
        keep = np.diff(true.indptr) > 0
        true, score = true[keep], score[keep]
    order = np.argsort(tau, kind="stable")
    reached = np.searchsorted(tau[order], score, side="right")
    positive = true.toarray().astype(np.bool_)
    steps = tau.size
    weakest = np.min(reached, axis=1, where=positive, initial=steps)
    strongest = np.max(reached, axis=1, where=~positive, initial=0)
    separable = strongest < weakest
    starts = np.bincount(strongest[separable], minlength=steps + 1)
    ends = np.bincount(weakest[separable], minlength=steps + 1)
    exact = np.cumsum(starts - ends)[:steps]
    back = np.argsort(order, kind="stable")
    right, predicted = (_reaching(steps_reached, steps) for steps_reached in (reached[positive], reached.reshape(-1)))
    return ThresholdSweep(
        tau, right[back], predicted[back], exact[back].astype(np.int64), int(true.nnz), int(true.shape[0])
    )


def decision_sweep(
    Y_true: LabelMatrix,
    decide: Callable[[float], LabelMatrix],
    thresholds: npt.ArrayLike,
    *,
    labelled_only: bool = False,
) -> ThresholdSweep:
    """The counts of the label sets that any rule predicts at each threshold: `decide(τ)` returns `Y_pred`.

    Source: the curves over τ of Vilar, Castro & Sanchis 2004, Fig. 1 and 2, accumulated posterior
    probability.

    >>> import numpy as np
    >>> scores = np.array([[.9, .4], [.8, .3]])
    >>> sweep = decision_sweep([[1, 0], [1, 1]], lambda tau: (scores >= tau).astype(int), [.2, .35, .5])
    >>> sweep.zero_one_loss
    array([0.5, 1. , 0.5])
    """
    true, tau = indicator(Y_true, "Y_true"), _thresholds(thresholds)
    rows = []
    for value in tau.tolist():
        counts = document_counts(true, decide(value))
        counts = counts.labelled if labelled_only else counts
        exact = (counts.right == counts.true) & (counts.right == counts.predicted)
        rows.append((counts.right.sum(), counts.predicted.sum(), exact.sum()))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    documents = int((np.diff(true.indptr) > 0).sum()) if labelled_only else int(true.shape[0])
    return ThresholdSweep(tau, table[:, 0], table[:, 1], table[:, 2], int(true.nnz), documents)


def _thresholds(values: npt.ArrayLike) -> Floats:
    tau = np.asarray(values, dtype=np.float64)
    if tau.ndim != 1 or np.isnan(tau).any():
        raise DataError("Thresholds must be a list of numbers, none of them nan.")
    return tau


def _reaching(reached: npt.NDArray[np.intp], steps: int) -> Ints:
    """The number of scores that reach each threshold, in ascending order of the thresholds."""
    tally = np.bincount(reached, minlength=steps + 1)
    return tally[::-1].cumsum()[::-1][1:].astype(np.int64)
