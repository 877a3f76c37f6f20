"""A model together with the rule, learned on out-of-fold scores, that turns its scores into label sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.data.splits import holdout
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.best_rule import chosen_for_metric
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.guarantee_record import GuaranteeRecord
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, unfitted_copy
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.models.score_kinds import Bools, ScoreKind, display
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies


class DecidedModel(MultiLabelModel):
    """A model whose label sets are decided by a rule.

    `fit` scores every training document by a model that did not see it (`folds` folds, stratified by label),
    learns the rule on these scores, and fits the model again on everything. A rule that learns nothing skips
    the folds. Without a rule the model's own `predict` decides. Documents without labels are kept throughout.
    A 1-D `y` leaves nothing to decide: the model answers alone.

    A rule with a guarantee learns on documents that the model must not have seen (`held_out_share`, drawn at random):
    the model is then fitted on the others, once and for all.

    With `probabilities` (the curve of a `Calibration`) every label's score is shown as a probability, learned on the
    same out-of-fold scores, whatever the model's own are: `predict_proba` and `thresholds` give these. The rule reads
    the scores as before, so that the label sets are the same.

    >>> from manylabel.models.multinomial_nb import MultinomialNaiveBayes
    >>> from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
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
        "probabilities": OneOf(None, "logistic", "isotonic"),
    }
    model_: MultiLabelModel
    rule_: DecisionRule | None
    # What a model file lacks that was written before there were calibrated probabilities.
    calibration_: Calibration | None = None
    settings_: dict[str, Any]
    """The settings of the model that the rule chose among those it offers, mostly none."""

    def __init__(
        self,
        model: MultiLabelModel,
        rule: DecisionRule | None = None,
        folds: int = 5,
        seed: int = 0,
        probabilities: Literal["logistic", "isotonic"] | None = None,
    ) -> None:
        self.model = model
        self.rule = rule
        self.folds = folds
        self.seed = seed
        self.probabilities: Literal["logistic", "isotonic"] | None = probabilities

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """What the model's scores are."""
        return (self.model_ if hasattr(self, "model_") else self.model).score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return bool(getattr(self.model, "needs_counts", False))

    def fit(self, X: object, Y: object, *, held_out: tuple[Csr, Csr] | None = None, **options: Any) -> Self:
        """Learn the rule on scores of documents the model did not see, and the model; `options` go to its `fit`.

        `held_out` are documents and labels for a rule that needs such; without it they are drawn from X and Y.
        """
        features, targets = self.check_training(X, Y)
        self.rule_ = self.calibration_ = None
        self.settings_ = {}
        if targets.form == "single":
            # The model sees Y in the form it was given, so that it answers in that form.
            self.model_ = unfitted_copy(self.model).fit(features, Y, **options)
            return self
        truth = targets.Y
        if held_out is None and (parts := self.parts(truth)) is not None:
            kept, others = parts
            held_out = Csr(features[others]), Csr(truth[others])
            features, truth = Csr(features[kept]), Csr(truth[kept])
        rule = None if self.rule is None else unfitted_copy(self.rule)
        self._learn_out_of_fold(rule, features, truth, options)
        settled = self.__dict__.pop("_settled", None)
        model: MultiLabelModel = unfitted_copy(self.model) if settled is None else settled
        self.model_ = model.fit(features, truth, **options)
        if rule is not None and rule.held_out_share and held_out is not None:
            rule.fit(self.model_.scores(held_out[0]), held_out[1], self.score_kind)
        self.rule_ = rule
        return self

    def parts(self, Y: Csr) -> tuple[Ints, Ints] | None:
        """The rows the model learns from and those held out for the rule; None where nothing is held out.

        No more are held out than have room for their scores: a dense documents × labels matrix is kept bounded.
        """
        share = 0.0 if self.rule is None else self.rule.held_out_share
        if not share:
            return None
        self.rule.check_parameters()  # type: ignore[union-attr]
        most = max(1, WORKING_MEMORY // (8 * max(Y.shape[1], 1)))
        return holdout(Y.shape[0], min(share, most / max(Y.shape[0], 1)), self.seed)

    def _learn_out_of_fold(self, rule: DecisionRule | None, X: Csr, Y: Csr, options: Mapping[str, Any]) -> None:
        """What is learned on out-of-fold scores: the rule, or what it wants beforehand, and the probabilities."""
        kind = self.score_kind
        if rule is not None:
            rule.check_parameters()
            rule.check_kind(kind)
        if rule is not None and not rule.learns:
            rule.fit(np.zeros((0, Y.shape[1])), Y[:0], kind)
        if self.probabilities is None and (rule is None or not rule.learns):
            return
        scores, rows = self._out_of_fold(rule, X, Y, options)
        truth, kind = Csr(Y[rows]), self._scored_model(self.settings_).score_kind
        if self.probabilities is not None:
            self.calibration_ = Calibration(self.probabilities).fit(open_scores(scores, kind), truth)
        if rule is not None and rule.held_out_share:
            rule.prepare(scores, truth, kind)
        elif rule is not None and rule.learns and not rule.is_fitted:
            rule.fit(scores, truth, kind)

    def _out_of_fold(
        self, rule: DecisionRule | None, X: Csr, Y: Csr, options: Mapping[str, Any]
    ) -> tuple[Floats, Ints]:
        """Out-of-fold scores of the model, with the settings that serve the rule best where it offers some.

        They are tried in turn as long as each does better than the one before; the rule is then learned already, and
        the model settled.
        """
        if rule is None or not rule.learns:
            return out_of_fold_scores(self._scored_model({}), X, Y, self.folds, self.seed, options=options)
        groups = rule.model_settings(self.model, X, Y)
        single = sum(map(len, groups)) == 1
        best: tuple[Floats, Ints] | None = None
        for group in groups:
            before = dict(self.settings_)
            for offered in group:
                settings = {**before, **offered}
                model = self._scored_model(settings)
                found = out_of_fold_scores(model, X, Y, self.folds, self.seed, options=options)
                if single:
                    self._settled, self.settings_ = model, settings
                    return found
                learned = unfitted_copy(rule).fit(found[0], Csr(Y[found[1]]), model.score_kind)
                if best is not None and not learned.gain > rule.gain:
                    break
                best, self._settled, self.settings_ = found, model, settings
                rule.restore(learned.learned_state())
        assert best is not None
        return best

    def _scored_model(self, settings: Mapping[str, Any]) -> MultiLabelModel:
        return unfitted_copy(self.model).set_params(**settings)

    def chosen_for_metric(self) -> dict[str, Any] | None:
        """What the rule chose for its metric; None for rules that choose nothing."""
        self.check_fitted()
        return None if self.rule_ is None else chosen_for_metric(self.rule_, self.settings_)

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

    @property
    def predict_proba(self) -> Callable[[object], Floats]:
        """``predict_proba(X)``: calibrated probabilities where they were learned, else the model's, if it has them."""
        return super().predict_proba if self.calibration_ is None else self._calibrated

    def _calibrated(self, X: object) -> Floats:
        return self.shown(self.scores(X))

    def shown(self, scores: Floats) -> Floats:
        """Scores in the units people read: calibrated probabilities where there are any."""
        return shown_scores(scores, self.score_kind, self.calibration_)

    @property
    def shows_probabilities(self) -> bool:
        """Whether `shown` gives probabilities."""
        return self.calibration_ is not None or self.score_kind.is_probability

    def thresholds(self) -> Floats | None:
        """The cut of each label in the units of `shown`, where the rule has one."""
        self.check_fitted()
        if self.rule_ is None:
            return None
        return shown_thresholds(self.rule_, self.n_labels_, self.score_kind, self.calibration_)

    def guarantee(self) -> GuaranteeRecord | None:
        """What the rule guarantees of new documents, if anything."""
        return None if self.rule_ is None else self.rule_.guarantee()


def shown_scores(scores: Floats, kind: ScoreKind, calibration: Calibration | None) -> Floats:
    """Scores as people read them: probabilities where they were calibrated, else as `display` does."""
    return display(scores, kind) if calibration is None else calibration.transform(open_scores(scores, kind))


def shown_thresholds(
    rule: DecisionRule, n_labels: int, kind: ScoreKind, calibration: Calibration | None
) -> Floats | None:
    """The cuts of a rule in the units of `shown_scores`; 1 for a label that is never given.

    A calibrated probability never falls as the score rises, so that scores at or above a cut are shown at or above it.
    """
    cuts = rule.cuts(n_labels, kind)
    if cuts is None or calibration is None:
        return rule.thresholds(n_labels, kind)
    never = cuts > 1 if kind is ScoreKind.POSTERIOR else np.isposinf(cuts)
    return np.where(never, 1.0, shown_scores(np.where(never, 0.0, cuts)[np.newaxis], kind, calibration)[0])
