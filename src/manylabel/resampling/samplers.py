"""Samplers for one label as a two-class problem: weights, under-sampling, over-sampling, SMOTE.

One number, `ratio`, sets the positives per negative afterwards, for weights, under- and over-sampling alike. The counts
are those of imbalanced-learn's float `sampling_strategy`. A problem that already has the ratio is left as it is:
positives are never dropped and negatives never added.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.resampling.clusters import MAX_ROUNDS, Distance, k_means, nearest_points, squared_lengths

Bools = npt.NDArray[np.bool_]

UNDER_SAMPLERS = ("random", "centroid", "surface", "cluster")
OVER_SAMPLERS = ("replicate", "smote")
WEIGHTS = "weights"
SAMPLERS = (WEIGHTS, *UNDER_SAMPLERS, *OVER_SAMPLERS)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How every label's problem is resampled; `margins` returns a label's distances from a first decision surface."""

    sampler: Any
    ratio: float
    neighbours: int
    distance: Distance
    max_rounds: int
    seed: int
    margins: Callable[[int], Floats] | None = None

    def kept_rows(self, X: Csr, positive: Bools, label: int) -> Ints:
        """The rows an under-sampler keeps, all positives among them, in ascending order."""
        if self.sampler == "random":
            return random_rows(positive, self.ratio, generator(self.seed, positive))
        if self.sampler == "cluster":
            return cluster_rows(X, positive, self.max_rounds)
        if self.sampler == "centroid":
            return nearest_rows(positive, self.ratio, centroid_similarity(X, positive))
        assert self.margins is not None
        return nearest_rows(positive, self.ratio, surface_closeness(self.margins(label)))

    def problem(self, X: Csr, positive: Bools, label: int) -> tuple[Csr, Bools]:
        """The documents a label is learned from, and which of them are positive."""
        if self.sampler in UNDER_SAMPLERS:
            rows = self.kept_rows(X, positive, label)
            return X[rows], positive[rows]
        if self.sampler in OVER_SAMPLERS:
            new = self._new_rows(X, positive)
            return stacked(X, new), np.concatenate([positive, np.ones(new.shape[0], dtype=np.bool_)])
        return _resampled_by(self.sampler, X, positive, self.seed)

    def _new_rows(self, X: Csr, positive: Bools) -> Csr:
        random = generator(self.seed, positive)
        if self.sampler == "replicate":
            return Csr(X[replicated_rows(positive, self.ratio, random)])
        return synthetic_positives(X, positive, self.ratio, random, k=self.neighbours, distance=self.distance)


def _resampled_by(sampler: Any, X: Csr, positive: Bools, seed: int) -> tuple[Csr, Bools]:
    """The problem resampled by imbalanced-learn; an unset random state is drawn per label."""
    from sklearn.base import clone

    fresh = clone(sampler)
    if "random_state" in fresh.get_params() and fresh.random_state is None:
        fresh.set_params(random_state=int(generator(seed, positive).integers(2**31)))
    # imbalanced-learn stacks rows of the older matrix class only.
    documents, y = fresh.fit_resample(sparse.csr_matrix(X), positive.astype(np.int64))
    found = Csr(documents)
    found.sum_duplicates()
    return found, np.asarray(y) == 1


# --- amounts ---------------------------------------------------------------------------------------------------------


def negatives_to_keep(n_positive: int, n_negative: int, ratio: float) -> int:
    """How many negatives leave `ratio` positives per negative: ⌊n₊ / ratio⌋, at least one, at most all.

    >>> negatives_to_keep(10, 990, 0.1), negatives_to_keep(10, 990, 0.001), negatives_to_keep(1, 99, 5)
    (100, 990, 1)
    """
    return min(n_negative, max(1, int(n_positive / ratio)))


def positives_to_add(n_positive: int, n_negative: int, ratio: float) -> int:
    """How many new positives make `ratio` positives per negative: ⌊ratio · n₋⌋ − n₊, at least none.

    >>> positives_to_add(10, 990, 0.1), positives_to_add(10, 990, 0.001), positives_to_add(0, 99, 1.0)
    (89, 0, 0)
    """
    return max(0, int(ratio * n_negative) - n_positive) if n_positive else 0


def generator(seed: int, positive: Bools) -> np.random.Generator:
    """The random numbers of one label: they depend on the seed and on which documents are positive, nothing else.

    So neither the number of threads nor the order of the labels changes what is drawn.
    """
    rows: Ints = np.flatnonzero(positive).astype("<i8")
    return np.random.default_rng([seed, zlib.crc32(rows.tobytes())])


