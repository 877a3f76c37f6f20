"""Out-of-fold scores of a model, as they are handed on to whoever learns from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from manylabel.decisions.base import DecisionRule, decidable_scores, floor
from manylabel.decisions.candidates import dense_candidates
from manylabel.decisions.cross_fitting import CrossFitted
from manylabel.estimator import Csr, Floats, Ints, rows_of_cells, unfitted_copy
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import OutOfFold, Solution, scored_rows
from manylabel.models.score_kinds import Bools


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """An unfitted model and its out-of-fold scores, from which `DecidedModel` learns its rule."""

    model: MultiLabelModel
    scores: Floats
    rows: Ints
    """The indices of the training documents in the rows of `scores`."""
    empty: Bools
    """Which of these documents have no known term."""
    rule: DecisionRule | None = None
    """The decision rule, if it was already learned on these scores."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the model that were chosen by comparing scores."""
    crossed: tuple[CrossFitted, ...] = ()
    """Where several models were compared: the cross-fitted decisions of each."""
    whole: MultiLabelModel | None = None
    """The model fitted to all training documents, if that was done before it was scored."""
    X: Csr | None = None
    """The training documents with the further views that the model reads; None where it reads none."""
    candidates: tuple[Csr, Ints] | None = None
    """Of a model that scores some labels of a document only: these scores, of more documents than are in `scores`, and
    the indices of these documents."""

    @classmethod
    def out_of_fold(
        cls,
        model: MultiLabelModel,
        rule: DecisionRule,
        Y: Csr,
        documents: OutOfFold,
        trial: bool = False,
        initial: Solution | None = None,
    ) -> Self:
        """A model, its out-of-fold scores, and the rule learned on them.

        With `trial` the folds are fitted with `trial_settings`. They start from the solution on all documents,
        `initial`, if there is one.
        """
        scores, rows, empty = documents(for_trial(model) if trial else model, Y, initial)
        learned, crossed = learned_rule(rule, scores, empty, model, Csr(Y[rows]))
        return cls(model, scores, rows, empty, learned, crossed=crossed)

    @classmethod
    def of_first_fold(cls, model: MultiLabelModel, Y: Csr, documents: OutOfFold, trial: bool = False) -> Self:
        """A model and its scores of the documents of the first fold; with `trial` fitted with `trial_settings`."""
        if (deadline := documents.facts.get("deadline")) is not None:
            deadline.check()
        train, test = documents.divided(Y)[0]
        fitted = documents.among(train).fit_whole(for_trial(model) if trial else model, Csr(Y[train]))
        X = Csr(documents.X[test])
        return cls(model, fitted.scores(X), test, np.diff(X.indptr) == 0)

    def among(self, rows: Ints) -> Self:
        """The scores of some documents of a model that has scored all of them, without a rule."""
        return replace(self, scores=self.scores[rows], rows=rows, empty=self.empty[rows], rule=None, crossed=())

    def with_rule(self, rule: DecisionRule, Y: Csr) -> Self:
        """The same with the rule learned on these scores."""
        learned, crossed = learned_rule(rule, self.scores, self.empty, self.model, Csr(Y[self.rows]))
        return replace(self, rule=learned, crossed=crossed)

    @classmethod
    def by_candidates(cls, model: MultiLabelModel, documents: OutOfFold, Y: Csr) -> Self:
        """Out-of-fold scores of a model that scores some labels of a document only; `scores` are those of a sample."""
        found, rows, empty = documents.candidates(model, Y)
        sample = scored_rows(len(rows), Y.shape[1], documents.folds, documents.seed, documents.most_scores)
        impossible = floor(model.score_kind)
        dense = dense_candidates(Csr(found[sample]), impossible)
        if not model.reads_absence:  # as `decidable` has them
            found.data[empty[rows_of_cells(found)]] = impossible
        return cls(model, dense, rows[sample], empty[sample], candidates=(found, rows))

    @property
    def gain(self) -> float:
        """The metric that the rule reaches on the scores, negated if less is better."""
        assert self.rule is not None
        return self.rule.gain

    def decidable(self, rule: DecisionRule) -> Floats:
        """The scores as the rule should learn from them: every label of a document that gets none is impossible."""
        return decidable_scores(self.scores, self.empty, self.model, rule)

    def fit(self, documents: OutOfFold, Y: Csr) -> MultiLabelModel:
        """The model fitted to all training documents."""
        return self.seen(documents).fit_whole(self.model, Y) if self.whole is None else self.whole

    def seen(self, documents: OutOfFold) -> OutOfFold:
        """The training documents as the model reads them."""
        return documents if self.X is None else replace(documents, X=self.X)


def for_trial(model: MultiLabelModel) -> MultiLabelModel:
    """An unfitted copy with the `trial_settings` of each model in it."""
    copied = unfitted_copy(model)
    for one in copied.walk():
        if isinstance(one, MultiLabelModel):
            one.set_params(**one.trial_settings)
    return copied


def learned_rule(
    rule: DecisionRule, scores: Floats, empty: Bools, model: MultiLabelModel, Y: Csr
) -> tuple[DecisionRule, tuple[CrossFitted, ...]]:
    """The rule learned on a model's out-of-fold scores, and what it decides about documents that it did not see."""
    learned = unfitted_copy(rule)
    crossed = learned.fit_crossed(decidable_scores(scores, empty, model, rule), Y, model.score_kind)
    return learned, () if crossed is None else (crossed,)
