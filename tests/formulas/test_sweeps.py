"""Sweeps over thresholds and the sizes of label sets, by hand: M-6 and M-7."""

import numpy as np
import pytest

from manylabel import metrics as m
from manylabel.exceptions import DataError, ParameterError
from manylabel.metrics.document_metrics import set_size_counts


def test_threshold_sweep() -> None:
    """M-6: P, R and 0/1 loss over tau, for all documents and for labelled ones."""
    Y_true = [[1, 0], [1, 1], [0, 0], [1, 0]]
    scores = [[0.9, 0.4], [0.8, 0.3], [0.5, 0.1], [0.25, 0.4]]
    sweep = m.threshold_sweep(Y_true, scores, [0.5, 0.2, 0.35])
    # 0.5 -> {0}, {0}, {0}, {};  0.2 -> {0,1}, {0,1}, {0}, {0,1};  0.35 -> {0,1}, {0}, {0}, {1}
    np.testing.assert_allclose(sweep.precision, [2 / 3, 4 / 7, 2 / 5])
    np.testing.assert_allclose(sweep.recall, [2 / 4, 4 / 4, 2 / 4])
    np.testing.assert_allclose(sweep.f1, [4 / 7, 8 / 11, 4 / 9])
    np.testing.assert_allclose(sweep.zero_one_loss, [3 / 4, 3 / 4, 4 / 4])
    labelled = m.threshold_sweep(Y_true, scores, [0.5, 0.2, 0.35], labelled_only=True)
    np.testing.assert_allclose(labelled.precision, [2 / 2, 4 / 6, 2 / 4])
    np.testing.assert_allclose(labelled.zero_one_loss, [2 / 3, 2 / 3, 3 / 3])
    assert labelled.documents == 3


def test_sums_and_rates_of_sweeps() -> None:
    """M-6: at 0.5 {0}, {}; at 0.2 {0, 1}, {1}. Of the true labels {0}, {1}, right 1 and 2, predicted 1 and 3."""
    first = m.threshold_sweep([[1, 0]], [[0.9, 0.4]], [0.5, 0.2])
    second = m.threshold_sweep([[0, 1]], [[0.1, 0.3]], [0.5, 0.2])
    whole = first + second
    assert (whole.right.tolist(), whole.predicted.tolist(), whole.exact.tolist()) == ([1, 2], [1, 3], [1, 1])
    assert (whole.true, whole.documents, whole.thresholds.tolist()) == (2, 2, [0.5, 0.2])
    assert whole.predicted_cardinality.tolist() == [0.5, 1.5]
    nothing = m.threshold_sweep(np.zeros((0, 2)), np.zeros((0, 2)), [0.5])
    assert np.isnan([nothing.predicted_cardinality[0], nothing.zero_one_loss[0]]).all()
    assert (nothing.precision[0], nothing.recall[0], nothing.f1[0]) == (0, 0, 0)
    for scores, thresholds, message in (
        ([[np.nan]], [0.5], r"^Scores must be numbers, but some are nan\.$"),
        ([[1.0]], [[0.5]], r"^Thresholds must be a list of numbers, none of them nan\.$"),
    ):
        with pytest.raises(DataError, match=message):
            m.threshold_sweep([[1]], scores, thresholds)


def test_sweeps_of_any_decision() -> None:
    """M-6: the first τ labels are predicted; documents without a label are counted unless they are left out."""
    Y_true = [[1, 0], [1, 1], [0, 0]]
    sweep = m.decision_sweep(Y_true, lambda tau: np.tile(np.arange(2) < tau, (3, 1)), [0, 1, 2])
    assert (sweep.right.tolist(), sweep.predicted.tolist(), sweep.exact.tolist()) == ([0, 2, 3], [0, 3, 6], [1, 1, 1])
    assert (sweep.true, sweep.documents) == (3, 3)
    labelled = m.decision_sweep(Y_true, lambda tau: np.tile(np.arange(2) < tau, (3, 1)), [0, 1, 2], labelled_only=True)
    assert (labelled.predicted.tolist(), labelled.exact.tolist(), labelled.documents) == ([0, 2, 4], [0, 1, 1], 2)


def test_set_size_counts() -> None:
    """M-7: sizes of 4 and more share a row and a column."""
    counts = m.DocumentCounts(right=[0, 1, 2, 3], true=[0, 1, 4, 7], predicted=[0, 2, 3, 9], labels=20)
    table = set_size_counts(counts)
    assert table.shape == (5, 5)
    assert [tuple(cell) for cell in np.argwhere(table)] == [(0, 0), (1, 2), (4, 3), (4, 4)]
    assert set_size_counts(counts, 1).tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 2]]
    assert m.set_size_table(counts, 2).largest == 2
    assert m.set_size_table(counts, 1).shares.tolist() == [[0, 0, 1]]
    with pytest.raises(ParameterError) as error:
        set_size_counts(counts, 0)
    assert str(error.value) == "The largest set size must be a whole number of at least 1, not 0."


def test_set_size_table() -> None:
    """M-7: shares of |S| = 0, 1, 2, 3, more for |T| = 1, 2, 3."""
    counts = m.DocumentCounts(
        right=[1, 1, 0, 1, 2, 0], true=[1, 1, 1, 2, 2, 4], predicted=[1, 2, 0, 9, 2, 1], labels=20
    )
    table = m.set_size_table(counts)
    assert table.documents.tolist() == [3, 2, 0]
    np.testing.assert_allclose(table.shares[0], [1 / 3, 1 / 3, 1 / 3, 0, 0])
    np.testing.assert_allclose(table.shares[1], [0, 0, 1 / 2, 0, 1 / 2])
    assert np.isnan(table.shares[2]).all()
    assert m.set_size_table(counts, count_empty=False).shares[0].tolist() == [0, 0.5, 0.5, 0, 0]
    with pytest.raises(ParameterError, match="at least 1"):
        m.set_size_table(counts, largest=0)
