"""Power laws and label trends with numbers one can follow."""

import itertools

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.evaluation.learning_trends import fit_power_laws, label_trends
from manylabel.evaluation.statistics import document_statistics
from manylabel.exceptions import DataError
from manylabel.tasks.learning_curve import nested_subsets, step_sizes

SIZES = np.array([100, 200, 400, 800, 1600])


@pytest.mark.parametrize(("a", "b", "c"), [(0.9, 2.0, 0.5), (0.7, 1.0, 0.3), (0.95, 20.0, 1.0)])
def test_a_power_law_is_found_again(a: float, b: float, c: float) -> None:
    laws = fit_power_laws(SIZES, a - b * SIZES**-c)
    # the rates lie on a grid, so the rate is met nearly and values exactly enough
    assert laws.c[0] == pytest.approx(c, rel=0.03)
    assert laws.at(3200)[0] == pytest.approx(a - b * 3200**-c, abs=0.002)


def test_a_level_curve_predicts_no_gain() -> None:
    laws = fit_power_laws(SIZES, [0.6] * 5)
    assert laws.at(10**6)[0] == pytest.approx(0.6)


def test_a_falling_curve_does_not_predict_a_fall() -> None:
    """With b ≥ 0 the best is a level line, the mean weighed 1 to 5: (.6 + 2·.5 + 3·.5 + 4·.5 + 5·.5) / 15."""
    laws = fit_power_laws(SIZES, [0.6, 0.5, 0.5, 0.5, 0.5])
    assert laws.b[0] == 0
    assert laws.a[0] == pytest.approx(7.6 / 15)


def test_no_curve_exceeds_the_best_value() -> None:
    """0.1 · log₂ n would reach 1 at 1024 and go on."""
    laws = fit_power_laws([2, 4, 8, 16], [0.1, 0.2, 0.3, 0.4])
    assert laws.a[0] <= 1
    assert 0.4 < laws.at(32)[0] < 0.5
    losses = fit_power_laws(SIZES, -0.5 * SIZES**-0.5, best=0.0)  # a loss, its sign turned
    assert losses.at(6400)[0] == pytest.approx(-0.5 / 80, abs=5e-4)


def test_two_sizes_are_too_few() -> None:
    with pytest.raises(DataError, match="three sizes or more"):
        fit_power_laws([1, 2], [0.1, 0.2])


def test_trends_of_four_labels() -> None:
    """Label 0 is found on 10, 20, 40 of 40 documents, 1 always, 2 has 3 test documents, 3 has none.

    F1 of label 0 is 2·10/50, 2·20/60, 1; its slope over sizes 100, 200, 400, on log₂ n, is (1 − 0.4) / 2.
    """
    truth = np.zeros((60, 4), dtype=int)
    truth[:40, 0] = truth[20:60, 1] = truth[:3, 2] = 1
    runs = []
    for found in (10, 20, 40):
        given = truth.copy()
        given[found:, 0] = 0
        runs.append([document_statistics(truth, given)] * 2)
    rising, level, rare = label_trends([100, 200, 400], runs, seed=0)
    assert [trend.verdict for trend in (rising, level, rare)] == ["rising", "level", "rare"]
    assert rising.f1 == pytest.approx([0.4, 2 / 3, 1.0])
    assert rising.slope == pytest.approx(0.3)
    assert rising.low < 0.3 < rising.high
    assert (level.slope, level.low, level.high) == pytest.approx((0, 0, 0))
    assert (rare.tested, rare.low != rare.low) == (3, True)


def test_a_rise_that_other_documents_would_undo_is_left_open() -> None:
    """Of 13 documents the first step finds the first 6, the last step the other 7."""
    truth = np.zeros((40, 1), dtype=int)
    truth[:13] = 1
    runs = []
    for found in (slice(0, 6), slice(3, 9), slice(6, 13)):
        given = np.zeros_like(truth)
        given[found] = 1
        runs.append([document_statistics(truth, given)])
    trend = label_trends([100, 200, 400], runs, seed=0)[0]
    assert trend.slope == pytest.approx((14 / 20 - 12 / 19) / 2)
    assert trend.verdict == "open"


def test_sizes_at_most_double() -> None:
    assert step_sizes(9603, 6) == [300, 600, 1200, 2401, 4802, 9603]
    assert step_sizes(120, 3) == [50, 77, 120]
    assert step_sizes(40, 3)[0] == 20
    with pytest.raises(DataError, match="needs at least 24 training documents"):
        step_sizes(20, 6)


def test_subsets_are_nested_seeded_and_stratified() -> None:
    Y = Csr((np.random.default_rng(1).random((400, 6)) < [0.5, 0.3, 0.2, 0.1, 0.05, 0.05]).astype(np.int8))
    sizes = [50, 100, 200, 400]
    subsets = nested_subsets(Y, sizes, 0, 0)
    for small, large in itertools.pairwise(subsets):
        assert set(small.tolist()) < set(large.tolist())
    assert [rows.size for rows in subsets] == sizes
    shares = np.asarray(Y[subsets[0]].sum(axis=0)).ravel() / np.asarray(Y.sum(axis=0)).ravel()
    np.testing.assert_allclose(shares, 1 / 8, atol=0.06)
    assert np.array_equal(subsets[0], nested_subsets(Y, sizes, 0, 0)[0])
    assert not np.array_equal(subsets[0], nested_subsets(Y, sizes, 0, 1)[0])
