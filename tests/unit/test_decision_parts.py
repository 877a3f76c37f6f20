"""What decision rules share: shown scores, candidates, cross-fitted decisions and documents without a known term."""

import math

import numpy as np
import pytest

from manylabel.decisions import threshold_figures as figures_module
from manylabel.decisions.base import DecisionRule, decidable_scores, unlabelled_if_empty
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.candidates import best_candidates, dense_candidates, pooled_candidates
from manylabel.decisions.corrected import LISTED, checked_thresholds, corrected
from manylabel.decisions.cross_fitting import CrossFitted, compared_rows, unseen_decisions
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.guarantee import Guarantee
from manylabel.decisions.natural import Natural
from manylabel.decisions.shown import decide_by_shown, learned_calibration, score_thresholds, shown_thresholds
from manylabel.decisions.temperature import Temperature
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.metrics.targets import find_target_metric
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind

LOG_ODDS, MARGIN, POSTERIOR, SIMILARITY = (
    ScoreKind.LOG_ODDS,
    ScoreKind.MARGIN,
    ScoreKind.POSTERIOR,
    ScoreKind.SIMILARITY,
)
SCORES = np.array([[2.0, -1.0, 0.5], [1.0, 3.0, -math.inf]])


def curves(slopes: list[float], intercepts: list[float]) -> Calibration:
    calibration = Calibration()
    calibration.slopes_, calibration.intercepts_ = np.array(slopes), np.array(intercepts)
    return calibration


# ---- candidates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fallback", ["none", "argmax"])
@pytest.mark.parametrize("rule", [Threshold(0.9), Threshold(1.0), TopK(1), TopK(2), Natural()], ids=str)
def test_candidates_are_decided_as_dense_scores(rule: DecisionRule, fallback: str) -> None:
    """Labels that are no candidates are impossible; the third document has none, the fourth an impossible one."""
    scores = Csr(np.array([[0.9, 0.0, 0.95], [0.2, 0.3, 0.0], [0.0, 0.0, 0.0], [0.0, 0.7, 0.7]]))
    for kind in (LOG_ODDS, MARGIN, POSTERIOR):
        given = scores.copy()
        if kind is not POSTERIOR:
            given.data[-1] = -math.inf
        dense = np.full(given.shape, 0.0 if kind is POSTERIOR else -math.inf)
        rows = np.repeat(np.arange(4), np.diff(given.indptr))
        dense[rows, given.indices] = given.data
        own = type(rule)(**{**rule.get_params(), "fallback": fallback})
        found = own.decide_candidates(given, kind)
        assert found.toarray().tolist() == own.decide(dense, kind).toarray().tolist()
        assert found.dtype == np.int8


def test_candidates_by_thresholds_of_log_odds_are_decided_as_dense_scores() -> None:
    """Thresholds 0 of the log-odds of posteriors are those of ½."""
    rule = CalibratedThreshold().restore({"thresholds_": np.zeros(3)})
    scores = Csr(np.array([[0.4, 0.0, 0.6], [0.5, 0.3, 0.0]]))
    assert rule.decide_candidates(scores, POSTERIOR).toarray().tolist() == [[0, 0, 1], [1, 0, 0]]


def test_tables_of_candidates() -> None:
    """True labels that are no candidates come behind the candidates, with the score of impossible labels."""
    scores = Csr(np.array([[0.0, 0.7, 0.0], [0.0, 0.0, 0.0], [0.3, 0.2, 0.1]]))
    assert dense_candidates(scores, -1.0).tolist() == [[-1, 0.7, -1], [-1, -1, -1], [0.3, 0.2, 0.1]]
    table, Y_true = pooled_candidates(scores, Csr([[1, 0, 1], [0, 1, 0], [0, 1, 0]]), -math.inf)
    low = -math.inf
    assert table.tolist() == [[0.7, low, low], [low, low, low], [0.3, 0.2, 0.1]]
    assert Y_true.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 0]]
    assert Y_true.dtype == np.int8
    empty, no_labels = pooled_candidates(Csr((0, 3)), Csr((0, 3)), 0.0)
    assert (empty.shape, no_labels.shape) == ((0, 0), (0, 0))
    assert best_candidates(Csr([[0.2, 0.5, 0.5], [0.1, 0.0, 0.0]]), 1).tolist() == [False, True, False, True]


