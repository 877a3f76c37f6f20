"""One threshold a label."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.decisions.cut_search import CutSearch
from manylabel.estimator import Csr, Floats
from manylabel.models.label_cuts import shrunk_cuts
from manylabel.models.score_kinds import Bools, ScoreKind, display
from manylabel.parameters import Constraint, Number, OneOf


class PerLabelThreshold(DecisionRule):
    """The labels whose score reaches the label's own learned threshold (SCut), drawn towards the common one.

    t_k = (n_k t*_k + shrinkage · t) / (n_k + shrinkage)

    t*_k is the threshold with the best F1 of the label alone, n_k its number of positives, t the threshold
    with the best micro F1 of all labels; shrinkage 0 is plain SCut. Labels without positives keep t. The
    average is taken in the units of the scores (log-odds, not probabilities: those pile up at 0 and 1), where
    rare labels, whose own best threshold is mostly chance, are the ones held back. A threshold that is not
    finite is not averaged.

    Between two attained scores the F1 is the same, so t*_k may lie anywhere in the gap below the best one:
    ``place="middle"`` puts it in the middle, as far from chance on either side as can be; ``"attained"`` on
    the score itself, which a new document must then reach.

    `floor` guards against overfitted rare labels (SCutFBR): where the best F1 of a label is below it, the
    threshold is the highest score seen (``"fbr.1"``), or the label is never given (``"fbr.0"``). Without
    it, a rare label whose few positives score low gets a threshold that lets in hundreds of documents: micro
    F1 of `BinaryNaiveBayes` on held-out Reuters training documents is 0.60 without, 0.73 with 0.1.

    Source: Yang 2001 (SCut, SCutFBR); the shrinkage is ours.

    >>> scores = np.array([[0.9, 0.2], [0.8, 0.1], [0.3, 0.15]])
    >>> truth = Csr([[1, 1], [1, 0], [0, 1]])
    >>> rule = PerLabelThreshold(shrinkage=0, place="attained").fit(scores, truth, ScoreKind.SIMILARITY)
    >>> rule.thresholds(2, ScoreKind.SIMILARITY).tolist()
    [0.8, 0.15]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "shrinkage": Number(low=0),
        "floor": Number(low=0, high=1),
        "below_floor": OneOf("fbr.1", "fbr.0"),
        "place": OneOf("middle", "attained"),
        "fallback": FALLBACK,
    }
    cuts_: Floats

    def __init__(
        self,
        shrinkage: float = 5.0,
        floor: float = 0.1,
        below_floor: Literal["fbr.1", "fbr.0"] = "fbr.1",
        place: Literal["middle", "attained"] = "middle",
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.shrinkage = shrinkage
        self.floor = floor
        self.below_floor = below_floor
        self.place = place
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """Always."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Search every label's threshold, shrink it, and apply the floor."""
        self.learn_from(CutSearch(scores, Y, kind))

    def learn_from(self, search: CutSearch) -> None:
        """The same, from cuts that other rules may have asked for before."""
        instead = search.highest if self.below_floor == "fbr.1" else math.inf
        common, own = search.common("micro-f1"), search.own(self.place)
        self.cuts_ = shrunk_cuts(own, common, self.shrinkage, self.floor, instead)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ the label's cut."""
        return np.asarray(scores >= self.cuts_)

    def thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold."""
        return display(self.cuts_, kind)

    def cuts(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold in the units of the scores."""
        return self.cuts_
