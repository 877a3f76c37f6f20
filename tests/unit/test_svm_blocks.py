"""SVMs on disk: which documents a block takes into memory, and which labels are solved again."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.estimator import Csr
from manylabel.kernels.linear_solvers import LinearFit, fit_linear
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


@pytest.fixture
def problem() -> tuple[Csr, Csr]:
    """Documents with three labels, the last of which has two of them."""
    rng = np.random.default_rng(1)
    X = Csr(rng.random((120, 12)) * (rng.random((120, 12)) < 0.4))
    Y = np.column_stack([X.toarray()[:, 0] > 0.3, X.toarray()[:, 1] > 0.7, np.arange(120) < 2])
    return X, Csr(Y.astype(float))


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[int], int]]:
    """The labels that are solved, one time after the other, and how many documents are then in memory."""
    monkeypatch.setattr(svm_blocks, "OTHERS", 20)
    monkeypatch.setattr(svm_blocks, "LEAST_ADDED", 4)
    solve, noted = Block.solve_members, []

    def note(self: Block, labels: np.ndarray, initial: Csr | None = None) -> LinearFit:
        noted.append((labels.tolist(), len(self.members)))
        return solve(self, labels, initial)

    monkeypatch.setattr(Block, "solve_members", note)
    return noted


def check_solution(X: Csr, Y: Csr) -> None:
    """Solve the labels as one block, and compare with the solution in memory."""
    model = LinearSVM(tol=1e-6, max_iter=10_000)
    found = Block(model, InMemory(X), Y, [0, 1, 2]).solve()  # type: ignore[arg-type]
    at_once = fit_linear(X, Y, tol=1e-6, max_iter=10_000)
    weights = at_once.weights if isinstance(at_once.weights, np.ndarray) else at_once.weights.toarray()
    np.testing.assert_allclose(found.weights.toarray(), weights, atol=1e-4)
    np.testing.assert_allclose(found.intercept, at_once.intercept, atol=1e-4)
    assert found.converged.all()


@pytest.mark.parametrize("dense", [True, False], ids=["dense weights", "sparse weights"])
def test_only_labels_whose_margins_are_violated_are_solved_again(
    monkeypatch: pytest.MonkeyPatch, problem: tuple[Csr, Csr], solved: list[tuple[list[int], int]], dense: bool
) -> None:
    monkeypatch.setattr(svm_blocks, "MOST_DENSE", 1 << 25 if dense else 0)
    check_solution(*problem)
    labels = [one for one, _ in solved]
    assert labels[0] == [0, 1, 2]
    assert all(set(after) <= set(before) for before, after in pairwise(labels))
    assert any(len(after) < len(before) for before, after in pairwise(labels))


def test_labels_that_need_too_many_documents_are_solved_in_groups(
    monkeypatch: pytest.MonkeyPatch, problem: tuple[Csr, Csr], solved: list[tuple[list[int], int]]
) -> None:
    monkeypatch.setattr(svm_blocks, "MOST_MEMBERS", 100)
    check_solution(*problem)
    assert solved[0][0] == [0, 1, 2]
    assert {label for one, _ in solved[1:] for label in one} == {0, 1, 2}
    assert all(len(one) < 3 for one, _ in solved[1:])
    assert all(documents <= 100 for one, documents in solved if len(one) > 1)


def test_documents_that_support_a_former_solution_are_read_first(
    problem: tuple[Csr, Csr], solved: list[tuple[list[int], int]]
) -> None:
    X, Y = problem
    model = LinearSVM(tol=1e-6, max_iter=10_000)
    cold = Block(model, InMemory(X), Y, [0, 1, 2]).solve()  # type: ignore[arg-type]
    dual = cold.dual
    np.testing.assert_allclose(dual.toarray(), fit_linear(X, Y, tol=1e-6, max_iter=10_000).dual.toarray(), atol=1e-4)
    assert len(solved) > 1
    solved.clear()
    warm = Block(model, InMemory(X), Y, [0, 1, 2]).solve(dual)  # type: ignore[arg-type]
    np.testing.assert_allclose(warm.weights.toarray(), cold.weights.toarray(), atol=1e-4)
    assert len(solved) == 1
    assert warm.epochs.sum() < cold.epochs.sum()


def test_a_former_solution_of_many_documents_is_divided_at_once(
    monkeypatch: pytest.MonkeyPatch, problem: tuple[Csr, Csr], solved: list[tuple[list[int], int]]
) -> None:
    X, Y = problem
    model = LinearSVM(tol=1e-6, max_iter=10_000)
    cold = Block(model, InMemory(X), Y, [0, 1, 2]).solve()  # type: ignore[arg-type]
    solved.clear()
    supporting = int(np.count_nonzero(np.diff(cold.dual.indptr)))
    monkeypatch.setattr(svm_blocks, "MOST_MEMBERS", supporting - 1)
    warm = Block(model, InMemory(X), Y, [0, 1, 2]).solve(cold.dual)  # type: ignore[arg-type]
    np.testing.assert_allclose(warm.weights.toarray(), cold.weights.toarray(), atol=1e-4)
    assert [one for one, _ in solved] == [[1], [0, 2]]
