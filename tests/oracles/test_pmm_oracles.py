"""PMM1 and PMM2 against scikit-learn where they must agree, against a general optimiser, and against plain loops."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.naive_bayes import MultinomialNB

from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes


@pytest.fixture(scope="module")
def corpus() -> tuple[np.ndarray, np.ndarray]:
    """Sixty documents of four labels, one to three each, with words of their own."""
    rng = np.random.default_rng(11)
    theta = rng.dirichlet(np.full(15, 0.3), 4)
    Y = np.zeros((60, 4), dtype=int)
    for row in Y:
        row[rng.choice(4, rng.integers(1, 4), replace=False)] = 1
    X = np.array([rng.multinomial(rng.integers(5, 30), row @ theta / row.sum()) for row in Y])
    return X, Y


@pytest.mark.parametrize("xi", [1.5, 2.0])
def test_one_label_a_document_is_multinomial_naive_bayes(corpus: Any, xi: float) -> None:
    """θ = (N_cw + ξ − 1)/(N_c + V (ξ − 1)), and the best label of a uniform prior: scikit-learn's MultinomialNB."""
    X, Y = corpus
    y = Y.argmax(axis=1)
    theirs = MultinomialNB(alpha=xi - 1, fit_prior=False).fit(X, y)
    for method in (PMM1, PMM2):
        ours = method(xi=xi).fit(X, y)
        theta = ours.theta_.toarray().T + (ours.theta_.toarray().T == 0) * ours.background_[:, np.newaxis]
        np.testing.assert_allclose(np.log(theta), theirs.feature_log_prob_)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        joint = theirs.predict_joint_log_proba(X)
        others = np.array([np.delete(joint, label, axis=1).max(axis=1) for label in range(4)]).T
        np.testing.assert_allclose(ours.scores(X), joint - others, atol=1e-9)


def _theta(free: np.ndarray, n_labels: int) -> np.ndarray:
    logits = free.reshape(n_labels, -1)
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def test_the_optimum_of_pmm1_is_that_of_a_general_optimiser(corpus: Any) -> None:
    X, Y = corpus
    h = Y / Y.sum(axis=1, keepdims=True)

    def loss(free: np.ndarray) -> float:
        theta = _theta(free, 4)
        return -float((X * np.log(h @ theta)).sum() + np.log(theta).sum())

    found = minimize(loss, np.zeros(60), method="L-BFGS-B", options={"maxiter": 500, "maxfun": 10**6, "ftol": 1e-15})
    ours = PMM1(tol=1e-13, max_iter=2000).fit(X, Y)
    assert ours.objective_[-1] == pytest.approx(-found.fun, rel=1e-7)
    assert ours.objective_[-1] >= -found.fun - 1e-6


def test_pmm2_ends_at_a_stationary_point(corpus: Any) -> None:
    """No small move of θ and α raises J: a general optimiser started at our solution stays there."""
    X, Y = corpus
    ours = PMM2(tol=1e-14, max_iter=5000).fit(X, Y)
    pairs = list(combinations(range(4), 2))
    h = Y / Y.sum(axis=1, keepdims=True)

    def loss(free: np.ndarray) -> float:
        theta, alpha = _theta(free[:60], 4), np.full((4, 4), 0.5)
        for (first, second), logit in zip(pairs, free[60:]):
            alpha[first, second] = 1 / (1 + np.exp(-logit))
            alpha[second, first] = 1 - alpha[first, second]
        shares = 2 * h * (h @ alpha.T)
        return -float((X * np.log(shares @ theta)).sum() + np.log(theta).sum() + np.log(alpha).sum())

    theta = ours.theta_.toarray().T + (ours.theta_.toarray().T == 0) * ours.background_[:, np.newaxis]
    alpha = np.array([ours.alpha_[first, second] for first, second in pairs])
    here = np.concatenate([np.log(theta).reshape(-1), np.log(alpha / (1 - alpha))])
    assert ours.objective_[-1] == pytest.approx(-loss(here), rel=1e-10)
    found = minimize(loss, here, method="L-BFGS-B", options={"maxiter": 200, "maxfun": 10**6, "ftol": 1e-14})
    assert -found.fun == pytest.approx(ours.objective_[-1], rel=1e-7)


