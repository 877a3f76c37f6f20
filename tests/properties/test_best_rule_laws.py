"""Laws of the rule chosen for a metric and of thresholds on calibrated probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.estimator import Csr
from manylabel.metrics.targets import TARGET_METRICS, find_target_metric
from manylabel.models.score_kinds import ScoreKind


def made_up(seed: int, documents: int, labels: int) -> tuple[np.ndarray, Csr]:
    """Margins that tell something of the labels, on scales of their own."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(size=(documents, labels)) < rng.uniform(0.1, 0.6, labels)
    scores = (truth - 0.5 + rng.normal(0, 0.6, truth.shape)) * rng.uniform(0.2, 3.0, labels) + rng.normal(0, 1, labels)
    return scores, Csr(truth.astype(np.int8))


PROBLEMS = st.builds(made_up, st.integers(0, 10**6), st.integers(12, 40), st.integers(1, 5))


@settings(max_examples=25, deadline=None)
@given(PROBLEMS, st.sampled_from(sorted(TARGET_METRICS)))
def test_the_chosen_rule_decides_and_none_did_better_by_more_than_the_tolerance(
    problem: tuple[np.ndarray, Csr], metric: str
) -> None:
    scores, Y = problem
    rule = BestRule(metric, tolerance=0.01).fit(scores, Y, ScoreKind.MARGIN)
    np.testing.assert_array_equal(
        rule.decide_dense(scores, ScoreKind.MARGIN), rule.rule_.decide_dense(scores, ScoreKind.MARGIN)
    )
    gains = [find_target_metric(metric).gain(row["value"]) for row in rule.tried_]
    assert gains == sorted(gains, reverse=True)
    [chosen] = [find_target_metric(metric).gain(row["value"]) for row in rule.tried_ if row["rule"] == rule.chosen]
    assert gains[0] - 0.01 <= chosen <= rule.gain == gains[0]


@settings(max_examples=25, deadline=None)
@given(PROBLEMS, st.randoms(use_true_random=False))
def test_permuting_labels_permutes_calibrated_thresholds(problem: tuple[np.ndarray, Csr], random: object) -> None:
    scores, Y = problem
    order = np.arange(scores.shape[1])
    random.shuffle(order)  # type: ignore[attr-defined]
    thresholds = CalibratedThreshold().fit(scores, Y, ScoreKind.MARGIN).thresholds_
    turned = CalibratedThreshold().fit(scores[:, order], Csr(Y[:, order]), ScoreKind.MARGIN).thresholds_
    np.testing.assert_allclose(turned, thresholds[order], rtol=1e-7, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(PROBLEMS, st.floats(0.1, 10), st.floats(-5, 5))
def test_calibrated_decisions_do_not_depend_on_the_units_of_the_scores(
    problem: tuple[np.ndarray, Csr], scale: float, shift: float
) -> None:
    """Stretching and shifting the scores moves the curves with them, so that the same labels are given."""
    scores, Y = problem
    as_given = CalibratedThreshold().fit(scores, Y, ScoreKind.MARGIN).decide_dense(scores, ScoreKind.MARGIN)
    other = scale * scores + shift
    moved = CalibratedThreshold().fit(other, Y, ScoreKind.MARGIN).decide_dense(other, ScoreKind.MARGIN)
    np.testing.assert_array_equal(moved, as_given)


@pytest.mark.parametrize("metric", sorted(TARGET_METRICS))
def test_the_same_scores_give_the_same_choice(metric: str) -> None:
    scores, Y = made_up(3, 60, 4)
    first, second = (BestRule(metric).fit(scores, Y, ScoreKind.MARGIN) for _ in range(2))
    assert first.tried_ == second.tried_
