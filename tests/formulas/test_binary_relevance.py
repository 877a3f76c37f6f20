"""E-7 and B-8: one two-class problem per label, numbers by hand."""

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.svm import LinearSVC

from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.label_powerset import LabelPowerset

X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
Y = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [1, 1, 0, 1], [0, 0, 0, 1]])


def test_each_label_against_its_absence_by_hand() -> None:
    """E-7, B-8: label 0 has the words 3, 1, 1 and its absence 0, 2, 4, Laplace 1, both priors one half."""
    model = BinaryRelevance(MultinomialNaiveBayes(smoothing="laplace")).fit(X, Y)
    odds = 2 * np.log(((3 + 1) / (5 + 3)) / ((0 + 1) / (6 + 3))) + np.log(((1 + 1) / (5 + 3)) / ((4 + 1) / (6 + 3)))
    assert model.score_kind is ScoreKind.LOG_ODDS
    assert model.scores(X)[0, 0] == pytest.approx(odds)
    np.testing.assert_array_equal(model.predict(X)[:, :2], [[1, 0], [0, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize(
    "base",
    [MultinomialNB(), MultinomialNaiveBayes(), BernoulliNB(), LogisticRegression(), LabelPowerset(BinaryNaiveBayes())],
    ids=repr,
)
def test_constant_labels_stay_constant(base: Any) -> None:
    """E-7: constant labels are predicted constant, without asking the model."""
    model = BinaryRelevance(base).fit(X, Y)
    assert len(model.models_) == 2
    np.testing.assert_array_equal(model.scores(X)[:, 2:], np.repeat([[-np.inf, np.inf]], 4, axis=0))
    np.testing.assert_array_equal(model.predict(X)[:, 2:], np.repeat([[0, 1]], 4, axis=0))


def test_constant_margins_are_one() -> None:
    """Section 12: without positives −1, without negatives +1, for margins."""
    model = BinaryRelevance(LinearSVC()).fit(X, Y)
    assert model.score_kind is ScoreKind.MARGIN
    assert not hasattr(model, "predict_proba")
    np.testing.assert_array_equal(model.scores(X)[:, 2:], np.repeat([[-1.0, 1.0]], 4, axis=0))


@pytest.mark.parametrize("base", [BinaryNaiveBayes(), LinearSVM(loss="hinge")], ids=repr)
def test_a_model_that_treats_labels_alone_is_fitted_once(base: Any) -> None:
    """E-7: all labels in one fit, which changes nothing."""
    model = BinaryRelevance(base).fit(X, Y)
    assert not hasattr(model, "models_")
    np.testing.assert_array_equal(model.scores(X), base.fit(X, Y).scores(X))


def test_a_document_without_the_label_is_a_negative_not_an_unlabelled_one() -> None:
    """A posterior model learns the label and its absence, so documents without labels count on the second side."""
    model = BinaryRelevance(MultinomialNaiveBayes(smoothing="laplace")).fit(X, Y[:, :1])
    assert model.models_[0].label_documents_.tolist() == [2, 2]


def test_a_tie_of_two_classes_gives_no_label() -> None:
    """B-8, section 12: argmax over {0, 1}, ties to the lower."""
    model = BinaryRelevance(DummyClassifier(strategy="prior")).fit(X, Y[:, :1])
    np.testing.assert_array_equal(model.scores(X), np.zeros((4, 1)))
    assert not model.predict(X).any()


def test_threads_change_nothing() -> None:
    one = BinaryRelevance(MultinomialNaiveBayes()).fit(X, Y)
    two = BinaryRelevance(MultinomialNaiveBayes(), n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(one.scores(X), two.scores(X))


def test_probabilities_that_round_to_one_keep_their_order() -> None:
    """The log-odds of logistic regression come from its decision function: 1 − 1e-40 is not 1."""
    rows = np.array([[100.0], [90.0], [-100.0], [-90.0]])
    labels = np.array([[1], [1], [0], [0]])
    model = BinaryRelevance(LogisticRegression(C=1e6)).fit(rows, labels)
    far = model.scores(np.array([[300.0], [400.0]]))
    assert (model.predict_proba(np.array([[3000.0], [4000.0]])) == 1.0).all()
    assert far[1, 0] > far[0, 0] + 5


def test_large_indices_are_narrowed_for_scikit_learn() -> None:
    """Some solvers of scikit-learn refuse 64-bit indices."""
    wide = Csr(X.astype(float))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    model, other = (BinaryRelevance(LinearSVC(random_state=0)).fit(given, Y) for given in (wide, X.astype(float)))
    np.testing.assert_array_equal(model.scores(wide), other.scores(X.astype(float)))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ParameterError, match="model must be a model of manylabel, or a scikit-learn classifier"):
        BinaryRelevance("svm").fit(X, Y)
