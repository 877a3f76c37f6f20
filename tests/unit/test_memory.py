"""What training holds in memory with many labels, and that working in batches changes no result."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.decisions import threshold_search
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.threshold import GlobalThreshold
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr, Floats
from manylabel.exceptions import ParameterError
from manylabel.kernels import linear_solvers
from manylabel.memory import bytes_of, free_bytes
from manylabel.models import binary_nb, label_thresholds, linear_svm
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind

MARGIN = ScoreKind.MARGIN


def scored(documents: int, labels: int, seed: int = 0) -> tuple[Floats, Csr]:
    """Scores of rare labels, and the true ones; the scores of two labels have an impossible document."""
    random = np.random.default_rng(seed)
    columns = random.integers(0, labels, documents)
    Y = Csr((np.ones(documents, dtype=np.int8), columns, np.arange(documents + 1)), shape=(documents, labels))
    scores = random.normal(-1.0, 0.2, (documents, labels))
    scores[np.arange(documents), columns] += random.normal(1.0, 0.5, documents)
    scores[0, :2] = -np.inf
    return scores, Y


def peak(work: Callable[[], object]) -> int:
    """The most bytes allocated at a time while some work is done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("learn", "times"),
    [
        (lambda scores, Y: PerLabelThreshold().fit(scores, Y, MARGIN), 2.5),
        (lambda scores, Y: GlobalThreshold().fit(scores, Y, MARGIN), 2.5),
        (lambda scores, Y: CalibratedThreshold().fit(scores, Y, MARGIN), 3.5),
        (lambda scores, Y: Calibration().fit(scores, Y), 5.0),
        (lambda scores, Y: ThresholdFigures().fit(scores, Y, MARGIN), 2.0),
    ],
    ids=["per-label", "global", "calibrated", "calibration", "figures"],
)
def test_learning_from_scores_takes_few_times_their_size(learn: Callable[[Floats, Csr], object], times: float) -> None:
    scores, Y = scored(2500, 2000)
    assert peak(lambda: learn(scores, Y)) < times * scores.nbytes


