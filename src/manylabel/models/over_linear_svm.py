"""What methods share that end in one `LinearSVM`, trained in a way of their own."""

from __future__ import annotations

import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.models.base import DocumentScorer, MultiLabelModel, unfitted_copy
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Satisfies

LINEAR = Satisfies("a LinearSVM", lambda value: isinstance(value, LinearSVM))


class OverLinearSVM(MultiLabelModel):
    """Scores, evidence and the rest are those of the machine it trained, `model_`."""

    model: LinearSVM
    model_: LinearSVM

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """What the machine's scores are."""
        return self.model.score_kind

    def machine(self) -> LinearSVM:
        """A machine to train that keeps its dual solution, so that the next one can start from it."""
        return unfitted_copy(self.model).set_params(keep_dual=True)

    def keep(self, trained: LinearSVM) -> None:
        """Make a trained machine the answer; its dual solution goes unless it was asked for."""
        trained.set_params(keep_dual=self.model.keep_dual)
        if not trained.keep_dual:
            del trained.dual_coef_
        self.model_ = trained

    def score_batch(self, X: Csr) -> Floats:
        """X · weights + intercept."""
        return self.model_.score_batch(X)

    def document_scorer(self) -> DocumentScorer:
        """The machine's."""
        return self.model_.document_scorer()

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each word of one document adds to the scores of some labels: weight times value, labels × terms."""
        return self.model_.evidence(self.features(x), labels)
