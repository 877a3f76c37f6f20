"""Agreement with scikit-learn for every ranking metric and curve it has, ties included where it defines them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

from manylabel import metrics as m
from manylabel.metrics import ranks


def documents(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Labelled documents, one with all labels; few levels give many ties."""
    random = np.random.default_rng(seed)
    Y_true = (random.random((40, 9)) < 0.3).astype(int)
    Y_true[0] = 1
    Y_true = Y_true[Y_true.any(axis=1)]
    return Y_true, random.permutation(random.integers(0, levels, Y_true.size)).reshape(Y_true.shape) / levels


@pytest.fixture(params=[(seed, levels) for seed in range(4) for levels in (4, 10**9)], ids=str)
def ranked(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    return documents(*request.param)


def test_metrics_that_define_ties(ranked, monkeypatch: pytest.MonkeyPatch) -> None:
    Y_true, scores = ranked
    monkeypatch.setattr(ranks, "MAX_COMPARISONS", 100)  # several blocks
    found = m.compute_ranking_metrics(sparse.csr_array(Y_true), scores)
    assert found["coverage"] == pytest.approx(sk.coverage_error(Y_true, scores))
    assert found["ranking-loss"] == pytest.approx(sk.label_ranking_loss(Y_true, scores))
    assert found["ranking-average-precision"] == pytest.approx(sk.label_ranking_average_precision_score(Y_true, scores))


@pytest.mark.parametrize("seed", range(4))
def test_metrics_at_k(seed: int) -> None:
    Y_true, scores = documents(seed, 10**9)
    found = m.compute_ranking_metrics(Y_true, scores)
    for k in (3, 5):
        assert found[f"ndcg@{k}"] == pytest.approx(sk.ndcg_score(Y_true, scores, k=k))
        assert found[f"ndcg@{k}"] == pytest.approx(sk.ndcg_score(Y_true, scores, k=k, ignore_ties=True))
        best = np.argsort(-scores, axis=1)[:, :k]
        hits = np.take_along_axis(Y_true, best, axis=1).sum(axis=1)
        assert found[f"precision@{k}"] == pytest.approx(np.mean(hits / k))
        assert found[f"recall@{k}"] == pytest.approx(np.mean(hits / Y_true.sum(axis=1)))
    assert found["one-error"] == pytest.approx(1 - Y_true[np.arange(len(Y_true)), scores.argmax(axis=1)].mean())
    assert found["precision@1"] == pytest.approx(1 - found["one-error"])


def test_ties_at_k_are_in_label_order(ranked) -> None:
    """scikit-learn has no such option; a tiny penalty for later labels has the same effect."""
    Y_true, scores = ranked
    nudged = scores - 1e-12 * np.arange(scores.shape[1])
    found = m.compute_ranking_metrics(Y_true, scores)
    for k in (3, 5):
        assert found[f"ndcg@{k}"] == pytest.approx(sk.ndcg_score(Y_true, nudged, k=k))


def test_micro_and_macro_areas(ranked) -> None:
    Y_true, scores = ranked
    Y_true = Y_true.copy()
    Y_true[1], Y_true[2] = 0, 1 - Y_true[2]  # every label has both
    assert m.micro_average_precision(Y_true, scores) == pytest.approx(
        sk.average_precision_score(Y_true, scores, average="micro")
    )
    assert m.micro_roc_auc(Y_true, scores) == pytest.approx(sk.roc_auc_score(Y_true, scores, average="micro"))
    macro = m.macro_roc_curve(sparse.csr_array(Y_true), scores)
    area = sk.auc(macro.false_positive_rate, macro.true_positive_rate)
    assert area == pytest.approx(sk.roc_auc_score(Y_true, scores, average="macro"))
    assert m.mean_defined(m.average_precisions(Y_true, scores)).value == pytest.approx(
        sk.average_precision_score(Y_true, scores, average="macro")
    )


def test_curves(ranked) -> None:
    Y_true, scores = ranked
    for label, curve in enumerate(m.precision_recall_curves(Y_true, scores)):
        p, r, thresholds = sk.precision_recall_curve(Y_true[:, label], scores[:, label])
        np.testing.assert_allclose(curve.precision, p[:-1][::-1])
        np.testing.assert_allclose(curve.recall, r[:-1][::-1])
        np.testing.assert_allclose(curve.thresholds, thresholds[::-1])
    for label, roc in enumerate(m.roc_curves(sparse.csr_array(Y_true), scores)):
        fpr, tpr, _ = sk.roc_curve(Y_true[:, label], scores[:, label], drop_intermediate=False)
        np.testing.assert_allclose(roc.false_positive_rate, fpr)
        np.testing.assert_allclose(roc.true_positive_rate, tpr)
    p, r, _ = sk.precision_recall_curve(Y_true.ravel(), scores.ravel())
    micro = m.micro_precision_recall_curve(Y_true, scores)
    np.testing.assert_allclose(micro.precision, p[:-1][::-1])
    fpr, tpr, _ = sk.roc_curve(Y_true.ravel(), scores.ravel(), drop_intermediate=False)
    np.testing.assert_allclose(m.micro_roc_curve(Y_true, scores).false_positive_rate, fpr)
    np.testing.assert_allclose(m.micro_roc_curve(Y_true, scores).true_positive_rate, tpr)
