"""Strategies for label hierarchies: flat with ancestors added, top-down, and scores propagated along paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics import label_counts, micro_f1
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.stored import Scalar, Stored
from manylabel.strategies.hierarchical import HierarchicalStrategy, SiblingModel, each_node_alone
from manylabel.strategies.node_scores import (
    blocked,
    closed_upwards,
    descent_thresholds,
    node_thresholds,
    path_log_odds,
    sibling_leads,
)
from manylabel.strategies.two_class import as_model, problem_kind

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
UNLEARNED = 0.5
MARGIN_SLOPE = 4.0


class ClosedLabels(HierarchicalStrategy):
    """One classifier per label that ignores the hierarchy; then predicting a label adds its ancestors.

    c_v = max over v and its descendants u of (s_u − t_u),   predicted where c_v > 0

    s_u is the model's score, t_u the label's threshold. Training documents of a label are also those of its ancestors.
    Groups that are no labels are neither learned nor predicted. The flat option of B-8.

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
        """Set the threshold of each label from its own out-of-fold scores."""
        self.thresholds_ = node_thresholds(scores[0], Y, self.shrinkage, self.floor)

    def combine(self, scores: list[Floats]) -> Floats:
        """Scores minus thresholds, every label raised to its best descendant."""
        return closed_upwards(scores[0] - self.thresholds_, self.parents_)


