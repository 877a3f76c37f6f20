"""Frequencies → bins: bin 0 for absent terms, and intervals of equal width for the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Estimator, Floats, Ints, as_csr
from manylabel.exceptions import DataError
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.wording import counted

Scope = Literal["feature", "global"]


def bin_numbers(values: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, n_bins: int) -> Ints:
    """The bin of each frequency: 0 for none, else one of B − 1 intervals of equal width from `low` to `high`.

    bin(f) = 0 if f ≤ 0, else 1 + min(B − 2, ⌊(f − low) / ((high − low)/(B − 1))⌋)

    Source: Lee 2018, on value weights, which describes it in words. Our choices at the edges: values outside the
    interval are clipped to it, and where low = high every positive value is in bin 1.

    >>> bin_numbers([0, 1, 2, 3, 5, 9], low=1, high=9, n_bins=5).tolist()
    [0, 1, 1, 2, 3, 4]
    """
    f, low, high = (np.asarray(array, dtype=np.float64) for array in (values, low, high))
    width = (high - low) / (n_bins - 1)
    open_interval = width > 0
    steps = np.floor((np.clip(f, low, np.maximum(low, high)) - low) / np.where(open_interval, width, 1.0))
    inside = np.where(open_interval, np.clip(steps, 0, n_bins - 2), 0.0)
    return np.where(f > 0, 1 + inside, 0.0).astype(np.int64)


class FrequencyBins(Estimator):
    """Replace every frequency of X by its bin number: 0 where the term is absent, 1 … B − 1 where it is present.

    The interval from the smallest to the largest positive training value, of each term (``scope="feature"``) or of
    all terms together (``"global"``), is divided into B − 1 intervals of equal width; see `bin_numbers`. X stays
    sparse, because absent terms stay 0. A term never seen in training is in bin 1 wherever it occurs.

    Source: Lee 2018, on value weights, whose five bins are 0 and four intervals.

    >>> X = Csr(np.array([[1, 0], [9, 3], [3, 0], [5, 3]]))
    >>> FrequencyBins(n_bins=5).fit_transform(X).toarray().tolist()
    [[1, 0], [4, 1], [2, 0], [3, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "n_bins": Number(low=2, whole=True),
        "scope": OneOf("feature", "global"),
    }
    low_: Floats
    """The smallest positive training value of each term; infinite for a term never seen."""
    high_: Floats
    """The largest training value of each term; 0 for a term never seen."""

    def __init__(self, n_bins: int = 5, scope: Scope = "feature") -> None:
        self.n_bins = n_bins
        self.scope = scope

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the smallest and the largest frequency of each term; `y` is ignored."""
        self.forget()
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: object = None) -> Self:
        """Learn from further documents; batches in any order give the same result as `fit` on all of them."""
        self.check_parameters()
        X = self._checked(X)
        positive = X.data > 0
        columns, values = X.indices[positive], X.data[positive]
        low = self.low_.copy() if self.is_fitted else np.full(X.shape[1], np.inf)
        high = self.high_.copy() if self.is_fitted else np.zeros(X.shape[1])
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
        """The lower and the upper edge of each term's interval; 0 and 0 for a term never seen."""
        self.check_fitted()
        low, high = self.low_, self.high_
        if self.scope == "global" and len(low):
            low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
        return np.where(np.isinf(low), 0.0, low), high.copy()

    def fit_transform(self, X: Any, y: object = None) -> Csr:
        """Learn the intervals, then return the bin numbers."""
        return self.fit(X).transform(X)

    def _checked(self, X: Any) -> Csr:
        matrix = as_csr(X)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        if self.is_fitted and matrix.shape[1] != len(self.low_):
            raise DataError(
                f"X has {counted(matrix.shape[1], 'column')}, but the bins of {counted(len(self.low_), 'term')} were "
                "learned.",
                remedy="Use documents counted with the same vocabulary.",
            )
        return matrix
