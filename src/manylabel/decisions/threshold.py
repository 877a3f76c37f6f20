"""One threshold for all labels, fixed or learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule, floor
from manylabel.decisions.candidates import pooled_candidates
from manylabel.decisions.threshold_search import NATURAL, SearchedMetric, ThresholdSearch, common_threshold, score_units
from manylabel.estimator import Csr, Floats
from manylabel.exceptions import DecisionError
from manylabel.models.exported import Form, natural_form, threshold_form
from manylabel.models.score_kinds import Bools, ScoreKind, display
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.stored import Scalar, Stored


class Threshold(DecisionRule):
    """The labels whose score is at least a fixed value: { k : score_k ≥ value }.

    The value is in the units people read: a probability for posteriors and log-odds, the score itself
    otherwise. None is the natural value: 0.5 for probabilities and similarities, anything above 0 for
    margins. Source: Vilar, Castro & Sanchis 2004, section 2.2 (their binary classifiers with one threshold).

    >>> rule = Threshold(0.5)
    >>> rule.decide(np.array([[2.0, -1.0, 0.0]]), ScoreKind.LOG_ODDS).toarray().tolist()
    [[1, 0, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "value": AnyOf(OneOf(None), Number()),
        "fallback": FALLBACK,
    }

    def __init__(self, value: float | None = None, fallback: Literal["none", "argmax"] = "none") -> None:
        self.value = value
        self.fallback = fallback

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ value; score > 0 for the natural value of margins."""
        if self.value is None and kind is ScoreKind.MARGIN:
            return np.asarray(scores > 0)
        return np.asarray(scores >= score_units(self._value(kind), kind))

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The fixed value, the same for every label."""
        return np.full(n_labels, self._value(kind))

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """The fixed value in the units of the scores."""
        return (
            natural_form(kind, n_labels)
            if self.value is None and kind is ScoreKind.MARGIN
            else threshold_form(score_units(self._value(kind), kind), n_labels)
        )

    def _value(self, kind: ScoreKind) -> float:
        value = NATURAL[kind] if self.value is None else float(self.value)
        if kind.is_probability and not 0 <= value <= 1:
            raise DecisionError(
                f"Threshold: scores of kind '{kind}' are read as probabilities, so value must be a number "
                f"from 0 to 1, not {value:g}."
            )
        return value


class GlobalThreshold(DecisionRule):
    """The labels whose score is at least one threshold learned for all labels together.

    Every gap between two attained scores is tried, and the threshold lies in the middle of its gap. The metric is
    micro F1, the share of documents whose label set is exactly right, the break-even point (least |precision − recall|,
    something being right), or the fewest wrong labels (``"hamming-loss"``). Ties go to the smallest threshold.
    Source: Vilar, Castro & Sanchis 2004 learn one threshold for all; the search is ours.

    >>> scores = np.array([[0.9, 0.4], [0.2, 0.3]])
    >>> rule = GlobalThreshold().fit(scores, Csr([[1, 1], [0, 0]]), ScoreKind.POSTERIOR)
    >>> rule.shown_thresholds(2, ScoreKind.POSTERIOR).tolist()
    [0.35, 0.35]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": OneOf("micro-f1", "exact-match", "break-even", "hamming-loss"),
        "fallback": FALLBACK,
    }
    threshold_: float

    learned: ClassVar[Mapping[str, Stored]] = {
        "threshold_": Scalar(),
    }

    def __init__(self, metric: SearchedMetric = "micro-f1", fallback: Literal["none", "argmax"] = "none") -> None:
        self.metric: SearchedMetric = metric
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """True: this rule needs out-of-fold scores."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Search the threshold, in the units of the scores; without any true label keep the natural one."""
        self.threshold_ = common_threshold(scores, Y, kind, self.metric)

    @property
    def learns_candidates(self) -> bool:
        """True: the threshold does not depend on which label a score belongs to."""
        return True

    def fit_candidates(self, scores: Csr, Y: Csr, kind: ScoreKind) -> Self:
        """Search the threshold in a table of candidates, which is as wide as a document has of them."""
        return self.fit(*pooled_candidates(scores, Y, floor(kind)), kind)

    def learn_from(self, search: ThresholdSearch) -> Self:
        """Take the threshold from a search that rules share."""
        self.threshold_ = search.common(self.metric)
        return self

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ threshold."""
        return np.asarray(scores >= self.threshold_)

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The learned threshold, the same for every label."""
        return np.full(n_labels, display(self.threshold_, kind))

    def score_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The learned threshold in the units of the scores, the same for every label."""
        return np.full(n_labels, self.threshold_)

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """The learned threshold."""
        return threshold_form(self.threshold_, n_labels)
