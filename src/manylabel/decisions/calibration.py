"""Scores of any kind → the probability of each label, by a logistic or an isotonic curve per label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import possible
from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.exceptions import DecisionError
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind, on_an_open_scale, sigmoid
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Sizes, Sometimes, Starts, Stored, reals
from manylabel.wording import counted

LARGEST = 1e300
"""Scores beyond are taken for this, so that a slope of 0 times one of them is 0."""
CELLS_A_BLOCK = 1 << 17
MAX_STEPS = 100
HALVINGS = 64
"""Halvings of the range of scores in which `Calibration.inverse` looks for a score."""
ENOUGH = 1e-12
"""Newton's method ends where the next step is expected to gain less than this, in units of the log-likelihood."""


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
        finite = np.clip(values, -LARGEST, LARGEST)
        with np.errstate(over="ignore"):
            found = finite * self.slopes_ + self.intercepts_ if self.curve == "logistic" else self._isotonic(finite)
        return np.where(np.isneginf(values), -np.inf, np.clip(found, -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT))

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
    highest = np.where(np.isfinite(scores), scores, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isposinf(scores), np.where(np.isfinite(highest), highest, 0.0), scores)


def open_scores(scores: Floats, kind: ScoreKind) -> Floats:
    """The scores on a scale without bounds, as logistic curves need it; −∞ for impossible labels."""
    return np.where(possible(scores, kind), on_an_open_scale(scores, kind), -np.inf)


# ---- logistic curves -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Curves:
    """log P/(1 − P) = slope · score + intercept, one slope and one intercept per label."""

    slopes: Floats
    intercepts: Floats


@dataclass(frozen=True, slots=True)
class Around:
    """A Gaussian around a curve: its slope and intercept, and the matrix (aa, ab, bb) of its precision."""

    centre: tuple[float, float] = (0.0, 0.0)
    precision: tuple[float, float, float] = (0.0, 0.0, 0.0)


