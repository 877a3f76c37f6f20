"""Scores of any kind → the probability of each label, by a logistic or an isotonic curve per label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import possible
from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.exceptions import DecisionError
from manylabel.models import label_axis
from manylabel.models.base import row_batches
from manylabel.models.exported import Form
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind, on_an_open_scale, sigmoid, within
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Sizes, Sometimes, Starts, Stored, reals
from manylabel.wording import counted

BATCH_BYTES = 24 << 20
"""What a batch of documents may take where scores become probabilities."""
LARGEST = 1e300
"""Scores beyond are taken for this, so that a slope of 0 times one of them is 0."""
HALVINGS = 64
"""Halvings of the range of scores in which `Calibration.inverse` looks for a score."""


class Calibration(Estimator):
    """The probability of each label given its score, learned on scores of documents the model did not see.

    ``curve="logistic"``    P_k(f) = 1/(1 + exp(−(a_k f + b_k)))      Platt 1999; see `fit_curves`
    ``curve="isotonic"``    P_k(f) = (n_k g_k(f) + m g(f)) / (n_k + m)      Zadrozny & Elkan 2002

    The few positives of a rare label do not determine its curve, so it is drawn towards the curve of all labels pooled:
    m, the `shrinkage`, is the number of positives at which a label's own curve has half the weight. For the isotonic
    curves g_k the average of both is taken; the logistic ones are fitted with the information of m pooled positives
    added. A label without positives has the probability 1/(N + 2) whatever its score. P never falls as the score rises.
    An impossible label (score −∞) has the probability 0. A certain one (+∞) counts as the highest score of its label in
    learning, and as a score above all others afterwards.

    >>> scores = np.array([[-2.0, 0.1], [-1.0, 0.3], [0.5, 0.2], [1.0, 0.4]])
    >>> calibration = Calibration(shrinkage=0).fit(scores, Csr([[0, 0], [0, 0], [1, 0], [1, 0]]))
    >>> calibration.transform(np.array([[-1.0, 0.5], [1.0, -np.inf]])).round(3).tolist()
    [[0.36, 0.167], [0.77, 0.0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "curve": OneOf("logistic", "isotonic"),
        "shrinkage": Number(low=0),
    }
    slopes_: Floats
    intercepts_: Floats
    corner_scores_: Floats
    corner_heights_: Floats
    corner_starts_: Ints
    own_share_: Floats

    learned: ClassVar[Mapping[str, Stored]] = {
        "slopes_": Sometimes(reals("labels")),
        "intercepts_": Sometimes(reals("labels"), "slopes_"),
        "corner_scores_": Sometimes(reals("corners")),
        "corner_heights_": Sometimes(reals("corners"), "corner_scores_"),
        "corner_starts_": Sometimes(Starts("curves", "corners", filled=True), "corner_scores_"),
        "own_share_": Sometimes(reals("labels"), "corner_scores_"),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless there is a curve for each label, and for isotonic ones one for all labels."""
        sizes = super().check_learned(state)
        wanted = "slopes_" if self.curve == "logistic" else "corner_scores_"
        if wanted not in state or ("curves" in sizes and sizes["curves"] != sizes["labels"] + 1):
            raise ValueError(f"Calibration has no {self.curve} curves of all labels")
        return sizes

    def __init__(self, curve: Literal["logistic", "isotonic"] = "logistic", shrinkage: float = 1.0) -> None:
        self.curve = curve
        self.shrinkage = shrinkage

    def fit(self, scores: Any, Y: Any) -> Self:
        """Learn from scores, documents × labels, and the true labels."""
        self.check_parameters()
        scores, Y = np.asarray(scores, dtype=np.float64), Csr(Y)
        if scores.shape != Y.shape:
            raise DecisionError(
                f"Calibration: scores are {' × '.join(map(str, scores.shape))} but Y is "
                f"{' × '.join(map(str, Y.shape))}. Both must be documents × labels."
            )
        Y_true, scores = Y.toarray().astype(np.bool_), _certain_as_highest(scores)
        if self.curve == "logistic":
            from manylabel.decisions.logistic_curves import fit_curves  # predicting starts faster without it

            curves = fit_curves(scores, Y_true, self.shrinkage)
            self.slopes_, self.intercepts_ = curves.slopes, curves.intercepts
        else:
            self._fit_isotonic(scores, Y_true)
        return self

    def _fit_isotonic(self, scores: Floats, Y_true: Bools) -> None:
        usable = np.isfinite(scores)
        n_documents = scores.shape[0]
        nowhere: tuple[Floats, Floats] = (np.zeros(1), np.full(1, 1 / (n_documents + 2)))
        positives = (Y_true & usable).sum(axis=0)
        curves = [
            rising_curve(scores[usable[:, label], label], Y_true[usable[:, label], label]) if n else nowhere
            for label, n in enumerate(positives.tolist())
        ]
        some = positives > 0
        cells = usable & some
        curves.append(rising_curve(scores[cells], Y_true[cells]) if some.any() else nowhere)
        steps = Steps.of(curves)
        self.corner_scores_, self.corner_heights_, self.corner_starts_ = steps.scores, steps.heights, steps.starts
        self.own_share_ = np.where(some, positives / np.maximum(positives + self.shrinkage, 1e-300), 1.0)

    def of_labels(self, columns: Ints) -> Self:
        """The curves of some labels, in this order."""
        if self.curve == "logistic":
            return label_axis.of_labels(self, columns)
        return self._stepped([self._curve(label) for label in [*columns.tolist(), -1]], self.own_share_[columns])

    def beside(self, other: Self) -> Self:
        """The curves of both; isotonic curves of all labels together stay those of this calibration."""
        if self.curve == "logistic":
            return label_axis.beside(self, other)
        curves = [self._curve(label) for label in range(len(self.own_share_))]
        curves += [other._curve(label) for label in range(len(other.own_share_))]
        return self._stepped([*curves, self._curve(-1)], np.concatenate([self.own_share_, other.own_share_]))

    def _curve(self, number: int) -> tuple[Floats, Floats]:
        """The corners of one curve; the last one is that of all labels together."""
        starts = self.corner_starts_[number % (len(self.corner_starts_) - 1) :]
        return self.corner_scores_[starts[0] : starts[1]], self.corner_heights_[starts[0] : starts[1]]

    def _stepped(self, curves: list[tuple[Floats, Floats]], own_share: Floats) -> Self:
        """A calibration with these isotonic curves."""
        found, steps = type(self)(self.curve, self.shrinkage), Steps.of(curves)
        found.corner_scores_, found.corner_heights_, found.corner_starts_ = steps.scores, steps.heights, steps.starts
        found.own_share_ = own_share
        return found

    def transform(self, scores: Any) -> Floats:
        """The probabilities, documents × labels."""
        return sigmoid(self.log_odds(scores))

    def log_odds(self, scores: Any) -> Floats:
        """The log-odds log P/(1 − P), within ±700; −∞ for impossible labels."""
        self.check_fitted()
        values = np.asarray(scores, dtype=np.float64)
        n_labels = len(self.slopes_) if self.curve == "logistic" else len(self.own_share_)
        if values.ndim != 2 or values.shape[1] != n_labels:
            raise DecisionError(
                f"Calibration learned {counted(n_labels, 'label')}, so that scores must be documents × {n_labels}, "
                f"not {' × '.join(map(str, values.shape))}."
            )
        found = np.empty(values.shape)
        for rows in row_batches(len(values), n_labels, BATCH_BYTES):
            batch = values[rows]
            finite = within(batch, LARGEST)
            with np.errstate(over="ignore"):
                own = finite * self.slopes_ + self.intercepts_ if self.curve == "logistic" else self._isotonic(finite)
            found[rows] = np.where(batch == -np.inf, -np.inf, within(own, LOG_ODDS_LIMIT))
        return found

    def exported(self) -> Form | None:
        """The logistic curves in the form in which they are exported; None for isotonic ones."""
        if self.curve != "logistic":
            return None
        return {"curve": "logistic", "slopes": self.slopes_, "intercepts": self.intercepts_}

    def inverse(self, probabilities: Floats) -> Floats:
        """The lowest score at which each label reaches a probability: −∞ if always, +∞ if never; NaN stays.

        >>> calibration = Calibration()
        >>> calibration.slopes_, calibration.intercepts_ = np.array([2.0, 0.0]), np.array([0.0, 1.0])
        >>> calibration.inverse(np.array([0.5, 0.9])).tolist()
        [0.0, inf]
        """
        with np.errstate(divide="ignore"):
            target = np.log(probabilities) - np.log1p(-probabilities)
        if self.curve == "logistic":
            sloped = self.slopes_ > 0
            constant = np.where(self.intercepts_ >= target, -np.inf, np.inf)
            found = np.where(sloped, (target - self.intercepts_) / np.where(sloped, self.slopes_, 1.0), constant)
        else:
            low, high = (np.full(len(target), side) for side in (self.corner_scores_.min(), self.corner_scores_.max()))
            always, never = (self.log_odds(side[np.newaxis])[0] for side in (low, high))
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                reached = self.log_odds(middle[np.newaxis])[0] >= target
                low, high = np.where(reached, low, middle), np.where(reached, middle, high)
            found = np.where(always >= target, -np.inf, np.where(never >= target, high, np.inf))
        return np.where(np.isnan(probabilities), np.nan, found)

    def _isotonic(self, scores: Floats) -> Floats:
        steps = Steps(self.corner_scores_, self.corner_heights_, self.corner_starts_)
        found = np.empty_like(scores)
        for label, share in enumerate(self.own_share_.tolist()):
            found[:, label] = share * steps.height(label, scores[:, label])
            if share < 1:
                found[:, label] += (1 - share) * steps.height(len(self.own_share_), scores[:, label])
        return np.asarray(np.log(found) - np.log1p(-found))


def _certain_as_highest(scores: Floats) -> Floats:
    """The scores, +∞ (which models give a label that every document has) replaced by the label's highest finite score.

    >>> _certain_as_highest(np.array([[np.inf, np.inf], [2.0, np.inf], [-np.inf, np.inf]])).tolist()
    [[2.0, 0.0], [2.0, 0.0], [-inf, 0.0]]
    """
    if not np.isposinf(scores).any():
        return scores
    highest = np.where(np.isfinite(scores), scores, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isposinf(scores), np.where(np.isfinite(highest), highest, 0.0), scores)


def open_scores(scores: Floats, kind: ScoreKind) -> Floats:
    """The scores on a scale without bounds, as logistic curves need it; −∞ for impossible labels."""
    opened = on_an_open_scale(scores, kind)
    if kind is not ScoreKind.POSTERIOR and not np.isnan(scores).any():  # the impossible is −∞ already
        return opened
    return np.where(possible(scores, kind), opened, -np.inf)


# ---- isotonic curves -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Steps:
    """Curves by their corners: those of curve k are ``[starts[k]:starts[k + 1]]``, with straight lines between them."""

    scores: Floats
    heights: Floats
    starts: Ints

    @classmethod
    def of(cls, curves: list[tuple[Floats, Floats]]) -> Steps:
        """Several curves, their corners concatenated."""
        starts = np.concatenate([[0], np.cumsum([len(scores) for scores, _ in curves], dtype=np.int64)])
        scores, heights = (np.concatenate([np.zeros(0), *(curve[side] for curve in curves)]) for side in (0, 1))
        return cls(scores, heights, starts.astype(np.int64))

    def height(self, curve: int, scores: Floats) -> Floats:
        """The heights of one curve at some scores; beyond its ends it is constant."""
        part = slice(int(self.starts[curve]), int(self.starts[curve + 1]))
        return np.interp(scores, self.scores[part], self.heights[part])


def rising_curve(scores: Floats, Y_true: Bools) -> tuple[Floats, Floats]:
    """The corners of the curve g that minimises Σ_i (t_i − g(f_i))² among all that never fall.

    t_i = (N₊ + 1)/(N₊ + 2) for positives and 1/(N₋ + 2) for negatives, Platt's targets, so that no probability is 0 or
    1. Equal scores share one height. Source: Zadrozny & Elkan 2002 (calibration), by pooling adjacent violators; the
    targets are Platt's (1999).

    >>> scores, heights = rising_curve(np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, True, False, True]))
    >>> scores.tolist(), heights.tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.25, 0.5, 0.5, 0.75])
    """
    from scipy.optimize import isotonic_regression

    positives = int(Y_true.sum())
    values, number, counts = np.unique(scores, return_inverse=True, return_counts=True)
    high, low = (positives + 1) / (positives + 2), 1 / (len(Y_true) - positives + 2)
    shares = np.bincount(number, weights=Y_true, minlength=len(values)) / counts
    heights = isotonic_regression(low + (high - low) * shares, weights=counts.astype(np.float64)).x
    level = heights[1:] == heights[:-1]
    corner = ~(np.append(False, level) & np.append(level, False))  # not a corner: a point between two of its own height
    return values[corner], heights[corner]
