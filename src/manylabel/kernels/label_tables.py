"""Counts of terms by label, on several threads.

>>> X = Csr(np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]))
>>> Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
>>> table = label_term_table(X, Y)
>>> table.occurrences.toarray().tolist(), table.documents.toarray().tolist()
([[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]], [[2, 1, 1], [1, 2, 1]])
>>> table.label_documents.tolist(), table.term_documents.tolist(), table.n_documents
([2, 2], [2, 2, 3], 4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.kernels import compiled_module
from manylabel.kernels import tables_reference as reference
from manylabel.kernels.canonical import canonical
from manylabel.kernels.tables_reference import Rows
from manylabel.kernels.threads import blocks_of, in_threads
from manylabel.wording import counted

_kernel: Any = compiled_module("tables") or reference

score_one = _kernel.score_one

VISITS_PER_BLOCK = 1 << 18  # below this many values a second thread costs more than it brings


@dataclass(frozen=True, slots=True)
class LabelTermTable:
    """Counts of terms in all documents and by label; the tables of parts of a corpus add up."""

    occurrences: Csr
    """N_cw = YᵀX, labels × terms."""
    documents: Csr
    """n11: the documents of the label that have the term, labels × terms; the same cells as `occurrences`."""
    label_documents: Ints
    """N_c: documents that carry the label."""
    term_occurrences: Floats
    """Occurrences of the term in all documents, labelled or not, each document once."""
    term_documents: Ints
    """Documents that have the term, labelled or not."""
    n_documents: int


def label_term_table(X: Any, Y: Any, *, n_jobs: int | None = None) -> LabelTermTable:
    """Count the terms of X (documents × terms) by the labels of Y (documents × labels), in one pass.

    N_cw = YᵀX and n11 = Yᵀ(X ≠ 0), labels × terms with sorted terms; stored zeros count for nothing. The columns of X
    may come in any order. Source: Vilar, Castro & Sanchis 2004, section 3; Sebastiani 2002, Table I.
    """
    X, Y = X if isinstance(X, Csr) else Csr(X), canonical(Y, keep_zeros=False)
    if X.shape[0] != Y.shape[0]:
        raise DataError(f"X has {counted(X.shape[0], 'document')} but Y {Y.shape[0]}. Both need one row per document.")
    (n_documents, n_terms), n_labels = X.shape, Y.shape[1]
    label_starts, rows = documents_by_label(Y)
    label_documents = np.diff(label_starts)
    # an additional label that every document carries counts the terms of the whole corpus
    label_starts = np.append(label_starts, len(rows) + n_documents)
    rows = np.concatenate([rows, np.arange(n_documents, dtype=np.int64)])
    *parts, whole = _counts(X, label_starts, rows, n_jobs)
    term_occurrences, term_documents = np.zeros(n_terms), np.zeros(n_terms, dtype=np.int64)
    term_occurrences[whole[1]], term_documents[whole[1]] = whole[2], whole[3]
    return LabelTermTable(
        *_joined(parts, (n_labels, n_terms)), label_documents, term_occurrences, term_documents, n_documents
    )


def count_terms_by(Y: Csr, X: Csr, n_jobs: int | None = None) -> Csr:
    """YᵀX, labels × terms, for a 0/1 matrix Y without stored zeros: the occurrences alone of `label_term_table`."""
    return _joined(_counts(X, *documents_by_label(Y), n_jobs), (Y.shape[1], X.shape[1]))[0]


def documents_by_label(Y: Csr) -> tuple[Ints, Ints]:
    """The documents of each label: the start of each label's documents, and the documents in ascending order.

    >>> [part.tolist() for part in documents_by_label(Csr(np.array([[1, 0], [1, 1]])))]
    [[0, 2, 3], [0, 1, 1]]
    """
    by_label = Y.tocsc()
    return by_label.indptr.astype(np.int64), by_label.indices.astype(np.int64)


def _counts(X: Csr, label_starts: Ints, rows: Ints, n_jobs: int | None) -> list[tuple[Any, Any, Any, Any]]:
    """Results of the kernel for blocks of labels, the last label on its own."""
    values = X.data
    if values.dtype not in (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)):
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    table = Rows(X.indptr, X.indices, values)
    visits = np.concatenate([[0], np.cumsum(np.diff(X.indptr)[rows])])[label_starts]
    n_labels = len(label_starts) - 1

    def count(block: tuple[int, int]) -> tuple[Any, Any, Any, Any]:
        counted: tuple[Any, Any, Any, Any] = _kernel.count_by_label(table, X.shape[1], label_starts, rows, *block)
        return counted

    blocks = blocks_of(np.diff(visits)[:-1] + 1, VISITS_PER_BLOCK)
    return in_threads(count, [*blocks, (n_labels - 1, n_labels)] if n_labels else [], n_jobs)


def _joined(parts: list[tuple[Any, Any, Any, Any]], shape: tuple[int, int]) -> tuple[Csr, Csr]:
    """The tables of several blocks of labels as one of occurrences and one of documents; they share their cells."""
    starts, length = [np.zeros(1, dtype=np.int64)], 0
    for part in parts:
        starts.append(part[0][1:] + length)
        length += int(part[0][-1])
    indptr = np.concatenate(starts)
    empty = np.zeros(0, dtype=np.int32)
    indices = np.concatenate([part[1] for part in parts] or [empty])
    if length <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    totals = np.concatenate([part[2] for part in parts] or [empty.astype(np.float64)])
    documents = np.concatenate([part[3] for part in parts] or [empty.astype(np.int64)])
    return Csr((totals, indices, indptr), shape=shape), Csr((documents, indices, indptr), shape=shape)