@pytest.mark.parametrize("metric", ["micro-f1", "hamming-loss", "exact-match"])
def test_thresholds_do_not_depend_on_batches(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With small batches the search for a common threshold also leaves out low scores, which must change nothing."""
    scores, Y = scored(300, 20)
    rules = [GlobalThreshold(metric), CalibratedThreshold(metric), PerLabelThreshold()]  # type: ignore[arg-type]
    whole = [rule.fit(scores, Y, MARGIN).score_thresholds(20, MARGIN) for rule in rules]
    monkeypatch.setattr(label_thresholds, "CELLS_A_BATCH", 50)
    monkeypatch.setattr(threshold_search, "LEAST_PRUNED", 50)
    monkeypatch.setattr(threshold_search, "BATCH_BYTES", 24 * 50)
    for rule, expected in zip(rules, whole, strict=True):
        np.testing.assert_array_equal(rule.fit(scores, Y, MARGIN).score_thresholds(20, MARGIN), expected)


def test_few_scores_are_sorted_for_a_common_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, Y = scored(1000, 50)
    positive = scores[Y.toarray() > 0]
    monkeypatch.setattr(threshold_search, "LEAST_PRUNED", 50)
    positive = positive[np.isfinite(positive)]
    low = threshold_search._lowest_useful(scores.ravel(), positive, Y.nnz, "micro-f1")
    assert positive.min() < low < GlobalThreshold().fit(scores, Y, MARGIN).threshold_
    assert np.count_nonzero(scores >= low) < scores.size / 10


def problem(labels: int = 12) -> tuple[Csr, Csr]:
    random = np.random.default_rng(1)
    X = random.random((200, 300)) * (random.random((200, 300)) < 0.1)
    return Csr(X / np.linalg.norm(X, axis=1, keepdims=True)), Csr((random.random((200, labels)) < 0.2).astype(np.int8))


def test_labels_solved_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = problem()
    whole = LinearSVM().fit(X, Y)
    monkeypatch.setattr(linear_solvers, "CELLS_A_BLOCK", 1)
    monkeypatch.setattr(linear_solvers, "FEWEST_LABELS", 5)
    blocks = LinearSVM().fit(X, Y)
    np.testing.assert_array_equal(blocks.coef_, whole.coef_)
    np.testing.assert_array_equal(blocks.intercept_, whole.intercept_)


def test_pruned_weights_change_scores_by_a_share_of_their_norm() -> None:
    X, Y = problem()
    exact, pruned = LinearSVM(prune=0.0).fit(X, Y), LinearSVM(prune=0.1).fit(X, Y)
    kept, norms = np.asarray(abs(pruned.coef_) > 0), np.linalg.norm(np.asarray(exact.coef_), axis=1)
    assert kept.sum() < 0.9 * np.count_nonzero(exact.coef_)
    assert (np.abs(exact.scores(X) - pruned.scores(X)) <= 0.1 * norms + 1e-6).all()
    np.testing.assert_array_equal(np.asarray(pruned.coef_)[kept], np.asarray(exact.coef_)[kept])


def test_weights_are_pruned_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = problem()
    every = np.count_nonzero(LinearSVM().fit(X, Y).coef_)
    assert every == np.count_nonzero(LinearSVM(prune=0).fit(X, Y).coef_)
    monkeypatch.setattr(linear_svm, "MANY_WEIGHTS", X.shape[1] * Y.shape[1])
    assert np.count_nonzero(LinearSVM().fit(X, Y).coef_) < every


def test_dual_coefficients_are_kept_only_where_asked_for() -> None:
    X, Y = problem()
    assert "dual_coef_" not in LinearSVM().fit(X, Y).learned_state()
    assert LinearSVM(keep_dual=True).fit(X, Y).dual_coef_.nnz


def test_weights_of_naive_bayes_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = Csr(np.random.default_rng(0).integers(0, 3, (60, 30))), problem()[1][:60]
    whole = BinaryNaiveBayes().fit(X, Y).scores(X)
    monkeypatch.setattr(binary_nb, "CELLS_A_BATCH", 7)
    np.testing.assert_array_equal(BinaryNaiveBayes().fit(X, Y).scores(X), whole)


def test_the_best_rule_takes_few_times_the_size_of_its_scores() -> None:
    scores, Y = scored(2500, 2000)
    assert peak(lambda: BestRule(folds=2).fit(scores, Y, MARGIN)) < 5 * scores.nbytes


@pytest.mark.parametrize("size", ["", "GB", "-1GB", "0", "2 apples", 0, "250", "1.5", " 999999 "])
def test_an_invalid_size_is_refused(size: str | int) -> None:
    with pytest.raises(ParameterError, match="500MB"):
        bytes_of(size)


def test_free_memory_is_some_of_this_machine() -> None:
    assert 2**20 < free_bytes() < 2**50


def test_predictions_do_not_depend_on_the_memory() -> None:
    letters = load("townhall").corpus.subset(range(120))
    model = TextClassifier("nb-binary").fit(letters.texts, letters.label_sets)
    expected = model.predict_scores(letters.texts)
    small = model.set_params(memory="1kB")
    batches = list(small.iter_decisions(letters.texts))
    assert len(batches) > 20
    np.testing.assert_array_equal(small.predict_scores(letters.texts), expected)


def test_rules_learn_from_fewer_scores_where_memory_is_small() -> None:
    letters = load("townhall").corpus.subset(range(120))
    enough, small = (
        TextClassifier("nb", memory=memory).fit(letters.texts, letters.label_sets).expected_
        for memory in ("1GB", "20kB")
    )
    assert enough is not None
    assert small is not None
    assert enough["documents"] == 120 > small["documents"]


def test_a_model_file_does_not_keep_the_limit_of_memory(tmp_path: Path) -> None:
    letters = load("townhall").corpus.subset(range(60))
    TextClassifier("nb-binary", memory="1GB").fit(letters.texts, letters.label_sets).save(tmp_path / "m")
    assert TextClassifier.load(tmp_path / "m").memory is None
