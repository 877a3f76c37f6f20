"""Intervals and tests of comparison, with numbers that can be done by hand."""

import math

import numpy as np
import pytest

from manylabel.evaluation.bootstrap import document_statistics, interval, paired_difference, resampled_values
from manylabel.evaluation.paired_tests import (
    holm,
    mcnemar,
    mcnemar_exact_match,
    mcnemar_labels,
    permutation_test,
    sign_test,
    sign_test_labels,
)
from manylabel.evaluation.rank_tests import critical_difference, friedman, undivided_groups, wilcoxon
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.exceptions import DataError, ParameterError
from manylabel.metrics import compute_metrics

TRUTH = [[1, 0], [1, 1], [0, 1], [0, 0]]
FIRST = [[1, 0], [1, 0], [0, 1], [0, 0]]  # misses one label of the second document
SECOND = [[0, 1], [1, 1], [1, 1], [0, 1]]  # wrong on the first, adds one to the third and the fourth


def systems() -> tuple[DocumentStatistics, DocumentStatistics]:
    return document_statistics(TRUTH, FIRST), document_statistics(TRUTH, SECOND)


def test_values_of_two_systems() -> None:
    first, second = systems()
    assert first.value("micro-f1") == pytest.approx(2 * 3 / (4 + 3))
    assert second.value("micro-f1") == pytest.approx(2 * 3 / (4 + 6))
    assert first.value("macro-f1") == pytest.approx((1 + 2 / 3) / 2)
    assert second.value("macro-f1") == pytest.approx((2 / 4 + 4 / 6) / 2)
    assert first.value("sample-f1") == pytest.approx((1 + 2 / 3 + 1 + 1) / 4)
    assert second.value("sample-f1") == pytest.approx((0 + 1 + 2 / 3 + 0) / 4)
    assert (first.value("exact-match"), second.value("exact-match")) == (0.75, 0.25)
    assert (first.value("hamming-loss"), second.value("hamming-loss")) == (1 / 8, 4 / 8)


def test_recall_at_k_is_of_labelled_documents() -> None:
    scores = [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.9, 0.1]]
    assert document_statistics(TRUTH, FIRST, scores).value("recall@1") == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_a_resample_is_a_weighted_measurement() -> None:
    """Of two documents, one right and one wrong, a resample has 0, 1 or 2 right ones: 1/4, 1/2, 1/4."""
    statistics = document_statistics([[1], [1]], [[1], [0]])
    values = resampled_values([statistics], "exact-match", seed=1, resamples=4000)[0]
    assert set(values) == {0.0, 0.5, 1.0}
    assert [np.mean(values == value) for value in (0, 0.5, 1)] == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_macro_f1_of_a_rare_label_is_resampled_too_low() -> None:
    """A label with one document is missing from (1 − 1/n)^n of the resamples and counts 0 there, as in `macro-f1`."""
    truth = np.zeros((20, 1), dtype=int)
    truth[3] = 1
    statistics = document_statistics(truth, truth)
    values = resampled_values([statistics], "macro-f1", seed=0, resamples=4000)[0]
    assert statistics.value("macro-f1") == 1
    assert np.mean(values == 0) == pytest.approx((1 - 1 / 20) ** 20, abs=0.03)


def test_share_of_resamples_counts_for_losses_too() -> None:
    found = paired_difference(*systems(), "hamming-loss", seed=0)
    assert found.value == pytest.approx(-3 / 8)
    assert found.better > 0.75
    first, second = systems()
    assert paired_difference(second, first, "hamming-loss", seed=0).better == pytest.approx(1 - found.better)
    same = paired_difference(systems()[0], systems()[0], "hamming-loss", seed=0)
    assert (same.value, same.low, same.high, same.better, same.shown) == (0, 0, 0, 0.5, False)


