"""The base of methods that train one `LinearSVM` in a way of their own, often again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy.typing as npt

from manylabel.estimator import Csr, Floats, unfitted_copy
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.evidence import ScoreParts
from manylabel.models.exported import ExportedScores
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Satisfies
from manylabel.stored import Part, Stored

LINEAR = Satisfies("a LinearSVM", lambda value: isinstance(value, LinearSVM))


class RetrainedSVM(MultiLabelModel):
    """A method whose scores and evidence are those of the `LinearSVM` it trained, `model_`."""

    model: LinearSVM
    model_: LinearSVM

    learned: ClassVar[Mapping[str, Stored]] = {
        "model_": Part(LinearSVM, "labels", "terms"),
    }

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the SVM's scores."""
        return self.model.score_kind

    def svm_to_train(self) -> LinearSVM:
        """A copy of `model` that keeps its dual solution, so that the next one can start from it."""
        return unfitted_copy(self.model).set_params(keep_dual=True)

    def keep(self, trained: LinearSVM) -> None:
        """Keep a trained SVM as `model_`; its dual solution goes unless `model` keeps it."""
        trained.set_params(keep_dual=self.model.keep_dual)
        if not trained.keep_dual:
            del trained.dual_coef_
        self.model_ = trained

    def score_batch(self, X: Csr) -> Floats:
        """X · weights + intercept."""
        return self.model_.score_batch(X)

    def document_scorer(self) -> DocumentScorer:
        """The SVM's function that scores one document."""
        return self.model_.document_scorer()

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels: weight times value, labels × terms."""
        return self.model_.evidence(self.features(x), labels)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores by the SVM."""
        return self.model_.score_parts(self.features(x), labels)

    @property
    def is_exportable(self) -> bool:
        """True: the scores are those of the SVM."""
        return True

    def exported_scores(self) -> ExportedScores:
        """The scores of the SVM."""
        return self.model_.exported_scores()
