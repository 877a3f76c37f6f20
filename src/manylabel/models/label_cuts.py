"""A threshold for each label, drawn towards a common one: the formula of per-label rules and of thresholds per node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manylabel.estimator import Csr, Floats
from manylabel.kernels.label_thresholds import label_cuts


@dataclass(frozen=True, slots=True)
class OwnCuts:
    """The cut of each label with the best F1 of the label alone, that F1, and how many documents have the label."""

    cuts: Floats
    attained: Floats
    positives: Floats


def own_cuts(scores: Floats, Y: Csr, place: Literal["middle", "attained"]) -> OwnCuts:
    """Search every label's cut; scores of −∞ are never given. NaN for labels without a positive that has a score."""
    own, attained = label_cuts(scores, Y)
    if place == "middle":
        own = middle_of_gap(scores, own)
    return OwnCuts(own, attained, np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64))


def shrunk_cuts(own: OwnCuts, common: float, shrinkage: float, floor: float, instead: Floats | float) -> Floats:
    """t_k = (n_k t*_k + shrinkage · t) / (n_k + shrinkage); `instead` where the best F1 of a label is below a floor.

    Labels without positives keep the common cut t; one that is not finite is not averaged.

    >>> own = OwnCuts(np.array([1.0, 4.0, np.nan]), np.array([0.9, 0.05, np.nan]), np.array([3.0, 1.0, 0.0]))
    >>> shrunk_cuts(own, common=0.0, shrinkage=1.0, floor=0.1, instead=9.0).tolist()
    [0.75, 9.0, 0.0]
    """
    finite = np.isfinite(own.cuts) & math.isfinite(common)
    weight = np.maximum(own.positives + shrinkage, 1e-300)
    drawn = own.cuts
    if finite.any():
        drawn = (own.positives * np.where(finite, own.cuts, 0.0) + shrinkage * common) / weight
    cuts = np.where(finite, drawn, np.where(np.isnan(own.cuts), common, own.cuts))
    return np.where(own.attained < floor, instead, cuts)


def middle_of_gap(scores: Floats, cuts: Floats) -> Floats:
    """Each label's cut moved half-way down to the next lower score seen; kept where there is none.

    >>> middle_of_gap(np.array([[0.9], [0.5], [0.1]]), np.array([0.9])).tolist()
    [0.7]
    """
    lower = np.where(scores < cuts, scores, -math.inf).max(axis=0, initial=-math.inf)
    finite = np.isfinite(lower) & np.isfinite(cuts)
    return np.where(finite, (np.where(finite, cuts, 0) + np.where(finite, lower, 0)) / 2, cuts)
