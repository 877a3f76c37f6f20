"""The worked examples of the metrics, with numbers that can be done by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from manylabel import metrics as m
from manylabel.evaluation.rank_tests import average_ranks, ranks
from manylabel.exceptions import DataError, ParameterError, UnknownNameError

T = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 0]])
S = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]])

# two classes of a lecture on text classification, 1000 documents
LECTURE = m.LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790])


def test_counts_of_the_four_documents():
    labels, documents = m.label_counts(T, S), m.document_counts(T, S)
    assert labels.tp.tolist() == [1, 1, 0]
    assert labels.fp.tolist() == [0, 0, 1]
    assert labels.fn.tolist() == [1, 1, 1]
    assert labels.tn.tolist() == [2, 2, 2]
    assert documents.right.tolist() == [1, 1, 0, 0]
    assert documents.true.tolist() == [2, 1, 2, 0]
    assert documents.predicted.tolist() == [1, 2, 0, 0]
    assert documents.labels == 3
    assert labels.tp.dtype == documents.right.dtype == np.int64


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hamming-loss", 4 / 12),
        ("zero-one-loss", 3 / 4),
        ("exact-match", 1 / 4),
        ("jaccard", (1 / 2 + 1 / 2 + 0 + 1) / 4),
        ("sample-precision", (1 + 1 / 2 + 0 + 1) / 4),
        ("sample-recall", (1 / 2 + 1 + 0 + 1) / 4),
        ("sample-f1", (2 / 3 + 2 / 3 + 0 + 1) / 4),
        ("f1-of-means", 0.625),
        ("micro-precision", 2 / 3),
        ("micro-recall", 2 / 5),
        ("micro-f1", 2 * 2 / (3 + 5)),
        ("macro-precision", (1 + 1 + 0) / 3),
        ("macro-recall", (1 / 2 + 1 / 2 + 0) / 3),
        ("macro-f1", (2 / 3 + 2 / 3 + 0) / 3),
        ("macro-f1-of-means", 2 * (2 / 3) * (1 / 3) / (2 / 3 + 1 / 3)),
        ("label-accuracy", 8 / 12),
        ("all-negative-share", 2 / 4),
        ("true-cardinality", 5 / 4),
        ("predicted-cardinality", 3 / 4),
    ],
)
def test_four_documents(name, value):
    """M-1, M-2, M-3, M-4: T = 110,010,101,000 and S = 100,011,000,000."""
    assert m.compute_metrics(T, S, [name])[name] == pytest.approx(value, abs=1e-12)


def test_printed_values_of_the_four_documents():
    """M-2, the six decimals as printed."""
    printed = {
        "hamming-loss": 0.333333,
        "zero-one-loss": 0.75,
        "jaccard": 0.5,
        "sample-precision": 0.625,
        "sample-recall": 0.625,
        "sample-f1": 0.583333,
        "f1-of-means": 0.625,
        "micro-precision": 0.666667,
        "micro-recall": 0.4,
        "micro-f1": 0.5,
        "macro-precision": 0.666667,
        "macro-recall": 0.333333,
        "macro-f1": 0.444444,
        "all-negative-share": 0.5,
    }
    assert m.compute_metrics(T, S, printed) == pytest.approx(printed, abs=5e-7)


def test_lecture_per_label():
    """M-4, M-5: precision, recall, F1, accuracy and error rate of the two classes."""
    np.testing.assert_allclose(m.precision(LECTURE), [0.2, 0.45])
    np.testing.assert_allclose(m.recall(LECTURE), [0.5, 0.9])
    np.testing.assert_allclose(m.f1(LECTURE), [2 / 7, 0.6])
    np.testing.assert_allclose(m.accuracy(LECTURE), [0.95, 0.88])
    np.testing.assert_allclose(m.error_rate(LECTURE), [0.05, 0.12])


def test_lecture_averages():
    """M-3, M-4: macro and micro averages of the two classes, pooled counts (100, 150, 20, 1730)."""
    pooled = LECTURE.pooled
    assert [int(count[0]) for count in (pooled.tp, pooled.fp, pooled.fn, pooled.tn)] == [100, 150, 20, 1730]
    assert m.macro_precision(LECTURE).value == pytest.approx(0.325)
    assert m.macro_recall(LECTURE).value == pytest.approx(0.7)
    assert m.macro_f1(LECTURE).value == pytest.approx(0.442857, abs=5e-7)
    assert m.macro_f1_of_means(LECTURE).value == pytest.approx(0.443902, abs=5e-7)
    assert m.micro_precision(LECTURE) == pytest.approx(0.4)
    assert m.micro_recall(LECTURE) == pytest.approx(0.833333, abs=5e-7)
    assert m.micro_f1(LECTURE) == pytest.approx(0.540541, abs=5e-7)
    assert m.pooled_accuracy(LECTURE) == pytest.approx(0.915)


def test_denominators_of_the_macro_average():
    """M-4: label 0 is present, label 1 only predicted, label 2 neither; means report the number of labels they used."""
    counts = m.LabelCounts(tp=[3, 0, 0], fp=[1, 1, 0], fn=[1, 0, 0], tn=[5, 9, 10])
    assert m.macro_f1(counts) == m.MacroMean(0.75 / 3, 3)
    assert m.macro_f1(counts, "present") == m.MacroMean(0.75, 1)
    assert m.macro_f1(counts, "present_or_predicted") == m.MacroMean(0.75 / 2, 2)
    assert m.macro_recall(counts, zero_division=np.nan) == m.MacroMean(0.75, 1)
    assert m.macro_precision(counts, zero_division=np.nan) == m.MacroMean(0.75 / 2, 2)
    assert m.macro_f1_of_means(counts, "present_or_predicted").labels == 2


def test_nothing_predicted():
    """M-3: nothing predicted gives precision 0; no label present leaves no macro average."""
    counts = m.label_counts(T, np.zeros_like(T))
    assert m.micro_precision(counts) == 0.0
    assert m.micro_f1(counts) == 0.0
    nothing = m.macro_f1(m.label_counts(np.zeros_like(T), np.zeros_like(T)), "present")
    assert np.isnan(nothing.value)
    assert nothing.labels == 0


def test_zero_division_of_labels():
    """M-4: 0 unless something else is asked for. Label 0 is found 3 of 4 times, 1 only predicted, 2 neither."""
    counts = m.LabelCounts(tp=[3, 0, 0], fp=[1, 1, 0], fn=[1, 0, 0], tn=[5, 9, 10])
    assert m.precision(counts).tolist() == [0.75, 0, 0]
    assert m.recall(counts).tolist() == [0.75, 0, 0]
    assert m.f1(counts).tolist() == [0.75, 0, 0]
    assert m.precision(counts, 1.0).tolist() == [0.75, 0, 1]
    assert m.recall(counts, 1.0).tolist() == [0.75, 1, 1]
    assert m.f1(counts, 1.0).tolist() == [0.75, 0, 1]
    assert m.macro_precision(counts) == m.macro_recall(counts) == m.macro_f1(counts) == m.MacroMean(0.25, 3)
    assert m.macro_f1_of_means(counts) == m.MacroMean(0.25, 3)
    assert m.macro_precision(counts, "present_or_predicted", 1.0) == m.MacroMean(0.375, 2)
    assert m.macro_recall(counts, "present_or_predicted", 1.0) == m.MacroMean(0.875, 2)
    assert m.macro_f1_of_means(counts, "present", 1.0) == m.MacroMean(0.75, 1)
    assert m.macro_f1_of_means(counts, zero_division=1.0).value == pytest.approx(2 * 1.75 * 2.75 / 3 / (1.75 + 2.75))
    nothing = m.LabelCounts(tp=[0], fp=[0], fn=[0], tn=[2])
    for metric in (m.micro_precision, m.micro_recall, m.micro_f1):
        assert (metric(nothing), metric(nothing, 1.0)) == (0.0, 1.0)
    assert m.chosen_labels(counts).tolist() == [True, True, True]
    assert m.chosen_labels(counts, "present_or_predicted").tolist() == [True, True, False]
    empty = m.LabelCounts([0], [0], [0], [0])
    assert np.isnan(m.accuracy(empty)[0])
    assert np.isnan(m.error_rate(empty)[0])
    assert len(counts) == 3
    assert m.MacroMean(0.0, 2) == m.macro_f1_of_means(m.LabelCounts([0, 0], [1, 1], [1, 1], [0, 0]))  # 0 / 0 is 0


def test_f1_of_means_of_empty_sets():
    """M-1: precision and recall are 1 for the first document and 0 for the second: F1 of ½ and ½."""
    counts = m.document_counts([[0, 0], [1, 0]], [[0, 0], [0, 1]])
    assert m.f1_of_means(counts) == 0.5
    assert m.f1_of_means(counts, 0.0) == 0.0


def test_means_over_no_documents_or_labels():
    nothing = m.DocumentCounts([], [], [], 3)
    for metric in (m.hamming_loss, m.exact_match, m.true_cardinality, m.all_negative_share, m.sample_f1):
        assert np.isnan(metric(nothing))
    assert m.hamming_loss(m.DocumentCounts([0], [0], [0], 0)) == 0.0
    assert m.hamming_loss(m.DocumentCounts([0], [1], [0], 1)) == 1.0
    assert m.document_counts(T, S).labelled.predicted.tolist() == [1, 2, 0]
    assert len(m.document_counts(T, S)) == 4


def test_exact_sets_are_neither_larger_nor_smaller():
    """M-2: {0} for {0}, {0, 1} for {0}, {0} for {0, 1}."""
    counts = m.document_counts([[1, 0], [1, 0], [1, 1]], [[1, 0], [1, 1], [1, 0]])
    assert m.exact_match(counts) == pytest.approx(1 / 3)
    assert m.zero_one_loss(counts) == pytest.approx(2 / 3)


def test_zero_division_of_documents():
    """M-1: both sets empty count 1, or what is asked for; one empty set counts 0 in any case."""
    counts = m.document_counts([[0, 0], [1, 0], [0, 0]], [[0, 0], [0, 0], [0, 1]])
    for metric in (m.jaccard, m.sample_precision, m.sample_recall, m.sample_f1):
        assert metric(counts) == pytest.approx(1 / 3)
        assert metric(counts, zero_division=0.0) == 0.0
        assert metric(counts, zero_division=np.nan) == 0.0
    alone = m.document_counts([[0, 0], [1, 1]], [[0, 0], [1, 1]])
    assert m.sample_f1(alone, zero_division=np.nan) == 1.0
    assert m.sample_f1(alone, zero_division=0.0) == 0.5


def test_curve_areas():
    """M-6: labels 1,0,1,1,0 with scores .9,.8,.7,.6,.55, and all scores equal."""
    y_true, scores = [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.55]
    assert m.average_precision(y_true, scores) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    assert m.average_precision(y_true, scores) == pytest.approx(0.805556, abs=5e-7)
    assert m.average_precision(y_true, scores, "trapezoid") == pytest.approx(0.763889, abs=5e-7)
    assert m.roc_auc(y_true, scores) == pytest.approx(4 / 6)
    assert m.roc_auc(y_true, [0.3] * 5) == 0.5
    assert m.average_precision(y_true, [0.3] * 5) == pytest.approx(0.6)


def test_undefined_areas():
    """M-6: without a positive or without a negative the areas are nan, and averages skip them."""
    for y_true in ([0, 0], [1, 1], []):
        assert np.isnan(m.roc_auc(y_true, [0.1, 0.2][: len(y_true)]))
        assert np.isnan(m.average_precision(y_true, [0.1, 0.2][: len(y_true)]))
    table = np.array([[0.9, 0.1, 0.5], [0.2, 0.3, 0.5]])
    areas = m.roc_aucs([[1, 0, 1], [0, 0, 1]], table)
    np.testing.assert_array_equal(areas, [1.0, np.nan, np.nan])
    assert m.mean_defined(areas) == m.MacroMean(1.0, 1)
    np.testing.assert_array_equal(m.roc_aucs([[1, 0, 1], [0, 0, 1]], sparse.csr_array(table)), areas)


def test_curve_points_take_ties_together():
    """M-6: one point per distinct score."""
    curve = m.precision_recall_curve([1, 0, 1, 0], [0.8, 0.8, 0.4, 0.1])
    assert curve.thresholds.tolist() == [0.8, 0.4, 0.1]
    assert curve.precision.tolist() == [1 / 2, 2 / 3, 2 / 4]
    assert curve.recall.tolist() == [1 / 2, 1.0, 1.0]
    roc = m.roc_curve([1, 0, 1, 0], [0.8, 0.8, 0.4, 0.1])
    assert roc.thresholds.tolist() == [np.inf, 0.8, 0.4, 0.1]
    assert roc.false_positive_rate.tolist() == [0, 0.5, 0.5, 1]
    assert roc.true_positive_rate.tolist() == [0, 0.5, 1, 1]


def test_metrics_to_optimise_for():
    """Recall at 1: the best label of document 0 is right, that of document 1 is not."""
    assert {name: metric.greater_is_better for name, metric in m.TARGET_METRICS.items()} == {
        "micro-f1": True,
        "macro-f1": True,
        "sample-f1": True,
        "exact-match": True,
        "hamming-loss": False,
    }
    loss, recall = m.find_target_metric("hamming-loss"), m.find_target_metric("recall@12")
    assert (loss.k, loss.value(T, S), loss.gain(0.25)) == (None, 4 / 12, -0.25)
    assert (recall.name, recall.title, recall.k, recall.gain(0.25)) == ("recall@12", "Recall at 12", 12, 0.25)
    scores = [[0.9, 0.1], [0.8, 0.2]]
    assert m.find_target_metric("recall@1").value([[1, 0], [0, 1]], [[0, 0], [0, 0]], scores) == 0.5
    with pytest.raises(ValueError, match=r"^recall@12 depends on the order of labels and needs their scores\.$"):
        recall.value(T, S)
    with pytest.raises(UnknownNameError) as error:
        m.find_target_metric("recall@0")
    known = "exact-match, hamming-loss, macro-f1, micro-f1, recall@5, sample-f1"
    hint = "recall@ takes any number from 1 on."
    assert str(error.value) == f"Unknown metric to optimise for: 'recall@0'. {hint} Known: {known}."


def test_average_ranks():
    """M-8: losses (.10,.08,.08,.05) rank (4,2.5,2.5,1)."""
    assert ranks([0.10, 0.08, 0.08, 0.05]).tolist() == [4, 2.5, 2.5, 1]
    assert ranks([0.10, 0.08, 0.08, 0.05], greater_is_better=True).tolist() == [1, 2.5, 2.5, 4]
    assert average_ranks([[0.10, 0.08, 0.08, 0.05], [1, 2, 3, 4]]).tolist() == [2.5, 2.25, 2.75, 2.5]
    with pytest.raises(DataError, match="nan"):
        average_ranks([[0.1, np.nan]])


def test_every_metric_states_its_convention():
    assert set(m.conventions()) == set(m.METRICS)
    for name, metric in m.METRICS.items():
        assert metric.name == name
        assert metric.convention.endswith(".")
        assert metric.title
        assert metric.source
    titles = [metric.title for metric in m.METRICS.values()]
    assert len(set(titles)) == len(titles)


def test_losses_are_marked_as_lower_is_better():
    losses = {name for name, metric in m.METRICS.items() if metric.greater_is_better is False}
    assert losses == {"hamming-loss", "zero-one-loss"}


def test_indicators_are_matrices_of_ones():
    """Stored zeros and repeated cells are tidied in a copy; a tidy matrix is not copied."""
    untidy = sparse.csr_array((np.array([1, 0, 1]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    found = m.indicator(untidy)
    assert (found.toarray().tolist(), found.nnz) == ([[0, 0, 1], [0, 1, 0]], 2)
    assert found.dtype == np.int8
    assert found.has_canonical_format
    assert untidy.nnz == 3
    tidy = sparse.csr_array(T)
    assert np.shares_memory(m.indicator(tidy).indices, tidy.indices)
    for wrong in ([[0, 2]], sparse.csr_array([[0, 2]])):
        with pytest.raises(DataError) as error:
            m.indicator(wrong)
        remedy = "Convert scores to label sets with a decision rule first."
        assert str(error.value) == f"Y must hold 0 and 1 only, but holds 2. {remedy}"


WRONG: dict[str, Callable[[], object]] = {
    "Y_true and Y_pred must have the same documents and labels, but have shapes (4, 3) and (4, 2).": lambda: (
        m.label_counts(T, S[:, :2])
    ),
    "Y_pred must hold 0 and 1 only, but holds 0.5. Convert scores to label sets with a decision rule first.": lambda: (
        m.label_counts(T, S * 0.5)
    ),
    "Y_true must be a table of documents × labels, not an array of 1 dimension(s). "
    "For a single column of 0 and 1, use y.reshape(-1, 1).": lambda: m.document_counts([1, 0], [1, 0]),
    "Y_true must be a table of documents × labels that holds 0 and 1, not lists of labels. "
    "manylabel.data.label_matrix(labels, names) makes one of them; names are all labels.": lambda: m.compute_metrics(
        [["a"], ["b", "c"]], [["a"], ["b"]], ["micro-f1"]
    ),
    "names must be a list of names, not 'micro-f1'. For one name, give ['micro-f1'].": lambda: m.compute_metrics(
        T, S, "micro-f1"
    ),
    "Label counts need one number per label in each of tp, fp, fn and tn, not 2, 1, 2 and 2 numbers.": lambda: (
        m.LabelCounts([1, 2], [1], [1, 2], [1, 2])
    ),
    "Document counts need one number per document in each of right, true and predicted, "
    "not 1, 2 and 1 numbers.": lambda: m.DocumentCounts([1], [1, 2], [1], 3),
    "Counts of 3 labels cannot be added to counts of 2 labels.": lambda: (
        m.label_counts(T, S) + m.label_counts(T[:, :2], S[:, :2])
    ),
    "Batches of document counts must have one number of labels in common, "
    "but there are 2 batches with [2, 3] labels.": lambda: m.DocumentCounts.concatenate(
        [m.document_counts(T, S), m.document_counts(T[:, :2], S[:, :2])]
    ),
    "Scores must be numbers, but some are nan.": lambda: m.roc_auc([1, 0], [np.nan, 1]),
    "y_true must be 0 or 1 for every document, but holds other values.": lambda: m.roc_auc([1, 2], [0.5, 1]),
    "A curve needs one 0 or 1 and one score per document, but the shapes are (2,) and (1,). "
    "For all labels at once, use label_curves, average_precisions or roc_aucs.": lambda: m.roc_auc([1, 0], [1.0]),
    "Unknown area: 'steps'. Did you mean 'step'? Known: step, trapezoid.": lambda: m.average_precision(
        [1, 0], [1, 0], "steps"
    ),
    "Unknown choice of labels to average over: 'presen'. Did you mean 'present'? "
    "Known: all, present, present_or_predicted.": lambda: m.macro_f1(LECTURE, "presen"),
    "Y_true and scores must have the same shape, but have (4, 3) and (4, 2).": lambda: m.threshold_sweep(
        T, S[:, :2], [0.5]
    ),
    "Thresholds must be a list of numbers, none of them nan.": lambda: m.threshold_sweep(T, S, [np.nan]),
    "Sweeps can be added only if their thresholds are the same.": lambda: (
        m.threshold_sweep(T, S, [0.5]) + m.threshold_sweep(T, S, [0.6])
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_input_raises_an_error_that_explains_it(message):
    with pytest.raises((DataError, ParameterError)) as error:
        WRONG[message]()
    assert str(error.value) == message


def test_an_unknown_metric_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Unknown metric: 'micro-f2'\. Did you mean 'micro-f1'"):
        m.compute_metrics(T, S, ["micro-f2"])


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array, np.asarray])
@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.float64])
def test_every_form_of_matrix_counts_the_same(form, dtype):
    counts = m.label_counts(form(T.astype(dtype)), form(S.astype(dtype)))
    assert counts.tp.tolist() == [1, 1, 0]
    assert counts.tn.tolist() == [2, 2, 2]


def test_unsorted_sparse_matrices_are_read_and_not_changed():
    untidy = sparse.csr_array((np.array([1, 1, 0]), np.array([2, 0, 1]), np.array([0, 3, 3])), shape=(2, 3))
    counts = m.document_counts(untidy, [[1, 0, 0], [0, 0, 0]])
    assert counts.true.tolist() == [2, 0]
    assert counts.right.tolist() == [1, 0]
    assert untidy.indices.tolist() == [2, 0, 1]
    assert untidy.data.tolist() == [1, 1, 0]


def test_quality_by_frequency():
    """M-9: six labels with 0, 1, 2, 2, 9 and 100 training documents, 20 test documents.

    The three rare labels have tp = 1, fp = 1 + 2, fn = 1 in all: micro F1 = 2 / (2 + 3 + 1) = 1/3. Two of them are on
    test documents, with F1 = 2 / (2 + 1) = 2/3 and 0: macro F1 = 1/3.
    """
    trained = np.array([0, 1, 2, 2, 9, 100])
    counts = m.LabelCounts(
        tp=[0, 1, 0, 0, 0, 9], fp=[0, 1, 0, 2, 0, 3], fn=[2, 0, 1, 0, 0, 3], tn=[18, 18, 19, 18, 20, 5]
    )
    unseen, rare, some, many = m.frequency_bands(counts, trained)
    assert (unseen.least, unseen.most, unseen.labels, unseen.true, unseen.micro_f1, unseen.macro_f1) == (
        0,
        0,
        1,
        2,
        0,
        0,
    )
    assert (rare.least, rare.most, rare.labels, rare.tested, rare.true, rare.predicted) == (1, 2, 3, 2, 2, 4)
    assert rare.micro_f1 == pytest.approx(1 / 3)
    assert rare.macro_f1 == pytest.approx((2 / 3 + 0) / 2)
    assert (some.least, some.labels, some.tested, some.micro_f1, some.macro_f1) == (3, 1, 0, None, None)
    assert (many.least, many.most, many.micro_f1, many.macro_f1) == (100, None, 0.75, 0.75)
    whole = m.frequency_bands(counts, np.full(6, 10))
    assert [(one.labels, one.micro_f1) for one in whole] == [(6, m.micro_f1(counts))]
