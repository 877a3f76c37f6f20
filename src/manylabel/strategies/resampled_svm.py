"""Linear support vector machines on resampled problems: all labels in one fit wherever that can be.

Weights are the J of each label, and rows left out are exclusions, on one shared X. Only over-sampling, which gives each
label rows of its own, takes a fit a label; the results are put together to one model again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.threads import in_threads
from manylabel.models.base import unfitted_copy
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import Bools
from manylabel.progress import stage

EXCLUSIONS = 16_000_000
"""Cells, documents × labels, that one fit may leave out; beyond that labels are learned in groups."""

Rows = Callable[[int], Ints]
Problem = Callable[[int], tuple[Csr, Bools]]


def fit_with_costs(model: LinearSVM, X: Csr, Y: Csr, costs: Floats, n_jobs: int | None) -> LinearSVM:
    """One fit in which a positive of label l costs `costs[l]` times what it costs in the model given."""
    J = np.asarray(model.J, dtype=np.float64) * costs
    return _copy(model, n_jobs, J=J).fit(X, Y)


def fit_with_exclusions(model: LinearSVM, X: Csr, Y: Csr, kept: Rows, n_jobs: int | None) -> LinearSVM:
    """Each label learned from the rows `kept` names, in one fit, or in as few as the exclusions leave room for."""
    size = max(1, EXCLUSIONS // X.shape[0])
    groups = [np.arange(start, min(start + size, Y.shape[1])) for start in range(0, Y.shape[1], size)]
    fitted = []
    for labels in groups:
        excluded = _exclusions(kept, labels, X.shape[0], n_jobs)
        columns = Y if len(groups) == 1 else Csr(Y[:, labels])
        fitted.append(_for_labels(model, labels, n_jobs).fit(X, columns, excluded=excluded))
    return fitted[0] if len(fitted) == 1 else put_together(model, fitted, X.shape[1])


def fit_apart(model: LinearSVM, n_features: int, n_labels: int, problem: Problem, n_jobs: int | None) -> LinearSVM:
    """Each label learned from the rows that are its own, up to `n_jobs` labels at a time."""
    with stage("Learning labels", n_labels) as advance:

        def learn(label: int) -> LinearSVM:
            X, positive = problem(label)
            fitted = _for_labels(model, np.array([label]), 1).fit(X, Csr(positive[:, None].astype(np.int8)))
            advance(1)
            return fitted

        return put_together(model, in_threads(learn, range(n_labels), n_jobs), n_features)


def put_together(model: LinearSVM, parts: list[LinearSVM], n_features: int) -> LinearSVM:
    """One model of the labels of several, in their order; dual coefficients, which belong to a fit, are left out."""
    whole = unfitted_copy(model)
    weights = Csr(sparse.hstack([sparse.csc_array(part.weights_) for part in parts], format="csr"))
    cells = weights.shape[0] * weights.shape[1] * weights.dtype.itemsize
    dense = cells < weights.data.nbytes + weights.indices.nbytes + weights.indptr.nbytes
    whole.weights_ = weights.toarray() if dense else weights
    whole.intercept_ = np.concatenate([part.intercept_ for part in parts])
    whole.n_iter_ = np.concatenate([part.n_iter_ for part in parts])
    whole.n_features_in_, whole.n_labels_ = n_features, len(whole.intercept_)
    whole.classes_, whole.label_form_ = np.arange(whole.n_labels_), "sparse"
    return whole


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


def _for_labels(model: LinearSVM, labels: Ints, n_jobs: int | None) -> LinearSVM:
    """An unfitted copy for some of the labels: those of its costs that differ by label are theirs."""
    costs = {name: np.asarray(getattr(model, name), dtype=np.float64) for name in ("C", "J")}
    return _copy(model, n_jobs, **{name: values[labels] for name, values in costs.items() if values.ndim})


def _copy(model: LinearSVM, n_jobs: int | None, **settings: Any) -> LinearSVM:
    return unfitted_copy(model).set_params(n_jobs=n_jobs, **settings)
