"""Rankings: B-11, and the curves of M-6 over many labels."""

import json
import math
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import auc

from manylabel import metrics as m
from manylabel.exceptions import DataError, UnknownNameError

# Two documents with labels, one without; the second has a tie between a true and a wrong label.
T = np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
SCORES = np.array([[0.9, 0.8, 0.3, 0.1], [0.6, 0.6, 0.2, 0.1], [0.5, 0.4, 0.3, 0.2]])


def test_orders() -> None:
    """B-11: labels sorted per document, documents sorted per label; ties to the lowest index."""
    assert m.label_ranking(SCORES).tolist() == [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert m.label_ranking(-SCORES, 2).tolist() == [[3, 2], [3, 2], [3, 2]]
    assert m.document_ranking(SCORES).tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 1], [2, 0, 1]]
    many = np.arange(300) % 3  # few equal scores keep their order by whatever algorithm
    assert m.label_ranking(many[np.newaxis])[0].tolist() == sorted(range(300), key=lambda label: -many[label])


def test_ranks_of_true_labels() -> None:
    """B-11: document 0 has its labels at 1 and 3; document 1 at 2, where two labels score as much."""
    ranks = m.label_ranks(T, SCORES)
    assert ranks.sizes.tolist() == [2, 1, 0]
    assert ranks.rank.tolist() == [1, 3, 2]
    assert ranks.reach.tolist() == [1, 3, 2]
    assert ranks.right.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("one-error", 1 / 2),  # document 1's tie goes to the wrong label
        ("precision@1", 1 / 2),
        ("precision@3", (2 / 3 + 1 / 3) / 2),
        ("precision@5", (2 / 5 + 1 / 5) / 2),  # by 5 although there are 4 labels
        ("recall@3", 1),
        ("f1@5", (2 * 2 / (5 + 2) + 2 * 1 / (5 + 1)) / 2),
        ("ndcg@3", ((1 + 1 / 2) / (1 + 1 / math.log2(3)) + 1 / math.log2(3)) / 2),
        ("ranking-average-precision", ((1 + 2 / 3) / 2 + 1 / 2) / 2),
        ("ranking-loss", (1 / 4 + 1 / 3) / 2),
        ("coverage", (3 + 2) / 2),
    ],
)
def test_metrics(name: str, value: float) -> None:
    """B-11: means over the two documents that have labels."""
    assert m.compute_ranking_metrics(T, SCORES, [name])[name] == pytest.approx(value)


def test_propensities() -> None:
    """Jain, Prabhu & Varma 2016, eq. 1: p = 1/(1 + C (N_l + B)^−A), C = (log N − 1)(B + 1)^A."""
    c = (math.log(10_000) - 1) * 2.5**0.55
    expected = [1 / (1 + c * math.exp(-0.55 * math.log(n + 1.5))) for n in (0, 10, 1000)]
    assert m.propensities([0, 10, 1000], 10_000).tolist() == pytest.approx(expected)
    assert m.propensities([1], 2).tolist() == [1.0]  # log 2 < 1: nothing was overlooked


PROPENSITIES = (0.5, 0.25, 0.2, 1.0)  # a hit counts 2, 4, 5 or 1
SECOND = 1 / math.log2(3)
BOTH = 1 + SECOND


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ps-precision@1", 2 / (5 + 4)),  # document 0 hits its label 0, its label 2 would count 5; document 1 misses
        ("ps-precision@3", 1),
        ("ps-ndcg@3", ((2 + 5 / 2) / BOTH + 4 * SECOND) / ((5 + 2 * SECOND) / BOTH + 4)),
    ],
)
def test_propensity_scored_metrics(name: str, value: float) -> None:
    """Ratios of sums over documents, as in the Extreme Classification Repository."""
    assert m.compute_ranking_metrics(T, SCORES, [name], PROPENSITIES)[name] == pytest.approx(value)
    assert name not in m.compute_ranking_metrics(T, SCORES)
    with pytest.raises(DataError, match="Pass propensities="):
        m.compute_ranking_metrics(T, SCORES, [name])


def test_propensities_of_batches() -> None:
    """The gains of batches follow each other; they are unknown where a batch has none."""
    whole = m.label_ranks(T, SCORES, [0.5, 0.25, 1.0, 1.0])
    batches = [m.label_ranks(T[rows], SCORES[rows], [0.5, 0.25, 1.0, 1.0]) for rows in (slice(1), slice(1, 3))]
    assert whole.gain.tolist() == m.LabelRanks.concatenate(batches).gain.tolist() == [2, 1, 4]
    assert m.LabelRanks.concatenate([batches[0], m.label_ranks(T[1:], SCORES[1:])]).gain is None


