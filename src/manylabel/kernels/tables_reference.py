"""The plain twins of the kernels for label × term tables: what each one computes, with SciPy and NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """The three arrays of a CSR matrix, documents × terms, in any order; a cell stored twice is the sum of both."""

    starts: npt.NDArray[Any]
    terms: npt.NDArray[Any]
    values: npt.NDArray[Any]


def count_by_label(
    X: Rows, n_terms: int, label_starts: Int64s, rows: Int64s, begin: int, end: int
) -> tuple[Int64s, Int32s, Floats, Int64s]:
    """Occurrences and documents of each term in the documents of the labels begin .. end.

    N_cw = Σ_{n in c} x_nw and n11_cw = |{n in c : x_nw ≠ 0}|. The documents of label c are
    ``rows[label_starts[c]:label_starts[c + 1]]``. Returns a CSR table, labels × terms: where each label's cells begin,
    their terms, sorted, the occurrences and the documents. Source: Vilar, Castro & Sanchis 2004, section 3
    (replication); Sebastiani 2002, Table I, for the documents.

    >>> X = Rows(np.array([0, 2, 3]), np.array([0, 2, 2]), np.array([2.0, 1.0, 3.0]))
    >>> [part.tolist() for part in count_by_label(X, 3, np.array([0, 2, 3]), np.array([0, 1, 0]), 0, 2)]
    [[0, 2, 4], [0, 2, 0, 2], [2.0, 4.0, 2.0, 1.0], [1, 2, 1, 1]]
    """
    if not 0 <= begin <= end < len(label_starts) or label_starts[end] > len(rows):
        raise IndexError(f"Labels {begin} to {end} are out of bounds.")
    wanted = rows[label_starts[begin] : label_starts[end]]
    n_documents = len(X.starts) - 1
    if len(wanted) and (wanted.min() < 0 or wanted.max() >= n_documents):
        raise IndexError("A document is out of bounds.")
    table = Csr((X.values.astype(np.float64), X.terms, X.starts), shape=(n_documents, n_terms), copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    if table.nnz and (table.indices.min() < 0 or table.indices.max() >= n_terms):
        raise IndexError("A term is out of bounds, or there is no memory for a count per term.")
    starts = label_starts[begin : end + 1] - label_starts[begin]
    carriers = Csr((np.ones(len(wanted)), wanted, starts), shape=(end - begin, n_documents))
    present = Csr((np.ones(table.nnz), table.indices, table.indptr), shape=table.shape)
    totals, documents = carriers @ table, carriers @ present
    totals.sort_indices()
    documents.sort_indices()
    return (
        documents.indptr.astype(np.int64),
        documents.indices.astype(np.int32),
        totals.data,
        documents.data.astype(np.int64),
    )


def score_one(
    term_ids: npt.NDArray[Any],
    values: npt.NDArray[Any],
    W_indptr: npt.NDArray[Any] | None,
    W_indices: npt.NDArray[Any] | None,
    W_data: npt.NDArray[Any],
    out: Floats,
) -> None:
    """Add the scores of one document, Σ_t x_t W_t, to `out`.

    W is terms × labels, either as the three arrays of a CSR matrix or, with None for the first two, dense. Labels of a
    row must not repeat. `out` usually holds the intercepts.

    >>> out = np.array([1.0, 0.0])
    >>> W = (np.array([0, 1, 3]), np.array([1, 0, 1]), np.array([5.0, 2.0, 3.0]))
    >>> score_one(np.array([1, 0]), np.array([2.0, 1.0]), *W, out)
    >>> out.tolist()
    [5.0, 11.0]
    """
    if len(term_ids) != len(values):
        raise IndexError("There must be one value for each term.")
    n_terms = len(W_data) if W_indptr is None else len(W_indptr) - 1
    for term, value in zip(term_ids.tolist(), values.tolist()):
        if not 0 <= term < n_terms:
            raise IndexError("A term is out of bounds.")
        if W_indptr is None or W_indices is None:
            out += value * W_data[term].astype(np.float64)
            continue
        row = slice(int(W_indptr[term]), int(W_indptr[term + 1]))
        labels = W_indices[row]
        if len(labels) and (labels.min() < 0 or labels.max() >= len(out)):
            raise IndexError("The table's starts or labels are out of bounds.")
        out[labels] += value * W_data[row].astype(np.float64)
