"""At each inner node of a label hierarchy a classifier among its children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics.ancestors import checked_parents
from manylabel.models.base import DocumentScorer, MultiLabelModel, unfitted_copy
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint
from manylabel.progress import track
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.binary_relevance_problem import (
    BASE_MODEL,
    for_rows,
    problem_kind,
    scores_labels_alone,
    wants_counts,
)


def each_node_alone(model: Any) -> MultiLabelModel:
    """A model that scores every node by itself: the model if it does so already, binary relevance over it if not."""
    fresh: MultiLabelModel = unfitted_copy(model)
    return fresh if scores_labels_alone(fresh) else BinaryRelevance(fresh)


class SiblingModel(MultiLabelModel):
    """The score of each node among its siblings: of documents known to lie under its parent, which lie under it?

    Positives of a node are the documents with a label at or below it, negatives the other documents of its parent:
    those of its siblings, and those that stop at the parent. Roots are learned on all documents, any other node on
    those of its parent alone, which is why this takes less time than one classifier a node on everything.

    Y is closed under ancestors, one column a node; `parents` as in `manylabel.metrics.ancestors`. A node without
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

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds where the model gives probabilities, margins otherwise."""
        return problem_kind(self.model)

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return wants_counts(self.model)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The hierarchy, and what the model wants."""
        return frozenset({"parents"}) | getattr(self.model, "wants", frozenset())

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
        model = each_node_alone(self.model)
        if "unlabelled" in model.parameter_names():  # a document that stops at the parent is a negative, not unknown
            model.set_params(unlabelled="negative")
        if inside is None:
            return model.fit(X, Csr(Y[:, children]), **options)
        rows = np.sort(inside)
        return model.fit(Csr(X[rows]), Csr(Csr(Y[rows])[:, children]), **for_rows(options, rows))

    def score_batch(self, X: Csr) -> Floats:
        """The score of every node by the classifier of its parent, whether or not the parent is given."""
        scores = np.full((X.shape[0], self.n_labels_), -np.inf)
        for children, model in zip(self.children_, self.models_, strict=True):
            scores[:, children] = model.score_batch(X)
        scores[:, ~self.seen_] = -np.inf
        return scores

    def document_scorer(self) -> DocumentScorer | None:
        """The scorers of all problems, one after the other; None where a model has none."""
        scorers = [model.document_scorer() for model in self.models_]
        if any(scorer is None for scorer in scorers):
            return None

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            scores = np.full(self.n_labels_, -np.inf)
            for children, scorer in zip(self.children_, scorers, strict=True):
                assert scorer is not None
                scores[children] = scorer(terms, values)
            scores[~self.seen_] = -np.inf
            return scores

        return score
