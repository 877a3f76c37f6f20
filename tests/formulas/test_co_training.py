"""E-8 to E-11: modified co-training, numbers by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from manylabel.data import load
from manylabel.data.labels import label_matrix
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.classifier_chain import stratified_folds
from manylabel.strategies.co_training import CoTraining, CoTrainingReport
from manylabel.strategies.co_training_views import (
    LinearView,
    ModelView,
    Rules,
    beside_terms,
    fit_view,
    label_table,
    make_view,
    take_turns,
    ties_at_zero,
)

# E-11's example: eight documents of one word, two labels
X = np.array([[1], [1], [0], [0], [0], [1], [1], [0]])
Y = np.array([[1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [0, 0], [1, 0], [0, 1]])
WORD = sparse.csr_array(np.array([[1.0]]))
WEIGHT = 0.082283
REFERENCE: dict[str, Any] = {"fc": "separate", "use_dc": True, "labels": "true", "update": "synchronous"}


def plain(**settings: Any) -> ValueWeightedNaiveBayes:
    """The example's model: categorical, weight kl, m = 1, norm none, no refinement, two bins."""
    return ValueWeightedNaiveBayes("categorical", "kl", norm="none", n_bins=2, refine="none", **settings)


def _ratio(present: float) -> float:
    """Log P(a|1)/P(a|0) of a value that `present` of 4 positives have and 4 − `present` of 4 negatives; add one."""
    return float(np.log((present + 1) / 6) - np.log((4 - present + 1) / 6))


# --- E-9 and E-10: the classifiers ------------------------------------------------------------------------------