def test_equal_propensities_weigh_nothing() -> None:
    """With p = 1 psnDCG is nDCG where a perfect ranking reaches 1, and psP is P divided by the best P."""
    found = m.compute_ranking_metrics(T, SCORES, propensities=np.ones(4))
    assert found["ps-ndcg@3"] == pytest.approx(found["ndcg@3"])
    assert found["ps-precision@3"] == pytest.approx(found["precision@3"] / ((2 / 3 + 1 / 3) / 2))


def test_documents_without_labels_change_nothing() -> None:
    assert m.compute_ranking_metrics(T, SCORES) == m.compute_ranking_metrics(T[:2], SCORES[:2])
    assert all(math.isnan(value) for value in m.compute_ranking_metrics(T[2:], SCORES[2:]).values())


def test_a_document_with_all_labels() -> None:
    """Nothing can be ordered wrongly: loss 0, average precision 1."""
    found = m.compute_ranking_metrics([[1, 1]], [[0.3, 0.3]])
    assert (found["ranking-loss"], found["ranking-average-precision"], found["coverage"]) == (0.0, 1.0, 2.0)


def test_labels_never_seen_rank_last() -> None:
    """−∞ is a score like any other."""
    ranks = m.label_ranks([[0, 0, 1]], [[0.1, -5.0, -math.inf]])
    assert (ranks.rank.tolist(), ranks.reach.tolist()) == ([3], [3])


def test_every_ranking_metric_states_its_convention() -> None:
    assert set(m.ranking_conventions()) == set(m.RANKING_METRICS)
    assert not set(m.RANKING_METRICS) & set(m.METRICS)
    for name, metric in m.RANKING_METRICS.items():
        assert metric.name == name
        assert metric.convention.endswith(".")
        assert metric.title
        assert metric.source
    losses = {name for name, metric in m.RANKING_METRICS.items() if not metric.greater_is_better}
    assert losses == {"one-error", "ranking-loss", "coverage"}


# ---- curves ----------------------------------------------------------------------------------------------------------

TRUE, SCORE = np.array([1, 0, 1, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.55])


def test_areas_of_one_label() -> None:
    """M-6: AP .805556, trapezoid .763889, AUC .666667; all scores equal: AUC .5, AP .6."""
    assert m.average_precision(TRUE, SCORE) == pytest.approx(0.805556, abs=5e-7)
    assert m.average_precision(TRUE, SCORE, "trapezoid") == pytest.approx(0.763889, abs=5e-7)
    assert m.roc_auc(TRUE, SCORE) == pytest.approx(0.666667, abs=5e-7)
    assert m.roc_auc(TRUE, np.ones(5)) == 0.5
    assert m.average_precision(TRUE, np.ones(5)) == pytest.approx(0.6)
    assert m.average_precisions(TRUE[:, np.newaxis], SCORE[:, np.newaxis], "trapezoid") == pytest.approx(0.763889)


def test_curves_of_many_labels() -> None:
    """M-6: the same label twice: per label, micro and macro are all its curve; a label without positives is skipped."""
    Y_true = np.stack([TRUE, TRUE, np.zeros(5, dtype=int)], axis=1)
    scores = np.stack([SCORE, SCORE, SCORE], axis=1)
    alone = m.precision_recall_curve(TRUE, SCORE)
    for curve in m.precision_recall_curves(Y_true, scores)[:2]:
        np.testing.assert_array_equal(curve.precision, alone.precision)
    assert np.isnan(m.precision_recall_curves(Y_true, scores)[2].recall).all()
    micro = m.micro_precision_recall_curve(Y_true[:, :2], scores[:, :2])
    np.testing.assert_allclose(micro.precision, alone.precision)
    np.testing.assert_allclose(micro.recall, alone.recall)
    roc = m.macro_roc_curve(Y_true, scores)
    assert auc(roc.false_positive_rate, roc.true_positive_rate) == pytest.approx(2 / 3)
    assert m.micro_roc_auc(Y_true[:, :2], scores[:, :2]) == pytest.approx(2 / 3)


def test_macro_precision_is_interpolated() -> None:
    """M-6: precision 1, 1/2, 2/3, 3/4, 3/5 at recall 1/3, 1/3, 2/3, 1, 1: the best from recall r on."""
    curve = m.macro_precision_recall_curve(TRUE[:, np.newaxis], SCORE[:, np.newaxis], [0, 1 / 3, 0.4, 1])
    assert curve.precision.tolist() == [1, 1, 0.75, 0.75]
    assert len(m.macro_precision_recall_curve(TRUE[:, np.newaxis], SCORE[:, np.newaxis]).recall) == 101


