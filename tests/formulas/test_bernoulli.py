"""Multivariate Bernoulli naive Bayes and odds by hand: B-5 and B-6."""

import math

import numpy as np
import pytest

from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind, logit, posteriors, sigmoid

# Chinese, Beijing, Shanghai, Macao, Tokyo, Japan (Manning, Raghavan & Schütze 2008, table 13.1)
LECTURE = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
CHINA = np.array(["yes", "yes", "yes", "no"])
QUERY = np.array([[3, 0, 0, 0, 1, 1]])
YES = np.array([4 / 5, 2 / 5, 2 / 5, 2 / 5, 1 / 5, 1 / 5])
NO = np.array([2 / 3, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3])


def joint(presence: np.ndarray, probabilities: np.ndarray, prior: float) -> float:
    return prior * float(np.where(presence > 0, probabilities, 1 - probabilities).prod())


def test_lecture_example() -> None:
    """B-5: joint .75 · 4/5 · 1/5 · 1/5 · (3/5)³ = .005184 and .02194787; posterior yes .19106679."""
    model = BernoulliNaiveBayes(target="classes").fit(LECTURE, CHINA)
    no, yes = np.exp(model.log_joint(QUERY))[0]
    assert yes == pytest.approx(0.75 * 4 / 5 * 1 / 5 * 1 / 5 * (3 / 5) ** 3, rel=1e-12)
    assert no == pytest.approx(0.25 * (2 / 3) ** 6, rel=1e-12)
    assert (yes, no) == pytest.approx((0.005184, 0.02194787), abs=5e-9)
    assert model.predict_proba(QUERY)[0, 1] == pytest.approx(0.19106679, abs=5e-9)


def test_bernoulli_and_multinomial_disagree() -> None:
    """B-5: Bernoulli predicts no, multinomial (B-3) yes."""
    assert BernoulliNaiveBayes(target="classes").fit(LECTURE, CHINA).predict(QUERY).tolist() == ["no"]
    assert MultinomialNaiveBayes(smoothing="laplace").fit(LECTURE, CHINA).predict(QUERY).tolist() == ["yes"]


def test_the_label_against_the_rest_is_the_same_two_class_problem() -> None:
    """B-5: with one label the rest is the other class, so the odds are those of the two classes."""
    one = BernoulliNaiveBayes().fit(LECTURE, (CHINA == "yes").astype(int)[:, np.newaxis])
    assert one.score_kind is ScoreKind.LOG_ODDS
    assert one.predict_proba(QUERY)[0, 0] == pytest.approx(0.19106679, abs=5e-9)


def test_empty_document_is_not_the_prior() -> None:
    """B-5: every word is absent from an empty document."""
    model = BernoulliNaiveBayes(target="classes").fit(LECTURE, CHINA)
    expected = np.array([joint(np.zeros(6), NO, 0.25), joint(np.zeros(6), YES, 0.75)])
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 6)))[0], expected / expected.sum(), rtol=1e-12)


def test_two_is_the_number_of_values_not_of_classes() -> None:
    """B-5: three classes of one document each: P = (1 + 1)/(1 + 2) and 1/3."""
    model = BernoulliNaiveBayes(target="classes").fit(np.eye(3), ["a", "b", "c"])
    found = np.exp(model.log_joint([[1, 0, 0]]))[0]
    np.testing.assert_allclose(found, np.array([(2 / 3) ** 3, (1 / 3) ** 2 * 2 / 3, (1 / 3) ** 2 * 2 / 3]) / 3)


def test_documents_without_a_label() -> None:
    """Section 12: they are negatives of every label, or left out."""
    X, Y = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[1], [0], [0]])
    X_more, Y_more = np.vstack([X, [[1, 0]]]), np.vstack([Y, [[0]]])
    two = np.column_stack([Y, 1 - Y])  # no document is without a label
    ignored = BernoulliNaiveBayes(unlabelled="ignore").fit(X_more, np.vstack([two, [[0, 0]]]))
    np.testing.assert_allclose(ignored.scores(X)[:, 0], BernoulliNaiveBayes().fit(X, two).scores(X)[:, 0])
    # as a negative: rest df = (2, 2) of 3 documents, label df = (1, 0) of 1
    rest, label, prior = np.array([3 / 5, 3 / 5]), np.array([2 / 3, 1 / 3]), 1 / 4
    counted = BernoulliNaiveBayes().fit(X_more, Y_more).scores([[1, 0]])[0, 0]
    seen = np.array([1, 0])
    assert counted == pytest.approx(math.log(joint(seen, label, prior) / joint(seen, rest, 1 - prior)))


def test_constant_labels() -> None:
    """Section 12: a label nobody has is impossible, one everybody has certain."""
    Y = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 0]])
    shown = BernoulliNaiveBayes().fit(LECTURE, Y).predict_proba(LECTURE)
    assert shown[:, 0].tolist() == [1.0] * 4
    assert shown[:, 1].tolist() == [0.0] * 4
    unseen = BernoulliNaiveBayes(target="classes").fit(LECTURE, Y).predict_proba(LECTURE)[:, 1]
    assert unseen.tolist() == [0.0] * 4


def test_odds() -> None:
    """B-6: odds of .8 are 4; P = 1 → ∞, P = 0 → 0; and back."""
    assert math.exp(logit(0.8)) == pytest.approx(4)
    assert math.exp(logit(0.0)) == 0.0
    assert logit(1.0) == math.inf
    assert sigmoid(math.log(4)) == pytest.approx(0.8)


def test_posterior_by_total_probability() -> None:
    """B-6: P(a) = .01, P(b|a) = .9, P(b|not a) = .08: P(a|b) = .009/(.009 + .0792) = 5/49."""
    found = posteriors(np.log([[0.01 * 0.9, 0.99 * 0.08]]))
    assert found[0, 0] == pytest.approx(5 / 49)


def test_pieces_and_merging() -> None:
    """Document frequencies add up."""
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    whole = BernoulliNaiveBayes().fit(LECTURE, Y)
    pieces = BernoulliNaiveBayes().partial_fit(LECTURE[:1], Y[:1]).partial_fit(LECTURE[1:], Y[1:])
    merged = BernoulliNaiveBayes().fit(LECTURE[2:], Y[2:]).merge(BernoulliNaiveBayes().fit(LECTURE[:2], Y[:2]))
    np.testing.assert_array_equal(pieces.scores(QUERY), whole.scores(QUERY))
    np.testing.assert_array_equal(merged.scores(QUERY), whole.scores(QUERY))


def test_evidence_is_what_presence_adds() -> None:
    """The evidence of a word: log-odds of its presence in the label minus those in the rest."""
    model = BernoulliNaiveBayes().fit(LECTURE, (CHINA == "yes").astype(int)[:, np.newaxis])
    odds = np.log(YES / (1 - YES)) - np.log(NO / (1 - NO))
    np.testing.assert_allclose(model.evidence([[5, 1, 0, 0, 0, 1]]).toarray(), [odds * [1, 1, 0, 0, 0, 1]], rtol=1e-12)
    found = model.evidence(QUERY)
    np.testing.assert_allclose(model.intercept_ + found.sum(axis=1), model.scores(QUERY)[0])