@pytest.mark.parametrize("method", [PMM1, PMM2])
@pytest.mark.parametrize("prior", [None, "labels and sizes"])
def test_scores_by_plain_loops(corpus: Any, method: Any, prior: Any) -> None:
    """Every set looked at by the literal formulas: the best with the label minus the best without it."""
    X, Y = corpus
    for search in ("greedy", "exhaustive"):
        model = method(search=search, prior=prior).fit(X, Y)
        expected = np.array([_scores(model, x, Y) for x in X[:20]])
        np.testing.assert_allclose(model.scores(X[:20]), expected, rtol=1e-8, atol=1e-8)


def _scores(model: Any, x: np.ndarray, Y: np.ndarray) -> list[float]:
    seen: dict[tuple[int, ...], float] = {}
    if model.search == "exhaustive":
        for size in range(1, 5):
            seen |= {part: _value(model, x, Y, part) for part in combinations(range(4), size)}
    else:
        chosen: tuple[int, ...] = ()
        while len(chosen) < 4:
            step = {tuple(sorted((*chosen, c))): 0.0 for c in range(4) if c not in chosen}
            step = {part: _value(model, x, Y, part) for part in step}
            seen |= step
            best = max(step, key=step.__getitem__)
            if chosen and step[best] <= seen[chosen]:
                break
            chosen = best
    return [
        max(value for part, value in seen.items() if label in part)
        - max(value for part, value in seen.items() if label not in part)
        for label in range(4)
    ]


def _value(model: Any, x: np.ndarray, Y: np.ndarray, part: tuple[int, ...]) -> float:
    """Σ x_i log Σ_{l,m} h_l h_m (α_lm θ_li + α_ml θ_mi) + log P(S)."""
    theta = model.theta_.toarray() + (model.theta_.toarray() == 0) * model.background_
    alpha = np.full((4, 4), 0.5)
    if isinstance(model, PMM2):
        alpha = np.where(model.alpha_.toarray() > 0, model.alpha_.toarray(), 0.5)
    phi = np.zeros(len(x))
    for first in part:
        for second in part:
            phi += (alpha[first, second] * theta[:, first] + alpha[second, first] * theta[:, second]) / len(part) ** 2
    value = float(x @ np.log(phi))
    if model.prior:
        share = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
        value += float(np.log(share / (1 - share))[list(part)].sum())
        value += float(np.log(((Y.sum(axis=1) == len(part)).sum() + 1) / (len(Y) + 4)))
    return value


def test_unlabelled_documents_by_plain_loops(corpus: Any) -> None:
    """Four steps of EM-λ over dense tables, document by document."""
    X, Y = corpus
    Y = Y.copy()
    Y[25:] = 0
    alpha, weight = 0.5, 0.3
    counts, documents = (Y.T @ X).astype(float), Y.sum(axis=0).astype(float)
    theta, prior = counts + alpha, documents / documents.sum()
    theta /= theta.sum(axis=1, keepdims=True)
    for _ in range(4):
        more, mass = counts.copy(), documents.copy()
        for x in X[25:]:
            joint = np.log(prior) + np.log(theta) @ x
            p = np.exp(joint - joint.max())
            p /= p.sum()
            more += weight * np.outer(p, x)
            mass += weight * p
        theta, prior = more + alpha, mass / mass.sum()
        theta /= theta.sum(axis=1, keepdims=True)
    model = SemiSupervisedNaiveBayes(weight, alpha, tol=0.0, max_iter=4).fit(X, Y)
    np.testing.assert_allclose(model.linear.weights(np.arange(15), np.arange(4)).T, np.log(theta), rtol=1e-8)
    np.testing.assert_allclose(np.exp(model.intercept_), prior, rtol=1e-8)
