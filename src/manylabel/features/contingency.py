"""Contingency tables of terms and labels, counted in one pass over the documents.

The table of a term t and a label c, over N documents:

===========  ===============  ====================
             with c           without c
===========  ===============  ====================
with t       n11              n10 = df_t − n11
without t    n01 = n_c − n11  n00 = N − df_t − n01
===========  ===============  ====================

Only n11 is counted, sparse; the rest follows from the margins. Source: Sebastiani 2002, section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, as_csr
from manylabel.exceptions import DataError
from manylabel.kernels.canonical import canonical
from manylabel.kernels.label_tables import label_term_table


class Cells(NamedTuple):
    """The four cells of any number of 2 × 2 tables, as arrays of the same shape."""

    n11: Floats
    n10: Floats
    n01: Floats
    n00: Floats

    @classmethod
    def of(cls, tables: npt.ArrayLike) -> Cells:
        """Cells of tables given as rows (n11, n10, n01, n00).

        >>> Cells.of([20, 10, 30, 40]).n
        array(100.)
        """
        return cls(*np.moveaxis(np.asarray(tables, dtype=np.float64), -1, 0))

    @property
    def n(self) -> Floats:
        """N, the number of documents."""
        return np.asarray(self.n11 + self.n10 + self.n01 + self.n00)

    def plus(self, eps: float) -> Cells:
        """The tables with `eps` added to every cell."""
        return self if eps == 0 else Cells(*(np.asarray(cell + eps) for cell in self))


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """The tables of all labels and terms; the tables of batches add up to the tables of a corpus.

    >>> X = Csr(np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]))
    >>> Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
    >>> table = contingency_tables(X, Y)
    >>> [cell.tolist() for cell in table.cells(0)]
    [[2.0, 1.0, 1.0], [0.0, 1.0, 2.0], [0.0, 1.0, 1.0], [2.0, 1.0, 0.0]]
    >>> (contingency_tables(X[:1], Y[:1]) + contingency_tables(X[1:], Y[1:])).together.toarray().tolist()
    [[2, 1, 1], [1, 2, 1]]
    """

    together: Csr
    """n11, labels × terms: the documents of the label that have the term."""
    label_documents: Ints
    term_documents: Ints
    n_documents: int

    def __add__(self, other: Contingency) -> Contingency:
        if self.together.shape != other.together.shape:
            raise DataError(
                f"Tables of {self.together.shape} and {other.together.shape} labels × terms cannot be added.",
                remedy="Count both corpora over the same labels and the same terms.",
            )
        return Contingency(
            canonical(self.together + other.together),
            self.label_documents + other.label_documents,
            self.term_documents + other.term_documents,
            self.n_documents + other.n_documents,
        )

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.together.shape[0])

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return int(self.together.shape[1])

    def cells(self, label: int) -> Cells:
        """The tables of one label with every term."""
        n11 = np.zeros(self.n_terms)
        terms, seen = self.row(label)
        n11[terms] = seen
        return self.cells_of(label, n11, self.term_documents)

    def row(self, label: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The terms that occur with a label, and in how many of its documents."""
        ends = slice(*self.together.indptr[label : label + 2])
        return self.together.indices[ends], self.together.data[ends]

    def cells_of(self, label: int, n11: npt.NDArray[Any], df: npt.NDArray[Any]) -> Cells:
        """The tables of one label with terms that occur in `df` documents, `n11` of them with the label."""
        n_c = int(self.label_documents[label])
        both = np.asarray(n11, dtype=np.float64)
        # n00 is negative for a df that is impossible with this n11; term_scores computes such cells and discards them
        return Cells(both, df - both, n_c - both, np.maximum(self.n_documents - n_c - df + both, 0.0))


def contingency_tables(X: Any, Y: Any, *, n_jobs: int | None = None) -> Contingency:
    """Count documents by term and label: n11 = Yᵀ(X > 0) and the margins.

    X is documents × terms, 0 or above; Y documents × labels of 0 and 1, or one class per document.
    """
    X, Y = canonical(as_csr(X)), indicator_of(Y)
    if len(X.data) and not X.data.min() >= 0:  # written so that nan is refused too
        raise DataError(
            "X has negative or missing values, and term selection counts the documents that contain a term.",
            remedy="Give counts, 0 or above, or leave out the selection.",
        )
    table = label_term_table(X, Y, n_jobs=n_jobs)
    return Contingency(table.documents, table.label_documents, table.term_documents, table.n_documents)


def indicator_of(Y: Any) -> Csr:
    """Y as CSR; a list of one class per document becomes one column per class, in sorted order.

    >>> indicator_of(["b", "a", "b"]).toarray().tolist()
    [[0, 1], [1, 0], [0, 1]]
    """
    if not sparse.issparse(Y) and np.ndim(Y) == 1:
        classes, column = np.unique(np.asarray(Y), return_inverse=True)
        n = len(column)
        return Csr((np.ones(n, dtype=np.int8), (np.arange(n), column)), shape=(n, len(classes)))
    matrix = canonical(as_csr(Y), keep_zeros=False)
    if not (matrix.data == 1).all():
        raise DataError("A label matrix may hold only 0 and 1.")
    return matrix
