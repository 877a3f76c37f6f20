"""Complement naive Bayes, and multinomial naive Bayes on weighted and on binary counts: B-10."""

import math

import numpy as np
import pytest

import manylabel
from manylabel.features.weighting import Weighting
from manylabel.models.complement_nb import ComplementNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes

LECTURE = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
CHINA = np.array(["yes", "yes", "yes", "no"])
QUERY = np.array([[3, 0, 0, 0, 1, 1]])
NO, YES = 0, 1


def test_raw_scores() -> None:
    """B-10: the complement of yes is the one document of no: θ = (2, 1, 1, 1, 2, 2)/9; scores 7.5204, 7.8200."""
    scores = ComplementNaiveBayes(normalise=False).fit(LECTURE, CHINA).scores(QUERY)[0]
    assert scores[YES] == pytest.approx(-5 * math.log(2 / 9))
    assert scores[NO] == pytest.approx(-3 * math.log(6 / 14) - 2 * math.log(1 / 14))
    assert scores == pytest.approx([7.8200, 7.5204], abs=5e-5)


def test_normalised_scores() -> None:
    """B-10: divided by Σ|w|: .677274 for yes, .653675 for no; the two forms disagree, and normalised is the default."""
    model = ComplementNaiveBayes().fit(LECTURE, CHINA)
    assert model.scores(QUERY)[0] == pytest.approx([0.653675, 0.677274], abs=5e-7)
    assert model.predict(QUERY).tolist() == ["yes"]
    assert ComplementNaiveBayes(normalise=False).fit(LECTURE, CHINA).predict(QUERY).tolist() == ["no"]
    weights = model.linear.weights(np.arange(6), np.array([NO, YES]))
    np.testing.assert_allclose(np.abs(weights).sum(axis=0), 1.0)
    np.testing.assert_allclose(model.evidence(QUERY).sum(axis=1), model.scores(QUERY)[0])


def test_several_labels() -> None:
    """B-10: the complement of a label is every document without it, the unlabelled one too unless ignored."""
    X, Y = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    # without label 0: (0, 2, 4); without label 1: (2, 0, 4)
    raw = ComplementNaiveBayes(normalise=False).fit(X, Y).scores(np.eye(3))
    np.testing.assert_allclose(raw, -np.log(np.array([[1, 3, 5], [3, 1, 5]]).T / 9))
    ignoring = ComplementNaiveBayes(normalise=False, unlabelled="ignore").fit(X, Y).scores(np.eye(3))
    np.testing.assert_allclose(ignoring, -np.log(np.array([[1, 3, 2], [3, 1, 2]]).T / 6))


def test_edge_cases() -> None:
    """Section 12: a label never seen is never predicted; an empty document scores 0; one term alone is no evidence."""
    Y = np.array([[1, 0], [1, 0], [0, 0], [1, 0]])
    model = ComplementNaiveBayes().fit(LECTURE, Y)
    assert model.scores(np.zeros((1, 6))).tolist() == [[0.0, -np.inf]]
    assert not model.predict(LECTURE)[:, 1].any()
    assert ComplementNaiveBayes().fit([[1], [2]], ["a", "b"]).scores([[7]]).tolist() == [[0.0, 0.0]]


def test_pieces_and_merging() -> None:
    """Counts add up."""
    whole = ComplementNaiveBayes().fit(LECTURE, CHINA)
    pieces = ComplementNaiveBayes().partial_fit(LECTURE[:2], CHINA[:2], classes=["no", "yes"])
    pieces.partial_fit(LECTURE[2:], CHINA[2:])
    np.testing.assert_array_equal(pieces.scores(QUERY), whole.scores(QUERY))


def test_duplicate_removal() -> None:
    """B-10: x_w := [x_w > 0] gives joints (.00173611, .00274348) and posterior yes .387560."""
    binary = Weighting(tf="binary", idf="none", norm=None).fit(LECTURE)
    model = MultinomialNaiveBayes(smoothing="laplace").fit(binary.transform(LECTURE), CHINA)
    joint = np.exp(model.log_joint(binary.transform(QUERY)))[0]
    # yes: Chinese in 3 of 6 words, (3 + 1)/12; no: each (1 + 1)/9
    assert joint[YES] == pytest.approx(0.75 * (4 / 12) * (1 / 12) ** 2)
    assert joint[NO] == pytest.approx(0.25 * (2 / 9) ** 3)
    assert joint[[YES, NO]] == pytest.approx([0.00173611, 0.00274348], abs=5e-9)
    assert model.predict_proba(binary.transform(QUERY))[0, YES] == pytest.approx(0.387560, abs=5e-7)


def test_tf_idf_counts() -> None:
    """B-10: Chinese is everywhere (idf 0), every other word once (ln 4)."""
    weighting = Weighting(idf="plain", norm=None).fit(LECTURE)
    model = MultinomialNaiveBayes(smoothing="laplace").fit(weighting.transform(LECTURE), CHINA)
    idf = math.log(4)
    log_odds = math.log(3) + 2 * idf * math.log(1 / (3 * idf + 6) / ((idf + 1) / (2 * idf + 6)))
    expected = 1 / (1 + math.exp(-log_odds))
    assert model.predict_proba(weighting.transform(QUERY))[0, YES] == pytest.approx(expected)


@pytest.mark.parametrize(
    "weighting", [{"tf": "binary", "idf": "none", "norm": None}, {"tf": "log", "idf": "plain", "norm": "l2"}]
)
def test_weighted_counts_from_text_to_labels(weighting: dict[str, str | None]) -> None:
    """B-10: both are settings of the pipeline."""
    texts = ["the bus was late", "the bus was late again", "a hole in the road", "the road and a deep hole"]
    names = [["buses"], ["buses"], ["roads"], ["roads"]]
    model = manylabel.TextClassifier("nb-unilabel", weighting=weighting, model={"smoothing": "laplace"})
    assert model.fit(texts, names).predict(["late bus bus", "hole"]) == [["buses"], ["roads"]]