def test_curves_without_a_usable_label() -> None:
    """M-6: undefined where no label has both a positive and a negative document."""
    assert np.isnan(m.macro_precision_recall_curve([[1], [1]], [[0.1], [0.2]]).precision).all()
    assert m.macro_roc_curve([[0], [0]], [[0.1], [0.2]]).false_positive_rate.size == 0
    assert math.isnan(m.micro_roc_auc([[0], [0]], [[0.1], [0.2]]))


def test_label_curves_are_the_curves_of_the_other_functions_as_plain_data() -> None:
    """M-6: a label with a curve, one without positives; the average leaves the second out."""
    Y_true = np.stack([TRUE, np.zeros(5, dtype=int)], axis=1)
    scores = np.stack([SCORE, SCORE], axis=1)
    curves = m.label_curves(Y_true, sparse.csr_array(scores), ["buses", "roads"])
    buses, roads = curves.labels
    assert [curve.name for curve in (buses, roads, curves.micro, curves.macro)] == ["buses", "roads", "micro", "macro"]
    assert [curve.positives for curve in (buses, roads, curves.micro, curves.macro)] == [3, 0, 3, 3]
    alone, roc = m.precision_recall_curve(TRUE, SCORE), m.roc_curve(TRUE, SCORE)
    assert (buses.thresholds, buses.precision) == (alone.thresholds.tolist(), alone.precision.tolist())
    assert buses.recall == alone.recall.tolist()
    assert buses.roc_thresholds == [None, *roc.thresholds.tolist()[1:]]
    assert buses.false_positive_rate == roc.false_positive_rate.tolist()
    assert buses.true_positive_rate == roc.true_positive_rate.tolist()
    assert buses.average_precision == curves.macro.average_precision == m.average_precision(TRUE, SCORE)
    assert buses.roc_auc == curves.macro.roc_auc == m.roc_auc(TRUE, SCORE)
    assert (roads.average_precision, roads.roc_auc, set(roads.recall)) == (None, None, {None})
    assert curves.micro.average_precision == m.micro_average_precision(Y_true, scores)
    assert curves.micro.roc_auc == m.micro_roc_auc(Y_true, scores)
    assert set(curves.macro.thresholds) == {None}
    assert curves.macro.precision == m.macro_precision_recall_curve(Y_true, scores).precision.tolist()
    assert json.loads(json.dumps(asdict(curves), allow_nan=False)) == asdict(curves)
    assert [curve.name for curve in m.label_curves(Y_true, scores).labels] == ["0", "1"]


def test_curves_have_points_at_thresholds_and_averages_do_not() -> None:
    """M-6: two labels of three documents; the second has its positive at rank 2."""
    Y_true, scores = [[1, 0], [0, 1], [0, 0]], [[0.9, 0.3], [0.5, 0.2], [0.1, 0.1]]
    macro = m.macro_precision_recall_curve(Y_true, scores)
    assert (macro.recall[0], macro.recall[1], macro.recall[-1]) == (0.0, 0.01, 1.0)
    assert macro.precision.tolist() == [0.75] * 101  # (1 + ½)/2 at every recall
    assert np.isnan(macro.thresholds).all()
    assert m.macro_precision_recall_curve(Y_true, scores, [0.5, 2.0]).precision.tolist() == [0.75, 0.75]
    roc = m.macro_roc_curve(Y_true, scores)
    assert np.isnan(roc.thresholds).all()
    assert len(roc.thresholds) == 6
    pooled = m.micro_roc_curve(Y_true, scores)  # from the top: +, −, −, +, −−
    assert pooled.thresholds.tolist() == [np.inf, 0.9, 0.5, 0.3, 0.2, 0.1]
    assert pooled.true_positive_rate.tolist() == [0, 0.5, 0.5, 0.5, 1, 1]
    assert pooled.false_positive_rate.tolist() == [0, 0, 0.25, 0.5, 0.5, 1]
    assert m.micro_average_precision(Y_true, scores) == pytest.approx((1 + 2 / 4) / 2)


def test_long_curves_are_thinned() -> None:
    """M-6: of 20 points 6 are kept, the first and the last among them; areas are those of the whole curve."""
    y_true, scores = np.arange(20)[:, np.newaxis] % 2, np.arange(20.0)[::-1, np.newaxis]
    whole, thin = m.label_curves(y_true, scores).labels[0], m.label_curves(y_true, scores, most_points=6).labels[0]
    assert (thin.average_precision, thin.roc_auc) == (whole.average_precision, whole.roc_auc)
    # evenly 0, 9.5, 19, rounded to even; and 20^0, 20^½, 20^1, less 1
    assert thin.thresholds == [whole.thresholds[place] for place in (0, 3, 10, 19)]
    assert len(whole.thresholds) == 20
    assert m.label_curves(y_true, scores, most_points=20).labels[0].thresholds == whole.thresholds
    assert thin.positives == 10


