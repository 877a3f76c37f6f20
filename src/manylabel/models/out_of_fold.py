"""Scores of training documents by models that did not see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from manylabel.deadline import Deadline
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError
from manylabel.features.facts import FoldFeatures
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import Bools
from manylabel.progress import track
from manylabel.wording import counted, settings_text, there_are

Fit: TypeAlias = Callable[[MultiLabelModel, Csr, Csr, Mapping[str, Any]], MultiLabelModel]
"""Model, X, Y and options of `fit` → a fitted copy of the model."""
Solution: TypeAlias = Any
"""What `OutOfFold.fit_keeping` keeps and folds start from: α of all documents × labels, as a matrix or on disk."""

MOST_SCORES = 1 << 24
"""Out-of-fold scores from which rules and calibrations learn at most: 128 MB. It does not depend on the memory at hand,
since what is learned does depend on it."""
MANY_DOCUMENTS = 1 << 12
"""Documents of a fold from which candidates are scored by one model instead of one for each fold: enough for a
threshold that is common to all labels."""


_in_fold: ContextVar[bool] = ContextVar("manylabel_fold", default=False)


@contextmanager
def fitting_fold() -> Iterator[None]:
    """Mark the fits of the enclosed block as those of a fold, which `is_fitting_fold` reads.

    A model that warns of its training documents is silent then: the fit to all documents warns of the same.
    """
    token = _in_fold.set(True)
    try:
        yield
    finally:
        _in_fold.reset(token)


def is_fitting_fold() -> bool:
    """Whether a model is being fitted to score the documents of a fold, and is not kept."""
    return _in_fold.get()


def fit_anew(model: MultiLabelModel, X: Csr, Y: object, options: Mapping[str, Any]) -> MultiLabelModel:
    """A fitted copy of the model; with the option `sample_weight`, by `fit_weighted`."""
    if "sample_weight" in options:
        return unfitted_copy(model).fit_weighted(X, Y, options["sample_weight"])
    return unfitted_copy(model).fit(X, Y, **options)


def out_of_fold_scores(
    model: MultiLabelModel,
    X: Csr,
    Y: Csr,
    folds: int = 5,
    seed: int = 0,
    most_scores: int = MOST_SCORES,
    options: Mapping[str, Any] | None = None,
    fit: Fit = fit_anew,
    deadline: Deadline | None = None,
    features: FoldFeatures | None = None,
    initial: Csr | None = None,
    splits: Sequence[tuple[Ints, Ints]] | None = None,
) -> tuple[Floats, Ints]:
    """Scores of documents by models that did not see them, and the rows they belong to.

    All documents are scored as long as there are at most `most_scores` scores; beyond that, a random sample of
    documents, since a dense documents × labels matrix of a large corpus is never built. A sample no larger than a fold
    is scored by one model, fitted to all other documents (`scored_folds`).
    `options` go to the model's `fit`, of `sample_weight` those of the fold; `fit` makes the fitted models, for example
    from each other's solutions. The `deadline` is checked before each fold. `features` learns selection and weighting
    of terms anew in each fold; without it the folds are rows of X. `initial` is the solution on all documents
    (`MultiLabelModel.fit_keeping`): each fold starts from the rows of its training documents. `splits` are the
    training and test documents of each fold, such as time-ordered ones; by default folds are stratified by label.
    """
    documents = OutOfFold(X, {"deadline": deadline}, features, folds, seed, fit, most_scores, splits)
    rows = scored_rows(X.shape[0], Y.shape[1], folds, seed, most_scores)
    scores = np.empty((len(rows), Y.shape[1]))
    for fitted, tested, places in documents.fold_models(model, Y, rows, options or {}, initial):
        scores[places] = fitted.scores(tested)
    return scores, rows


def scored_rows(n_documents: int, n_labels: int, folds: int, seed: int, most_scores: int) -> Ints:
    """The documents that are scored: all, or a random sample where there were more than `most_scores` scores."""
    most = max(folds, most_scores // max(n_labels, 1))
    if n_documents <= most:
        return np.arange(n_documents)
    return np.sort(np.random.default_rng(seed).choice(n_documents, size=most, replace=False))


def scored_folds(Y: Csr, rows: Ints, folds: int, seed: int) -> list[tuple[Ints, Ints]]:
    """The training and the test documents of each fold, for scores of the documents `rows`.

    They are stratified by label. Where `rows` are no more than the documents of a fold, they are the only fold: several
    models, each of fewer documents, would score the same documents.

    >>> scored_folds(Csr(np.ones((6, 1))), np.array([1, 4]), folds=3, seed=0)
    [(array([0, 2, 3, 5]), array([1, 4]))]
    """
    from manylabel.data.splits import iterative_stratification  # predicting starts faster without the splits

    if len(rows) * folds > Y.shape[0]:
        return iterative_stratification(Y, folds, seed)
    others = np.ones(Y.shape[0], dtype=np.bool_)
    others[rows] = False
    return [(np.flatnonzero(others), rows)]


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """The training documents and their folds: call it with a model to have every document scored by a copy that did
    not see it.
    """

    X: Csr
    facts: Mapping[str, Any]
    """What is known besides X, among it the `deadline` and `sample_weight`; every model gets what it wants of it."""
    features: FoldFeatures | None
    """Learns selection and weighting of terms anew in each fold; None where the folds are rows of X."""
    folds: int
    seed: int
    fit: Fit = fit_anew
    most_scores: int = MOST_SCORES
    splits: Sequence[tuple[Ints, Ints]] | None = None
    """The training and test documents of each fold; None for folds that are stratified by label."""

    def __post_init__(self) -> None:
        """Raise an error unless `splits` test each document once: the scores of the others would be undefined."""
        if self.splits is None:
            return
        tested = np.sort(np.concatenate([test for _, test in self.splits] or [np.zeros(0, dtype=np.int64)]))
        if not np.array_equal(tested, np.arange(self.X.shape[0])):
            raise DataError(
                f"The splits must test each of the {counted(self.X.shape[0], 'document')} exactly once, but they test "
                f"{counted(len(np.unique(tested)), 'document')} in {counted(len(tested), 'place')}.",
                remedy="Make them of as many documents as there are; those of time_blocks without forward test all.",
            )

    def divided(self, Y: Csr) -> Sequence[tuple[Ints, Ints]]:
        """The training and test documents of each fold where all documents are scored."""
        from manylabel.data.splits import iterative_stratification  # predicting starts faster without the splits

        return iterative_stratification(Y, self.folds, self.seed) if self.splits is None else self.splits

    def among(self, rows: Ints) -> OutOfFold:
        """The same with some of the documents only, in folds that are stratified by label."""
        features, facts = self.features, dict(self.facts)
        if "sample_weight" in facts:
            facts["sample_weight"] = facts["sample_weight"][rows]
        of_rows = None if features is None else lambda train, test: features(rows[train], rows[test])
        return replace(self, X=Csr(self.X[rows]), facts=facts, features=of_rows, splits=None)

    def fit_whole(self, model: MultiLabelModel, Y: Csr) -> MultiLabelModel:
        """A copy of the model fitted to all documents."""
        return fit_anew(model, self.X, Y, model.wanted(self.facts))

    def fit_keeping(self, model: MultiLabelModel, Y: Csr) -> tuple[MultiLabelModel, Solution | None]:
        """A copy of the model fitted to all documents, and its solution, from which folds can start, or None."""
        if "sample_weight" in self.facts:
            return self.fit_whole(model, Y), None
        fitted = unfitted_copy(model)
        return fitted, fitted.fit_keeping(self.X, Y, **model.wanted(self.facts))

    def __call__(self, model: MultiLabelModel, Y: Csr, initial: Solution | None = None) -> tuple[Floats, Ints, Bools]:
        """Scores, the rows of their documents, and which of these have no term that the copy knew.

        `Y` holds the true labels, all or some of them; `initial` is the solution on all documents, from which the
        folds start.
        """
        rows = scored_rows(*Y.shape, self.folds, self.seed, self.most_scores)
        scores, empty = np.empty((len(rows), Y.shape[1])), np.zeros(len(rows), dtype=np.bool_)
        for fitted, tested, places in self.fold_models(model, Y, rows, model.wanted(self.facts), initial):
            scores[places], empty[places] = fitted.scores(tested), np.diff(tested.indptr) == 0
        return scores, rows, empty

    def candidates(self, model: MultiLabelModel, Y: Csr) -> tuple[Csr, Ints, Bools]:
        """The same with the scores of possible labels only, of a model that `scores_candidates`.

        A document then has few scores, so that more documents are scored: all, or a fold of a large corpus.
        """
        n_documents, width = Y.shape[0], model.scores_a_document(Y.shape[1])
        is_large = n_documents >= self.folds * MANY_DOCUMENTS
        most = min(self.most_scores, n_documents // self.folds * width) if is_large else self.most_scores
        rows = scored_rows(n_documents, width, self.folds, self.seed, most)
        empty, order, found = np.zeros(len(rows), dtype=np.bool_), [], []
        for fitted, tested, places in self.fold_models(model, Y, rows, model.wanted(self.facts), None):
            empty[places] = np.diff(tested.indptr) == 0
            order.append(places)
            found.append(fitted.score_candidates(fitted.features(tested)))
        stacked = sparse.vstack(found, format="csr")
        return Csr(stacked[np.argsort(np.concatenate(order))]), rows, empty

    def fold_models(
        self, model: MultiLabelModel, Y: Csr, rows: Ints, options: Mapping[str, Any], initial: Csr | None
    ) -> Iterator[tuple[MultiLabelModel, Csr, Ints]]:
        """For each fold, a model fitted to the others, the documents of the fold among `rows`, and their places there.

        `options` go to the model's `fit`; `initial` is that of `__call__`.
        """
        n_documents, deadline = self.X.shape[0], self.facts.get("deadline")
        if n_documents < self.folds:
            raise DataError(
                f"The decision rule is learned on {self.folds} folds, but "
                f"{there_are(n_documents, 'document (1 sample)', 'documents', adverb='only')}.",
                remedy="Give more documents, or a method with a fixed threshold, such as nb-binary "
                f"({settings_text(method='nb-binary')}).",
            )
        place = np.full(n_documents, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        chosen = scored_folds(Y, rows, self.folds, self.seed) if self.splits is None else self.splits
        for train, test in track("Scoring documents out of fold", chosen):
            if deadline is not None:
                deadline.check()
            wanted = test[place[test] >= 0]
            X_train, X_test, facts = (
                (self.X[train], self.X[wanted], {}) if self.features is None else self.features(train, wanted)
            )
            of_fold = {**options, **model.wanted(facts)}
            if "sample_weight" in of_fold:
                of_fold["sample_weight"] = of_fold["sample_weight"][train]
            if initial is not None:
                of_fold["initial"] = Csr(initial[train])
            with fitting_fold():
                fitted = self.fit(model, Csr(X_train), Csr(Y[train]), of_fold)
            yield fitted, Csr(X_test), place[wanted]
