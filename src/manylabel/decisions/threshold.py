"""One threshold for all labels: given, or learned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule, floor
from manylabel.decisions.search import SearchedMetric, pooled_cut
from manylabel.estimator import Csr, Floats
from manylabel.exceptions import DecisionError
from manylabel.models.score_kinds import Bools, ScoreKind, display, logit
from manylabel.parameters import AnyOf, Constraint, Number, OneOf

if TYPE_CHECKING:
    from manylabel.decisions.cut_search import CutSearch

_NATURAL = {
    ScoreKind.POSTERIOR: 0.5,
    ScoreKind.LOG_ODDS: 0.5,
    ScoreKind.MARGIN: 0.0,
    ScoreKind.SIMILARITY: 0.5,
}


class Threshold(DecisionRule):
    """The labels whose score is at least a fixed value: { k : score_k ≥ value }.

    The value is in the units people read: a probability for posteriors and log-odds, the score itself
    otherwise. None is the natural value: 0.5 for probabilities and similarities, anything above 0 for
    margins. Source: Vilar, Castro & Sanchis 2004, section 3 (their binary classifiers with one threshold).

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

    def thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The value, for every label."""
        return np.full(n_labels, self._value(kind))

    def _value(self, kind: ScoreKind) -> float:
        value = _NATURAL[kind] if self.value is None else float(self.value)
        if kind.is_probability and not 0 <= value <= 1:
            raise DecisionError(
                f"Threshold: scores of kind '{kind}' are read as probabilities, so value must be a number "
                f"from 0 to 1, not {value:g}."
            )
        return value


class GlobalThreshold(DecisionRule):
    """The labels whose score is at least one threshold learned for all labels together.

    Every attained score is tried. The metric is micro F1, the share of documents whose label set is
    exactly right, the break-even point (least |precision − recall|, something being right), or the fewest wrong
    labels (``"hamming-loss"``); ties go to the smallest threshold. Source: Vilar, Castro & Sanchis 2004 learn one
    threshold for all; the search is ours.

    >>> scores = np.array([[0.9, 0.4], [0.2, 0.3]])
    >>> rule = GlobalThreshold().fit(scores, Csr([[1, 1], [0, 0]]), ScoreKind.POSTERIOR)
    >>> rule.thresholds(2, ScoreKind.POSTERIOR).tolist()
    [0.4, 0.4]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": OneOf("micro-f1", "exact-match", "break-even", "hamming-loss"),
        "fallback": FALLBACK,
    }
    cut_: float

    def __init__(self, metric: SearchedMetric = "micro-f1", fallback: Literal["none", "argmax"] = "none") -> None:
        self.metric: SearchedMetric = metric
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """Always."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Search the threshold, in the units of the scores; without any true label keep the natural one."""
        self.cut_ = learned_cut(scores, Y, kind, self.metric)

    def learn_from(self, search: CutSearch) -> None:
        """The same, from cuts that other rules may have asked for before."""
        self.cut_ = search.common(self.metric)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ cut."""
        return np.asarray(scores >= self.cut_)

    def thresholds(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The learned threshold, for every label."""
        return np.full(n_labels, display(self.cut_, kind))

    def cuts(self, n_labels: int, kind: ScoreKind) -> Floats:
        """The learned threshold in the units of the scores, for every label."""
        return np.full(n_labels, self.cut_)


def score_units(value: float, kind: ScoreKind) -> float:
    """A threshold as people read it, in the units of the scores."""
    return logit(value) if kind is ScoreKind.LOG_ODDS else value


def learned_cut(scores: Floats, Y: Csr, kind: ScoreKind, metric: SearchedMetric) -> float:
    """The best cut for all labels in score units; the natural one where nothing can be learned."""
    found = pooled_cut(scores, Y, metric, above=floor(kind))
    if found is None:
        natural = score_units(_NATURAL[kind], kind)
        return math.nextafter(natural, math.inf) if kind is ScoreKind.MARGIN else natural
    return found.value
