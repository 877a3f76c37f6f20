"""The decision that follows from the kind of score alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.estimator import Floats
from manylabel.models.exported import Form, natural_form
from manylabel.models.score_kinds import Bools, ScoreKind, natural_decisions
from manylabel.parameters import Constraint


class Natural(DecisionRule):
    """The best label for posteriors and similarities, P ≥ 0.5 for log-odds, score > 0 for margins.

    >>> Natural().decide(np.array([[0.2, 0.7, 0.1]]), ScoreKind.POSTERIOR).toarray().tolist()
    [[0, 1, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {"fallback": FALLBACK}

    def __init__(self, fallback: Literal["none", "argmax"] = "none") -> None:
        self.fallback = fallback

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """See `natural_decisions`."""
        return natural_decisions(scores, kind)

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """0.5 for log-odds, 0 for margins, none where the best label is taken."""
        threshold = {ScoreKind.LOG_ODDS: 0.5, ScoreKind.MARGIN: 0.0}.get(kind)
        return None if threshold is None else np.full(n_labels, threshold)

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """The natural decision."""
        return natural_form(kind, n_labels)
