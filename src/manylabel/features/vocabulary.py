"""Terms → columns: the counts behind a vocabulary, which terms to keep, and hashing without a vocabulary."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Ints
from manylabel.exceptions import ParameterError
from manylabel.kernels import text as kernels
from manylabel.wording import counted


@dataclass(slots=True)
class TermTable:
    """Document frequencies and frequencies of terms; the tables of batches add up to the table of a corpus.

    >>> table = TermTable()
    >>> table.add(["a", "b"], Csr(np.array([[1, 2], [0, 1]])))
    >>> table.add(["c", "b"], Csr(np.array([[1, 1]])))
    >>> table.names, table.document_frequency.tolist(), table.frequency.tolist(), table.n_documents
    (['a', 'b', 'c'], [1, 3, 1], [1, 4, 1], 3)
    """

    names: list[str] = field(default_factory=list)
    document_frequency: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    frequency: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    n_documents: int = 0
    is_sorted: bool = False
    _index: dict[str, int] | None = None

    @classmethod
    def of(cls, learned: LearnedTerms) -> Self:
        """The table of terms of which none was pruned; their frequencies, which only `max_features` reads, are 0."""
        frequency = learned.document_frequency.copy()
        return cls(list(learned.names), frequency, np.zeros_like(frequency), learned.n_documents)

    def add(self, names: list[str], counts: Csr, is_sorted: bool = False) -> None:
        """Add the counts of some documents; ``names[j]`` is the term of column j."""
        columns, cells = counts.indices.astype(np.int32, copy=False), counts.data.astype(np.int64, copy=False)
        df, tf = kernels.column_totals(columns, cells, len(names))
        self.n_documents += int(counts.shape[0])
        if not self.names:
            self.names, self.document_frequency, self.frequency = list(names), df, tf
            self.is_sorted = is_sorted
            return
        if self._index is None:
            self._index = dict(zip(self.names, range(len(self.names))))
        index, known = self._index, len(self.names)
        self.is_sorted = False
        rows = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
        self.names.extend(name for name, row in zip(names, rows.tolist()) if row >= known)
        more = np.zeros(len(self.names) - known, dtype=np.int64)
        self.document_frequency = np.concatenate([self.document_frequency, more])
        self.frequency = np.concatenate([self.frequency, more])
        self.document_frequency[rows] += df
        self.frequency[rows] += tf

    def copy(self) -> TermTable:
        """A table with the same counts; what is added to it is not added here."""
        return replace(self, names=list(self.names), _index=None if self._index is None else dict(self._index))

    def sort(self) -> None:
        """Sort the terms by code points."""
        if self.is_sorted:
            return
        order, names = alphabetical(self.names)
        # Nothing interrupts a single assignment: the names always belong to the counts.
        self.names, self.document_frequency, self.frequency, self._index, self.is_sorted = (
            names, self.document_frequency[order], self.frequency[order], None, True
        )  # fmt: skip

    def kept(self, min_df: float, max_df: float, max_features: int | None) -> npt.NDArray[np.bool_]:
        """Which terms to keep; a float bound is a share of the documents, a whole number a number of documents.

        Among equally frequent terms `max_features` keeps the first of the table.

        >>> table = TermTable(["a", "b", "c"], np.array([1, 3, 2]), np.array([1, 9, 2]), 4)
        >>> [table.kept(*bounds).tolist() for bounds in ((2, 1.0, None), (1, 0.5, None), (1, 1.0, 1))]
        [[False, True, True], [True, False, True], [False, True, False]]
        """
        low, high = _documents(min_df, self.n_documents), _documents(max_df, self.n_documents)
        if high < low:
            raise ParameterError(
                f"Vectorizer: max_df={max_df!r} allows up to {high:g} documents and min_df={min_df!r} asks "
                f"for at least {low:g}, so no term of the {counted(self.n_documents, 'document')} can be kept. "
                "Lower min_df or raise max_df."
            )
        mask = (self.document_frequency >= low) & (self.document_frequency <= high)
        if max_features is not None and int(mask.sum()) > max_features:
            left = np.flatnonzero(mask)
            best = left[np.argsort(-self.frequency[left], kind="stable")[:max_features]]
            mask = np.zeros(len(mask), dtype=np.bool_)
            mask[best] = True
        return np.asarray(mask, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class LearnedTerms:
    """The terms that were kept, in alphabetical order, and the number of training documents with each and in all."""

    names: list[str]
    document_frequency: Ints
    n_documents: int

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each term, in the order of the columns."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    def of(self, columns: Ints) -> LearnedTerms:
        """The terms of some columns only."""
        names = [self.names[column] for column in columns.tolist()]
        return LearnedTerms(names, self.document_frequency[columns], self.n_documents)


def prunes(min_df: float, max_df: float, max_features: int | None) -> bool:
    """Whether these bounds can remove terms; 1 means one document, 1.0 all documents.

    >>> prunes(1, 1.0, None), prunes(2, 1.0, None), prunes(1, 1, None)
    (False, True, True)
    """
    all_rare = min_df == 0 or (min_df == 1 and not isinstance(min_df, float))
    all_common = max_df == 1 and isinstance(max_df, float)
    return not all_rare or not all_common or max_features is not None


def alphabetical(names: Sequence[str]) -> tuple[Ints, list[str]]:
    """The order that sorts the names by code points, and the sorted names.

    >>> alphabetical(["b", "a"])
    (array([1, 0]), ['a', 'b'])
    """
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.array(order, dtype=np.int64), list(map(names.__getitem__, order))


def select_columns(X: Csr, mask: npt.NDArray[np.bool_]) -> Csr:
    """The columns of `X` where the mask is true; sorted rows stay sorted.

    >>> X = Csr(np.array([[1, 2, 3], [0, 4, 0]]))
    >>> select_columns(X, np.array([True, False, True])).toarray().tolist()
    [[1, 3], [0, 0]]
    """
    if mask.all():
        return X
    new = np.cumsum(mask, dtype=X.indices.dtype) - 1
    inside = mask[X.indices]
    before = np.zeros(len(inside) + 1, dtype=X.indptr.dtype)
    np.cumsum(inside, out=before[1:])
    shape = (X.shape[0], int(mask.sum()))
    picked = Csr((X.data[inside], new[X.indices[inside]], before[X.indptr]), shape=shape)
    picked.has_sorted_indices = X.has_sorted_indices
    return picked


def hashed_columns(terms: list[str], n_hashes: int) -> npt.NDArray[np.int32]:
    """The column of each term: abs(h) mod n, h its signed MurmurHash3, as in scikit-learn's `FeatureHasher`.

    >>> hashed_columns(["bus", "road"], 16).tolist()
    [11, 14]
    """
    hashes = np.abs(kernels.hash_terms(terms).astype(np.int64))
    return np.asarray(hashes % n_hashes, dtype=np.int32)


def _documents(bound: Any, n_documents: int) -> float:
    return float(bound if isinstance(bound, numbers.Integral) else bound * n_documents)
