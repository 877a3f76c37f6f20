"""Laws of the decision rules that hold for all scores, and exact search against trying everything."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manylabel.decisions.accumulated_posterior import AccumulatedPosterior, log_tails
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.micro_macro import MicroMacroThreshold
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.proportional import Proportional
from manylabel.decisions.seen_sets import SeenSets
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.models.label_thresholds import clear_of_scores
from manylabel.models.score_kinds import ScoreKind

POSTERIOR, LOG_ODDS, SIMILARITY = ScoreKind.POSTERIOR, ScoreKind.LOG_ODDS, ScoreKind.SIMILARITY
METRICS = ("micro-f1", "exact-match", "break-even")
GRID = st.sampled_from([-math.inf, -3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.5, 30.0])


@st.composite
def scored(draw: st.DrawFn, posterior: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Scores with many ties, and the truth; rows of posteriors sum to 1."""
    shape = draw(st.integers(1, 6)), draw(st.integers(1 if not posterior else 2, 4))
    truth = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1)))
    if not posterior:
        return draw(hnp.arrays(np.float64, shape, elements=GRID)), truth
    weights = draw(hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, 10.0, 1e-20])))
    total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total == 0, 1, total), truth


def _value(decided: np.ndarray, truth: np.ndarray, metric: str) -> float:
    if metric == "exact-match":
        return float(np.mean((decided == truth).all(axis=1)))
    tp, given_, true = int((decided & truth).sum()), int(decided.sum()), int(truth.sum())
    if metric == "micro-f1":
        return 2 * tp / max(given_ + true, 1)
    return -abs(tp / given_ - tp / true) if tp else -math.inf


@pytest.mark.parametrize("metric", METRICS)
@given(scored())
def test_global_search_equals_trying_everything(metric: Any, case: Any) -> None:
    """The best value over all attained scores and one above them, below the smallest score that attains it."""
    scores, truth = case
    possible = scores > -math.inf
    if not possible.any() or (metric != "exact-match" and not truth[possible].any()):
        return
    rule = GlobalThreshold(metric).fit(scores, Csr(truth), SIMILARITY)
    attained = np.unique(scores[possible])
    beyond = [float(np.nextafter(attained[-1], math.inf))] if metric == "exact-match" else []
    values = {at: _value((scores >= at) & possible, truth == 1, metric) for at in [*attained, *beyond]}
    best = max(values.values())
    lowest = min(at for at, value in values.items() if value >= best - 1e-12)
    np.testing.assert_array_equal(attained >= rule.threshold_, attained >= lowest)
    assert rule.threshold_ not in attained
    assert _value(rule.decide(scores, SIMILARITY).toarray() == 1, truth == 1, metric) == pytest.approx(best)


@pytest.mark.parametrize("log_tail", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@given(scored(posterior=True))
def test_accumulated_search_equals_trying_everything(metric: Any, log_tail: bool, case: Any) -> None:
    scores, truth = case
    rule = AccumulatedPosterior("learn", metric, log_tail=log_tail).fit(scores, Csr(truth), POSTERIOR)
    found = rule.decide(scores, POSTERIOR).toarray()
    candidates = [0.0, *_attained(scores, log_tail)]
    values = [
        _value(
            AccumulatedPosterior(tau, log_tail=log_tail).decide(scores, POSTERIOR).toarray() == 1, truth == 1, metric
        )
        for tau in candidates
    ]
    assert _value(found == 1, truth == 1, metric) == pytest.approx(max(values))


def _attained(scores: np.ndarray, log_tail: bool) -> list[float]:
    ordered = -np.sort(-scores, axis=1)
    if not log_tail:
        sums = np.unique(np.cumsum(ordered, axis=1))
        return [float(tau) for tau in sums if tau < 1] + [math.nextafter(1.0, 0.0)]
    return [float(tail) for tail in np.unique(log_tails(ordered)) if tail <= 0]  # −∞ gives every label


@given(scored(), st.floats(0, 1), st.floats(0, 1))
def test_raising_a_threshold_never_adds_a_label(case: Any, first: float, second: float) -> None:
    scores, _ = case
    low, high = sorted((first, second))
    more = Threshold(low).decide(scores, LOG_ODDS).toarray()
    fewer = Threshold(high).decide(scores, LOG_ODDS).toarray()
    assert (fewer <= more).all()


@given(scored(posterior=True), st.floats(0, 1), st.floats(0, 1))
def test_raising_tau_never_removes_a_label(case: Any, first: float, second: float) -> None:
    """A-5: |S| is non-decreasing in τ, and never empty where any label is possible."""
    scores, _ = case
    low, high = sorted((first, second))
    fewer = AccumulatedPosterior(low).decide(scores, POSTERIOR).toarray()
    more = AccumulatedPosterior(high).decide(scores, POSTERIOR).toarray()
    assert (fewer <= more).all()
    np.testing.assert_array_equal(fewer.any(axis=1), scores.any(axis=1))


RULES = [
    Threshold(0.0),
    GlobalThreshold(),
    GlobalThreshold("exact-match"),
    PerLabelThreshold(),
    PerLabelThreshold(shrinkage=0, floor=0.5),
    MicroMacroThreshold(folds=2),
    TopK(2),
    Proportional(),
    Proportional(share=3, threshold="batch"),
    SeenSets(),
    SeenSets("exact-match", dependence=0),
    SeenSets("hamming-loss", curve="isotonic"),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@given(scored())
@settings(max_examples=30)
def test_impossible_labels_are_never_predicted_and_fallback_fills_the_rest(rule: Any, case: Any) -> None:
    scores, truth = case
    plain = rule.fit(scores, Csr(truth), LOG_ODDS).decide(scores, LOG_ODDS).toarray()
    assert not plain[np.isneginf(scores)].any()
    filled = type(rule)(**{**rule.get_params(), "fallback": "argmax"}).fit(scores, Csr(truth), LOG_ODDS)
    decided = filled.decide(scores, LOG_ODDS).toarray()
    some = (scores > -math.inf).any(axis=1)
    assert decided[some].any(axis=1).all()
    np.testing.assert_array_equal(decided[plain.any(axis=1)], plain[plain.any(axis=1)])


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if not (isinstance(rule, Proportional) and rule.threshold == "batch")], ids=repr
)
@given(scored())
@settings(max_examples=20)
def test_documents_are_decided_one_at_a_time(rule: Any, case: Any) -> None:
    scores, truth = case
    together = rule.fit(scores, Csr(truth), LOG_ODDS).decide(scores, LOG_ODDS).toarray()
    alone = [rule.decide(row[np.newaxis], LOG_ODDS).toarray()[0] for row in scores]
    np.testing.assert_array_equal(together, alone)


