"""Steps of PMM1 and PMM2 (Ueda & Saito 2002): worked numbers, the literal formulas, twins, edges."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.exceptions import DataError
from manylabel.kernels import mixture_reference as reference
from manylabel.kernels import mixtures as driver
from manylabel.kernels.mixtures import Mixture, group_documents, label_pairs, objective, start, step

compiled = pytest.importorskip("manylabel.kernels.mixture", reason="The kernels are not compiled.")
BOTH = pytest.mark.parametrize("kernel", [compiled, reference], ids=["compiled", "plain"])

X = np.array([[3, 1], [1, 3], [2, 2]])
Y = np.array([[1, 0], [0, 1], [1, 1]])
GIVEN = np.array([0.6, 0.3, 0.4, 0.7])  # θ by term: word 1 under both labels, word 2 under both labels


@BOTH
def test_one_step_of_pmm1(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-2: the step from θ = [[.6,.4],[.3,.7]] with ξ = 2, J before and after, and the limit [[2/3,1/3],[1/3,2/3]]."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    grouped = group_documents(X, Y)
    mixture, before = step(grouped, Mixture(GIVEN, np.zeros(2)), xi=2.0)
    assert mixture.theta == pytest.approx([0.661654, 0.335878, 0.338346, 0.664122], abs=1e-6)
    assert before == pytest.approx(-10.50321874)
    assert objective(grouped, mixture, xi=2.0) == pytest.approx(-10.41119563)
    for _ in range(100):
        mixture, value = step(grouped, mixture, xi=2.0)
    assert mixture.theta == pytest.approx([2 / 3, 1 / 3, 1 / 3, 2 / 3], abs=1e-6)
    assert value == pytest.approx(-10.41075874)


@BOTH
def test_one_step_of_pmm2(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-3, C-4: α_12 = .7 gives the third document (.48,.52); the step for θ and α, J before and after."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    grouped = group_documents(X, Y)
    pairs = label_pairs(grouped)
    mixture = Mixture(GIVEN, np.zeros(2), np.array([0.7]))
    weights = driver._weights(grouped, mixture, pairs)
    assert weights == pytest.approx([0.6, 0.4])  # (1 + 2 α_12) / 4, (1 + 2 α_21) / 4
    assert weights @ GIVEN[:2] == pytest.approx(0.48)
    after, before = step(grouped, mixture, xi=2.0, zeta=2.0, pairs=pairs)
    assert after.theta == pytest.approx([0.652968, 0.329949, 0.347032, 0.670051], abs=1e-6)
    assert after.alpha == pytest.approx([0.602641], abs=1e-6)
    assert before == pytest.approx(-13.43326274)
    assert objective(grouped, after, xi=2.0, zeta=2.0, pairs=pairs) == pytest.approx(-13.22957389)


def test_weights_of_three_labels() -> None:
    """C-3: α_12 = .7, α_13 = .6, α_23 = .2 share a document of all three labels (.4, .222222, .377778)."""
    grouped = group_documents(np.ones((1, 2)), np.ones((1, 3)))
    pairs = label_pairs(grouped)
    assert list(zip(pairs.first.tolist(), pairs.second.tolist())) == [(0, 1), (0, 2), (1, 2)]
    mixture = Mixture(np.full(6, 0.5), np.zeros(3), np.array([0.7, 0.6, 0.2]))
    assert driver._weights(grouped, mixture, pairs) == pytest.approx([0.4, 0.222222, 0.377778], abs=1e-6)
    assert driver._weights(grouped, mixture, None) == pytest.approx([1 / 3] * 3)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1.5, 2.0]), st.booleans())
def test_twins_agree_with_the_formulas(seed: int, xi: float, biased: bool) -> None:
    """C-2, C-4 written out over documents, labels and words, without groups and without cells."""
    rng = np.random.default_rng(seed)
    x, y = _corpus(rng)
    grouped = group_documents(x, y)
    pairs = label_pairs(grouped) if biased else None
    begin = start(grouped, pairs)
    if pairs is not None:
        begin = Mixture(begin.theta, begin.background, rng.uniform(0.1, 0.9, len(pairs.first)))
    theta, alpha = _dense(grouped, begin, pairs)
    expected_theta, expected_alpha = _literal_step(x, y, theta, alpha, xi, 2.0)
    for kernel, jobs, most in ((compiled, 1, 10**9), (compiled, 3, 10), (reference, 1, 40)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            patch.setattr(driver, "VISITS_PER_BLOCK", most)
            after, before = step(grouped, begin, xi=xi, zeta=2.0, pairs=pairs, n_jobs=jobs)
        mine = _dense(grouped, after, pairs)
        assert mine[0] == pytest.approx(expected_theta, abs=1e-12)
        assert before == pytest.approx(_literal_objective(x, y, theta, alpha, xi, 2.0 if biased else 1.0))
        if pairs is not None:
            assert mine[1] == pytest.approx(expected_alpha, abs=1e-12)
            assert mine[1] + mine[1].T == pytest.approx(np.ones_like(alpha))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_objective_never_falls_and_theta_sums_to_one(seed: int, biased: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = _corpus(rng)
    grouped = group_documents(x, y)
    pairs = label_pairs(grouped) if biased else None
    mixture, last = start(grouped, pairs), -np.inf
    for _ in range(12):
        mixture, value = step(grouped, mixture, xi=2.0, pairs=pairs)
        assert value >= last - 1e-9 * abs(value)
        last = value
    assert _dense(grouped, mixture, pairs)[0].sum(axis=1) == pytest.approx(np.ones(y.shape[1]))


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "VISITS_PER_BLOCK", 50)
    grouped = group_documents(*_corpus(np.random.default_rng(5)))
    pairs = label_pairs(grouped)
    (one, j1), (three, j3) = (step(grouped, start(grouped, pairs), xi=2.0, pairs=pairs, n_jobs=jobs) for jobs in (1, 3))
    assert np.array_equal(one.theta, three.theta)
    assert one.alpha is not None
    assert three.alpha is not None
    assert np.array_equal(one.alpha, three.alpha)
    assert j1 == j3


def test_blocks_of_terms_have_at_least_as_much_work_as_there_are_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block has sums for the labels of all sets, so short blocks would do more work for these than for terms."""
    monkeypatch.setattr(driver, "VISITS_PER_BLOCK", 1)
    blocks: list[tuple[int, int]] = []

    def noted(*given: Any) -> float:
        blocks.append(given[-4:-2])
        return compiled.expected_counts(*given)

    monkeypatch.setattr(driver, "_kernel", SimpleNamespace(expected_counts=noted, group_sets=compiled.group_sets))
    x, y = np.ones((50, 30)), np.eye(50, dtype=np.int8) + np.eye(50, k=1, dtype=np.int8)
    grouped = group_documents(x, y)
    grouped.expect(np.full(len(grouped.cells.labels), 1 / 30), np.full(len(grouped.sets.labels), 0.5), 1.0)
    assert sum(end - begin for begin, end in blocks) == 30
    assert len(blocks) <= 30 / (4 * len(grouped.sets.labels) // (50 + 4 * 49))


@BOTH
def test_groups_of_documents(kernel: Any) -> None:
    starts, labels = np.array([0, 2, 2, 3, 5, 6, 8]), np.array([1, 3, 1, 1, 3, 3, 3, 70_000], np.int32)
    group_of, first = kernel.group_sets(starts, labels)
    assert group_of.tolist() == [0, -1, 1, 0, 2, 3]
    assert first.tolist() == [0, 2, 4, 5]
    assert kernel.group_sets(np.zeros(1, np.int64), np.zeros(0, np.int32))[0].tolist() == []


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sets(st.integers(0, 5), max_size=4), max_size=60))
def test_groups_of_both_twins(sets: list[set[int]]) -> None:
    starts = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    labels = np.array([label for one in sets for label in sorted(one)], dtype=np.int32)
    mine, plain = compiled.group_sets(starts, labels), reference.group_sets(starts, labels)
    assert all(np.array_equal(a, b) for a, b in zip(mine, plain))
    for row, other in ((a, b) for a in range(len(sets)) for b in range(a)):
        assert (mine[0][row] == mine[0][other]) == (sets[row] == sets[other])


