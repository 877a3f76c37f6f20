"""One threshold on the probability of each label, whatever the scores are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.decisions.calibration import open_scores
from manylabel.decisions.threshold_search import SearchedMetric, ThresholdSearch, pooled_threshold
from manylabel.estimator import Csr, Floats
from manylabel.models.exported import Form, threshold_form
from manylabel.models.label_thresholds import CLEAR, clear_of_scores, drawn_to_known
from manylabel.models.score_kinds import Bools, ScoreKind, display, on_an_open_scale, sigmoid
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Stored, reals


class CalibratedThreshold(DecisionRule):
    """The labels whose probability reaches one threshold learned for all labels together.

    p_k(f) = 1/(1 + exp(−(a_k f + b_k))),   predicted where p_k(f) ≥ p, so where f ≥ t_k = (log p/(1 − p) − b_k) / a_k

    The curves are Platt's, one per label, learned on out-of-fold scores (`Calibration`; `shrinkage` in positives draws
    them together). p is then the best threshold of these probabilities for the metric, in the middle of its gap. The
    rule stores t_k, a threshold per label in the units of the scores. A label whose scores carry no information
    (a_k = 0) is predicted always or never.

    With the true probabilities, one threshold for all labels is what is best for micro F1 (half of the best F1) and for
    Hamming loss (one half), however different the labels: Lipton, Elkan & Naryanaswamy 2014. One number is
    learned instead of one per label, so the rule overfits less.

    >>> scores = np.array([[0.9, 0.04], [0.8, 0.01], [0.2, 0.05], [0.1, 0.02]])
    >>> rule = CalibratedThreshold().fit(scores, Csr([[1, 0], [1, 0], [0, 1], [0, 0]]), ScoreKind.SIMILARITY)
    >>> rule.shown_thresholds(2, ScoreKind.SIMILARITY).round(3).tolist()
    [0.444, 0.045]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": OneOf("micro-f1", "exact-match", "break-even", "hamming-loss"),
        "shrinkage": Number(low=0),
        "fallback": FALLBACK,
    }
    thresholds_: Floats
    """t_k; for posteriors, of their log-odds."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "thresholds_": reals("labels"),
    }

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
        """True: this rule needs out-of-fold scores."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Learn the curves, then the threshold on the probabilities they give."""
        self.learn_from(ThresholdSearch(scores, Y, kind))

    def learn_from(self, search: ThresholdSearch) -> Self:
        """Take the curves from a search that rules share, then learn the threshold on their probabilities."""
        curves = search.calibration("logistic", self.shrinkage)
        scores = open_scores(search.scores, search.kind)
        found = pooled_threshold(curves.log_odds(scores), search.Y, self.metric)
        least = math.inf if found is None else found.value
        slopes, intercepts = curves.slopes_, curves.intercepts_
        own = (least - intercepts) / np.where(slopes > 0, slopes, 1.0)
        always = np.where(intercepts >= least, -math.inf, math.inf)
        self.thresholds_ = clear_of_scores(scores, np.where(slopes > 0, own, always), CLEAR)
        return self

    def draw_towards(self, known: Floats, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Draw each threshold towards the median of the known ones, see `drawn_to_known`."""
        known, scores = on_an_open_scale(known, kind), open_scores(scores, kind)
        self.thresholds_ = drawn_to_known(self.thresholds_, known, scores, Y)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ the label's threshold."""
        return np.asarray(on_an_open_scale(scores, kind) >= self.thresholds_)

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold in the units people read."""
        return sigmoid(self.thresholds_) if kind is ScoreKind.POSTERIOR else display(self.thresholds_, kind)

    def score_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """Each label's threshold in the units of the scores."""
        return sigmoid(self.thresholds_) if kind is ScoreKind.POSTERIOR else self.thresholds_

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """Each label's threshold; of the log-odds of posteriors."""
        return threshold_form(self.thresholds_, n_labels, opened=kind is ScoreKind.POSTERIOR)