class TopDown(HierarchicalStrategy):
    """A classifier at each inner node among its children; a document goes down from the roots.

    b_v = min over v and its ancestors u of (s_u − t_u),   predicted where b_v > 0

    s_u is the score of u among its siblings (`SiblingModel`: positives are the documents of the node's descendants,
    negatives its siblings' descendants), t_u its threshold. ``descent="threshold"`` follows all children above their
    threshold, which is learned level by level on the documents that reach the node. ``"argmax"`` follows the best child
    only, always down to a leaf: s_u − t_u is then its lead over the best sibling.

    An error above blocks the subtree; `Propagated` repairs that. B-8; Koller & Sahami 1997; with thresholds
    Sun & Lim 2001. Documents that stop at an inner node are negatives of its children, so that the descent can stop.

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
        """Whether there is anything to learn out of fold: the best child has no threshold."""
        return self.thresholds == "learn" and self.descent == "threshold"

    def node_models(self) -> list[MultiLabelModel]:
        """Each node among its siblings."""
        return [SiblingModel(self.model)]

    def learn_thresholds(self, scores: list[Floats], Y: Csr) -> None:
        """Set the thresholds level by level, from the documents that reach a node."""
        self.thresholds_ = descent_thresholds(scores[0], Y, self.parents_, self.shrinkage, self.floor)

    def combine(self, scores: list[Floats]) -> Floats:
        """Scores minus thresholds (or minus the best sibling), every node lowered to its worst ancestor."""
        argmax = self.descent == "argmax"
        relative = sibling_leads(scores[0], self.parents_) if argmax else scores[0] - self.thresholds_
        return blocked(relative, self.parents_)


class Propagated(HierarchicalStrategy):
    """A label's own evidence averaged with that of its whole path, so that ancestors count but cannot block.

    p_v = (1 − share) f_v + share · (1/slope) log P_v/(1 − P_v),   P_v = Π_u σ(slope · s_u), u over v and its ancestors
    c_v = max over v and its descendants u of (p_u − t_u),   predicted where c_v > 0

    f_v is the score of v against all other documents (flat), s_u that of u among its siblings (top-down);
    σ(slope · s_u) is the probability of u given its parent, so that P_v is the probability of the whole path. The
    top-down descent requires every ancestor to be predicted, and one weak ancestor blocks all below it. Here a label is
    compared once, with its own threshold t_v: a high score of a leaf outweighs a low one of its parent, and the
    ancestors of a predicted leaf are predicted too.

    share 0 is `ClosedLabels`; ``"learn"`` takes, of 0, ¼, ½, ¾ and 1, the one with the best out-of-fold micro F1 (the
    smallest of equals; ½ where thresholds are not learned). `slope` None is 1 for log-odds and 4 for margins.

    Ours. Relatives: Dumais & Chen 2000 multiply the probabilities of two levels; McCallum, Rosenfeld, Mitchell & Ng
    1998 mix what a node and its ancestors know about a word.

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 2]])
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])  # 0 and 1 lie in the group 3, 2 is a root
    >>> model = Propagated(LinearSVM(), folds=2).fit(X, Y, parents=[3, 3, -1, -1])
    >>> model.scores(X).argmax(axis=1).tolist()
    [0, 1, 2, 2]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **HierarchicalStrategy.parameter_constraints,
        "share": AnyOf(OneOf("learn"), Number(low=0, high=1)),
        "slope": AnyOf(OneOf(None), Number(low=0, open_low=True)),
    }
    share_: float
    """How much the path counts."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "share_": Scalar(),
    }

    def __init__(
        self,
        model: Any,
        share: float | Literal["learn"] = "learn",
        slope: float | None = None,
        thresholds: Literal["learn", "natural"] = "learn",
        shrinkage: float = 5.0,
        floor: float = 0.1,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self.model = model
        self.share = share
        self.slope = slope
        self.thresholds = thresholds
        self.shrinkage = shrinkage
        self.floor = floor
        self.folds = folds
        self.seed = seed

    @property
    def chosen(self) -> dict[str, float]:
        """The share of the path, where it was learned."""
        return {"share": self.share_} if self.share == "learn" and not self.is_flat else {}

    def start(self) -> None:
        """Set the share that is used without out-of-fold scores."""
        self.share_ = UNLEARNED if self.share == "learn" else float(self.share)

    def node_models(self) -> list[MultiLabelModel]:
        """Each node against all other documents and, where there are paths, among its siblings."""
        flat = each_node_alone(self.model)
        return [flat] if self.is_flat else [flat, SiblingModel(self.model)]

    def learn_thresholds(self, scores: list[Floats], Y: Csr) -> None:
        """Set the share with the best micro F1, and the thresholds of labels for it. Groups have no threshold."""
        Y_true = Csr(Y[:, : self.n_labels_])
        shares = SHARES if self.share == "learn" and not self.is_flat else (self.share_,)
        flat, path = (one[:, : self.n_labels_] for one in self._flat_and_path(scores))
        best = -1.0
        for share in shares:
            mixed = mean(flat, path, share)
            thresholds = node_thresholds(mixed, Y_true, self.shrinkage, self.floor)
            attained = micro_f1(label_counts(Y_true, Csr((mixed > thresholds).astype(np.int8))))
            if attained > best:
                best, self.share_ = attained, share
                self.thresholds_[: self.n_labels_] = thresholds

    def _flat_and_path(self, scores: list[Floats]) -> tuple[Floats, Floats]:
        """The flat scores and the log-odds of the paths, which are the same where there are no paths."""
        if len(scores) == 1:
            return scores[0], scores[0]
        slope = self.slope
        if slope is None:
            slope = 1.0 if problem_kind(as_model(self.model)) is ScoreKind.LOG_ODDS else MARGIN_SLOPE
        return scores[0], path_log_odds(scores[1], self.parents_, slope)

    def combine(self, scores: list[Floats]) -> Floats:
        """The weighted mean of both scores minus thresholds, every label raised to its best descendant."""
        above = mean(*self._flat_and_path(scores), self.share_) - self.thresholds_
        above[:, self.n_labels_ :] = -np.inf  # a group takes the score of its best descendant and has none of its own
        return closed_upwards(above, self.parents_)


def mean(flat: Floats, path: Floats, share: float) -> Floats:
    """(1 − share) · flat + share · path; one of them alone, −∞ or not, where the share is 0 or 1.

    >>> mean(np.array([1.0, 1.0]), np.array([0.0, -np.inf]), 0.25).tolist()
    [0.75, -inf]
    """
    if share in (0, 1) or flat is path:
        return path if share == 1 else flat
    return (1 - share) * flat + share * path
