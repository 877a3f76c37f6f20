"""B-9: few positives against many negatives, with numbers one can do by hand."""

import math

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.resampling.clusters import few_clusters, many_clusters
from manylabel.resampling.imbalance import label_imbalance
from manylabel.resampling.samplers import (
    centroid_similarity,
    cluster_rows,
    interpolated,
    nearest_rows,
    negatives_to_keep,
    positive_costs,
    positive_neighbours,
    positives_to_add,
    sample_weights,
    surface_closeness,
    synthetic_positives,
)
from manylabel.strategies.resampled import Resampled

LINE = Csr(np.array([[0.0], [10], [1], [4.4], [9], [30], [31]]))
TWO_OF_SEVEN = np.array([1, 1, 0, 0, 0, 0, 0], dtype=bool)


# ---- instance weights ------------------------------------------------------------------------------------------------


def test_cost_of_positive_errors() -> None:
    """B-9: 1 positive per 99 negatives, cost 10: the positive has 10 / (10 + 99) of the weight; balanced, J = 99."""
    positive = np.arange(100) == 0
    weights = sample_weights(positive, 10.0)
    assert weights[0] / weights.sum() == 10 / 109
    assert positive_costs(np.array([1]), 100).tolist() == [99.0]
    assert positive_costs(np.array([1]), 100, ratio=0.5).tolist() == [49.5]
    assert positive_costs(np.array([60]), 100).tolist() == [1.0]  # more positives than negatives: left alone


def test_cost_is_the_j_of_an_svm() -> None:
    """B-9 and B-7: the cost multiplies the J of every label; balanced, each label has its own."""
    X = np.array([[1.0, 0], [0, 1], [0.5, 0.5], [0, 0.8]])
    Y = np.array([[1, 1], [0, 1], [0, 0], [0, 0]])
    assert Resampled(LinearSVM(), "weights").fit(X, Y).model_.J.tolist() == [3.0, 1.0]  # type: ignore[attr-defined]
    assert Resampled(LinearSVM(J=2.0), "weights", cost=10).fit(X, Y).model_.J.tolist() == [20.0, 20.0]  # type: ignore[attr-defined]
    by_hand = LinearSVM(J=[3.0, 1.0]).fit(X, Y)
    np.testing.assert_array_equal(Resampled(LinearSVM(), "weights").fit(X, Y).scores(X), by_hand.scores(X))


def test_weights_multiply_the_counts_of_naive_bayes() -> None:
    """B-9: positive (1, 0) counted 3 times, negatives (0, 1), (1, 1), (0, 1): prior 3/6, Laplace p(w|+) = (4, 1)/5,
    p(w|−) = (2, 4)/6; log-odds of the document (1, 0): log (3/3) (4/5)/(2/6) = log 2.4.
    """
    X, Y = np.array([[1, 0], [0, 1], [1, 1], [0, 1]]), np.array([[1], [0], [0], [0]])
    for model in (BinaryNaiveBayes(smoothing="laplace"), MultinomialNaiveBayes(smoothing="laplace")):
        weighted = Resampled(model, "weights").fit(X, Y)
        assert weighted.scores([[1, 0]])[0, 0] == pytest.approx(math.log(2.4))
        tripled = Resampled(model, "replicate").fit(X, Y)
        np.testing.assert_allclose(weighted.scores(X), tripled.scores(X), rtol=1e-12)


# ---- amounts ---------------------------------------------------------------------------------------------------------


def test_one_ratio_for_all() -> None:
    """10 positives, 990 negatives: ratio 0.1 keeps 100 negatives, or makes 99 positives of 10."""
    assert negatives_to_keep(10, 990, 0.1) == 100
    assert positives_to_add(10, 990, 0.1) == 89
    assert positive_costs(np.array([10]), 1000, 0.1)[0] == pytest.approx(9.9)


# ---- under-sampling --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [few_clusters, many_clusters])
def test_cluster_example(way) -> None:
    """B-9: positives 0, 10; negatives 1, 4.4, 9, 30, 31.

    Round 1: {0, 1, 4.4}, {10, 9, 30, 31} → 1.8 and 20. Round 2: {0, 1, 4.4, 9, 10}, {30, 31} → 24.4/5 = 4.88 and 30.5.
    Both positives are in the first cluster: negatives 1, 4.4, 9 are kept.
    """
    found = way(LINE, LINE[:2], 100)
    np.testing.assert_allclose(found.centroids.toarray(), [[4.88], [30.5]])
    assert found.assigned.tolist() == [0, 0, 0, 0, 0, 1, 1]
    np.testing.assert_allclose(way(LINE, LINE[:2], 1).centroids.toarray(), [[1.8], [20.0]])
    assert LINE.toarray()[cluster_rows(LINE, TWO_OF_SEVEN), 0].tolist() == [0, 10, 1, 4.4, 9]


