"""Precision–recall and ROC curves of all labels: per label, pooled (micro) and averaged (macro).

`label_curves` returns all of them as plain data. The other functions return one kind as arrays; the curves of one label
are in `manylabel.metrics.binary_curves`.

Micro pools all pairs of a document and a label, as if they were documents of one label. Macro averages the curves of
the labels that have both a positive and a negative document. Their points differ, so they are interpolated at common
ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Floats
from manylabel.exceptions import DataError
from manylabel.metrics.binary_curves import (
    Area,
    PrecisionRecallCurve,
    RocCurve,
    average_precision,
    precision_recall_curve,
    roc_auc,
    roc_curve,
)
from manylabel.metrics.counts import LabelMatrix, indicator
from manylabel.metrics.label_metrics import mean_defined
from manylabel.wording import counted, there_are

Scores = npt.ArrayLike | sparse.sparray
Numbers = list[float | None]

GRID = 101
"""The number of points of the macro precision–recall curve."""


@dataclass(frozen=True, slots=True)
class CurveRecord:
    """Both curves of a label, or of an average over labels, as plain data; None where a number is undefined.

    Point i of the precision–recall curve is (`recall`, `precision`) at `thresholds`; the ROC curve is
    (`false_positive_rate`, `true_positive_rate`) at `roc_thresholds`, whose first point, (0, 0), has no threshold.
    Macro curves have no thresholds, because labels have thresholds of their own.
    """

    name: str
    positives: int
    """The number of documents with the label; for averages, the number of pairs of a document and a true label."""
    average_precision: float | None
    roc_auc: float | None
    thresholds: Numbers
    precision: Numbers
    recall: Numbers
    roc_thresholds: Numbers
    false_positive_rate: Numbers
    true_positive_rate: Numbers


@dataclass(frozen=True, slots=True)
class LabelCurves:
    """The curves of every label, their micro average and their macro average."""

    labels: list[CurveRecord]
    micro: CurveRecord
    macro: CurveRecord


def label_curves(
    Y_true: LabelMatrix, scores: Scores, label_names: Sequence[str] | None = None, most_points: int | None = None
) -> LabelCurves:
    """The precision–recall and ROC curves of each label, with areas, and their micro and macro averages.

    The result is plain data: `dataclasses.asdict` makes it a dictionary that can be written as JSON. Without
    `label_names`, labels are named by their column. With `most_points`, longer curves are thinned to that number of
    points for drawing, more of them where the scores are high; areas are those of the whole curves.

    >>> curves = label_curves([[1, 0], [0, 1], [0, 0]], [[.9, .3], [.5, .2], [.1, .1]], ["buses", "roads"])
    >>> [(curve.name, curve.average_precision, curve.roc_auc) for curve in (*curves.labels, curves.macro)]
    [('buses', 1.0, 1.0), ('roads', 0.5, 0.5), ('macro', 0.75, 0.75)]
    >>> curves.labels[1].recall, curves.labels[1].precision
    ([0.0, 1.0, 1.0], [0.0, 0.5, 0.3333333333333333])
    """
    true, table = _checked(Y_true, scores)
    names = [str(label) for label in range(true.shape[1])] if label_names is None else list(label_names)
    if len(names) != true.shape[1]:
        raise DataError(f"{there_are(true.shape[1], 'label').capitalize()}, but {counted(len(names), 'label name')}.")
    columns = list(_columns(true, table))
    labels = [
        _record(
            name,
            int(y_true.sum()),
            precision_recall_curve(y_true, column),
            roc_curve(y_true, column),
            average_precision(y_true, column),
            roc_auc(y_true, column),
            most_points,
        )
        for name, (y_true, column) in zip(names, columns, strict=True)
    ]
    micro = _record(
        "micro",
        int(true.nnz),
        micro_precision_recall_curve(true, table),
        micro_roc_curve(true, table),
        micro_average_precision(true, table),
        micro_roc_auc(true, table),
        most_points,
    )
    macro = _record(
        "macro",
        sum(int(y_true.sum()) for y_true, _ in columns if _has_both(y_true)),
        macro_precision_recall_curve(true, table),
        macro_roc_curve(true, table),
        mean_defined(average_precisions(true, table)).value,
        mean_defined(roc_aucs(true, table)).value,
        most_points,
    )
    return LabelCurves(labels, micro, macro)


def precision_recall_curves(Y_true: LabelMatrix, scores: Scores) -> list[PrecisionRecallCurve]:
    """`precision_recall_curve` of each label.

    >>> [curve.recall.tolist() for curve in precision_recall_curves([[1, 0], [0, 1]], [[.9, .1], [.5, .2]])]
    [[1.0, 1.0], [1.0, 1.0]]
    """
    return [precision_recall_curve(y_true, column) for y_true, column in _columns(*_checked(Y_true, scores))]


def roc_curves(Y_true: LabelMatrix, scores: Scores) -> list[RocCurve]:
    """`roc_curve` of each label.

    >>> [curve.true_positive_rate.tolist() for curve in roc_curves([[1, 0], [0, 1]], [[.9, .1], [.5, .2]])]
    [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    """
    return [roc_curve(y_true, column) for y_true, column in _columns(*_checked(Y_true, scores))]


def average_precisions(Y_true: LabelMatrix, scores: Scores, area: Area = "step") -> Floats:
    """`average_precision` of each label; nan where it is undefined, which `mean_defined` skips.

    >>> average_precisions([[1, 0], [0, 0], [1, 0]], [[.9, .1], [.5, .2], [.4, .3]]).round(6)
    array([0.833333,      nan])
    """
    columns = _columns(*_checked(Y_true, scores))
    return np.array([average_precision(y_true, column, area) for y_true, column in columns])


def roc_aucs(Y_true: LabelMatrix, scores: Scores) -> Floats:
    """`roc_auc` of each label; nan where it is undefined, which `mean_defined` skips.

    >>> roc_aucs([[1, 0], [0, 0], [1, 0]], [[.9, .1], [.5, .2], [.4, .3]])
    array([0.5, nan])
    """
    columns = _columns(*_checked(Y_true, scores))
    return np.array([roc_auc(y_true, column) for y_true, column in columns])


def micro_precision_recall_curve(Y_true: LabelMatrix, scores: Scores) -> PrecisionRecallCurve:
    """The curve of all documents × labels pooled: the values that one threshold common to all labels can reach.

    >>> micro_precision_recall_curve([[1, 0], [0, 1]], [[.9, .1], [.5, .2]]).precision.round(3).tolist()
    [1.0, 0.5, 0.667, 0.5]
    """
    return precision_recall_curve(*_pooled(Y_true, scores))


def micro_roc_curve(Y_true: LabelMatrix, scores: Scores) -> RocCurve:
    """The ROC curve of all documents × labels pooled."""
    return roc_curve(*_pooled(Y_true, scores))


def micro_average_precision(Y_true: LabelMatrix, scores: Scores) -> float:
    """`average_precision` of all documents × labels pooled."""
    return average_precision(*_pooled(Y_true, scores))


def micro_roc_auc(Y_true: LabelMatrix, scores: Scores) -> float:
    """`roc_auc` of all documents × labels pooled."""
    return roc_auc(*_pooled(Y_true, scores))


def macro_precision_recall_curve(
    Y_true: LabelMatrix, scores: Scores, recall: npt.ArrayLike | None = None
) -> PrecisionRecallCurve:
    """The mean over labels of the interpolated precision at each recall of a grid, by default 0, 0.01, …, 1.

    Interpolated precision at recall r is the largest precision at any recall of at least r. Source: Manning, Raghavan &
    Schütze 2008, section 8.4 (there eleven points). Thresholds are nan, because labels have thresholds of their own.
    Without a label that has both a positive and a negative document, precision is nan.

    >>> Y_true, scores = [[1, 0], [0, 1], [0, 0]], [[.9, .3], [.5, .2], [.1, .1]]
    >>> macro_precision_recall_curve(Y_true, scores, [0.0, 1.0]).precision.tolist()
    [0.75, 0.75]
    """
    grid = np.linspace(0.0, 1.0, GRID) if recall is None else np.asarray(recall, dtype=np.float64)
    columns = _columns(*_checked(Y_true, scores))
    curves = [precision_recall_curve(y_true, column) for y_true, column in columns if _has_both(y_true)]
    total = np.full(len(grid), 0.0 if curves else np.nan)
    for curve in curves:
        best_from_here = np.maximum.accumulate(curve.precision[::-1])[::-1]
        # recall rises to 1, so every point of the grid has a point of the curve at or after it
        total += best_from_here[np.searchsorted(curve.recall, np.minimum(grid, 1.0), side="left")]
    return PrecisionRecallCurve(np.full(len(grid), np.nan), total / max(len(curves), 1), grid)


def macro_roc_curve(Y_true: LabelMatrix, scores: Scores) -> RocCurve:
    """The mean over labels of the true positive rate, interpolated linearly, at each false positive rate of any label.

    Each rate occurs twice, with the rates before and after the curves rise there, so that the area under the curve is
    the mean of the areas of the labels. Thresholds are nan, because labels have thresholds of their own. Without a
    label that has both a positive and a negative document there are no points.

    >>> curve = macro_roc_curve([[1, 0], [0, 1], [0, 0]], [[.9, .3], [.5, .2], [.1, .1]])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0, 1.0])
    """
    columns = _columns(*_checked(Y_true, scores))
    curves = [roc_curve(y_true, column) for y_true, column in columns if _has_both(y_true)]
    rates = np.unique(np.concatenate([np.zeros(0), *(curve.false_positive_rate for curve in curves)]))
    before, after = np.zeros(len(rates)), np.zeros(len(rates))
    for curve in curves:
        x, y = curve.false_positive_rate, curve.true_positive_rate
        # of several points with equal x, interp uses the last: in reverse order, that is the lowest
        before += np.interp(-rates, -x[::-1], y[::-1])
        after += np.interp(rates, x, y)
    mean = np.stack([before, after], axis=1).reshape(-1) / max(len(curves), 1)
    return RocCurve(np.full(len(mean), np.nan), np.repeat(rates, 2), mean)


def _record(
    name: str,
    positives: int,
    curve: PrecisionRecallCurve,
    roc: RocCurve,
    average_precision: float,
    roc_auc: float,
    most_points: int | None,
) -> CurveRecord:
    """The curves and areas as plain data."""
    area, roc_area = _plain([average_precision, roc_auc])
    first, second = (_points(len(values), most_points) for values in (curve.recall, roc.true_positive_rate))
    return CurveRecord(
        name,
        positives,
        area,
        roc_area,
        *(_plain(values[first]) for values in (curve.thresholds, curve.precision, curve.recall)),
        *(_plain(values[second]) for values in (roc.thresholds, roc.false_positive_rate, roc.true_positive_rate)),
    )


def _points(n: int, most: int | None) -> npt.NDArray[np.intp]:
    """The indices of the points to keep of a curve of n points: all, or at most `most`, half of them evenly spread.

    >>> _points(100, 7).tolist(), _points(3, 7).tolist()
    ([0, 4, 21, 50, 99], [0, 1, 2])
    """
    if most is None or n <= most:
        return np.arange(n)
    evenly = np.linspace(0, n - 1, most // 2)
    dense_first = np.geomspace(1, n, most - most // 2) - 1
    return np.unique(np.round(np.concatenate([evenly, dense_first])).astype(np.intp))


def _plain(values: npt.ArrayLike) -> Numbers:
    """The values as a list, with None for nan and infinity, which JSON does not have."""
    return [value if np.isfinite(value) else None for value in np.asarray(values, dtype=np.float64).tolist()]


def _columns(true: Any, table: Any) -> Iterator[tuple[npt.NDArray[np.int8], Floats]]:
    """Yield the true labels (0 or 1 per document) and the scores of each label."""
    by_label = true.tocsc()
    for label in range(true.shape[1]):
        y_true = np.zeros(true.shape[0], dtype=np.int8)
        y_true[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = 1
        yield y_true, _dense(table[:, [label]]).reshape(-1)


def _pooled(Y_true: LabelMatrix, scores: Scores) -> tuple[npt.NDArray[np.int8], Floats]:
    true, table = _checked(Y_true, scores)
    return true.toarray().reshape(-1), _dense(table).reshape(-1)


def _dense(table: Any) -> Floats:
    return np.asarray(table.toarray() if isinstance(table, sparse.csc_array) else table, dtype=np.float64)


def _checked(Y_true: LabelMatrix, scores: Scores) -> tuple[Any, Any]:
    """Y_true as CSR, and the scores as a sparse or a dense table of the same shape."""
    true: Any = indicator(Y_true, "Y_true")
    table: Any = sparse.csc_array(scores) if sparse.issparse(scores) else np.asarray(scores, dtype=np.float64)
    if table.shape != true.shape:
        raise DataError(f"Y_true and scores must have the same shape, but have {true.shape} and {table.shape}.")
    return true, table


def _has_both(y_true: npt.NDArray[np.int8]) -> bool:
    return bool(y_true.any() and not y_true.all())
