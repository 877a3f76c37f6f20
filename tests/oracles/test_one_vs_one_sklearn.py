"""One-vs-one against scikit-learn's `OneVsOneClassifier` on single-label data."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.strategies.one_vs_one import OneVsOne


@pytest.fixture(params=range(3))
def problem(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(request.param)
    y = rng.integers(0, 5, 120)
    return rng.poisson(0.5 + 1.5 * np.eye(5, 14)[y]).astype(float), np.array(list("badce"))[y]


@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(random_state=0)], ids=repr)
def test_scores_of_scikit_learn_models_are_the_same(problem: Any, model: Any) -> None:
    X, y = problem
    theirs, ours = OneVsOneClassifier(model).fit(X, y), OneVsOne(model).fit(X, y)
    np.testing.assert_allclose(4 * ours.scores(X), theirs.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_votes_with_naive_bayes_are_the_same(problem: Any) -> None:
    """scikit-learn sums probabilities, we sum log-odds; the votes, before ties are broken, must agree."""
    X, y = problem
    theirs = OneVsOneClassifier(MultinomialNB()).fit(X, y)
    ours = OneVsOne(BinaryNaiveBayes(smoothing="laplace", unlabelled="negative")).fit(X, y)
    votes, _ = ours.votes(ours.features(X))
    np.testing.assert_array_equal(votes, np.rint(theirs.decision_function(X)))


def test_our_svm_gives_the_scores_of_liblinear(problem: Any) -> None:
    X, y = problem
    theirs = OneVsOneClassifier(LinearSVC(tol=1e-8, max_iter=100_000, random_state=0)).fit(X, y)
    ours = OneVsOne(LinearSVM(tol=1e-7, max_iter=100_000)).fit(X, y)
    np.testing.assert_allclose(4 * ours.scores(X), theirs.decision_function(X), atol=1e-4)
