"""Each label learned from a problem with fewer negatives or more positives: weights and samplers over any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import ParameterError
from manylabel.kernels.threads import in_threads
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.neighbour_model import unit_vectors
from manylabel.models.score_kinds import Bools
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.progress import stage
from manylabel.resampling.samplers import SAMPLERS, UNDER_SAMPLERS, WEIGHTS, Sampling, positive_costs, sample_weights
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.two_class import BASE_MODEL, carriers, fit_problem, problem_labels

EXCLUSIONS = 16_000_000
"""Cells, documents × labels, that one fit may leave out; beyond that labels are learned in groups."""

Rows = Callable[[int], Ints]
Problem = Callable[[int], tuple[Csr, Bools]]

SAMPLER = AnyOf(
    OneOf(*SAMPLERS),
    Satisfies("a sampler of imbalanced-learn", lambda value: hasattr(value, "fit_resample")),
)


class Resampled(BinaryRelevance):
    """One two-class problem per label, each resampled on its own by `sampler`.

    weights     a positive weighs J = ratio · n₋ / n₊ (or `cost`), a negative 1: J of a `LinearSVM`, `sample_weight` of
                scikit-learn's classifiers, the factor of the counts in naive Bayes
    random      all positives, and negatives drawn at random
    centroid    all positives, and the negatives most similar (cosine) to the mean of the positives
    surface     all positives, and the negatives nearest to the decision surface of a first linear SVM on everything
    cluster     all positives, and the negatives that k-means, started at the positives, puts beside one (no
                `ratio`, at most `max_rounds` rounds)
    replicate   positives several times
    smote       new positives between a positive and one of its `neighbours` nearest, by `distance`

    or a sampler of imbalanced-learn, which then resamples label by label. `ratio` is positives per negative afterwards;
    a label that has more is left alone, and no positive is ever dropped. What is drawn for a label depends on
    `sampling_seed` and its documents only: not on threads, not on the order of the labels.

    A `LinearSVM` learns all labels in one fit on one X except where labels get rows of their own. Scores and constant
    labels are as in `BinaryRelevance`. Resampling changes what share of the documents seems to have a label, so
    probabilities come out too high; learn thresholds on top (`DecidedModel`) to make up for it.

    Source: Batista, Prati & Monard 2004 (sampling); Morik, Brockhausen & Joachims 1999 (weights); Chawla, Bowyer, Hall
    & Kegelmeyer 2002 (SMOTE).

    >>> X = np.array([[0.1], [1.0], [0.2], [0.4], [0.9], [3.0], [3.1]])
    >>> Y = np.array([[1], [1], [0], [0], [0], [0], [0]])
    >>> model = Resampled(LinearSVM(), sampler="weights").fit(X, Y)
    >>> model.model_.J.tolist()
    [2.5]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "sampler": SAMPLER,
        "ratio": Number(low=0, open_low=True),
        "cost": AnyOf(OneOf(None), Number(low=0, open_low=True)),
        "neighbours": Number(low=1, whole=True),
        "distance": OneOf("euclidean", "cosine"),
        "max_rounds": Number(low=1, whole=True),
        "sampling_seed": Number(low=0, whole=True),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }

    def __init__(
        self,
        model: Any,
        sampler: Any = "random",
        ratio: float = 1.0,
        cost: float | None = None,
        neighbours: int = 5,
        distance: Literal["euclidean", "cosine"] = "euclidean",
        max_rounds: int = 100,
        sampling_seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(model, n_jobs)
        self.sampler = sampler
        self.ratio = ratio
        self.cost = cost
        self.neighbours = neighbours
        self.distance = distance
        self.max_rounds = max_rounds
        self.sampling_seed = sampling_seed

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """No facts: what is known about the corpus is not true of resampled documents."""
        return frozenset()

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object) -> Self:  # type: ignore[override]
        """Learn each label from its own resampled documents."""
        features, targets = self.check_training(X, Y)
        if self.sampler == WEIGHTS and not self.base_model.weighs_documents:
            raise ParameterError(
                f"{type(self.model).__name__} does not weigh documents. Use sampler='replicate', which repeats the "
                "positives."
            )
        self.learn(features, targets.Y)
        return self

    def learn(self, X: Csr, Y: Csr) -> None:
        """Learn from checked data."""
        constant = self.note_constant_labels(Y)
        model, by_label = self.base_model, sparse.csc_array(Y)
        if model.learns_labels_apart:
            model = unfitted_copy(model).set_everywhere("n_jobs", self.n_jobs)
            self.model_ = self._learn_together(model, X, Y, constant)
            return
        self.learned_labels_ = np.flatnonzero(~constant)
        sampling, costs = self._sampling(X, Y), self._costs(Y)
        with stage("Learning labels", len(self.learned_labels_)) as advance:

            def learn_label(label: int) -> MultiLabelModel:
                positive = carriers(by_label, label)
                if self.sampler == WEIGHTS:
                    weights = sample_weights(positive, float(costs[label]))
                    fitted = model.for_two_classes().fit_weighted(X, problem_labels(model, positive), weights)
                else:
                    fitted = fit_problem(model, *sampling.problem(X, positive, label))
                advance(1)
                return fitted

            self.models_ = in_threads(learn_label, self.learned_labels_.tolist(), self.n_jobs)

    def _learn_together(self, model: MultiLabelModel, X: Csr, Y: Csr, constant: Bools) -> MultiLabelModel:
        """One model of all labels, which learns labels apart."""
        if self.sampler == WEIGHTS:
            return model.fit_with_costs(X, Y, self._costs(Y))
        sampling, by_label = self._sampling(X, Y), sparse.csc_array(Y)
        if self.sampler in UNDER_SAMPLERS:
            everything = np.arange(X.shape[0])

            def kept(label: int) -> Ints:
                return everything if constant[label] else sampling.kept_rows(X, carriers(by_label, label), label)

            return fit_with_exclusions(model, X, Y, kept, self.n_jobs)

        def problem(label: int) -> tuple[Csr, Bools]:
            positive = carriers(by_label, label)
            return (X, positive) if constant[label] else sampling.problem(X, positive, label)

        return fit_apart(model, X.shape[1], Y.shape[1], problem, self.n_jobs)

    def _sampling(self, X: Csr, Y: Csr) -> Sampling:
        margins = surface_margins(X, Y, self.base_model, self.n_jobs) if self.sampler == "surface" else None
        return Sampling(
            self.sampler, self.ratio, self.neighbours, self.distance, self.max_rounds, self.sampling_seed, margins
        )

    def _costs(self, Y: Csr) -> Floats:
        """The weight of a positive, per label."""
        if self.cost is not None:
            return np.full(Y.shape[1], float(self.cost))
        return positive_costs(np.bincount(Y.indices, minlength=Y.shape[1]), Y.shape[0], self.ratio)

    # --- scoring ----------------------------------------------------------------------------------------------

    def document_scorer(self) -> DocumentScorer | None:
        """The scorer of the one model of all labels; None where there is one model per label."""
        return None if self.model_ is None else self.model_.document_scorer()


