"""Nearest rows of a sparse matrix by Euclidean distance, and k-means clusters of documents.

|x − c|² = |x|² − 2 (x·c − |c|²/2), so the nearest c has the largest x·c − |c|²/2: an inner product with one more
column, 1 in x and m − |c|²/2 in c. The constant m changes no order and keeps every product above 0, as the kernel of
largest inner products requires.

k-means starts from given centroids and is exact and deterministic. Each document goes to the nearest centroid, each
centroid to the mean of its documents, until no document moves. There are two ways to the same clusters: for a few
clusters dense centroids and one thin product per round; for many, sparse centroids in an index, where a document whose
own centroid stayed is compared with the moved ones only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.nearest import nearest, nearest_index

Distance: TypeAlias = Literal["euclidean", "cosine"]
MAX_ROUNDS = 100
FEW = 128
DENSE_CELLS = 8_000_000
"""Numbers of a dense table at most, centroids × terms or centroids × documents: 64 MB."""
ROUNDING = 1e-12
"""A document moves only to a centroid that is nearer by more than this share; otherwise it could alternate for ever."""


@dataclass(frozen=True, slots=True)
class NearestPoints:
    """The nearest stored rows of each query, nearest first, and x·c − |c|²/2 of each."""

    ids: npt.NDArray[np.int32]
    closeness: Floats


def nearest_points(
    stored: Csr, queries: Csr, k: int, *, distance: Distance = "euclidean", skip: npt.ArrayLike | None = None
) -> NearestPoints:
    """The k stored rows nearest to each query, ties by row; `skip` leaves out one row per query.

    By cosine the rows are taken at unit length, and an empty row is as far from all others as orthogonal ones are.
    There must be k rows to choose from.

    >>> points = Csr(np.array([[0.0], [10.0], [4.0]]))
    >>> nearest_points(points, Csr(np.array([[6.0], [9.0]])), 2).ids.tolist()
    [[2, 1], [1, 2]]
    """
    if distance == "cosine":
        stored, queries = unit_rows(stored), unit_rows(queries)
    squares = squared_lengths(stored)
    largest, longest = float(squares.max(initial=0.0)), float(squared_lengths(queries).max(initial=0.0))
    if distance == "cosine":  # an empty row has no length that could bring it nearer
        squares = np.ones(len(squares))
    # No product is below −√(largest · longest) − largest/2; twice that much keeps rounding away from 0.
    shift = 2 * (largest / 2 + float(np.sqrt(largest * longest))) or 1.0
    index = nearest_index(_with_column(stored, shift - squares / 2))
    # Labels are resampled in threads already.
    found = nearest(index, _with_column(queries, np.ones(queries.shape[0])), k, skip=skip, n_jobs=1)
    return NearestPoints(found.ids, found.similarities.astype(np.float64) - shift)


def unit_rows(X: Csr) -> Csr:
    """The rows at unit length; an empty row stays empty."""
    lengths = np.sqrt(squared_lengths(X))
    scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return Csr((X.data * np.repeat(scale, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def squared_lengths(X: Csr) -> Floats:
    """|x|² of each row."""
    pattern = Csr((X.data.astype(np.float64) ** 2, X.indices, X.indptr), shape=X.shape)
    return np.asarray(pattern.sum(axis=1), dtype=np.float64)


def _with_column(X: Csr, column: Floats) -> Csr:
    """X with one dense column more, on the right."""
    n, width = X.shape
    ends = X.indptr[1:] + np.arange(n)
    stored = np.ones(X.nnz + n, dtype=np.bool_)
    stored[ends] = False
    indices = np.full(X.nnz + n, width, dtype=X.indices.dtype)
    data = np.empty(X.nnz + n)
    indices[stored], data[stored] = X.indices, X.data
    data[ends] = column
    indptr = X.indptr + np.arange(n + 1, dtype=X.indptr.dtype)
    return Csr((data, indices, indptr), shape=(n, width + 1))


@dataclass(frozen=True, slots=True)
class Clusters:
    """The centroids, the cluster of each document, and after how many rounds no document moved any more."""

    centroids: Csr
    assigned: Ints
    rounds: int


def k_means(X: Csr, first: Csr, max_rounds: int = MAX_ROUNDS) -> Clusters:
    """Lloyd's k-means by Euclidean distance, started at the centroids `first`.

    Ties: the lowest centroid at first; later a document stays where it is. A cluster that loses all its documents keeps
    its centroid. Source: Manning, Raghavan & Schütze 2008, section 16.4.

    >>> found = k_means(Csr(np.array([[0.0], [10], [1], [4.4], [9], [30], [31]])), Csr(np.array([[0.0], [10]])))
    >>> found.centroids.toarray().round(6).tolist(), found.assigned.tolist(), found.rounds
    ([[4.88], [30.5]], [0, 0, 0, 0, 0, 1, 1], 2)
    """
    k = first.shape[0]
    few = k <= FEW and k * max(X.shape) <= DENSE_CELLS
    return (few_clusters if few else many_clusters)(X.astype(np.float64), first.astype(np.float64), max_rounds)


def few_clusters(X: Csr, first: Csr, max_rounds: int) -> Clusters:
    """k-means with dense centroids; only distances to centroids that moved are computed again."""
    k, documents = first.shape[0], np.arange(X.shape[0])
    centroids = first.toarray()
    closeness = np.empty((k, X.shape[0]))
    changed = np.arange(k)
    assigned, sizes, sums = _closest(X, centroids, changed, closeness), np.zeros(k), np.zeros_like(centroids)
    arrived, left, moved = assigned, assigned, documents
    for done in range(1, max_rounds + 1):
        rows = X[moved]
        sums += (_members(arrived, k) @ rows).toarray()
        sizes += np.bincount(arrived, minlength=k)
        if done > 1:
            sums -= (_members(left, k) @ rows).toarray()
            sizes -= np.bincount(left, minlength=k)
        changed = changed[sizes[changed] > 0]
        centroids[changed] = sums[changed] / sizes[changed, None]
        best = _closest(X, centroids, changed, closeness)
        found = _nearer(assigned, best, closeness[assigned, documents], closeness[best, documents])
        moved = np.flatnonzero(found != assigned)
        if len(moved) == 0:
            return Clusters(Csr(centroids), assigned, done)
        arrived, left, assigned = found[moved], assigned[moved], found
        changed = np.union1d(arrived, left)
    return Clusters(Csr(centroids), assigned, max_rounds)


def many_clusters(X: Csr, first: Csr, max_rounds: int) -> Clusters:
    """k-means with sparse centroids, searched by an index."""
    centroids, k = first, first.shape[0]
    found = nearest_points(centroids, X, 1)
    assigned, own = found.ids[:, 0].astype(np.int64), found.closeness[:, 0]
    changed = np.arange(k)
    for done in range(1, max_rounds + 1):
        changed = changed[np.bincount(assigned, minlength=k)[changed] > 0]
        centroids = _with_means(X, assigned, centroids, changed)
        lost = np.isin(assigned, changed)
        best, closest = assigned.copy(), own.copy()
        for rows, among in ((np.flatnonzero(lost), np.arange(k)), (np.flatnonzero(~lost), changed)):
            if len(rows) and len(among):
                near = nearest_points(centroids if len(among) == k else centroids[among], X[rows], 1)
                best[rows], closest[rows] = among[near.ids[:, 0]], near.closeness[:, 0]
        own = np.where(lost, -np.inf, own)
        found_now = _nearer(assigned, best, own, closest)
        moved = np.flatnonzero(found_now != assigned)
        if len(moved) == 0:
            return Clusters(centroids, assigned, done)
        own = np.where(found_now == best, closest, own)
        changed = np.union1d(assigned[moved], found_now[moved])
        assigned = found_now
    return Clusters(centroids, assigned, max_rounds)


def _closest(X: Csr, centroids: Floats, changed: Ints, closeness: Floats) -> Ints:
    """The closest centroid of each document after the closeness to the changed ones was computed anew."""
    moved = centroids[changed]
    products = X @ np.ascontiguousarray(moved.T)
    closeness[changed] = products.T - np.sum(moved * moved, axis=1, keepdims=True) / 2
    return np.asarray(closeness.argmax(axis=0), dtype=np.int64)


def _nearer(assigned: Ints, best: Ints, own: Floats, other: Floats) -> Ints:
    """The best centroid where it is nearer than a document's own by more than rounding, its own elsewhere."""
    with np.errstate(invalid="ignore"):
        margin = ROUNDING * np.maximum(np.where(np.isfinite(own), np.abs(own), 0.0), np.abs(other))
        return np.where(other - own > margin, best, assigned)


def _members(assigned: npt.NDArray[np.int64], k: int) -> Csr:
    """Clusters × documents, 1 where a document belongs to the cluster."""
    n = len(assigned)
    return Csr(sparse.csc_array((np.ones(n), assigned, np.arange(n + 1)), shape=(k, n)))


def _with_means(X: Csr, assigned: Ints, centroids: Csr, changed: Ints) -> Csr:
    """The centroids after those of the changed clusters, none of them empty, moved to the mean of their documents."""
    k = centroids.shape[0]
    rows = np.flatnonzero(np.isin(assigned, changed))
    cluster = np.searchsorted(changed, assigned[rows])
    sizes = np.bincount(cluster, minlength=len(changed))
    means = Csr(sparse.diags_array(1.0 / sizes) @ (_members(cluster, len(changed)) @ X[rows]))
    means.sort_indices()
    order = np.arange(k)
    order[changed] = k + np.arange(len(changed))
    return Csr(sparse.vstack([centroids, means], format="csr")[order])
