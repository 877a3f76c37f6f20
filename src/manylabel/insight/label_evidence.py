"""What the other labels of a document say about one of its labels, without looking at that label itself.

All functions judge cells, pairs of a document (row) and a label (column), and leave out what the document itself would
contribute for the label: a cell is judged alike whether the document has the label or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints

Bools = npt.NDArray[np.bool_]
RIDGE = 0.05
"""How much the variance of each label is raised in the regression on the other labels."""
MOST_REGRESSED = 4096
"""Labels that are regressed on each other, the most frequent ones: their table is dense."""
PRIOR_DOCUMENTS = 3.0
"""Documents at the label's share that are added to those with another label."""
PRIOR_SETS = 2.0
"""Documents at the label's share that are added to those with the same other labels."""
PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Each frequent label predicted from the others by ridge regression; rarer labels by their share."""

    labels: Ints
    weights: Floats
    share: Floats

    @classmethod
    def of(cls, Y: Csr) -> Regression:
        """Learn from all documents.

        All regressions follow from one inverse: with Θ = (K + λ diag K)⁻¹, K the covariance of the labels, the weight
        of label m in the regression of label l is −Θ_ml/Θ_ll.
        """
        documents = np.bincount(Y.indices, minlength=Y.shape[1])
        labels = np.sort(np.argsort(-documents, kind="stable")[:MOST_REGRESSED])
        A: Any = Y[:, labels].astype(np.float64)
        share = documents / Y.shape[0]
        K = (A.T @ A).toarray() / Y.shape[0] - np.outer(share[labels], share[labels])
        theta = np.linalg.inv(K + np.diag(RIDGE * np.diag(K) + 1e-6))
        weights = -theta / np.diag(theta)
        np.fill_diagonal(weights, 0.0)
        return cls(labels, weights, share)

    def predicted(self, Y: Csr) -> Floats:
        """Documents × labels: what the other labels of each document let expect."""
        found = np.tile(self.share, (Y.shape[0], 1))
        mean = self.share[self.labels]
        found[:, self.labels] = Y[:, self.labels].astype(np.float64) @ self.weights + (mean - mean @ self.weights)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """What single other labels, and their number, say about cells."""

    implied: Floats
    """The largest share of documents with another label of the document that also have the label."""
    likelihood: Floats
    """Σ_m log P(m | l)/P(m | not l) over the other labels m of the document, as naive Bayes adds it up."""
    number: Ints
    """How many other labels the document has."""


def companions(Y: Csr, rows: Ints, columns: Ints, has: Bools) -> Companions:
    """Judge cells by the pairs of their label with each other label of the document."""
    sizes = np.diff(Y.indptr).astype(np.int64)
    number = sizes[rows] - has
    implied, likelihood = np.zeros(len(rows)), np.zeros(len(rows))
    Z: Any = Y.astype(np.int64)
    together = Csr(Z.T @ Z)
    together.sort_indices()
    ends = np.cumsum(sizes[rows])
    begin = 0
    while begin < len(rows):
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + PAIRS_AT_ONCE, side="right")))
        part = slice(begin, end)
        implied[part], likelihood[part] = _by_pairs(Y, together, rows[part], columns[part], has[part])
        begin = end
    return Companions(implied, likelihood, number)


def _by_pairs(Y: Csr, together: Csr, rows: Ints, columns: Ints, has: Bools) -> tuple[Floats, Floats]:
    """The largest implication and the sum of likelihood ratios of some cells, over all pairs with another label."""
    documents = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
    sizes = np.diff(Y.indptr).astype(np.int64)[rows]
    cell = np.repeat(np.arange(len(rows)), sizes)
    offset = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    other = Y.indices[Y.indptr[rows[cell]] + offset].astype(np.int64)
    kept = other != columns[cell]
    cell, other = cell[kept], other[kept]
    if not len(cell):
        return np.zeros(len(rows)), np.zeros(len(rows))
    label, own = columns[cell], has[cell].astype(np.float64)
    n, of_label, of_other = Y.shape[0] - 1, documents[label] - own, documents[other] - 1  # without the document itself
    both = np.asarray(together[other, label], dtype=np.float64).reshape(-1) - own
    implied = (both + PRIOR_DOCUMENTS * of_label / n) / (of_other + PRIOR_DOCUMENTS)
    with_label = (both + 0.5) / (of_label + 1)
    without = (of_other - both + 0.5) / (n - of_label + 1)
    largest = np.zeros(len(rows))
    np.maximum.at(largest, cell, implied)
    ratio: Floats = np.bincount(cell, np.log(with_label) - np.log(without), minlength=len(rows)).astype(np.float64)
    return largest, ratio


def same_others(Y: Csr, rows: Ints, columns: Ints, has: Bools, seed: int = 0) -> tuple[Floats, Floats]:
    """The share with the label among the documents that otherwise have exactly the same labels, and their number.

    Label sets are compared by sums of random 64-bit numbers, one per label.

    >>> Y = Csr(np.array([[1, 1], [1, 1], [1, 0], [0, 1]]))
    >>> share, number = same_others(Y, np.array([2]), np.array([1]), np.array([False]))
    >>> share.tolist(), number.tolist()  # the two documents with it, and two at its share
    ([1.0], [2.0])
    """
    random = np.random.default_rng(seed)
    token = random.integers(0, 1 << 63, Y.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    running = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(token[Y.indices], dtype=np.uint64)])
    key = running[Y.indptr[1:]] - running[Y.indptr[:-1]]
    keys, counts = np.unique(key, return_counts=True)

    def documents_with(wanted: Any) -> Floats:
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, counts[place], 0).astype(np.float64)

    others = key[rows] - np.where(has, token[columns], np.uint64(0))
    with_label = documents_with(others + token[columns]) - has
    number = with_label + documents_with(others) - ~has
    share = (np.bincount(Y.indices, minlength=Y.shape[1])[columns] - has) / max(Y.shape[0] - 1, 1)
    return (with_label + PRIOR_SETS * share) / (number + PRIOR_SETS), number
