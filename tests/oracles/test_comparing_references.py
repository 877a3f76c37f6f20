"""Intervals and tests against literal loops, SciPy and statsmodels."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from manylabel.evaluation import bootstrap, paired_tests
from manylabel.evaluation.bootstrap import (
    document_statistics,
    interval,
    paired_difference,
    resampled_values,
    resampled_weights,
)
from manylabel.evaluation.paired_tests import holm, mcnemar, permutation_test, sign_test
from manylabel.evaluation.rank_tests import critical_difference, friedman, wilcoxon
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import TARGET_METRICS, find_target_metric

NAMES = [*TARGET_METRICS, "recall@2"]


def answers(seed: int, n: int = 40, labels: int = 6) -> tuple[np.ndarray, ...]:
    """Truth with rare labels and unlabelled documents, two systems' label sets and scores with ties."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, labels)) < np.linspace(0.02, 0.5, labels)).astype(int)
    given = [np.where(rng.random((n, labels)) < rate, 1 - truth, truth) for rate in (0.1, 0.2)]
    scores = [np.round(one + rng.random((n, labels)), 1) for one in given]
    return truth, *given, *scores


def both(seed: int, n: int = 40) -> tuple[DocumentStatistics, DocumentStatistics]:
    truth, one, two, scores_one, scores_two = answers(seed, n)
    return document_statistics(truth, one, scores_one), document_statistics(truth, two, scores_two)


@pytest.mark.parametrize("name", NAMES)
def test_bootstrap_equals_measuring_each_resample_anew(name: str) -> None:
    metric = find_target_metric(name)
    truth, one, two, scores_one, scores_two = answers(3)
    weights = np.concatenate(list(resampled_weights(40, 5, 50, 40))).astype(int)
    literal = []
    for times in weights:
        rows = np.repeat(np.arange(40), times)
        literal.append(
            [metric.value(truth[rows], given[rows], s[rows]) for given, s in ((one, scores_one), (two, scores_two))]
        )
    first, second = np.array(literal).T
    a, b = both(3)
    found = interval(a, metric, 5, 50, 0.9)
    assert found.value == pytest.approx(metric.value(truth, one, scores_one), abs=1e-12)
    np.testing.assert_allclose([found.low, found.high], np.quantile(first, [0.05, 0.95]), atol=1e-12)
    difference = paired_difference(a, b, name, 5, 50, 0.9)
    np.testing.assert_allclose([difference.low, difference.high], np.quantile(first - second, [0.05, 0.95]), atol=1e-12)
    gains = np.array([metric.gain(x) - metric.gain(y) for x, y in literal])
    assert difference.better == pytest.approx(np.mean((gains > 1e-12) + 0.5 * (abs(gains) <= 1e-12)))


def test_weights_are_multinomial() -> None:
    weights = np.concatenate(list(resampled_weights(5, 0, 20_000, 5)))
    assert (weights.sum(axis=1) == 5).all()
    np.testing.assert_allclose(np.cov(weights.T), 5 * (np.eye(5) / 5 - 1 / 25), atol=0.03)


def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = both(4)
    whole = resampled_values([a, b], "macro-f1", 2, 30), permutation_test(a, b, "macro-f1", 2, 100)
    monkeypatch.setattr(bootstrap, "CELLS_A_BLOCK", 7 * 40)
    monkeypatch.setattr(paired_tests, "CELLS_A_BLOCK", 7 * 40)
    np.testing.assert_array_equal(whole[0], resampled_values([a, b], "macro-f1", 2, 30))
    assert whole[1] == permutation_test(a, b, "macro-f1", 2, 100)


def enumerated(name: str, seed: int, n: int) -> tuple[float, float]:
    """The difference and p of all 2ⁿ swaps, each measured anew."""
    metric = find_target_metric(name)
    truth, one, two, scores_one, scores_two = answers(seed, n)
    found = []
    for swap in product([False, True], repeat=n):
        rows = np.array(swap)[:, np.newaxis]
        first = metric.value(truth, np.where(rows, two, one), np.where(rows, scores_two, scores_one))
        second = metric.value(truth, np.where(rows, one, two), np.where(rows, scores_one, scores_two))
        found.append(first - second)
    return found[0], float(np.mean(np.abs(found) >= abs(found[0]) - 1e-12))


