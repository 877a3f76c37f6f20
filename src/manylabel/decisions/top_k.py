"""The k best labels of every document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.estimator import Floats
from manylabel.models.exported import Form
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Number


class TopK(DecisionRule):
    """The k labels with the highest scores (RCut); ties go to the lowest index. Source: Yang 2001.

    >>> TopK(2).decide(np.array([[0.1, 0.5, 0.4, 0.5]]), ScoreKind.SIMILARITY).toarray().tolist()
    [[0, 1, 0, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "k": Number(low=1, whole=True),
        "fallback": FALLBACK,
    }

    def __init__(self, k: int = 1, fallback: Literal["none", "argmax"] = "none") -> None:
        self.k = k
        self.fallback = fallback

    @property
    def predicts_one_label(self) -> bool:
        """Whether k is 1."""
        return self.k == 1

    @property
    def takes_fallback(self) -> bool:
        """False: every document has k labels already."""
        return False

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The first k of each row in descending order."""
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.k]
        chosen = np.zeros(scores.shape, dtype=np.bool_)
        np.put_along_axis(chosen, best, True, axis=1)
        return chosen

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """The number of labels."""
        return {"rule": "top-k", "k": self.k}
