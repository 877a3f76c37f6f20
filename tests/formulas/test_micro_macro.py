"""A-7 for micro and macro F1 together: thresholds from frequent to rare labels, fold by fold (Lin & Lin 2023)."""

import math
from typing import Any

import numpy as np
import pytest

from manylabel.data.splits import iterative_stratification
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.micro_macro import MicroMacroThreshold
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.estimator import Csr
from manylabel.kernels.label_thresholds import thresholds_in_order
from manylabel.metrics.table import compute_metrics
from manylabel.models.score_kinds import ScoreKind

MARGIN, SIMILARITY = ScoreKind.MARGIN, ScoreKind.SIMILARITY


def test_a_rare_label_pays_for_the_micro_f1_that_it_costs() -> None:
    """The first label is right twice: micro F1 = F1 = 1 at .7.

    The second has one document, at rank 2. Predicted in all n documents it makes micro F1 2·3/(4 + n + 1) and adds
    2/(n + 1)/2; predicted nowhere, micro F1 is 2·2/(4 + 1) = .8. n = 4: 6/9 + 1/5 = .867; n = 5: 6/10 + 1/6 = .767.
    """
    for n, threshold in ((4, 0.1), (5, math.nan)):
        scores = np.array([[0.9, 0.3], [0.7, 0.1], *(n - 2) * [[0.2, 0.2]]])
        truth = np.array([[1, 0], [1, 1], *(n - 2) * [[0, 0]]])
        found = thresholds_in_order(scores, truth, np.array([0, 1]))
        np.testing.assert_array_equal(found, [0.7, threshold])


def test_the_order_matters() -> None:
    """Visited first, the same label is decided by its own F1 alone: 2/6 > 0."""
    scores = np.array([[0.9, 0.3], [0.7, 0.1], *3 * [[0.2, 0.2]]])
    truth = np.array([[1, 0], [1, 1], *3 * [[0, 0]]])
    assert thresholds_in_order(scores, truth, np.array([1, 0])).tolist() == [0.7, 0.1]


def test_the_threshold_is_the_mean_of_the_folds_and_labels_of_one_fold_stay_high() -> None:
    """Two folds with the same scores for the first label: (.9 + .7)/2 = .8 in both.

    The second label has one document, at .6, above .4. One fold has the threshold .5; the other, without the document,
    one just above its highest score .4.
    """
    scores = np.array([[0.9, 0.6], [0.7, 0.4], [0.9, 0.4], [0.7, 0.4]])
    rule = MicroMacroThreshold(folds=2).fit(scores, Csr([[1, 1], [0, 0], [1, 0], [0, 0]]), SIMILARITY)
    np.testing.assert_allclose(rule.thresholds_, [0.8, (0.5 + 0.4) / 2], rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_rule_equals_an_exhaustive_search_in_each_fold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, truth = rng.normal(size=(60, 6)), rng.random((60, 6)) < [0.5, 0.05, 0.3, 0.1, 0.2, 0.02]
    scores += truth
    Y = Csr(truth.astype(np.int8))
    rule = MicroMacroThreshold(folds=3).fit(scores, Y, MARGIN)
    tests = [test for _, test in iterative_stratification(Y, 3, seed=0)]
    found = [_exhaustive(scores[test], truth[test], np.argsort(-truth.sum(axis=0), kind="stable")) for test in tests]
    np.testing.assert_allclose(rule.thresholds_, np.mean(found, axis=0), rtol=1e-5)


def _exhaustive(scores: Any, truth: Any, order: Any) -> Any:
    """Try the middle of every gap, and a threshold above all scores, by computing both metrics of all labels so far."""
    thresholds = np.full(scores.shape[1], math.inf)
    for rank in range(1, len(order) + 1):
        visited, label = order[:rank], order[rank - 1]
        ordered = np.sort(scores[:, label])
        above = ordered[-1] + 1e-6 * abs(ordered[-1])
        values = {}
        for threshold in (above, *((ordered[1:] + ordered[:-1]) / 2)[::-1], ordered[0] - 1e-6 * abs(ordered[0])):
            thresholds[label] = threshold
            predicted = (scores >= thresholds)[:, visited]
            figures = compute_metrics(Csr(truth[:, visited]), Csr(predicted), ["micro-f1", "macro-f1"])
            values[threshold] = round(figures["micro-f1"] + figures["macro-f1"], 12)
        thresholds[label] = max(values, key=lambda threshold: values[threshold])  # the first, so the highest, of equals
    return thresholds


def test_impossible_labels_and_single_documents() -> None:
    """A label that is impossible everywhere has the threshold +∞; folds in which it is impossible do not count."""
    scores = np.array([[-math.inf, 0.5], [-math.inf, 0.2]])
    rule = MicroMacroThreshold().fit(scores, Csr([[1, 1], [0, 0]]), MARGIN)
    assert rule.thresholds_[0] == math.inf
    assert rule.decide(scores, MARGIN).toarray()[:, 0].tolist() == [0, 0]
    assert MicroMacroThreshold().fit(scores[:1], Csr([[0, 1]]), MARGIN).decide(scores[:1], MARGIN).nnz == 1


def test_rules_for_macro_f1_that_cost_much_micro_f1_are_not_chosen() -> None:
    """The second label's four documents score as if drawn at random: own thresholds predict it almost everywhere."""
    rng = np.random.default_rng(0)
    truth = np.zeros((200, 2), dtype=np.int8)
    truth[:60, 0] = truth[50:66, 1] = 1
    scores = rng.normal(size=truth.shape) + 3.0 * truth * [1, 0]
    rule, Y = BestRule("macro-f1").fit(scores, Csr(truth), MARGIN), Csr(truth)
    micro, greedy = (
        compute_metrics(Y, one.decide(scores, MARGIN), ["micro-f1"])["micro-f1"]
        for one in (rule, PerLabelThreshold(1.0, 0.0).fit(scores, Y, MARGIN))
    )
    assert micro > greedy + 0.04
    assert "per-label, shrinkage 1, floor 0" not in [row["rule"] for row in rule.tried_]
