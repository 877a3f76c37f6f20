"""Decision rules by hand: A-5, A-6, A-7 and the edge cases of posteriors over one label."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manylabel.decisions.accumulated_posterior import AccumulatedPosterior, log_tails
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.natural import Natural
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.proportional import Proportional
from manylabel.decisions.table import find_rule
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, DecisionError, ParameterError, UnknownNameError
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.out_of_fold import fit_anew, out_of_fold_scores
from manylabel.models.score_kinds import ScoreKind, SingleLabelWarning, posteriors

POSTERIOR, LOG_ODDS = ScoreKind.POSTERIOR, ScoreKind.LOG_ODDS
MARGIN, SIMILARITY = ScoreKind.MARGIN, ScoreKind.SIMILARITY


@pytest.mark.parametrize(
    ("tau", "labels"),
    [
        (-1.0, [1]),
        (0.0, [1]),
        (0.5, [1]),
        (0.55, [1]),
        (0.56, [1, 2]),
        (0.6, [1, 2]),
        (0.85, [1, 2]),
        (0.9, [1, 2, 3]),
        (0.96, [0, 1, 2, 3]),
        (1.0, [0, 1, 2, 3]),
        (1.5, [0, 1, 2, 3]),
    ],
)
def test_accumulated_posterior(tau: float, labels: list[int]) -> None:
    """A-5: posterior (.05, .55, .30, .10)."""
    decided = AccumulatedPosterior(tau).decide(np.array([[0.05, 0.55, 0.30, 0.10]]), POSTERIOR)
    assert sorted(decided.indices.tolist()) == labels


def test_accumulated_posterior_ties_and_impossible_labels() -> None:
    """A-5: ties by index; τ = 1 gives every label that is possible, also where the first is 1 by rounding."""
    assert AccumulatedPosterior(0.4).decide(np.array([[0.2, 0.4, 0.4]]), POSTERIOR).indices.tolist() == [1]
    assert AccumulatedPosterior(1.0).decide(np.array([[1.0, 1e-30, 0.0]]), POSTERIOR).indices.tolist() == [
        0,
        1,
    ]
    assert AccumulatedPosterior(0.5).decide(np.zeros((1, 3)), POSTERIOR).nnz == 0


def test_log_tail() -> None:
    """A-5: log-joints (0, −40, −100) → log(1 − Pr_n) = (−40, −100, −∞), where 1 − cumsum is 0, 0, 0."""
    shares = posteriors(np.array([[0.0, -40.0, -100.0]]))
    np.testing.assert_allclose(log_tails(shares), [[-40, -100, -math.inf]], rtol=1e-12)
    assert (1 - np.cumsum(shares)).tolist() == [0, 0, 0]
    for threshold, expected in (
        (0.0, [0]),
        (-39.0, [0]),
        (-41.0, [0, 1]),
        (-99.0, [0, 1]),
        (-101.0, [0, 1, 2]),
    ):
        rule = AccumulatedPosterior(threshold, log_tail=True)
        assert rule.decide(shares, POSTERIOR).indices.tolist() == expected
    wrong = r"^AccumulatedPosterior: with log_tail, threshold is log\(1 − τ\) and must be at most 0, not 0\.5\.$"
    with pytest.raises(ParameterError, match=wrong):
        AccumulatedPosterior(0.5, log_tail=True).decide(shares, POSTERIOR)


LEARNING = np.array([[0.7, 0.2, 0.1], [0.5, 0.45, 0.05], [0.9, 0.06, 0.04], [0.4, 0.35, 0.25]])
TRUTH = Csr(np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 0]]))


@pytest.mark.parametrize(
    ("tau", "error"),
    [(0.4, 0.5), (0.5, 0.25), (0.7, 0), (0.75, 0.25), (0.9, 0.5), (0.95, 0.75), (0.96, 1), (0.97, 1)],
)
def test_error_by_threshold(tau: float, error: float) -> None:
    """A-7: the error of exact label sets as τ grows."""
    decided = AccumulatedPosterior(tau).decide(LEARNING, POSTERIOR).toarray()
    assert np.mean((decided != TRUTH.toarray()).any(axis=1)) == error


def test_learned_accumulated_posterior() -> None:
    """A-7: exact search gives τ in (.5, .7]."""
    rule = AccumulatedPosterior("learn", metric="exact-match").fit(LEARNING, TRUTH, POSTERIOR)
    assert rule.threshold_ == pytest.approx(0.6)
    assert rule.shown_thresholds(3, POSTERIOR) is None
    np.testing.assert_array_equal(rule.decide(LEARNING, POSTERIOR).toarray(), TRUTH.toarray())
    by_f1 = AccumulatedPosterior("learn", metric="micro-f1").fit(LEARNING, TRUTH, POSTERIOR)
    assert by_f1.threshold_ == pytest.approx(0.6)  # all six labels right: F1 = 1, and P = R
    assert AccumulatedPosterior("learn", "break-even").fit(LEARNING, TRUTH, POSTERIOR).threshold_ == pytest.approx(0.6)


def test_learned_log_tail() -> None:
    """A-7 on log tails: every τ in (.5, .7] gives the same sets; stored is the middle of log .5 and log .3."""
    rule = AccumulatedPosterior("learn", log_tail=True).fit(LEARNING, TRUTH, POSTERIOR)
    assert rule.threshold_ == pytest.approx((math.log(0.5) + math.log(0.3)) / 2)
    np.testing.assert_array_equal(rule.decide(LEARNING, POSTERIOR).toarray(), TRUTH.toarray())


@pytest.mark.parametrize(
    ("kind", "value", "scores", "expected"),
    [
        (LOG_ODDS, 0.8, [math.log(4.01), math.log(3.99)], [1, 0]),  # odds of .8 are 4
        (LOG_ODDS, None, [0.0, -1e-9], [1, 0]),
        (LOG_ODDS, 0.0, [-700.0, -math.inf], [1, 0]),  # an impossible label is never given
        (POSTERIOR, 0.0, [1.0, 0.0], [1, 0]),
        (MARGIN, None, [0.0, 1e-9], [0, 1]),
        (MARGIN, 0, [0.0, -1e-9], [1, 0]),
        (SIMILARITY, -2, [-2.0, -2.5], [1, 0]),
    ],
)
def test_fixed_threshold(kind: ScoreKind, value: float | None, scores: list[float], expected: list[int]) -> None:
    """A-6: { k : P_k ≥ τ }, the value in the units people read."""
    assert Threshold(value).decide(np.array([scores]), kind).toarray().tolist() == [expected]


def test_threshold_must_be_a_probability_where_scores_are() -> None:
    with pytest.raises(DecisionError, match="from 0 to 1, not 2"):
        Threshold(2).decide(np.zeros((1, 2)), LOG_ODDS)


def test_fallback_gives_the_best_label() -> None:
    """A-6: `argmax` labels a document that got nothing, unless every label is impossible."""
    scores = np.array([[-3.0, -1.0], [-math.inf, -math.inf], [2.0, -9.0]])
    assert Threshold(0.5).decide(scores, LOG_ODDS).toarray().tolist() == [[0, 0], [0, 0], [1, 0]]
    assert Threshold(0.5, fallback="argmax").decide(scores, LOG_ODDS).toarray().tolist() == [
        [0, 1],
        [0, 0],
        [1, 0],
    ]


POOLED = np.array([[0.9, 0.6], [0.8, 0.3], [0.2, 0.1]])
POOLED_TRUTH = Csr(np.array([[1, 1], [0, 1], [0, 0]]))


def test_global_threshold_by_f1() -> None:
    """A-7: thresholds .9, .8, .6, .3 give F1 2/4, 2/5, 4/6, 6/7; lower ones only add mistakes. Stored: (.2 + .3)/2."""
    rule = GlobalThreshold("micro-f1").fit(POOLED, POOLED_TRUTH, SIMILARITY)
    assert rule.threshold_ == 0.25
    assert rule.shown_thresholds(2, SIMILARITY).tolist() == [0.25, 0.25]


def test_global_threshold_by_exact_match() -> None:
    """A-7: the first set is right for thresholds in (−∞, .6], the last above .2, the second never: both in (.2, .6]."""
    assert GlobalThreshold("exact-match").fit(POOLED, POOLED_TRUTH, SIMILARITY).threshold_ == 0.25


def test_global_threshold_by_break_even() -> None:
    """A-7: from .6 three labels are predicted and three are true: P = R = 2/3. Half-way down to .3."""
    assert GlobalThreshold("break-even").fit(POOLED, POOLED_TRUTH, SIMILARITY).threshold_ == pytest.approx(0.45)


def test_global_threshold_may_give_nothing() -> None:
    """Exact sets of documents without labels: any threshold above every score."""
    rule = GlobalThreshold("exact-match").fit(POOLED, Csr(np.zeros((3, 2), dtype=int)), SIMILARITY)
    assert rule.decide(POOLED, SIMILARITY).nnz == 0


def test_global_threshold_without_any_true_label_is_natural() -> None:
    scores, nothing = np.array([[1.0, -1.0]]), Csr(np.zeros((1, 2), dtype=int))
    assert GlobalThreshold().fit(scores, nothing, LOG_ODDS).shown_thresholds(2, LOG_ODDS).tolist() == [0.5, 0.5]
    assert GlobalThreshold().fit(scores, nothing, MARGIN).decide(scores, MARGIN).toarray().tolist() == [[1, 0]]


def test_per_label_thresholds_shrink_towards_the_common_one() -> None:
    """A-7: below .9 (1 positive) and .3 (2 positives), common below .3, each half-way down to the next lower score:
    .85, .2 and .25; with s = 1: (.85 + .25)/2 and (2 · .2 + .25)/3.
    """
    plain = PerLabelThreshold(shrinkage=0, floor=0).fit(POOLED, POOLED_TRUTH, SIMILARITY)
    np.testing.assert_allclose(plain.shown_thresholds(2, SIMILARITY), [0.85, 0.2])
    shrunk = PerLabelThreshold(shrinkage=1, floor=0).fit(POOLED, POOLED_TRUTH, SIMILARITY)
    np.testing.assert_allclose(shrunk.shown_thresholds(2, SIMILARITY), [0.55, 0.65 / 3])


def test_labels_without_positives_keep_the_common_threshold() -> None:
    """A-7: also a label whose only positives were impossible out of fold."""
    scores = np.array([[0.9, 0.6, 0.2], [0.8, 0.3, 0.7], [0.2, 0.1, 0.1]])
    truth = Csr(np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]]))
    common = GlobalThreshold().fit(scores, truth, SIMILARITY).threshold_
    assert PerLabelThreshold().fit(scores, truth, SIMILARITY).thresholds_[2] == common
    scores[0, 2], truth = -math.inf, Csr(np.array([[1, 1, 1], [0, 1, 0], [0, 0, 0]]))
    common = GlobalThreshold().fit(scores, truth, SIMILARITY).threshold_
    assert PerLabelThreshold().fit(scores, truth, SIMILARITY).thresholds_[2] == common


def test_floor_of_rare_labels() -> None:
    """SCutFBR: the best F1 of the label is 2/(4 + 1) = .4 < .5; the threshold is just below the highest score, or ∞."""
    scores = np.array([[0.9], [0.8], [0.7], [0.6]])
    truth = Csr(np.array([[0], [0], [0], [1]]))
    assert PerLabelThreshold(0, floor=0.3).fit(scores, truth, SIMILARITY).thresholds_ == pytest.approx([0.6], rel=1e-5)
    assert PerLabelThreshold(0, floor=0.5).fit(scores, truth, SIMILARITY).thresholds_ == pytest.approx([0.8999])
    never = PerLabelThreshold(0, floor=0.5, below_floor="fbr.0").fit(scores, truth, SIMILARITY)
    assert never.thresholds_.tolist() == [math.inf]


def test_top_k() -> None:
    """Ties go to the lowest index; impossible labels do not fill up; k beyond L gives all."""
    scores = np.array([[0.3, 0.3, 0.4, 0.0]])
    assert TopK(2).decide(scores, POSTERIOR).indices.tolist() == [0, 2]
    assert TopK(9).decide(scores, POSTERIOR).indices.tolist() == [0, 1, 2]


def test_proportional() -> None:
    """PCut: label 0 is on 2 of 4 documents and label 1 on 1 of 4; the share doubles or halves that."""
    scores = np.array([[0.9, 0.1], [0.7, 0.2], [0.5, 0.3], [0.3, 0.4]])
    truth = Csr(np.array([[0, 1], [1, 0], [1, 0], [0, 0]]))
    learned = Proportional().fit(scores, truth, SIMILARITY)
    assert learned.shown_thresholds(2, SIMILARITY) == pytest.approx([0.6, 0.35])
    double = Proportional(share=2).fit(scores, truth, SIMILARITY)
    assert double.thresholds_ == pytest.approx([0.3, 0.25], rel=1e-5)
    batch = Proportional(threshold="batch").fit(scores, truth, SIMILARITY)
    assert batch.shown_thresholds(2, SIMILARITY) is None
    assert batch.decide(scores[2:], SIMILARITY).toarray().tolist() == [
        [1, 0],
        [0, 1],
    ]  # of two: one, and round(.5)


def test_rules_refuse_kinds_they_cannot_read() -> None:
    message = (
        "cannot read scores of kind 'margin'. It reads 'posterior'. Choose another rule, or a model with such scores."
    )
    with pytest.raises(DecisionError, match=re.escape(f"AccumulatedPosterior {message}") + "$"):
        AccumulatedPosterior().decide(np.zeros((1, 2)), MARGIN)
    with pytest.raises(DecisionError, match="AccumulatedPosterior cannot read"):
        DecidedModel(BinaryNaiveBayes(), AccumulatedPosterior("learn")).fit(np.eye(6), np.eye(6, 2, dtype=int))
    with pytest.raises(DecisionError, match="2 × 2 but Y is 1 × 2"):
        GlobalThreshold().fit(np.zeros((2, 2)), Csr(np.ones((1, 2))), MARGIN)
    with pytest.raises(NotFittedError):
        GlobalThreshold().decide(np.zeros((1, 2)), MARGIN)


def test_posteriors_over_one_label_warn() -> None:
    """Section 12: with L = 1 the accumulated posterior always answers the label; a binary rule is recommended."""
    message = (
        "AccumulatedPosterior: with one label its posterior is always 1, so every document gets it. "
        "Use a model with log_odds or margin scores, for example BinaryNaiveBayes."
    )
    with pytest.warns(SingleLabelWarning, match=f"^{re.escape(message)}$"):
        AccumulatedPosterior().decide(np.ones((2, 1)), POSTERIOR)


def test_names_of_rules() -> None:
    assert find_rule("natural") is Natural
    assert find_rule("global") is GlobalThreshold
    with pytest.raises(UnknownNameError, match="Did you mean 'per-label'"):
        find_rule("per-labels")


def test_out_of_fold_scores_are_of_unseen_documents() -> None:
    """A document whose only word and label nobody else has cannot be scored for that label by the others."""
    features = np.vstack([np.repeat([[1, 0]], 9, axis=0), [[0, 1]]]).astype(float)
    labels = np.vstack([np.repeat([[1, 0]], 9, axis=0), [[0, 1]]])
    model = MultinomialNaiveBayes(b=0.5)
    scores, rows = out_of_fold_scores(model, Csr(features), Csr(labels), folds=5, seed=0)
    assert rows.tolist() == list(range(10))
    assert scores[9].tolist() == [1.0, 0.0]  # fitted on everything it would be (0, 1) for label 1
    assert model.fit(features, labels).scores(features)[9, 1] > 0.5


def test_out_of_fold_scores_keep_within_memory() -> None:
    features, labels = Csr(np.ones((40, 3))), Csr(np.tile([[1, 0], [0, 1]], (20, 1)))
    scores, rows = out_of_fold_scores(MultinomialNaiveBayes(), features, labels, most_scores=2 * 12)
    assert scores.shape == (12, 2)
    assert len(set(rows.tolist())) == 12


def test_a_small_sample_is_scored_by_one_model_of_all_other_documents() -> None:
    features, labels = Csr(np.arange(40.0)[:, None]), Csr(np.tile([[1, 0], [0, 1]], (20, 1)))
    fitted = []

    def fit(model: MultiLabelModel, X: Csr, Y: Csr, options: Mapping[str, Any]) -> MultiLabelModel:
        fitted.append(X.toarray().ravel().astype(int).tolist())
        return fit_anew(model, X, Y, options)

    for n_scored, n_models in ((8, 1), (9, 5)):
        fitted.clear()
        _, rows = out_of_fold_scores(MultinomialNaiveBayes(), features, labels, most_scores=2 * n_scored, fit=fit)
        assert (len(rows), len(fitted)) == (n_scored, n_models)
        if n_models == 1:
            assert sorted(fitted[0] + rows.tolist()) == list(range(40))


def test_too_few_documents_for_the_folds() -> None:
    with pytest.raises(DataError, match="on 5 folds, but there are only 3 documents"):
        DecidedModel(MultinomialNaiveBayes(), GlobalThreshold()).fit(np.eye(3), np.eye(3, dtype=int))
