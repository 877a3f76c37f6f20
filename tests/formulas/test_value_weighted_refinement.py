"""Refinement of value weights by the conditional likelihood: E-6."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import check_grad

from manylabel.estimator import Csr
from manylabel.models.value_counts import ValueCounts, count_values, learn_coder, tabulate
from manylabel.models.value_refinement import Ascent, ClassProblem, LabelProblems, refine_classes, refine_labels
from manylabel.models.value_scores import class_log_probabilities, class_value_weights, label_values
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes

TOY = Csr(np.array([[1, 0], [2, 0], [0, 1], [0, 2], [1, 1], [0, 0]], dtype=float))
TARGET = np.array([1, 1, 0, 0, 1, 0])
GRADIENT = [0.049232, 0.328735, 0.265438, 0.2069, 0, 0.00613]
LIKELIHOOD = -0.842753829


def coded(X: Csr, Y: Csr, event: str = "categorical", n_bins: int = 3) -> tuple[Csr, ValueCounts]:
    table = tabulate(X, Y, np.ones(X.shape[0]))
    coder = learn_coder(
        table, event=event, frequency="bin", n_bins=n_bins, scope="feature", binary_columns=0, every_bin=False
    )  # type: ignore[arg-type]
    return coder.code(X), count_values(table, coder)


def class_problem(X: Csr, Y: Csr, event: str = "categorical") -> tuple[ClassProblem, np.ndarray]:
    rows, counts = coded(X, Y, event)
    N_c = counts.label_documents
    prior = np.log((N_c + 1) / (counts.n_documents + len(N_c)))
    weights = class_value_weights(counts, "kl_split", 1.0, "global", False)
    return ClassProblem(rows, counts.absent.astype(float), Y, class_log_probabilities(counts), prior), weights


def label_problems(X: Csr, Y: Csr, event: str = "categorical", norm: Any = "global") -> tuple[LabelProblems, Any]:
    rows, counts = coded(X, Y, event)
    N_k, N = counts.label_documents, counts.n_documents
    values = label_values(counts, "kl_split", 1.0, norm, False, False)
    weight, ratio = values.dense(counts, slice(0, Y.shape[1]))
    log_odds = np.log(N_k + 1) - np.log(N - N_k + 1)
    absent = counts.absent.astype(float)
    return LabelProblems(rows, Csr(rows.T.tocsr()), absent, Y.toarray().astype(float), ratio, log_odds), weight


def random_data(n_labels: int) -> tuple[Csr, Csr]:
    rng = np.random.default_rng(5)
    Y = (rng.random((30, n_labels)) < 0.4).astype(float)
    Y[:, 0] = ~Y[:, 1:].any(axis=1) | (Y[:, 0] > 0)  # a label each
    return Csr(rng.poisson(0.8, (30, 7)).astype(float)), Csr(Y)


def test_toy_over_classes() -> None:
    """E-6: likelihood and gradient at the KL weights."""
    problem, weights = class_problem(TOY, Csr(np.eye(2)[TARGET]))
    value, gradient = problem.likelihood(weights)
    assert value == pytest.approx(LIKELIHOOD, abs=5e-10)
    np.testing.assert_allclose(gradient, GRADIENT, atol=5e-7)


def test_toy_of_a_label() -> None:
    """E-6: the same problem as a label against the rest."""
    problem, weights = label_problems(TOY, Csr(TARGET[:, np.newaxis].astype(float)))
    value, missing = problem.likelihood(weights)
    assert value[0] == pytest.approx(LIKELIHOOD, abs=5e-10)
    np.testing.assert_allclose(problem.gradient(missing)[:, 0], GRADIENT, atol=5e-7)


@pytest.mark.parametrize("event", ["categorical", "exponent", "multinomial"])
def test_gradients_by_finite_differences(event: str) -> None:
    """E-6: both gradients, several classes, documents with several labels."""
    X, Y = random_data(3)
    problem, weights = class_problem(X, Y, event)
    error = check_grad(lambda w: problem.likelihood(w)[0], lambda w: problem.likelihood(w)[1], weights)  # type: ignore[misc]
    assert error < 1e-4 * np.linalg.norm(problem.likelihood(weights)[1])
    labels, start = label_problems(X, Y, event)

    def value(w: np.ndarray) -> float:
        return float(labels.likelihood(w.reshape(start.shape))[0].sum())

    def slope(w: np.ndarray) -> np.ndarray:
        return labels.gradient(labels.likelihood(w.reshape(start.shape))[1]).ravel()

    assert check_grad(value, slope, start.ravel()) < 1e-4 * np.linalg.norm(slope(start.ravel()))


def test_batches_do_not_change_the_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents are summed in bounded batches."""
    problem, weights = class_problem(*random_data(4))
    value, gradient = problem.likelihood(weights)
    monkeypatch.setattr(ClassProblem, "_batches", lambda self: iter([slice(0, 7), slice(7, 20), slice(20, 30)]))
    found, slope = problem.likelihood(weights)
    assert found == pytest.approx(value)
    np.testing.assert_allclose(slope, gradient, atol=1e-10)


