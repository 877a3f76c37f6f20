"""Expected metrics of each of many label sets under weights of the same sets, without looking at pairs of sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.models.score_kinds import Bools


@dataclass(frozen=True, slots=True)
class SizeGroup:
    """The sets of one length: their rows, sets × labels, and the same turned round."""

    size: int
    rows: npt.NDArray[np.intp]
    sets: Csr
    holders: Csr


@dataclass(frozen=True, slots=True)
class SetTable:
    """Label sets grouped by their length. Everything it computes is sets × documents.

    Each document is computed by itself, in the same order of additions whatever its neighbours: sparse products and
    cell-by-cell steps, no BLAS, no sums whose order depends on the shape.
    """

    sets: Csr
    groups: tuple[SizeGroup, ...]

    @classmethod
    def of(cls, sets: Csr) -> Self:
        """Group the rows of sets × labels."""
        counted = sets.astype(np.float64)
        sizes = np.diff(sets.indptr)
        groups = []
        for size in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == size)
            own = Csr(counted[rows])
            groups.append(SizeGroup(int(size), rows, own, Csr(own.T)))
        return cls(counted, tuple(groups))

    @property
    def cells_a_document(self) -> int:
        """How many numbers the tables of one document hold, in thirds: what `row_batches` asks for."""
        return self.sets.shape[0] + (2 * len(self.groups) + 2) * self.sets.shape[1] // 3

    def sums(self, values: Floats) -> Floats:
        """Σ_{k∈T} of values, labels × documents."""
        return np.asarray(self.sets @ values)

    def weights(self, log_weights: Floats) -> Floats:
        """e^w, the greatest of each document being 1; 0 throughout where all are −∞."""
        highest = log_weights.max(axis=0, initial=-np.inf)
        return np.exp(log_weights - np.where(np.isneginf(highest), 0.0, highest))

    def best(
        self, log_weights: Floats, metric: Literal["sample-f1", "exact-match", "hamming-loss"]
    ) -> tuple[npt.NDArray[np.intp], Bools]:
        """The first best set of each document, and whether any set is possible there."""
        possible = ~np.isneginf(log_weights.max(axis=0, initial=-np.inf))
        if metric == "exact-match":
            return log_weights.argmax(axis=0), possible
        weights = self.weights(log_weights)
        values = self.expected_f1(weights) if metric == "sample-f1" else self.expected_agreement(weights)
        # An impossible set can have some F1 with the possible ones, but is no answer.
        return np.where(np.isneginf(log_weights), -np.inf, values).argmax(axis=0), possible

    def expected_f1(self, weights: Floats) -> Floats:
        """Σ_T w_T 2|S∩T|/(|S| + |T|) for each set S, 1 in place of the fraction where both are empty.

        With W_s[k] = Σ w_T over the sets T of length s that hold k, it is Σ_{k∈S} Σ_s 2/(|S| + s) W_s[k]. Source: the
        matrix Δ of Dembczyński, Waegeman, Cheng & Hüllermeier 2011.

        >>> table = SetTable.of(Csr([[1, 1, 0], [1, 0, 0], [0, 0, 1]]))
        >>> table.expected_f1(np.array([[0.5], [0.3], [0.2]])).ravel().round(4).tolist()
        [0.7, 0.6333, 0.2]
        """
        found = np.empty_like(weights)
        some = [group for group in self.groups if group.size]
        sizes = np.array([group.size for group in some])[:, np.newaxis, np.newaxis]
        holding = np.empty((len(some), self.sets.shape[1], weights.shape[1]))
        for place, group in enumerate(some):
            holding[place] = group.holders @ weights[group.rows]
        for group in some:
            found[group.rows] = group.sets @ (holding * (2.0 / (group.size + sizes))).sum(axis=0)
        for empty in (group for group in self.groups if not group.size):
            found[empty.rows] = weights[empty.rows]
        return found

    def expected_agreement(self, weights: Floats) -> Floats:
        """Σ_{k∈S} Σ_T w_T (2 [k∈T] − 1) for each set S: greatest where Σ_T w_T |S△T| is least.

        >>> table = SetTable.of(Csr([[1, 1, 0], [1, 0, 0], [0, 0, 1]]))
        >>> table.expected_agreement(np.array([[0.5], [0.375], [0.125]])).ravel().tolist()
        [0.75, 0.75, -0.75]
        """
        total = Csr(np.ones((1, self.sets.shape[0]))) @ weights
        held = Csr(self.sets.T) @ weights
        return np.asarray(self.sets @ (2.0 * held - total))
