"""Our walk through the trees gives the probabilities of scikit-learn's own."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from manylabel.models.neural import NeuralNetwork
from manylabel.models.random_forest import RandomForest
from manylabel.models.trees import DecisionTrees


@pytest.fixture(scope="module")
def corpus() -> tuple[Any, np.ndarray, Any]:
    rng = np.random.default_rng(7)
    X = sparse.random_array(
        (320, 40), density=0.2, format="csr", random_state=rng, data_sampler=lambda size: rng.random(size)
    )
    Y = (X @ rng.random((40, 4)) + 0.2 * rng.random((320, 4)) > [1.5, 2.0, 2.4, 2.8]).astype(int)
    return X[:200], Y[:200], X[200:]


def shares(oracle: Any, X: Any) -> np.ndarray:
    """The probability of 1 of each output."""
    return np.column_stack([found[:, 1] for found in oracle.predict_proba(sparse.csr_matrix(X))])


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("min_leaf", [1, 5])
def test_trees_of_single_labels(corpus: Any, criterion: Any, min_leaf: int) -> None:
    X, Y, T = corpus
    model = DecisionTrees(criterion=criterion, min_leaf=min_leaf, m=0, seed=5).fit(X, Y)
    for label, y in enumerate(Y.T):
        oracle = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=min_leaf, random_state=5)
        oracle.fit(sparse.csc_matrix(X), y)
        expected = oracle.predict_proba(sparse.csr_matrix(T))[:, 1]
        np.testing.assert_allclose(model.predict_proba(T)[:, label], expected, atol=1e-12)


@pytest.mark.parametrize("model", [DecisionTrees(m=0), RandomForest(n_trees=3)])
def test_wide_indices_change_nothing(corpus: Any, model: Any) -> None:
    X, Y, T = corpus
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(model.fit(wide, Y).predict_proba(T), model.fit(X, Y).predict_proba(T))


def test_one_tree_for_all_labels(corpus: Any) -> None:
    X, Y, T = corpus
    model = DecisionTrees(per_label=False, max_depth=6, m=0).fit(X, Y)
    oracle = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=5, max_depth=6, random_state=0)
    np.testing.assert_allclose(model.predict_proba(T), shares(oracle.fit(sparse.csc_matrix(X), Y), T), atol=1e-12)


@pytest.mark.parametrize("node_terms", ["sqrt", 12])
def test_the_forest_of_the_same_seed(corpus: Any, node_terms: Any) -> None:
    X, Y, T = corpus
    model = RandomForest(n_trees=15, node_terms=node_terms, m=0, seed=3).fit(X, Y)
    oracle = RandomForestClassifier(15, max_features=node_terms, random_state=3).fit(sparse.csc_matrix(X), Y)
    np.testing.assert_allclose(model.predict_proba(T), shares(oracle, T), atol=1e-12)


def test_threads_do_not_change_a_forest(corpus: Any) -> None:
    X, Y, T = corpus
    one, two = (RandomForest(n_trees=8, n_jobs=jobs).fit(X, Y).scores(T) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_evidence_adds_up_to_the_log_odds(corpus: Any) -> None:
    X, Y, T = corpus
    for model in (DecisionTrees(), DecisionTrees(per_label=False), RandomForest(n_trees=7)):
        fitted = model.fit(X, Y)
        roots = fitted._averaged(fitted.arrays.at(fitted.arrays.roots[np.newaxis], fitted.shared_prior))[0]
        gained = fitted.scores(T[[3]])[0] - np.log(roots / (1 - roots))
        np.testing.assert_allclose(np.asarray(fitted.evidence(T[[3]]).sum(axis=1)).ravel(), gained, atol=1e-9)


def test_network_scores_are_those_of_its_scikit_learn_network(corpus: Any) -> None:
    """The same weights in an MLPClassifier give the same probabilities."""
    X, Y, T = corpus
    model = NeuralNetwork(hidden=6).fit(X, Y)
    mlp = MLPClassifier((6,), activation="tanh", max_iter=1)
    mlp.partial_fit(sparse.csr_matrix(X), Y, classes=np.arange(4))
    mlp.coefs_ = [model.hidden_weights_.astype(float), model.output_weights_.astype(float)]
    mlp.intercepts_ = [model.hidden_intercept_.astype(float), model.output_intercept_.astype(float)]
    np.testing.assert_allclose(model.predict_proba(T), mlp.predict_proba(sparse.csr_matrix(T)), rtol=1e-9)
