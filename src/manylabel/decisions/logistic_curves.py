"""Logistic curves from scores to probabilities, one per label, learned by Newton's method for many labels at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.decisions.calibration import BATCH_BYTES
from manylabel.estimator import Floats
from manylabel.models.base import row_batches
from manylabel.models.score_kinds import Bools

CELLS_A_BLOCK = 1 << 17
POOLED_CELLS = 1 << 22
"""Beyond this many scores, the curve of all labels pooled is learned on evenly spaced documents."""
MAX_STEPS = 100
ENOUGH = 1e-12
"""Newton's method ends where the next step is expected to gain less than this, in units of the log-likelihood."""


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
    some = slice(None, None, -(-scores.size // POOLED_CELLS))
    centre, spread = _location(scores[some], usable[some], both)
    around = _pool(scores[some], Y_true[some], both, (centre, spread), shrinkage) if shrinkage else Around()
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
    share = shrinkage / max(1.0, float((Y_true[:, labels] & np.isfinite(scores[:, labels])).sum()))
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
        sums = np.zeros((6, len(a)))
        for rows in row_batches(self.scores.shape[0], self.scores.shape[1], BATCH_BYTES):
            sums += self._sums(rows, a, b)
        (a0, b0), (aa, ab, bb) = self.around.centre, self.around.precision
        da, db = a - a0, b - b0
        value = sums[0] - a * self.lean[0] - b * self.lean[1]
        value += 0.5 * (aa * da * da + 2 * ab * da * db + bb * db * db)
        to_a, to_b = sums[1] - self.lean[0], sums[2] - self.lean[1]
        second = sums[3] + aa, sums[4] + ab, sums[5] + bb
        return value, (to_a + aa * da + ab * db, to_b + ab * da + bb * db), second

    def _sums(self, rows: slice, a: Floats, b: Floats) -> Floats:
        """Σ log(1 + e^z), Σ p f, Σ p, Σ p(1 − p) f², Σ p(1 − p) f and Σ p(1 − p) of each label over some documents."""
        f = self.scores[rows]
        z = f * a + b
        small = np.exp(-np.abs(z))
        over = 1.0 / (1.0 + small)
        softplus = np.maximum(z, 0.0) + np.log1p(small)
        p = np.where(z >= 0, over, small * over)
        curvature = small * over * over
        if self.usable is not None:
            softplus, p, curvature = (np.where(self.usable[rows], cells, 0.0) for cells in (softplus, p, curvature))
        weighted = curvature * f
        return np.array([cells.sum(axis=0) for cells in (softplus, p * f, p, weighted * f, weighted, curvature)])

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