@pytest.mark.parametrize("name", NAMES)
def test_permutation_equals_full_enumeration(name: str) -> None:
    difference, p = enumerated(name, 8, 6)
    found = permutation_test(*both(8, 6), name, permutations=64)
    assert found.exact
    assert found.difference == pytest.approx(difference, abs=1e-12)
    assert found.p == pytest.approx(p)


@pytest.mark.parametrize("name", ["micro-f1", "macro-f1", "sample-f1"])
def test_random_swaps_come_near_all_swaps(name: str) -> None:
    a, b = both(20, 14)
    everything = permutation_test(a, b, name, permutations=2**14)
    drawn = permutation_test(a, b, name, seed=4, permutations=500)
    assert (everything.exact, drawn.exact) == (True, False)
    p = everything.p
    assert 0.01 < p < 0.99
    assert drawn.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 500) + 1 / 500)


@pytest.mark.parametrize(("wins", "losses"), [(0, 1), (3, 9), (9, 3), (50, 80), (700, 640), (5, 5)])
def test_exact_p_is_that_of_binomtest(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue
    assert mcnemar(wins, losses).p == pytest.approx(expected)
    assert sign_test([1] * wins + [0] * losses, [0] * wins + [1] * losses).p == pytest.approx(expected)


@pytest.mark.parametrize(("b", "c"), [(0, 1), (3, 9), (9, 3), (50, 80), (700, 640)])
def test_mcnemar_agrees_with_statsmodels(b: int, c: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    found = mcnemar(b, c)
    assert found.p == pytest.approx(tables.mcnemar([[5, b], [c, 7]], exact=True).pvalue)
    corrected = tables.mcnemar([[5, b], [c, 7]], exact=False, correction=True)
    assert (found.chi2, found.chi2_p) == pytest.approx((corrected.statistic, corrected.pvalue))


def test_holm_agrees_with_statsmodels() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(0).random(25) ** 3
    np.testing.assert_allclose(holm(p), multitest.multipletests(p, method="holm")[1])


@pytest.mark.parametrize("ties", [False, True])
def test_friedman_agrees_with_scipy(ties: bool) -> None:
    table = np.random.default_rng(1).random((9, 4))
    if ties:
        table = np.round(3 * table)
    found, expected = friedman(table), stats.friedmanchisquare(*table.T)
    assert (found.chi2, found.chi2_p) == pytest.approx((expected.statistic, expected.pvalue))
    f = 8 * expected.statistic / (9 * 3 - expected.statistic)
    assert (found.f, found.p) == pytest.approx((f, stats.f.sf(f, 3, 24)))


def test_wilcoxon_agrees_with_scipy() -> None:
    rng = np.random.default_rng(2)
    few, many = rng.random((2, 9)), np.round(5 * rng.random((2, 90)))
    for (one, two), method in ((few, "exact"), (many, "approx")):
        expected = stats.wilcoxon(one, two, method=method)
        found = wilcoxon(one, two)
        assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_wilcoxon_with_ties_counts_all_signs() -> None:
    """Average ranks: |−2|, |1|, |1|, |3|, |1|, |2| have the ranks 4.5, 2, 2, 6, 2, 4.5."""
    ranks = np.array([4.5, 2, 2, 6, 2, 4.5])
    sums = [float(ranks[list(signs)].sum()) for signs in product([False, True], repeat=6)]
    found = wilcoxon([-2, 1, 1, 3, 1, 2, 7], [0, 0, 0, 0, 0, 0, 7])
    assert (found.statistic, found.n_sets) == (4.5, 6)
    assert found.p == pytest.approx(2 * np.mean(np.array(sums) <= 4.5))


def test_nemenyi_agrees_with_the_studentised_range() -> None:
    q = stats.studentized_range.ppf(0.9, 5, np.inf)
    assert critical_difference(5, 12, 0.1) == pytest.approx(q / np.sqrt(2) * np.sqrt(5 * 6 / (6 * 12)))
