"""One threshold on the probability of each label, whatever the scores are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.decisions.calibration import open_scores
from manylabel.decisions.cut_search import CutSearch
from manylabel.decisions.search import SearchedMetric, pooled_cut
from manylabel.estimator import Csr, Floats
from manylabel.models.evidence import on_an_open_scale
from manylabel.models.score_kinds import Bools, ScoreKind, display, sigmoid
from manylabel.parameters import Constraint, Number, OneOf


class CalibratedThreshold(DecisionRule):
    """The labels whose probability reaches one threshold learned for all labels together.

    p_k(f) = 1/(1 + exp(−(a_k f + b_k))),   given where p_k(f) ≥ p, so where f ≥ t_k = (log p/(1 − p) − b_k) / a_k

    The curves are Platt's, one a label, learned on out-of-fold scores (`Calibration`; `shrinkage` in positives draws
    them together); p is then the best of all attained probabilities for the metric, in the middle of its gap. What
    is kept of it is t_k, a threshold for each label in the units of the scores. A label whose scores say nothing
    (a_k = 0) is given always or never.

    With the true probabilities, one threshold for all labels is what is best for micro F1 (half of the best F1) and for
    Hamming loss (one half), however different the labels: Lipton, Elkan & Naryanaswamy 2014. It learns less from the
    data than a threshold of its own for each label, and so is fooled by them less.

    >>> scores = np.array([[0.9, 0.04], [0.8, 0.01], [0.2, 0.05], [0.1, 0.02]])
    >>> rule = CalibratedThreshold().fit(scores, Csr([[1, 0], [1, 0], [0, 1], [0, 0]]), ScoreKind.SIMILARITY)
    >>> rule.thresholds(2, ScoreKind.SIMILARITY).round(3).tolist()
    [0.444, 0.045]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": OneOf("micro-f1", "exact-match", "break-even", "hamming-loss"),
        "shrinkage": Number(low=0),
        "fallback": FALLBACK,
    }
    cuts_: Floats
    """t_k; for posteriors, of their log-odds."""

    def __init__(
        self,
        metric: SearchedMetric = "micro-f1",
        shrinkage: float = 0.0,
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.metric: SearchedMetric = metric
        self.shrinkage = shrinkage
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """Always."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Learn the curves, then the threshold on the probabilities they give."""
        self.learn_from(CutSearch(scores, Y, kind))

    def learn_from(self, search: CutSearch) -> None:
        """The same, with curves that other rules may have asked for before."""
        curves = search.calibration("logistic", self.shrinkage)
        log_odds = curves.log_odds(open_scores(search.scores, search.kind))
        found = pooled_cut(log_odds, search.Y, self.metric)
        least = math.inf if found is None else _middle(log_odds, found.value)
        slopes, intercepts = curves.slopes_, curves.intercepts_
        own = (least - intercepts) / np.where(slopes > 0, slopes, 1.0)
        always = np.where(intercepts >= least, -math.inf, math.inf)
        self.cuts_ = np.where(slopes > 0, own, always)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ the label's cut."""
        return np.asarray(on_an_open_scale(scores, kind) >= self.cuts_)

    def thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold, in the units of its scores."""
        return sigmoid(self.cuts_) if kind is ScoreKind.POSTERIOR else display(self.cuts_, kind)

    def cuts(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The same in the units of the scores."""
        return sigmoid(self.cuts_) if kind is ScoreKind.POSTERIOR else self.cuts_


def _middle(values: Floats, cut: float) -> float:
    """Half-way from the cut down to the next lower value, so that rounding decides nothing; the cut where none is."""
    lower = np.where(values < cut, values, -math.inf).max(initial=-math.inf)
    return cut if math.isinf(lower) else float((cut + lower) / 2)
