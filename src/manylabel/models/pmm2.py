"""PMM2: as PMM1, but the share of each label in a document is learned for every pair of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.estimator import Csr, Floats
from manylabel.kernels.mixtures import GroupedCounts, LabelPairs, Mixture, label_pairs
from manylabel.models.pmm_base import ParametricMixture, Prior, Start
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Matrix, Stored

STEPS_OF_THE_START = 100
"""Largest number of PMM1 steps for the starting point of PMM2; `max_iter`, which limits PMM2, does not limit them."""


class PMM2(ParametricMixture):
    """The label set whose mixed word distribution explains a document best; labels may share it unequally.

    φ_i(S) = Σ_{l in S} e_l θ_li,   e_l = (2/k²) Σ_{m in S} α_lm,   k = |S|,   α_lm + α_ml = 1,   α_ll = ½

    which is the paper's Σ_{l,m} h_l h_m (α_lm θ_li + α_ml θ_mi), h_l = 1/k, added up by label; α = ½ is PMM1. θ and α
    maximise J = Σ_n log P(x_n|S_n) + (ξ − 1) Σ log θ_li + (ζ − 1) Σ_{l,m} log α_lm by steps that never lower it; the
    optimum is a local one. `start` is the solution of PMM1 with α = ½ (``"pmm1"``), or θ from ``"counts"`` or
    ``"uniform"`` with α = ½, or ``"random"`` θ with α = ½ ± 0.1 (by `seed`). α of labels that never share a training
    document stays ½. Source: Ueda & Saito 2002, sections 2-3.

    On 500 documents α is overfitted: with `max_iter` 3 or `tol` 1e-4 the predictions on new documents are better. ξ is
    `xi`, ζ `zeta`. Everything else is as in `PMM1`: the scores, `search`, `max_labels`, `prior` and `equal_lengths`.

    >>> X, Y = np.array([[3, 1], [1, 3], [4, 1]]), np.array([[1, 0], [0, 1], [1, 1]])
    >>> model = PMM2().fit(X, Y)
    >>> bool(model.alpha_[0, 1] > 0.5), bool(np.all(np.diff(model.objective_) >= 0))
    (True, True)
    >>> model.predict([[4, 1], [1, 4]]).tolist()
    [[1, 0], [0, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **ParametricMixture.shared_constraints,
        "zeta": Number(low=1),
        "start": OneOf("pmm1", "counts", "uniform", "random"),
    }

    alpha_: Csr
    """α of the pairs of labels that share a training document, labels × labels; ½ for all others."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "alpha_": Matrix("labels", "labels"),
    }

    def __init__(
        self,
        xi: float = 2.0,
        zeta: float = 2.0,
        start: Start = "pmm1",
        seed: int = 0,
        tol: float = 1e-6,
        max_iter: int = 100,
        search: Literal["greedy", "exhaustive"] = "greedy",
        max_labels: int | None = None,
        prior: Prior = None,
        equal_lengths: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(xi, start, seed, tol, max_iter, search, max_labels, prior, equal_lengths, n_jobs)
        self.zeta = zeta

    def learn_mixture(self, grouped: GroupedCounts) -> Mixture:
        """θ and α after steps from the starting point `start`."""
        pairs = label_pairs(grouped)
        first, alpha = self.first_theta(grouped), np.full(len(pairs.first), 0.5)
        if self.start == "pmm1":
            first = self.climb(grouped, first, most=STEPS_OF_THE_START)
        if self.start == "random":
            alpha = np.random.default_rng([self.seed, 1]).uniform(0.4, 0.6, len(alpha))
        mixture = Mixture(first.theta, first.background, alpha)
        mixture = self.climb(grouped, mixture, most=self.max_iter, zeta=self.zeta, pairs=pairs)
        assert mixture.alpha is not None
        self.alpha_ = _both_ways(pairs, mixture.alpha, grouped.n_labels)
        return mixture

    def _alpha(self) -> Csr:
        return self.alpha_


def _both_ways(pairs: LabelPairs, alpha: Floats, n_labels: int) -> Csr:
    """α_lm and α_ml = 1 − α_lm, labels × labels."""
    rows, columns = np.concatenate([pairs.first, pairs.second]), np.concatenate([pairs.second, pairs.first])
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_labels))])
    values = np.concatenate([alpha, 1.0 - alpha])[order]
    return Csr((values, columns[order], indptr), shape=(n_labels, n_labels))
