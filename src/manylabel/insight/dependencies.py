"""Which labels occur together, imply or exclude each other, with significance corrected for the number of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import betainc, betaincc

from manylabel.estimator import Csr, Floats, Ints

LEVEL = 0.01
"""The false-discovery rate of the reported pairs."""
LEAST_EXPECTED = 5.0
"""Pairs of labels that should meet in fewer documents by chance cannot be shown to exclude each other."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelPairs:
    """Pairs of labels whose documents meet significantly more, or less, often than by chance."""

    first: Ints
    second: Ints
    both: Ints
    """Documents with both labels."""
    expected: Floats
    """What this number would be if the labels were independent."""
    p: Floats
    """Adjusted for all pairs of labels in use (Benjamini & Hochberg 1995)."""

    def __len__(self) -> int:
        return len(self.first)

    def chosen(self, rows: npt.NDArray[Any]) -> LabelPairs:
        """Some of the pairs, by a mask or in the order of their numbers."""
        return LabelPairs(self.first[rows], self.second[rows], self.both[rows], self.expected[rows], self.p[rows])

    def rows(self) -> list[tuple[int, int, int, float, float]]:
        """The pairs as plain numbers: both labels, documents with both, those expected, p."""
        columns = (self.first, self.second, self.both, self.expected, self.p)
        return list(zip(*(column.tolist() for column in columns), strict=True))


def label_pairs(Y: Csr, level: float = LEVEL) -> LabelPairs:
    """All pairs of labels that depend on each other, the most significant first.

    Of n documents with the rarer label, the number that also has the other one, which a share q of all documents has,
    is compared with the binomial distribution B(n, q) in the direction of its deviation, p doubled. (The exact
    distribution is hypergeometric and narrower, so the test is on the safe side.)

    >>> Y = Csr(np.array([[1, 1, 0]] * 20 + [[0, 0, 1]] * 20 + [[0, 0, 0]] * 20))
    >>> found = label_pairs(Y)
    >>> list(zip(found.first.tolist(), found.second.tolist(), found.both.tolist()))
    [(0, 1, 20), (0, 2, 0), (1, 2, 0)]
    """
    n_documents = Y.shape[0]
    documents = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
    used = int((documents > 0).sum())
    n_pairs = used * (used - 1) // 2
    Z: Any = Y.astype(np.int64)
    together: Any = sparse.triu(Z.T @ Z, k=1).tocoo()
    apart = _apart(documents, n_documents, together)
    first = np.concatenate([together.row, apart[0]]).astype(np.int64)
    second = np.concatenate([together.col, apart[1]]).astype(np.int64)
    both = np.concatenate([together.data, np.zeros(len(apart[0]), dtype=np.int64)])
    a, b = documents[first], documents[second]
    expected = a * (b / max(n_documents, 1))
    p = _p_values(both, np.minimum(a, b), np.maximum(a, b) / max(n_documents, 1), expected)
    adjusted = adjusted_p(p, n_pairs)
    found = LabelPairs(first, second, both, expected, adjusted).chosen(adjusted <= level)
    return found.chosen(np.lexsort((found.second, found.first, -np.abs(found.both - found.expected), found.p)))


def _apart(documents: Ints, n_documents: int, together: Any) -> tuple[Ints, Ints]:
    """Pairs of frequent labels that never occur together."""
    frequent = np.flatnonzero(documents * float(documents.max(initial=0)) >= LEAST_EXPECTED * n_documents)
    order = frequent[np.argsort(-documents[frequent], kind="stable")]
    ones = np.ones(together.nnz, dtype=np.int8)
    upper: Any = Csr((ones, (together.row, together.col)), shape=together.shape)
    met = Csr(upper + upper.T)
    rows, columns = [], []
    for place, label in enumerate(order.tolist()):
        partners = order[place + 1 :]
        partners = partners[documents[partners] * float(documents[label]) >= LEAST_EXPECTED * n_documents]
        partners = np.setdiff1d(partners, met.indices[met.indptr[label] : met.indptr[label + 1]])
        rows.append(np.minimum(partners, label))
        columns.append(np.maximum(partners, label))
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *rows]), np.concatenate([empty, *columns])


def _p_values(both: Ints, trials: Ints, share: Floats, expected: Floats) -> Floats:
    """Two-sided p of seeing so many documents with both labels, or a number still farther from the expected one."""
    more = both > expected
    upper = betainc(np.maximum(both, 1), trials - both + 1, share)
    # P(B ≤ both) is 1 for both = trials, where the function is not defined.
    lower = np.where(both < trials, betaincc(both + 1, np.maximum(trials - both, 1), share), 1.0)
    return np.asarray(np.minimum(1.0, 2.0 * np.where(more, np.where(both > 0, upper, 1.0), lower)))


def adjusted_p(p: Floats, n_tests: int) -> Floats:
    """Benjamini & Hochberg's adjusted p of the tests at hand among `n_tests`, of which all others have p = 1.

    >>> adjusted_p(np.array([0.01, 0.03, 0.02]), 4).tolist()
    [0.04, 0.04, 0.04]
    """
    order = np.argsort(p, kind="stable")
    ranked = p[order] * n_tests / np.arange(1, len(p) + 1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(ranked[::-1])[::-1])
    return adjusted
