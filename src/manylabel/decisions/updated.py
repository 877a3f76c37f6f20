"""A fitted model with its rule after more documents or other labels: ways to learn only what is new."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.corrected import CorrectedThresholds
from manylabel.decisions.decided import DecidedModel, Report
from manylabel.decisions.scored import Scored
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel
from manylabel.models.inputs import AdditiveModel
from manylabel.models.out_of_fold import MOST_SCORES, OutOfFold


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """A model after an update, and the scores of documents by models that did not see them."""

    decided: DecidedModel
    scores: Floats | None = None
    """Documents × labels of the updated model; None where nothing is learned on out-of-fold scores."""
    rows: Ints | None = None
    """The documents of these scores, as rows of X."""


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """What an update learns from: documents × terms, documents × labels, and the limit of out-of-fold scores."""

    X: Csr
    Y: Csr
    most_scores: int = MOST_SCORES

    def out_of_fold(self, decided: DecidedModel, fit: Callable[[Csr, Csr], MultiLabelModel], Y: Csr) -> Scored:
        """The scores of the documents by models that `fit` makes of the other folds."""
        folds = min(decided.folds, self.X.shape[0])
        documents = OutOfFold(
            self.X, {}, None, folds, decided.seed, lambda _model, X, Y, _options: fit(X, Y), self.most_scores
        )
        return Scored(decided.model_, *documents(decided.model_, Y))


def relearned(decided: DecidedModel, given: Documents, columns: Ints, report: Report | None = None) -> Updated:
    """All labels learned again, from the former solution where there is one, and the rule on out-of-fold scores.

    `columns` holds for each label of Y the column it has in the model, −1 for a new one. What training chose (costs,
    averaging, the kind of rule) stays as it is. `report` takes what the rule decides about documents it did not see.
    """
    whole = decided.model_.refit(given.X, given.Y, columns)

    def fit(X: Csr, Y: Csr) -> MultiLabelModel:
        return whole.refit(X, Y, np.arange(Y.shape[1]))  # the solution of all documents is near that of a fold

    made = _shell(decided, whole)
    if not decided.learns_out_of_fold:
        made.rule_ = _unlearned(decided)
        return Updated(made)
    found = given.out_of_fold(decided, fit, given.Y)
    made.rule_ = _settled(made.learn_rule(found, _unlearned(decided), given.Y, report))
    made.choice_ = None if decided.choice_ is None else {**decided.choice_, "value": None}
    return Updated(made, found.scores, found.rows)


def with_new_labels(decided: DecidedModel, given: Documents, kept: Ints) -> Updated:
    """The labels of some columns, unchanged, and behind them those that Y has besides, learned alone.

    The first columns of Y are the kept labels, which are not learned from it.
    """
    new = np.arange(len(kept), given.Y.shape[1])
    own, Y_new = decided.of_labels(kept), Csr(given.Y[:, new])

    def fit(X: Csr, Y: Csr) -> MultiLabelModel:
        return decided.model_.refit(X, Y, np.full(Y.shape[1], -1))

    made = _shell(decided, fit(given.X, Y_new))
    found = given.out_of_fold(decided, fit, Y_new) if decided.learns_out_of_fold else None
    _decide_new(decided, made, found, Y_new, own)
    if found is None:
        return Updated(_beside(own, made))
    # The kept labels did not learn from these documents, unless they are former ones.
    known = own.scores(given.X[found.rows])
    return Updated(_beside(own, made), np.hstack([known, found.scores]), found.rows)


def with_counts_added(decided: DecidedModel, given: Documents | None, groups: Csr, kept: Ints, n_after: int) -> Updated:
    """A model of counts with those of more documents added, as if it had learned from all of them at once.

    `groups` is labels × labels of the model: the counts that each label begins with. Of these labels, `kept` are the
    ones whose rule is kept, by their columns in the model; they come first, then new ones, `n_after` in all; the others
    are retired.
    """
    base = decided.model_.regrouped(groups).of_labels(np.arange(n_after))

    def grown(X: Csr, Y: Csr) -> MultiLabelModel:
        return cast(MultiLabelModel, cast(AdditiveModel, copy(base)).partial_fit(X, Y))

    whole = base if given is None else grown(given.X, given.Y)
    own, new = decided.of_labels(kept), np.arange(len(kept), n_after)
    found = None if given is None or given.X.shape[0] < 2 else given.out_of_fold(decided, grown, given.Y)
    both = own
    if len(new):
        made, alone = _shell(decided, whole.of_labels(new)), None
        if decided.learns_out_of_fold and found is None:
            raise DataError("The thresholds of new labels are learned on at least 2 documents.", remedy="Give more.")
        if decided.learns_out_of_fold and found is not None:
            alone = Scored(whole, found.scores[:, new], found.rows, found.empty)
        _decide_new(decided, made, alone, None if given is None else Csr(given.Y[:, new]), own)
        both = _beside(own, made)
    both.model_ = whole
    return Updated(both, None if found is None else found.scores, None if found is None else found.rows)


def _shell(decided: DecidedModel, model: MultiLabelModel) -> DecidedModel:
    """The settings of a decided model around another fitted model, without a rule yet."""
    made = unfitted_copy(decided)
    made.n_features_in_, made.n_labels_ = model.n_features_in_, model.n_labels_
    made.classes_, made.label_form_ = np.arange(model.n_labels_), decided.label_form_
    made.rule_ = made.calibration_ = made.figures_ = made.choice_ = None
    made.model_ = model
    return made


def _decide_new(
    decided: DecidedModel, made: DecidedModel, found: Scored | None, Y: Csr | None, own: DecidedModel
) -> None:
    """Learn rule and calibration of new labels on their out-of-fold scores, if there is anything to learn.

    Thresholds of labels with few documents are drawn towards those of `own`, the known labels.
    """
    if found is None or Y is None:
        made.rule_ = _unlearned(decided)
        return
    rule = made.rule_ = _settled(made.learn_rule(found, _unlearned(decided), Y, None))
    known = None if own.rule_ is None else own.rule_.score_thresholds(own.n_labels_, own.score_kind)
    if rule is None or known is None:
        return
    kind, scores, Y_true = made.score_kind, found.decidable(rule), Csr(Y[found.rows])
    rule.draw_towards(known, scores, Y_true, kind)
    if made.figures_ is not None:  # these include the figures at the threshold
        thresholds = rule.score_thresholds(made.n_labels_, kind)
        made.figures_ = ThresholdFigures().fit(scores, Y_true, kind, thresholds)


def _unlearned(decided: DecidedModel) -> DecisionRule | None:
    """The rule to learn again: of the kind that training chose; where thresholds were set by hand, as in training."""
    rule = decided.rule if isinstance(decided.rule_, CorrectedThresholds) else decided.rule_
    return None if rule is None else unfitted_copy(rule)


def _settled(rule: DecisionRule | None) -> DecisionRule | None:
    return None if rule is None else rule.settled()


def _beside(own: DecidedModel, new: DecidedModel) -> DecidedModel:
    """Both side by side; thresholds that were set by hand stay beside learned ones."""
    rule, other = own.rule_, new.rule_
    if isinstance(rule, CorrectedThresholds) and other is not None and not isinstance(other, CorrectedThresholds):
        thresholds: Any = other.score_thresholds(new.n_labels_, new.score_kind)
        unset = np.full(new.n_labels_, np.nan)
        state = {"thresholds_": thresholds, "shown_": unset, "changes_": []}
        new.rule_ = CorrectedThresholds(rule.fallback).restore(state)  # type: ignore[arg-type]
    return own.beside(new)