def test_all_swaps_of_four_differing_documents() -> None:
    """The first is exactly right on documents 1, 3 and 4, the second on 2: 16 swaps, differences ±1, ±1/2 and 0."""
    found = permutation_test(*systems(), "exact-match")
    sums = [sum(signs) for signs in np.array(np.meshgrid(*4 * [[-1, 1]])).reshape(4, -1).T]
    assert found.exact
    assert found.difference == 0.5
    assert found.p == sum(abs(total) >= 2 for total in sums) / 16 == 10 / 16


def test_permutation_of_macro_f1_swaps_labels_too() -> None:
    """Six labels, a document each: one system finds all, the other none. All or no coins fall alike: p = 2 / 2⁶."""
    truth = np.eye(6)
    found = permutation_test(document_statistics(truth, truth), document_statistics(truth, 0 * truth), "macro-f1")
    assert (found.over_documents, found.over_labels, found.exact) == (2 / 64, 2 / 64, True)
    # One label of six, on twelve documents: documents say it is no luck, labels that one of six may be.
    truth = np.zeros((12, 6))
    truth[:, 0] = 1
    found = permutation_test(document_statistics(truth, truth), document_statistics(truth, 0 * truth), "macro-f1")
    assert found.over_documents < 0.05
    assert found.p == found.over_labels == 1


def test_p_of_random_swaps_is_never_zero() -> None:
    truth = np.tile([[1, 0], [0, 1]], (20, 1))
    found = permutation_test(
        document_statistics(truth, truth), document_statistics(truth, 1 - truth), "micro-f1", permutations=99
    )
    assert not found.exact
    assert found.p == 1 / 100


def test_mcnemar() -> None:
    found = mcnemar(1, 9)
    assert found.p == pytest.approx(2 * (1 + 10) / 2**10)
    assert found.chi2 == pytest.approx((8 - 1) ** 2 / 10)
    assert mcnemar(0, 0).p == mcnemar(0, 0).chi2_p == mcnemar(4, 4).chi2_p == mcnemar(4, 4).p == 1


def test_mcnemar_over_documents_and_labels() -> None:
    over_documents = mcnemar_exact_match(*systems())
    assert (over_documents.first_only, over_documents.second_only) == (3, 1)
    labels = [(found.first_only, found.second_only) for found in mcnemar_labels(*systems())]
    assert labels == [(2, 0), (2, 1)]


def test_signs() -> None:
    found = sign_test([3, 3, 3, 3, 3, 1], [2, 2, 2, 2, 2, 1])
    assert (found.wins, found.losses, found.ties) == (5, 0, 1)
    assert found.p == pytest.approx(2 / 2**5)
    assert sign_test([3, 3], [2, 2], greater_is_better=False).losses == 2
    over_labels = sign_test_labels(*systems())  # F1: 1 against 1/2, 2/3 against 2/3
    assert (over_labels.wins, over_labels.losses, over_labels.ties, over_labels.p) == (1, 0, 1, 1.0)


def test_holm() -> None:
    assert holm([0.02, 0.001, 0.03, 0.5]).tolist() == pytest.approx([3 * 0.02, 4 * 0.001, 3 * 0.02, 0.5])
    assert holm([]).tolist() == []


def test_friedman_where_all_rankings_agree() -> None:
    """χ² is at its greatest, N(k − 1); three further rankings of 3 methods agree with the first with chance 1/6³."""
    found = friedman([[3, 2, 1]] * 4)
    assert found.average_ranks == (1, 2, 3)
    assert found.chi2 == pytest.approx(4 * 2)
    assert found.f == math.inf
    assert found.p == pytest.approx(1 / 6**3)
    assert friedman([[1, 1, 1]] * 4).p == 1


DEMSAR = """
0.763 0.768 0.771 0.798
0.599 0.591 0.590 0.569
0.954 0.971 0.968 0.967
0.628 0.661 0.654 0.657
0.882 0.888 0.886 0.898
0.936 0.931 0.916 0.931
0.661 0.668 0.609 0.685
0.583 0.583 0.563 0.625
0.775 0.838 0.866 0.875
1.000 1.000 1.000 1.000
0.940 0.962 0.965 0.962
0.619 0.666 0.614 0.669
0.972 0.981 0.97501 0.975
0.957 0.978 0.946 0.970
"""


