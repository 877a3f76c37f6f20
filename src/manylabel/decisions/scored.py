"""Out-of-fold scores of a model, as they are handed on to whoever learns from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from manylabel.decisions.base import DecisionRule, decidable_scores
from manylabel.decisions.cross_fitting import CrossFitted
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import OutOfFold
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

    def decidable(self, rule: DecisionRule) -> Floats:
        """The scores as the rule should learn from them: every label of a document that gets none is impossible."""
        return decidable_scores(self.scores, self.empty, self.model, rule)

    def fit(self, documents: OutOfFold, Y: Csr) -> MultiLabelModel:
        """The model fitted to all training documents."""
        return self.seen(documents).fit_whole(self.model, Y) if self.whole is None else self.whole

    def seen(self, documents: OutOfFold) -> OutOfFold:
        """The training documents as the model reads them."""
        return documents if self.X is None else replace(documents, X=self.X)
