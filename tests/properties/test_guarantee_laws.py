"""Laws of risk control: guarantees are kept on exchangeable documents, and the search agrees with trying everything."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manylabel.decisions.guarantee import Guarantee, bound_of, false_discovery_threshold, recall_threshold
from manylabel.estimator import Csr
from manylabel.models.score_kinds import ScoreKind

GRID = st.sampled_from([-math.inf, 0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
ALPHA = st.sampled_from([0.1, 0.2, 0.25, 0.4, 0.5, 0.75, 0.9])


@st.composite
def held_out(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Keys with many ties and impossible labels, and the truth; every document has a label."""
    shape = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    truth = draw(hnp.arrays(np.bool_, shape))
    truth[~truth.any(axis=1), 0] = True
    return draw(hnp.arrays(np.float64, shape, elements=GRID)), truth


def losses(keys: np.ndarray, truth: np.ndarray, threshold: float, metric: str) -> np.ndarray:
    given_ = (keys >= threshold) & (keys > -math.inf)
    right = (given_ & truth).sum(axis=1)
    if metric == "recall":
        return np.asarray(1 - right / truth.sum(axis=1))
    return np.asarray((given_.sum(axis=1) - right) / np.maximum(given_.sum(axis=1), 1))


@given(held_out(), ALPHA)
def test_the_recall_threshold_equals_trying_everything(case: Any, alpha: float) -> None:
    keys, truth = case
    found = recall_threshold(keys, truth, alpha)
    tried = sorted({float(key) for key in keys[keys > -math.inf]}, reverse=True)
    fine = [
        threshold
        for threshold in tried
        if bound_of(losses(keys, truth, threshold, "recall").mean(), len(keys)) <= alpha + 1e-9
    ]
    assert (found.bound <= alpha + 1e-9) == bool(fine)
    if fine:
        np.testing.assert_array_equal(keys >= found.threshold, keys >= fine[0])
        assert found.risk == pytest.approx(losses(keys, truth, fine[0], "recall").mean())


@given(held_out(), ALPHA)
def test_the_false_discovery_threshold_equals_trying_everything(case: Any, alpha: float) -> None:
    keys, truth = case
    found = false_discovery_threshold(keys, truth, alpha)
    tried = sorted({float(key) for key in keys[keys > -math.inf]}, reverse=True)
    worst, fine = np.zeros(len(keys)), []
    for threshold in tried:
        worst = np.maximum(worst, losses(keys, truth, threshold, "fdr"))
        if bound_of(worst.mean(), len(keys)) <= alpha + 1e-9:
            fine.append((threshold, worst.mean()))
    if not fine:
        assert found.threshold == math.inf
        return
    np.testing.assert_array_equal((keys >= found.threshold), keys >= fine[-1][0])
    assert found.risk == pytest.approx(fine[-1][1])


@given(held_out(), ALPHA, ALPHA)
def test_a_stronger_guarantee_is_never_cheaper(case: Any, one: float, other: float) -> None:
    """More recall never comes with a higher threshold, fewer false discoveries never with a lower one."""
    keys, truth = case
    strict, lenient = sorted((one, other))
    assert recall_threshold(keys, truth, strict).threshold <= recall_threshold(keys, truth, lenient).threshold
    assert (
        false_discovery_threshold(keys, truth, strict).threshold
        >= false_discovery_threshold(keys, truth, lenient).threshold
    )


def draw_documents(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of uneven frequency and noisy scores of them; some documents have no label."""
    truth = random.random((n, 5)) < np.array([0.5, 0.3, 0.2, 0.1, 0.05])
    return random.normal(size=truth.shape) + 1.5 * truth, truth.astype(np.int8)


@pytest.mark.parametrize(
    ("metric", "level", "fallback"),
    [("recall", 0.9, "none"), ("recall", 0.7, "none"), ("recall", 0.9, "argmax"), ("fdr", 0.3, "none")],
)
def test_guarantees_hold_on_average(metric: Any, level: float, fallback: Any) -> None:
    """Over 300 draws of 50 held-out and 100 new documents; three standard errors are allowed for chance.

    The recall is not overdone either: the excess is at most 2/(n + 1) where all keys differ (theorem 2 of the source).
    """
    random = np.random.default_rng(7)
    scores, truth = draw_documents(random, 400)
    kind = ScoreKind.MARGIN
    found: list[Any] = []
    used: list[Any] = []
    for _ in range(300):
        rule = Guarantee(metric, level, fallback=fallback)
        if not found:
            calibration = rule.prepare(scores, Csr(truth), kind).calibration_
        rule.calibration_ = calibration
        held, new = draw_documents(random, 50), draw_documents(random, 100)
        rule.fit(held[0], Csr(held[1]), kind)
        used.append(rule.guarantee().documents)
        sets, true = rule.decide_dense(new[0], kind), new[1] > 0
        right = (sets & true).sum(axis=1)
        labelled = true.any(axis=1)
        if metric == "recall":
            found.append((right[labelled] / true[labelled].sum(axis=1)).mean())
        else:
            found.append(((sets.sum(axis=1) - right) / np.maximum(sets.sum(axis=1), 1)).mean())
    chance = 3 * np.std(found) / math.sqrt(len(found))
    if metric == "fdr":
        assert np.mean(found) <= level + chance
    else:
        assert np.mean(found) >= level - chance
        if fallback == "none":
            assert np.mean(found) <= level + 2 / (np.mean(used) + 1) + chance