def fit_curves(scores: Floats, Y_true: Bools, shrinkage: float) -> Curves:
    """Platt's curve of each label, drawn towards the curve of all labels pooled.

    a, b minimise −Σ_i [t_i log p_i + (1 − t_i) log(1 − p_i)] + ½ (θ − θ₀)ᵀ Λ (θ − θ₀),   p_i = 1/(1 + e^−(a f_i + b)),
    θ = (a, b), a ≥ 0,   t_i = (N₊ + 1)/(N₊ + 2) for positives and 1/(N₋ + 2) for negatives.

    θ₀ is the pooled curve, Λ the information (the second derivative of the pooled sum at θ₀) of `shrinkage` of the
    pooled positives and their share of the negatives: as if each label had so many more documents, from the pool.
    Scores that are not finite (a fold never saw the label) are left out; a label without positives, or without
    negatives, has the constant 1/(N + 2), or (N + 1)/(N + 2).

    Source: Platt 1999 (targets); Lin, Lin & Weng 2007 (Newton's method with step halving); a ≥ 0 and the pool are ours.

    >>> scores, Y_true = np.array([[-1.0], [-0.5], [0.5], [1.0]]), np.array([[False], [False], [True], [True]])
    >>> curves = fit_curves(scores, Y_true, shrinkage=0)
    >>> (1 / (1 + np.exp(-curves.slopes * scores - curves.intercepts))).round(3).ravel().tolist()
    [0.206, 0.338, 0.662, 0.794]
    """
    usable = np.isfinite(scores)
    n_documents, n_labels = scores.shape
    positives, negatives = (Y_true & usable).sum(axis=0), (~Y_true & usable).sum(axis=0)
    # A label whose documents were all scored by folds that never saw it has no usable positive: it has none.
    target = np.where((positives > 0) & (negatives == 0), n_documents + 1, 1) / (n_documents + 2)
    curves = Curves(np.zeros(n_labels), np.log(target) - np.log1p(-target))
    both = np.flatnonzero((positives > 0) & (negatives > 0))
    if not len(both):
        return curves
    centre, spread = _location(scores, usable, both)
    around = _pool(scores, Y_true, both, (centre, spread), shrinkage) if shrinkage else Around()
    step = max(1, CELLS_A_BLOCK // max(n_documents, 1))
    for begin in range(0, len(both), step):
        labels = both[begin : begin + step]
        block = _Block.of(scores[:, labels], Y_true[:, labels], (centre, spread), around)
        a, b = block.solve()
        curves.slopes[labels] = a / spread
        curves.intercepts[labels] = b - a * centre / spread
    return curves


def _location(scores: Floats, usable: Bools, labels: np.ndarray) -> tuple[float, float]:
    """Mean and spread of the scores: Newton's method works on scores of mean 0 and variance 1."""
    values = scores[:, labels][usable[:, labels]]
    spread = float(values.std())
    return float(values.mean()), spread if spread > 0 else 1.0


def _pool(scores: Floats, Y_true: Bools, labels: np.ndarray, location: tuple[float, float], shrinkage: float) -> Around:
    """The curve of all labels together, and the information of `shrinkage` of its positives."""
    column = np.ascontiguousarray(scores[:, labels]).reshape(-1, 1)
    block = _Block.of(column, np.ascontiguousarray(Y_true[:, labels]).reshape(-1, 1), location, Around())
    a, b = block.solve()
    _, _, (aa, ab, bb) = block.value_and_derivatives(a, b)
    share = shrinkage / float((Y_true[:, labels] & np.isfinite(scores[:, labels])).sum())
    return Around((float(a[0]), float(b[0])), (share * float(aa[0]), share * float(ab[0]), share * float(bb[0])))


@dataclass(frozen=True, slots=True)
class _Block:
    """Some labels' scores, documents × labels, standardised and 0 where they are not finite.

    The targets enter Σ t_i log p_i + (1 − t_i) log(1 − p_i) = Σ t_i z_i − log(1 + e^z_i), z_i = a f_i + b, only through
    Σ t_i f_i and Σ t_i, `lean`. `usable` is None where all scores are.
    """

    scores: Floats
    usable: Bools | None
    lean: tuple[Floats, Floats]
    around: Around

    @classmethod
    def of(cls, scores: Floats, Y_true: Bools, location: tuple[float, float], around: Around) -> _Block:
        usable = np.isfinite(scores)
        centre, spread = location
        standard = np.where(usable, (np.where(usable, scores, centre) - centre) / spread, 0.0)
        positives, negatives = (Y_true & usable).sum(axis=0), (~Y_true & usable).sum(axis=0)
        low, high = 1 / (negatives + 2), (positives + 1) / (positives + 2)
        of_scores = low * standard.sum(axis=0) + (high - low) * (standard * Y_true).sum(axis=0)
        of_ones = low * negatives + high * positives
        return cls(standard, None if usable.all() else usable, (of_scores, of_ones), around)

    def part(self, labels: Bools) -> _Block:
        """The block of some of its labels."""
        usable = None if self.usable is None else self.usable[:, labels]
        return _Block(self.scores[:, labels], usable, (self.lean[0][labels], self.lean[1][labels]), self.around)

    def value_and_derivatives(
        self, a: Floats, b: Floats
    ) -> tuple[Floats, tuple[Floats, Floats], tuple[Floats, Floats, Floats]]:
        """What is minimised, its gradient (a, b) and its second derivatives (aa, ab, bb), one of each per label."""
        f = self.scores
        z = f * a + b
        small = np.exp(-np.abs(z))
        over = 1.0 / (1.0 + small)
        softplus = np.maximum(z, 0.0) + np.log1p(small)
        p = np.where(z >= 0, over, small * over)
        curvature = small * over * over
        if self.usable is not None:
            softplus, p, curvature = (np.where(self.usable, cells, 0.0) for cells in (softplus, p, curvature))
        (a0, b0), (aa, ab, bb) = self.around.centre, self.around.precision
        da, db = a - a0, b - b0
        value = softplus.sum(axis=0) - a * self.lean[0] - b * self.lean[1]
        value += 0.5 * (aa * da * da + 2 * ab * da * db + bb * db * db)
        to_a, to_b = (p * f).sum(axis=0) - self.lean[0], p.sum(axis=0) - self.lean[1]
        weighted = curvature * f
        second = (weighted * f).sum(axis=0) + aa, weighted.sum(axis=0) + ab, curvature.sum(axis=0) + bb
        return value, (to_a + aa * da + ab * db, to_b + ab * da + bb * db), second

    def solve(self) -> tuple[Floats, Floats]:
        """Slopes and intercepts; a label whose slope comes out negative is solved again with slope 0."""
        n_labels = self.scores.shape[1]
        a, b = np.full(n_labels, self.around.centre[0]), np.full(n_labels, self.around.centre[1])
        self._newton(a, b, sloped=True)
        falling = a < 0
        if falling.any():
            level, height = np.zeros(int(falling.sum())), b[falling]
            self.part(falling)._newton(level, height, sloped=False)
            a[falling], b[falling] = level, height
        return a, b

    def _newton(self, a: Floats, b: Floats, sloped: bool) -> None:
        """Move a and b to the minimum, all labels at once; a step that does not improve a label is halved."""
        labels, block, step = np.arange(len(a)), self, np.ones(len(a))
        value, gradient, second = self.value_and_derivatives(a, b)
        for _ in range(MAX_STEPS):
            to_a, to_b, gain = _direction(gradient, second, sloped)
            moving = (gain > ENOUGH) & (step > 1e-10)
            if not moving.any():
                return
            if not moving.all():  # labels that have converged are left out
                labels, step, block = labels[moving], step[moving], block.part(moving)
                value, to_a, to_b, gain = value[moving], to_a[moving], to_b[moving], gain[moving]
                gradient = (gradient[0][moving], gradient[1][moving])
                second = (second[0][moving], second[1][moving], second[2][moving])
            new_a, new_b = a[labels] + step * to_a, b[labels] + step * to_b
            new_value, new_gradient, new_second = block.value_and_derivatives(new_a, new_b)
            better = new_value <= value - 1e-4 * step * gain + 1e-15 * np.abs(value)
            a[labels[better]], b[labels[better]] = new_a[better], new_b[better]
            value = np.where(better, new_value, value)
            gradient = _chosen(better, new_gradient, gradient)
            second = _chosen(better, new_second, second)
            step = np.where(better, 1.0, step / 2)


def _chosen(better: Bools, new: tuple[Floats, ...], old: tuple[Floats, ...]) -> Any:
    return tuple(np.where(better, after, before) for after, before in zip(new, old, strict=True))


def _direction(
    gradient: tuple[Floats, Floats], second: tuple[Floats, Floats, Floats], sloped: bool
) -> tuple[Floats, Floats, Floats]:
    """Newton's step in slope and intercept, and twice the expected gain; in the intercept alone unless `sloped`."""
    (ga, gb), (aa, ab, bb) = gradient, second
    aa, bb = aa + 1e-10 * (1 + aa), bb + 1e-10 * (1 + bb)  # equal scores leave the slope undetermined
    if not sloped:
        return np.zeros_like(gb), -gb / bb, gb * gb / bb
    determinant = aa * bb - ab * ab
    to_a, to_b = (ab * gb - bb * ga) / determinant, (ab * ga - aa * gb) / determinant
    return to_a, to_b, -(ga * to_a + gb * to_b)


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
