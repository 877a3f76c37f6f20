"""Choosing among the label sets seen in training, by hand."""

import math
from collections import Counter

import numpy as np
import pytest

from manylabel.decisions.calibration import Calibration
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.seen_sets import SeenSets, SetTable
from manylabel.decisions.table import find_rule
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind, logit

LOG_ODDS, MARGIN, POSTERIOR = ScoreKind.LOG_ODDS, ScoreKind.MARGIN, ScoreKind.POSTERIOR


def rule_over(sets: list[list[int]], metric: str = "sample-f1", log_dependence: list[float] | None = None) -> SeenSets:
    """A rule that takes log-odds as they are, so that the formula can be checked by itself."""
    n_labels = len(sets[0])
    calibration = Calibration().restore({"slopes_": np.ones(n_labels), "intercepts_": np.zeros(n_labels)})
    added = np.zeros(len(sets)) if log_dependence is None else np.array(log_dependence)
    rule = SeenSets(metric)  # type: ignore[arg-type]
    return rule.restore({"sets_": Csr(np.array(sets)), "log_dependence_": added, "calibration_": calibration})


def scores_of(*probabilities: float) -> np.ndarray:
    return np.array([[logit(p) for p in probabilities]])


def test_probabilities_over_seen_sets() -> None:
    """With p = (.8, .4, .1) {A} .8 · .6 · .9 = .432, {A, B} .8 · .4 · .9 = .288, {C} .2 · .6 · .1 = .012; sum .732."""
    rule = rule_over([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    found = rule.set_probabilities(scores_of(0.8, 0.4, 0.1), LOG_ODDS)
    assert found[0] == pytest.approx(np.array([0.432, 0.288, 0.012]) / 0.732)


def test_the_sets_factor() -> None:
    """Odds of {A, B} doubled by what is added: .432 : .576 : .012."""
    rule = rule_over([[1, 0, 0], [1, 1, 0], [0, 0, 1]], "exact-match", [0.0, math.log(2), 0.0])
    found = rule.set_probabilities(scores_of(0.8, 0.4, 0.1), LOG_ODDS)
    assert found[0] == pytest.approx(np.array([0.432, 0.576, 0.012]) / 1.02)
    assert rule.decide(scores_of(0.8, 0.4, 0.1), LOG_ODDS).toarray().tolist() == [[1, 1, 0]]


def test_most_probable_and_greatest_expected_f1() -> None:
    """P: {A} .4, {B} .35, {A, B} .25. Expected F1: {A} .4 + .25 · 2/3, {B} .35 + .25 · 2/3, {A, B} .75 · 2/3 + .25."""
    weights = np.array([[0.4], [0.35], [0.25]])
    table = SetTable.of(Csr([[1, 0], [0, 1], [1, 1]]))
    assert table.expected_f1(weights).ravel() == pytest.approx([0.4 + 0.5 / 3, 0.35 + 0.5 / 3, 0.5 + 0.25])
    assert table.best(np.log(weights), "exact-match")[0].tolist() == [0]
    assert table.best(np.log(weights), "sample-f1")[0].tolist() == [2]


def test_least_expected_difference() -> None:
    """As above: A has P = .65, B .6, so that {A, B} has the fewest expected mistakes: .75."""
    weights = np.array([[0.4], [0.35], [0.25]])
    table = SetTable.of(Csr([[1, 0], [0, 1], [1, 1]]))
    assert table.expected_agreement(weights).ravel() == pytest.approx([0.3, 0.2, 0.5])
    assert table.best(np.log(weights), "hamming-loss")[0].tolist() == [2]
    # |S△T|: {A} .35 · 2 + .25, {B} .4 · 2 + .25, {A, B} .4 + .35
    wrong = np.array([0.95, 1.05, 0.75])
    assert wrong - wrong[0] == pytest.approx(0.3 - np.array([0.3, 0.2, 0.5]))


def test_the_empty_set() -> None:
    """F1 of two empty sets is 1: {} with P = .6 beats {A} with .4 in expectation; without it {A} is all there is."""
    weights = np.array([[0.6], [0.4]])
    assert SetTable.of(Csr(np.array([[0, 0], [1, 0]]))).expected_f1(weights).ravel() == pytest.approx([0.6, 0.4])
    scores, truth = np.array([[-1.0, -2.0], [-0.5, -2.0], [1.0, -2.0]]), Csr(np.array([[0, 0], [0, 0], [1, 0]]))
    new = np.array([[-5.0, -5.0]])
    rule = SeenSets("exact-match").fit(scores, truth, MARGIN)
    assert rule.sets_.toarray().tolist() == [[0, 0], [1, 0]]
    assert rule.decide(new, MARGIN).nnz == 0
    filled = SeenSets("exact-match", fallback="argmax").fit(scores, truth, MARGIN)
    assert filled.decide(new, MARGIN).toarray().tolist() == [[1, 0]]
    forced = SeenSets("exact-match", allow_empty=False).fit(scores, truth, MARGIN)
    assert forced.sets_.toarray().tolist() == [[1, 0]]
    assert forced.decide(new, MARGIN).toarray().tolist() == [[1, 0]]


def test_the_dependence_of_a_set() -> None:
    """N = 4: n_A = 3, n_B = 2; π = 3.5/5 and 2.5/5, odds 7/3 and 1.

    Sets {A, B} twice, {A} once, {} once: factors 2/(7/3 · 1), 1/(7/3), 1/1, to the power of the dependence.
    """
    truth = Csr(np.array([[1, 1], [1, 0], [1, 1], [0, 0]]))
    scores = np.array([[1.0, 1.0], [0.5, -1.0], [2.0, 0.5], [-1.0, -0.5]])
    for dependence in (0.0, 0.5, 1.0):
        rule = SeenSets(dependence=dependence).fit(scores, truth, MARGIN)
        assert rule.sets_.toarray().tolist() == [[1, 1], [1, 0], [0, 0]]
        expected = np.array([2 / (7 / 3), 3 / 7, 1.0]) ** dependence
        assert np.exp(rule.log_dependence_) == pytest.approx(expected)


def test_sets_seen_too_seldom_are_left_out() -> None:
    truth = Csr(np.array([[1, 0], [1, 0], [1, 1], [0, 1]]))
    scores = np.array([[1.0, -1.0], [0.5, -1.0], [2.0, 0.5], [-1.0, 0.5]])
    assert SeenSets(min_count=2).fit(scores, truth, MARGIN).sets_.toarray().tolist() == [[1, 0]]
    nothing = SeenSets(min_count=3).fit(scores, truth, MARGIN)
    assert nothing.sets_.shape == (0, 2)
    assert nothing.decide(scores, MARGIN).nnz == 0
    assert nothing.set_probabilities(scores, MARGIN).shape == (4, 0)


def test_ties_go_to_the_set_seen_more_often_then_first() -> None:
    rule = rule_over([[1, 0], [0, 1]], "exact-match")
    assert rule.decide(np.array([[0.3, 0.3]]), LOG_ODDS).toarray().tolist() == [[1, 0]]
    scores, truth = np.zeros((3, 2)), Csr(np.array([[1, 0], [0, 1], [0, 1]]))
    assert SeenSets().fit(scores, truth, MARGIN).sets_.toarray().tolist() == [[0, 1], [1, 0]]


def test_sets_with_an_impossible_label_are_impossible() -> None:
    rule = rule_over([[1, 1], [0, 1]])
    assert rule.decide(np.array([[-math.inf, 0.1], [9.0, -math.inf]]), LOG_ODDS).toarray().tolist() == [[0, 1], [0, 0]]
    found = rule.set_probabilities(np.array([[-math.inf, 0.1], [9.0, -math.inf]]), LOG_ODDS)
    assert found.tolist() == [[0, 1], [0, 0]]


def test_with_models_of_every_kind() -> None:
    """Two words that always come with both labels, one that comes with the third: sets {A, B} and {C}."""
    X = Csr(np.array([[3, 2, 0], [1, 2, 0], [0, 0, 2], [0, 1, 4], [2, 3, 1], [1, 0, 3]] * 3))
    Y = Csr(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]] * 3))
    new = Csr(np.array([[4, 0, 0], [0, 0, 5]]))
    for model in (LinearSVM(), LinearSVM(loss="logistic"), MultinomialNaiveBayes()):
        decided = DecidedModel(model, SeenSets(), folds=3).fit(X, Y)
        assert decided.predict(new).toarray().tolist() == [[1, 1, 0], [0, 0, 1]]
        assert decided.thresholds() is None


def test_the_answer_is_a_seen_set_and_probabilities_sum_to_one() -> None:
    rng = np.random.default_rng(5)
    truth = (rng.random((60, 4)) < 0.3).astype(np.int8)
    scores = truth + rng.normal(size=truth.shape)
    seen = Counter(map(tuple, truth.tolist()))
    for metric in ("sample-f1", "exact-match", "hamming-loss"):
        rule = SeenSets(metric, curve="isotonic").fit(scores, Csr(truth), MARGIN)  # type: ignore[arg-type]
        assert all(tuple(row) in seen for row in rule.decide(scores, MARGIN).toarray().tolist())
        assert rule.set_probabilities(scores, MARGIN).sum(axis=1) == pytest.approx(np.ones(60))


def test_name_and_parameters() -> None:
    assert find_rule("seen-sets") is SeenSets
    with pytest.raises(ParameterError, match="Did you mean 'exact-match'"):
        SeenSets("exakt").fit(np.zeros((1, 1)), Csr([[1]]), MARGIN)  # type: ignore[arg-type]
