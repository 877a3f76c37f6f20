"""Precision and recall of each label at any threshold, learned on scores of documents the model did not see."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from manylabel.decisions.base import possible
from manylabel.decisions.calibration import LARGEST
from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.models import label_axis
from manylabel.models.score_kinds import ScoreKind
from manylabel.stored import Starts, Stored, reals, wholes

Counts: TypeAlias = npt.NDArray[np.int32]

BELOW = 1e-6
"""How far below the lowest score a threshold lies that admits it, relative to the score."""
MOST_POINTS = 64
"""How many points of its curve a label keeps at most."""
MOST_CELLS = 1 << 24
"""Beyond this many scores, the curves are learned on evenly spaced documents."""


class ThresholdFigures(Estimator):
    """Per label, how many documents score at least a threshold and how many of these have the label.

    precision(t) = true(t) / predicted(t),   recall(t) = true(t) / positives

    A label's curve has one point at each score of a document that has it: between two such scores a lower threshold
    only adds wrong labels. Where a label has more than 64 such documents, 64 evenly spaced ones are kept; `predicted`
    between two points is interpolated. The thresholds of the decision rule are points too, so that their figures are
    exact. A threshold that is chosen for a target lies halfway between the point and the next lower score of any
    document. All thresholds are in the units of the scores.

    >>> scores, Y_true = np.array([[0.9], [0.8], [0.6], [0.2]]), Csr([[1], [0], [1], [0]])
    >>> quality = ThresholdFigures().fit(scores, Y_true, ScoreKind.SIMILARITY)
    >>> [values.round(3).tolist() for values in quality.at(np.array([0.6]))]
    [[0.667], [1.0]]
    >>> quality.thresholds_for("precision", 0.9).round(3).tolist()
    [0.85]
    """

    corner_thresholds_: Floats
    corner_middles_: Floats
    """Halfway between each point and the next lower score."""
    corner_true_: Counts
    corner_predicted_: Counts
    corner_starts_: Ints
    positives_: Ints
    learned: ClassVar[Mapping[str, Stored]] = {
        "corner_starts_": Starts("labels", "corners"),
        "corner_thresholds_": reals("corners"),
        "corner_middles_": reals("corners"),
        "corner_true_": wholes("corners", bits=32),
        "corner_predicted_": wholes("corners", bits=32),
        "positives_": wholes("labels"),
    }

    def __init__(self) -> None:
        """Takes no parameters."""

    def fit(self, scores: Any, Y: Any, kind: ScoreKind, thresholds: Floats | None = None) -> Self:
        """Learn from scores, documents × labels, and the true labels; `thresholds` are points of the curves too."""
        values, Y = np.asarray(scores, dtype=np.float64), Csr(Y)
        step = -(-values.size // MOST_CELLS) or 1
        values, Y_true = values[::step], Csr(Y[::step]).tocsc()
        corners: list[tuple[Floats, Floats, Counts, Counts]] = []
        for label in range(values.shape[1]):
            column = np.minimum(values[:, label], LARGEST)
            with_label = column[Y_true.indices[Y_true.indptr[label] : Y_true.indptr[label + 1]]]
            own = None if thresholds is None else float(thresholds[label])
            corners.append(_corners(column[possible(column, kind)], with_label[possible(with_label, kind)], own))
        sizes = [len(one[0]) for one in corners]
        self.corner_starts_ = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        self.corner_thresholds_ = np.concatenate([np.zeros(0), *(one[0] for one in corners)])
        self.corner_middles_ = np.concatenate([np.zeros(0), *(one[1] for one in corners)])
        self.corner_true_ = np.concatenate([np.zeros(0, dtype=np.int32), *(one[2] for one in corners)])
        self.corner_predicted_ = np.concatenate([np.zeros(0, dtype=np.int32), *(one[3] for one in corners)])
        self.positives_ = np.diff(Y_true.indptr).astype(np.int64)
        return self

    def at(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Precision and recall of each label at its threshold; NaN where nothing is predicted or no document has it."""
        true, predicted = self.counts(thresholds)
        precision = np.where(predicted > 0, true / np.maximum(predicted, 1e-300), math.nan)
        recall = np.where(self.positives_ > 0, true / np.maximum(self.positives_, 1), math.nan)
        return precision, recall

    def counts(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """How many documents with each label, and how many in all, score at least its threshold."""
        self.check_fitted()
        counts = np.array([self._counts(label, float(value)) for label, value in enumerate(thresholds)]).reshape(-1, 2)
        return counts[:, 0], counts[:, 1]

    def _counts(self, label: int, threshold: float) -> tuple[float, float]:
        """How many documents with the label, and how many in all, score at least a threshold."""
        part = slice(int(self.corner_starts_[label]), int(self.corner_starts_[label + 1]))
        points, middles, true, predicted = (
            values[part]
            for values in (self.corner_thresholds_, self.corner_middles_, self.corner_true_, self.corner_predicted_)
        )
        if not len(points) or threshold > points[-1]:
            return 0.0, 0.0
        # No score lies between a middle and its point, so `predicted` is the same at both; it rises below the middle.
        middles = np.maximum(middles, np.append(middles[:1], points[:-1]))
        steps = np.stack([middles, points], axis=1).ravel()
        # No document with the label scores between two points, where all its scores are kept.
        true_count = float(true[np.searchsorted(points, threshold)])
        return true_count, float(np.interp(threshold, steps, np.repeat(predicted, 2)))

    def of_labels(self, columns: Ints) -> Self:
        """The figures of some labels, in this order."""
        return label_axis.of_labels(self, columns)

    def beside(self, other: Self) -> Self:
        """The figures of the labels of both."""
        return label_axis.beside(self, other)

    def thresholds_for(self, figure: Literal["precision", "recall"], least: float) -> Floats:
        """The threshold at which each label reaches a precision, with the greatest recall, or a recall, with the
        fewest documents; NaN for labels that do not reach it.
        """
        self.check_fitted()
        found = np.full(len(self.positives_), math.nan)
        for label, positives in enumerate(self.positives_.tolist()):
            part = slice(int(self.corner_starts_[label]), int(self.corner_starts_[label + 1]))
            true, predicted = self.corner_true_[part], self.corner_predicted_[part]
            needed = least * (predicted if figure == "precision" else positives)
            reached = np.flatnonzero((true >= needed - 1e-9) & (true > 0))
            if not len(reached):
                continue
            if figure == "precision":  # the most true labels; of equal ones, the highest threshold
                reached = reached[true[reached] == true[reached].max()]
            found[label] = self.corner_middles_[part][reached[-1]]
        return found


def _corners(scores: Floats, positive: Floats, own: float | None) -> tuple[Floats, Floats, Counts, Counts]:
    """Thresholds in ascending order, the middles below them, and the positives and all scores at or above each."""
    if not len(positive):
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    ordered, positive = np.sort(scores), np.sort(positive)
    points = np.unique(positive)
    if len(points) > MOST_POINTS:
        points = points[np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(np.intp)]
    thresholds = np.unique(np.append(points, ordered[0]))
    if own is not None and math.isfinite(own):
        thresholds = np.unique(np.append(thresholds, own))
    true = len(positive) - np.searchsorted(positive, thresholds, side="left")
    first = np.searchsorted(ordered, thresholds, side="left")
    just_below = thresholds - BELOW * np.maximum(np.abs(thresholds), 1e-3)
    middles = np.where(first > 0, (thresholds + ordered[np.maximum(first - 1, 0)]) / 2, just_below)
    return thresholds, middles, true.astype(np.int32), (len(ordered) - first).astype(np.int32)
