"""A rising curve for each label, from scores to probabilities: the best of all that never fall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Floats, Ints
from manylabel.models.score_kinds import Bools


@dataclass(frozen=True, slots=True)
class Steps:
    """Curves by their corners: those of curve k are ``[starts[k]:starts[k + 1]]``, straight lines between them."""

    scores: Floats
    heights: Floats
    starts: Ints

    @classmethod
    def of(cls, curves: list[tuple[Floats, Floats]]) -> Steps:
        """Several curves one behind the other."""
        starts = np.concatenate([[0], np.cumsum([len(scores) for scores, _ in curves], dtype=np.int64)])
        scores, heights = (np.concatenate([np.zeros(0), *(curve[side] for curve in curves)]) for side in (0, 1))
        return cls(scores, heights, starts.astype(np.int64))

    def height(self, curve: int, scores: Floats) -> Floats:
        """The heights of one curve at some scores; beyond its ends it goes on level."""
        part = slice(int(self.starts[curve]), int(self.starts[curve + 1]))
        return np.interp(scores, self.scores[part], self.heights[part])


def rising_curve(scores: Floats, truth: Bools) -> tuple[Floats, Floats]:
    """The corners of the curve g that minimises Σ_i (t_i − g(f_i))² among all that never fall.

    t_i = (N₊ + 1)/(N₊ + 2) for positives and 1/(N₋ + 2) for negatives, Platt's targets, so that no probability is 0 or
    1. Equal scores share one height. Source: Zadrozny & Elkan 2002 (calibration), by pooling adjacent violators; the
    targets are Platt's (1999).

    >>> scores, heights = rising_curve(np.array([0.0, 1.0, 2.0, 3.0]), np.array([False, True, False, True]))
    >>> scores.tolist(), heights.tolist()
    ([0.0, 1.0, 2.0, 3.0], [0.25, 0.5, 0.5, 0.75])
    """
    from scipy.optimize import isotonic_regression

    positives = int(truth.sum())
    places, number, counts = np.unique(scores, return_inverse=True, return_counts=True)
    high, low = (positives + 1) / (positives + 2), 1 / (len(truth) - positives + 2)
    shares = np.bincount(number, weights=truth, minlength=len(places)) / counts
    heights = isotonic_regression(low + (high - low) * shares, weights=counts.astype(np.float64)).x
    level = heights[1:] == heights[:-1]
    corner = ~(np.append(False, level) & np.append(level, False))  # a point between two of its height is no corner
    return places[corner], heights[corner]
