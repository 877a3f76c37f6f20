"""Frequencies → bins: absent, and equal intervals of what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.parameters import Constraint, Number, OneOf

Scope = Literal["feature", "global"]


def bin_numbers(values: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, n_bins: int) -> Ints:
    """The bin of each frequency: 0 for none, else one of B − 1 intervals of equal width from `low` to `high`.

    bin(f) = 0 if f ≤ 0, else 1 + min(B − 2, ⌊(f − low) / ((high − low)/(B − 1))⌋)

    Source: Lee 2018, section 3, in words only; the edges are ours: values outside the interval are clipped to it, and
    where low = high every positive value is in bin 1.

    >>> bin_numbers([0, 1, 2, 3, 5, 9], low=1, high=9, n_bins=5).tolist()
    [0, 1, 1, 2, 3, 4]
    """
    f, low, high = (np.asarray(part, dtype=np.float64) for part in (values, low, high))
    width = (high - low) / (n_bins - 1)
    open_interval = width > 0
    steps = np.floor((np.clip(f, low, np.maximum(low, high)) - low) / np.where(open_interval, width, 1.0))
    inside = np.where(open_interval, np.clip(steps, 0, n_bins - 2), 0.0)
    return np.where(f > 0, 1 + inside, 0.0).astype(np.int64)


class FrequencyBins(Estimator):
    """The bin number of every frequency of X: 0 where the word is absent, 1 … B − 1 where it is present.

    The interval from the smallest to the largest positive training value, of each word (``scope="feature"``) or of
    all words together (``"global"``), is cut into B − 1 parts of equal width; see `bin_numbers`. X stays sparse, since
    what is absent stays 0. A word never seen in training is in bin 1 wherever it occurs.

    Source: Lee 2018, section 3, whose five bins are 0 and four intervals.

    >>> X = Csr(np.array([[1, 0], [9, 3], [3, 0], [5, 3]]))
    >>> FrequencyBins(n_bins=5).fit_transform(X).toarray().tolist()
    [[1, 0], [4, 1], [2, 0], [3, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_bins": Number(low=2, whole=True),
        "scope": OneOf("feature", "global"),
    }
    low_: Floats
    high_: Floats

    def __init__(self, n_bins: int = 5, scope: Scope = "feature") -> None:
        self.n_bins = n_bins
        self.scope = scope

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the smallest and the largest frequency of each word. `y` is not looked at."""
        for name in self.learned_state():
            delattr(self, name)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn from some more documents; pieces in any order give what `fit` on all of them gives."""
        self.check_parameters()
        X = self._checked(X)
        positive = X.data > 0
        columns, values = X.indices[positive], X.data[positive]
        low = getattr(self, "low_", np.full(X.shape[1], np.inf)).copy()
        high = getattr(self, "high_", np.zeros(X.shape[1])).copy()
        np.minimum.at(low, columns, values)
        np.maximum.at(high, columns, values)
        self.low_, self.high_ = low, high
        return self

    def transform(self, X: Any) -> Csr:
        """The bin numbers, as CSR without stored zeros."""
        self.check_fitted()
        X = self._checked(X)
        low, high = self.intervals()
        bins = bin_numbers(X.data, low[X.indices], high[X.indices], self.n_bins)
        binned = Csr((bins, X.indices, X.indptr), shape=X.shape)
        if not bins.all():
            binned = binned.copy()
            binned.eliminate_zeros()
        return binned

    def intervals(self) -> tuple[Floats, Floats]:
        """The lower and the upper edge of each word's interval; 0 and 0 for a word never seen."""
        self.check_fitted()
        low, high = self.low_, self.high_
        if self.scope == "global" and len(low):
            low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
        return np.where(np.isinf(low), 0.0, low), high.copy()

    def fit_transform(self, X: Any, y: object = None) -> Csr:
        """Learn the intervals and give the bin numbers."""
        return self.fit(X).transform(X)

    def _checked(self, X: Any) -> Csr:
        matrix = X if isinstance(X, Csr) else Csr(X if hasattr(X, "tocsr") else np.atleast_2d(X))
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        known: Floats | None = getattr(self, "low_", None)
        if known is not None and matrix.shape[1] != len(known):
            raise DataError(
                f"X has {matrix.shape[1]} columns, but the bins of {len(known)} words were learned.",
                remedy="Give documents of the same vocabulary.",
            )
        return matrix
