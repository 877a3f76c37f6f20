"""PMM1: the term distribution of a document is the mean of the distributions of its labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from manylabel.kernels.mixtures import GroupedCounts, Mixture
from manylabel.models.pmm_base import ParametricMixture
from manylabel.parameters import Constraint, OneOf


class PMM1(ParametricMixture):
    """The label set whose mixed word distribution explains a document best; each label has an equal share.

    φ_i(S) = Σ_{l in S} θ_li / |S|,   log P(x|S) = Σ_i x_i log φ_i(S),   P(S) uniform

    With ξ = `xi`, θ maximises J = Σ_n log P(x_n|S_n) + (ξ − 1) Σ_l Σ_i log θ_li by the steps θ_li ← (Σ_n x_ni g_nli + ξ
    − 1) / (Σ_i Σ_n x_ni g_nli + V (ξ − 1)), g_nli = θ_li / Σ_{m in S_n} θ_mi. J never falls, and for ξ > 1 it has one
    optimum, whatever the start. Steps end when J changes by no more than its `tol`-th part. `predict` adds the label
    that raises P(x|S) most until no label raises it (`search`: ``"greedy"``), or compares all sets (``"exhaustive"``,
    up to 15 labels). Source: Ueda & Saito 2002, sections 2-3.

    A label's score is log P(x|S)/P(x|R), S the best set with the label and R the best without it among those the search
    compared: positive exactly for the labels that `predict` returns (kind margin).

    Our decisions: documents without a label are left out with a warning; a document without words gets the most
    frequent label; a label never seen in training is never predicted. `start` is ``"counts"`` (θ_li ∝ (YᵀX)_li + 1),
    ``"uniform"`` or ``"random"`` (by `seed`).

    Beyond the paper, off by default: `max_labels`; `prior`, which adds log P(S): the log-odds of the labels'
    frequencies (``"labels"``), the log of the frequency of the set's size (``"sizes"``), or both (``"labels and
    sizes"``); and `equal_lengths`, which scales every document to the mean length of the training documents, so that
    no long document outweighs the rest.

    >>> X, Y = [[3, 1], [1, 3], [2, 2]], [[1, 0], [0, 1], [1, 1]]
    >>> model = PMM1(tol=1e-12).fit(X, Y)
    >>> model.theta_.toarray().T.round(4).tolist(), model.objective_[-1:].round(8).tolist()
    ([[0.6667, 0.3333], [0.3333, 0.6667]], [-10.41075874])
    >>> model.predict([[4, 1], [2, 2], [0, 0]]).tolist()
    [[1, 0], [1, 1], [1, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **ParametricMixture.shared_constraints,
        "start": OneOf("counts", "uniform", "random"),
    }

    def learn_mixture(self, grouped: GroupedCounts) -> Mixture:
        """θ after steps from the starting point `start`."""
        return self.climb(grouped, self.first_theta(grouped), most=self.max_iter)
