"""Cluster-based under-sampling: negatives far from every positive go, whole clusters at a time."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr, Ints
from manylabel.resampling.amounts import Bools
from manylabel.resampling.k_means import MAX_ROUNDS, k_means


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
