"""A model whose decision rule is learned on its out-of-fold scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.cross_fitting import unseen_decisions
from manylabel.decisions.model_with_rule import ModelWithRule
from manylabel.decisions.scored import Scored
from manylabel.decisions.shown import Probabilities, learned_calibration
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr, Ints, unfitted_copy
from manylabel.features.facts import FoldFeatures
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import MOST_SCORES, OutOfFold, fit_anew
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies

MODEL = Satisfies("a model of manylabel", lambda value: isinstance(value, MultiLabelModel))
RULE = AnyOf(OneOf(None), Satisfies("a decision rule", lambda value: isinstance(value, DecisionRule)))
Report: TypeAlias = Callable[[Csr, Csr], None]
"""Takes the true and the predicted labels of training documents, predicted by models and rules that did not see them.
"""


class DecidedModel(ModelWithRule):
    """A model whose label sets are decided by a rule.

    `fit` scores every training document by a model that did not see it, learns the rule on these scores, and fits the
    model again on everything. A rule that learns nothing needs no folds. A rule with a guarantee learns on documents
    that the model must not have seen (`held_out_share`, drawn at random): the model is then fitted once, on the others.
    Documents without labels are kept. For a 1-D `y` there is nothing to decide: the model predicts without a rule.

    Parameters
    ----------
    model : the model that scores the labels.
    rule : the decision rule; None lets the model's own `predict` decide.
    folds : the number of folds for out-of-fold scores, stratified by label.
    seed : the seed of folds and held-out documents.
    probabilities : the curve (of a `Calibration`) by which scores are shown as probabilities: "logistic", "isotonic" or
        None. "auto" learns one where the rule learns on out-of-fold scores anyway: logistic curves, or a `Temperature`
        where every document has exactly one label and one is predicted. `predict_proba` and `thresholds` return
        probabilities then, and `figures_` has the precision and recall of each label at any threshold. The rule still
        reads the raw scores, so the label sets do not change. Probabilities of a method whose rule has no threshold per
        label stay as they are.

    >>> from manylabel.models.multinomial_nb import MultinomialNaiveBayes
    >>> from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
    >>> X = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
    >>> Y = Csr([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = DecidedModel(MultinomialNaiveBayes(smoothing="laplace"), AccumulatedPosterior(0.7)).fit(X, Y)
    >>> model.predict(X).toarray().tolist()
    [[1, 0], [0, 1], [1, 1], [1, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": MODEL,
        "rule": RULE,
        "folds": Number(low=2, whole=True),
        "seed": Number(low=0, whole=True),
        "probabilities": OneOf(None, "auto", "logistic", "isotonic"),
    }
    learns_rule: ClassVar[bool] = True

    def __init__(
        self,
        model: MultiLabelModel,
        rule: DecisionRule | None = None,
        folds: int = 5,
        seed: int = 0,
        probabilities: Probabilities = None,
    ) -> None:
        self.model = model
        self.rule = rule
        self.folds = folds
        self.seed = seed
        self.probabilities: Probabilities = probabilities

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts that the model wants, and a deadline, which is checked before each fold."""
        return self.model.wants | {"deadline"}

    @property
    def learns_out_of_fold(self) -> bool:
        """Whether the rule or the calibration learns on out-of-fold scores."""
        return self.probabilities in ("logistic", "isotonic") or (self.rule is not None and self.rule.learns)

    @property
    def is_additive(self) -> bool:
        """Whether it can learn in batches: the model can, and nothing is learned on out-of-fold scores."""
        return self.model.is_additive and not self.learns_out_of_fold

    @property
    def searches(self) -> bool:
        """Whether `fit` chooses settings of the model by its out-of-fold scores: False here, True in `AutoModel`."""
        return False

    def fit(
        self,
        X: object,
        Y: object,
        *,
        held_out: tuple[Csr, Csr] | None = None,
        fold_features: FoldFeatures | None = None,
        report: Report | None = None,
        most_scores: int = MOST_SCORES,
        splits: Sequence[tuple[Ints, Ints]] | None = None,
        **facts: Any,
    ) -> Self:
        """Learn the rule on out-of-fold scores, then the model; `facts` are passed to the model's `fit`.

        `held_out` are documents and labels for a rule that needs them; by default they are drawn from X and Y.
        `fold_features` learns selection and weighting of terms in each fold from its training documents, so that the
        rule learns from documents as new as those predicted later. `report` is called, where the rule learns on
        out-of-fold scores, with what it decides about documents it did not see.
        `most_scores` is how many out-of-fold scores the rule learns from at most, and `splits` are other folds than
        those that are stratified by label, see `out_of_fold_scores`.
        A `deadline` among the facts is checked before each fold, and by models that want it; `sample_weight` weighs the
        documents the model learns from; the rule counts each once.
        """
        features, targets = self.check_training(X, Y)
        self.rule_ = self.calibration_ = self.figures_ = self.choice_ = None
        if targets.form == "single":  # the model gets Y in its original form, so that it predicts in that form
            model = self.unfitted_model()
            self.model_ = fit_anew(model, features, Y, model.wanted(facts))
        else:
            documents = OutOfFold(
                features, facts, fold_features, self.folds, self.seed, most_scores=most_scores, splits=splits
            )
            self._learn_sets(documents, targets.Y, held_out, report)
        return self

    def fit_documents(
        self,
        documents: OutOfFold,
        Y: Csr,
        report: Report | None = None,
        held_out: tuple[Csr, Csr] | None = None,
    ) -> Self:
        """Learn from label sets as `fit` does; a subclass of `OutOfFold` may keep the documents on disk."""
        self.check_parameters()
        self.forget()
        self.note_shape(documents.X.shape[1], Y.shape[1])
        self.rule_ = self.calibration_ = self.figures_ = self.choice_ = None
        self._learn_sets(documents, Y, held_out, report)
        return self

    def _learn_sets(
        self, documents: OutOfFold, Y: Csr, held_out: tuple[Csr, Csr] | None, report: Report | None
    ) -> None:
        """Learn from label sets; `held_out` and `report` are those of `fit`."""
        rule = None if self.rule is None else unfitted_copy(self.rule)
        if rule is not None:
            rule.check_parameters()
            rule.check_kind(self.model.score_kind)
        if rule is not None and held_out is None and (divided := self.divide(rule, Y)) is not None:
            kept, others = divided
            held_out = Csr(documents.X[others]), Csr(Y[others])
            documents, Y = documents.among(kept), Csr(Y[kept])
        if self.learns_out_of_fold:
            found = self.score_out_of_fold(rule, Y, documents)
            rule = self.learn_rule(found, rule, Y, report)
            self.model_ = found.fit(documents, Y)
        else:
            self.model_ = documents.fit_whole(self.unfitted_model(), Y)
        self.n_features_in_ = self.model_.n_features_in_  # views are chosen in the search; from disk, terms in the fit
        if rule is not None and held_out is not None and rule.held_out_share:
            self._learn_held_out(rule, self.model_.features(held_out[0]), held_out[1])
        self.rule_ = None if rule is None else rule.settled()

    def divide(self, rule: DecisionRule, Y: Csr) -> tuple[Ints, Ints] | None:
        """The rows the model learns from and those held out for the rule; None if nothing is held out."""
        return rule.divide(Y, self.seed, self.model.scores_a_document(Y.shape[1]))

    def _learn_held_out(self, rule: DecisionRule, X: Csr, Y: Csr) -> None:
        """Learn a rule with a guarantee from documents that the model did not see."""
        kind = self.model_.score_kind
        if self.model_.scores_candidates and rule.learns_candidates:
            rule.fit_candidates(self.model_.score_candidates(X), Y, kind)
        else:
            rule.fit(self.model_.scores(X), Y, kind)

    def unfitted_model(self) -> MultiLabelModel:
        """An unfitted copy of the model."""
        return unfitted_copy(self.model)

    def score_out_of_fold(self, rule: DecisionRule | None, Y: Csr, documents: OutOfFold) -> Scored:
        """The model and its out-of-fold scores, from which `rule` will learn."""
        model = self.unfitted_model()
        learns_candidates = rule is not None and rule.learns_candidates and not rule.held_out_share
        if model.scores_candidates and learns_candidates:
            return Scored.by_candidates(model, documents, Y)
        return Scored(model, *documents(model, Y))

    def learn_rule(
        self, found: Scored, rule: DecisionRule | None, Y: Csr, report: Report | None
    ) -> DecisionRule | None:
        """Learn calibration and rule from out-of-fold scores, Y being the true labels of all training documents; return
        the learned rule.
        """
        kind, Y_true = found.model.score_kind, Csr(Y[found.rows])
        learned, crossed = found.rule or rule, found.crossed
        if found.rule is None and rule is not None:
            scores = found.decidable(rule)
            if rule.held_out_share:
                rule.prepare(scores, Y_true, kind)
            elif report is None:
                rule.fit(scores, Y_true, kind)
            elif (decisions := rule.fit_crossed(scores, Y_true, kind)) is not None:
                crossed = (decisions,)
            if found.candidates is not None:
                scored, rows = found.candidates
                rule.fit_candidates(scored, Csr(Y[rows]), kind)
        if report is not None and crossed:
            report(*unseen_decisions(crossed, Y_true))
        settled = None if learned is None or learned.held_out_share else learned.settled()
        self.calibration_ = learned_calibration(self.probabilities, settled, found.scores, Y_true, kind)
        if self.probabilities is not None:
            scores = found.scores if settled is None else found.decidable(settled)
            thresholds = None if settled is None else settled.score_thresholds(Y_true.shape[1], kind)
            self.figures_ = ThresholdFigures().fit(scores, Y_true, kind, thresholds)
        self.choice_ = None if learned is None else learned.choice(found.settings)
        return learned
