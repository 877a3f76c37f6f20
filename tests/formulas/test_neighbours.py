"""B-1, B-2 and B-10: prototypes and neighbours, by hand."""

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.models.knn import NearestNeighbours
from manylabel.models.ml_knn import MLkNN, log_odds_of_counts, neighbour_tables
from manylabel.models.rocchio import Rocchio, negative_zones

CENTROID_X, CENTROID_Y = np.array([[0.6, 0.8], [1, 0], [0, 1]]), np.array([[1, 0], [1, 0], [0, 1]])
STORED = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]])
SETS = np.array([[1, 0], [1, 1], [0, 1], [0, 1]])
QUERY = np.array([[0.96, 0.28]])
LINE = np.array([0, 1, 2, 10, 11, 12])
LINE_LABEL = np.array([[1], [1], [1], [0], [0], [1]])


# ---- B-1 Rocchio -----------------------------------------------------------------------------------------------------


def test_cosine_with_centroids() -> None:
    """B-1: centroids (.8, .4) of length √.8 = .894427 and (0, 1); q = (.8, .6): .88/.894427 = .98387, and .6."""
    model = Rocchio().fit(CENTROID_X, CENTROID_Y)
    np.testing.assert_allclose(model.prototype_lengths_, [np.sqrt(0.8), 1.0])
    np.testing.assert_allclose(model.scores([[0.8, 0.6]]), [[0.88 / np.sqrt(0.8), 0.6]])
    assert model.predict([[0.8, 0.6]]).tolist() == [[1, 0]]


def test_documents_are_made_unit_vectors() -> None:
    """B-1: 5 · (.6, .8) and (.6, .8) are the same document, in training and as a query."""
    scaled = Rocchio().fit(CENTROID_X * [[5], [1], [2]], CENTROID_Y)
    np.testing.assert_allclose(scaled.scores([[8, 6]]), Rocchio().fit(CENTROID_X, CENTROID_Y).scores([[0.8, 0.6]]))


def test_euclidean_distance_to_centroids() -> None:
    """B-1: q = (.8, .6) lies (0, .2) from (.8, .4) and (.8, −.4) from (0, 1)."""
    model = Rocchio(distance="euclidean").fit(CENTROID_X, CENTROID_Y)
    np.testing.assert_allclose(model.scores([[0.8, 0.6]]), [[-0.2, -np.sqrt(0.8)]])
    np.testing.assert_allclose(model.scores([[0, 0]]), [[-np.sqrt(0.8), -1.0]])


def test_positive_and_negative_prototypes() -> None:
    """B-1: β (.8, .4) − γ (0, 1) with β = 1, γ = ½: (.8, −.1), of length √.65; q = (.8, .6): .58/√.65."""
    model = Rocchio(beta=1, gamma=0.5).fit(CENTROID_X, CENTROID_Y)
    np.testing.assert_allclose(model.scores([[0.8, 0.6]])[0, 0], 0.58 / np.sqrt(0.65))


def test_unlabelled_documents_are_negatives_but_in_no_centroid() -> None:
    """B-1: the last document has no label: the negatives of label 0 are (0, 1) and (1, 0), their mean (.5, .5)."""
    X, Y = np.vstack([CENTROID_X, [[1, 0]]]), np.vstack([CENTROID_Y, [[0, 0]]])
    np.testing.assert_allclose(Rocchio().fit(X, Y).scores([[0.8, 0.6]]), [[0.88 / np.sqrt(0.8), 0.6]])
    prototype = np.array([0.8, 0.4]) - 0.2 * np.array([0.5, 0.5])
    expected = prototype @ [0.8, 0.6] / np.linalg.norm(prototype)
    np.testing.assert_allclose(Rocchio(gamma=0.2).fit(X, Y).scores([[0.8, 0.6]])[0, 0], expected)


