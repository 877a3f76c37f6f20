"""One learned threshold per label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from manylabel.decisions.base import FALLBACK, LabelThresholdRule
from manylabel.decisions.threshold_search import ThresholdSearch
from manylabel.estimator import Csr, Floats
from manylabel.models.label_thresholds import CLEAR, clear_of_scores, shrunk_thresholds
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint, Number, OneOf


class PerLabelThreshold(LabelThresholdRule):
    """The labels whose score reaches the label's own learned threshold (SCut), drawn towards the common one.

    t_k = (n_k t*_k + shrinkage · t) / (n_k + shrinkage)

    t*_k is the threshold with the best F1 of the label alone, n_k its number of positives, t the threshold
    with the best micro F1 of all labels; shrinkage 0 is plain SCut. Labels without positives keep t. The
    average is taken in the units of the scores (log-odds, not probabilities: those pile up at 0 and 1), where
    rare labels, whose own best threshold is mostly chance, are the ones held back. A threshold that is not
    finite is not averaged.

    Between two attained scores the F1 is the same, so t*_k may lie anywhere in the gap below the best one. It lies in
    the middle, and t_k keeps clear of all attained scores, so that the last bit of a score decides nothing.

    `floor` guards against overfitted rare labels (SCutFBR): where the best F1 of a label is below it, the threshold
    lies just below the highest score seen (`below_floor`: ``"fbr.1"``), or the label is never predicted (``"fbr.0"``).
    Without it, a rare label whose few positives score low gets a threshold that lets in hundreds of documents: micro F1
    of `BinaryNaiveBayes` on held-out Reuters training documents is 0.60 without, 0.73 with 0.1.

    Source: Yang 2001 (SCut, SCutFBR); the shrinkage is ours.

    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.2], [0.8, 0.1], [0.3, 0.15]])
    >>> Y_true = Csr([[1, 1], [1, 0], [0, 1]])
    >>> rule = PerLabelThreshold(shrinkage=0).fit(scores, Y_true, ScoreKind.SIMILARITY)
    >>> rule.shown_thresholds(2, ScoreKind.SIMILARITY).round(6).tolist()
    [0.55, 0.125]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "shrinkage": Number(low=0),
        "floor": Number(low=0, high=1),
        "below_floor": OneOf("fbr.1", "fbr.0"),
        "fallback": FALLBACK,
    }

    def __init__(
        self,
        shrinkage: float = 5.0,
        floor: float = 0.1,
        below_floor: Literal["fbr.1", "fbr.0"] = "fbr.1",
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.shrinkage = shrinkage
        self.floor = floor
        self.below_floor = below_floor
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """True: this rule needs out-of-fold scores."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Search every label's threshold, shrink it, and apply the floor."""
        self.learn_from(ThresholdSearch(scores, Y, kind))

    def learn_from(self, search: ThresholdSearch) -> Self:
        """Take the common and the own thresholds from a search that rules share, shrink them, and apply the floor."""
        instead = search.highest if self.below_floor == "fbr.1" else math.inf
        found = shrunk_thresholds(search.own, search.common("micro-f1"), self.shrinkage, self.floor, instead)
        self.thresholds_ = clear_of_scores(search.usable, found, CLEAR)
        return self
