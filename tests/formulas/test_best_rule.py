"""The rule chosen for a metric, and thresholds on calibrated probabilities, by hand."""

import math

import numpy as np
import pytest

from manylabel.decisions import best_rule as best_module
from manylabel.decisions import threshold_search as search_module
from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
from manylabel.decisions.auto import AutoModel
from manylabel.decisions.best_rule import BestRule, candidates, in_words, with_fallback
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.natural import Natural
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.seen_sets import SeenSets
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.decisions.threshold_search import ThresholdSearch, common_threshold, pooled_threshold
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
    tied = pooled_threshold(scores[:2], Csr([[0], [1]]), "hamming-loss")  # one wrong label, as without predictions
    assert tied is not None
    assert [tied.value, tied.attained] == pytest.approx([0.8, 0.0], rel=1e-5)
    assert tied.value < 0.8
    exact = pooled_threshold(np.array([[0.9, 0.2]]), Csr([[1, 0]]), "exact-match")
    assert exact is not None
    assert [exact.value, exact.attained] == pytest.approx([0.55, 1.0])


def test_giving_nothing_may_have_the_fewest_wrong_labels() -> None:
    scores = np.array([[0.9], [0.8], [0.7]])
    found = pooled_threshold(scores, Csr([[0], [0], [1]]), "hamming-loss")
    assert found is not None
    assert 0.9 < found.value < 0.91
    assert found.attained == 0.0
    assert not GlobalThreshold("hamming-loss").fit(scores, Csr([[0], [0], [1]]), MARGIN).decide(scores, MARGIN).nnz


def test_scores_too_low_for_a_threshold_are_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores 0 to 9, true at 0, 8 and 9.

    TP − FP is below 0 with more than 6 predictions: below 2 there are more than 7. At 8 micro F1 is 2 · 2/(2 + 3) = .8,
    which more than 6/.8 − 3 = 4.5 predictions cannot reach: below 4 there are more than 5.5.
    """
    scores, positive = np.arange(10.0), np.array([0.0, 8.0, 9.0])
    lowest = search_module._lowest_useful
    assert lowest(scores, positive, 3, "hamming-loss") == 0.0  # few scores are all sorted
    monkeypatch.setattr(search_module, "LEAST_PRUNED", 1)
    assert lowest(scores, positive, 3, "hamming-loss") == pytest.approx(2, abs=1e-4)
    assert lowest(scores, positive, 3, "hamming-loss") <= 2
    assert lowest(scores, positive, 3, "micro-f1") == pytest.approx(4, abs=1e-4)
    assert lowest(scores, positive, 3, "micro-f1") <= 4
    assert lowest(scores, np.array([1.0, math.inf]), 2, "micro-f1") == 1.0


@pytest.mark.parametrize("metric", ["micro-f1", "hamming-loss"])
def test_thresholds_of_many_scores_are_those_of_all_scores(
    monkeypatch: pytest.MonkeyPatch, metric: search_module.SearchedMetric
) -> None:
    random = np.random.default_rng(0)
    cases = [(random.normal(size=(40, 3)).round(1), Csr((random.random((40, 3)) < 0.1).astype(int))) for _ in range(20)]
    few = [pooled_threshold(scores, Y, metric) for scores, Y in cases]
    monkeypatch.setattr(search_module, "LEAST_PRUNED", 1)
    assert [pooled_threshold(scores, Y, metric) for scores, Y in cases] == few


def test_what_rules_share_in_a_search() -> None:
    """Posteriors of 0 and scores that are no numbers are impossible; a label of only such scores has no highest."""
    search = ThresholdSearch(np.array([[0.0, 0.25], [0.0, 0.75]]), Csr([[0, 0], [0, 1]]), POSTERIOR)
    assert search.usable.tolist() == [[-math.inf, 0.25], [-math.inf, 0.75]]
    assert search.highest.tolist() == [math.inf, 0.75]
    assert search.own.thresholds[1] == 0.5
    assert (search.common("micro-f1"), search.common("exact-match")) == (0.5, 0.5)
    curves = search.calibration("logistic", 0.0)
    assert search.calibration("logistic", 0.0) is curves
    assert search.calibration("logistic", 1.0) is not curves
    assert search.calibration("isotonic", 0.0).curve == "isotonic"
    margins = ThresholdSearch(np.array([[math.nan, 1.0]]), Csr([[0, 1]]), MARGIN)
    assert margins.usable.tolist() == [[-math.inf, 1.0]]


def test_thresholds_where_nothing_can_be_learned_are_natural() -> None:
    scores, nothing = np.array([[0.25, 0.75]]), Csr(np.zeros((1, 2), dtype=int))
    natural = {kind: common_threshold(scores, nothing, kind, "micro-f1") for kind in ScoreKind}
    assert natural == {
        ScoreKind.POSTERIOR: 0.5,
        ScoreKind.LOG_ODDS: 0.0,
        ScoreKind.MARGIN: math.nextafter(0.0, 1.0),
        ScoreKind.SIMILARITY: 0.5,
    }
    assert pooled_threshold(np.full((1, 1), -math.inf), Csr([[1]]), "exact-match") is None
    assert pooled_threshold(np.zeros((1, 1)), Csr([[1]]), "exact-match", above=0.0) is None


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
    assert rule.settled() is rule.rule_
    assert rule.choice({"C": 0.5}) == {
        "metric": "recall@2",
        "title": "Recall at 2",
        "rule": "top-k, k 2",
        "value": pytest.approx(2 / 3),
        "settings": {"C": 0.5},
    }


def test_candidates_are_compared_on_all_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """As below; with a tolerance of 1 the simplest rule is near enough, and for one label the best one is given."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (60, 2))
    scores, Y = truth + np.array([-5.0, 4.0]) + 0.2 * rng.uniform(size=truth.shape), Csr(truth)
    rule = BestRule("hamming-loss", tolerance=1.0)
    crossed = rule.fit_crossed(scores, Y, MARGIN)
    assert rule.chosen == "natural"
    values = [row["value"] for row in rule.tried_]
    assert values == sorted(values)  # the loss, the best first
    assert (values[0], rule.gain) == (0.0, 0.0)
    assert {row["rule"] for row in rule.tried_} > {"natural", "natural, fallback argmax", "global, metric hamming-loss"}
    natural = next(row["value"] for row in rule.tried_ if row["rule"] == "natural")
    assert natural == pytest.approx(np.mean((scores > 0) != truth))
    choice = rule.choice({})
    assert choice is not None
    assert choice["value"] == natural
    assert crossed is not None
    assert (crossed.metric, crossed.tolerance) == (find_target_metric("hamming-loss"), 1.0)
    assert sorted(crossed.rows.tolist()) == list(range(60))
    assert np.bincount(crossed.folds).tolist() == [12] * 5
    assert crossed.gains(Y, np.arange(60))[0] == pytest.approx(-natural)
    assert len(crossed.decisions) == len(rule.tried_)
    assert any(row["rule"].startswith("seen-sets") for row in rule.tried_)
    monkeypatch.setattr(best_module, "MOST_SETS", 4 * 60 - 1)  # four label sets and 60 documents are too many
    fewer = BestRule("hamming-loss").fit(scores, Y, MARGIN)
    assert [row["rule"] for row in fewer.tried_ if row["rule"].startswith("seen-sets")] == []
    single = BestRule("macro-f1", single_label=True).fit(scores, Y, MARGIN)
    assert (single.chosen, [row["rule"] for row in single.tried_]) == ("top-k", ["top-k"])


