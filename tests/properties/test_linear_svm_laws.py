"""Laws of the linear classifiers that hold for all data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from manylabel.exceptions import DataError, ManylabelWarning, ParameterError
from manylabel.models.linear_svm import LinearSVM

EXACT: dict[str, Any] = {"tol": 1e-8, "max_iter": 100_000, "n_jobs": 1}
few = settings(max_examples=20, deadline=None)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, d, n_labels = draw(st.integers(2, 30)), draw(st.integers(1, 12)), draw(st.integers(1, 4))
    X = rng.random((n, d)) * (rng.random((n, d)) < draw(st.floats(0.1, 1.0)))
    return X, (rng.random((n, n_labels)) < 0.4).astype(int)


losses = st.sampled_from(["squared_hinge", "hinge", "logistic"])


def coef(model: LinearSVM) -> Any:
    return model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)


@few
@given(problems(), st.sampled_from(["squared_hinge", "hinge"]), st.sampled_from([0.1, 1.0, 5.0]))
def test_optimality_conditions(problem: tuple[Any, Any], loss: Any, C: float) -> None:
    """α = 0 only beyond the margin, α inside its bounds only on it, α = C only within it; w = Σ α y x, b = Σ α y."""
    X, Y = problem
    model = LinearSVM(loss=loss, C=C, keep_dual=True, **EXACT).fit(X, Y)
    y = np.where(Y > 0, 1, -1)
    alpha = model.dual_coef_.toarray()
    trained = model.n_iter_ > 0
    np.testing.assert_allclose(coef(model)[trained], ((alpha * y).T @ X)[trained], atol=1e-9)
    np.testing.assert_allclose(model.intercept_[trained], (alpha * y).sum(axis=0)[trained], atol=1e-9)
    gradient = (y * model.scores(X) - 1 + (alpha / (2 * C) if loss == "squared_hinge" else 0))[:, trained]
    alpha = alpha[:, trained]
    upper = C if loss == "hinge" else np.inf
    assert (alpha >= 0).all()
    assert (alpha <= upper).all()
    assert (gradient[alpha == 0] > -1e-6).all()
    assert (gradient[alpha == upper] < 1e-6).all()
    assert (np.abs(gradient[(alpha > 0) & (alpha < upper)]) < 1e-6).all()


@few
@given(problems(), losses)
def test_permuting_labels_permutes_columns(problem: tuple[Any, Any], loss: Any) -> None:
    X, Y = problem
    order = np.random.default_rng(0).permutation(Y.shape[1])
    a, b = LinearSVM(loss=loss, **EXACT).fit(X, Y), LinearSVM(loss=loss, **EXACT).fit(X, Y[:, order])
    np.testing.assert_allclose(a.scores(X)[:, order], b.scores(X), atol=1e-5)


@few
@given(problems(), losses)
def test_a_repeated_document_is_one_of_twice_the_weight(problem: tuple[Any, Any], loss: Any) -> None:
    X, Y = problem
    weights = np.ones(len(X))
    weights[::2] = 2
    twice = np.concatenate([np.arange(len(X)), np.arange(0, len(X), 2)])
    a = LinearSVM(loss=loss, **EXACT).fit(X, Y, sample_weight=weights)
    b = LinearSVM(loss=loss, **EXACT).fit(X[twice], Y[twice])
    np.testing.assert_allclose(a.scores(X), b.scores(X), atol=1e-5)


@few
@given(problems(), losses)
def test_every_form_of_the_same_matrix_gives_the_same_bits(problem: tuple[Any, Any], loss: Any) -> None:
    X, Y = problem
    expected = LinearSVM(loss=loss).fit(X, Y).scores(X)
    for form in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.coo_array):
        given_form = form(X)
        scores = LinearSVM(loss=loss).fit(given_form, sparse.csr_array(Y)).scores(given_form)
        np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("bias", ["regularised", "free"])
@pytest.mark.usefixtures("patient")
def test_scikit_learns_contract(loss: Any, bias: Any) -> None:
    reason = "two ways to one solution stop within tol of it, not within 1e-7 of each other; see the law above"
    equivalence = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVM(loss=loss, bias=bias, max_iter=10_000)
        check_estimator(model, on_skip=None, expected_failed_checks=dict.fromkeys(equivalence, reason))


def test_warm_start_continues_where_it_stopped() -> None:
    rng = np.random.default_rng(4)
    X, Y = rng.random((60, 10)), (rng.random((60, 3)) < 0.3).astype(int)
    model = LinearSVM(warm_start=True, tol=1e-6, max_iter=100_000).fit(X[:50], Y[:50])
    cold = model.n_iter_.sum()
    assert model.fit(X[:50], Y[:50]).n_iter_.sum() < cold
    grown = model.fit(X, Y)
    fresh = LinearSVM(tol=1e-6, max_iter=100_000).fit(X, Y)
    np.testing.assert_allclose(grown.scores(X), fresh.scores(X), atol=1e-4)
    assert not hasattr(fresh, "dual_coef_")


def test_wrong_input_is_reported() -> None:
    X, Y = np.eye(3), np.eye(3, dtype=int)
    with pytest.raises(DataError, match="initial has shape"):
        LinearSVM().fit(X, Y, initial=np.zeros((4, 3)))
    with pytest.raises(DataError, match="at least 0"):
        LinearSVM().fit(X, Y, initial=-np.ones((3, 3)))
    with pytest.raises(DataError, match="sample_weight has shape"):
        LinearSVM().fit(X, Y, sample_weight=np.ones(2))
    with pytest.raises(ParameterError, match="squared_hinge"):
        LinearSVM(loss="squared").fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="C must be"):
        LinearSVM(C=-1.0).fit(X, Y)
    with pytest.warns(ManylabelWarning, match="max_iter=1 epochs"):
        LinearSVM(max_iter=1, C=50.0).fit(X, Y)