def test_a_label_without_words_is_uniform_and_unlabelled_documents_are_left_out() -> None:
    grouped = group_documents(np.array([[1, 0, 0], [0, 0, 5], [0, 0, 0]]), np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0]]))
    assert grouped.occurrences.tolist() == [1.0]
    for xi in (1.0, 2.0):
        mixture, _ = step(grouped, start(grouped), xi=xi)
        assert mixture.background[1:] == pytest.approx([1 / 3, 1 / 3])


def test_zero_probabilities_without_smoothing() -> None:
    """C-2, ξ = 1: a word no label explains makes J minus infinity, and no share is made up for it."""
    grouped = group_documents(np.array([[1, 1]]), np.array([[1, 1]]))
    for kernel in (compiled, reference):
        expected, ratios = np.empty(4), np.zeros(2)
        theta = np.array([0.0, 0.0, 0.5, 0.5])
        value = kernel.expected_counts(
            grouped.cells, theta, grouped.fixed, 0.0, grouped.entries, grouped.sets, np.full(2, 0.5), 2, 0, 2,
            expected, ratios,
        )  # fmt: skip
        assert value == -np.inf
        assert expected.tolist() == [0, 0, 0.5, 0.5]


@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (3, 3, 0), (1, 1, 1)])
def test_empty_corpora(shape: tuple[int, int, int]) -> None:
    n, v, labels = shape
    grouped = group_documents(np.ones((n, v)), np.ones((n, labels)))
    pairs = label_pairs(grouped)
    mixture, value = step(grouped, start(grouped, pairs), xi=2.0, pairs=pairs)
    assert len(mixture.theta) == len(grouped.fixed)
    assert np.isfinite(value)