# ---- cross-fitted decisions ------------------------------------------------------------------------------------------


def test_rows_of_large_tables_are_evenly_spaced() -> None:
    assert compared_rows((10, 2), most=20).tolist() == list(range(10))
    assert compared_rows((10, 2), most=19).tolist() == [0, 2, 4, 6, 8]
    assert compared_rows((10, 2), most=9).tolist() == [0, 3, 6, 9]
    assert compared_rows((3, 0)).tolist() == [0, 1, 2]


def test_each_fold_is_decided_by_what_was_best_in_the_others() -> None:
    """Rule a is right in fold 0, rule b in fold 1, so that each fold gets the wrong one; with a tolerance the first."""
    Y = Csr([[1, 0], [1, 0], [0, 1], [0, 1]])
    a, b = Csr([[1, 0], [1, 0], [1, 0], [1, 0]]), Csr([[0, 1], [0, 1], [0, 1], [0, 1]])
    rows, folds = np.arange(4), np.array([0, 0, 1, 1])
    for name in ("exact-match", "hamming-loss", "recall@1"):
        both = CrossFitted(rows, folds, (a, b), find_target_metric(name))
        for tried in ([both], [CrossFitted(rows, folds, (one,), both.metric) for one in (a, b)]):
            Y_true, decided = unseen_decisions(tried, Y)
            assert Y_true.toarray().tolist() == Y.toarray().tolist()
            assert decided.toarray().tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]
    lenient = CrossFitted(rows, folds, (a, b), find_target_metric("exact-match"), tolerance=1.0)
    assert unseen_decisions([lenient], Y)[1].toarray().tolist() == a.toarray().tolist()
    reversed_rows = CrossFitted(rows[::-1], folds, (a,))
    assert unseen_decisions([reversed_rows], Y)[0].toarray().tolist() == Y.toarray()[::-1].tolist()


# ---- documents without a known term ----------------------------------------------------------------------------------


def test_documents_without_a_known_term_get_no_labels() -> None:
    X, predicted = Csr([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]), Csr([[1, 1], [1, 0], [0, 1]])
    svm = LinearSVM()
    assert unlabelled_if_empty(predicted, X, svm, Threshold()).toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert unlabelled_if_empty(predicted, X, svm, None).toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert unlabelled_if_empty(predicted, X, svm, Guarantee()) is predicted  # which counts every document
    assert unlabelled_if_empty(predicted, X, BernoulliNaiveBayes(), Threshold()) is predicted  # absence is evidence
    empty = np.array([False, True, False])
    scores = np.array([[1.0, -1.0], [2.0, 2.0], [-1.0, 1.0]])
    found = decidable_scores(scores, empty, svm, Threshold())
    assert found.tolist() == [[1.0, -1.0], [-math.inf, -math.inf], [-1.0, 1.0]]
    assert scores[1].tolist() == [2.0, 2.0]
    assert decidable_scores(scores, ~empty & empty, svm, Threshold()) is scores
    assert decidable_scores(scores, empty, svm, Guarantee()) is scores


# ---- shown scores ----------------------------------------------------------------------------------------------------


def test_thresholds_are_shown_through_the_curves() -> None:
    """Slope 2, intercept 0: a margin of 0.5 is shown as σ(1); a label that is never predicted as 1."""
    rule = GlobalThreshold().restore({"threshold_": 0.5})
    curve = curves([2.0, 1.0], [0.0, 1.0])
    expected = [1 / (1 + math.exp(-1.0)), 1 / (1 + math.exp(-1.5))]
    assert shown_thresholds(rule, 2, MARGIN, curve) == pytest.approx(expected)
    assert shown_thresholds(rule, 2, MARGIN, None) == pytest.approx([0.5, 0.5])
    assert shown_thresholds(rule, 2, MARGIN, Temperature()) is None
    assert shown_thresholds(TopK(2), 2, MARGIN, curve) is None
    never = GlobalThreshold().restore({"threshold_": math.inf})
    assert shown_thresholds(never, 2, MARGIN, curve) == pytest.approx([1, 1])