def test_binary_relevance_start() -> None:
    """E-11: label 0 scores −.783544 and −.726510 for bin 1, label 1 ties at −.693147, which predicts no label."""
    model = CoTraining(plain(), **REFERENCE).fit(X, Y)
    start = model.start_.score_batch(WORD)
    assert start[0, 0] == pytest.approx(-0.726510 + 0.783544, abs=2e-6)
    assert start[0, 0] == pytest.approx(WEIGHT * _ratio(3), abs=1e-6)
    assert start[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert (ties_at_zero(start) > 0).tolist() == [[True, False]]


def test_dependency_classifier() -> None:
    """E-9: label 0 from label 1 alone (3 of its 4 positives have it, 1 of 4 negatives), weight .082283.

    log P(1)/P(0) is 0; from the labels (1, 0) it gives (0, 1).
    """
    model = CoTraining(plain(), **REFERENCE).fit(X, Y)
    base, weights = label_table(model.dc_, 0, 2, 1.0)
    np.testing.assert_allclose(base, [WEIGHT * _ratio(1)] * 2, atol=1e-6)
    np.testing.assert_allclose(base + weights[0], [base[0], WEIGHT * _ratio(3)], atol=1e-6)
    assert weights[0, 0] == weights[1, 1] == 0.0
    labels_only = model._views(WORD, model.start_.score_batch(WORD))[0]
    scores = labels_only.all_at_once(np.array([[True, False]]), np.array([0]))
    assert (scores > 0).tolist() == [[False, True]]


def test_feature_classifier_counts_the_prior_once() -> None:
    """E-10: prior, labels and words added up. Six documents, so that the prior is not even."""
    words, labels = X[:6], Y[:6].copy()
    labels[3, 0] = 1
    model = CoTraining(plain(), **REFERENCE).fit(words, labels)
    prior = np.log((4 + 1) / (2 + 1))  # add-one over {0, 1}
    assert model.prior_[0] == pytest.approx(prior)
    start = model.start_.score_batch(WORD)
    base, _ = label_table(model.dc_, 0, 2, 1.0)
    joined = model._views(WORD, start)[1].all_at_once(np.array([[False, False]]), np.array([0]))
    assert joined[0, 0] == pytest.approx((base[0] - prior) + (start[0, 0] - prior) + prior)


def test_words_and_labels_together() -> None:
    """E-11: from DC's (0, 1) the feature classifier predicts (1, 0)."""
    model = CoTraining(plain(), **REFERENCE).fit(X, Y)
    view = model._views(WORD, model.start_.score_batch(WORD))[1]
    scores = view.all_at_once(np.array([[False, True]]), np.array([0]))
    np.testing.assert_allclose(scores, [[2 * WEIGHT * _ratio(3), WEIGHT * _ratio(1)]], atol=1e-6)


def test_the_worked_example() -> None:
    """E-11: BR (1, 0) → DC (0, 1) → FC (1, 0): stop after one round, predict (1, 0)."""
    predicted, report = CoTraining(plain(), **REFERENCE).fit(X, Y).predict_with_report(WORD)
    assert predicted.tolist() == [[1, 0]]
    assert (report.iterations.tolist(), report.periods.tolist()) == ([1], [1])


def test_sequential_update_does_not_swap_the_pair() -> None:
    """E-0: in sequence DC drops label 0 (label 1 is off), then keeps label 1 off: (0, 0); FC agrees."""
    model = CoTraining(plain(), **{**REFERENCE, "update": "sequential"}, sweep="given").fit(X, Y)
    views = model._views(WORD, model.start_.score_batch(WORD))
    dc = views[0].one_by_one(np.array([[True, False]]), np.array([0]), np.array([0, 1])) > 0
    assert dc.tolist() == [[False, False]]
    fc = views[1].one_by_one(dc, np.array([0]), np.array([0, 1]))
    # for label 0 the term and the missing label 1 cancel out: a tie, though not to the last digit, predicts no label
    assert fc[0, 0] == 0.0
    assert fc[0, 1] == pytest.approx(WEIGHT * _ratio(1), abs=1e-6)


@pytest.mark.parametrize("norm", ["none", "global", "feature"])
@pytest.mark.parametrize("event", ["categorical", "exponent"])
def test_unrefined_joint_and_separate_feature_classifiers_are_the_same(event: Any, norm: Any) -> None:
    """E-10: with closed-form weights, normalised apart, learning jointly changes nothing."""
    random = np.random.default_rng(2)
    words, labels = random.poisson(0.6, (40, 7)), (random.random((40, 4)) < 0.4).astype(int)
    base = ValueWeightedNaiveBayes(event, norm=norm, refine="none", n_bins=3)
    joint, separate = (CoTraining(base, fc=fc, labels="true").fit(words, labels) for fc in ("joint", "separate"))
    np.testing.assert_allclose(joint.scores(words), separate.scores(words), atol=1e-9)


def test_norm_joint_weighs_words_and_labels_together() -> None:
    """E-10: the option changes the label part, and the mean weight over words and labels is then 1."""
    random = np.random.default_rng(3)
    words, labels = random.poisson(0.6, (40, 7)), (random.random((40, 3)) < 0.4).astype(int)
    tables = [
        label_table(CoTraining(plain_global, labels="true").fit(words, labels).fc_, 7, 3, 1.0)[1]
        for plain_global in (
            ValueWeightedNaiveBayes("categorical", norm="global", refine="none", norm_joint=joint)
            for joint in (False, True)
        )
    ]
    off = ~np.eye(3, dtype=bool)
    assert not np.allclose(tables[0][off], tables[1][off])


def test_a_label_never_reads_itself() -> None:
    """E-8: LVS without the own entry, for every kind of model."""
    np.testing.assert_array_equal(
        beside_terms(Csr([[7.0]]), np.array([[True, True, False]]), 1, 1.0).toarray(), [[7, 1, 0]]
    )
    shown = sparse.csr_array(Y.astype(np.int8))
    for base in (plain(), BinaryNaiveBayes(), LinearSVM()):
        _, weights = label_table(fit_view(base, None, shown, shown, 1.0), 0, 2, 1.0)
        assert np.diag(weights).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("base", [plain(), BinaryNaiveBayes(), LinearSVM(), LinearSVM(loss="logistic")], ids=repr)
@pytest.mark.parametrize("with_words", [True, False])
def test_linear_views_say_what_their_models_say(base: Any, with_words: bool) -> None:
    """The table of label weights against one model per label, document by document."""
    random = np.random.default_rng(4)
    words = Csr(random.poisson(0.6, (30, 5)).astype(float)) if with_words else None
    Y = Csr((random.random((30, 4)) < 0.4).astype(np.int8))
    models = fit_view(base, words, Y, Y, 1.0)
    state, rows = random.random((30, 4)) < 0.5, np.arange(30)
    view = make_view(models, words, 4, 1.0, None)
    assert isinstance(view, LinearView)
    if len(models) == 1:
        columns = sparse.csr_array(state.astype(float))
        whole = columns if words is None else sparse.hstack([words, columns], format="csr")
        expected = models[0].score_batch(Csr(whole))
    else:
        expected = ModelView(models, words).all_at_once(state, rows)
    np.testing.assert_allclose(
        view.all_at_once(state, rows), expected, atol=1e-5 if isinstance(base, LinearSVM) else 1e-9
    )
    one_by_one = view.one_by_one(state.copy(), rows, np.array([2, 0, 3, 1]))
    slowly = _one_by_one(view, state.copy(), rows, [2, 0, 3, 1])
    np.testing.assert_allclose(one_by_one, slowly, atol=1e-9)


def _one_by_one(view: Any, state: np.ndarray, rows: np.ndarray, sweep: Sequence[int]) -> np.ndarray:
    """What a sequential pass is: the scores anew for each label."""
    scores = np.empty(state.shape)
    for label in sweep:
        scores[:, label] = view.all_at_once(state, rows)[:, label]
        state[:, label] = scores[:, label] > 0
    return scores


# --- E-11: taking turns -----------------------------------------------------------------------------------------


def _rules(**settings: Any) -> Rules:
    known = {"update": "synchronous", "max_rounds": 20, "best_of_cycle": False, "sweep": np.array([0, 1]), "judge": 0}
    return Rules(**(known | settings))


SWAP = LinearView(base=np.array([-1.0, -2.0]), weights=np.array([[0.0, 5.0], [4.0, 0.0]]))
"""Each label copies the other: s_0 = −1 + 4 v_1, s_1 = −2 + 5 v_0."""


def test_a_fixed_point_stops_at_once() -> None:
    outcome = take_turns(np.array([[True, True], [False, False]]), [SWAP], _rules())
    assert outcome.scores.tolist() == [[3.0, 3.0], [-1.0, -2.0]]
    assert outcome.iterations.tolist() == [1, 1]
    assert outcome.periods.tolist() == [1, 1]


def test_a_swap_is_a_cycle_of_period_two() -> None:
    """(1, 0) → (0, 1) → (1, 0): seen before in round 2; the last state is kept."""
    outcome = take_turns(np.array([[True, False]]), [SWAP], _rules())
    assert (outcome.iterations.tolist(), outcome.periods.tolist()) == ([2], [2])
    assert outcome.state.tolist() == [[True, False]]
    assert outcome.scores.tolist() == [[3.0, -2.0]]


def test_the_best_state_of_a_cycle() -> None:
    """Round 1: scores (−1, 3), sum of sizes 4; round 2: (3, −2), sum 5: the second is best."""
    best = take_turns(np.array([[True, False]]), [SWAP], _rules(best_of_cycle=True))
    assert best.scores.tolist() == [[3.0, -2.0]]
    other = LinearView(base=np.array([-2.0, -1.0]), weights=np.array([[0.0, 6.0], [3.0, 0.0]]))
    # round 1: (−2, 5), 7; round 2: (1, −1), 2
    assert take_turns(np.array([[True, False]]), [other], _rules(best_of_cycle=True)).scores.tolist() == [[-2.0, 5.0]]
    assert take_turns(np.array([[True, False]]), [other], _rules()).scores.tolist() == [[1.0, -1.0]]


def test_sequential_passes_cure_the_swap() -> None:
    """E-0: label 0 reads label 1 (off) and goes off, label 1 then reads that and stays off."""
    outcome = take_turns(np.array([[True, False]]), [SWAP], _rules(update="sequential"))
    assert outcome.state.tolist() == [[False, False]]
    assert (outcome.iterations.tolist(), outcome.periods.tolist()) == ([2], [1])
    turned = take_turns(np.array([[True, False]]), [SWAP], _rules(update="sequential", sweep=np.array([1, 0])))
    assert turned.state.tolist() == [[True, True]]


def test_two_views_take_turns_within_a_round() -> None:
    """DC swaps the pair and FC swaps it back: the first state returns unchanged after one round."""
    outcome = take_turns(np.array([[True, False]]), [SWAP, SWAP], _rules(judge=1))
    assert outcome.state.tolist() == [[True, False]]
    assert (outcome.iterations.tolist(), outcome.periods.tolist()) == ([1], [1])


RING = LinearView(base=np.full(3, -1.0), weights=2.0 * np.roll(np.eye(3), 1, axis=1))
"""Each label copies the one before it: period 3."""


def test_longer_cycles_and_the_last_round() -> None:
    rules = _rules(sweep=np.arange(3))
    outcome = take_turns(np.array([[True, False, False]]), [RING], rules)
    assert (outcome.iterations.tolist(), outcome.periods.tolist()) == ([3], [3])
    short = take_turns(np.array([[True, False, False]]), [RING], _rules(sweep=np.arange(3), max_rounds=2))
    assert (short.iterations.tolist(), short.periods.tolist()) == ([2], [0])
    assert short.state.tolist() == [[False, False, True]]


def test_documents_stop_on_their_own() -> None:
    """The settled document is left alone while the other goes round."""
    start = np.array([[False, False, False], [True, False, False], [True, True, True]])
    outcome = take_turns(start, [RING], _rules(sweep=np.arange(3)))
    assert outcome.iterations.tolist() == [1, 3, 1]
    assert outcome.periods.tolist() == [1, 3, 1]


def test_report() -> None:
    summary = CoTrainingReport(np.array([1, 1, 2, 4, 20]), np.array([1, 1, 1, 2, 0])).summary()
    assert summary == {
        "documents": 5, "iterations_median": 2.0, "iterations_95": pytest.approx(16.8), "cycle_share": 0.2,
        "cycle_periods": {2: 1}, "unsettled_share": 0.2,
    }  # fmt: skip
    empty = CoTrainingReport(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).summary()
    assert (empty["documents"], empty["cycle_share"]) == (0, 0.0)


# --- the estimator ----------------------------------------------------------------------------------------------


@pytest.fixture
def corpus() -> tuple[np.ndarray, np.ndarray]:
    """Labels 0 and 1 nearly always together, indicated by terms 0 and 1; label 2 by term 2."""
    random = np.random.default_rng(7)
    words = random.poisson(0.5, (120, 6))
    labels = np.empty((120, 3), dtype=int)
    labels[:, 0] = words[:, 0] + random.normal(0, 0.4, 120) > 0.8
    labels[:, 1] = np.where(random.random(120) < 0.9, labels[:, 0], words[:, 1] > 1)
    labels[:, 2] = words[:, 2] + random.normal(0, 0.4, 120) > 0.8
    return words, labels


def test_report_and_predictions_belong_together(corpus: Any) -> None:
    X, Y = corpus
    model = CoTraining(plain(), **REFERENCE).fit(X, Y)
    before = set(vars(model))
    predicted, report = model.predict_with_report(X)
    np.testing.assert_array_equal(predicted, model.predict(X))
    in_pieces, pieces = model.predict_with_report(X, working_memory=1)
    np.testing.assert_array_equal(in_pieces, predicted)
    np.testing.assert_array_equal(pieces.iterations, report.iterations)
    assert len(report.iterations) == 120
    assert report.iterations.min() >= 1
    assert set(vars(model)) == before, "asking must leave no trace"


def test_single_label_problems_get_classes(corpus: Any) -> None:
    X, Y = corpus
    y = np.array(["no", "yes"])[Y[:, 0]]
    model = CoTraining(plain()).fit(X, y)
    predicted, _ = model.predict_with_report(X)
    np.testing.assert_array_equal(predicted, model.predict(X))
    assert set(predicted) <= {"no", "yes"}


@pytest.mark.parametrize("settings", [{}, REFERENCE, {"order": "FC-DC", "use_dc": True, "on_cycle": "best"}], ids=repr)
def test_one_label_is_binary_relevance(settings: Any, corpus: Any) -> None:
    """E-9, section 12: with L = 1 there is nothing to hand over."""
    X, Y = corpus
    model = CoTraining(plain(), **settings).fit(X, Y[:, :1])
    np.testing.assert_array_equal(model.scores(X), BinaryRelevance(plain()).fit(X, Y[:, :1]).scores(X))
    assert not model.predict_with_report(X)[1].iterations.any()


def test_constant_labels_stay_out(corpus: Any) -> None:
    """E-7: they are constant, and no columns for the other labels."""
    X, Y = corpus
    padded = np.column_stack([np.ones(120, dtype=int), Y, np.zeros(120, dtype=int)])
    with_constants, without = CoTraining(plain()).fit(X, padded), CoTraining(plain()).fit(X, Y)
    np.testing.assert_array_equal(with_constants.scores(X)[:, 1:4], without.scores(X))
    np.testing.assert_array_equal(with_constants.predict(X)[:, [0, 4]], np.repeat([[1, 0]], 120, axis=0))
    nothing = CoTraining(plain()).fit(X, padded[:, [0, 4]])
    np.testing.assert_array_equal(nothing.predict(X), np.repeat([[1, 0]], 120, axis=0))


def test_out_of_fold_labels_are_predicted_by_starts_that_did_not_see_the_document(corpus: Any) -> None:
    """Each row by a start fitted without it, in its own place."""
    X, Y = sparse.csr_array(corpus[0].astype(float)), sparse.csr_array(corpus[1].astype(np.int8))
    shown = CoTraining(plain(), folds=4, seed=3)._predicted_out_of_fold(X, Y, {}).toarray()
    for train, test in stratified_folds(Y, 4, 3):
        start = BinaryRelevance(plain()).fit(X[train], Y[train])
        np.testing.assert_array_equal(shown[test], start.scores(X[test]) > 0)


@pytest.mark.parametrize(
    ("model", "label_model"),
    [
        (LogisticRegression(solver="liblinear"), None),
        (BernoulliNB(), DecisionTreeClassifier(random_state=0)),
        (ValueWeightedNaiveBayes(), LogisticRegression(solver="liblinear")),
        (BernoulliNB(), ValueWeightedNaiveBayes()),
        (LinearSVM(), BernoulliNB()),
        (LinearSVC(), None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("settings", [{"use_dc": True}, REFERENCE], ids=["joint", "separate"])
def test_other_classifiers_for_either_view(model: Any, label_model: Any, settings: Any, corpus: Any) -> None:
    """The paper's future work: any classifier for words or labels. It must learn, and use the dependence."""
    X, Y = corpus
    fitted = CoTraining(model, label_model, **settings).fit(X, Y)
    assert fitted.score_kind is (ScoreKind.LOG_ODDS if hasattr(fitted, "predict_proba") else ScoreKind.MARGIN)
    predicted = fitted.predict(X)
    assert (predicted == Y).mean() > 0.75
    np.testing.assert_array_equal(predicted, fitted.scores(X) > 0)


def test_wrong_settings_are_sentences() -> None:
    with pytest.raises(ParameterError, match="order must be one of 'DC-FC', 'FC-DC', not 'FC'"):
        CoTraining(plain(), order="FC").fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="label_model must be one of None or a model of manylabel"):
        CoTraining(plain(), label_model="svm").fit(X, Y)


# --- on research data -------------------------------------------------------------------------------------------


def test_what_co_training_does_on_enron(data_folder: Path) -> None:
    """Unrefined binary relevance has a Hamming loss of 6.30 %; co-training over refined weights lowers the 0-1 loss."""
    if not list((data_folder / "mulan").glob("enron-*")):
        pytest.skip("enron is not in MANYLABEL_DATA")
    corpus = load("enron").corpus
    assert corpus.counts is not None
    assert corpus.labels is not None
    labels, part = label_matrix(corpus.labels, corpus.label_names), np.asarray(corpus.split_names)
    train, test = (np.flatnonzero(part == name) for name in ("train", "test"))
    X, Y, unseen, Y_true = corpus.counts[train], labels[train], corpus.counts[test], labels[test].toarray()
    unrefined = ValueWeightedNaiveBayes(n_bins=2, refine="none").fit(X, Y).predict(unseen).toarray()
    assert 100 * (unrefined != Y_true).mean() == pytest.approx(6.30, abs=0.02)
    alone = ValueWeightedNaiveBayes(n_bins=2).fit(X, Y).predict(unseen).toarray()
    together = CoTraining(ValueWeightedNaiveBayes(n_bins=2)).fit(X, Y).predict(unseen).toarray()
    wrong = [100 * (decided != Y_true).any(axis=1).mean() for decided in (alone, together)]
    assert wrong[1] < wrong[0] - 2


@pytest.mark.parametrize(
    ("prior", "expected"), [("documents", np.log(3 / 5)), ("add-one", np.log(4 / 6)), ("uniform", 0.0)]
)
def test_the_prior_taken_off_is_the_models(prior: Any, expected: float) -> None:
    """E-10: words and labels both know the prior, here 3 of 8 documents, as the model estimates it; it counts once."""
    labels = np.column_stack([Y[:, 0], [1, 1, 1, 0, 0, 0, 0, 0]])
    model = MultinomialNaiveBayes(smoothing="laplace", prior=prior)
    fitted = CoTraining(model, fc="separate", labels="true").fit(X, labels)
    assert fitted.prior_[1] == pytest.approx(expected)
    empty = fitted.start_.scores([[0]])[0]
    np.testing.assert_allclose(empty, fitted.prior_, atol=1e-12)
