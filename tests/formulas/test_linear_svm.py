"""Linear classifiers whose solution can be written down."""

from __future__ import annotations

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.models.linear_svm import LinearSVM

EXACT = {"tol": 1e-9, "max_iter": 100_000}
LINE = np.array([[3.0], [2.0], [0.0]])
FIRST = np.array([[1], [0], [0]])
PAIR, PAIR_LABEL = np.array([[1.0], [-1.0]]), np.array([[1], [0]])


def test_hard_margin_with_a_free_bias() -> None:
    """B-7: positives {3}, negatives {2, 0}: the boundary half-way, 3w + b = 1 and 2w + b = −1, so w = 2, b = −5."""
    model = LinearSVM(loss="hinge", C=1e4, bias="free", **EXACT).fit(LINE, FIRST)
    np.testing.assert_allclose(model.coef_, [[2.0]], rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, [-5.0], rtol=1e-5)
    np.testing.assert_allclose(model.decision_function([[2.5]]), [[0.0]], atol=1e-4)


def test_leaving_out_a_negative_moves_the_boundary() -> None:
    """B-7: without 2, 3w + b = 1 and b = −1, so w = 2/3."""
    model = LinearSVM(loss="hinge", C=1e4, bias="free", **EXACT)
    model.fit(LINE, FIRST, excluded=np.array([[0], [1], [0]]))
    np.testing.assert_allclose(model.coef_, [[2 / 3]], rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, [-1.0], rtol=1e-5)


def test_a_positive_cannot_be_left_out() -> None:
    """B-7, F-3: an exclusion concerns negatives only."""
    everything = np.array([[1], [1], [0]])
    model = LinearSVM(loss="hinge", C=1e4, bias="free", **EXACT).fit(LINE, FIRST, excluded=everything)
    np.testing.assert_allclose(model.coef_, [[2 / 3]], rtol=1e-5)


@pytest.mark.parametrize(("C", "J"), [(1.0, 1.0), (0.25, 1.0), (1.0, 3.0)])
def test_squared_hinge_of_two_opposite_documents(C: float, J: float) -> None:
    """B-7: x = 1 and −1 without bias: w = 2C(1 + J)(1 − w), so w = 2C(1+J) / (1 + 2C(1+J))."""
    model = LinearSVM(C=C, J=J, bias="none", **EXACT).fit(PAIR, PAIR_LABEL)
    pull = 2 * C * (1 + J)
    np.testing.assert_allclose(model.coef_, [[pull / (1 + pull)]], rtol=1e-7)
    assert model.intercept_.tolist() == [0.0]


@pytest.mark.parametrize(("C", "J", "w"), [(0.1, 1.0, 0.2), (0.1, 3.0, 0.4), (1.0, 1.0, 1.0)])
def test_hinge_of_two_opposite_documents(C: float, J: float, w: float) -> None:
    """B-7: the same with the hinge: w = C(1 + J) while that stays below the margin 1."""
    model = LinearSVM(loss="hinge", C=C, J=J, bias="none", **EXACT).fit(PAIR, PAIR_LABEL)
    np.testing.assert_allclose(model.coef_, [[w]], rtol=1e-7)


def test_logistic_loss_of_two_opposite_documents() -> None:
    """B-7: w = 2C / (1 + e^w); for C = (1 + e)/2 that is w = 1."""
    model = LinearSVM(loss="logistic", C=(1 + np.e) / 2, bias="none", **EXACT).fit(PAIR, PAIR_LABEL)
    np.testing.assert_allclose(model.coef_, [[1.0]], rtol=1e-7)
    assert model.score_kind == "log_odds"
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[1 / (1 + 1 / np.e)]], rtol=1e-6)


@pytest.mark.parametrize("scaling", [1.0, 2.0])
def test_regularised_bias_is_a_constant_feature(scaling: float) -> None:
    """B-7: an empty positive (cost J) and an empty negative: b = 2s²C(J(1 − b) − (1 + b))."""
    model = LinearSVM(J=3.0, intercept_scaling=scaling, **EXACT).fit(Csr((2, 1)), PAIR_LABEL)
    s2 = scaling**2
    np.testing.assert_allclose(model.intercept_, [2 * s2 * (3 - 1) / (1 + 2 * s2 * (3 + 1))], rtol=1e-7)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
def test_labels_of_one_class_are_constant(loss: str) -> None:
    """B-7: no positive: −1; no negative: +1; w = 0. As log-odds −∞ and +∞."""
    Y = np.array([[0, 1, 1], [0, 1, 0], [0, 1, 0]])
    model = LinearSVM(loss=loss).fit(LINE, Y)  # type: ignore[arg-type]
    size = np.inf if loss == "logistic" else 1.0
    assert model.intercept_[:2].tolist() == [-size, size]
    assert not np.asarray(model.coef_)[:2].any()
    assert model.n_iter_[:2].tolist() == [0, 0]
    assert model.n_iter_[2] > 0


def test_cost_and_ratio_may_differ_from_label_to_label() -> None:
    """B-7: each label has its own C and J; the formula of two opposite documents, three times."""
    C, J = np.array([1.0, 0.25, 1.0]), np.array([1.0, 1.0, 3.0])
    model = LinearSVM(C=C, J=J, bias="none", **EXACT).fit(PAIR, np.repeat(PAIR_LABEL, 3, axis=1))
    pull = 2 * C * (1 + J)
    np.testing.assert_allclose(np.asarray(model.coef_)[:, 0], pull / (1 + pull), rtol=1e-7)
