"""Label powerset over any classifier: the best class of a single-label problem, as scikit-learn solves it."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from manylabel.models import LinearSVM, Rocchio
from manylabel.strategies import LabelPowerset


def corpus(n_labels: int = 4) -> tuple[Any, Any]:
    """Documents with two to many label sets; every document has a label."""
    random = np.random.default_rng(7)
    Y = (random.random((60, n_labels)) < 0.35).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    X = random.poisson(0.3, (60, 9)).astype(float)
    X[:, :n_labels] += 2 * Y
    return sparse.csr_array(X), Y


@pytest.mark.parametrize("n_labels", [1, 2, 4])
@pytest.mark.parametrize("classifier", [LogisticRegression(), MultinomialNB(), LinearSVC()])
def test_it_predicts_the_label_set_that_the_classifier_does(classifier: Any, n_labels: int) -> None:
    X, Y = corpus(n_labels)
    fitted = LabelPowerset(classifier).fit(X, Y)
    sets, numbers = np.unique(Y, axis=0, return_inverse=True)
    assert len(sets) == fitted.sets_.shape[0]
    expected = sets[classifier.fit(X, numbers.ravel()).predict(X)] if len(sets) > 1 else Y
    np.testing.assert_array_equal(fitted.predict(X), expected)


def test_a_probability_is_the_sum_over_the_sets_with_the_label() -> None:
    X, Y = corpus()
    sets, numbers = np.unique(Y, axis=0, return_inverse=True)
    shares = LogisticRegression().fit(X, numbers.ravel()).predict_proba(X)
    found = LabelPowerset(LogisticRegression()).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(found, shares @ sets, atol=1e-4)


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVM(), Rocchio()])
def test_a_margin_is_the_best_set_with_the_label_minus_the_best_without(model: Any) -> None:
    """Max over S with k of s_S − max over S without k, by plain loops; its sign is the predicted label."""
    X, Y = corpus()
    Y[:, 2], Y[:, 3] = 1, 0
    fitted = LabelPowerset(model).fit(X, Y)
    of_sets, sets = fitted.model_.score_batch(X), fitted.sets_.toarray()
    scores = fitted.decision_function(X)
    for label in (0, 1):
        for row in range(X.shape[0]):
            inside = max(s for s, own in zip(of_sets[row], sets[:, label], strict=True) if own)
            outside = max(s for s, own in zip(of_sets[row], sets[:, label], strict=True) if not own)
            assert scores[row, label] == pytest.approx(inside - outside)
    assert (scores[:, 2] == 1).all()
    assert (scores[:, 3] == -1).all()
    np.testing.assert_array_equal(fitted.predict(X), scores > 0)


def test_the_evidence_of_svms_adds_up_to_the_margin() -> None:
    X, Y = corpus()
    fitted = LabelPowerset(LinearSVM()).fit(X, Y)
    parts = fitted.score_parts(X[[0]])
    np.testing.assert_allclose(parts.total, fitted.decision_function(X[[0]])[0], atol=1e-9)
    np.testing.assert_allclose(np.asarray(parts.terms.sum(axis=1)).ravel() + parts.intercept, parts.total, atol=1e-9)
