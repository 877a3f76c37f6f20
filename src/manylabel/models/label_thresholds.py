"""A threshold per label, drawn towards a common one, and thresholds kept clear of the scores they were learned from.

A label is predicted where its score is at least the threshold. No learned threshold is stored on a score, where the
last bit of a score would decide (docs/decisions/0016): `clear_of_scores` moves it into the gap below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Csr, Floats
from manylabel.kernels.label_thresholds import label_thresholds

MIDDLE = 0.5
"""The share of a gap that puts a threshold in its middle."""
CLEAR = 0.001
"""The share of a gap by which a threshold that is an average of others keeps clear of the scores."""
BEYOND = 1e-6
"""How far below the lowest score, or above the highest, a threshold lies at least, relative to that score."""
CELLS_A_BATCH = 1 << 20
"""Scores that are looked at together, so that what is computed from them takes little memory."""
KNOWN_WEIGHT = 5.0
"""How many documents of a new label the thresholds of the known labels weigh as much as."""


@dataclass(frozen=True, slots=True)
class OwnThresholds:
    """Per label, the threshold with the best F1 of the label alone, that F1, and the number of its documents."""

    thresholds: Floats
    attained: Floats
    positives: Floats


def own_thresholds(scores: Floats, Y: Csr) -> OwnThresholds:
    """Search every label's threshold, in the middle of its gap; a label is never predicted where its score is −∞.

    NaN for labels without a positive that has a score.
    """
    own, attained = label_thresholds(scores, Y)
    positives = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    return OwnThresholds(clear_of_scores(scores, own, MIDDLE), attained, positives)


def shrunk_thresholds(
    own: OwnThresholds, common: float, shrinkage: float, floor: float, instead: Floats | float
) -> Floats:
    """t_k = (n_k t*_k + shrinkage · t) / (n_k + shrinkage); `instead` where the best F1 of a label is below a floor.

    Labels without positives have the common threshold t; one that is not finite is not averaged.

    >>> own = OwnThresholds(np.array([1.0, 4.0, np.nan]), np.array([0.9, 0.05, np.nan]), np.array([3.0, 1.0, 0.0]))
    >>> shrunk_thresholds(own, common=0.0, shrinkage=1.0, floor=0.1, instead=9.0).tolist()
    [0.75, 9.0, 0.0]
    """
    finite = np.isfinite(own.thresholds) & math.isfinite(common)
    weight = np.maximum(own.positives + shrinkage, 1e-300)
    drawn = own.thresholds
    if finite.any():
        drawn = (own.positives * np.where(finite, own.thresholds, 0.0) + shrinkage * common) / weight
    thresholds = np.where(finite, drawn, np.where(np.isnan(own.thresholds), common, own.thresholds))
    return np.where(own.attained < floor, instead, thresholds)


def drawn_to_known(thresholds: Floats, known: Floats, scores: Floats, Y: Csr) -> Floats:
    """The thresholds of new labels, learned on these scores, drawn towards the median of those of known labels.

    Of a few documents, all may score as low as the others. The best F1 is then that of a threshold that lets in nearly
    every document, or −∞, which lets in all; −∞ becomes the median, +∞ (never predicted) stays.

    >>> learned, known, scores = np.array([-0.9, -np.inf]), np.array([0.5, 0.6]), np.full((2, 2), -0.8)
    >>> drawn_to_known(learned, known, scores, Csr([[1, 1], [1, 1]])).round(6).tolist()
    [0.135714, 0.55]
    """
    finite = known[np.isfinite(known)]
    if not len(finite):
        return thresholds
    own = np.where(np.isneginf(thresholds), math.nan, thresholds)
    positives = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    drawn = shrunk_thresholds(
        OwnThresholds(own, np.ones_like(own), positives), float(np.median(finite)), KNOWN_WEIGHT, 0.0, math.inf
    )
    return clear_of_scores(scores, drawn, CLEAR)


def clear_of_scores(scores: Floats, thresholds: Floats, share: float) -> Floats:
    """Each label's threshold, moved to keep at least a share of the gap it lies in from the scores on either side.

    What these scores decide stays the same: no threshold passes a score. With a share of one half all thresholds lie
    in the middle of their gaps. Below the lowest and above the highest score the distance is `BEYOND`. Infinite scores
    are exact and bound no gap; NaN stays.

    >>> scores = np.array([[0.9], [0.5], [0.1]])
    >>> [clear_of_scores(scores, np.array([t]), 0.5).round(6).tolist() for t in (0.9, 0.6, 0.1, 0.95)]
    [[0.7], [0.7], [0.1], [0.95]]
    >>> clear_of_scores(scores, np.array([0.9]), 0.25).round(6).tolist()
    [0.8]
    """
    upper, lower = np.full(len(thresholds), math.inf), np.full(len(thresholds), -math.inf)
    step = max(1, CELLS_A_BATCH // max(1, len(thresholds)))
    for start in range(0, len(scores), step):
        batch = scores[start : start + step]
        finite, above = np.isfinite(batch), batch >= thresholds
        np.minimum(upper, np.where(finite & above, batch, math.inf).min(axis=0), out=upper)
        np.maximum(lower, np.where(finite & (batch < thresholds), batch, -math.inf).max(axis=0), out=lower)
    has_upper, has_lower = np.isfinite(upper), np.isfinite(lower)
    high, low = np.where(has_upper, upper, 0.0), np.where(has_lower, lower, 0.0)
    both = has_upper & has_lower
    most = np.where(both, (1 - share) * high + share * low, high - _beyond(high))
    least = np.where(both, (1 - share) * low + share * high, low + _beyond(low))
    moved = np.where(has_upper, np.minimum(thresholds, most), thresholds)
    moved = np.where(has_lower, np.maximum(moved, least), moved)
    # Between neighbouring floats there is no room: the threshold stays on the upper one.
    return np.where(both & ~((lower < moved) & (moved <= upper)), upper, moved)


def clear_threshold(scores: Floats, threshold: float) -> float:
    """One threshold for scores of any shape, in the middle of the gap that it lies in; see `clear_of_scores`.

    >>> clear_threshold(np.array([1.0, 2.0, 4.0]), 4.0)
    3.0
    """
    return float(clear_of_scores(scores.reshape(-1, 1), np.array([threshold]), MIDDLE)[0])


def _beyond(scores: Floats) -> Floats:
    """The distance from the lowest or highest score."""
    return np.where(scores == 0, 1e-9, BEYOND * np.abs(scores))
