"""Every label learned from a problem made less one-sided: weights, under-sampling, over-sampling, over any model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.threads import in_threads
from manylabel.models.base import DocumentScorer
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import Bools
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.progress import stage
from manylabel.resampling.instance_weights import positive_costs
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.binary_relevance_problem import carriers, fit_problem
from manylabel.strategies.problem_strategy import BASE_MODEL
from manylabel.strategies.resampled_problem import (
    SAMPLERS,
    UNDER_SAMPLERS,
    WEIGHTS,
    Sampling,
    check_takes_weights,
    fit_weighted_problem,
    surface_margins,
)
from manylabel.strategies.resampled_svm import fit_apart, fit_with_costs, fit_with_exclusions

SAMPLER = AnyOf(
    OneOf(*SAMPLERS),
    Satisfies("a sampler of imbalanced-learn", lambda value: hasattr(value, "fit_resample")),
)


class Resampled(BinaryRelevance):
    """One two-class problem a label, each resampled on its own; `sampler` says how.

    weights     a positive weighs J = ratio · n₋ / n₊ (or `cost`), a negative 1: J of a `LinearSVM`, `sample_weight` of
                scikit-learn's classifiers, the factor of the counts in naive Bayes
    random      all positives, and negatives drawn at random
    centroid    all positives, and the negatives most similar (cosine) to the mean of the positives
    surface     all positives, and the negatives nearest to the decision surface of a first linear SVM on everything
    cluster     all positives, and the negatives that k-means, started at the positives, puts beside one (no `ratio`)
    replicate   positives several times
    smote       new positives between a positive and one of its `neighbours` nearest, by `distance`

    or a sampler of imbalanced-learn, which is then asked label by label. `ratio` is positives per negative afterwards;
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
        """Nothing: what is known of the corpus does not hold of resampled documents."""
        return frozenset()

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object) -> Self:  # type: ignore[override]
        """Learn each label from its own resampled documents."""
        features, targets = self.check_training(X, Y)
        if self.sampler == WEIGHTS:
            check_takes_weights(self.model)
        self.learn(features, targets.Y)
        return self

    def learn(self, X: Csr, Y: Csr) -> None:
        """Learn from checked data."""
        constant = self.note_constant_labels(Y)
        if isinstance(self.model, LinearSVM):
            self.model_ = self._learn_linear(self.model, X, Y, constant)
            return
        by_label = sparse.csc_array(Y)
        self.learned_labels_ = np.flatnonzero(~constant)
        sampling, costs = self._sampling(X, Y), self._costs(Y)
        with stage("Learning labels", len(self.learned_labels_)) as advance:

            def learn_label(label: int) -> Any:
                positive = carriers(by_label, label)
                if self.sampler == WEIGHTS:
                    fitted = fit_weighted_problem(self.model, X, positive, float(costs[label]))
                else:
                    fitted = fit_problem(self.model, *sampling.problem(X, positive, label))
                advance(1)
                return fitted

            self.models_ = in_threads(learn_label, self.learned_labels_.tolist(), self.n_jobs)

    def _learn_linear(self, model: LinearSVM, X: Csr, Y: Csr, constant: Bools) -> LinearSVM:
        if self.sampler == WEIGHTS:
            return fit_with_costs(model, X, Y, self._costs(Y), self.n_jobs)
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
        margins = surface_margins(X, Y, self.model, self.n_jobs) if self.sampler == "surface" else None
        return Sampling(
            self.sampler, self.ratio, self.neighbours, self.distance, self.max_rounds, self.sampling_seed, margins
        )

    def _costs(self, Y: Csr) -> Floats:
        """What a positive of each label weighs."""
        if self.cost is not None:
            return np.full(Y.shape[1], float(self.cost))
        return positive_costs(np.bincount(Y.indices, minlength=Y.shape[1]), Y.shape[0], self.ratio)

    # --- scoring ----------------------------------------------------------------------------------------------

    def document_scorer(self) -> DocumentScorer | None:
        """That of the one model of all labels, where there is one."""
        return self.model_.document_scorer() if hasattr(self, "model_") else None
