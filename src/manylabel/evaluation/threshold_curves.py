"""What each threshold of a label would predict, in few points: for curves with a slider, and for advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics.binary_curves import cumulated
from manylabel.metrics.curves import LabelCurves
from manylabel.metrics.sweeps import ThresholdSweep

POINTS = 48
"""The most points of the curve of a label, beside the model's own threshold."""
MOST_CURVES = 500
"""How many labels have curves: the most frequent ones."""


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """Labels predicted, and those of them that are right, at rising thresholds; in the units shown to users.

    precision = right / predicted, recall = right / true, F1 = 2 · right / (predicted + true), false positive rate =
    (predicted − right) / (pairs − true).
    """

    name: str
    true: int
    pairs: int
    """The number of documents; for all labels together, of pairs of a document and a label."""
    threshold: float | None
    """The model's own threshold; None where its rule has none."""
    own_right: int
    own_predicted: int
    """What the model's own decision rule predicts."""
    thresholds: list[float]
    right: list[int]
    predicted: list[int]
    average_precision: float | None = None
    roc_auc: float | None = None
    """The areas under the whole precision–recall and ROC curves; None where they are undefined."""

    @property
    def own_f1(self) -> float:
        """F1 of the model's own decision rule."""
        return 2 * self.own_right / max(self.own_predicted + self.true, 1)

    @property
    def best(self) -> tuple[float, float]:
        """The threshold with the best F1 on these documents, and that F1.

        >>> curve = ThresholdCurve("corn", 4, 9, 0.9, 1, 1, [0.2, 0.5, 0.9], [4, 3, 1], [9, 4, 1])
        >>> curve.best
        (0.5, 0.75)
        """
        f1 = [2 * r / max(p + self.true, 1) for r, p in zip(self.right, self.predicted, strict=True)]
        place = int(np.argmax(f1))
        return self.thresholds[place], f1[place]


def label_threshold_curves(
    Y_true: Csr,
    Y_pred: Csr,
    scores: Floats,
    names: Sequence[str],
    thresholds: Sequence[float | None],
    show: Callable[[Floats], Floats] = np.asarray,
) -> list[ThresholdCurve]:
    """The curves of labels, in their order; a label that training never saw, or without true documents, has none.

    The model's own threshold is one of the points.

    `show` converts scores into the units shown to users, in which `thresholds` are.
    """
    found = []
    right = Y_true.multiply(Y_pred).sum(axis=0)
    predicted, columns = Y_pred.sum(axis=0), Y_true.tocsc()
    for column in range(min(len(names), MOST_CURVES)):
        of_label = scores[:, column]
        rows = columns.indices[columns.indptr[column] : columns.indptr[column + 1]]
        if not len(rows) or not np.isfinite(of_label).all():
            continue
        y_true: npt.NDArray[np.int8] = np.zeros(len(of_label), dtype=np.int8)
        y_true[rows] = 1
        falling, tp, fp = cumulated(y_true, of_label)
        falling = show(falling)
        kept = _kept(falling, tp + fp, len(rows))[::-1]
        points = list(zip(falling[kept].tolist(), tp[kept].tolist(), (tp + fp)[kept].tolist(), strict=True))
        own = thresholds[column]
        if own is not None:
            reached = int(np.searchsorted(-falling, -own, side="right"))
            points.append((own, int(tp[reached - 1]), int((tp + fp)[reached - 1])) if reached else (own, 0, 0))
            points = sorted(set(points), key=lambda point: (point[0], -point[2]))
        found.append(
            ThresholdCurve(
                names[column],
                len(rows),
                len(of_label),
                thresholds[column],
                int(right[column]),
                int(predicted[column]),
                [threshold for threshold, _, _ in points],
                [right_ones for _, right_ones, _ in points],
                [all_ones for _, _, all_ones in points],
            )
        )
    return found


def _kept(falling: Floats, predicted: Ints, true: int) -> npt.NDArray[np.intp]:
    """The points to keep: most of them where at most five times as many labels are predicted as are true.

    The last point, which predicts the label for all documents, is always kept.
    """
    n = len(falling)
    if n <= POINTS:
        return np.arange(n)
    near = max(int(np.searchsorted(predicted, 5 * true + 20)), 2)
    places = [np.linspace(0, min(near, n - 1), POINTS - 12), np.geomspace(min(near, n - 1) + 1, n, 11) - 1]
    return np.unique(np.round(np.concatenate(places)).astype(np.intp))


def common_threshold_curve(
    sweep: ThresholdSweep, labels: int, own_right: int, own_predicted: int, own: float | None
) -> ThresholdCurve:
    """The curve of one threshold common to all labels, from a sweep over it."""
    order = np.argsort(sweep.thresholds, kind="stable")
    return ThresholdCurve(
        "",
        sweep.true,
        sweep.documents * labels,
        own,
        own_right,
        own_predicted,
        sweep.thresholds[order].tolist(),
        sweep.right[order].tolist(),
        sweep.predicted[order].tolist(),
    )


def with_areas(curves: Sequence[ThresholdCurve], found: LabelCurves) -> list[ThresholdCurve]:
    """The curves with the areas of labels; the curve without a name has those of all pairs pooled."""
    areas = {"": found.micro, **{one.name: one for one in found.labels}}
    return [
        replace(one, average_precision=areas[one.name].average_precision, roc_auc=areas[one.name].roc_auc)
        for one in curves
    ]
