"""What the strategies for label hierarchies share: closed labels, models of nodes, a threshold per node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.metrics.ancestors import checked_parents, closed, depths
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, document_scorers
from manylabel.models.evidence import asked_for, removal_evidence
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.progress import track
from manylabel.stored import Each, Forest, Part, Sizes, Stored, flags, reals, wholes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.two_class import BASE_MODEL, as_model, for_rows, problem_kind

LARGEST = 1e9
"""Certainty (log-odds of +∞) as a number that can be added and subtracted."""


class HierarchicalStrategy(MultiLabelModel):
    """Scores of labels in a hierarchy, over any model.

    `fit` takes `parents`: for each label the number of its parent, −1 for a root; groups that are no labels may follow
    behind the labels, see `manylabel.metrics.ancestors`. They are learned like labels where a strategy needs them, and
    never predicted. Without `parents` every label is a root.

    Scores are margins: how far a label is above its threshold, 0 the boundary. ``thresholds="learn"`` learns one for
    each node on out-of-fold scores (`folds` folds), shrunk towards the common one (`shrinkage`) and guarded by a
    `floor` as in the decision rule per-label; ``"natural"`` keeps the model's own boundary. A 1-D `y`, or fewer
    documents than folds, has no thresholds. A label without training documents scores −∞.

    A subclass defines which nodes are learned (`forest`), by which models (`node_models`), and how their scores are
    combined (`learn_thresholds`, `combine`).
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
    thresholds_: Floats
    """The threshold of each node."""
    seen_: Bools
    """Which labels have a training document, their own or a descendant's."""

    # --- what a strategy writes -------------------------------------------------------------------------------

    learned: ClassVar[Mapping[str, Stored]] = {
        "parents_": Forest("nodes"),
        "thresholds_": reals("nodes"),
        "seen_": flags("labels"),
        "nodes_": Each(Part(MultiLabelModel, "nodes", "terms"), None),
    }

    def forest(self, parents: Ints) -> Ints:
        """The parents of the nodes that are learned: by default all nodes."""
        return parents

    def node_models(self) -> list[MultiLabelModel]:
        """The models that score all nodes, not yet fitted."""
        raise NotImplementedError

    def learn_thresholds(self, scores: list[Floats], Y: Csr) -> None:
        """Set `thresholds_` from the models' out-of-fold scores; Y is closed."""
        raise NotImplementedError

    def combine(self, scores: list[Floats]) -> Floats:
        """Scores of documents × nodes from those of the models: a node is predicted where its score is above 0."""
        raise NotImplementedError

    def start(self) -> None:
        """Set what is learned besides thresholds to its value without out-of-fold scores."""

    @property
    def has_thresholds(self) -> bool:
        """Whether thresholds are to be learned."""
        return self.thresholds == "learn"

    # --- done here once ---------------------------------------------------------------------------------------

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return as_model(self.model).needs_counts

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The hierarchy, and the facts that the model wants."""
        return frozenset({"parents"}) | as_model(self.model).wants

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
        self.thresholds_ = np.zeros(len(self.parents_))
        self.start()
        if self.has_thresholds and targets.form != "single" and features.shape[0] >= self.folds:
            self._learn_out_of_fold(features, Z, options)
        self.seen_ = np.bincount(Z.indices, minlength=Z.shape[1])[: self.n_labels_] > 0
        self.nodes_ = [model.fit(features, Z, **self._facts_for(model, options)) for model in self.node_models()]
        return self

    def _learn_out_of_fold(self, X: Csr, Z: Csr, options: Mapping[str, Any]) -> None:
        """Learn the thresholds from out-of-fold scores; all models use the same folds, and so the same rows."""
        scores, rows = [], np.arange(0)
        for model in self.node_models():
            found, rows = out_of_fold_scores(
                model, X, Z, self.folds, self.seed, options=self._facts_for(model, options)
            )
            scores.append(bounded(found))
        self.learn_thresholds(scores, Csr(Z[rows]))

    def _facts_for(self, model: MultiLabelModel, options: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments of the `fit` of a model of all nodes."""
        return {**options, "parents": self.parents_} if "parents" in model.wants else dict(options)

    def score_batch(self, X: Csr) -> Floats:
        """How far each label is above its threshold, ancestors and descendants taken into account."""
        return self._labels_of([model.score_batch(X) for model in self.nodes_])

    def document_scorer(self) -> DocumentScorer | None:
        """The scorers of the node models, combined as in `score_batch`; None where a model has none."""
        scorers = document_scorers(self.nodes_)
        if scorers is None:
            return None
        return lambda terms, values: self._labels_of([score(terms, values)[np.newaxis] for score in scorers])[0]

    def _labels_of(self, scores: list[Floats]) -> Floats:
        found = self.combine([bounded(one) for one in scores])[:, : self.n_labels_]
        return np.where(self.seen_, found, -np.inf)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each score loses when a term is taken out of one document, labels × terms; see `removal_evidence`."""
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


def each_node_alone(model: Any) -> MultiLabelModel:
    """A model that scores every node by itself: the model if it does so already, binary relevance over it if not."""
    fresh = unfitted_copy(model)
    return fresh if as_model(fresh).independent_labels else BinaryRelevance(fresh)


class SiblingModel(MultiLabelModel):
    """The score of each node among its siblings: of documents known to lie under its parent, which lie under it?

    Positives of a node are the documents with a label at or below it, negatives the other documents of its parent:
    those of its siblings, and those that stop at the parent. Roots are learned on all documents, any other node on
    those of its parent alone, which is why this takes less time than one classifier per node on all documents.

    Y is closed under ancestors, one column per node; `parents` as in `manylabel.metrics.ancestors`. A node without
    training documents scores −∞. Source: Koller & Sahami 1997 (a classifier at each inner node).

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 2]])
    >>> Y = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]])  # 1 and 2 lie under 0
    >>> model = SiblingModel(LinearSVM()).fit(X, Y, parents=[-1, 0, 0, -1])
    >>> [rows.tolist() for rows in model.children_]
    [[0, 3], [1, 2]]
    >>> (model.scores(X) > 0).astype(int).tolist()[:2]
    [[1, 1, 0, 0], [1, 0, 1, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {"model": BASE_MODEL}
    children_: list[Ints]
    """The nodes of each problem: children of one parent that has training documents."""
    models_: list[MultiLabelModel]
    """The model of each problem."""
    seen_: npt.NDArray[np.bool_]
    """Which nodes have a training document."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "seen_": flags("labels"),
        "children_": Each(wholes(None, below="labels"), "groups"),
        "models_": Each(Part(MultiLabelModel, terms="terms"), "groups"),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless every problem has one label per child."""
        sizes = super().check_learned(state)
        if any(len(rows) != model.n_labels_ for rows, model in zip(state["children_"], state["models_"], strict=True)):
            raise ValueError("SiblingModel has a problem whose labels are not its children")
        return sizes

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds where the model gives probabilities, margins otherwise."""
        return problem_kind(as_model(self.model))

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return as_model(self.model).needs_counts

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The hierarchy, and the facts that the model wants."""
        return frozenset({"parents"}) | as_model(self.model).wants

    def fit(self, X: object, Y: object, parents: npt.ArrayLike | None = None, **options: Any) -> Self:
        """Learn the classifiers of all inner nodes; `options` go to the model's `fit`."""
        features, targets = self.check_training(X, Y)
        forest = checked_parents(parents, self.n_labels_)
        by_node = sparse.csc_array(targets.Y)
        self.seen_ = np.diff(by_node.indptr) > 0
        self.children_, self.models_ = [], []
        for parent in track("Learning inner nodes", np.unique(forest).tolist()):
            inside = by_node.indices[slice(*by_node.indptr[parent : parent + 2])] if parent >= 0 else None
            if inside is not None and not len(inside):
                continue
            children = np.flatnonzero(forest == parent)
            self.children_.append(children)
            self.models_.append(self._learn_siblings(features, targets.Y, children, inside, options))
        return self

    def _learn_siblings(
        self, X: Csr, Y: Csr, children: Ints, inside: npt.NDArray[Any] | None, options: Mapping[str, Any]
    ) -> MultiLabelModel:
        # A document that stops at the parent is a negative, not an unlabelled document.
        model = each_node_alone(self.model).for_two_classes()
        if inside is None:
            return model.fit(X, Csr(Y[:, children]), **options)
        rows = np.sort(inside)
        return model.fit(Csr(X[rows]), Csr(Csr(Y[rows])[:, children]), **for_rows(options, rows))

    def score_batch(self, X: Csr) -> Floats:
        """The score of every node by the classifier of its parent, whether or not the parent is predicted."""
        scores = np.full((X.shape[0], self.n_labels_), -np.inf)
        for children, model in zip(self.children_, self.models_, strict=True):
            scores[:, children] = model.score_batch(X)
        scores[:, ~self.seen_] = -np.inf
        return scores

    def document_scorer(self) -> DocumentScorer | None:
        """The scorers of all problems, one after the other; None where a model has none."""
        scorers = document_scorers(self.models_)
        if scorers is None:
            return None

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            scores = np.full(self.n_labels_, -np.inf)
            for children, scorer in zip(self.children_, scorers, strict=True):
                scores[children] = scorer(terms, values)
            scores[~self.seen_] = -np.inf
            return scores

        return score
