"""SVM-HF, BandSVM and ConfMat against slow literal versions on scikit-learn; t-tests against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import LinearSVC

from manylabel.evaluation.paired_tests import t_test
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.tuned_svm import TunedSVM
from manylabel.strategies.band_svm import BandSVM
from manylabel.strategies.conf_mat import ConfMat
from manylabel.strategies.svm_hf import SVMHF

EXACT: dict[str, Any] = {"tol": 1e-8, "max_iter": 100_000, "n_jobs": 1}


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.random((70, 15)) * (rng.random((70, 15)) < 0.4)
    Y = (X[:, :4] + 0.4 * rng.random((70, 4)) > 0.6).astype(int)
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return X[:50], Y[:50], X[50:]


def literal_fit(X: np.ndarray, y: np.ndarray) -> LinearSVC:
    return LinearSVC(C=1.0, loss="squared_hinge", dual=True, tol=1e-9, max_iter=200_000, random_state=0).fit(X, y)


def literal_scores(X: np.ndarray, Y: np.ndarray, asked: np.ndarray) -> np.ndarray:
    return np.column_stack([literal_fit(X, Y[:, k]).decision_function(asked) for k in range(Y.shape[1])])


def literal_signs(scores: np.ndarray) -> np.ndarray:
    signs = np.where(scores > 0, 1.0, -1.0)
    for row in range(len(scores)):
        if (scores[row] <= 0).all():
            signs[row, scores[row].argmax()] = 1.0
    return signs


def literal_join(X: np.ndarray, signs: np.ndarray, f: float) -> np.ndarray:
    return np.hstack([np.sqrt(f) * X, np.sqrt((1 - f) / signs.shape[1]) * signs])


@pytest.mark.parametrize("f", [0.0, 0.3, 0.7])
def test_svm_hf(data: tuple[np.ndarray, np.ndarray, np.ndarray], f: float) -> None:
    """The rotated label block with a warm start equals plain ±1 columns with a cold start."""
    X, Y, asked = data
    model = SVMHF(LinearSVM(**EXACT), f=f).fit(X, Y)
    Z = literal_join(X, literal_signs(literal_scores(X, Y, X)), f)
    asked_Z = literal_join(asked, literal_signs(literal_scores(X, Y, asked)), f)
    np.testing.assert_allclose(model.scores(asked), literal_scores(Z, Y, asked_Z), atol=2e-5)
    weights = np.vstack([literal_fit(Z, Y[:, k]).coef_[0, X.shape[1] :] for k in range(Y.shape[1])])
    np.testing.assert_allclose(model.label_coefficients(), weights, atol=2e-5)


def test_svm_hf_in_two_rounds(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, Y, asked = data
    model = SVMHF(LinearSVM(**EXACT), f=0.6, rounds=2).fit(X, Y)
    Z, asked_Z = X, asked
    for _ in range(2):
        signs, asked_signs = (literal_signs(literal_scores(Z, Y, rows)) for rows in (Z, asked_Z))
        Z, asked_Z = literal_join(X, signs, 0.6), literal_join(asked, asked_signs, 0.6)
    np.testing.assert_allclose(model.scores(asked), literal_scores(Z, Y, asked_Z), atol=2e-5)


@pytest.mark.parametrize("side", ["both", "one"])
@pytest.mark.parametrize("distance", ["geometric", "functional"])
def test_band_svm(data: tuple[np.ndarray, np.ndarray, np.ndarray], distance: Any, side: Any) -> None:
    X, Y, asked = data
    band = 0.15 if distance == "geometric" else 0.4
    model = BandSVM(LinearSVM(**EXACT), band=band, distance=distance, side=side).fit(X, Y)
    assert model.removed_.sum() > 0
    for k in range(Y.shape[1]):
        first = literal_fit(X, Y[:, k])
        far = first.decision_function(X) / (np.linalg.norm(first.coef_) if distance == "geometric" else 1.0)
        near = np.abs(far) <= band if side == "both" else far >= -band
        keep = ~(near & (Y[:, k] == 0))
        expected = literal_fit(X[keep], Y[keep, k]).decision_function(asked)
        np.testing.assert_allclose(model.scores(asked)[:, k], expected, atol=2e-5)


def test_confmat(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, Y, asked = data
    model = ConfMat(LinearSVM(**EXACT), beta=10.0).fit(X, Y)
    M = model.confusion_.toarray()
    assert (M > 10).any()
    for i in range(Y.shape[1]):
        confusing = [j for j in range(Y.shape[1]) if M[i, j] > 10]
        keep = np.array([bool(row[i]) or not any(row[j] for j in confusing) for row in Y])
        if Y[keep, i].all():
            keep[:] = True
        expected = literal_fit(X[keep], Y[keep, i]).decision_function(asked)
        np.testing.assert_allclose(model.scores(asked)[:, i], expected, atol=2e-5)


def test_a_tuned_svm_is_an_svm_with_these_costs(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, Y, asked = data
    model = TunedSVM(LinearSVM(**EXACT), validation=2, min_positives=1).fit(X, Y)
    plain = LinearSVM(C=model.C_, J=model.J_, **EXACT).fit(X, Y)
    np.testing.assert_allclose(model.scores(asked), plain.scores(asked), atol=1e-6)


@pytest.mark.parametrize("sizes", [(10, 10), (4, 7)])
def test_t_tests(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    one, two = rng.normal(0.5, 1, sizes[0]), rng.normal(0, 2, sizes[1])
    expected = stats.ttest_ind(one, two, alternative="greater")
    found = t_test(one, two)
    np.testing.assert_allclose(
        [found.t, found.df, found.p], [expected.statistic, expected.df, expected.pvalue], rtol=1e-12
    )
    np.testing.assert_allclose(found.critical, stats.t.ppf(0.95, found.df), rtol=1e-12)
    if sizes[0] == sizes[1]:
        expected = stats.ttest_rel(one, two, alternative="greater")
        found = t_test(one, two, paired=True)
        np.testing.assert_allclose([found.t, found.p], [expected.statistic, expected.pvalue], rtol=1e-12)
