"""Pairs of labels: which documents speak for either, and which pairs are decided before a classifier is learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.score_kinds import Bools


@dataclass(frozen=True, slots=True)
class Duels:
    """The pairs of labels that are worth a classifier, and those decided without one."""

    by_label: sparse.csc_array
    """Y by columns."""
    pairs: Ints
    """Pairs × 2: labels that each have a document without the other; the lower one first."""
    walkovers: Floats
    """Labels × 2: pairs won because the other label has no document of its own; wins less losses."""
    seen: Bools
    """Labels that any document carries."""


def duels_of(Y: Csr) -> Duels:
    """The pairs of the labels in Y.

    >>> duels = duels_of(Csr([[1, 0, 0], [1, 1, 0], [0, 0, 1]]))
    >>> duels.pairs.tolist(), duels.walkovers.tolist()
    ([[0, 2], [1, 2]], [[1.0, 1.0], [0.0, -1.0], [0.0, 0.0]])
    """
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    seen, n_labels = np.flatnonzero(documents), Y.shape[1]
    low, high = np.triu_indices(len(seen), k=1)
    first, second = seen[low], seen[high]
    together = Csr(Y.T.astype(np.int64) @ Y.astype(np.int64))
    above = [together[[label]].toarray()[0, seen[place + 1 :]] for place, label in enumerate(seen.tolist())]
    shared = np.concatenate([np.zeros(0, dtype=np.int64), *above])
    first_alone, second_alone = documents[first] > shared, documents[second] > shared
    both = first_alone & second_alone
    walkovers = np.zeros((n_labels, 2))
    for winners, losers, mask in ((first, second, first_alone & ~both), (second, first, second_alone & ~both)):
        np.add.at(walkovers, winners[mask], 1.0)
        np.subtract.at(walkovers[:, 1], losers[mask], 1.0)
    pairs = np.column_stack([first, second])[both].astype(np.int64)
    return Duels(sparse.csc_array(Y), pairs, walkovers, documents > 0)


def duel_rows(duels: Duels, pair: int) -> tuple[Ints, Bools]:
    """The documents with exactly one label of a pair, and whether that is the second."""
    carried = duels.by_label
    first, second = (carried.indices[carried.indptr[label] : carried.indptr[label + 1]] for label in duels.pairs[pair])
    rows = np.setxor1d(first, second, assume_unique=True).astype(np.int64)
    return rows, np.isin(rows, second)


def used_columns(X: Csr) -> tuple[npt.NDArray[np.int32], Csr]:
    """The columns of X that hold anything, and X without the others: a pair of labels knows few words."""
    used = np.zeros(X.shape[1], dtype=np.bool_)
    used[X.indices] = True
    columns = np.flatnonzero(used).astype(np.int32)
    if len(columns) == 0:
        return np.zeros(1, dtype=np.int32), X[:, :1]
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    narrow = Csr((X.data, place[X.indices], X.indptr), shape=(X.shape[0], len(columns)))
    narrow.has_canonical_format = X.has_canonical_format
    return columns, narrow


def joined_columns(n_rows: int, columns: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]) -> Csr:
    """A CSR matrix from its columns, each a list of rows and values; zeros are not kept."""
    kept = [(rows[values != 0], values[values != 0]) for rows, values in columns]
    starts = np.cumsum([0, *(len(rows) for rows, _ in kept)])
    index = np.concatenate([np.zeros(0, dtype=np.int32), *(rows for rows, _ in kept)])
    values = np.concatenate([values for _, values in kept]) if kept else np.zeros(0)
    narrow = starts[-1] <= np.iinfo(np.int32).max  # SciPy widens all indices to the wider of both
    by_column = Csr((values, index, starts.astype(np.int32) if narrow else starts), shape=(len(kept), n_rows))
    return Csr(by_column.T.tocsr())


def squashed(sums: Floats) -> Floats:
    """Summed decision values z as z / (3 (|z| + 1)): less than a third of a vote, their order kept.

    >>> squashed(np.array([-1.0, 0.0, 2.0])).round(4).tolist()
    [-0.1667, 0.0, 0.2222]
    """
    return np.asarray(sums / (3 * (np.abs(sums) + 1)))
