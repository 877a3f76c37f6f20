"""One label's two-class problem, resampled: which rows stay, which are added, what a positive weighs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.models.count_model import CountModel, LabelTermCounts, merge
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.neighbour_model import unit_vectors
from manylabel.models.score_kinds import Bools
from manylabel.resampling.amounts import generator
from manylabel.resampling.cluster_under_sampling import cluster_rows
from manylabel.resampling.instance_weights import sample_weights
from manylabel.resampling.nearest_points import Distance
from manylabel.resampling.over_sampling import replicated_rows
from manylabel.resampling.smote import stacked, synthetic_positives
from manylabel.resampling.under_sampling import centroid_similarity, nearest_rows, random_rows, surface_closeness
from manylabel.strategies.binary_relevance_problem import fit_problem

UNDER_SAMPLERS = ("random", "centroid", "surface", "cluster")
OVER_SAMPLERS = ("replicate", "smote")
WEIGHTS = "weights"
SAMPLERS = (WEIGHTS, *UNDER_SAMPLERS, *OVER_SAMPLERS)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How every label's problem is resampled; `margins` gives a label's distance from a first decision surface."""

    sampler: Any
    ratio: float
    neighbours: int
    distance: Distance
    max_rounds: int
    seed: int
    margins: Callable[[int], Floats] | None = None

    def kept_rows(self, X: Csr, positive: Bools, label: int) -> Ints:
        """The rows an under-sampler keeps, all positives among them, in ascending order."""
        if self.sampler == "random":
            return random_rows(positive, self.ratio, generator(self.seed, positive))
        if self.sampler == "cluster":
            return cluster_rows(X, positive, self.max_rounds)
        if self.sampler == "centroid":
            return nearest_rows(positive, self.ratio, centroid_similarity(X, positive))
        assert self.margins is not None
        return nearest_rows(positive, self.ratio, surface_closeness(self.margins(label)))

    def problem(self, X: Csr, positive: Bools, label: int) -> tuple[Csr, Bools]:
        """The documents a label is learned from, and which of them are positive."""
        if self.sampler in UNDER_SAMPLERS:
            rows = self.kept_rows(X, positive, label)
            return X[rows], positive[rows]
        if self.sampler in OVER_SAMPLERS:
            new = self._new_rows(X, positive)
            return stacked(X, new), np.concatenate([positive, np.ones(new.shape[0], dtype=np.bool_)])
        return _resampled_by(self.sampler, X, positive, self.seed)

    def _new_rows(self, X: Csr, positive: Bools) -> Csr:
        random = generator(self.seed, positive)
        if self.sampler == "replicate":
            return Csr(X[replicated_rows(positive, self.ratio, random)])
        return synthetic_positives(X, positive, self.ratio, random, k=self.neighbours, distance=self.distance)


def _resampled_by(sampler: Any, X: Csr, positive: Bools, seed: int) -> tuple[Csr, Bools]:
    """What a sampler of imbalanced-learn makes of the problem; where it has a random state, that is the label's."""
    from sklearn.base import clone

    fresh = clone(sampler)
    if "random_state" in fresh.get_params() and fresh.random_state is None:
        fresh.set_params(random_state=int(generator(seed, positive).integers(2**31)))
    # imbalanced-learn stacks rows of the older matrix class only.
    documents, y = fresh.fit_resample(sparse.csr_matrix(X), positive.astype(np.int64))
    found = Csr(documents)
    found.sum_duplicates()
    return found, np.asarray(y) == 1


def fit_weighted_problem(model: Any, X: Csr, positive: Bools, cost: float) -> Any:
    """A copy of the model that has learned the problem with every positive weighing `cost`, every negative 1.

    Naive Bayes counts the words and documents of the positives `cost` times; other models take `sample_weight`.
    """
    if isinstance(model, CountModel):
        fitted = fit_problem(model, X, positive)
        fitted._learn_table(_weighted_table(fitted, X, positive, cost))
        return fitted
    return fit_problem(model, X, positive, sample_weight=sample_weights(positive, cost))


def check_takes_weights(model: Any) -> None:
    """Complain, with what to do instead, where a model has no use for the weights of documents."""
    if isinstance(model, CountModel) or "sample_weight" in inspect.signature(model.fit).parameters:
        return
    raise ParameterError(
        f"{type(model).__name__} does not weigh documents. Use sampler='replicate', which repeats the positives."
    )


def _weighted_table(fitted: CountModel, X: Csr, positive: Bools, cost: float) -> LabelTermCounts:
    """The counts of the negatives and `cost` times those of the positives, which add up like any two parts."""
    columns = [positive] if fitted.n_labels_ == 1 else [~positive, positive]
    Y = Csr(np.column_stack(columns).astype(np.int8))
    negatives, positives = (fitted.count(X[rows], Y[rows]) for rows in (~positive, positive))
    # A document that counts c times is c documents: the sizes become fractions, which no formula minds.
    parts: dict[str, Any] = {item.name: getattr(positives, item.name) * cost for item in fields(positives)}
    return merge(negatives, LabelTermCounts(**parts))


def surface_margins(X: Csr, Y: Csr, model: Any, n_jobs: int | None) -> Callable[[int], Floats]:
    """For each label the margins of all documents under a first linear support vector machine, learned on all of them.

    It has the settings of the model, and sees its documents, where that is one itself; for any other model it sees
    documents of unit length, since long ones would decide where the surface lies.
    """
    if isinstance(model, LinearSVM):
        first = LinearSVM(**model.get_params())
    else:
        first, X = LinearSVM(), unit_vectors(X)
    first.set_params(n_jobs=n_jobs, warm_start=False, keep_dual=False)
    first.fit(X, Y)
    weights = sparse.csc_array(first.weights_)

    def margins(label: int) -> Floats:
        column = np.zeros(X.shape[1])
        cells = slice(weights.indptr[label], weights.indptr[label + 1])
        column[weights.indices[cells]] = weights.data[cells]
        return np.asarray(X @ column + first.intercept_[label], dtype=np.float64)

    return margins