def test_more_columns_than_16_bits() -> None:
    x = np.zeros((1, 70_001))
    x[0, [0, 65_536, 70_000]] = [1, 2, 3]
    grouped = group_documents(x, np.ones((1, 2)))
    mixture, _ = step(grouped, start(grouped), xi=2.0)
    assert np.flatnonzero(np.diff(grouped.cells.starts)).tolist() == [0, 65_536, 70_000]
    # both labels get half of each count: (x/2 + 1) / (3 + 70001)
    assert mixture.theta[::2] == pytest.approx(np.array([1.5, 2.0, 2.5]) / 70_004)


def test_mistakes() -> None:
    with pytest.raises(DataError, match="1 document but Y 2"):
        group_documents(np.ones((1, 1)), np.ones((2, 1)))
    grouped = group_documents(X, Y)
    arrays = (grouped.cells, GIVEN, grouped.fixed, 1.0, grouped.entries, grouped.sets, np.full(2, 0.5))
    for kernel in (compiled, reference):
        with pytest.raises(IndexError, match="Terms 0 to 3"):
            kernel.expected_counts(*arrays, 2, 0, 3, np.zeros(4), np.zeros(2))
    with pytest.raises(IndexError, match="label or group"):
        compiled.expected_counts(*arrays, 1, 0, 2, np.zeros(4), np.zeros(2))
    with pytest.raises(IndexError, match="belong together"):
        compiled.expected_counts(*arrays, 2, 0, 2, np.zeros(3), np.zeros(2))


def _corpus(rng: np.random.Generator) -> tuple[Any, Any]:
    n, v, labels = (int(rng.integers(low, high)) for low, high in ((1, 30), (1, 12), (1, 6)))
    x = rng.integers(0, 4, (n, v)) * (rng.random((n, v)) < 0.6)
    return x, (rng.random((n, labels)) < 0.4).astype(int)


def _dense(grouped: Any, mixture: Mixture, pairs: Any) -> tuple[Any, Any]:
    theta = np.tile(mixture.background[:, np.newaxis], (1, grouped.n_terms))
    terms = np.repeat(np.arange(grouped.n_terms), np.diff(grouped.cells.starts))
    theta[grouped.cells.labels, terms] = mixture.theta
    alpha = np.full((grouped.n_labels, grouped.n_labels), 0.5)
    if pairs is not None:
        alpha[pairs.first, pairs.second] = mixture.alpha
        alpha[pairs.second, pairs.first] = 1 - mixture.alpha
    return theta, alpha


def _parts(y: Any, theta: Any, alpha: Any) -> Any:
    """h_l h_m α_lm θ_li, labels × labels × words."""
    h = y / y.sum()
    return (h[:, None] * h[None, :] * alpha)[:, :, None] * theta[:, None, :]


def _literal_step(x: Any, y: Any, theta: Any, alpha: Any, xi: float, zeta: float) -> tuple[Any, Any]:
    counts, r_sum = np.zeros_like(theta), np.zeros_like(alpha)
    for words, labels in zip(x, y):
        if labels.any():
            parts = _parts(labels, theta, alpha)
            phi = (parts + parts.transpose(1, 0, 2)).sum(axis=(0, 1))
            r = np.divide(parts, phi, out=np.zeros_like(parts), where=phi > 0) * words
            counts += 2 * r.sum(axis=1)
            r_sum += r.sum(axis=2)
    total = counts.sum(axis=1, keepdims=True) + theta.shape[1] * (xi - 1)
    uniform = np.full_like(theta, 1 / theta.shape[1])
    new = np.divide(counts + xi - 1, total, out=uniform, where=total > 0)
    new_alpha = (r_sum + (zeta - 1) / 2) / (r_sum + r_sum.T + zeta - 1)
    np.fill_diagonal(new_alpha, 0.5)
    return new, new_alpha


def _literal_objective(x: Any, y: Any, theta: Any, alpha: Any, xi: float, zeta: float) -> float:
    value = (xi - 1) * np.log(theta).sum() + (zeta - 1) * np.log(alpha).sum()
    for words, labels in zip(x, y):
        if labels.any():
            parts = _parts(labels, theta, alpha)
            phi = (parts + parts.transpose(1, 0, 2)).sum(axis=(0, 1))
            value += words @ np.log(phi)
    return float(value)