THRESHOLD_RULES = [
    *(GlobalThreshold(metric) for metric in (*METRICS, "hamming-loss")),
    PerLabelThreshold(),
    PerLabelThreshold(shrinkage=0, floor=0.5),
    PerLabelThreshold(shrinkage=1, floor=0),
    MicroMacroThreshold(folds=2),
    *(CalibratedThreshold(metric) for metric in (*METRICS, "hamming-loss")),
    Proportional(),
    Proportional(share=3),
]


def nudged(scores: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The scores, each moved by up to 4 units in the last place."""
    moved = np.where(np.isfinite(scores), scores, 0.0)
    for step in range(4):
        moved = np.where(steps > step, np.nextafter(moved, math.inf), moved)
        moved = np.where(steps < -step, np.nextafter(moved, -math.inf), moved)
    return np.where(np.isfinite(scores), moved, scores)


@pytest.mark.parametrize("rule", THRESHOLD_RULES, ids=repr)
@given(scored(), st.data())
@settings(max_examples=40)
def test_the_last_bits_of_a_score_decide_nothing(rule: Any, case: Any, data: Any) -> None:
    """Thresholds lie between the scores they were learned from, so other last bits give the same label sets."""
    scores, truth = case
    assume(truth[scores > -math.inf].any())  # else nothing is learned: the natural threshold may be a score
    rule.fit(scores, Csr(truth), LOG_ODDS)
    steps = data.draw(hnp.arrays(np.int8, scores.shape, elements=st.integers(-4, 4)))
    np.testing.assert_array_equal(
        rule.decide(nudged(scores, steps), LOG_ODDS).toarray(), rule.decide(scores, LOG_ODDS).toarray()
    )


@pytest.mark.parametrize("log_tail", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@given(st.data())
@settings(max_examples=40)
def test_the_last_bits_of_a_posterior_decide_nothing(metric: Any, log_tail: bool, data: Any) -> None:
    """The order of the labels must be clear: a tie between two posteriors is decided by their last bits."""
    orders = data.draw(st.lists(st.permutations([0.0625, 0.125, 0.25, 0.5625]), min_size=1, max_size=5))
    posteriors = np.array(orders)
    truth = data.draw(hnp.arrays(np.int8, posteriors.shape, elements=st.integers(0, 1)))
    rule = AccumulatedPosterior("learn", metric, log_tail=log_tail).fit(posteriors, Csr(truth), POSTERIOR)
    steps = data.draw(hnp.arrays(np.int8, posteriors.shape, elements=st.integers(-4, 4)))
    np.testing.assert_array_equal(
        rule.decide(nudged(posteriors, steps), POSTERIOR).toarray(), rule.decide(posteriors, POSTERIOR).toarray()
    )


@given(scored(), st.data(), st.sampled_from([0.5, 0.25, 0.001]))
def test_thresholds_kept_clear_of_scores_decide_the_same(case: Any, data: Any, share: float) -> None:
    scores, _ = case
    thresholds = data.draw(hnp.arrays(np.float64, scores.shape[1], elements=GRID))
    moved = clear_of_scores(scores, thresholds, share)
    finite = np.isfinite(scores)
    np.testing.assert_array_equal((scores >= moved)[finite], (scores >= thresholds)[finite])
    assert not (scores == moved)[finite].any()
