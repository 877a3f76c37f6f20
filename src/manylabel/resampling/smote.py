"""SMOTE: new positives on the lines between a positive and its nearest positive neighbours."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.resampling.amounts import Bools, positives_to_add
from manylabel.resampling.nearest_points import Distance, nearest_points


def synthetic_positives(
    X: Csr,
    positive: Bools,
    ratio: float,
    random: np.random.Generator,
    *,
    k: int = 5,
    distance: Distance = "euclidean",
) -> Csr:
    """New positives, as many as make `ratio` positives per negative.

    For each one: x_i a positive (each equally often, the remainder drawn without repetition), x_j one of its k nearest
    positive neighbours, g ~ U(0, 1), new = x_i + g (x_j − x_i). k is cut to n₊ − 1; one positive alone is replicated.
    Sparse rows stay sparse: a new row has the terms of both. Counts become fractional.

    Source: Chawla, Bowyer, Hall & Kegelmeyer 2002. imbalanced-learn draws i independently.

    >>> X = Csr(np.array([[1.0, 0, 2], [3, 4, 2], [9, 9, 9], [0, 1, 0], [0, 0, 1]]))
    >>> new = synthetic_positives(X, np.array([1, 1, 0, 0, 0], dtype=bool), 1.0, np.random.default_rng(0))
    >>> new.shape, bool((new.toarray() >= [1, 0, 2]).all()), bool((new.toarray() <= [3, 4, 2]).all())
    ((1, 3), True, True)
    """
    points = X[np.flatnonzero(positive)]
    n = points.shape[0]
    wanted = positives_to_add(n, X.shape[0] - n, ratio)
    if wanted == 0:
        return Csr(points[:0])
    times, rest = divmod(wanted, n)
    first = np.concatenate([np.repeat(np.arange(n), times), random.choice(n, size=rest, replace=False)])
    if n == 1:
        return interpolated(points, first, first, np.zeros(wanted))
    neighbours = positive_neighbours(points, k, distance)
    second = neighbours[first, random.integers(neighbours.shape[1], size=wanted)].astype(np.int64)
    return interpolated(points, first, second, random.random(wanted))


def positive_neighbours(points: Csr, k: int = 5, distance: Distance = "euclidean") -> Ints:
    """The min(k, n − 1) nearest other rows of each row, nearest first."""
    n = points.shape[0]
    return nearest_points(points, points, min(k, n - 1), distance=distance, skip=np.arange(n)).ids.astype(np.int64)


def interpolated(points: Csr, first: Ints, second: Ints, gaps: Floats) -> Csr:
    """The rows x_i + g (x_j − x_i) for given i, j and g: one product with a matrix of two numbers a row.

    >>> interpolated(Csr(np.array([[1.0, 0, 2], [3, 4, 2]])), np.array([0]), np.array([1]), np.array([0.25])).toarray()
    array([[1.5, 1. , 2. ]])
    """
    m = len(first)
    shares = np.column_stack([1.0 - gaps, gaps]).ravel()
    pairs = np.column_stack([first, second]).ravel()
    mixing = Csr((shares, pairs, 2 * np.arange(m + 1)), shape=(m, points.shape[0]))
    new = Csr(mixing @ points)
    new.sum_duplicates()
    new.eliminate_zeros()
    return new


def stacked(X: Csr, new: Csr) -> Csr:
    """X with further rows below it."""
    return Csr(sparse.vstack([X, new], format="csr")) if new.shape[0] else X
