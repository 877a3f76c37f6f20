"""Rocchio, kNN and ML-kNN against literal implementations and scikit-learn."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from manylabel.models.knn import NearestNeighbours
from manylabel.models.ml_knn import MLkNN
from manylabel.models.rocchio import Rocchio


@pytest.fixture(scope="module")
def corpus() -> tuple[Any, np.ndarray, Any]:
    """Sparse documents of 60 terms, some of them empty, with labels that depend on the terms."""
    rng = np.random.default_rng(11)
    X = sparse.random_array(
        (260, 60), density=0.12, format="csr", random_state=rng, data_sampler=lambda size: rng.random(size)
    )
    Y = (X @ rng.random((60, 5)) + 0.3 * rng.random((260, 5)) > [1.7, 2.0, 2.2, 2.5, 9.0]).astype(int)
    return X[:200], Y[:200], X[200:]


def unit(X: Any) -> np.ndarray:
    dense = X.toarray()
    length = np.linalg.norm(dense, axis=1, keepdims=True)
    return np.asarray(dense / np.where(length > 0, length, 1.0))


def ranked(train: np.ndarray, query: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All documents by similarity, ties by index, and the similarities."""
    similarity = train @ query
    order = np.lexsort((np.arange(len(train)), -similarity))
    return order, similarity[order]


@pytest.mark.parametrize("weights", ["uniform", "cosine", "summed"])
@pytest.mark.parametrize("k", [1, 7, 500])
def test_knn_equals_brute_force(corpus: Any, weights: str, k: int) -> None:
    X, Y, T = corpus
    found = NearestNeighbours(k=k, weights=weights).fit(X, sparse.csr_array(Y)).scores(T)
    train, tests = unit(X), unit(T)
    expected = np.empty(found.shape)
    for row, query in enumerate(tests):
        order, similarity = ranked(train, query)
        near = order[:k][similarity[:k] > 0]
        w = similarity[: len(near)] if weights != "uniform" else np.ones(len(near))
        if len(near):
            expected[row] = w @ Y[near] / (1.0 if weights == "summed" else w.sum())
        else:
            expected[row] = Y.mean(axis=0)
    expected[:, Y.sum(axis=0) == 0] = -np.inf
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_majority_equals_scikit_learn(corpus: Any) -> None:
    """On dense unit vectors, the nearest by cosine are the nearest by distance; odd k and two classes have no ties."""
    rng = np.random.default_rng(2)
    X = np.abs(rng.normal(size=(300, 6)))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (X[:, 0] + 0.2 * rng.normal(size=300) > 0.4).astype(int)
    oracle = KNeighborsClassifier(7).fit(X[:200], y[:200])
    model = NearestNeighbours(k=7).fit(X[:200], y[:200])
    np.testing.assert_array_equal(model.predict(X[200:]), oracle.predict(X[200:]))
    np.testing.assert_allclose(model.scores(X[200:]), oracle.predict_proba(X[200:]), atol=2e-6)


def test_euclidean_rocchio_equals_nearest_centroid() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 5)) + np.repeat(np.eye(3, 5) * 2, 50, axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.repeat([3, 7, 9], 50)
    oracle = NearestCentroid().fit(X, y)
    model = Rocchio(distance="euclidean").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), oracle.predict(X))
    distances = np.linalg.norm(X[:, np.newaxis] - oracle.centroids_, axis=2)
    np.testing.assert_allclose(model.scores(X), -distances, atol=1e-7)


@pytest.mark.parametrize("negatives", ["all", 15])
@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_rocchio_equals_the_formula_written_out(corpus: Any, negatives: Any, distance: str) -> None:
    X, Y, T = corpus
    model = Rocchio(distance=distance, beta=1.5, gamma=0.4, negatives=negatives).fit(X, sparse.csr_array(Y))
    train, tests = unit(X), unit(T)
    expected = np.full((len(tests), Y.shape[1]), -np.inf)
    for label in np.flatnonzero(Y.any(axis=0)):
        own, other = Y[:, label] == 1, np.flatnonzero(Y[:, label] == 0)
        centroid = train[own].mean(axis=0)
        if negatives != "all":
            order, similarity = ranked(train[other], centroid)
            other = other[order[:negatives][similarity[:negatives] > 0]]
        p = 1.5 * centroid - 0.4 * train[other].mean(axis=0)
        expected[:, label] = tests @ p / np.linalg.norm(p)
        if distance == "euclidean":
            expected[:, label] = -np.linalg.norm(tests - p, axis=1)
    np.testing.assert_allclose(model.scores(T), expected, atol=1e-9)


def test_ml_knn_equals_the_paper_written_out(corpus: Any) -> None:
    """Zhang & Zhou 2007, figure 1, line by line."""
    X, Y, T = corpus
    k, s = 4, 0.7
    train, tests, N = unit(X), unit(T), len(Y)
    found = MLkNN(k=k, s=s).fit(X, Y).predict_proba(T)

    def carriers(query: np.ndarray, without: int | None) -> np.ndarray:
        order, similarity = ranked(train, query)
        kept = (similarity > 0) & (order != without)
        return np.asarray(Y[order[kept][:k]].sum(axis=0))

    own = np.array([carriers(train[i], i) for i in range(N)])
    for label in range(Y.shape[1]):
        if not Y[:, label].any():
            assert not found[:, label].any()
            continue
        prior = (s + Y[:, label].sum()) / (2 * s + N)
        c = np.array([[np.sum((own[:, label] == j) & (Y[:, label] == b)) for j in range(k + 1)] for b in (0, 1)])
        likelihood = (s + c) / (s * (k + 1) + c.sum(axis=1, keepdims=True))
        j = np.array([carriers(query, None)[label] for query in tests])
        yes, no = prior * likelihood[1, j], (1 - prior) * likelihood[0, j]
        np.testing.assert_allclose(found[:, label], yes / (yes + no), rtol=1e-10)