def test_zoned_negatives_are_the_nearest_ones() -> None:
    """B-1: label {(1, 0)}: its two nearest negatives are (.8, .6), (.6, .8), mean (.7, .7); p = (1, 0) − ½ (.7, .7)."""
    Y = np.array([[1], [0], [0], [0]])
    zone = negative_zones(Csr(STORED), Csr(Y), Csr([[1.0, 0.0]]), 2)
    assert zone.toarray().ravel().tolist() == [0, 1, 1, 0]
    model = Rocchio(gamma=0.5, negatives=2).fit(STORED, Y)
    p = np.array([0.65, -0.35])
    np.testing.assert_allclose(model.scores([[0.8, 0.6]]), [[p @ [0.8, 0.6] / np.linalg.norm(p)]])


def test_rocchio_at_the_edges() -> None:
    """B-1: zero query: cosine 0, the most frequent label; label without documents: −∞, never given."""
    X, Y = np.vstack([CENTROID_X, np.zeros((3, 2))]), np.zeros((6, 4), dtype=int)
    Y[:3, :2] = CENTROID_Y
    Y[3:, 2] = 1
    model = Rocchio().fit(X, Y)
    assert model.scores([[0, 0]]).tolist() == [[0, 0, 0, -np.inf]]
    assert model.predict([[0, 0], [0, 1]]).tolist() == [[0, 0, 1, 0], [0, 1, 0, 0]]
    assert model.scores([[1, 1]])[0, 2] == 0
    single = Rocchio().fit(X, ["a", "a", "b", "c", "c", "c"])
    assert single.predict([[0, 0], [1, 0]]).tolist() == ["c", "a"]


# ---- B-2 k nearest neighbours ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        ("uniform", [2 / 3, 2 / 3]),
        ("cosine", [(0.96 + 0.936) / 2.696, (0.936 + 0.8) / 2.696]),
        ("summed", [0.96 + 0.936, 0.936 + 0.8]),
    ],
)
def test_shares_of_three_neighbours(weights: str, shares: list[float]) -> None:
    """B-2: similarities .96, .936, .8, .28; shares (2/3, 2/3), by cosine (.703264, .643917)."""
    model = NearestNeighbours(k=3, weights=weights).fit(STORED, SETS)
    np.testing.assert_allclose(model.scores(QUERY), [shares])
    assert model.predict(QUERY).tolist() == [[1, 1]]


def test_threshold_and_fallback() -> None:
    """B-2: by cosine (.703, .644) both reach .5, one reaches .65, none .75: then the best one, or none."""
    model = NearestNeighbours(k=3, weights="cosine").fit(STORED, SETS)
    assert model.set_params(threshold=0.65).predict(QUERY).tolist() == [[1, 0]]
    assert model.set_params(threshold=0.75).predict(QUERY).tolist() == [[1, 0]]
    assert model.set_params(fallback="none").predict(QUERY).tolist() == [[0, 0]]


def test_ties_of_a_majority_go_to_the_nearer_class() -> None:
    """B-2: two neighbours of each class; b's similarities .96 + .28 < a's .936 + .8, and so with the names changed."""
    assert NearestNeighbours(k=4).fit(STORED, ["b", "a", "a", "b"]).predict(QUERY).tolist() == ["a"]
    assert NearestNeighbours(k=4).fit(STORED, ["a", "b", "b", "a"]).predict(QUERY).tolist() == ["b"]
    alike = NearestNeighbours(k=4).fit([[1, 0], [1, 0]], ["b", "a"])
    assert alike.predict([[1, 0]]).tolist() == ["a"]


def test_a_document_without_neighbours_gets_the_most_frequent_label() -> None:
    """B-2: zero query: the shares of the whole training set, (2/4, 3/4); k is limited to the number of documents."""
    model = NearestNeighbours(k=100, threshold=0.6).fit(STORED, SETS)
    assert model.scores([[0, 0]]).tolist() == [[0.5, 0.75]]
    assert model.predict([[0, 0]]).tolist() == [[0, 1]]
    assert NearestNeighbours().fit(STORED, ["a", "b", "b", "b"]).predict([[0, 0]]).tolist() == ["b"]


