"""Agreement with LIBLINEAR and LIBSVM as scikit-learn runs them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from manylabel.data import load
from manylabel.estimator import Csr
from manylabel.features import Vectorizer, Weighting
from manylabel.models.linear_svm import LinearSVM


def objective(X: Any, y: Any, w: Any, b: float, loss: str, cost: Any = 1.0) -> float:
    """½‖w‖² + ½b² + Σ C loss, in double precision."""
    margin = np.where(y, 1, -1) * (X @ np.asarray(w, dtype=np.float64) + b)
    losses = {
        "squared_hinge": np.maximum(0, 1 - margin) ** 2,
        "hinge": np.maximum(0, 1 - margin),
        "logistic": np.logaddexp(0, -margin),
    }
    return float(0.5 * (np.dot(w, w) + b * b) + np.sum(cost * losses[loss]))


@pytest.fixture(scope="module")
def documents() -> tuple[Any, Any]:
    """Unit vectors of 300 documents and four labels that have something to do with them."""
    rng = np.random.default_rng(5)
    # Rebuilt from a dense array: older SciPy draws with wide indices, which liblinear refuses.
    X = sparse.csr_array(sparse.random_array((300, 120), density=0.1, random_state=rng).toarray())
    X.data = np.abs(X.data) / np.sqrt(np.repeat(np.asarray((X * X).sum(axis=1)), np.diff(X.indptr)))  # type: ignore[attr-defined]
    S = X @ rng.normal(size=(120, 4)) + 0.1 * rng.normal(size=(300, 4))
    return X, (np.quantile(S, [0.97, 0.9, 0.7, 0.4], axis=0).diagonal() < S).astype(int)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_same_solution_as_liblinear(documents: tuple[Any, Any], loss: Any, C: float) -> None:
    X, Y = documents
    model = LinearSVM(loss=loss, C=C, tol=1e-8, max_iter=100_000).fit(X, Y)
    W = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    for c, y in enumerate(Y.T):
        if loss == "logistic":
            oracle = LogisticRegression(C=C, solver="liblinear", tol=1e-10, max_iter=10_000)
        else:
            oracle = LinearSVC(loss=loss, C=C, tol=1e-8, max_iter=1_000_000, dual=True, random_state=0)
        oracle.fit(sparse.csr_matrix(X), y)
        np.testing.assert_allclose(W[c], oracle.coef_[0], atol=2e-4 if loss == "logistic" else 2e-6)
        np.testing.assert_allclose(model.intercept_[c], oracle.intercept_[0], atol=2e-4)


def test_free_bias_is_that_of_libsvm(documents: tuple[Any, Any]) -> None:
    X, Y = documents
    model = LinearSVM(loss="hinge", bias="free", tol=1e-7, max_iter=100_000).fit(X, Y)
    for c, y in enumerate(Y.T):
        oracle = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X.toarray(), y)
        np.testing.assert_allclose(model.decision_function(X)[:, c], oracle.decision_function(X.toarray()), atol=1e-5)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_weights_of_classes_and_documents(documents: tuple[Any, Any], loss: Any) -> None:
    X, Y = documents
    weights = np.random.default_rng(2).uniform(0, 2, 300)
    model = LinearSVM(loss=loss, J=4.0, tol=1e-8, max_iter=100_000).fit(X, Y[:, [1]], sample_weight=weights)
    oracle = LinearSVC(
        loss=loss, class_weight={1: 4.0, 0: 1.0}, tol=1e-8, max_iter=1_000_000, dual=True, random_state=0
    )
    oracle.fit(sparse.csr_matrix(X), Y[:, 1], sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X)[:, 0], oracle.decision_function(X), atol=2e-6)


def test_single_precision_reaches_the_same_objective(documents: tuple[Any, Any]) -> None:
    X, Y = documents
    rough, exact = LinearSVM(tol=1e-4).fit(X, Y), LinearSVM(tol=1e-9, max_iter=100_000).fit(X, Y)
    assert rough.weights_.dtype == np.float32
    assert exact.weights_.dtype == np.float64
    for c, y in enumerate(Y.T):
        a, b = (
            objective(X, y, m.coef_[[c]].ravel() if isinstance(m.coef_, np.ndarray) else m.coef_[[c]].toarray()[0],
                      float(m.intercept_[c]), "squared_hinge")
            for m in (rough, exact)
        )  # fmt: skip
        assert 0 <= a - b + 1e-7 * b <= 2e-7 * b


@pytest.mark.parametrize(("loss", "gap"), [("squared_hinge", 1e-6), ("hinge", 3e-4)])
def test_rcv1_same_objective_and_same_decisions(loss: Any, gap: float) -> None:
    """101 topics of RCV1: LinearSVC's objective and its decisions on new documents.

    The hinge is not smooth: violations within the tolerance add up linearly in its objective, for either solver.
    """
    folder = Path(os.environ.get("MANYLABEL_DATA", "")) / "rcv1" / "sub1"
    if not os.environ.get("MANYLABEL_DATA") or not (folder / "first_X.npz").exists():
        pytest.skip("MANYLABEL_DATA does not point to a folder with rcv1/sub1")
    X, Y, new = (sparse.load_npz(folder / f"{name}.npz") for name in ("first_X", "first_Y", "second_X"))
    model = LinearSVM(loss=loss, tol=1e-4, max_iter=10_000).fit(X, Y)
    chosen = [c for c in range(0, Y.shape[1], 6) if 0 < Y[:, [c]].sum() < Y.shape[0]]
    W = Csr(model.coef_).toarray()
    scores = model.decision_function(new)
    for c in chosen:
        y = Y[:, [c]].toarray()[:, 0] > 0
        oracle = LinearSVC(loss=loss, tol=1e-4, max_iter=100_000, dual=True, random_state=0).fit(X, y)
        theirs = objective(X, y, oracle.coef_[0], float(oracle.intercept_[0]), loss)
        assert objective(X, y, W[c], float(model.intercept_[c]), loss) <= theirs * (1 + gap)
        their_scores = oracle.decision_function(new)
        assert ((scores[:, c] > 0) == (their_scores > 0)).all()
        np.testing.assert_allclose(scores[:, c], their_scores, atol=1e-4 if loss == "squared_hinge" else 5e-3)


@pytest.mark.parametrize(("name", "every"), [("reuters21578", 9), ("debtags", 50)])
def test_texts_same_objective(data_folder: Path, name: str, every: int) -> None:
    """Some labels of Reuters and debtags, tf-idf of the texts: LinearSVC's objective within 1e-5."""
    if not (data_folder / name).exists():
        pytest.skip(f"{name} is not in MANYLABEL_DATA")
    corpus = load(name).corpus
    documents = corpus.subset(np.arange(0, len(corpus), 2))
    X = Weighting(tf="log", idf="smooth", norm="l2").fit_transform(Vectorizer(min_df=2).fit_transform(documents.texts))
    Y = documents.label_matrix()
    Y = Csr(Y[:, np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel() > 5)[::every]])
    model = LinearSVM(tol=1e-4, max_iter=10_000).fit(X, Y)
    W = Csr(model.coef_).toarray()
    for c in range(Y.shape[1]):
        y = Y[:, [c]].toarray()[:, 0] > 0
        oracle = LinearSVC(tol=1e-4, max_iter=100_000, dual=True, random_state=0).fit(sparse.csr_matrix(X), y)
        theirs = objective(X, y, oracle.coef_[0], float(oracle.intercept_[0]), "squared_hinge")
        ours = objective(X, y, W[c], float(model.intercept_[c]), "squared_hinge")
        assert abs(ours - theirs) <= 1e-5 * theirs
