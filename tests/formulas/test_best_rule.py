"""The rule chosen for a metric, and thresholds on calibrated probabilities, by hand."""

import math

import numpy as np
import pytest

from manylabel.decisions.auto import AutoModel
from manylabel.decisions.best_rule import BestRule, candidates, with_fallback
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.natural import Natural
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.decisions.threshold_search import pooled_threshold
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.metrics.targets import TARGET_METRICS, find_target_metric
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind

MARGIN, POSTERIOR = ScoreKind.MARGIN, ScoreKind.POSTERIOR


def test_the_threshold_with_the_fewest_wrong_labels() -> None:
    """Given from the top: +1, +1, 0, +1, 0: TP − FP is 1, 2, 1, 2, 1, and the smaller of the two best is taken."""
    scores = np.array([[0.9], [0.8], [0.7], [0.6], [0.5]])
    found = pooled_threshold(scores, Csr([[1], [1], [0], [1], [0]]), "hamming-loss")
    assert found is not None
    assert found.value == pytest.approx(0.55)
    assert found.attained == 2.0


def test_giving_nothing_may_have_the_fewest_wrong_labels() -> None:
    scores = np.array([[0.9], [0.8], [0.7]])
    found = pooled_threshold(scores, Csr([[0], [0], [1]]), "hamming-loss")
    assert found is not None
    assert found.value > 0.9
    assert not GlobalThreshold("hamming-loss").fit(scores, Csr([[0], [0], [1]]), MARGIN).decide(scores, MARGIN).nnz


def test_natural_thresholds_that_are_right_are_kept() -> None:
    """Both labels are told apart at 0, so the first and simplest candidate has nothing above it."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (40, 2))
    scores = np.where(truth == 1, 1.0, -1.0) * rng.uniform(0.5, 2.0, truth.shape)
    rule = BestRule("micro-f1").fit(scores, Csr(truth), MARGIN)
    assert isinstance(rule.rule_, Natural)
    assert rule.chosen == "natural"
    assert rule.gain == 1.0


def test_a_document_must_have_a_label_where_the_metric_says_so() -> None:
    """Every document has one label and scores below 0, as far below as chance has it: only the best label is right."""
    rng = np.random.default_rng(1)
    truth = np.eye(4, dtype=np.int8)[rng.integers(0, 4, 60)]
    scores = np.where(truth == 1, -0.5, -1.0) - 3.0 * rng.uniform(size=(60, 1))
    rule = BestRule("exact-match").fit(scores, Csr(truth), MARGIN)
    assert rule.chosen == "natural, fallback argmax"
    assert rule.gain == 1.0
    assert rule.decide(scores, MARGIN).toarray().tolist() == truth.tolist()


def test_labels_on_different_scales_get_thresholds_of_their_own() -> None:
    """Label 0 lies at −5 without and −4 with the label, label 1 at 4 and 5: no common threshold, nor 0, will do."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (60, 2))
    scores = truth + np.array([-5.0, 4.0]) + 0.2 * rng.uniform(size=truth.shape)
    rule = BestRule("micro-f1").fit(scores, Csr(truth), MARGIN)
    assert rule.gain == 1.0
    thresholds = rule.shown_thresholds(2, MARGIN)
    assert thresholds is not None
    assert -4.8 < thresholds[0] < -4.0
    assert 4.2 < thresholds[1] < 5.0


def test_the_metric_decides() -> None:
    """Recall at k is met by the k best labels and by nothing else."""
    rule = BestRule("recall@2").fit(np.zeros((6, 3)), Csr(np.eye(3)[[0, 1, 2, 0, 1, 2]]), MARGIN)
    assert isinstance(rule.rule_, TopK)
    assert rule.rule_.k == 2
    assert rule.gain == pytest.approx(2 / 3)


def test_too_few_documents_to_compare_rules_leave_the_simplest() -> None:
    rule = BestRule().fit(np.array([[1.0], [-1.0]]), Csr([[1], [0]]), MARGIN)
    assert rule.chosen == "natural"
    assert math.isnan(rule.gain)


def test_unknown_metrics_and_costs_are_refused_in_a_sentence() -> None:
    with pytest.raises(ParameterError, match="metric must be one of 'micro-f1'"):
        BestRule("accuracy").fit(np.zeros((6, 1)), Csr(np.ones((6, 1))), MARGIN)
    with pytest.raises(ParameterError, match="costs must be a list of numbers above 0"):
        AutoModel(LinearSVM(), (), BestRule(), costs=(0.0,)).fit(np.ones((6, 1)), Csr(np.ones((6, 1))))


@pytest.mark.parametrize("metric", [*TARGET_METRICS, "recall@3"])
@pytest.mark.parametrize("kind", list(ScoreKind))
def test_candidates_read_the_scores_they_are_given(metric: str, kind: ScoreKind) -> None:
    listed = candidates(find_target_metric(metric), kind)
    assert listed
    assert all(kind in rule.accepts for rule in listed)
    forced = [twin for rule in listed if (twin := with_fallback(rule)) is not None]
    assert all(twin.fallback == "argmax" for twin in forced)


def test_calibrated_thresholds_are_where_both_labels_have_the_same_probability() -> None:
    rng = np.random.default_rng(3)
    truth = Csr(rng.integers(0, 2, (50, 2)))
    scores = truth.toarray() * np.array([1.0, 0.1]) + rng.normal(size=(50, 2)) * np.array([1.0, 0.1])
    rule = CalibratedThreshold().fit(scores, truth, MARGIN)
    at_the_thresholds = Calibration(shrinkage=0).fit(scores, truth).transform(rule.thresholds_[np.newaxis])[0]
    assert at_the_thresholds[0] == pytest.approx(at_the_thresholds[1], abs=1e-12)


def test_calibrated_labels_whose_scores_say_nothing_are_given_always_or_never() -> None:
    """Label 0 has one score for all and is given to nine in ten, label 1 to none."""
    scores = np.column_stack([np.ones(20), np.arange(20.0)])
    truth = np.zeros((20, 2), dtype=np.int8)
    truth[:18, 0] = 1
    rule = CalibratedThreshold().fit(scores, Csr(truth), MARGIN)
    decided = rule.decide(scores, MARGIN).toarray()
    assert decided[:, 0].all()
    assert not decided[:, 1].any()


def test_calibrated_posteriors_are_compared_as_log_odds() -> None:
    """Posteriors that differ only beyond the sixteenth digit of 1 − p still differ in log-odds at the small end."""
    posterior = np.array([[1e-30, 1.0], [1e-3, 0.999], [1e-28, 1.0], [1e-2, 0.99]])
    truth = Csr([[0, 1], [1, 1], [0, 1], [1, 1]])
    rule = CalibratedThreshold().fit(posterior, truth, POSTERIOR)
    assert rule.decide(posterior, POSTERIOR).toarray().tolist() == truth.toarray().tolist()


def test_a_label_seen_only_where_it_could_not_be_scored_is_not_probable() -> None:
    """Its one document was scored by a fold that never saw the label: −∞ tells nothing of the label."""
    scores = np.array([[-np.inf], [-1.0], [-2.0], [-0.5]])
    probable = Calibration().fit(scores, Csr([[1], [0], [0], [0]])).transform(np.array([[-0.5]]))
    assert probable[0, 0] == pytest.approx(1 / 6)
