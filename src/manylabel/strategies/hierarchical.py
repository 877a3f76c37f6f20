"""What the strategies for label hierarchies share: closing labels, scores out of fold, a threshold for each node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics.ancestors import checked_parents, closed, depths
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel
from manylabel.models.evidence import asked_for, removal_evidence
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.strategies.binary_relevance_problem import BASE_MODEL, wants_counts

LARGEST = 1e9
"""Certainty (log-odds of +∞) as a number that can be added and subtracted."""


class HierarchicalStrategy(MultiLabelModel):
    """Scores of labels that know of each other's parents, over any model.

    `fit` takes `parents`: for each label the number of its parent, −1 for a root; groups that are no labels may follow
    behind the labels, see `manylabel.metrics.ancestors`. They are learned like labels where a strategy needs them, and
    never answered. Without `parents` every label is a root.

    Scores are margins: how far a label is above its threshold, 0 the boundary. ``thresholds="learn"`` learns one for
    each node on scores out of fold (`folds` folds), drawn towards the common one (`shrinkage`) and guarded by a `floor`
    as in the rule per-label; ``"natural"`` keeps the model's own boundary. A 1-D `y`, or fewer documents than folds,
    has no thresholds. A label without training documents scores −∞.

    A subclass says which nodes are learned (`forest`), by which models (`node_models`), and what their scores make
    together (`learn_thresholds`, `combine`).
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "thresholds": OneOf("learn", "natural"),
        "shrinkage": Number(low=0),
        "floor": Number(low=0, high=1),
        "folds": Number(low=2, whole=True),
        "seed": Number(low=0, whole=True),
    }
    score_kind = ScoreKind.MARGIN
    model: Any
    thresholds: Literal["learn", "natural"]
    shrinkage: float
    floor: float
    folds: int
    seed: int

    parents_: Ints
    """The parent of each node that was learned."""
    nodes_: list[MultiLabelModel]
    """The models of all nodes."""
    cuts_: Floats
    """The threshold of each node."""
    seen_: Bools
    """Which labels have a training document, their own or a descendant's."""

    # --- what a strategy writes -------------------------------------------------------------------------------

    def forest(self, parents: Ints) -> Ints:
        """The part of the forest that is learned: by default all of it."""
        return parents

    def node_models(self) -> list[MultiLabelModel]:
        """The models that score all nodes, not yet fitted."""
        raise NotImplementedError

    def learn_thresholds(self, scores: list[Floats], Y: Csr) -> None:
        """Set `cuts_` from the models' scores out of fold; Y is closed."""
        raise NotImplementedError

    def combine(self, scores: list[Floats]) -> Floats:
        """Documents × nodes: scores of single nodes to scores that know of each other, above 0 where given."""
        raise NotImplementedError

    def start(self) -> None:
        """Set what is learned besides thresholds to what it is without scores out of fold."""

    @property
    def has_thresholds(self) -> bool:
        """Whether thresholds are to be learned."""
        return self.thresholds == "learn"

    # --- done here once ---------------------------------------------------------------------------------------

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return wants_counts(self.model)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The hierarchy, and what the model wants."""
        return frozenset({"parents"}) | getattr(self.model, "wants", frozenset())

    @property
    def is_flat(self) -> bool:
        """Whether every label is a root."""
        return not (self.parents_ >= 0).any()

    def fit(self, X: object, Y: object, parents: npt.ArrayLike | None = None, **options: Any) -> Self:
        """Learn all nodes, then their thresholds; `options` go to the model's `fit`."""
        features, targets = self.check_training(X, Y)
        forest = checked_parents(parents, self.n_labels_)
        self.parents_ = self.forest(forest)
        Z = Csr(closed(targets.Y, forest)[:, : len(self.parents_)])
        self.cuts_ = np.zeros(len(self.parents_))
        self.start()
        if self.has_thresholds and targets.form != "single" and features.shape[0] >= self.folds:
            self._learn_out_of_fold(features, Z, options)
        self.seen_ = np.bincount(Z.indices, minlength=Z.shape[1])[: self.n_labels_] > 0
        self.nodes_ = [model.fit(features, Z, **self._told(model, options)) for model in self.node_models()]
        return self

    def _learn_out_of_fold(self, X: Csr, Z: Csr, options: Mapping[str, Any]) -> None:
        """The same folds, and so the same rows, for every model."""
        scores, rows = [], np.arange(0)
        for model in self.node_models():
            found, rows = out_of_fold_scores(model, X, Z, self.folds, self.seed, options=self._told(model, options))
            scores.append(bounded(found))
        self.learn_thresholds(scores, Csr(Z[rows]))

    def _told(self, model: MultiLabelModel, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a model of all nodes is told beside the data."""
        return {**options, "parents": self.parents_} if "parents" in model.wants else dict(options)

    def score_batch(self, X: Csr) -> Floats:
        """How far each label is above its threshold, ancestors and descendants taken into account."""
        return self._labels_of([model.score_batch(X) for model in self.nodes_])

    def document_scorer(self) -> DocumentScorer | None:
        """The node models' and the same sums after them; None where one has none."""
        scorers = [model.document_scorer() for model in self.nodes_]
        found = [scorer for scorer in scorers if scorer is not None]
        if len(found) < len(scorers):
            return None
        return lambda terms, values: self._labels_of([score(terms, values)[np.newaxis] for score in found])[0]

    def _labels_of(self, scores: list[Floats]) -> Floats:
        found = self.combine([bounded(part) for part in scores])[:, : self.n_labels_]
        return np.where(self.seen_, found, -np.inf)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each score loses when a word is taken out of one document, labels × terms; see `removal_evidence`."""
        document, wanted = asked_for(self, x, labels)
        return removal_evidence(lambda X: self.score_batch(X)[:, wanted], document)

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """Labels with a score above 0; for a 1-D `y` the best class, the deepest of equals."""
        if not self.is_fitted or self.label_form_ != "single" or self.is_flat:
            return super().predict(X, working_memory=working_memory)
        order = np.argsort(-depths(self.parents_)[: self.n_labels_], kind="stable")
        batches = self.score_in_batches(self.features(X), working_memory)
        best = [order[scores[:, order].argmax(axis=1)] for _, scores in batches]
        return self.classes_[np.concatenate([np.zeros(0, dtype=np.intp), *best])]


def bounded(scores: Floats) -> Floats:
    """Scores whose +∞ is a large number, so that thresholds can be taken off; −∞ (never seen) stays."""
    return np.asarray(np.minimum(scores, LARGEST), dtype=np.float64)
