"""Laws of prototypes, neighbours, networks and trees."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.utils.estimator_checks import check_estimator

from manylabel import modelfile
from manylabel.exceptions import DataError, ParameterError
from manylabel.models.knn import NearestNeighbours
from manylabel.models.ml_knn import MLkNN
from manylabel.models.neural import NeuralNetwork
from manylabel.models.random_forest import RandomForest
from manylabel.models.rocchio import Rocchio
from manylabel.models.trees import DecisionTrees

NEAR: list[Any] = [
    Rocchio(),
    Rocchio(distance="euclidean"),
    Rocchio(gamma=0.3),
    Rocchio(gamma=0.5, negatives=2),
    NearestNeighbours(k=3),
    NearestNeighbours(k=2, weights="cosine", fallback="none"),
    NearestNeighbours(k=3, weights="summed"),
    MLkNN(k=2),
]
GROWN: list[Any] = [
    DecisionTrees(min_leaf=1),
    DecisionTrees(per_label=False, min_leaf=1),
    RandomForest(n_trees=3, max_terms=4),
    NeuralNetwork(hidden=2, tol=0.1),
]
each_near = pytest.mark.parametrize("model", NEAR, ids=repr)
each = pytest.mark.parametrize("model", [*NEAR, *GROWN], ids=repr)
corpora = st.tuples(st.integers(1, 9), st.integers(1, 6), st.integers(1, 4)).flatmap(
    lambda size: st.tuples(
        hnp.arrays(np.int64, size[:2], elements=st.sampled_from([0, 0, 0, 1, 1, 2, 7])),
        hnp.arrays(np.int8, (size[0], size[2]), elements=st.integers(0, 1)),
    )
)


def fresh(model: Any) -> Any:
    return type(model)(**model.get_params())


@each_near
@given(corpora, st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_permuting_labels_permutes_columns(model: Any, corpus: Any, random: Any) -> None:
    X, Y = corpus
    order = random.sample(range(Y.shape[1]), Y.shape[1])
    first, second = fresh(model).fit(X, Y[:, order]).scores(X), fresh(model).fit(X, Y).scores(X)[:, order]
    np.testing.assert_allclose(first, second, atol=1e-9)


@each
@given(corpora, st.data())
@settings(max_examples=8)
def test_labels_nobody_has_are_never_given(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus[0], corpus[1].copy()
    unseen = data.draw(st.integers(0, Y.shape[1] - 1))
    Y[:, unseen] = 0
    fitted = fresh(model).fit(X, Y)
    anything = data.draw(hnp.arrays(np.int64, (3, X.shape[1]), elements=st.integers(0, 9)))
    assert not fitted.predict(anything)[:, unseen].any()
    assert np.isneginf(fitted.scores(anything)[:, unseen]).all()


@each
@given(corpora)
@settings(max_examples=8)
def test_dense_and_sparse_and_one_by_one(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = fresh(model).fit(X, Y)
    expected = fitted.scores(X)
    assert not np.isnan(expected).any()
    other = fresh(model).fit(sparse.csc_array(X), sparse.csr_array(Y))
    np.testing.assert_allclose(other.scores(sparse.csr_matrix(X)), expected, atol=1e-9)
    np.testing.assert_allclose(np.vstack([fitted.scores(X[[i]]) for i in range(len(X))]), expected, atol=1e-9)
    score = fitted.document_scorer()
    if score is not None:
        for row, x in enumerate(X):
            terms = np.flatnonzero(x).astype(np.int32)
            np.testing.assert_allclose(score(terms, x[terms].astype(float)), expected[row], atol=1e-9)


@pytest.mark.parametrize("model", [Rocchio(), Rocchio(gamma=0.3), Rocchio(distance="euclidean", gamma=1.0)], ids=repr)
@given(corpora, st.data())
@settings(max_examples=20)
def test_rocchio_in_pieces_and_merged_is_rocchio_at_once(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    cut = data.draw(st.integers(0, len(X) - 1))
    whole = fresh(model).fit(X, Y).scores(X)
    pieces = fresh(model)
    for rows in (slice(0, cut), slice(cut, None)):
        if len(X[rows]):
            pieces.partial_fit(X[rows], Y[rows])
    np.testing.assert_allclose(pieces.scores(X), whole, atol=1e-7)
    if cut:
        first, second = fresh(model).fit(X[:cut], Y[:cut]), fresh(model).fit(X[cut:], Y[cut:])
        np.testing.assert_allclose(second.merge(first).scores(X), whole, atol=1e-7)


def test_zoned_rocchio_learns_at_once_only() -> None:
    X, Y = np.eye(3), np.eye(3, dtype=int)
    zoned = Rocchio(gamma=0.5, negatives=1)
    assert not hasattr(zoned, "partial_fit")
    with pytest.raises(ParameterError, match="cannot be merged"):
        zoned.fit(X, Y).merge(zoned)


@each
def test_save_and_load(model: Any, tmp_path: Path) -> None:
    """What is loaded scores alike to the bit: the index of neighbours is made anew, trees are walked as before."""
    rng = np.random.default_rng(1)
    X, Y = rng.poisson(0.7, (30, 8)), (rng.random((30, 3)) < 0.4).astype(int)
    fitted = fresh(model).fit(X, Y)
    modelfile.save(fitted, tmp_path / "model")
    loaded: Any = modelfile.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.scores(X), fitted.scores(X))
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.evidence(X[:1]).toarray(), fitted.evidence(X[:1]).toarray())


@pytest.mark.parametrize("model", [NearestNeighbours(k=3), NearestNeighbours(k=3, weights="summed")], ids=repr)
@given(corpora)
@settings(max_examples=20)
def test_evidence_of_neighbours_adds_up_to_the_score(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = fresh(model).fit(X, Y)
    for x in X[X.any(axis=1)]:
        scores = fitted.scores(x[np.newaxis])[0]
        summed = np.asarray(fitted.evidence(x[np.newaxis]).sum(axis=1)).ravel()
        np.testing.assert_allclose(summed, np.where(np.isneginf(scores), 0.0, scores), atol=1e-9)


@pytest.mark.filterwarnings("ignore")  # scikit-learn warns that we do not inherit from it
@pytest.mark.parametrize("model", [Rocchio(), Rocchio(distance="euclidean", gamma=0.2), NearestNeighbours(), MLkNN()])
def test_scikit_learn_checks(model: Any) -> None:
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert not {r["check_name"]: repr(r["exception"]) for r in results if r["status"] == "failed"}


@each
def test_wrong_parameters_are_sentences(model: Any) -> None:
    name = next(name for name in ("k", "beta", "hidden", "min_leaf") if name in model.parameter_names())
    with pytest.raises(ParameterError, match=f"{name} must be"):
        fresh(model).set_params(**{name: 0}).fit(np.eye(3), np.eye(3, dtype=int))


def test_a_tree_for_too_many_labels_is_refused(monkeypatch: Any) -> None:
    from manylabel.models import trees

    monkeypatch.setattr(trees, "LARGEST_TABLE", 8)
    with pytest.raises(DataError, match="per_label=True"):
        DecisionTrees(per_label=False).fit(np.eye(3), np.eye(3, dtype=int))
    assert DecisionTrees().fit(np.eye(3), np.eye(3, dtype=int)).is_fitted