@pytest.mark.parametrize("way", [few_clusters, many_clusters])
def test_an_empty_cluster_keeps_its_centroid(way) -> None:
    """Positives 2 and 2 are one point: all documents go to the first, the second stays at 2 with no document."""
    found = way(Csr(np.array([[2.0], [2.0], [8.0]])), Csr(np.array([[2.0], [2.0]])), 100)
    np.testing.assert_allclose(found.centroids.toarray()[1], [2.0])
    # mean of 2, 2, 8 is 4: the two positives are then nearer to the second, which takes them over
    assert found.assigned.tolist() == [1, 1, 0]


def test_where_no_negative_would_be_left_all_stay() -> None:
    """Positives 0 and 0.1 keep a cluster for themselves, the negatives 9 and 9.2 the other after it moved."""
    X = Csr(np.array([[0.0], [0.1], [9.0], [9.2]]))
    assert cluster_rows(X, np.array([1, 1, 0, 0], dtype=bool)).tolist() == [0, 1, 2, 3]


def test_negatives_nearest_to_the_centroid_or_the_surface() -> None:
    """Centroid of (1, 0), (0, 1) is (½, ½): cosines 1 of (2, 2), .707 of (3, 0); surface: the smallest |margin|."""
    X = Csr(np.array([[1.0, 0], [0, 1], [3, 0], [2, 2]]))
    positive = np.array([1, 1, 0, 0], dtype=bool)
    similarity = centroid_similarity(X, positive)
    np.testing.assert_allclose(similarity, [math.sqrt(0.5), math.sqrt(0.5), math.sqrt(0.5), 1.0])
    assert nearest_rows(positive, 2.0, similarity).tolist() == [0, 1, 3]
    margins = np.array([2.0, 1.0, 0.2, -0.3])
    assert nearest_rows(positive, 2.0, surface_closeness(margins)).tolist() == [0, 1, 2]


# ---- SMOTE -----------------------------------------------------------------------------------------------------------


def test_smote_example() -> None:
    """B-9: (1, 0, 2) and (3, 4, 2) with g = .25 → (1.5, 1, 2)."""
    points = Csr(np.array([[1.0, 0, 2], [3, 4, 2]]))
    new = interpolated(points, np.array([0]), np.array([1]), np.array([0.25]))
    assert new.toarray().tolist() == [[1.5, 1.0, 2.0]]


def test_a_new_document_has_the_terms_of_both() -> None:
    """(1, 0, 0) and (0, 2, 0) half way: (½, 1, 0), two terms stored; at g = 0 only the first one's."""
    points = Csr(np.array([[1.0, 0, 0], [0, 2, 0]]))
    new = interpolated(points, np.array([0, 0]), np.array([1, 1]), np.array([0.5, 0.0]))
    assert new.toarray().tolist() == [[0.5, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert np.diff(new.indptr).tolist() == [2, 1]


def test_k_is_cut_and_one_positive_is_replicated() -> None:
    """Three positives have two neighbours each, whatever k; a single one is taken again and again."""
    assert positive_neighbours(Csr(np.array([[0.0], [10], [4]])), k=5).tolist() == [[2, 1], [2, 0], [0, 1]]
    X = Csr(np.array([[1.0, 3], [2, 2], [0, 1], [1, 0]]))
    new = synthetic_positives(X, np.array([1, 0, 0, 0], dtype=bool), 1.0, np.random.default_rng(0))
    assert new.toarray().tolist() == [[1, 3], [1, 3]]


def test_neighbours_by_cosine_look_at_directions() -> None:
    """(1, 0) is nearest to (0, 1) by distance, √2 against 9; by cosine to (10, 1)."""
    points = Csr(np.array([[1.0, 0], [0, 1], [10, 1]]))
    assert positive_neighbours(points, 1)[0].tolist() == [1]
    assert positive_neighbours(points, 1, "cosine")[0].tolist() == [2]


# ---- statistics ------------------------------------------------------------------------------------------------------


def test_imbalance_of_labels() -> None:
    """Counts 4, 2, 1, 0 of 6 documents: IRLbl 1, 2, 4 and none; mean 7/3, sample standard deviation √(7/3).

    Gini of 4, 2, 1, 0: Σ (2i − 5) x_i / (4 · 7) over 0, 1, 2, 4 ascending = (−1 + 2 + 12) / 28.
    SCUMBLE: the document with labels of IRLbl 1 and 4 has 1 − √4 / 2.5 = .2, that with 1 and 2 has 1 − √2 / 1.5.
    """
    Y = Csr(np.array([[1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))
    found = label_imbalance(Y)
    assert found.label_documents.tolist() == [4, 2, 1, 0]
    np.testing.assert_array_equal(found.imbalance_ratios, [1, 2, 4, math.nan])
    assert found.mean_ratio == pytest.approx(7 / 3)
    assert found.ratio_variation == pytest.approx(math.sqrt(7 / 3) / (7 / 3))
    assert found.gini == pytest.approx(13 / 28)
    assert found.scumble == pytest.approx((0.2 + 1 - math.sqrt(2) / 1.5) / 6)
    assert found.cardinality == pytest.approx(7 / 6)
    assert found.density == pytest.approx(7 / 24)
    assert found.unlabelled_share == pytest.approx(1 / 6)
    assert (found.label_sets, found.label_sets_once) == (4, 3)
