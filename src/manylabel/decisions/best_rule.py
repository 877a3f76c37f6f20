"""The best decision rule for a metric, chosen on out-of-fold scores."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from manylabel.decisions.base import Choice, DecisionRule
from manylabel.decisions.cross_fitting import CrossFitted, compared_rows
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.models.exported import Form
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Number, OneOf, Satisfies
from manylabel.progress import stage
from manylabel.stored import Each, Part, Plain, Stored

if TYPE_CHECKING:
    from manylabel.metrics.targets import TargetMetric

MOST_CELLS_FOR_RARE = 1 << 23
"""The scores beyond which rules are compared on a sample, for macro averages: rare labels need all their documents."""
MOST_SETS = 1 << 23
"""Seen sets × documents beyond which rules over seen sets are left out: they would take longer than the model."""

DEPENDENCE = 0.25
"""The weight of label dependence in seen sets. 0.25 and 0.5 differ little, and trying both would double the cost."""

TOLERANCE_FOR_RARE = 0.005
"""The least `tolerance` for macro averages, which depend on the few documents of rare labels."""
MOST_MICRO_F1_LOST = 0.04
"""How far below the best candidate's micro F1 a rule for macro F1 may be: thresholds that let in hundreds of documents
for the few of a rare label gain a little macro F1 and make most predicted labels wrong."""
MOST_MICRO_F1_LOST_OF_FEW = 0.12
"""The same with fewer than `FEW_DOCUMENTS` documents, where 4 points of micro F1 are within what chance decides."""
FEW_DOCUMENTS = 200

METRICS = ("micro-f1", "macro-f1", "sample-f1", "exact-match", "hamming-loss")
"""The metrics with candidates of their own; besides them there is recall@k."""


def is_target_metric(value: object) -> bool:
    """Whether a value names a metric of `manylabel.metrics.targets`, which is not imported to read a model."""
    return isinstance(value, str) and (value in METRICS or re.fullmatch(r"recall@[1-9]\d{0,5}", value) is not None)


class BestRule(DecisionRule):
    """The rule with the best cross-fitted value of a metric, among those worth trying for it.

    The documents, scored by models that did not see them, are divided into `folds` folds by iterative stratification.
    Every candidate (`candidates`) is learned on all folds but one and decides the documents of that fold, in turn; the
    metric is computed on the decisions of all documents at once. The simplest candidate whose value is within
    `tolerance` of the best one is learned again on all documents. No model is fitted for this. For macro F1, candidates
    whose micro F1 is more than 4 points (12 with fewer than 200 documents) below that of another are left out, and the
    tolerance is at least 0.005.

    `metric` is micro-f1, macro-f1, sample-f1, exact-match, hamming-loss, or recall@k, for which the k best labels are
    predicted. With `single_label`, the best label is predicted, whatever the metric, whose value then serves to compare
    models. `tried_` lists the candidates and their values, `rule_` is the chosen rule.

    Source: thresholding strategies chosen by cross-validation, Yang 2001; on out-of-fold scores it is ours.

    >>> scores = np.array([[0.9, -0.8], [0.8, -0.4], [0.7, -0.5], [-0.9, -0.6], [-0.5, -0.1], [-0.3, -0.2]])
    >>> Y_true = Csr([[1, 0], [1, 0], [1, 0], [0, 0], [0, 1], [0, 1]])
    >>> rule = BestRule("exact-match", folds=2).fit(scores, Y_true, ScoreKind.MARGIN)
    >>> rule.chosen
    'calibrated, metric exact-match'
    >>> rule.decide(np.array([[-0.7, -0.1]]), ScoreKind.MARGIN).toarray().tolist()
    [[0, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "metric": Satisfies(
            "one of 'micro-f1', 'macro-f1', 'sample-f1', 'exact-match', 'hamming-loss', 'recall@k'", is_target_metric
        ),
        "folds": Number(low=2, whole=True),
        "tolerance": Number(low=0),
        "single_label": OneOf(True, False),
    }
    rule_: DecisionRule
    tried_: list[dict[str, Any]]
    """Each candidate in words, and the value of the metric on documents it did not learn from; the best first."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "rule_": Part(DecisionRule, "labels"),
        "tried_": Each(Plain(), None),
    }

    def __init__(
        self, metric: str = "micro-f1", folds: int = 5, tolerance: float = 0.001, single_label: bool = False
    ) -> None:
        self.metric = metric
        self.folds = folds
        self.tolerance = tolerance
        self.single_label = single_label

    @property
    def learns(self) -> bool:
        """True: this rule needs out-of-fold scores."""
        return True

    @property
    def compares(self) -> bool:
        """True: `gain` returns the best value of the metric."""
        return True

    @property
    def _tolerance(self) -> float:
        """How far a simpler candidate may be below the best one."""
        return max(self.tolerance, TOLERANCE_FOR_RARE) if self.metric == "macro-f1" else self.tolerance

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Cross-fit the candidates, choose one, and learn it on everything."""
        self.learn_crossed(scores, Y, kind)

    def learn_crossed(self, scores: Floats, Y: Csr, kind: ScoreKind) -> CrossFitted | None:
        """Learn, and return the decisions of all candidates; None where there are too few documents to compare them."""
        metric = _target(self.metric)
        listed = candidates(_target("recall@1") if self.single_label else metric, kind)  # of one label: the best one
        rows = compared_rows(scores.shape, *([MOST_CELLS_FOR_RARE] if metric.name == "macro-f1" else []))
        found: list[tuple[DecisionRule, float]] = [(listed[0], float("nan"))]
        crossed = None
        if len(rows) >= self.folds:
            found, crossed = self._cross_fit(listed, scores[rows], Csr(Y[rows]), kind, rows)
        gains = np.array([metric.gain(value) for _, value in found])
        close = np.flatnonzero(~(gains < gains.max() - self._tolerance))
        self.rule_ = unfitted_copy(found[int(close[0])][0]).fit(scores, Y, kind)
        order = np.argsort(-gains, kind="stable").tolist()
        self.tried_ = [{"rule": in_words(found[place][0]), "value": found[place][1]} for place in order]
        return crossed

    def _cross_fit(
        self, listed: list[DecisionRule], scores: Floats, Y: Csr, kind: ScoreKind, documents: Ints
    ) -> tuple[list[tuple[DecisionRule, float]], CrossFitted]:
        """Every candidate with its value of the metric on decisions about documents it did not learn from, and these
        decisions; `documents` are the rows of the documents among all.
        """
        from manylabel.data.splits import iterative_stratification

        metric = _target(self.metric)
        decisions: dict[str, list[Csr]] = {}
        rules: dict[str, DecisionRule] = {}
        order: list[Ints] = []
        with stage("Choosing a decision rule", self.folds) as advance:
            for train, test in iterative_stratification(Y, self.folds, seed=0):
                order.append(test)
                for rule, decided in _decisions(listed, scores, Csr(Y[train]), kind, train, test):
                    rules.setdefault(repr(rule), rule)
                    decisions.setdefault(repr(rule), []).append(Csr(decided.astype(np.int8)))
                advance(1)
        rows = np.concatenate(order)
        Y_true, ordered = Csr(Y[rows]), scores[rows]
        whole = {name: Csr(sparse.vstack(folds)) for name, folds in decisions.items() if len(folds) == len(order)}
        if metric.name == "macro-f1":
            whole = _keeping_micro_f1(whole, Y_true)
        numbers = np.repeat(np.arange(len(order)), [len(test) for test in order])
        crossed = CrossFitted(documents[rows], numbers, tuple(whole.values()), metric, self._tolerance)
        return [(rules[name], metric.value(Y_true, decided, ordered)) for name, decided in whole.items()], crossed

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The labels that the chosen rule decides."""
        return self.rule_.decide_dense(scores, kind)

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The chosen rule's thresholds, in the units shown to users."""
        return self.rule_.shown_thresholds(n_labels, kind)

    def score_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The chosen rule's thresholds, in the units of the scores."""
        return self.rule_.score_thresholds(n_labels, kind)

    def exported(self, n_labels: int, kind: ScoreKind) -> Form | None:
        """The chosen rule."""
        return self.rule_.exported(n_labels, kind)

    @property
    def gain(self) -> float:
        """The best value of the metric over all candidates, negated for a loss: the greater, the better."""
        self.check_fitted()
        return _target(self.metric).gain(float(self.tried_[0]["value"]))

    @property
    def chosen(self) -> str:
        """The chosen rule in words."""
        self.check_fitted()
        return in_words(self.rule_)

    def settled(self) -> DecisionRule:
        """The chosen rule."""
        self.check_fitted()
        return self.rule_

    def choice(self, settings: Mapping[str, Any]) -> Choice:
        """The chosen rule in words, its value of the metric, and the chosen settings of the model."""
        metric = _target(self.metric)
        reached = next(float(row["value"]) for row in self.tried_ if row["rule"] == self.chosen)
        value = None if math.isnan(reached) else reached
        return Choice(metric=metric.name, title=metric.title, rule=self.chosen, value=value, settings=dict(settings))


def in_words(rule: DecisionRule) -> str:
    """The name of a rule, and its settings that differ from the defaults.

    >>> from manylabel.decisions.per_label import PerLabelThreshold
    >>> in_words(PerLabelThreshold(20, fallback="argmax"))
    'per-label, shrinkage 20, fallback argmax'
    """
    from manylabel.decisions.table import RULES

    names = {path.partition(":")[2]: name for name, path in RULES.items()}
    usual = type(rule)().get_params(deep=False)
    changed = [(key, value) for key, value in rule.get_params(deep=False).items() if value != usual[key]]
    settings = [f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in changed]
    return ", ".join([names[type(rule).__name__], *settings])


def _decisions(
    listed: list[DecisionRule], scores: Floats, Y: Csr, kind: ScoreKind, train: Ints, test: Ints
) -> Iterator[tuple[DecisionRule, Bools]]:
    """Each candidate, without and with its fallback, and its decisions for the test documents."""
    tested = scores[test]
    from manylabel.decisions.threshold_search import ThresholdSearch

    search = ThresholdSearch(scores[train], Y, kind)
    n_sets = len({Y.indices[a:b].tobytes() for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)})
    for rule in listed:
        if rule.weighs_seen_sets and n_sets * len(scores) > MOST_SETS:
            continue
        fitted = unfitted_copy(rule)
        fitted.learn_from(search)
        yield rule, fitted.decide_dense(tested, kind)
        forced = with_fallback(rule)
        if forced is not None:
            yield forced, unfitted_copy(forced).restore(fitted.learned_state()).decide_dense(tested, kind)