def test_ranking_metrics_at_5() -> None:
    """Seven labels, true at ranks 1, 5 and 6."""
    found = m.compute_ranking_metrics([[1, 0, 0, 0, 1, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], propensities=np.full(7, 0.5))
    gain = 1 + 1 / math.log2(6)
    best = 1 + 1 / math.log2(3) + 1 / 2
    assert found["precision@5"] == pytest.approx(2 / 5)
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert found["recall@3"] == pytest.approx(1 / 3)
    assert found["ndcg@5"] == found["ps-ndcg@5"] == pytest.approx(gain / best)
    assert found["ndcg@3"] == pytest.approx(1 / best)
    assert found["ps-precision@5"] == pytest.approx(2 / 3)
    assert found["ps-precision@1"] == 1
    assert found["ranking-loss"] == pytest.approx((0 + 3 + 3) / (3 * 4))
    assert found["ranking-average-precision"] == pytest.approx((1 + 2 / 5 + 3 / 6) / 3)
    assert m.RANKING_METRICS["ps-ndcg@5"].title == "Propensity-scored nDCG at 5"
    assert m.RANKING_METRICS["ps-ndcg@5"].uses_propensities
    assert not m.RANKING_METRICS["coverage"].is_share
    assert m.RANKING_METRICS["recall@3"].convention == (
        "Mean over documents with a label; hits divided by the true labels; equal scores in the order of the labels."
    )
    assert m.RANKING_METRICS["ps-precision@1"].convention == (
        "A hit counts 1/p of its label; divided by the best possible value; equal scores in the order of the labels."
    )


def test_propensities_at_the_edges() -> None:
    """Jain, Prabhu & Varma 2016, eq. 1 with other A and B: C = (log 100 − 1) · 3^.6; p may be 1."""
    c = (math.log(100) - 1) * 3**0.6
    assert m.propensities([4], 100, a=0.6, b=2.0)[0] == pytest.approx(1 / (1 + c * 6**-0.6))
    assert m.propensities([3], 0).tolist() == [1.0]
    assert m.label_ranks([[1, 0]], [[1, 2]], [1.0, 0.5]).gain.tolist() == [1.0]  # type: ignore[union-attr]
    for wrong in ([0.5], [0.5, 1.5], [0.5, np.nan]):
        with pytest.raises(DataError, match="propensities must be one number above 0 and up to 1 for each of the 2"):
            m.label_ranks([[1, 0]], [[1, 2]], wrong)


WRONG: dict[str, Callable[[], object]] = {
    "Y_true and scores must have the same shape, but have (3, 4) and (3, 2).": lambda: m.label_ranks(T, SCORES[:, :2]),
    "Y_true and scores must have the same shape, but have (3, 4) and (3, 3).": lambda: m.roc_curves(T, SCORES[:, :3]),
    "Scores must be numbers, but some are nan.": lambda: m.label_ranking([[np.nan, 1.0]]),
    "A ranking needs scores of documents × labels, not an array of 1 dimension(s).": lambda: m.label_ranking([0.5]),
    "Batches of ranks must have one number of labels in common, but there are 2 batches with [2, 4] labels.": lambda: (
        m.LabelRanks.concatenate([m.label_ranks(T, SCORES), m.label_ranks(T[:, :2], SCORES[:, :2])])
    ),
    "Propensity-scored metrics need the propensities of the labels. Pass propensities= to label_ranks or "
    "compute_ranking_metrics; manylabel.metrics.propensities estimates them from the training documents.": lambda: (
        m.compute_ranking_metrics(T, SCORES, ["ps-ndcg@3"])
    ),
    "propensities must be one number above 0 and up to 1 for each of the 4 labels; see "
    "manylabel.metrics.propensities.": lambda: m.label_ranks(T, SCORES, [0.5, 0.0, 1.0, 1.0]),
    "There are 4 labels, but 1 label name.": lambda: m.label_curves(T, SCORES, ["buses"]),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_input_raises_an_error_that_explains_it(message: str) -> None:
    with pytest.raises(DataError) as error:
        WRONG[message]()
    assert str(error.value) == message


def test_an_unknown_ranking_metric_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown ranking metric: 'ndcg3'\. Did you mean 'ndcg@3'"):
        m.compute_ranking_metrics(T, SCORES, ["ndcg3"])
