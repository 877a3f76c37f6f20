"""Naive Bayes with unlabelled documents (Nigam, McCallum, Thrun & Mitchell 2000): numbers one can do by hand."""

from typing import Any

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes

X = np.array([[2, 0], [0, 2], [1, 0]])
Y = np.array([[1, 0], [0, 1], [0, 0]])


def probabilities(model: Any) -> np.ndarray:
    return np.exp(model.linear.weights(np.arange(2), np.arange(2)).T)


def test_one_step_by_hand() -> None:
    """θ_a = (3/4, 1/4), p(a|u) = 3/4; then θ_a = (3.75, 1)/4.75, θ_b = (1.25, 3)/4.25, p = (1.75, 1.25)/3."""
    model = SemiSupervisedNaiveBayes(max_iter=1).fit(X, Y)
    theta = np.array([[3.75 / 4.75, 1 / 4.75], [1.25 / 4.25, 3 / 4.25]])
    prior = np.array([1.75, 1.25]) / 3
    assert probabilities(model) == pytest.approx(theta)
    assert np.exp(model.intercept_) == pytest.approx(prior)
    before = 2 * (np.log(0.5) + 2 * np.log(0.75)) + np.log(0.5 * 0.75 + 0.5 * 0.25) + 2 * np.log(0.75 * 0.25)
    after = np.log(prior).sum() + 2 * np.log(theta[0, 0] * theta[1, 1]) + np.log(prior @ theta[:, 0])
    assert model.objective_ == pytest.approx([before, after + np.log(theta).sum()])
    assert (model.n_iter_, model.converged_) == (2, False)


def test_the_weight_of_unlabelled_documents() -> None:
    """λ = ½ counts half a document: θ_a = (3.375, 1)/4.375, p(a) = (1 + ½ · ¾)/2.5."""
    model = SemiSupervisedNaiveBayes(unlabelled_weight=0.5, max_iter=1).fit(X, Y)
    assert probabilities(model)[0] == pytest.approx(np.array([3.375, 1]) / 4.375)
    assert np.exp(model.intercept_[0]) == pytest.approx(1.375 / 2.5)


@pytest.mark.parametrize(("prior", "share"), [("add-one", 2.75 / 5), ("uniform", 1 / 2)])
def test_priors(prior: Any, share: float) -> None:
    """Nigam's p(c) adds one document to each label: (1 + 1.75)/(2 + 3)."""
    model = SemiSupervisedNaiveBayes(prior=prior, max_iter=1).fit(X, Y)
    assert np.exp(model.intercept_[0]) == pytest.approx(share)


def test_several_labels_are_replicated() -> None:
    """A labelled document counts once for each label, an unlabelled one once in all."""
    x, y = np.array([[2, 2], [1, 0]]), np.array([[1, 1], [0, 0]])
    model = SemiSupervisedNaiveBayes(max_iter=1).fit(x, y)
    assert probabilities(model) == pytest.approx(np.array([[3.5, 3], [3.5, 3]]) / 6.5)


@pytest.mark.parametrize("prior", ["documents", "add-one", "uniform"])
def test_without_weight_it_is_multinomial_naive_bayes(prior: Any) -> None:
    """λ = 0, or no unlabelled document: the same scores, bit by bit."""
    rng = np.random.default_rng(2)
    x, y = rng.poisson(0.7, (30, 8)), (rng.random((30, 4)) < 0.3).astype(int)
    plain = MultinomialNaiveBayes(smoothing="lidstone", alpha=0.3, prior=prior)
    none = SemiSupervisedNaiveBayes(unlabelled_weight=0.0, alpha=0.3, prior=prior).fit(x, y)
    assert (none.scores(x) == plain.fit(x, y).scores(x)).all()
    labelled = y.any(axis=1)
    full = SemiSupervisedNaiveBayes(alpha=0.3, prior=prior).fit(x[labelled], y[labelled])
    assert (full.scores(x) == plain.fit(x[labelled], y[labelled]).scores(x)).all()
    assert (full.n_iter_, full.converged_) == (1, True)


def test_words_travel_through_unlabelled_documents() -> None:
    """Words 1 and 2 are in unlabelled documents only: useless without them, four to one with them."""
    x = np.array([[2, 0, 0, 0], [0, 0, 0, 2], [2, 3, 0, 0], [0, 0, 3, 2]])
    y = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])
    new = [[0, 1, 0, 0], [0, 0, 1, 0]]
    assert SemiSupervisedNaiveBayes(unlabelled_weight=0).fit(x, y).predict_proba(new) == pytest.approx(0.5)
    learned = SemiSupervisedNaiveBayes().fit(x, y).predict_proba(new)
    assert learned == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]), abs=2e-3)


def test_edges() -> None:
    """A label never seen takes nothing; without any label there is nothing to share out; empty documents; words."""
    model = SemiSupervisedNaiveBayes().fit(X, np.column_stack([Y, np.zeros(3, int)]))
    assert (model.scores(X)[:, 2] == 0).all()
    assert np.isfinite(model.objective_).all()
    nothing = SemiSupervisedNaiveBayes().fit(X, 0 * Y)
    assert (nothing.scores(X) == 0).all()
    empty = SemiSupervisedNaiveBayes().fit(np.vstack([X, [[0, 0]]]), np.vstack([Y, [[0, 0]]]))
    assert empty.scores([[0, 0]]) == pytest.approx(np.exp(empty.intercept_)[np.newaxis])
    assert SemiSupervisedNaiveBayes().fit(Csr(X), Csr(Y)).predict(Csr(X)).shape == (3, 2)
    with pytest.raises(ParameterError, match="unlabelled_weight must be a number of at least 0, not -1"):
        SemiSupervisedNaiveBayes(unlabelled_weight=-1).fit(X, Y)


def test_evidence_adds_up() -> None:
    """x_w log p(w|c), which with log p(c) makes the joint."""
    model = SemiSupervisedNaiveBayes(max_iter=1).fit(X, Y)
    evidence = model.evidence([[2, 1]])
    assert evidence.toarray()[0] == pytest.approx([2 * np.log(3.75 / 4.75), np.log(1 / 4.75)])
    assert evidence.sum(axis=1) + model.intercept_ == pytest.approx(model.linear(Csr([[2.0, 1.0]]))[0])
