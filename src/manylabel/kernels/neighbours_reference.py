"""The plain twins of the kernels for nearest documents: what each one computes, with SciPy and NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr

Reals = npt.NDArray[Any]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Queries(NamedTuple):
    """The three arrays of a CSR matrix, queries × terms; no cell stored twice."""

    starts: npt.NDArray[Any]
    terms: npt.NDArray[Any]
    values: Reals


class Postings(NamedTuple):
    """The stored documents by term: those with term t are ``documents[starts[t]:starts[t + 1]]``.

    A term that many documents have is kept a second time as a dense row: ``rows[row_of[t]]`` holds its value in every
    document; ``row_of[t]`` is -1 for the others. `rows` has no columns to spare: one per document.
    """

    starts: Int64s
    documents: Int32s
    values: Reals
    row_of: Int32s
    rows: Reals


def k_nearest(
    queries: Queries,
    postings: Postings,
    n_documents: int,
    skip: Int32s,
    begin: int,
    end: int,
    ids: Int32s,
    similarities: Reals,
    counts: Int32s,
) -> None:
    """Write the documents of largest positive inner product with the queries begin .. end, best first.

    s_d = Σ_t q_t v_dt, over the terms of the query only; ties by lowest document. Row q of `ids` and
    `similarities` receives the k (the number of their columns) best, `counts[q]` how many there are. Document
    ``skip[q]`` is left out (-1: none). The sum takes frequent terms first, so that twins agree to the bit.

    Source: Manning, Raghavan & Schütze 2008, section 6.3.3 (cosine by term at a time) and 14.3.
    """
    n_terms = len(postings.row_of)
    if not 0 <= begin <= end < len(queries.starts) or len(skip) < end or len(counts) < end:
        raise IndexError(f"Queries {begin} to {end} are out of bounds.")
    first, last = int(queries.starts[begin]), int(queries.starts[end])
    terms = queries.terms[first:last]
    if len(terms) and (terms.min() < 0 or terms.max() >= n_terms):
        raise IndexError("A query names a term out of bounds.")
    rows = np.repeat(np.arange(end - begin), np.diff(queries.starts[begin : end + 1]))
    order = np.lexsort((postings.row_of[terms] < 0, rows))
    starts = queries.starts[begin : end + 1] - first
    asked = Csr((queries.values[first:last][order], terms[order], starts), shape=(end - begin, n_terms))
    stored = Csr((postings.values, postings.documents, postings.starts), shape=(n_terms, n_documents))
    found = asked @ stored
    k = ids.shape[1]
    for row, query in enumerate(range(begin, end)):
        cells = slice(found.indptr[row], found.indptr[row + 1])
        documents, values = found.indices[cells], found.data[cells]
        kept = (values > 0) & (documents != skip[query])
        documents, values = documents[kept], values[kept]
        best = np.lexsort((documents, -values))[:k]
        counts[query] = len(best)
        ids[query, : len(best)] = documents[best]
        similarities[query, : len(best)] = values[best]


def label_shares(
    ids: Int32s,
    counts: Int32s,
    weights: npt.NDArray[np.float64],
    begin: int,
    end: int,
    starts: Int64s,
    labels: Int32s,
    n_labels: int,
) -> tuple[Int64s, Int32s, npt.NDArray[np.float64]]:
    """Each label's share of the neighbours of the queries begin .. end, as the three arrays of a CSR table.

    share_l = Σ_j w_j y_jl / Σ_j w_j over the ``counts[q]`` neighbours j of query q; none: no shares. `starts` and
    `labels` are the label sets of the stored documents. Returns where each query's cells begin, the labels, sorted,
    and the shares. Source: Manning, Raghavan & Schütze 2008, section 14.3.

    >>> ids, weights = np.array([[0, 1, 2]], np.int32), np.array([[0.96, 0.936, 0.8]])
    >>> starts, labels = np.array([0, 1, 3, 4, 5]), np.array([0, 0, 1, 1, 1], np.int32)
    >>> label_shares(ids, np.array([3], np.int32), weights, 0, 1, starts, labels, 2)[2].round(6).tolist()
    [0.703264, 0.643917]
    """
    if not 0 <= begin <= end <= len(ids) or len(counts) < end or len(weights) != len(ids):
        raise IndexError(f"Queries {begin} to {end} are out of bounds.")
    if weights.shape[1] != ids.shape[1]:
        raise IndexError(f"There are {ids.shape[1]} neighbours but {weights.shape[1]} weights a query.")
    indptr: list[int] = [0]
    indices: list[int] = []
    data: list[float] = []
    for query in range(begin, end):
        n_found = int(counts[query])
        if not 0 <= n_found <= ids.shape[1]:
            raise IndexError(f"Query {query} has {n_found} of {ids.shape[1]} neighbours.")
        sums: dict[int, float] = {}
        total = 0.0
        for document, weight in zip(ids[query, :n_found].tolist(), weights[query, :n_found].tolist()):
            if not 0 <= document < len(starts) - 1:
                raise IndexError("A neighbour or a label is out of bounds.")
            total += weight
            for label in labels[starts[document] : starts[document + 1]].tolist():
                if not 0 <= label < n_labels:
                    raise IndexError("A neighbour or a label is out of bounds.")
                sums[label] = sums.get(label, 0.0) + weight
        indices.extend(sorted(sums))
        data.extend(sums[label] / total if total > 0 else 0.0 for label in sorted(sums))
        indptr.append(len(indices))
    return np.array(indptr, np.int64), np.array(indices, np.int32), np.array(data, np.float64)