def surface_margins(X: Csr, Y: Csr, model: MultiLabelModel, n_jobs: int | None) -> Callable[[int], Floats]:
    """A function of a label: the margins of all documents under a first linear model, learned on all of them.

    Where the model learns labels apart, the first one has the same settings and documents; for any other model it is a
    `LinearSVM` of documents of unit length, since long ones would decide where the surface lies.
    """
    if model.learns_labels_apart:
        first = unfitted_copy(model)
    else:
        first, X = LinearSVM(), unit_vectors(X)
    first.set_everywhere("n_jobs", n_jobs).fit(X, Y)
    return partial(first.scores_of_label, X)


# --- models that learn labels apart ---------------------------------------------------------------------------------
# All labels in one fit wherever that can be: weights are a cost of each label, and rows left out are exclusions, on one
# shared X. Only over-sampling, which gives each label rows of its own, takes one fit per label; the results are put
# together to one model again.


def fit_with_exclusions(model: MultiLabelModel, X: Csr, Y: Csr, kept: Rows, n_jobs: int | None) -> MultiLabelModel:
    """Each label learned from the rows `kept` names, in one fit, or in as few as the exclusions leave room for."""
    size = max(1, EXCLUSIONS // X.shape[0])
    groups = [np.arange(start, min(start + size, Y.shape[1])) for start in range(0, Y.shape[1], size)]
    fitted = []
    for labels in groups:
        excluded = _exclusions(kept, labels, X.shape[0], n_jobs)
        columns = Y if len(groups) == 1 else Csr(Y[:, labels])
        fitted.append(model.for_labels(labels).fit_excluding(X, columns, excluded))
    return fitted[0] if len(fitted) == 1 else model.joined(fitted, X.shape[1])


def fit_apart(
    model: MultiLabelModel, n_features: int, n_labels: int, problem: Problem, n_jobs: int | None
) -> MultiLabelModel:
    """Each label learned from the rows that are its own, up to `n_jobs` labels at a time."""
    with stage("Learning labels", n_labels) as advance:

        def learn(label: int) -> MultiLabelModel:
            X, positive = problem(label)
            alone = model.for_labels(np.array([label])).set_everywhere("n_jobs", 1)
            fitted = alone.fit(X, Csr(positive[:, None].astype(np.int8)))
            advance(1)
            return fitted

        return model.joined(in_threads(learn, range(n_labels), n_jobs), n_features)


def _exclusions(kept: Rows, labels: Ints, n_documents: int, n_jobs: int | None) -> Csr:
    """Documents × some labels, 1 where a label leaves a document out."""
    with stage("Choosing documents", len(labels)) as advance:

        def left_out(label: int) -> Ints:
            outside = np.ones(n_documents, dtype=np.bool_)
            outside[kept(label)] = False
            advance(1)
            return np.flatnonzero(outside).astype(np.int32)

        rows = in_threads(left_out, labels.tolist(), n_jobs)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in rows])])
    cells = np.concatenate([np.zeros(0, dtype=np.int32), *rows])
    ones = np.ones(len(cells), dtype=np.int8)
    return Csr(sparse.csc_array((ones, cells, starts), shape=(n_documents, len(labels))))
