"""The rules that `BestRule` chooses among, simple ones first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.natural import Natural
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.seen_sets import SeenSets
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.decisions.top_k import TopK
from manylabel.models.score_kinds import ScoreKind

if TYPE_CHECKING:
    from manylabel.metrics.targets import TargetMetric

DEPENDENCE = 0.25
"""How much the dependence of labels counts in seen sets: 0.25 and 0.5 differ little, and each costs as much again."""


def candidates(metric: TargetMetric, kind: ScoreKind) -> list[DecisionRule]:
    """The rules worth trying for a metric on scores of a kind, none of them fitted; the simpler of two stands first.

    Each is listed without a fallback; `with_fallback` gives the twin that leaves no document without a label.

    >>> from manylabel.metrics.targets import find_target_metric
    >>> candidates(find_target_metric("recall@3"), ScoreKind.MARGIN)
    [TopK(k=3)]
    >>> candidates(find_target_metric("hamming-loss"), ScoreKind.MARGIN)[:2]
    [Natural(), GlobalThreshold(metric='hamming-loss')]
    """
    if metric.k is not None:
        return [TopK(metric.k)]
    listed = [Natural(), *_BY_METRIC[metric.name]()]
    return [rule for rule in listed if kind in rule.accepts]


def with_fallback(rule: DecisionRule) -> DecisionRule | None:
    """The same rule, never leaving a document without its best label; None where that is another question."""
    if not rule.takes_fallback:
        return None
    return type(rule)(**{**rule.get_params(deep=False), "fallback": "argmax"})


def _for_micro_f1() -> list[DecisionRule]:
    """The best set for F1 per document is often good for F1 over all documents."""
    return [
        GlobalThreshold(),
        CalibratedThreshold(),
        PerLabelThreshold(20.0),
        PerLabelThreshold(),
        AccumulatedPosterior("learn", "micro-f1", log_tail=True),
        SeenSets("sample-f1", DEPENDENCE),
    ]


def _for_macro_f1() -> list[DecisionRule]:
    """Every label counts alike, so that thresholds of their own, little held back, pay for rare ones.

    Calibrated probabilities are left out: out of fold, a label with few documents scores lower than it will with all of
    them, and a curve through such scores guarantees more than it keeps.
    """
    drawn = [PerLabelThreshold(shrinkage, floor) for shrinkage in (20.0, 5.0, 1.0) for floor in (0.1, 0.0)]
    return [GlobalThreshold(), *drawn]


def _for_exact_match() -> list[DecisionRule]:
    return [
        GlobalThreshold("exact-match"),
        CalibratedThreshold("exact-match"),
        AccumulatedPosterior("learn", "exact-match", log_tail=True),
        SeenSets("exact-match", 0.0),
        SeenSets("exact-match", DEPENDENCE),
    ]


def _for_hamming_loss() -> list[DecisionRule]:
    return [GlobalThreshold("hamming-loss"), CalibratedThreshold("hamming-loss"), SeenSets("hamming-loss", DEPENDENCE)]


_BY_METRIC = {
    "micro-f1": _for_micro_f1,
    "macro-f1": _for_macro_f1,
    "sample-f1": _for_micro_f1,
    "exact-match": _for_exact_match,
    "hamming-loss": _for_hamming_loss,
}
