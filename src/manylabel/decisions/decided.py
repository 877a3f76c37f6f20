"""A model together with the rule, learned on out-of-fold scores, that turns its scores into label sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.decisions.base import DecisionRule
from manylabel.estimator import Csr, Floats
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, unfitted_copy
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies


class DecidedModel(MultiLabelModel):
    """A model whose label sets are decided by a rule.

    `fit` scores every training document by a model that did not see it (`folds` parts, stratified by label),
    learns the rule on these scores, and fits the model again on everything. A rule that learns nothing skips
    the folds. Without a rule the model's own `predict` decides. Documents without labels are kept throughout.
    A 1-D `y` leaves nothing to decide: the model answers alone.

    >>> from manylabel.models import MultinomialNaiveBayes
    >>> from manylabel.decisions import AccumulatedPosterior
    >>> X = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
    >>> Y = Csr([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = DecidedModel(MultinomialNaiveBayes(smoothing="laplace"), AccumulatedPosterior(0.7)).fit(X, Y)
    >>> model.predict(X).toarray().tolist()
    [[1, 0], [0, 1], [1, 1], [1, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": Satisfies("a model with fit and scores", lambda value: hasattr(value, "score_kind")),
        "rule": AnyOf(OneOf(None), Satisfies("a decision rule", lambda value: isinstance(value, DecisionRule))),
        "folds": Number(low=2, whole=True),
        "seed": Number(low=0, whole=True),
    }
    model_: MultiLabelModel
    rule_: DecisionRule | None

    def __init__(self, model: MultiLabelModel, rule: DecisionRule | None = None, folds: int = 5, seed: int = 0) -> None:
        self.model = model
        self.rule = rule
        self.folds = folds
        self.seed = seed

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """What the model's scores are."""
        return (self.model_ if hasattr(self, "model_") else self.model).score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return bool(getattr(self.model, "needs_counts", False))

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the rule on out-of-fold scores, the model on everything; `options` go to its `fit`."""
        features, targets = self.check_training(X, Y)
        self.rule_ = None
        if self.rule is not None and targets.form != "single":
            self.rule_ = self._learn_rule(features, targets.Y, options)
        # The model sees Y in the form it was given, so that it answers in that form.
        given = Y if targets.form == "single" else targets.Y
        self.model_ = unfitted_copy(self.model).fit(features, given, **options)
        return self

    def _learn_rule(self, X: Csr, Y: Csr, options: Mapping[str, Any]) -> DecisionRule:
        rule = unfitted_copy(self.rule)
        assert rule is not None
        if not rule.learns:
            return rule.fit(np.zeros((0, Y.shape[1])), Y[:0], self.score_kind)
        rule.check_parameters()
        rule.check_kind(self.score_kind)
        scores, rows = out_of_fold_scores(self.model, X, Y, self.folds, self.seed, options=options)
        return rule.fit(scores, Y[rows], self.score_kind)

    def score_batch(self, X: Csr) -> Floats:
        """The model's scores."""
        return self.model_.score_batch(X)

    def document_scorer(self) -> DocumentScorer | None:
        """The model's."""
        return self.model_.document_scorer()

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each word of one document adds to the model's scores; the rule has no part in it."""
        return self.model_.evidence(self.features(x), labels)

    def natural_decision(self, scores: Floats) -> Bools:
        """What the rule decides."""
        if self.rule_ is None:
            return self.model_.natural_decision(scores)
        return self.rule_.decide_dense(scores, self.score_kind)

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """Label sets by the rule, in batches that keep within `working_memory` bytes."""
        features = self.features(X)
        rule = self.rule_
        if rule is None:
            answer = self.model_.predict(features, working_memory=working_memory)
            return self.in_fitted_form([Csr(answer)]) if self.label_form_ == "dense" else answer
        return self.in_fitted_form(
            [rule.decide(scores, self.score_kind) for _, scores in self.score_in_batches(features, working_memory)]
        )

    def decision_function(self, X: object) -> Floats:
        """The model's decision function."""
        features = self.features(X)
        return self.model_.decision_function(features)

    def thresholds(self) -> Floats | None:
        """The cut of each label in display units, where the rule has one."""
        self.check_fitted()
        return None if self.rule_ is None else self.rule_.thresholds(self.n_labels_, self.score_kind)
