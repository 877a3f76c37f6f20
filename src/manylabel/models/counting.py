"""Additive tables of word counts by label: counted in pieces, merged in any order, read by a formula.

A document with several labels counts once for each of them, which is the replication of Vilar, Castro &
Sanchis 2004 written as a matrix product, N_cw = YᵀX.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.kernels.label_tables import count_terms_by


@dataclass(frozen=True, slots=True)
class LabelTermCounts:
    """What naive Bayes needs to know of a corpus. The tables of two parts add up to the table of the whole.

    >>> X = Csr(np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]], dtype=float))
    >>> Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
    >>> table = count(X, Y)
    >>> table.label_documents.tolist(), table.label_terms.toarray().tolist()
    ([2, 2], [[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    >>> table.labelled_terms.tolist(), table.unlabelled_terms.tolist()
    ([3.0, 3.0, 2.0], [0.0, 0.0, 3.0])
    """

    label_documents: Ints
    """N_c: documents that carry the label."""
    label_terms: Csr
    """N_cw: occurrences of each term in the documents of each label, labels × terms."""
    labelled_terms: Floats
    """Occurrences of each term in documents with a label, each document once."""
    unlabelled_terms: Floats
    """Occurrences of each term in documents without a label."""
    labelled_documents: int
    unlabelled_documents: int

    @property
    def replicated_terms(self) -> Floats:
        """Σ_c N_cw: occurrences of each term, a document counted once for each of its labels."""
        return np.asarray(self.label_terms.sum(axis=0), dtype=np.float64)

    @property
    def label_totals(self) -> Floats:
        """N_c+: the words of each label's documents."""
        return np.asarray(self.label_terms.sum(axis=1), dtype=np.float64)

    def with_unlabelled_class(self) -> LabelTermCounts:
        """The table with one class more, made of the documents without a label."""
        last = self.unlabelled_terms
        terms = np.flatnonzero(last)
        table = self.label_terms
        extended = Csr(
            (
                np.concatenate([table.data, last[terms]]),
                np.concatenate([table.indices, terms]),
                np.concatenate([table.indptr, [table.nnz + len(terms)]]),
            ),
            shape=(table.shape[0] + 1, table.shape[1]),
        )
        documents = np.append(self.label_documents, self.unlabelled_documents)
        return LabelTermCounts(
            documents,
            extended,
            self.labelled_terms + last,
            np.zeros_like(last),
            self.labelled_documents + self.unlabelled_documents,
            0,
        )

    def __add__(self, other: LabelTermCounts) -> LabelTermCounts:
        return merge(self, other)

    def as_learned(self) -> dict[str, Any]:
        """The tables under the names a model keeps them by (with a trailing underscore)."""
        return {f"{item.name}_": getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_learned(cls, state: dict[str, Any]) -> LabelTermCounts:
        """The tables a model keeps; the reverse of `as_learned`."""
        return cls(**{item.name: state[f"{item.name}_"] for item in fields(cls)})


def count(X: Csr, Y: Csr) -> LabelTermCounts:
    """Count the terms of X by the labels of Y: N_c, N_cw = YᵀX, and those of unlabelled documents."""
    label_terms = count_terms_by(Y, X)
    sizes = np.diff(Y.indptr)
    unlabelled = sizes == 0
    by_term = X.T
    labelled = np.asarray(by_term @ (~unlabelled).astype(np.float64))
    without = np.asarray(by_term @ unlabelled.astype(np.float64)) if unlabelled.any() else np.zeros(X.shape[1])
    return LabelTermCounts(
        label_documents=np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64),
        label_terms=label_terms,
        labelled_terms=labelled,
        unlabelled_terms=without,
        labelled_documents=int(len(sizes) - unlabelled.sum()),
        unlabelled_documents=int(unlabelled.sum()),
    )


def merge(first: LabelTermCounts, second: LabelTermCounts) -> LabelTermCounts:
    """The table of both parts together; associative and commutative (exactly so for whole counts)."""
    if first.label_terms.shape != second.label_terms.shape:
        raise DataError(
            f"Tables of {first.label_terms.shape} and {second.label_terms.shape} labels × terms cannot be "
            "merged. Count both with the same labels and the same vocabulary."
        )
    label_terms = Csr(first.label_terms + second.label_terms)
    label_terms.sort_indices()
    return LabelTermCounts(
        first.label_documents + second.label_documents,
        label_terms,
        first.labelled_terms + second.labelled_terms,
        first.unlabelled_terms + second.unlabelled_terms,
        first.labelled_documents + second.labelled_documents,
        first.unlabelled_documents + second.unlabelled_documents,
    )
