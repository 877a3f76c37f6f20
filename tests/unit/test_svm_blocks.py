"""SVMs on disk: which documents a block takes into memory, and which labels are solved again."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.estimator import Csr
from manylabel.kernels.linear_solvers import fit_linear
from manylabel.models.linear_svm import LinearSVM
from manylabel.scale import svm_blocks
from manylabel.scale.svm_blocks import Block, Worst


@given(st.integers(0, 1000), st.integers(1, 9))
def test_the_worst_of_parts_are_the_worst_of_all(seed: int, part: int) -> None:
    rng = np.random.default_rng(seed)
    margins = rng.integers(-3, 4, (40, 3)) / 2.0
    most, numbers = np.array([1, 3, 8]), np.arange(100, 140)
    worst = Worst(most, -1.0)
    for start in range(0, 40, part):
        worst.add(numbers[start : start + part], margins[start : start + part])
        assert len(worst.held.labels) <= 2 * most.sum()
    expected = set()
    for label, limit in enumerate(most):
        order = np.argsort(-margins[:, label], kind="stable")
        expected |= {100 + row for row in order[margins[order, label] > -1.0][:limit].tolist()}
    assert worst.has_any.tolist() == (margins > -1.0).any(axis=0).tolist()
    assert worst.documents().tolist() == sorted(expected)


class InMemory:
    """Documents as a block reads them, in parts of ten."""

    def __init__(self, X: Csr) -> None:
        self.X, self.matrix = X, self
        self.n_terms = X.shape[1]

    def wanted(self) -> None:
        return None

    def blocks(self, only: np.ndarray) -> list[tuple[np.ndarray, Csr]]:
        parts = [start + np.flatnonzero(only[start : start + 10]) for start in range(0, len(only), 10)]
        return [(numbers, Csr(self.X[numbers])) for numbers in parts if len(numbers)]


@pytest.mark.parametrize("dense", [True, False], ids=["dense weights", "sparse weights"])
def test_only_labels_whose_margins_are_violated_are_solved_again(monkeypatch: pytest.MonkeyPatch, dense: bool) -> None:
    monkeypatch.setattr(svm_blocks, "OTHERS", 20)
    monkeypatch.setattr(svm_blocks, "LEAST_ADDED", 4)
    monkeypatch.setattr(svm_blocks, "MOST_DENSE", 1 << 25 if dense else 0)
    rng = np.random.default_rng(1)
    X = Csr(rng.random((120, 12)) * (rng.random((120, 12)) < 0.4))
    Y = Csr(np.column_stack([X.toarray()[:, 0] > 0.3, X.toarray()[:, 1] > 0.7, np.arange(120) < 2]).astype(float))
    solved: list[list[int]] = []
    solve = Block.solve_members

    def noted(self: Block, labels: np.ndarray, initial: Csr | None = None) -> object:
        solved.append(labels.tolist())
        return solve(self, labels, initial)

    monkeypatch.setattr(Block, "solve_members", noted)
    found = Block(LinearSVM(tol=1e-6, max_iter=10_000), InMemory(X), Y, [0, 1, 2]).solve()  # type: ignore[arg-type]
    assert solved[0] == [0, 1, 2]
    assert len(solved) > 2
    assert all(set(after) <= set(before) for before, after in pairwise(solved))
    assert any(len(after) < len(before) for before, after in pairwise(solved))
    at_once = fit_linear(X, Y, tol=1e-6, max_iter=10_000)
    weights = at_once.weights if isinstance(at_once.weights, np.ndarray) else at_once.weights.toarray()
    np.testing.assert_allclose(found.weights.toarray(), weights, atol=1e-4)
    np.testing.assert_allclose(found.intercept, at_once.intercept, atol=1e-4)
    assert found.converged.all()
