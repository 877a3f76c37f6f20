"""Calibration against scikit-learn's isotonic regression and a general optimiser on Platt's metric."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from manylabel.decisions.calibration import Calibration
from manylabel.decisions.logistic_curves import fit_curves
from manylabel.estimator import Csr


def _case(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of different frequency and scale; scores rounded, so that some are equal."""
    rng = np.random.default_rng(seed)
    truth = rng.random((80, 4)) < np.array([0.5, 0.2, 0.05, 0.02])
    truth[0] = True
    scores = np.round(rng.normal(size=truth.shape) + 1.5 * truth, 1) * np.array([1.0, 10.0, 0.1, 3.0])
    return scores, truth


def _targets(truth: np.ndarray) -> np.ndarray:
    positives, negatives = truth.sum(), (~truth).sum()
    return np.where(truth, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def _loss(theta: Any, scores: np.ndarray, truth: np.ndarray) -> float:
    z = theta[0] * scores + theta[1]
    return float((np.logaddexp(0, z) - _targets(truth) * z).sum())


@pytest.mark.parametrize("seed", range(3))
def test_platt(seed: int) -> None:
    scores, truth = _case(seed)
    curves = fit_curves(scores, truth, shrinkage=0)
    for label in range(truth.shape[1]):
        found = np.array([curves.slopes[label], curves.intercepts[label]])
        column = scores[:, label], truth[:, label]
        best = minimize(_loss, found * 0.5, args=column, bounds=[(0, None), (None, None)], tol=1e-12)
        assert _loss(found, *column) <= best.fun + 1e-9
        assert found == pytest.approx(best.x, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("shrinkage", [0.5, 5.0])
def test_platt_with_documents_of_the_pool(shrinkage: float) -> None:
    """The curve minimises the label's sum plus the pool's, to second order, on so many positives of it."""
    scores, truth = _case(3)
    pool = scores.reshape(-1), truth.reshape(-1)
    centre = np.array([found[0] for found in _pooled(scores, truth)])
    p = 1 / (1 + np.exp(-(centre[0] * pool[0] + centre[1])))
    design = np.stack([pool[0], np.ones_like(pool[0])])
    information = shrinkage / truth.sum() * (design * p * (1 - p)) @ design.T
    curves = fit_curves(scores, truth, shrinkage)

    def loss(theta: Any, label: int) -> float:
        away = np.asarray(theta) - centre
        return _loss(theta, scores[:, label], truth[:, label]) + 0.5 * float(away @ information @ away)

    for label in range(truth.shape[1]):
        found = np.array([curves.slopes[label], curves.intercepts[label]])
        best = minimize(loss, centre, args=(label,), bounds=[(0, None), (None, None)], tol=1e-12)
        assert loss(found, label) <= best.fun + 1e-9
        assert found == pytest.approx(best.x, rel=1e-3, abs=1e-3)


def _pooled(scores: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    curves = fit_curves(scores.reshape(-1, 1), truth.reshape(-1, 1), shrinkage=0)
    return curves.slopes, curves.intercepts


@pytest.mark.parametrize("seed", range(3))
def test_isotonic(seed: int) -> None:
    scores, truth = _case(seed)
    calibration = Calibration("isotonic", shrinkage=0).fit(scores, Csr(truth.astype(np.int8)))
    new = np.random.default_rng(9).normal(size=(50, 4)) * scores.std(axis=0)
    found = calibration.transform(new)
    for label in range(truth.shape[1]):
        judge = IsotonicRegression(out_of_bounds="clip").fit(scores[:, label], _targets(truth[:, label]))
        assert found[:, label] == pytest.approx(judge.predict(new[:, label]), abs=1e-12)
