"""Laws of intervals and tests of comparison."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from manylabel.evaluation.bootstrap import document_statistics, interval, paired_difference
from manylabel.evaluation.paired_tests import holm, mcnemar_labels, permutation_test, sign_test_labels
from manylabel.evaluation.rank_tests import friedman, undivided_groups
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import TARGET_METRICS, find_target_metric

NAMES = [*TARGET_METRICS, "recall@1", "recall@3"]


@st.composite
def answers(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Truth, two systems' label sets, and scores; with unlabelled documents and absent labels among them."""
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    sets = [draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1))) for _ in range(3)]
    return *sets, draw(hnp.arrays(np.float64, shape, elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0])))  # type: ignore[return-value]


@given(answers(), st.sampled_from(NAMES))
def test_the_value_is_that_of_the_metric(drawn: tuple[np.ndarray, ...], name: str) -> None:
    truth, one, _, scores = drawn
    expected = find_target_metric(name).value(truth, one, scores)
    for form in (np.asarray, sparse.csr_array, sparse.csc_array):
        found = document_statistics(form(truth), form(one), scores).value(name)
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(answers(), st.integers(0, 7), st.sampled_from(NAMES))
def test_batches_put_together_are_the_whole(drawn: tuple[np.ndarray, ...], cut: int, name: str) -> None:
    truth, one, _, scores = drawn
    rows = [rows for rows in (np.arange(len(truth))[:cut], np.arange(len(truth))[cut:]) if len(rows)]
    parts = [document_statistics(truth[part], one[part], scores[part]) for part in rows]
    whole = interval(document_statistics(truth, one, scores), name, 1, 20)
    joined = interval(DocumentStatistics.concatenate(parts), name, 1, 20)
    assert (joined.value, joined.low, joined.high) == pytest.approx((whole.value, whole.low, whole.high), nan_ok=True)


@given(answers(), st.sampled_from(list(TARGET_METRICS)))
def test_exchanging_the_systems_turns_the_sign(drawn: tuple[np.ndarray, ...], name: str) -> None:
    a, b = (document_statistics(drawn[0], one) for one in drawn[1:3])
    there, back = paired_difference(a, b, name, 3, 30), paired_difference(b, a, name, 3, 30)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low), abs=1e-12)
    assert there.better + back.better == pytest.approx(1)
    forth, again = permutation_test(a, b, name, 3, 40), permutation_test(b, a, name, 3, 40)
    assert (forth.p, forth.difference) == pytest.approx((again.p, -again.difference), abs=1e-12)
    assert 0 < forth.p <= 1
    one, two = sign_test_labels(a, b), sign_test_labels(b, a)
    assert (one.wins, one.losses, one.p) == (two.losses, two.wins, two.p)


@given(answers(), st.sampled_from(list(TARGET_METRICS)))
def test_a_system_does_not_differ_from_itself(drawn: tuple[np.ndarray, ...], name: str) -> None:
    a = document_statistics(drawn[0], drawn[1])
    assert permutation_test(a, a, name).p == 1
    assert not paired_difference(a, a, name, 0, 10).shown
    assert all(label.p == label.chi2_p == 1 for label in mcnemar_labels(a, a))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_correction_never_lowers_p_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.array(p) - 1e-15).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 5)), elements=st.integers(0, 4)))
def test_ranks_depend_on_order_alone(table: np.ndarray) -> None:
    found, curved, turned = friedman(table), friedman(np.exp(table)), friedman(-table, greater_is_better=False)
    assert found == curved == turned
    assert 0 < found.p <= 1
    assert sum(found.average_ranks) == pytest.approx(table.shape[1] * (table.shape[1] + 1) / 2)


@given(st.lists(st.floats(1, 9), min_size=1, max_size=7), st.floats(0.1, 9))
def test_groups_hold_all_pairs_that_are_near_and_no_other(average: list[float], difference: float) -> None:
    groups = undivided_groups(average, difference)
    together = {(i, j) for group in groups for i in group for j in group if i != j}
    near = {
        (i, j)
        for i, one in enumerate(average)
        for j, two in enumerate(average)
        if i != j and abs(one - two) < difference
    }
    assert together == near
    assert not any(set(one) < set(two) for one in groups for two in groups)
