"""Agreement with scikit-learn for every metric it has, on random sparse label sets and scores."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

from manylabel import metrics as m
from manylabel.evaluation.rank_tests import average_ranks


def label_sets(seed):
    """True and predicted labels with empty rows, a column of zeros and a column of ones."""
    random = np.random.default_rng(seed)
    documents, labels = int(random.integers(20, 80)), int(random.integers(3, 12))
    Y_true = (random.random((documents, labels)) < 0.25).astype(int)
    Y_pred = np.where(random.random(Y_true.shape) < 0.8, Y_true, random.random(Y_true.shape) < 0.3).astype(int)
    Y_true[0] = Y_pred[0] = Y_pred[1] = Y_true[2] = 0
    Y_true[1, 0] = Y_pred[2, 1] = 1
    Y_true[:, -1], Y_pred[:, -2], Y_true[3:, -3] = 1, 0, 1
    Y_pred[:, 0] = 0
    return Y_true, Y_pred


@pytest.fixture(params=range(8))
def sets(request):
    return label_sets(request.param)


def counted(sets):
    return m.count_all(*(sparse.csr_array(Y) for Y in sets))


def test_per_label(sets):
    ours = counted(sets).labels
    p, r, f, true = sk.precision_recall_fscore_support(*sets, average=None, zero_division=0)
    np.testing.assert_allclose(m.precision(ours), p)
    np.testing.assert_allclose(m.recall(ours), r)
    np.testing.assert_allclose(m.f1(ours), f)
    np.testing.assert_array_equal(ours.true, true)
    table = sk.multilabel_confusion_matrix(*sets)
    np.testing.assert_array_equal(np.stack([ours.tn, ours.fp, ours.fn, ours.tp], axis=1), table.reshape(-1, 4))


def test_undefined_label_ratios_have_the_value_of_zero_division(sets):
    ours = counted(sets).labels
    for fill in (1.0, np.nan):
        p, r, f, _ = sk.precision_recall_fscore_support(*sets, average=None, zero_division=fill)
        np.testing.assert_allclose(m.precision(ours, fill), p)
        np.testing.assert_allclose(m.recall(ours, fill), r)
        np.testing.assert_allclose(m.f1(ours, fill), f)


def test_micro_and_macro(sets):
    ours = counted(sets).labels
    micro = sk.precision_recall_fscore_support(*sets, average="micro", zero_division=0)[:3]
    assert (m.micro_precision(ours), m.micro_recall(ours), m.micro_f1(ours)) == pytest.approx(micro)
    macro = sk.precision_recall_fscore_support(*sets, average="macro", zero_division=0)[:3]
    means = [function(ours).value for function in (m.macro_precision, m.macro_recall, m.macro_f1)]
    assert means == pytest.approx(macro)


def test_macro_over_present_labels(sets):
    ours = counted(sets).labels
    present = np.flatnonzero(sets[0].any(axis=0))
    expected = sk.f1_score(*sets, labels=present, average="macro", zero_division=0)
    assert m.macro_f1(ours, "present") == m.MacroMean(pytest.approx(expected), present.size)


def test_sample_metrics(sets):
    """With 0 for empty sets scikit-learn and we agree; with 1 only where one empty set is not filled too."""
    ours = counted(sets).documents
    expected = sk.precision_recall_fscore_support(*sets, average="samples", zero_division=0)[:3]
    means = [function(ours, 0.0) for function in (m.sample_precision, m.sample_recall, m.sample_f1)]
    assert means == pytest.approx(expected)
    assert m.sample_f1(ours) == pytest.approx(sk.f1_score(*sets, average="samples", zero_division=1))
    for fill in (0, 1):
        expected = sk.jaccard_score(*sets, average="samples", zero_division=fill)
        assert m.jaccard(ours, fill) == pytest.approx(expected)


def test_losses(sets):
    ours = counted(sets).documents
    assert m.hamming_loss(ours) == pytest.approx(sk.hamming_loss(*sets))
    assert m.zero_one_loss(ours) == pytest.approx(sk.zero_one_loss(*sets))
    assert m.exact_match(ours) == pytest.approx(sk.accuracy_score(*sets))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("levels", [5, 10**6])
def test_curves(seed, levels):
    """Few levels give many ties."""
    random = np.random.default_rng(seed)
    Y_true = (random.random(60) < 0.3).astype(int)
    scores = random.integers(0, levels, 60) / levels
    Y_true[:2] = 0, 1
    assert m.average_precision(Y_true, scores) == pytest.approx(sk.average_precision_score(Y_true, scores))
    assert m.roc_auc(Y_true, scores) == pytest.approx(sk.roc_auc_score(Y_true, scores))
    p, r, thresholds = sk.precision_recall_curve(Y_true, scores)
    ours = m.precision_recall_curve(Y_true, scores)
    np.testing.assert_allclose(ours.thresholds, thresholds[::-1])
    np.testing.assert_allclose(ours.precision, p[:-1][::-1])
    np.testing.assert_allclose(ours.recall, r[:-1][::-1])
    assert m.average_precision(Y_true, scores, "trapezoid") == pytest.approx(sk.auc(r, p))
    fpr, tpr, thresholds = sk.roc_curve(Y_true, scores, drop_intermediate=False)
    roc = m.roc_curve(Y_true, scores)
    np.testing.assert_allclose(roc.false_positive_rate, fpr)
    np.testing.assert_allclose(roc.true_positive_rate, tpr)
    np.testing.assert_allclose(roc.thresholds, thresholds)


def test_areas_per_label():
    random = np.random.default_rng(3)
    Y_true = (random.random((50, 6)) < 0.4).astype(int)
    scores = random.random((50, 6))
    expected = sk.average_precision_score(Y_true, scores, average=None)
    np.testing.assert_allclose(m.average_precisions(sparse.csr_array(Y_true), scores), expected)
    np.testing.assert_allclose(m.roc_aucs(Y_true, scores), sk.roc_auc_score(Y_true, scores, average=None))


def test_ranks_agree_with_scipy():
    from scipy.stats import rankdata

    values = np.random.default_rng(0).integers(0, 4, (30, 6)).astype(float)
    np.testing.assert_allclose(average_ranks(values), rankdata(values, axis=1).mean(axis=0))
    gains = average_ranks(values, greater_is_better=True)
    np.testing.assert_allclose(gains, rankdata(-values, axis=1).mean(axis=0))
