"""A model together with the decision rule, learned on out-of-fold scores, that turns its scores into label sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from manylabel.data.splits import holdout
from manylabel.decisions.base import (
    CHOICE,
    Choice,
    DecisionRule,
    labels_empty_documents,
    unlabelled_if_empty,
)
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.cross_fitting import CrossFitted, unseen_decisions
from manylabel.decisions.scored import Scored
from manylabel.decisions.shown import (
    Probabilities,
    decide_by_shown,
    shown_scores,
    shown_thresholds,
    unfitted_calibration,
)
from manylabel.decisions.temperature import Temperature
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import UnsupportedError
from manylabel.features.pipeline import FoldFeatures
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, unfitted_copy
from manylabel.models.evidence import NeighbourVotes, ScoreParts
from manylabel.models.out_of_fold import MOST_SCORES, Fit, OutOfFold, fit_anew
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.stored import Fields, Maybe, Part, Stored

if TYPE_CHECKING:
    from manylabel.decisions.guarantee import GuaranteeRecord

MODEL = Satisfies("a model of manylabel", lambda value: isinstance(value, MultiLabelModel))
RULE = AnyOf(OneOf(None), Satisfies("a decision rule", lambda value: isinstance(value, DecisionRule)))
Report: TypeAlias = Callable[[Csr, Csr], None]
"""Takes the true and the predicted labels of training documents, predicted by models and rules that did not see them.
"""


class DecidedModel(MultiLabelModel):
    """A model whose label sets are decided by a rule.

    `fit` scores every training document by a model that did not see it (`folds` folds, stratified by label), learns the
    rule on these scores, and fits the model again on everything. A rule that learns nothing needs no folds. Without a
    rule the model's own `predict` decides. Documents without labels are kept. For a 1-D `y` there is nothing to decide:
    the model predicts without a rule.

    A rule with a guarantee learns on documents that the model must not have seen (`held_out_share`, drawn at random):
    the model is then fitted once, on the others.

    With `probabilities` (the curve of a `Calibration`) every label's score is shown as a probability, learned on the
    same out-of-fold scores: `predict_proba` and `thresholds` return these. The rule still reads the raw scores, so the
    label sets do not change. ``"auto"`` does so where the rule learns on out-of-fold scores anyway: logistic curves, or
    a `Temperature` where every document has exactly one label and one is predicted. Probabilities of a method whose
    rule has no threshold per label stay as they are. The precision and recall of each label at any threshold are then
    learned too (`figures_`).

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

    model_: MultiLabelModel
    rule_: DecisionRule | None
    """The rule that decides: for a rule that chooses among others, the one it chose."""
    calibration_: Calibration | Temperature | None
    figures_: ThresholdFigures | None
    """Precision and recall of each label by its threshold, on out-of-fold scores; None where these are not known."""
    choice_: Choice | None
    """The choice of a rule that chooses among others, with the metric; None for other rules."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "rule_": Maybe(Part(DecisionRule, "labels")),
        "calibration_": Maybe(Part((Calibration, Temperature), "labels")),
        "figures_": Maybe(Part(ThresholdFigures, "labels")),
        "choice_": Maybe(Fields(CHOICE)),
        "model_": Part(MultiLabelModel, "labels", "terms"),
    }

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
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the model's scores."""
        return (self.model_ if self.is_fitted else self.model).score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return self.model.needs_counts

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts that the model wants, and a deadline, which is checked before each fold."""
        return self.model.wants | {"deadline"}

    def counts_of_counts(self, counts: Csr, Y: Csr) -> dict[int, int] | None:
        """The counts of counts that the model asks for; None if it wants none."""
        return self.model.counts_of_counts(counts, Y)

    @property
    def weighs_documents(self) -> bool:  # type: ignore[override]
        """Whether `fit` takes `sample_weight`: whether the model weighs documents."""
        return self.model.weighs_documents

    def weighing_documents(self) -> Self:
        """An unfitted copy whose `fit` takes `sample_weight`; an error if the model cannot weigh documents."""
        if not self.weighs_documents:
            raise UnsupportedError(
                f"{type(self.model).__name__} cannot weigh documents (sample_weight). Methods that can: auto, svm, "
                "logistic, rocchio and naive Bayes (nb and most of its relatives)."
            )
        return unfitted_copy(self)

    @property
    def searches(self) -> bool:
        """Whether `fit` chooses settings of the model by its out-of-fold scores: False here, True in `AutoModel`."""
        return False

    # --- learning -----------------------------------------------------------------------------------------

    def fit(
        self,
        X: object,
        Y: object,
        *,
        held_out: tuple[Csr, Csr] | None = None,
        fold_features: FoldFeatures | None = None,
        report: Report | None = None,
        most_scores: int = MOST_SCORES,
        **facts: Any,
    ) -> Self:
        """Learn the rule on out-of-fold scores, then the model; `facts` are passed to the model's `fit`.

        `held_out` are documents and labels for a rule that needs them; by default they are drawn from X and Y.
        `fold_features` learns selection and weighting of terms in each fold from its training documents, so that the
        rule learns from documents as new as those predicted later. `report` is called, where the rule learns on
        out-of-fold scores, with what it decides about documents it did not see.
        `most_scores` is how many out-of-fold scores the rule learns from at most, see `out_of_fold_scores`.
        A `deadline` among the facts is checked before each fold, and by models that want it; `sample_weight` weighs the
        documents the model learns from; the rule counts each once.
        """
        features, targets = self.check_training(X, Y)
        self.rule_ = self.calibration_ = self.figures_ = self.choice_ = None
        if targets.form == "single":  # the model gets Y in its original form, so that it predicts in that form
            self.model_ = self._fit_alone(features, Y, facts)
        else:
            self._learn_sets(features, targets.Y, held_out, fold_features, report, most_scores, facts)
        return self

    def _learn_sets(
        self,
        features: Csr,
        Y_true: Csr,
        held_out: tuple[Csr, Csr] | None,
        fold_features: FoldFeatures | None,
        report: Report | None,
        most_scores: int,
        facts: Mapping[str, Any],
    ) -> None:
        """Learn from label sets; the arguments are those of `fit`, checked."""
        if held_out is None and (divided := self.divide(Y_true)) is not None:
            kept, others = divided
            held_out = Csr(features[others]), Csr(Y_true[others])
            features, Y_true = Csr(features[kept]), Csr(Y_true[kept])
            if fold_features is not None:
                fold_features = _among(fold_features, kept)
            if "sample_weight" in facts:
                facts = {**facts, "sample_weight": facts["sample_weight"][kept]}
        rule = None if self.rule is None else unfitted_copy(self.rule)
        if rule is not None:
            rule.check_parameters()
            rule.check_kind(self.model.score_kind)
        if self._learns:
            out_of_fold = self.out_of_fold(features, facts, fold_features, most_scores=most_scores)
            found = self.score_out_of_fold(rule, features, Y_true, out_of_fold)
            rule = self._learn_from(found, rule, Csr(Y_true[found.rows]), report)
            self.model_ = found.fit(features, Y_true, facts)
        else:
            self.model_ = self._fit_alone(features, Y_true, facts)
        if rule is not None and held_out is not None and rule.held_out_share:
            rule.fit(self.model_.scores(held_out[0]), held_out[1], self.model_.score_kind)
        self.rule_ = None if rule is None else rule.settled()

    @property
    def is_additive(self) -> bool:
        """Whether it can learn in batches: the model can, and nothing is learned on out-of-fold scores."""
        return self.model.is_additive and not self._learns

    @property
    def _learns(self) -> bool:
        """Whether anything is learned on out-of-fold scores."""
        return self.probabilities in ("logistic", "isotonic") or (self.rule is not None and self.rule.learns)

    def _fit_alone(self, X: Csr, Y: object, facts: Mapping[str, Any]) -> MultiLabelModel:
        """The model fitted to all documents, where no rule is learned on its scores."""
        model = self.unfitted_model()
        return fit_anew(model, X, Y, model.wanted(facts))

    def unfitted_model(self) -> MultiLabelModel:
        """An unfitted copy of the model."""
        return unfitted_copy(self.model)

    def divide(self, Y: Csr) -> tuple[Ints, Ints] | None:
        """The rows the model learns from and those held out for the rule; None if nothing is held out.

        No more rows are held out than fit into the working memory as a dense matrix of scores.
        """
        share = 0.0 if self.rule is None else self.rule.held_out_share
        if not share:
            return None
        self.rule.check_parameters()  # type: ignore[union-attr]
        most = max(1, WORKING_MEMORY // (8 * max(Y.shape[1], 1)))
        return holdout(Y.shape[0], min(share, most / max(Y.shape[0], 1)), self.seed)

    def out_of_fold(
        self,
        X: Csr,
        facts: Mapping[str, Any],
        features: FoldFeatures | None,
        fit: Fit = fit_anew,
        most_scores: int = MOST_SCORES,
    ) -> OutOfFold:
        """A function that scores all training documents by copies of a model that did not see them."""
        return OutOfFold(X, facts, features, self.folds, self.seed, fit, most_scores)

    def score_out_of_fold(self, rule: DecisionRule | None, X: Csr, Y: Csr, out_of_fold: OutOfFold) -> Scored:
        """The model and its out-of-fold scores, from which `rule` will learn."""
        model = self.unfitted_model()
        return Scored(model, *out_of_fold(model, Y))

    def _learn_from(
        self, found: Scored, rule: DecisionRule | None, Y_true: Csr, report: Report | None
    ) -> DecisionRule | None:
        """Learn calibration and rule from out-of-fold scores; return the learned rule."""
        kind = found.model.score_kind
        learned, crossed = found.rule or rule, found.crossed
        if found.rule is None and rule is not None:
            learns = rule.prepare if rule.held_out_share else rule.fit if report is None else rule.fit_crossed
            result = learns(found.decidable(rule), Y_true, kind)
            crossed = (result,) if isinstance(result, CrossFitted) else ()
        if report is not None and crossed:
            report(*unseen_decisions(crossed, Y_true))
        settled = None if learned is None or learned.held_out_share else learned.settled()
        thresholds = None if settled is None else settled.score_thresholds(Y_true.shape[1], kind)
        self.calibration_ = unfitted_calibration(self.probabilities, settled, thresholds, kind, Y_true)
        if self.calibration_ is not None:
            self.calibration_.fit(open_scores(found.scores, kind), Y_true)
        if self.probabilities is not None:
            scores = found.scores if settled is None else found.decidable(settled)
            self.figures_ = ThresholdFigures().fit(scores, Y_true, kind, thresholds)
        self.choice_ = None if learned is None else learned.choice(found.settings)
        return learned

    # --- predicting ---------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """The model's scores."""
        return self.model_.score_batch(X)

    def document_scorer(self) -> DocumentScorer | None:
        """The model's function that scores one document, if it has one."""
        return self.model_.document_scorer()

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """The contribution of each term of one document to the model's scores; the rule does not matter."""
        return self.model_.evidence(self.features(x), labels)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the model's scores of one document; the rule does not matter."""
        return self.model_.score_parts(self.features(x), labels)

    def neighbour_votes(self, x: object) -> NeighbourVotes | None:
        """The training documents that vote on one document, if the model has neighbours."""
        return self.model_.neighbour_votes(self.features(x))

    @property
    def member_name(self) -> str:
        """The name of the model."""
        return self.model.member_name

    def natural_decision(self, scores: Floats) -> Bools:
        """The labels that the rule decides from dense scores."""
        if self.rule_ is None:
            return self.model_.natural_decision(scores)
        return self.rule_.decide_dense(scores, self.score_kind)

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The label sets decided by the rule, computed in batches of up to `working_memory` bytes."""
        features = self.features(X)
        rule = self.rule_
        if rule is None:
            predicted = self.model_.predict(features, working_memory=working_memory)
            if self.label_form_ == "single":
                return predicted
            predicted = unlabelled_if_empty(Csr(predicted), features, self.model_, None)
            return self.in_fitted_form([predicted])
        return self.in_fitted_form(
            [self.decide(features[rows], scores) for rows, scores in self.score_in_batches(features, working_memory)]
        )

    def decide(self, X: Csr, scores: Floats) -> Csr:
        """The label sets of documents, given their scores: by the rule, none for a document without a known term."""
        if self.rule_ is None:
            return Csr(self.predict(X))
        return unlabelled_if_empty(self.rule_.decide(scores, self.score_kind), X, self.model_, self.rule_)

    @property
    def labels_empty_documents(self) -> bool:
        """Whether documents without a known term get labels, see `unlabelled_if_empty`."""
        return labels_empty_documents(self.model_, self.rule_)

    def decision_function(self, X: object) -> Floats:
        """The model's decision function."""
        self.check_fitted()
        return self.model_.decision_function(self.features(X))

    @property
    def predict_proba(self) -> Callable[[object], Floats]:
        """``predict_proba(X)``: calibrated probabilities if they were learned, else the model's, if it has them."""
        return super().predict_proba if not self.is_fitted or self.calibration_ is None else self._calibrated

    def _calibrated(self, X: object) -> Floats:
        return self.shown(self.scores(X))

    # --- scores as shown to users -------------------------------------------------------------------------

    def shown(self, scores: Floats, *, raw: bool = False) -> Floats:
        """Scores in the units shown to users: calibrated probabilities if they were learned, else as `display` does.

        With `raw` they are not calibrated.
        """
        return shown_scores(scores, self.score_kind, None if raw else self.calibration_)

    @property
    def shows_probabilities(self) -> bool:
        """Whether `shown` returns probabilities."""
        return self.calibration_ is not None or self.score_kind.is_probability

    def thresholds(self, *, raw: bool = False) -> Floats | None:
        """The threshold of each label in the units of `shown`; None if the rule has none."""
        self.check_fitted()
        if self.rule_ is None:
            return None
        if raw:
            return self.rule_.shown_thresholds(self.n_labels_, self.score_kind)
        return shown_thresholds(self.rule_, self.n_labels_, self.score_kind, self.calibration_)

    def decide_by_shown(self, X: Csr, scores: Floats, threshold: float | None, top: int | None) -> Csr:
        """The label sets of documents by a threshold on shown scores, a number of labels or both, instead of the rule.

        A document without a known term gets none, as by the rule. A rule that predicts one label predicts at most one.
        """
        one = self.rule_ is not None and self.rule_.predicts_one_label
        limit = 1 if top is None and one else top
        chosen = decide_by_shown(scores, self.shown(scores), self.score_kind, threshold, limit)
        return unlabelled_if_empty(Csr(chosen.astype(np.int8)), X, self.model_, None)

    def guarantee(self) -> GuaranteeRecord | None:
        """The rule's guarantee for new documents; None for most rules."""
        return None if self.rule_ is None else self.rule_.guarantee()


def _among(features: FoldFeatures, rows: Ints) -> FoldFeatures:
    """The features of folds of some of the documents, whose rows are counted among these."""
    return lambda train, test: features(rows[train], rows[test])
