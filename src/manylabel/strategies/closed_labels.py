"""Flat classification whose answers are closed: with a label come its ancestors."""

from __future__ import annotations

from typing import Any, Literal

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import MultiLabelModel
from manylabel.strategies.hierarchical import HierarchicalStrategy
from manylabel.strategies.node_scores import closed_upwards, node_cuts
from manylabel.strategies.sibling_model import each_node_alone


class ClosedLabels(HierarchicalStrategy):
    """One classifier a label, the tree ignored; then predicting a label adds its ancestors.

    c_v = max over v and its descendants u of (s_u − t_u),   given where c_v > 0

    s_u is the model's score, t_u the label's threshold. Training documents of a label are also those of its ancestors.
    Groups that are no labels are neither learned nor answered. The flat option of B-8.

    >>> import numpy as np
    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    >>> Y = np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])  # documents carry 1 without its parent 0
    >>> model = ClosedLabels(LinearSVM(), thresholds="natural").fit(X, Y, parents=[-1, 0, -1])
    >>> model.predict(X).tolist()[0]
    [1, 1, 0]
    """

    def __init__(
        self,
        model: Any,
        thresholds: Literal["learn", "natural"] = "learn",
        shrinkage: float = 5.0,
        floor: float = 0.1,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.thresholds = thresholds
        self.shrinkage = shrinkage
        self.floor = floor
        self.folds = folds
        self.seed = seed

    def forest(self, parents: Ints) -> Ints:
        """The labels only; a label below a group that is none lies under the nearest label above it."""
        found = parents[: self.n_labels_].copy()
        while (groups := found >= self.n_labels_).any():
            found[groups] = parents[found[groups]]
        return found

    def node_models(self) -> list[MultiLabelModel]:
        """Each label against all other documents."""
        return [each_node_alone(self.model)]

    def learn_thresholds(self, scores: list[Floats], Y: Csr) -> None:
        """Each label's own."""
        self.cuts_ = node_cuts(scores[0], Y, self.shrinkage, self.floor)

    def combine(self, scores: list[Floats]) -> Floats:
        """Thresholds taken off, every label raised to its best descendant."""
        return closed_upwards(scores[0] - self.cuts_, self.parents_)
