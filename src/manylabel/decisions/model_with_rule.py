"""A fitted model with its decision rule: label sets, and scores and thresholds as they are shown to users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from manylabel.decisions.base import CHOICE, Choice, DecisionRule, labels_empty_documents, unlabelled_if_empty
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.shown import decide_by_shown, shown_scores, shown_thresholds
from manylabel.decisions.temperature import Temperature
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models import label_axis
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, row_batches
from manylabel.models.evidence import NeighbourVotes, ScoreParts
from manylabel.models.exported import ExportedScores, scores_of
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.stored import Fields, Maybe, Part, Stored

if TYPE_CHECKING:
    from manylabel.decisions.guarantee import GuaranteeRecord


class ModelWithRule(MultiLabelModel):
    """The predicting half of `DecidedModel`: the model scores, the rule decides, the calibration shows probabilities.

    Scores and explanations are the model's. The rule reads the raw scores, so that what is shown never changes the
    label sets. Without a rule the model's own `predict` decides.
    """

    model: MultiLabelModel
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

    # --- the model's own ----------------------------------------------------------------------------------

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the model's scores."""
        return (self.model_ if self.is_fitted else self.model).score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return self.model.needs_counts

    @property
    def weighs_documents(self) -> bool:  # type: ignore[override]
        """Whether `fit` takes `sample_weight`: whether the model weighs documents."""
        return self.model.weighs_documents

    def counts_of_counts(self, counts: Csr, Y: Csr) -> dict[int, int] | None:
        """The counts of counts that the model asks for; None if it wants none."""
        return self.model.counts_of_counts(counts, Y)

    def score_batch(self, X: Csr) -> Floats:
        """The model's scores."""
        return self.model_.score_batch(X)

    @property
    def scores_candidates(self) -> bool:  # type: ignore[override]
        """Whether the model scores some labels of a document only, all others being impossible."""
        return self.model.scores_candidates

    def scores_a_document(self, n_labels: int) -> int:
        """How many labels of a document have scores at most."""
        return self.model.scores_a_document(n_labels)

    def score_candidates(self, X: Csr) -> Csr:
        """The model's scores of the possible labels."""
        return self.model_.score_candidates(X)

    @property
    def is_exportable(self) -> bool:
        """Whether the model's scores can be exported."""
        return (self.model_ if self.is_fitted else self.model).is_exportable

    def exported_scores(self) -> ExportedScores:
        """The model's scores in the form in which they are exported."""
        return scores_of(self.model_)

    def document_scorer(self) -> DocumentScorer | None:
        """The model's function that scores one document, if it has one."""
        return self.model_.document_scorer()

    def decision_function(self, X: object) -> Floats:
        """The model's decision function."""
        self.check_fitted()
        return self.model_.decision_function(self.features(X))

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

    @property
    def chosen_metrics(self) -> list[str]:
        """The metric that the rule was chosen for, in a list; none for rules that were not chosen."""
        return [] if self.choice_ is None else [self.choice_["metric"]]

    # --- some labels --------------------------------------------------------------------------------------

    def of_labels(self, columns: Ints) -> Self:
        """Model, rule and calibration of some labels, in this order."""
        return label_axis.of_labels(self, columns)

    def beside(self, other: MultiLabelModel) -> Self:
        """Model, rule and calibration with the labels of another behind their own."""
        assert isinstance(other, ModelWithRule)
        return cast(Self, label_axis.beside(self, other))

    # --- label sets ---------------------------------------------------------------------------------------

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
        if self.scores_candidates:
            batches = (Csr(features[rows]) for rows in row_batches(features.shape[0], self.n_labels_, working_memory))
            return self.in_fitted_form([self._decide_candidates(X, rule) for X in batches])
        return self.in_fitted_form(
            [self.decide(features[rows], scores) for rows, scores in self.score_in_batches(features, working_memory)]
        )

    def _decide_candidates(self, X: Csr, rule: DecisionRule) -> Csr:
        """The label sets of documents by the rule, from the scores of their possible labels."""
        predicted = rule.decide_candidates(self.score_candidates(X), self.score_kind)
        return unlabelled_if_empty(predicted, X, self.model_, rule)

    def decide(self, X: Csr, scores: Floats) -> Csr:
        """The label sets of documents, given their scores: by the rule, none for a document without a known term."""
        if self.rule_ is None:
            return Csr(self.predict(X))
        return unlabelled_if_empty(self.rule_.decide(scores, self.score_kind), X, self.model_, self.rule_)

    @property
    def labels_empty_documents(self) -> bool:
        """Whether documents without a known term get labels, see `unlabelled_if_empty`."""
        return labels_empty_documents(self.model_, self.rule_)

    # --- scores as shown to users -------------------------------------------------------------------------

    def shown(self, scores: Floats, *, raw: bool = False) -> Floats:
        """Scores in the units shown to users: calibrated probabilities if they were learned, else as `display` does.

        With `raw` they are not calibrated.
        """
        return shown_scores(scores, self.score_kind, None if raw else self.calibration_)

    @property
    def predict_proba(self) -> Callable[[object], Floats]:
        """``predict_proba(X)``: calibrated probabilities if they were learned, else the model's, if it has them."""
        return super().predict_proba if not self.is_fitted or self.calibration_ is None else self._calibrated

    def _calibrated(self, X: object) -> Floats:
        return self.shown(self.scores(X))

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