def test_the_example_of_demsar() -> None:
    """Demšar 2006, Table 6 and section 3.2.2: average ranks 3.143, 2.000, 2.893, 1.964; χ² 9.28 without correction.

    Two figures of the voting data are both printed as 0.975, but ranked 2 and 3.
    """
    found = friedman(np.array(DEMSAR.split(), dtype=float).reshape(14, 4))
    assert found.average_ranks == pytest.approx((3.143, 2.000, 2.893, 1.964), abs=5e-4)
    ties = 3 * (2**3 - 2) + (4**3 - 4)  # pairs in iris, lung cancer and primary tumor; all four in mushroom
    assert found.chi2 * (1 - ties / (14 * 4 * 15)) == pytest.approx(9.28, abs=5e-3)


def test_critical_differences_of_demsar() -> None:
    """Demšar 2006, Table 5(a), and the example of 4 methods on 14 sets."""
    q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    found = [critical_difference(k, 1) / math.sqrt(k * (k + 1) / 6) for k in range(2, 11)]
    assert found == pytest.approx(q, abs=1e-3)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)


def test_groups_that_ranks_do_not_divide() -> None:
    assert undivided_groups([1.0, 2.0, 3.0], 3.0) == [(0, 1, 2)]
    assert undivided_groups([1.0, 2.0, 3.0], 0.5) == []
    assert undivided_groups([4.0, 1.0, 1.5, 3.0], 1.6) == [(1, 2), (2, 3), (3, 0)]


def test_wilcoxon_of_equal_methods() -> None:
    assert wilcoxon([0.5, 0.6], [0.5, 0.6]).p == 1
    assert wilcoxon([0.5, 0.6, 0.9], [0.5, 0.5, 0.5]).n_sets == 2


def test_what_cannot_be_compared_is_refused() -> None:
    first, second = systems()
    with pytest.raises(DataError, match="no documents"):
        document_statistics(np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(DataError, match="gave no scores"):
        interval(first, "recall@3")
    with pytest.raises(DataError, match="different true labels"):
        paired_difference(first, document_statistics(FIRST, SECOND), "exact-match")
    with pytest.raises(DataError, match="4 documents × 2 labels and 3 × 2"):
        permutation_test(first, document_statistics(TRUTH[:3], SECOND[:3]), "exact-match")
    with pytest.raises(ParameterError, match="level of an interval"):
        interval(first, "exact-match", level=95)
    with pytest.raises(ParameterError, match="at least 1, not 0"):
        permutation_test(first, second, "exact-match", permutations=0)
    with pytest.raises(DataError, match="between 0 and 1"):
        holm([0.1, 1.2])
    with pytest.raises(DataError, match="at least 2 data sets × 2 methods"):
        friedman([[1, 2, 3]])
    with pytest.raises(DataError, match=r"not a value of type ndarray\. Give what document_statistics"):
        permutation_test(np.eye(2), np.eye(2), "micro-f1")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"not a value of type list\. Give what document_statistics"):
        interval([[1]], "micro-f1")  # type: ignore[arg-type]
    for resampled in (interval, lambda *given, **options: permutation_test(first, *given, **options)):
        with pytest.raises(ParameterError, match=r"resampling: seed must be .* a whole number of at least 0, not 'x'"):
            resampled(second, "micro-f1", seed="x")
    with pytest.raises(ParameterError, match=r"^Unknown metric for intervals and tests: 'jaccard'"):
        interval(first, "jaccard")
    with pytest.raises(ParameterError, match=r"at least 2 methods.* not 'a', 10 and 0.05"):
        critical_difference("a", 10)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"'ndcg@3'.*which compute_ranking_metrics reads from scores"):
        compute_metrics(TRUTH, FIRST, ["ndcg@3"])
