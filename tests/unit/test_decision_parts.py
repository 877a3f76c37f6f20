"""What decision rules share: shown scores, candidates, cross-fitted decisions and documents without a known term."""

import math

import numpy as np
import pytest

from manylabel.decisions.base import DecisionRule, decidable_scores, unlabelled_if_empty
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.corrected import checked_thresholds
from manylabel.decisions.cross_fitting import CrossFitted, compared_rows, unseen_decisions
from manylabel.decisions.guarantee import Guarantee
from manylabel.decisions.natural import Natural
from manylabel.decisions.shown import decide_by_shown, learned_calibration, score_thresholds, shown_thresholds
from manylabel.decisions.temperature import Temperature
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
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