def _keeping_micro_f1(decisions: dict[str, Csr], Y_true: Csr) -> dict[str, Csr]:
    """The decisions of those candidates whose micro F1 is close to the best one's."""
    reached = {name: _target("micro-f1").value(Y_true, decided) for name, decided in decisions.items()}
    lost = MOST_MICRO_F1_LOST_OF_FEW if Y_true.shape[0] < FEW_DOCUMENTS else MOST_MICRO_F1_LOST
    least = max(reached.values()) - lost
    return {name: decided for name, decided in decisions.items() if reached[name] >= least}


def _target(name: str) -> TargetMetric:
    """The metric of that name, imported here so that a stored rule can decide without importing metrics."""
    from manylabel.metrics.targets import find_target_metric

    return find_target_metric(name)


# ---- the candidates --------------------------------------------------------------------------------------------------


def candidates(metric: TargetMetric, kind: ScoreKind) -> list[DecisionRule]:
    """The unfitted rules to try for a metric on scores of a kind, simpler ones first.

    Each is listed without a fallback; `with_fallback` returns the variant that leaves no document without a label.

    >>> from manylabel.metrics.targets import find_target_metric
    >>> candidates(find_target_metric("recall@3"), ScoreKind.MARGIN)
    [TopK(k=3)]
    >>> candidates(find_target_metric("hamming-loss"), ScoreKind.MARGIN)[:2]
    [Natural(), GlobalThreshold(metric='hamming-loss')]
    """
    # Imported here, because a model that was read decides by the one rule that was chosen.
    from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
    from manylabel.decisions.calibrated import CalibratedThreshold
    from manylabel.decisions.micro_macro import MicroMacroThreshold
    from manylabel.decisions.natural import Natural
    from manylabel.decisions.per_label import PerLabelThreshold
    from manylabel.decisions.seen_sets import SeenSets
    from manylabel.decisions.threshold import GlobalThreshold
    from manylabel.decisions.top_k import TopK

    if metric.k is not None:
        return [TopK(metric.k)]
    listed: list[DecisionRule] = [Natural()]
    if metric.name in ("micro-f1", "sample-f1"):
        # The best set for F1 per document is often good for F1 over all documents.
        listed += [GlobalThreshold(), CalibratedThreshold(), PerLabelThreshold(20.0), PerLabelThreshold()]
        listed += [AccumulatedPosterior("learn", "micro-f1", log_tail=True), SeenSets("sample-f1", DEPENDENCE)]
    elif metric.name == "macro-f1":
        # Every label counts the same, so thresholds per label with little shrinkage pay off. Calibrated probabilities
        # are left out: out of fold, a label with few documents scores lower than it will with all of them, and a curve
        # through such scores overestimates its probabilities.
        listed += [GlobalThreshold(), MicroMacroThreshold()]
        listed += [PerLabelThreshold(shrinkage, floor) for shrinkage in (5.0, 1.0) for floor in (0.1, 0.0)]
    elif metric.name == "exact-match":
        listed += [GlobalThreshold("exact-match"), CalibratedThreshold("exact-match")]
        listed += [AccumulatedPosterior("learn", "exact-match", log_tail=True)]
        listed += [SeenSets("exact-match", 0.0), SeenSets("exact-match", DEPENDENCE)]
    else:
        listed += [GlobalThreshold("hamming-loss"), CalibratedThreshold("hamming-loss")]
        listed += [SeenSets("hamming-loss", DEPENDENCE)]
    return [rule for rule in listed if kind in rule.accepts]


def with_fallback(rule: DecisionRule) -> DecisionRule | None:
    """The rule with fallback "argmax", which predicts at least the best label; None if it takes no fallback."""
    if not rule.takes_fallback:
        return None
    return type(rule)(**{**rule.get_params(deep=False), "fallback": "argmax"})