def test_knn_at_the_edges() -> None:
    """B-2: unlabelled neighbours have no votes; a label without documents never has any, one of all has all."""
    Y = np.array([[1, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    model = NearestNeighbours(k=2).fit(STORED, Y)
    assert model.scores(QUERY).tolist() == [[1.0, -np.inf, 0.5]]
    silent = NearestNeighbours(k=1).fit(STORED, np.array([[0], [1], [1], [1]]))
    assert silent.predict([[1, 0]]).tolist() == [[0]]


def test_votes_are_made_of_words() -> None:
    """B-2: (.96, .28) with (1, 0) and (.8, .6): word 0 brings .96 and .768, word 1 brings 0 and .168, over 1.896."""
    model = NearestNeighbours(k=2, weights="cosine").fit(STORED, SETS)
    found = model.evidence(QUERY).toarray()
    np.testing.assert_allclose(found, [[1.728 / 1.896, 0.168 / 1.896], [0.768 / 1.896, 0.168 / 1.896]])
    np.testing.assert_allclose(found.sum(axis=1), model.scores(QUERY)[0])


# ---- B-10 ML-kNN -----------------------------------------------------------------------------------------------------


def carriers(points: np.ndarray, k: int) -> np.ndarray:
    """For each training point the number of its k nearest other points that carry the label."""
    distance = np.abs(points[:, np.newaxis] - points).astype(float)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take(LINE_LABEL.ravel(), near).sum(axis=1, keepdims=True)


def test_counts_of_neighbours_on_a_line() -> None:
    """B-10: points 0, 1, 2, 10, 11, 12 with labels 1, 1, 1, 0, 0, 1, k = 2: c = (1, 0, 3), c' = (0, 2, 0)."""
    counts = carriers(LINE, 2)
    assert counts.ravel().tolist() == [2, 2, 2, 1, 1, 0]
    c, without = neighbour_tables(Csr(counts), Csr(LINE_LABEL), 2)
    assert c.tolist() == [[1, 0, 3]]
    assert without.tolist() == [[0, 2, 0]]


def test_posterior_of_a_count() -> None:
    """B-10: prior (1 + 4)/(2 + 6) = .625; j = 0: .625 · (1 + 1)/(3 + 4) against .375 · (1 + 0)/(3 + 2): P = .704225."""
    odds = log_odds_of_counts(np.array([[1, 0, 3]]), np.array([[0, 2, 0]]), 1.0)
    yes, no = 5 / 8 * 2 / 7, 3 / 8 * 1 / 5
    np.testing.assert_allclose(odds[0, 0], np.log(yes / no))
    assert round(yes / (yes + no), 6) == 0.704225


def test_ml_knn_on_a_line_bent_to_a_circle() -> None:
    """B-10: the angle between unit vectors is the distance on the line, so cosine finds the same neighbours."""
    angles = np.append(LINE, 10.4) / 10
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    model = MLkNN(k=2).fit(X[:6], LINE_LABEL)
    np.testing.assert_allclose(model.predict_proba(X[6:]), [[0.704225]], atol=5e-7)
    assert model.predict(X[6:]).tolist() == [[1]]


def test_ml_knn_of_constant_labels() -> None:
    """B-10: smoothing does not make a label possible that nobody has, nor one doubtful that everybody has."""
    model = MLkNN(k=2).fit(STORED, np.column_stack([SETS, np.zeros(4, dtype=int), np.ones(4, dtype=int)]))
    assert model.predict_proba(QUERY)[0, 2:].tolist() == [0.0, 1.0]
    found = model.evidence(QUERY).toarray()
    base = model.count_log_odds_[:2, 0]
    np.testing.assert_allclose(base + found.sum(axis=1)[:2], model.scores(QUERY)[0, :2])