def test_shown_thresholds_lead_back_to_scores() -> None:
    shown = np.array([0.5, math.nan, 1.0])
    assert score_thresholds(shown, MARGIN, None) is shown
    np.testing.assert_allclose(score_thresholds(shown, LOG_ODDS, None), [0.0, math.nan, math.inf])
    np.testing.assert_allclose(score_thresholds(shown, POSTERIOR, None), [0.5, math.nan, 2.0])
    curve = curves([2.0, 1.0, 1.0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(score_thresholds(shown, MARGIN, curve), [-0.5, math.nan, math.inf])
    np.testing.assert_allclose(score_thresholds(shown, POSTERIOR, curve), [1 / (1 + math.exp(0.5)), math.nan, 2.0])


def test_labels_by_shown_scores() -> None:
    """Equal shown scores are ordered by the raw ones, then by column; impossible labels are never chosen."""
    shown = np.array([[0.9, 0.4, 0.9], [0.6, 0.6, 0.0]])

    def chosen(threshold: float | None, top: int | None) -> list[list[int]]:
        return decide_by_shown(SCORES, shown, MARGIN, threshold, top).astype(int).tolist()

    assert chosen(None, None) == [[1, 1, 1], [1, 1, 0]]
    assert chosen(0.6, None) == [[1, 0, 1], [1, 1, 0]]
    assert chosen(None, 1) == [[1, 0, 0], [0, 1, 0]]
    assert chosen(0.7, 2) == [[1, 0, 1], [0, 0, 0]]
    assert chosen(None, 3) == [[1, 1, 1], [1, 1, 0]]


def test_which_curve_shows_scores_as_probabilities() -> None:
    one_each, several = Csr([[1, 0], [0, 1]]), Csr([[1, 1], [0, 1]])
    scores = np.array([[0.9, 0.1], [0.2, 0.8]])

    def learned(probabilities: str | None, rule: object, Y: Csr, kind: ScoreKind) -> str | None:
        found = learned_calibration(probabilities, rule, scores, Y, kind)  # type: ignore[arg-type]
        if found is None:
            return None
        return found.curve if isinstance(found, Calibration) else type(found).__name__

    assert learned(None, TopK(1), one_each, MARGIN) is None
    assert learned("isotonic", None, one_each, MARGIN) == "isotonic"
    assert learned("auto", TopK(1), one_each, MARGIN) == "Temperature"
    assert learned("auto", TopK(1), one_each, POSTERIOR) is None
    assert learned("auto", TopK(1), several, MARGIN) == "logistic"
    assert learned("auto", TopK(2), one_each, MARGIN) == "logistic"
    assert learned("auto", TopK(2), several, LOG_ODDS) is None  # probabilities already, and no thresholds to show
    assert learned("auto", Threshold(0.5), several, LOG_ODDS) == "logistic"
    assert learned("auto", None, one_each, SIMILARITY) == "logistic"


# ---- precision and recall by threshold -------------------------------------------------------------------------------

FOUR, HAVE = np.array([[0.9, 0.3], [0.8, 0.2], [0.6, 0.1], [0.2, 0.0]]), Csr([[1, 0], [0, 0], [1, 0], [0, 0]])


@pytest.mark.parametrize(
    ("threshold", "true", "predicted"),
    [(0.1, 2, 4), (0.2, 2, 4), (0.3, 2, 3.5), (0.4, 2, 3), (0.6, 2, 3), (0.7, 1, 2.2), (0.85, 1, 1), (0.9, 1, 1)],
)
def test_counts_at_a_threshold(threshold: float, true: float, predicted: float) -> None:
    """Points at .2, .6 and .9; none scores between .4 and .6, nor between .85 and .9; straight lines elsewhere."""
    figures = ThresholdFigures().fit(FOUR, HAVE, SIMILARITY)
    at = np.array([threshold, 0.2])
    assert [values.tolist() for values in figures.counts(at)] == [[true, 0], [pytest.approx(predicted), 0]]
    precision, recall = figures.at(at)
    assert (precision[0], recall[0]) == (pytest.approx(true / predicted), true / 2)
    assert np.isnan([precision[1], recall[1]]).all()  # no document has the label


def test_thresholds_that_reach_a_target() -> None:
    """Precision 2/4, 2/3, 1/1 and recall 1, 1, ½ at .2, .6 and .9, whose middles are .2, .4 and .85."""
    figures = ThresholdFigures().fit(FOUR, HAVE, SIMILARITY)
    for figure, least, expected in (
        ("precision", 0.9, 0.85),
        ("precision", 2 / 3, 0.4),
        ("precision", 0.5, 0.4),
        ("recall", 1.0, 0.4),
        ("recall", 0.5, 0.85),
        ("recall", 1.1, math.nan),
    ):
        found = figures.thresholds_for(figure, least)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, [expected, math.nan])
    lowest = ThresholdFigures().fit(FOUR[:, :1], Csr([[1], [1], [1], [1]]), SIMILARITY)
    assert lowest.thresholds_for("recall", 1.0)[0] == pytest.approx(0.2 * (1 - 1e-6), rel=1e-12)
    above = figures.at(np.array([0.95, 0.95]))
    assert np.isnan(above[0]).all()
    assert above[1][0] == 0.0


def test_thresholds_of_the_rule_are_points_of_the_curve() -> None:
    """At .7 one of two predictions is right, exactly; an infinite threshold adds no point."""
    exact = ThresholdFigures().fit(FOUR, HAVE, SIMILARITY, np.array([0.7, math.inf]))
    assert [values.tolist() for values in exact.counts(np.array([0.7, 0.2]))] == [[1, 0], [2, 0]]
    assert exact.corner_thresholds_.tolist() == [0.2, 0.6, 0.7, 0.9]
    assert exact.corner_starts_.tolist() == [0, 4, 4]
    assert exact.positives_.tolist() == [2, 0]
    never = ThresholdFigures().fit(FOUR[:, :1], HAVE[:, [0]], SIMILARITY, np.array([math.inf]))
    assert never.corner_thresholds_.tolist() == [0.2, 0.6, 0.9]
    swapped, both = exact.of_labels(np.array([1, 0])), exact.beside(exact)
    assert (swapped.corner_starts_.tolist(), swapped.positives_.tolist()) == ([0, 0, 4], [0, 2])
    assert (both.corner_starts_.tolist(), both.positives_.tolist()) == ([0, 4, 4, 8, 8], [2, 0, 2, 0])


def test_long_curves_keep_some_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 65 scores of the label 64 are kept, the ends among them; of many documents every second is looked at."""
    scores = np.arange(65.0)[:, np.newaxis]
    long = ThresholdFigures().fit(scores, Csr(np.ones((65, 1), dtype=int)), MARGIN)
    assert (len(long.corner_thresholds_), long.corner_thresholds_[0], long.corner_thresholds_[-1]) == (64, 0, 64)
    whole = ThresholdFigures().fit(scores[:64], Csr(np.ones((64, 1), dtype=int)), MARGIN)
    assert whole.corner_thresholds_.tolist() == list(range(64))
    monkeypatch.setattr(figures_module, "MOST_CELLS", 64)
    half = ThresholdFigures().fit(scores, Csr(np.ones((65, 1), dtype=int)), MARGIN)
    assert half.corner_thresholds_.tolist() == list(range(0, 65, 2))
    assert half.positives_.tolist() == [33]
    impossible = ThresholdFigures().fit(np.array([[0.0], [0.5]]), Csr([[1], [1]]), POSTERIOR)
    assert (impossible.corner_thresholds_.tolist(), impossible.positives_.tolist()) == ([0.5], [2])


# ---- a model with its rule -------------------------------------------------------------------------------------------

WORDS, LABELS = (
    Csr(np.array([[2.0, 0, 1], [1, 1, 0], [0, 2, 1], [0, 1, 2]] * 3)),
    Csr([[1, 0], [1, 1], [0, 1], [0, 1]] * 3),
)


@pytest.fixture(scope="module")
def decided() -> DecidedModel:
    return DecidedModel(LinearSVM(), GlobalThreshold(), folds=2, probabilities="logistic").fit(WORDS, LABELS)


def test_scores_and_explanations_are_those_of_the_model(decided: DecidedModel) -> None:
    alone = LinearSVM().fit(WORDS, LABELS)
    scores = alone.scores(WORDS)
    np.testing.assert_array_equal(decided.decision_function(WORDS), scores)
    np.testing.assert_array_equal(
        decided.evidence(WORDS[[1]], [1]).toarray(), alone.evidence(WORDS[[1]], [1]).toarray()
    )
    assert decided.evidence(WORDS[[1]], [1]).shape[0] == 1
    assert (
        decided.score_parts(WORDS[[1]], [1]).intercept.tolist() == alone.score_parts(WORDS[[1]], [1]).intercept.tolist()
    )
    assert decided.neighbour_votes(WORDS[[1]]) is None
    np.testing.assert_array_equal(decided.natural_decision(scores), scores >= decided.rule_.threshold_)  # type: ignore[union-attr]
    np.testing.assert_array_equal(decided.predict(WORDS).toarray(), decided.predict(WORDS, working_memory=1).toarray())
    assert decided.shown(scores, raw=True) is not None
    np.testing.assert_array_equal(decided.shown(scores, raw=True), scores)
    np.testing.assert_array_equal(decided.predict_proba(WORDS), decided.calibration_.transform(scores))  # type: ignore[union-attr]
    assert decided.thresholds(raw=True).tolist() == [decided.rule_.threshold_] * 2  # type: ignore[union-attr]
    at = np.full((1, 2), decided.rule_.threshold_)  # type: ignore[union-attr]
    np.testing.assert_allclose(decided.thresholds(), decided.calibration_.transform(at)[0])  # type: ignore[union-attr]
    assert decided.chosen_metrics == []


def test_label_sets_by_shown_scores_of_a_model(decided: DecidedModel) -> None:
    """Documents without a known term get none; a rule of one label gives at most one."""
    X = Csr(np.vstack([WORDS.toarray()[:2], np.zeros(3)]))
    scores = decided.scores(X)
    assert decided.decide_by_shown(X, scores, None, 1).sum(axis=1).tolist() == [1, 1, 0]
    assert decided.decide_by_shown(X, scores, None, None).sum(axis=1).tolist() == [2, 2, 0]
    assert decided.decide_by_shown(X, scores, 1.1, None).nnz == 0
    one = DecidedModel(LinearSVM(), TopK(1)).fit(WORDS, LABELS)
    assert one.decide_by_shown(X, scores, None, None).sum(axis=1).tolist() == [1, 1, 0]
    assert one.decide_by_shown(X, scores, None, 2).sum(axis=1).tolist() == [2, 2, 0]
    assert one.thresholds() is None
    own = DecidedModel(LinearSVM()).fit(WORDS, LABELS)
    assert own.thresholds() is None
    assert own.guarantee() is None
    assert own.decide(X, scores).toarray().tolist() == [*(scores[:2] > 0).astype(int).tolist(), [0, 0]]


def test_corrected_thresholds_keep_the_others_and_a_record(decided: DecidedModel) -> None:
    """Label 1 is shown by σ(f + 1): 0.9 is reached at f = log 9 − 1."""
    state = {**decided.learned_state(), "calibration_": curves([2.0, 1.0], [0.0, 1.0])}
    model = DecidedModel(LinearSVM()).restore(state)
    names, before = ["buses", "roads"], model.thresholds()
    assert before is not None
    rule = corrected(model, names, np.array([1]), np.array([0.9]), "too many roads")
    assert rule.thresholds_.tolist() == [state["rule_"].threshold_, pytest.approx(math.log(9) - 1)]
    np.testing.assert_array_equal(rule.corrected_thresholds(), [math.nan, 0.9])
    changed = {"label": "roads", "from": before[1], "to": 0.9}
    assert rule.changes() == [{"reason": "too many roads", "labels": 1, "thresholds": [changed]}]
    again = DecidedModel(LinearSVM()).restore({**state, "rule_": rule})
    twice = corrected(again, names, np.array([0, 1]), np.array([0.2, 0.3]), "all")
    assert twice.corrected_thresholds().tolist() == [0.2, 0.3]
    assert [(change["reason"], change["labels"]) for change in twice.changes()] == [("too many roads", 1), ("all", 2)]
    kept = corrected(again, names, np.array([0]), np.array([0.2]), "one more")
    assert kept.corrected_thresholds().tolist() == [0.2, 0.9]


def test_margins_of_zero_stay_unpredicted_beside_a_corrected_label() -> None:
    model = DecidedModel(LinearSVM(), Threshold(fallback="argmax")).fit(WORDS, LABELS)
    rule = corrected(model, ["buses", "roads"], np.array([1]), np.array([0.25]), "")
    assert rule.thresholds_.tolist() == [math.nextafter(0.0, 1.0), 0.25]
    assert rule.fallback == "argmax"
    assert corrected(model, ["buses", "roads"], np.arange(2), np.zeros(2), "").fallback == "none"
    no_rule = DecidedModel(LinearSVM()).fit(WORDS, LABELS)
    change = corrected(no_rule, ["buses", "roads"], np.arange(2), np.array([0.5, 1.5]), "first").changes()[0]
    assert [one["from"] for one in change["thresholds"]] == [None, None]


def test_long_records_keep_the_number_of_labels_only() -> None:
    """20 labels are listed, 21 are not."""
    for n_labels, is_listed in ((LISTED, True), (LISTED + 1, False)):
        Y = Csr(np.eye(n_labels, dtype=np.int8))
        model = DecidedModel(LinearSVM(), Threshold()).fit(Csr(np.eye(n_labels)), Y)
        change = corrected(
            model, [str(n) for n in range(n_labels)], np.arange(n_labels), np.zeros(n_labels), ""
        ).changes()
        assert ("thresholds" in change[0], change[0]["labels"]) == (is_listed, n_labels)
    assert LISTED == 20


def test_new_thresholds_are_checked() -> None:
    columns, values = checked_thresholds({"roads": 1, "buses": 0.0}, ["buses", "roads", "trees"], True)
    assert (columns.tolist(), values.tolist()) == ([1, 0], [1.0, 0.0])
    columns, values = checked_thresholds(-3, ["buses", "roads"], False)
    assert (columns.tolist(), values.tolist()) == ([0, 1], [-3.0, -3.0])
    for value, probabilities, message in (
        (1.5, True, "The threshold must be a number from 0 to 1, because scores are shown as probabilities, not 1.5."),
        (math.inf, False, "The threshold must be a number, not inf."),
        (True, False, "The threshold must be a number, not True."),
        ("1", False, "The threshold must be a number, not '1'."),
    ):
        with pytest.raises(ParameterError) as error:
            checked_thresholds(value, ["buses"], probabilities)  # type: ignore[arg-type]
        assert str(error.value) == message
    for several in (np.array([0.123, 0.5]), [0.123, 0.5]):
        with pytest.raises(
            ParameterError, match=r"not (ndarray|list)\. Thresholds of several labels are a dict"
        ) as error:
            checked_thresholds(several, ["buses", "roads"], True)  # type: ignore[arg-type]
        assert "0.123" not in str(error.value)
    with pytest.raises(ParameterError, match=r"^The threshold of 'buses' must be a number, not nan\.$"):
        checked_thresholds({"buses": math.nan}, ["buses"], False)
    with pytest.raises(UnknownNameError, match=r"^Unknown label: 'bus'\. Did you mean 'buses'"):
        checked_thresholds({"bus": 0.5}, ["buses"], False)
