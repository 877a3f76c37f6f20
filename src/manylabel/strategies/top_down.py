"""Top-down descent of a label hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from manylabel.estimator import Csr, Floats
from manylabel.models.base import MultiLabelModel
from manylabel.parameters import Constraint, OneOf
from manylabel.strategies.hierarchical import HierarchicalStrategy
from manylabel.strategies.node_scores import blocked, descent_cuts, sibling_leads
from manylabel.strategies.sibling_model import SiblingModel


class TopDown(HierarchicalStrategy):
    """A classifier at each inner node among its children; a document goes down from the roots.

    b_v = min over v and its ancestors u of (s_u − t_u),   given where b_v > 0

    s_u is the score of u among its siblings (`SiblingModel`: positives are the documents of the node's descendants,
    negatives its siblings' descendants), t_u its threshold. ``descent="threshold"`` follows all children above their
    threshold, which is learned level by level on the documents that reach the node. ``"argmax"`` follows the best child
    only, always down to a leaf: s_u − t_u is then its lead over the best sibling.

    An error above blocks the subtree; `Propagated` repairs that. B-8; Koller & Sahami 1997; with thresholds
    Sun & Lim 2001. Documents that stop at an inner node are negatives of its children, so that the descent can stop.

    >>> import numpy as np
    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 2]])
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])  # 0 and 1 lie in the group 3, 2 is a root
    >>> model = TopDown(LinearSVM(), thresholds="natural").fit(X, Y, parents=[3, 3, -1, -1])
    >>> model.predict(X).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **HierarchicalStrategy.parameter_constraints,
        "descent": OneOf("threshold", "argmax"),
    }

    def __init__(
        self,
        model: Any,
        descent: Literal["threshold", "argmax"] = "threshold",
        thresholds: Literal["learn", "natural"] = "learn",
        shrinkage: float = 5.0,
        floor: float = 0.1,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.descent = descent
        self.thresholds = thresholds
        self.shrinkage = shrinkage
        self.floor = floor
        self.folds = folds
        self.seed = seed

    @property
    def has_thresholds(self) -> bool:
        """Whether there is anything to learn out of fold: the best child needs no threshold."""
        return self.thresholds == "learn" and self.descent == "threshold"

    def node_models(self) -> list[MultiLabelModel]:
        """Each node among its siblings."""
        return [SiblingModel(self.model)]

    def learn_thresholds(self, scores: list[Floats], Y: Csr) -> None:
        """Level by level, on the documents that reach a node."""
        self.cuts_ = descent_cuts(scores[0], Y, self.parents_, self.shrinkage, self.floor)

    def combine(self, scores: list[Floats]) -> Floats:
        """Thresholds (or the best sibling) taken off, every node lowered to its worst ancestor."""
        argmax = self.descent == "argmax"
        relative = sibling_leads(scores[0], self.parents_) if argmax else scores[0] - self.cuts_
        return blocked(relative, self.parents_)
