"""Precision–recall and ROC curves of many labels: one a label, pooled (micro) and averaged (macro), as arrays.

Micro pools every pair of a document and a label as if they were documents of one label. Macro averages the labels'
curves over the labels that have both a positive and a negative document; curves of different labels have points at
different places, so they are read off at common ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Floats
from manylabel.exceptions import DataError
from manylabel.metrics.counts import LabelMatrix, indicator
from manylabel.metrics.curves import (
    PrecisionRecallCurve,
    RocCurve,
    average_precision,
    precision_recall_curve,
    roc_auc,
    roc_curve,
)

Scores = npt.ArrayLike | sparse.sparray
GRID = 101


def precision_recall_curves(T: LabelMatrix, scores: Scores) -> list[PrecisionRecallCurve]:
    """`precision_recall_curve` of each label.

    >>> [curve.recall.tolist() for curve in precision_recall_curves([[1, 0], [0, 1]], [[.9, .1], [.5, .2]])]
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return [precision_recall_curve(truth, column) for truth, column in _columns(T, scores)]


def roc_curves(T: LabelMatrix, scores: Scores) -> list[RocCurve]:
    """`roc_curve` of each label.

    >>> [curve.true_positive_rate.tolist() for curve in roc_curves([[1, 0], [0, 1]], [[.9, .1], [.5, .2]])]
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    return [roc_curve(truth, column) for truth, column in _columns(T, scores)]


def micro_precision_recall_curve(T: LabelMatrix, scores: Scores) -> PrecisionRecallCurve:
    """The curve of all documents × labels pooled: what one threshold common to all labels can reach.

    >>> micro_precision_recall_curve([[1, 0], [0, 1]], [[.9, .1], [.5, .2]]).precision.round(3).tolist()
    [1.0, 0.5, 0.667, 0.5]
    """
    return precision_recall_curve(*_pooled(T, scores))


def micro_roc_curve(T: LabelMatrix, scores: Scores) -> RocCurve:
    """The ROC curve of all documents × labels pooled."""
    return roc_curve(*_pooled(T, scores))


def micro_average_precision(T: LabelMatrix, scores: Scores) -> float:
    """`average_precision` of all documents × labels pooled."""
    return average_precision(*_pooled(T, scores))


def micro_roc_auc(T: LabelMatrix, scores: Scores) -> float:
    """`roc_auc` of all documents × labels pooled."""
    return roc_auc(*_pooled(T, scores))


def macro_precision_recall_curve(
    T: LabelMatrix, scores: Scores, recall: npt.ArrayLike | None = None
) -> PrecisionRecallCurve:
    """The mean over labels of the interpolated precision at each recall of a grid, 0, 0.01, …, 1 unless given.

    Interpolated precision at recall r is the largest precision at any recall from r on. Source: Manning, Raghavan &
    Schütze 2008, section 8.4 (there eleven points). Labels have thresholds of their own: nan. Without a label that has
    both a positive and a negative document, precision is nan.

    >>> T, scores = [[1, 0], [0, 1], [0, 0]], [[.9, .3], [.5, .2], [.1, .1]]
    >>> macro_precision_recall_curve(T, scores, [0.0, 1.0]).precision.tolist()
    [0.75, 0.75]
    """
    grid = np.linspace(0.0, 1.0, GRID) if recall is None else np.asarray(recall, dtype=np.float64)
    curves = [precision_recall_curve(truth, column) for truth, column in _columns(T, scores) if _has_both(truth)]
    total = np.full(len(grid), 0.0 if curves else np.nan)
    for curve in curves:
        best_from_here = np.maximum.accumulate(curve.precision[::-1])[::-1]
        # recall rises to 1, so every point of the grid has a point of the curve at or behind it
        total += best_from_here[np.searchsorted(curve.recall, np.minimum(grid, 1.0), side="left")]
    return PrecisionRecallCurve(np.full(len(grid), np.nan), total / max(len(curves), 1), grid)


def macro_roc_curve(T: LabelMatrix, scores: Scores) -> RocCurve:
    """The mean over labels of the true positive rate at every false positive rate of any label, straight in between.

    Each rate stands twice, with the rate before and after the curves rise there, so that the area under the curve is
    the mean of the labels' areas. Labels have thresholds of their own: nan. Without a label that has both a positive
    and a negative document there are no points.

    >>> curve = macro_roc_curve([[1, 0], [0, 1], [0, 0]], [[.9, .3], [.5, .2], [.1, .1]])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0, 1.0])
    """
    curves = [roc_curve(truth, column) for truth, column in _columns(T, scores) if _has_both(truth)]
    rates = np.unique(np.concatenate([np.zeros(0), *(curve.false_positive_rate for curve in curves)]))
    before, after = np.zeros(len(rates)), np.zeros(len(rates))
    for curve in curves:
        x, y = curve.false_positive_rate, curve.true_positive_rate
        # of several points at one place interp takes the last: read backwards, that is the lowest
        before += np.interp(-rates, -x[::-1], y[::-1])
        after += np.interp(rates, x, y)
    mean = np.stack([before, after], axis=1).reshape(-1) / max(len(curves), 1)
    return RocCurve(np.full(len(mean), np.nan), np.repeat(rates, 2), mean)


def _columns(T: LabelMatrix, scores: Scores) -> Iterator[tuple[npt.NDArray[np.int8], Floats]]:
    """The truth and the scores of one label after the other."""
    truth, table = _checked(T, scores)
    by_label = truth.tocsc()
    for label in range(truth.shape[1]):
        column = np.zeros(truth.shape[0], dtype=np.int8)
        column[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = 1
        yield column, table[:, label]


def _pooled(T: LabelMatrix, scores: Scores) -> tuple[npt.NDArray[np.int8], Floats]:
    truth, table = _checked(T, scores)
    return truth.toarray().reshape(-1), table.reshape(-1)


def _checked(T: LabelMatrix, scores: Scores) -> tuple[Any, Floats]:
    truth: Any = indicator(T, "The truth T")
    table = np.asarray(scores.toarray() if sparse.issparse(scores) else scores, dtype=np.float64)
    if table.shape != truth.shape:
        raise DataError(f"Truth and scores must have the same shape, but have {truth.shape} and {table.shape}.")
    return truth, table


def _has_both(truth: npt.NDArray[np.int8]) -> bool:
    return bool(truth.any() and not truth.all())
