"""Chains and binary relevance agree with scikit-learn's where they do the same."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain as TheirChain
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC

from manylabel.estimator import Csr
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.classifier_chain import ClassifierChain, stratified_folds

ORDER = [3, 0, 4, 1, 2]


@pytest.fixture(params=[0, 1], ids=["corpus 0", "corpus 1"])
def corpus(request: Any) -> tuple[Csr, np.ndarray]:
    """150 sparse documents, five labels that depend on words and on each other."""
    random = np.random.default_rng(request.param)
    words = random.poisson(0.15, (150, 60)).astype(float)
    noise = random.normal(0, 0.7, (150, 5))
    labels = np.empty((150, 5), dtype=int)
    for label in range(5):
        pull = words[:, 10 * label : 10 * label + 10].sum(axis=1) + (labels[:, label - 1] if label else 0)
        labels[:, label] = pull + noise[:, label] > 1.8
    return sparse.csr_array(words), labels


def _log_odds(probability: np.ndarray) -> np.ndarray:
    return np.log(probability) - np.log1p(-probability)


def test_chain_of_logistic_regressions(corpus: Any) -> None:
    """True labels in training: equal decision values and predictions."""
    X, Y = corpus
    base = LogisticRegression(solver="liblinear")
    theirs, ours = TheirChain(base, order=ORDER).fit(X, Y), ClassifierChain(base, order=ORDER).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_chain_of_svms(corpus: Any) -> None:
    X, Y = corpus
    base = LinearSVC(random_state=0, tol=1e-6)
    theirs, ours = TheirChain(base, order=ORDER).fit(X, Y), ClassifierChain(base, order=ORDER).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("base", [MultinomialNB(), BernoulliNB(), ComplementNB()], ids=repr)
def test_chain_of_naive_bayes(base: Any, corpus: Any) -> None:
    """Equal log-odds, from their probabilities."""
    X, Y = corpus
    theirs, ours = TheirChain(base, order=ORDER).fit(X, Y), ClassifierChain(base, order=ORDER).fit(X, Y)
    np.testing.assert_allclose(ours.scores(X), _log_odds(theirs.predict_proba(X)), rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("base", [LogisticRegression(solver="liblinear"), MultinomialNB()], ids=repr)
def test_chain_trained_out_of_fold(base: Any, corpus: Any) -> None:
    """With the same folds, `labels="out-of-fold"` is their `cv`."""
    X, Y = corpus
    folds = stratified_folds(sparse.csr_array(Y), 4, seed=2)
    theirs = TheirChain(base, order=ORDER, cv=folds).fit(X, Y)
    ours = ClassifierChain(base, order=ORDER, labels="out-of-fold", folds=4, seed=2).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)
    plain = ClassifierChain(base, order=ORDER).fit(X, Y)
    assert np.abs(plain.scores(X) - ours.scores(X)).max() > 1e-3, "the folds must matter"


@pytest.mark.parametrize(
    "base", [LogisticRegression(solver="liblinear"), MultinomialNB(), LinearSVC(random_state=0)], ids=repr
)
def test_binary_relevance(base: Any, corpus: Any) -> None:
    X, Y = corpus
    theirs, ours = OneVsRestClassifier(base).fit(X, Y), BinaryRelevance(base).fit(X, Y)
    if isinstance(base, MultinomialNB):
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)
    else:
        np.testing.assert_allclose(ours.scores(X), theirs.decision_function(X), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
