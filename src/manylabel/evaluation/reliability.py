"""How probabilities compare with shares of right labels: the reliability diagram and the calibration error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Csr, Floats, Ints

EDGES = np.array([0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])
"""Bins are narrower at both ends, where most of the probabilities of many labels lie."""


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Pairs of a document and a label by predicted probability; those of batches can be added.

    Source: the reliability diagram of Niculescu-Mizil & Caruana 2005, with bins of unequal width.

    >>> found = Reliability.of(Csr([[1, 0], [0, 0]]), np.array([[0.92, 0.005], [0.94, 0.001]]))
    >>> found.pairs[[0, 11]].tolist(), found.true[[0, 11]].tolist()
    ([2, 2], [0, 1])
    >>> round(found.error, 4), round(found.error_from(0.1), 4)
    (0.2165, 0.43)
    """

    pairs: Ints
    true: Ints
    total: Floats
    """The sum of the probabilities in each bin."""

    @classmethod
    def of(cls, Y_true: Csr, probabilities: Floats) -> Reliability:
        """The counts of a batch."""
        bins = np.minimum(np.searchsorted(EDGES, probabilities, side="right") - 1, len(EDGES) - 2)
        rows, columns = Y_true.nonzero()
        n = len(EDGES) - 1
        return cls(
            np.bincount(bins.reshape(-1), minlength=n).astype(np.int64),
            np.bincount(bins[rows, columns], minlength=n).astype(np.int64),
            np.bincount(bins.reshape(-1), weights=probabilities.reshape(-1), minlength=n).astype(np.float64),
        )

    def __add__(self, other: Reliability) -> Reliability:
        return Reliability(self.pairs + other.pairs, self.true + other.true, self.total + other.total)

    @property
    def error(self) -> float:
        """The expected calibration error: Σ |true − Σ p| over bins, divided by the pairs."""
        return self.error_from(0.0)

    def error_from(self, least: float) -> float:
        """The error over the bins from a probability on; 0 without pairs.

        Most of many labels are rightly near 0 for a document, which makes the error over all bins small.
        """
        chosen = EDGES[:-1] >= least
        pairs = int(self.pairs[chosen].sum())
        return float(np.abs(self.true - self.total)[chosen].sum() / pairs) if pairs else 0.0

    def excess(self, least: float) -> float:
        """The mean probability minus the share of true labels, over the bins from a probability on."""
        chosen = EDGES[:-1] >= least
        pairs = int(self.pairs[chosen].sum())
        return float((self.total - self.true)[chosen].sum() / pairs) if pairs else 0.0