@pytest.mark.parametrize(("few", "kept"), [(10, ["careful"]), (11, ["careful", "eager"])])
def test_rules_for_macro_f1_may_lose_more_micro_f1_where_documents_are_few(
    monkeypatch: pytest.MonkeyPatch, few: int, kept: list[str]
) -> None:
    """Ten documents, the first label on nine of them, the second on the last. The careful rule predicts the first label
    where it is right: micro F1 18/19. The eager one predicts it everywhere, and the second label for four documents:
    20/24, 11.4 points less. The useless one has 18/29.
    """
    monkeypatch.setattr(best_module, "FEW_DOCUMENTS", few)
    true = Csr([[1, 0]] * 9 + [[0, 1]])
    careful, eager = Csr([[1, 0]] * 9 + [[0, 0]]), Csr([[1, 0]] * 6 + [[1, 1]] * 4)
    useless = Csr([[1, 1]] * 9 + [[1, 0]])
    decisions = {"careful": careful, "eager": eager, "useless": useless}
    assert list(best_module._keeping_micro_f1(decisions, true)) == kept


def test_too_few_documents_to_compare_rules_leave_the_simplest() -> None:
    rule = BestRule()
    assert rule.fit_crossed(np.array([[1.0], [-1.0]]), Csr([[1], [0]]), MARGIN) is None
    assert rule.chosen == "natural"
    assert math.isnan(rule.gain)
    choice = rule.choice({})
    assert choice is not None
    assert choice["value"] is None
    assert BestRule(folds=2).fit_crossed(np.array([[1.0], [-1.0]]), Csr([[1], [0]]), MARGIN) is not None


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


ACCUMULATED = "accumulated-posterior, threshold learn, "
FOR_F1 = ["natural", "global", "calibrated", "per-label, shrinkage 20", "per-label"]
FOR_F1 += [ACCUMULATED + "metric micro-f1, log_tail True", "seen-sets, dependence 0.25"]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("micro-f1", FOR_F1),
        ("sample-f1", FOR_F1),
        (
            "macro-f1",
            [
                *("natural", "global", "micro-macro", "per-label", "per-label, floor 0"),
                *("per-label, shrinkage 1", "per-label, shrinkage 1, floor 0"),
            ],
        ),
        (
            "exact-match",
            ["natural", "global, metric exact-match", "calibrated, metric exact-match", ACCUMULATED + "log_tail True"]
            + [f"seen-sets, metric exact-match, dependence {weight}" for weight in ("0", "0.25")],
        ),
        (
            "hamming-loss",
            [
                *("natural", "global, metric hamming-loss", "calibrated, metric hamming-loss"),
                "seen-sets, metric hamming-loss, dependence 0.25",
            ],
        ),
        ("recall@3", ["top-k, k 3"]),
    ],
)
def test_the_candidates_of_each_metric(metric: str, expected: list[str]) -> None:
    """Simpler rules first; only posteriors are accumulated."""
    for kind in (POSTERIOR, MARGIN):
        found = [in_words(rule) for rule in candidates(find_target_metric(metric), kind)]
        assert found == [one for one in expected if kind is POSTERIOR or not one.startswith("accumulated")]


def test_rules_that_may_fall_back_to_the_best_label() -> None:
    forced = with_fallback(PerLabelThreshold(20.0))
    assert forced is not None
    assert in_words(forced) == "per-label, shrinkage 20, fallback argmax"
    assert [with_fallback(rule) for rule in (TopK(2), SeenSets(), AccumulatedPosterior())] == [None, None, None]


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
