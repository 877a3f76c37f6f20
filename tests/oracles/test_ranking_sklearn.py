"""Agreement with scikit-learn for every ranking metric and curve it has, ties included where it defines them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

from manylabel import metrics as m
from manylabel.metrics import ranking


def documents(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Labelled documents, one with all labels; few levels give many ties."""
    random = np.random.default_rng(seed)
    truth = (random.random((40, 9)) < 0.3).astype(int)
    truth[0] = 1
    truth = truth[truth.any(axis=1)]
    return truth, random.permutation(random.integers(0, levels, truth.size)).reshape(truth.shape) / levels


@pytest.fixture(params=[(seed, levels) for seed in range(4) for levels in (4, 10**9)], ids=str)
def ranked(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    return documents(*request.param)


def test_measures_that_define_ties(ranked, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, scores = ranked
    monkeypatch.setattr(ranking, "MAX_COMPARISONS", 100)  # several blocks
    found = m.compute_ranking_metrics(sparse.csr_array(truth), scores)
    assert found["coverage"] == pytest.approx(sk.coverage_error(truth, scores))
    assert found["ranking-loss"] == pytest.approx(sk.label_ranking_loss(truth, scores))
    assert found["ranking-average-precision"] == pytest.approx(sk.label_ranking_average_precision_score(truth, scores))


@pytest.mark.parametrize("seed", range(4))
def test_measures_at_k(seed: int) -> None:
    truth, scores = documents(seed, 10**9)
    found = m.compute_ranking_metrics(truth, scores)
    for k in (3, 5):
        assert found[f"ndcg@{k}"] == pytest.approx(sk.ndcg_score(truth, scores, k=k))
        assert found[f"ndcg@{k}"] == pytest.approx(sk.ndcg_score(truth, scores, k=k, ignore_ties=True))
        best = np.argsort(-scores, axis=1)[:, :k]
        hits = np.take_along_axis(truth, best, axis=1).sum(axis=1)
        assert found[f"precision@{k}"] == pytest.approx(np.mean(hits / k))
        assert found[f"recall@{k}"] == pytest.approx(np.mean(hits / truth.sum(axis=1)))
    assert found["one-error"] == pytest.approx(1 - truth[np.arange(len(truth)), scores.argmax(axis=1)].mean())
    assert found["precision@1"] == pytest.approx(1 - found["one-error"])


def test_ties_at_k_stand_in_label_order(ranked) -> None:
    """scikit-learn has no such option; a tiny penalty for later labels says the same."""
    truth, scores = ranked
    nudged = scores - 1e-12 * np.arange(scores.shape[1])
    found = m.compute_ranking_metrics(truth, scores)
    for k in (3, 5):
        assert found[f"ndcg@{k}"] == pytest.approx(sk.ndcg_score(truth, nudged, k=k))


def test_micro_and_macro_areas(ranked) -> None:
    truth, scores = ranked
    truth = truth.copy()
    truth[1], truth[2] = 0, 1 - truth[2]  # every label has both
    assert m.micro_average_precision(truth, scores) == pytest.approx(
        sk.average_precision_score(truth, scores, average="micro")
    )
    assert m.micro_roc_auc(truth, scores) == pytest.approx(sk.roc_auc_score(truth, scores, average="micro"))
    macro = m.macro_roc_curve(sparse.csr_array(truth), scores)
    area = sk.auc(macro.false_positive_rate, macro.true_positive_rate)
    assert area == pytest.approx(sk.roc_auc_score(truth, scores, average="macro"))
    assert m.mean_defined(m.average_precisions(truth, scores)).value == pytest.approx(
        sk.average_precision_score(truth, scores, average="macro")
    )


def test_curves(ranked) -> None:
    truth, scores = ranked
    for label, curve in enumerate(m.precision_recall_curves(truth, scores)):
        p, r, thresholds = sk.precision_recall_curve(truth[:, label], scores[:, label])
        np.testing.assert_allclose(curve.precision, p[:-1][::-1])
        np.testing.assert_allclose(curve.recall, r[:-1][::-1])
        np.testing.assert_allclose(curve.thresholds, thresholds[::-1])
    for label, roc in enumerate(m.roc_curves(sparse.csr_array(truth), scores)):
        fpr, tpr, _ = sk.roc_curve(truth[:, label], scores[:, label], drop_intermediate=False)
        np.testing.assert_allclose(roc.false_positive_rate, fpr)
        np.testing.assert_allclose(roc.true_positive_rate, tpr)
    p, r, _ = sk.precision_recall_curve(truth.ravel(), scores.ravel())
    micro = m.micro_precision_recall_curve(truth, scores)
    np.testing.assert_allclose(micro.precision, p[:-1][::-1])
    fpr, tpr, _ = sk.roc_curve(truth.ravel(), scores.ravel(), drop_intermediate=False)
    np.testing.assert_allclose(m.micro_roc_curve(truth, scores).false_positive_rate, fpr)
    np.testing.assert_allclose(m.micro_roc_curve(truth, scores).true_positive_rate, tpr)
