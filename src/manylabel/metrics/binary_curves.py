"""Precision–recall and ROC curves of the scores of one label, and the areas under them.

`y_true` is 1 for a positive document, which has the label, and 0 for a negative one. A curve has one point per distinct
score, best score first: documents whose score is at least the threshold are predicted, so equal scores are one point.
The area of a label without a positive or without a negative document is nan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import DataError, UnknownNameError

Area = Literal["step", "trapezoid"]


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall at descending thresholds; recall is nan if no document is positive."""

    thresholds: Floats
    precision: Floats
    recall: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """False and true positive rates at descending thresholds, from (0, 0) at infinity to (1, 1)."""

    thresholds: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats


def precision_recall_curve(y_true: npt.ArrayLike, scores: npt.ArrayLike) -> PrecisionRecallCurve:
    """P = tp / (tp + fp) and R = tp / positives at every distinct score.

    Source: Manning, Raghavan & Schütze 2008, section 8.4. No point (0, 1) is added.

    >>> curve = precision_recall_curve([1, 0, 1, 1, 0], [.9, .8, .7, .6, .55])
    >>> curve.precision.round(3)
    array([1.   , 0.5  , 0.667, 0.75 , 0.6  ])
    >>> curve.recall.round(3)
    array([0.333, 0.333, 0.667, 1.   , 1.   ])
    """
    thresholds, tp, fp = cumulated(y_true, scores)
    positives = tp[-1] if tp.size else 0
    recall = tp / positives if positives else np.full(tp.shape, np.nan)
    return PrecisionRecallCurve(thresholds, tp / (tp + fp), recall)


def average_precision(y_true: npt.ArrayLike, scores: npt.ArrayLike, area: Area = "step") -> float:
    """Σ (R_k − R_{k−1}) P_k over the points of the precision–recall curve.

    With ``area="trapezoid"``, the area under straight lines between the points, from (R, P) = (0, 1); it is not the
    default because precision does not change linearly (Davis & Goadrich 2006). Without a positive or without a negative
    document the result is nan, where scikit-learn returns 0 and 1.

    >>> round(average_precision([1, 0, 1, 1, 0], [.9, .8, .7, .6, .55]), 6)
    0.805556
    >>> round(average_precision([1, 0, 1, 1, 0], [.9, .8, .7, .6, .55], area="trapezoid"), 6)
    0.763889
    """
    if area not in ("step", "trapezoid"):
        raise UnknownNameError("area", str(area), ("step", "trapezoid"))
    _, tp, fp = cumulated(y_true, scores)
    if not _has_both(tp, fp):
        return float("nan")
    precision = tp / (tp + fp)
    gain = np.diff(tp / tp[-1], prepend=0.0)
    if area == "step":
        return float(gain @ precision)
    before = np.concatenate(([1.0], precision[:-1]))
    return float(gain @ (precision + before) / 2)


def roc_curve(y_true: npt.ArrayLike, scores: npt.ArrayLike) -> RocCurve:
    """The rates fp / negatives and tp / positives at every distinct score, after (0, 0) at infinity.

    Source: Fawcett 2006. A rate whose denominator is zero is nan.

    >>> curve = roc_curve([1, 0, 1, 1, 0], [.9, .8, .7, .6, .55])
    >>> curve.false_positive_rate
    array([0. , 0. , 0.5, 0.5, 0.5, 1. ])
    >>> curve.true_positive_rate.round(3)
    array([0.   , 0.333, 0.333, 0.667, 1.   , 1.   ])
    """
    thresholds, tp, fp = cumulated(y_true, scores)
    rates = [
        np.concatenate(([0.0], counts / counts[-1])) if counts.size and counts[-1] else np.full(counts.size + 1, np.nan)
        for counts in (fp, tp)
    ]
    return RocCurve(np.concatenate(([np.inf], thresholds)), rates[0], rates[1])


def roc_auc(y_true: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """P(s⁺ > s⁻) + ½ P(s⁺ = s⁻) for the scores of a random positive and a random negative document.

    Source: Fawcett 2006. Computed as the area under the ROC curve, in integers up to the last division.

    >>> round(roc_auc([1, 0, 1, 1, 0], [.9, .8, .7, .6, .55]), 6)
    0.666667
    >>> roc_auc([1, 0, 1], [.5, .5, .5])
    0.5
    """
    _, tp, fp = cumulated(y_true, scores)
    if not _has_both(tp, fp):
        return float("nan")
    steps = np.diff(fp, prepend=0)
    heights = tp + np.concatenate(([0], tp[:-1]))
    return float(steps @ heights / (2 * int(tp[-1]) * int(fp[-1])))


def cumulated(y_true: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[Floats, Ints, Ints]:
    """The distinct scores, descending, and the numbers of positives and negatives that score at least as much."""
    positive, score = np.asarray(y_true), np.asarray(scores, dtype=np.float64)
    if positive.ndim != 1 or positive.shape != score.shape:
        raise DataError(
            "A curve needs one 0 or 1 and one score per document, "
            f"but the shapes are {positive.shape} and {score.shape}.",
            remedy="For all labels at once, use label_curves, average_precisions or roc_aucs.",
        )
    if np.isnan(score).any():
        raise DataError("Scores must be numbers, but some are nan.")
    if not np.isin(positive, (0, 1)).all():
        raise DataError("y_true must be 0 or 1 for every document, but holds other values.")
    order = np.argsort(-score, kind="stable")
    score = score[order]
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], True)) if score.size else np.zeros(0, dtype=np.intp)
    tp = np.cumsum(positive[order], dtype=np.int64)[ends]
    return score[ends], tp, (ends + 1 - tp).astype(np.int64)


def _has_both(tp: Ints, fp: Ints) -> bool:
    return bool(tp.size and tp[-1] and fp[-1])
