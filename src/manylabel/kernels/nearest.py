"""Nearest stored documents by cosine, and the shares of their labels.

>>> stored = nearest_index(np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]]))
>>> found = nearest(stored, np.array([[0.96, 0.28]]), k=3)
>>> found.ids.tolist(), found.similarities.round(3).tolist()
([[0, 1, 2]], [[0.96, 0.936, 0.8]])
>>> Y = Csr(np.array([[1, 0], [1, 1], [0, 1], [0, 1]]))
>>> votes(found, Y).toarray().round(3).tolist(), votes(found, Y, weights="cosine").toarray().round(3).tolist()
([[0.667, 0.667]], [[0.703, 0.644]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Ints
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels import compiled_module
from manylabel.kernels import neighbours_reference as reference
from manylabel.kernels.canonical import canonical
from manylabel.kernels.neighbours_reference import Int32s, Postings, Queries, Reals
from manylabel.kernels.threads import in_threads

_kernel: Any = compiled_module("neighbours") or reference

QUERIES_PER_BLOCK = 128
FREQUENT = 8  # a term in more than an eighth of the documents is quicker to add as a dense row (measured)


@dataclass(frozen=True, slots=True)
class NearestIndex:
    """The stored documents, indexed by term."""

    postings: Postings
    n_documents: int

    def find(self, queries: Any, k: int, *, skip: npt.ArrayLike | None = None, n_jobs: int | None = None) -> Neighbours:
        """See `nearest`."""
        return nearest(self, queries, k, skip=skip, n_jobs=n_jobs)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of each query, best first; row q holds `counts[q]` of them, then -1 and 0."""

    ids: Int32s
    similarities: Reals
    counts: Int32s


def nearest_index(X: Any, frequent: Ints | None = None) -> NearestIndex:
    """Prepare the documents (rows of X, unit vectors for cosine) for `nearest`; float32 stays, all else is float64.

    `frequent` are the terms to add first; by default the `frequent_terms` of X. As long as these are the same,
    similarities do not depend, to the bit, on the other documents of an index.
    """
    X = canonical(X)
    if X.shape[0] >= np.iinfo(np.int32).max:
        raise DataError(f"An index holds fewer than 2,147,483,647 documents, not {X.shape[0]}.")
    X = canonical(X, np.float32 if X.dtype == np.float32 else np.float64)
    by_term = X.tocsc()
    starts = by_term.indptr.astype(np.int64)
    if frequent is None:
        frequent = frequent_terms(np.diff(starts), X.shape[0])
    row_of = np.full(X.shape[1], -1, dtype=np.int32)
    row_of[frequent] = np.arange(len(frequent), dtype=np.int32)
    rows = np.ascontiguousarray(by_term[:, frequent].toarray().T)
    return NearestIndex(
        Postings(starts, by_term.indices.astype(np.int32, copy=False), by_term.data, row_of, rows), X.shape[0]
    )


def frequent_terms(document_frequency: Ints, n_documents: int) -> Ints:
    """The terms of many documents, by the number of documents with each term."""
    return np.flatnonzero(document_frequency * FREQUENT > n_documents).astype(np.int64)


def merged(found: Sequence[Neighbours], k: int) -> Neighbours:
    """The k best of the neighbours that were found among several groups of documents; ids rise from group to group.

    >>> first, second = ([[4, 0]], [[0.9, 0.5]], [2]), ([[7, 9]], [[0.5, 0.0]], [1])
    >>> merged([Neighbours(*map(np.array, first)), Neighbours(*map(np.array, second))], 3).ids.tolist()
    [[4, 0, 7]]
    """
    ids, similarities = (np.hstack(column) for column in zip(*((one.ids, one.similarities) for one in found)))
    order = np.argsort(-similarities, axis=1, kind="stable")[:, :k]  # what is no neighbour has similarity 0
    best = np.take_along_axis(similarities, order, axis=1)
    counts = np.count_nonzero(best > 0, axis=1).astype(np.int32)
    return Neighbours(np.take_along_axis(ids, order, axis=1), best, counts)


