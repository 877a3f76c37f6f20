"""Under-sampling: all positives, and some of the negatives, drawn at random or those nearest to something."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.resampling.amounts import Bools, negatives_to_keep


def random_rows(positive: Bools, ratio: float, random: np.random.Generator) -> Ints:
    """The rows kept when negatives are drawn at random until there are `ratio` positives per negative; ascending.

    Source: Batista, Prati & Monard 2004.

    >>> positive = np.array([False, True, False, False, True, False, False])
    >>> rows = random_rows(positive, 1.0, np.random.default_rng(0))
    >>> len(rows), positive[rows].sum()
    (4, np.int64(2))
    """
    negative = np.flatnonzero(~positive)
    wanted = negatives_to_keep(len(positive) - len(negative), len(negative), ratio)
    return _with_positives(positive, random.choice(negative, size=wanted, replace=False, shuffle=False))


def nearest_rows(positive: Bools, ratio: float, closeness: Floats) -> Ints:
    """The rows kept when the negatives of largest closeness stay; ties by row.

    >>> nearest_rows(np.array([True, False, False, False]), 0.5, np.array([0.0, 0.3, 0.1, 0.2])).tolist()
    [0, 1, 3]
    """
    negative = np.flatnonzero(~positive)
    wanted = negatives_to_keep(len(positive) - len(negative), len(negative), ratio)
    order = np.argsort(-closeness[negative], kind="stable")
    return _with_positives(positive, negative[order[:wanted]])


def centroid_similarity(X: Csr, positive: Bools) -> Floats:
    """The cosine between each document and the mean of the positives; 0 for an empty document.

    >>> X = Csr(np.array([[2.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 0.0]]))
    >>> centroid_similarity(X, np.array([True, True, False, False])).round(6).tolist()
    [0.707107, 0.707107, 0.707107, 0.0]
    """
    n_positive = max(1, int(np.count_nonzero(positive)))
    centroid = positive.astype(np.float64) @ X / n_positive
    lengths = np.sqrt(Csr((X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape).sum(axis=1))
    scale = lengths * np.linalg.norm(centroid)
    return np.asarray(np.divide(X @ centroid, scale, out=np.zeros(len(lengths)), where=scale > 0), dtype=np.float64)


def surface_closeness(margins: Floats) -> Floats:
    """How near each document is to a decision surface: −|w·x + b|, 0 on the surface."""
    return -np.abs(margins)


def _with_positives(positive: Bools, negatives: Ints) -> Ints:
    kept = positive.copy()
    kept[negatives] = True
    return np.flatnonzero(kept)
