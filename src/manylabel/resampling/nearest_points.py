"""Nearest rows of a sparse matrix by Euclidean distance, through the kernel of largest inner products.

|x − c|² = |x|² − 2 (x·c − |c|²/2), so the nearest c has the largest x·c − |c|²/2: an inner product with one column
more, 1 in x and m − |c|²/2 in c. The constant m changes no order and keeps every product above 0, where the kernel
looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.kernels.nearest import nearest, nearest_index

Distance: TypeAlias = Literal["euclidean", "cosine"]


@dataclass(frozen=True, slots=True)
class NearestPoints:
    """The nearest stored rows of each query, nearest first, and x·c − |c|²/2 of each."""

    ids: npt.NDArray[np.int32]
    closeness: Floats


def nearest_points(
    stored: Csr,
    queries: Csr,
    k: int,
    *,
    distance: Distance = "euclidean",
    skip: npt.ArrayLike | None = None,
    n_jobs: int | None = 1,
) -> NearestPoints:
    """The k stored rows nearest to each query, ties by row; `skip` leaves out one row a query.

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
    found = nearest(index, _with_column(queries, np.ones(queries.shape[0])), k, skip=skip, n_jobs=n_jobs)
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
    place = np.ones(X.nnz + n, dtype=np.bool_)
    place[ends] = False
    indices = np.full(X.nnz + n, width, dtype=X.indices.dtype)
    data = np.empty(X.nnz + n)
    indices[place], data[place] = X.indices, X.data
    data[ends] = column
    indptr = X.indptr + np.arange(n + 1, dtype=X.indptr.dtype)
    return Csr((data, indices, indptr), shape=(n, width + 1))