def nearest(
    index: NearestIndex,
    queries: Any,
    k: int,
    *,
    skip: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Neighbours:
    """The k documents of largest positive inner product with each query (cosine for unit vectors), ties by index.

    k is limited to the number of documents. `skip` holds one document to leave out for each query (-1: none), as for
    the neighbours of a training document. Source: Manning, Raghavan & Schütze 2008, section 14.3.
    """
    if k < 1:
        raise ParameterError(f"The number of neighbours k must be at least 1, not {k}.")
    asked = _asked(index, queries)
    n, k = asked.shape[0], min(k, index.n_documents)
    left_out = _skipped(skip, n)
    found = Neighbours(
        np.full((n, k), -1, dtype=np.int32),
        np.zeros((n, k), dtype=asked.dtype),
        np.zeros(n, dtype=np.int32),
    )
    arrays = Queries(asked.indptr, asked.indices, asked.data)

    def search(begin: int) -> None:
        end = min(begin + QUERIES_PER_BLOCK, n)
        results = (found.ids, found.similarities, found.counts)
        _kernel.k_nearest(arrays, index.postings, index.n_documents, left_out, begin, end, *results)

    if k:
        in_threads(search, range(0, n, QUERIES_PER_BLOCK), n_jobs)
    return found


def votes(
    found: Neighbours, Y: Any, *, weights: Literal["uniform", "cosine"] = "uniform", n_jobs: int | None = None
) -> Csr:
    """Each label's share of each query's neighbours, queries × labels; Y holds the stored documents' label sets.

    share_l = Σ_j w_j y_jl / Σ_j w_j with w = 1 ("uniform") or the similarity ("cosine"). A query without neighbours
    has no shares. Source: Manning, Raghavan & Schütze 2008, section 14.3.
    """
    if weights not in ("uniform", "cosine"):
        raise ParameterError(f"Weights must be 'uniform' or 'cosine', not {weights!r}.")
    sets = canonical(Y, keep_zeros=False)
    starts, labels = sets.indptr.astype(np.int64), sets.indices.astype(np.int32, copy=False)
    w = np.ones(found.ids.shape) if weights == "uniform" else found.similarities.astype(np.float64)
    n = len(found.ids)

    def count(begin: int) -> tuple[Any, Any, Any]:
        end = min(begin + 8 * QUERIES_PER_BLOCK, n)
        shares: tuple[Any, Any, Any] = _kernel.label_shares(
            found.ids, found.counts, w, begin, end, starts, labels, sets.shape[1]
        )
        return shares

    return _stacked(in_threads(count, range(0, n, 8 * QUERIES_PER_BLOCK), n_jobs), sets.shape[1])


def _asked(index: NearestIndex, queries: Any) -> Csr:
    asked = canonical(queries, index.postings.values.dtype)
    n_terms = len(index.postings.row_of)
    if asked.shape[1] != n_terms:
        raise DataError(
            f"The queries have {asked.shape[1]} terms but the stored documents {n_terms}. "
            "Vectorise both with the same vocabulary."
        )
    return asked


def _skipped(skip: npt.ArrayLike | None, n: int) -> Int32s:
    if skip is None:
        return np.full(n, -1, dtype=np.int32)
    left_out = np.ascontiguousarray(skip, dtype=np.int32)
    if left_out.shape != (n,):
        raise DataError(f"skip must hold one document for each of {n} queries, not {left_out.shape}.")
    return left_out


def _stacked(parts: list[tuple[Any, Any, Any]], n_columns: int) -> Csr:
    """One CSR table of the rows of several."""
    indptr, length = [np.zeros(1, dtype=np.int64)], 0
    for starts, _, _ in parts:
        indptr.append(starts[1:] + length)
        length += int(starts[-1])
    starts = np.concatenate(indptr)
    indices = np.concatenate([part[1] for part in parts] or [np.zeros(0, dtype=np.int32)])
    data = np.concatenate([part[2] for part in parts] or [np.zeros(0)])
    return Csr((data, indices, starts), shape=(len(starts) - 1, n_columns))