@pytest.mark.parametrize("eta", [0.01, 5.0])
@pytest.mark.parametrize("l2", [0.0, 0.5])
def test_every_step_climbs(eta: float, l2: float) -> None:
    """E-6: backtracking makes the objective rise from step to step, however long the first step would be."""
    X, Y = random_data(3)
    problem, start = class_problem(X, Y)
    labels, label_start = label_problems(X, Y)

    def objective(w: np.ndarray) -> float:
        return problem.likelihood(w)[0] - l2 / 2 * float(((w - start) ** 2).sum())

    def objectives(w: np.ndarray) -> np.ndarray:
        return labels.likelihood(w)[0] - l2 / 2 * ((w - label_start) ** 2).sum(axis=0)

    value, values = objective(start), objectives(label_start)
    for steps in (1, 2, 3, 8):
        ascent = Ascent(steps, eta, l2, 0.0)
        reached = refine_classes(problem, start, ascent)
        all_reached = refine_labels(labels, label_start, None, ascent)
        assert objective(reached) > value
        assert (objectives(all_reached) >= values).all()
        assert (reached >= 0).all()
        assert (all_reached >= 0).all()
        value, values = objective(reached), objectives(all_reached)


def test_the_pull_to_the_start() -> None:
    """E-6: a strong pull keeps the weights where they were."""
    problem, start = class_problem(*random_data(3))
    near = refine_classes(problem, start, Ascent(20, 1e-6, 1e4, 0.0))
    far = refine_classes(problem, start, Ascent(20, 0.01, 0.0, 0.0))
    assert np.abs(near - start).max() < 1e-2 < np.abs(far - start).max()


def test_only_free_weights_move() -> None:
    """Weights of words a label was never seen with stay, with refine_cells="seen"."""
    labels, start = label_problems(*random_data(3))
    free = (np.random.default_rng(0).random(start.shape) < 0.5).astype(float)
    moved = refine_labels(labels, start, free, Ascent(5, 0.01, 0.0, 0.0)) != start
    assert not moved[free == 0].any()
    assert moved[free == 1].any()


def test_refinement_stops_when_little_changes() -> None:
    """E-6: a relative change below the tolerance ends it; labels end on their own."""
    problem, start = class_problem(*random_data(3))
    once = refine_classes(problem, start, Ascent(1, 0.01, 0.0, 1e9))
    np.testing.assert_array_equal(refine_classes(problem, start, Ascent(20, 0.01, 0.0, 1e9)), once)
    labels, label_start = label_problems(*random_data(3))
    first = refine_labels(labels, label_start, None, Ascent(1, 0.01, 0.0, 1e9))
    np.testing.assert_array_equal(refine_labels(labels, label_start, None, Ascent(20, 0.01, 0.0, 1e9)), first)


@pytest.mark.parametrize("target", ["labels", "classes"])
@pytest.mark.parametrize("event", ["categorical", "exponent"])
def test_refined_models_fit_better(target: Any, event: Any) -> None:
    """E-6: the likelihood of the training labels rises; no steps is no refinement."""
    X, Y = random_data(3)

    def likelihood(**settings: Any) -> float:
        model = ValueWeightedNaiveBayes(event, target=target, **settings).fit(X, Y)
        shown, truth = model.predict_proba(X), Y.toarray()
        chosen = np.where(truth > 0, shown, 1 - shown if target == "labels" else 1.0)
        return float(np.log(chosen).sum())

    assert likelihood(steps=0) == pytest.approx(likelihood(refine="none"), rel=1e-12)
    assert likelihood(steps=0) < likelihood(steps=3) < likelihood(steps=20)


def test_blocks_of_labels_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels are refined in blocks bounded in memory."""
    X, Y = random_data(5)
    for cells in ("all", "seen"):
        whole = ValueWeightedNaiveBayes(refine_cells=cells).fit(X, Y).scores(X)  # type: ignore[arg-type]
        monkeypatch.setattr("manylabel.models.value_refinement.BLOCK", 60)
        parts = ValueWeightedNaiveBayes(refine_cells=cells).fit(X, Y).scores(X)  # type: ignore[arg-type]
        monkeypatch.undo()
        np.testing.assert_allclose(parts, whole, rtol=1e-9)


def test_large_problems_stay_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """refine_cells="auto" keeps one dense table only while it is small."""
    X, Y = random_data(3)
    assert "dense_weights_" in ValueWeightedNaiveBayes().fit(X, Y).learned_state()
    monkeypatch.setattr("manylabel.models.value_refinement.MOST_DENSE", 10)
    small = ValueWeightedNaiveBayes().fit(X, Y)
    assert "dense_weights_" not in small.learned_state()
    seen = ValueWeightedNaiveBayes(refine_cells="seen").fit(X, Y)
    np.testing.assert_array_equal(small.scores(X), seen.scores(X))


def test_a_labels_own_indicator_stays_out_of_refinement() -> None:
    """E-9: with skip_own no label ever looks at itself."""
    _, Y = random_data(3)
    model = ValueWeightedNaiveBayes(binary_columns=3, skip_own=True).fit(Y, Y)
    flipped = Y.toarray()
    flipped[:, 1] = 1 - flipped[:, 1]
    np.testing.assert_array_equal(model.scores(flipped)[:, 1], model.scores(Y)[:, 1])
    assert (model.scores(flipped)[:, 0] != model.scores(Y)[:, 0]).any()
