"""Scores of a linear model whose weights have no zeros to save."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.label_tables import score_one


@dataclass(frozen=True, slots=True)
class DenseScores:
    """s = intercept + X · W; what `LinearScores` is, with one dense table."""

    intercept: Floats
    dense_weights: Floats
    """Terms × labels."""

    def __call__(self, X: Csr) -> Floats:
        """The scores, documents × labels."""
        return np.asarray(X @ self.dense_weights + self.intercept, dtype=np.float64)

    def of_document(self, terms: npt.NDArray[np.int32], values: Floats) -> Floats:
        """The scores of one document given as its terms and values, by gathering the rows of its terms."""
        scores = np.zeros(len(self.intercept))
        score_one(terms, values, None, None, self.dense_weights, scores)
        scores += self.intercept
        return scores

    def weights(self, terms: Ints, labels: Ints) -> Floats:
        """The weights of some terms for some labels."""
        return np.asarray(self.dense_weights[np.ix_(terms, labels)])

    def as_learned(self) -> dict[str, Any]:
        """The arrays under the names a model keeps them by."""
        return {"intercept_": self.intercept, "dense_weights_": self.dense_weights}

    @classmethod
    def from_learned(cls, state: Any) -> DenseScores:
        """The arrays a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(state.intercept_, state.dense_weights_)
