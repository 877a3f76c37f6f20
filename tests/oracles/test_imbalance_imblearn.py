"""Sampling against imbalanced-learn and scikit-learn, where they compute the same."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.class_weight import compute_class_weight

from manylabel.estimator import Csr
from manylabel.models.linear_svm import LinearSVM
from manylabel.resampling.clusters import few_clusters, many_clusters
from manylabel.resampling.samplers import (
    generator,
    interpolated,
    positive_costs,
    positive_neighbours,
    random_rows,
    replicated_rows,
    synthetic_positives,
)
from manylabel.strategies.resampled import Resampled

imblearn = pytest.importorskip("imblearn", reason="imbalanced-learn is an optional dependency")
from imblearn.over_sampling import SMOTE, RandomOverSampler  # noqa: E402
from imblearn.under_sampling import RandomUnderSampler  # noqa: E402


@pytest.fixture(params=range(4))
def problem(request: pytest.FixtureRequest) -> tuple[Csr, np.ndarray]:
    """200 sparse documents, none of them empty and no two alike, a tenth of them positive."""
    rng = np.random.default_rng(request.param)
    X = sparse.hstack(
        [sparse.random_array((200, 30), density=0.2, random_state=rng), rng.random((200, 1)) / 9], format="csr"
    )
    positive = np.zeros(200, dtype=bool)
    positive[rng.choice(200, 20, replace=False)] = True
    return Csr(X), positive


@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.3, 0.15])
def test_as_many_documents_stay_or_come(problem: Any, ratio: float) -> None:
    X, positive = problem
    theirs = RandomUnderSampler(sampling_strategy=ratio, random_state=0).fit_resample(sparse.csr_matrix(X), positive)
    rows = random_rows(positive, ratio, np.random.default_rng(0))
    assert (len(rows), positive[rows].sum()) == (len(theirs[1]), theirs[1].sum())
    theirs = RandomOverSampler(sampling_strategy=ratio, random_state=0).fit_resample(sparse.csr_matrix(X), positive)
    assert 200 + len(replicated_rows(positive, ratio, np.random.default_rng(0))) == len(theirs[1])
    theirs = SMOTE(sampling_strategy=ratio, random_state=0).fit_resample(sparse.csr_matrix(X), positive)
    assert 200 + synthetic_positives(X, positive, ratio, np.random.default_rng(0)).shape[0] == len(theirs[1])


def test_smote_makes_imbalanced_learns_documents_of_its_choices(problem: Any) -> None:
    """The choices (i, j, g) that imbalanced-learn draws, handed to our formula over our neighbours."""
    X, positive = problem
    made, _ = SMOTE(sampling_strategy=1.0, k_neighbors=5, random_state=3).fit_resample(sparse.csr_matrix(X), positive)
    random = np.random.RandomState(3)
    chosen = random.randint(low=0, high=20 * 5, size=160)
    gaps = random.uniform(size=(160, 1))[:, 0]
    first, which = np.divmod(chosen, 5)
    points = Csr(X[np.flatnonzero(positive)])
    second = positive_neighbours(points, 5)[first, which]
    ours = interpolated(points, first, second, gaps)
    np.testing.assert_allclose(ours.toarray(), made[200:].toarray(), atol=1e-14)


def test_neighbours_are_scikit_learns(problem: Any) -> None:
    X, _ = problem
    for metric in ("euclidean", "cosine"):
        theirs = NearestNeighbors(n_neighbors=7, metric=metric).fit(X).kneighbors(return_distance=False)
        np.testing.assert_array_equal(positive_neighbours(X, 7, metric), theirs)


@pytest.mark.parametrize("way", [few_clusters, many_clusters])
def test_clusters_are_scikit_learns(problem: Any, way: Any) -> None:
    X, positive = problem
    first = Csr(X[np.flatnonzero(positive)])
    theirs = KMeans(20, init=first.toarray(), n_init=1, max_iter=100, tol=0).fit(X.toarray())
    ours = way(X, first, 100)
    np.testing.assert_array_equal(ours.assigned, theirs.labels_)
    np.testing.assert_allclose(ours.centroids.toarray(), theirs.cluster_centers_, atol=1e-12)


def test_balanced_weights_are_scikit_learns_up_to_a_factor(problem: Any) -> None:
    _, positive = problem
    negative, of_positive = compute_class_weight("balanced", classes=np.array([False, True]), y=positive)
    assert positive_costs(np.array([positive.sum()]), len(positive))[0] == pytest.approx(of_positive / negative)


def test_weights_reach_scikit_learns_classifiers(problem: Any) -> None:
    X, positive = problem
    ours = Resampled(LogisticRegression(), "weights").fit(X, positive[:, None].astype(int))
    theirs = LogisticRegression(class_weight={0: 1.0, 1: 9.0}).fit(X, positive)
    np.testing.assert_allclose(ours.scores(X)[:, 0], theirs.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("model", [LinearSVM(), MultinomialNB()], ids=repr)
def test_samplers_of_imbalanced_learn_work_label_by_label(problem: Any, model: Any) -> None:
    X, positive = problem
    Y = np.column_stack([positive, ~positive, np.roll(positive, 7)]).astype(int)
    for sampler in (SMOTE(k_neighbors=3), RandomUnderSampler()):
        fitted = Resampled(model, sampler).fit(X, Y)
        np.testing.assert_array_equal(fitted.scores(X), Resampled(model, sampler, n_jobs=1).fit(X, Y).scores(X))
        seed = int(generator(0, positive).integers(2**31))
        documents, y = sampler.set_params(random_state=seed).fit_resample(sparse.csr_matrix(X), positive.astype(int))
        alone = Resampled(model, "weights", cost=1.0).fit(Csr(documents), y[:, None])
        np.testing.assert_allclose(fitted.scores(X)[:, 0], alone.scores(X)[:, 0], atol=1e-9)
        sampler.set_params(random_state=None)