def positive_costs(label_documents: Ints, n_documents: int, ratio: float = 1.0) -> Floats:
    """For each label the weight J of a positive at which positives weigh `ratio` times what the negatives weigh.

    J = max(1, ratio · n₋ / n₊);  1 where a label has no positives or no negatives

    With ratio 1 each label's positives weigh as much as its negatives, which scikit-learn calls "balanced" (up to a
    common factor). J is the cost of a positive error in an SVM, and the factor of a positive's counts in naive Bayes.
    Source: Morik, Brockhausen & Joachims 1999, the cost factor of SVM-light.

    >>> positive_costs(np.array([1, 50, 100, 0]), 100).tolist()
    [99.0, 1.0, 1.0, 1.0]
    """
    positive = np.asarray(label_documents, dtype=np.float64)
    negative = n_documents - positive
    return np.asarray(np.where(positive > 0, np.maximum(1.0, ratio * negative / np.maximum(positive, 1.0)), 1.0))


def sample_weights(positive: Bools, cost: float) -> Floats:
    """The weight of each document: `cost` for the positives, 1 for the rest.

    >>> sample_weights(np.array([True, False, False]), 10.0).tolist()
    [10.0, 1.0, 1.0]
    """
    return np.where(positive, float(cost), 1.0)


# --- under-sampling --------------------------------------------------------------------------------------------------


def random_rows(positive: Bools, ratio: float, random: np.random.Generator) -> Ints:
    """The rows kept when negatives are drawn at random until there are `ratio` positives per negative; ascending.

    Source: Batista, Prati & Monard 2004.

    >>> positive = np.array([False, True, False, False, True, False, False])
    >>> rows = random_rows(positive, 1.0, np.random.default_rng(0))
    >>> len(rows), int(positive[rows].sum())
    (4, 2)
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
    lengths = np.sqrt(squared_lengths(X))
    scale = lengths * np.linalg.norm(centroid)
    return np.asarray(np.divide(X @ centroid, scale, out=np.zeros(len(lengths)), where=scale > 0), dtype=np.float64)


def surface_closeness(margins: Floats) -> Floats:
    """How near each document is to a decision surface: −|w·x + b|, 0 on the surface."""
    return -np.abs(margins)


def _with_positives(positive: Bools, negatives: Ints) -> Ints:
    kept = positive.copy()
    kept[negatives] = True
    return np.flatnonzero(kept)


def cluster_rows(X: Csr, positive: Bools, max_rounds: int = MAX_ROUNDS) -> Ints:
    """The rows kept when clusters without a positive are dropped: all positives, and the negatives beside them.

    k-means on all documents by Euclidean distance, one cluster for each positive, started at the positives, so that
    nothing is random. Where no negative at all would be left, all of them stay: there would be nothing to learn from.

    Yen & Lee 2009 cluster first and then draw negatives from every cluster; here whole clusters go.

    >>> X = Csr(np.array([[0.0], [10], [1], [4.4], [9], [30], [31]]))
    >>> cluster_rows(X, np.array([1, 1, 0, 0, 0, 0, 0], dtype=bool)).tolist()
    [0, 1, 2, 3, 4]
    """
    n_positive = int(np.count_nonzero(positive))
    if n_positive <= 1 or n_positive == len(positive):  # no cluster, one cluster, or no negative
        return np.arange(len(positive))
    assigned = k_means(X, X[np.flatnonzero(positive)], max_rounds).assigned
    occupied = np.zeros(n_positive, dtype=np.bool_)
    occupied[assigned[positive]] = True
    kept = occupied[assigned]
    return np.flatnonzero(kept) if kept[~positive].any() else np.arange(len(positive))


# --- over-sampling ---------------------------------------------------------------------------------------------------


def replicated_rows(positive: Bools, ratio: float, random: np.random.Generator) -> Ints:
    """Rows of positives to be added again until there are `ratio` positives per negative.

    Every positive is taken equally often, the remainder drawn without repetition; imbalanced-learn draws them all
    independently. To a classifier with costs this is what a weight is. Source: Batista, Prati & Monard 2004.

    >>> positive = np.array([True, False, False, True, False, False, False])
    >>> np.bincount(replicated_rows(positive, 1.0, np.random.default_rng(0)), minlength=7).tolist()
    [1, 0, 0, 2, 0, 0, 0]
    """
    rows = np.flatnonzero(positive)
    wanted = positives_to_add(len(rows), len(positive) - len(rows), ratio)
    if wanted == 0:
        return np.zeros(0, dtype=np.int64)
    times, rest = divmod(wanted, len(rows))
    return np.sort(np.concatenate([np.repeat(rows, times), random.choice(rows, size=rest, replace=False)]))


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
    positive neighbours, g ~ U(0, 1), new = x_i + g (x_j − x_i). k is at most n₊ − 1; a single positive is replicated.
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
    """The rows x_i + g (x_j − x_i) for given i, j and g: one product with a matrix of two numbers per row.

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
