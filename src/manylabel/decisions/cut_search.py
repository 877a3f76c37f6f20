"""Thresholds and curves found on one table of scores, each once however many rules ask for it."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from manylabel.decisions.base import floor
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.search import SearchedMetric
from manylabel.decisions.threshold import learned_cut
from manylabel.estimator import Csr, Floats
from manylabel.models.label_cuts import OwnCuts, own_cuts
from manylabel.models.score_kinds import ScoreKind


class CutSearch:
    """Cuts of scores, documents × labels, given the true labels; impossible labels are never given.

    >>> search = CutSearch(np.array([[0.9, 0.4], [0.2, 0.3]]), Csr([[1, 1], [0, 0]]), ScoreKind.POSTERIOR)
    >>> search.common("micro-f1"), search.own("middle").cuts.round(2).tolist(), search.highest.tolist()
    (0.4, [0.55, 0.35], [0.9, 0.4])
    """

    def __init__(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        self.scores, self.Y, self.kind = scores, Y, kind
        self._usable: Floats | None = None
        self._common: dict[SearchedMetric, float] = {}
        self._own: dict[str, OwnCuts] = {}
        self._curves: dict[tuple[str, float], Calibration] = {}

    @property
    def usable(self) -> Floats:
        """The scores, −∞ where a label is impossible."""
        if self._usable is None:
            self._usable = np.where(self.scores > floor(self.kind), self.scores, -math.inf)
        return self._usable

    @property
    def highest(self) -> Floats:
        """The highest score of each label; +∞, which is never reached, where all its scores are impossible."""
        found = self.usable.max(axis=0, initial=-math.inf)
        return np.where(np.isneginf(found), math.inf, found)

    def common(self, metric: SearchedMetric) -> float:
        """The best cut for all labels together; see `learned_cut`."""
        if metric not in self._common:
            self._common[metric] = learned_cut(self.scores, self.Y, self.kind, metric)
        return self._common[metric]

    def calibration(self, curve: Literal["logistic", "isotonic"], shrinkage: float) -> Calibration:
        """Curves from scores to probabilities; see `Calibration`."""
        if (curve, shrinkage) not in self._curves:
            self._curves[curve, shrinkage] = Calibration(curve, shrinkage).fit(
                open_scores(self.scores, self.kind), self.Y
            )
        return self._curves[curve, shrinkage]

    def own(self, place: Literal["middle", "attained"]) -> OwnCuts:
        """The best cut of each label by itself; see `own_cuts`."""
        if place not in self._own:
            self._own[place] = own_cuts(self.usable, self.Y, place)
        return self._own[place]
