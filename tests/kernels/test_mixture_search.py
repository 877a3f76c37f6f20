"""The greedy search for a label set (Ueda & Saito 2002): worked numbers, the twin, edges."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.kernels import mixture_reference as reference
from manylabel.kernels import mixture_sets as driver
from manylabel.kernels.mixture_sets import find_sets, word_table

compiled = pytest.importorskip("manylabel.kernels.mixture_search", reason="The kernels are not compiled.")
BOTH = pytest.mark.parametrize("kernel", [compiled, reference], ids=["compiled", "plain"])
THETA = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])  # symmetric: by term as by label


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda kernel: monkeypatch.setattr(driver, "_kernel", kernel)


@BOTH
def test_worked_examples(kernel: Any, use: Any) -> None:
    """C-5: (4,4,0) → {0,1}, −6.388062 after −10.102915; (6,1,0) → {0}; (3,3,3) → all; an empty document → none."""
    use(kernel)
    x = np.array([[4, 4, 0], [6, 1, 0], [3, 3, 3], [0, 0, 0]])
    found = find_sets(word_table(THETA, np.zeros(3)), x)
    assert found.sets.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert found.log_likelihoods == pytest.approx([-6.388062, -3.641446, -9.887511, 0], abs=1e-6)
    assert found.steps.toarray()[0] == pytest.approx([-10.102915, -6.388062, 0], abs=1e-6)


@BOTH
def test_cells_and_background_are_one_table(kernel: Any, use: Any) -> None:
    """The same θ, .1 kept as background: the same sets."""
    use(kernel)
    x = np.array([[4, 4, 0], [6, 1, 0], [3, 3, 3]])
    found = find_sets(word_table(np.diag([0.8, 0.8, 0.8]), np.full(3, 0.1)), x)
    # a dense diagonal stores no zeros, so that .1 stands for every other cell
    assert found.sets.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [1, 1, 1]]
    assert found.log_likelihoods == pytest.approx([-6.388062, -3.641446, -9.887511], abs=1e-6)


@BOTH
def test_alpha_shifts_the_weight_of_a_pair(kernel: Any, use: Any) -> None:
    """C-3: α_12 = .7 gives the set {0, 1} e = (.6, .4); x = (6,4,0) is then Σ x log(.6 θ_0 + .4 θ_1)."""
    use(kernel)
    alpha = Csr(np.array([[0, 0.7, 0], [0.3, 0, 0], [0, 0, 0]]))
    found = find_sets(word_table(THETA, np.zeros(3), alpha=alpha), np.array([[6, 4, 0]]))
    assert found.sets.toarray().tolist() == [[1, 1, 0]]
    assert found.log_likelihoods[0] == pytest.approx(
        6 * np.log(0.6 * 0.8 + 0.4 * 0.1) + 4 * np.log(0.6 * 0.1 + 0.4 * 0.8)
    )


@BOTH
def test_a_copy_of_a_label_is_not_added_by_rounding_and_ties_go_to_the_lowest(kernel: Any, use: Any) -> None:
    use(kernel)
    rng = np.random.default_rng(0)
    one = rng.dirichlet(np.ones(30))
    theta = np.column_stack([one, one, one])
    x = rng.integers(0, 5, (40, 30))
    assert find_sets(word_table(theta, np.zeros(3)), x).sets.toarray().tolist() == [[1, 0, 0]] * 40


@BOTH
def test_only_labels_allowed_and_at_most_so_many(kernel: Any, use: Any) -> None:
    use(kernel)
    x = np.array([[4, 4, 0], [3, 3, 3]])
    table = word_table(THETA, np.zeros(3), allowed=[False, True, True])
    assert find_sets(table, x).sets.toarray().tolist() == [[0, 1, 0], [0, 1, 1]]
    assert find_sets(table, x, max_labels=1).sets.toarray().tolist() == [[0, 1, 0], [0, 1, 0]]
    assert find_sets(table, x, max_labels=0).sets.nnz == 0
    assert find_sets(word_table(THETA, np.zeros(3), allowed=[False] * 3), x).sets.nnz == 0


@BOTH
def test_probabilities_of_zero(kernel: Any, use: Any) -> None:
    """ξ = 1: no label explains both words, two together do; nothing explains the third."""
    use(kernel)
    theta = np.array([[1.0, 0], [0, 1.0], [0, 0]])
    found = find_sets(word_table(theta, np.zeros(2)), np.array([[1, 1, 0], [2, 0, 0], [0, 0, 1], [0, 2, 1]]))
    assert found.sets.toarray().tolist() == [[1, 1], [1, 0], [1, 0], [1, 0]]
    assert found.log_likelihoods.tolist() == [2 * np.log(0.5), 0.0, -np.inf, -np.inf]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_twins_agree(seed: int, biased: bool, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    table, n_terms = _model(rng, biased)
    x = rng.integers(0, 6, (25, n_terms)) * (rng.random((25, n_terms)) < 0.6)
    x = x if whole else x * rng.uniform(0.1, 2.0, x.shape)  # type: ignore[assignment]
    results = []
    for kernel, jobs in ((compiled, 1), (compiled, 3), (reference, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            patch.setattr(driver, "DOCUMENTS_PER_BLOCK", 4)
            results.append(find_sets(table, sparse.csr_matrix(x), n_jobs=jobs))
    assert np.array_equal(results[0].sets.toarray(), results[1].sets.toarray())
    assert np.array_equal(results[0].log_likelihoods, results[1].log_likelihoods)
    assert np.array_equal(results[0].sets.toarray(), results[2].sets.toarray())
    assert results[0].log_likelihoods == pytest.approx(results[2].log_likelihoods, rel=1e-11, abs=1e-11)


def test_greedy_is_at_most_the_best_of_all_sets() -> None:
    rng = np.random.default_rng(3)
    table, n_terms = _model(rng, True)
    x = rng.integers(0, 6, (10, n_terms)).astype(float)
    found = find_sets(table, x)
    theta, alpha = _dense(table, n_terms)
    labels = np.flatnonzero(table.rest.allowed)
    for row in range(10):
        of_all = {
            chosen: _value(x[row], theta, alpha, list(chosen))
            for size in range(1, len(labels) + 1)
            for chosen in combinations(labels.tolist(), size)
        }
        chosen = tuple(found.sets[[row]].indices.tolist())
        assert found.log_likelihoods[row] == pytest.approx(of_all[chosen])
        assert found.log_likelihoods[row] <= max(of_all.values()) + 1e-9
        more = [value for other, value in of_all.items() if set(other) > set(chosen) and len(other) == len(chosen) + 1]
        assert all(value <= of_all[chosen] + 1e-9 for value in more)


def test_more_terms_and_labels_than_16_bits() -> None:
    theta = sparse.csr_array((np.array([0.9]), (np.array([70_000]), np.array([66_000]))), shape=(70_001, 66_001))
    x = sparse.csr_array((np.array([2.0]), (np.array([0]), np.array([70_000]))), shape=(1, 70_001))
    found = find_sets(word_table(theta, np.full(66_001, 1e-6)), x)
    assert found.sets.indices.tolist() == [66_000]
    assert found.log_likelihoods[0] == pytest.approx(2 * np.log(0.9))


@pytest.mark.parametrize(("n", "v", "labels"), [(0, 3, 2), (2, 0, 2), (2, 3, 0), (1, 1, 1)])
def test_empty_tables(n: int, v: int, labels: int) -> None:
    found = find_sets(word_table(np.ones((v, labels)), np.ones(labels)), np.ones((n, v)))
    assert found.sets.shape == (n, labels)
    assert found.sets.nnz == (1 if (n, v, labels) == (1, 1, 1) else 0)


def test_mistakes() -> None:
    with pytest.raises(DataError, match="2 labels needs as many"):
        word_table(np.ones((3, 2)), np.ones(3))
    with pytest.raises(DataError, match="4 terms but the model 3"):
        find_sets(word_table(THETA, np.zeros(3)), np.ones((1, 4)))
    table = word_table(THETA, np.zeros(3))
    bad = reference.Documents(np.array([0, 1]), np.array([3], np.int32), np.ones(1))
    out = (np.zeros((1, 3), np.int32), np.zeros((1, 3)), np.zeros(1, np.int32))
    with pytest.raises(IndexError, match="term is out of bounds"):
        compiled.greedy_sets(bad, table.words, table.rest, table.pairs, 0, 1, *out)
    for kernel in (compiled, reference):
        with pytest.raises(IndexError, match="Documents 0 to 2"):
            kernel.greedy_sets(bad, table.words, table.rest, table.pairs, 0, 2, *out)


def _model(rng: np.random.Generator, biased: bool) -> tuple[Any, int]:
    v, labels = int(rng.integers(1, 15)), int(rng.integers(1, 8))
    theta = rng.dirichlet(np.full(v, 0.5), labels).T + 1e-9
    seen = rng.random((v, labels)) < 0.7
    alpha = None
    if biased:
        upper = np.triu(rng.uniform(0.05, 0.95, (labels, labels)) * (rng.random((labels, labels)) < 0.6), 1)
        alpha = Csr(upper + np.where(upper > 0, 1 - upper, 0).T)
    allowed = rng.random(labels) < 0.9
    return word_table(np.where(seen, theta, 0), rng.uniform(1e-6, 0.05, labels), alpha=alpha, allowed=allowed), v


def _dense(table: Any, n_terms: int) -> tuple[Any, Any]:
    theta = np.tile(table.rest.background, (n_terms, 1))
    theta[np.repeat(np.arange(n_terms), np.diff(table.words.starts)), table.words.labels] = table.words.theta
    alpha = np.full((table.n_labels, table.n_labels), 0.5)
    alpha[np.repeat(np.arange(table.n_labels), np.diff(table.pairs.starts)), table.pairs.partners] = table.pairs.alpha
    return theta, alpha


def _value(x: Any, theta: Any, alpha: Any, chosen: list[int]) -> float:
    """Σ_i x_i log Σ_{l,m} h_l h_m (α_lm θ_li + α_ml θ_mi), C-3 as printed."""
    phi = np.zeros(len(x))
    for first in chosen:
        for second in chosen:
            pair = alpha[first, second] * theta[:, first] + alpha[second, first] * theta[:, second]
            phi += pair / len(chosen) ** 2
    return float(x @ np.log(phi))
