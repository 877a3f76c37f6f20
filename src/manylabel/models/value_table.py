"""How many documents have each value of each column, in all and by label: a table that adds up over parts of a corpus.

Value-weighted naive Bayes reads its bins off the smallest and largest values and then counts documents by bin. Both can
be done from the number of documents with each distinct value, which, unlike the bins, do not change as more documents
come.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats
from manylabel.models.linear_scores import rows_of


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Rows of values, each standing for some documents; a row is a document, or a single value (see `condensed`)."""

    values: Csr
    """Rows × columns."""
    row_documents: Floats
    """How many documents a row stands for: each once, or once for each of its labels where labels are classes."""
    label_rows: Csr
    """Labels × rows: how many of the label's documents a row stands for."""
    label_documents: Floats
    """N_c"""
    n_documents: float
    """N, counted as `row_documents` counts."""

    def condensed(self) -> ValueTable:
        """The same counts with one row for each distinct value of each column, in order.

        >>> table = tabulate(Csr([[1.0, 2.0], [1.0, 0.0], [3.0, 2.0]]), Csr([[1], [1], [0]]), np.ones(3)).condensed()
        >>> table.values.toarray().tolist(), table.row_documents.tolist(), table.label_rows.toarray().tolist()
        ([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]], [2.0, 1.0, 2.0], [[2.0, 0.0, 1.0]])
        """
        X = self.values
        order = np.lexsort((X.data, X.indices))
        columns, values = X.indices[order], X.data[order]
        new = np.ones(X.nnz, dtype=np.bool_)
        new[1:] = (np.diff(columns) != 0) | (np.diff(values) != 0)
        key = np.empty(X.nnz, dtype=np.int64)
        key[order] = np.cumsum(new) - 1
        n_keys = int(new.sum())
        by_label = Csr(self.label_rows @ Csr((np.ones(X.nnz), key, X.indptr), shape=(X.shape[0], n_keys)))
        by_label.sort_indices()
        return ValueTable(
            Csr((values[new], columns[new], np.arange(n_keys + 1)), shape=(n_keys, X.shape[1])),
            np.asarray(np.bincount(key, weights=self.row_documents[rows_of(X)], minlength=n_keys), dtype=np.float64),
            by_label,
            self.label_documents,
            self.n_documents,
        )

    def __add__(self, other: ValueTable) -> ValueTable:
        """The table of both parts, condensed; associative and commutative."""
        return ValueTable(
            Csr(sparse.vstack([self.values, other.values], format="csr")),
            np.concatenate([self.row_documents, other.row_documents]),
            Csr(sparse.hstack([self.label_rows, other.label_rows], format="csr")),
            self.label_documents + other.label_documents,
            self.n_documents + other.n_documents,
        ).condensed()

    def as_learned(self) -> dict[str, Any]:
        """The tables under the names a model keeps them by."""
        return {f"table_{item.name}_": getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_learned(cls, state: Any) -> ValueTable:
        """The tables a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(**{item.name: getattr(state, f"table_{item.name}_") for item in fields(cls)})


def tabulate(X: Csr, Y: Csr, copies: Floats) -> ValueTable:
    """The table of documents X with labels Y, each counting as often as `copies` says; every document is a row."""
    by_label = Csr(Csr((np.ones(Y.nnz), Y.indices, Y.indptr), shape=Y.shape).T.tocsr())
    return ValueTable(X, copies, by_label, np.diff(by_label.indptr).astype(np.float64), float(copies.sum()))
