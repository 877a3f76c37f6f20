"""Linear SVMs with C and J tuned for each label."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ManylabelWarning
from manylabel.models.linear_svm import TRIAL_TOL, LinearSVM
from manylabel.models.retrained_svm import LINEAR, RetrainedSVM
from manylabel.models.score_kinds import Bools, natural_decisions
from manylabel.models.tuning import (
    TUNED_FOR,
    VALIDATION,
    Trials,
    forced_labels,
    is_numbers,
    try_settings,
    validation_splits,
)
from manylabel.parameters import FLAG, Constraint, Number, Satisfies
from manylabel.stored import Sometimes, Stored, reals

GRID_C = (0.1, 0.3, 1.0, 3.0)
GRID_J = (1.0, 2.0, 5.0)
_COSTS = Satisfies("a list of numbers above 0", lambda value: is_numbers(value) and min(value) > 0)


def usual_cost(X: Csr) -> float:
    """SVM-light's default C: 1 / mean(x·x); 1 where all documents are empty.

    >>> usual_cost(Csr(np.array([[3.0, 4.0], [0.0, 0.0]])))
    0.08
    """
    squares = float(X.data @ X.data)
    return X.shape[0] / squares if squares > 0 else 1.0


class TunedSVM(RetrainedSVM):
    """Margins of a `LinearSVM` whose cost C and factor J of the positives were chosen for each label on held-out data.

    Every pair of `grid_C` and `grid_J` is tried on all labels (`validation`: in how many folds each document is held
    out once, or a share held out once). A label takes the pair of its greatest F1 at score > 0, the first of equals:
    small J before large, then small C. A pair with which its SVM did not converge within `max_iter` is skipped. A label
    with fewer than `min_positives` held-out documents takes the pair with the greatest `metric` over all labels. Then
    all labels are trained on all documents.

    `grid_C` counts in units of SVM-light's default C = 1 / mean(x·x), which is 1 for documents of length 1, so that the
    grid fits any scale of the documents. The SVMs are trained in ascending order of C, then of J, each starting from
    the nearest previous solution. With `forced`, the best label is predicted for held-out documents without a positive
    score, as by the decision rule of the method.

    Source: Ueda & Saito 2002, section 4.1, who tune C and J "for each binary classification"; grid,
    metric and the guard for rare labels are ours. The splits use the `seed` of `model`.

    >>> X = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]] * 5)
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 1]] * 5)
    >>> model = TunedSVM(LinearSVM(), validation=2).fit(X, Y)
    >>> model.C_.tolist(), model.J_.tolist()
    ([0.1, 0.3], [1.0, 1.0])
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": LINEAR,
        "grid_C": _COSTS,
        "grid_J": _COSTS,
        "validation": VALIDATION,
        "min_positives": Number(low=1, whole=True),
        "forced": FLAG,
        "metric": TUNED_FOR,
    }
    C_: Floats
    """The cost of each label."""
    J_: Floats
    """The factor of each label's positives."""
    tried_: Floats
    """The metric of each pair over all labels, grid_J × grid_C."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "C_": reals("labels"),
        "J_": reals("labels"),
        "tried_": Sometimes(reals(None, None)),
    }

    def __init__(
        self,
        model: LinearSVM,
        grid_C: npt.ArrayLike = GRID_C,
        grid_J: npt.ArrayLike = GRID_J,
        validation: float = 3,
        min_positives: int = 5,
        forced: bool = True,
        metric: str = "micro-f1",
    ) -> None:
        self.model = model
        self.grid_C = grid_C
        self.grid_J = grid_J
        self.validation = validation
        self.min_positives = min_positives
        self.forced = forced
        self.metric = metric

    def learn(self, X: Csr, Y: Csr) -> None:
        """Try every pair of C and J, choose one for each label, and train on all documents."""
        costs = np.sort(np.asarray(self.grid_C, dtype=np.float64)) * usual_cost(X)
        pairs = [(float(C), float(J)) for J in np.asarray(self.grid_J) for C in costs]
        splits = validation_splits(Y, self.validation, self.model.seed)
        self.C_, self.J_ = _per_label(self.model.C, Y.shape[1]), _per_label(self.model.J, Y.shape[1])
        if splits:
            settled = np.ones((len(pairs), Y.shape[1]), dtype=np.bool_)
            trials = self._trials(X, Y, pairs, splits, settled)
            self.tried_ = trials.measured.reshape(len(np.asarray(self.grid_J)), -1)
            chosen = np.array(pairs)[trials.best_per_label(self.min_positives, settled)]
            self.C_, self.J_ = chosen[:, 0], chosen[:, 1]
        self.keep(self.svm_to_train().set_params(C=self.C_, J=self.J_).fit(X, Y))

    def _trials(
        self, X: Csr, Y: Csr, pairs: list[tuple[float, float]], splits: list[tuple[Ints, Ints]], settled: Bools
    ) -> Trials:
        """The results of every pair; `settled` (pairs × labels) becomes False where an SVM did not converge."""

        def predictions(train: Ints, test: Ints) -> Iterator[Csr]:
            X_train, Y_train, X_test = Csr(X[train]), Csr(Y[train]), Csr(X[test])
            latest: Csr | None = None
            of_cost: dict[float, Csr] = {}
            for place, (C, J) in enumerate(pairs):
                svm = self.svm_to_train().set_params(C=C, J=J, tol=max(self.model.tol, TRIAL_TOL))
                with warnings.catch_warnings():  # skipped pairs need no warning
                    warnings.simplefilter("ignore", ManylabelWarning)
                    svm.fit(X_train, Y_train, initial=of_cost.get(C, latest))
                settled[place] &= svm.n_iter_ < svm.max_iter
                latest = of_cost[C] = svm.dual_coef_
                yield self._sets(svm, X_test)

        trials = try_settings("Tuning C and J", pairs, splits, Y, predictions, self.metric)
        everywhere = settled.all(axis=1)
        measured = np.where(everywhere, trials.measured, -1.0) if everywhere.any() else trials.measured
        return replace(trials, measured=measured)

    def _sets(self, svm: LinearSVM, X: Csr) -> Csr:
        scores = svm.score_batch(X)
        if self.forced:
            return forced_labels(scores)
        return Csr(natural_decisions(scores, svm.score_kind).astype(np.int8))


def _per_label(cost: float | npt.ArrayLike, n_labels: int) -> Floats:
    """One number per label, from one number for all labels or one for each."""
    return np.broadcast_to(np.asarray(cost, dtype=np.float64), n_labels).copy()
