"""Laws of the parametric mixture models and of naive Bayes with unlabelled documents, for all corpora."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from corpora import corpora
from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes

pytestmark = [
    pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning"),
    pytest.mark.filterwarnings("ignore::manylabel.models.score_kinds.SingleLabelWarning"),
]
MIXTURES: list[Any] = [
    PMM1(),
    PMM2(),
    PMM1(equal_lengths=True, prior="labels and sizes", max_labels=2),
    PMM2(start="random", seed=3, xi=1.2, zeta=1.0, search="exhaustive", prior="labels"),
    PMM1(xi=1.0, search="exhaustive"),
]
each = pytest.mark.parametrize("model", MIXTURES, ids=repr)
few = settings(max_examples=20, deadline=None)


def fresh(model: Any, **options: Any) -> Any:
    return type(model)(**(model.get_params() | options))


def dense_theta(model: Any) -> np.ndarray:
    """θ, labels × terms."""
    cells = model.theta_.tocoo()
    theta = np.tile(model.background_[:, np.newaxis], (1, model.n_features_in_))
    theta[cells.coords[1], cells.coords[0]] = cells.data
    return theta


@each
@few
@given(corpora(some_label=True))
def test_the_objective_never_falls_and_theta_sums_to_one(model: Any, corpus: Any) -> None:
    fitted = fresh(model, tol=0.0, max_iter=15).fit(*corpus)
    rises = np.diff(fitted.objective_)
    assert (rises >= -1e-9 * np.maximum(1, np.abs(fitted.objective_[1:]))).all()
    np.testing.assert_allclose(dense_theta(fitted).sum(axis=1), 1)


@few
@given(corpora(some_label=True), st.integers(0, 2**32 - 1))
def test_the_optimum_of_pmm1_does_not_depend_on_the_start(corpus: Any, seed: int) -> None:
    limits = [
        PMM1(start=start, seed=seed, tol=1e-13, max_iter=2000).fit(*corpus).objective_[-1]
        for start in ("counts", "uniform", "random")
    ]
    assert np.ptp(limits) <= 1e-8 * max(1, abs(limits[0]))


@each
@few
@given(corpora(some_label=True))
def test_scores_are_positive_exactly_for_the_labels_given(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = fresh(model).fit(X, Y)
    predicted = fitted.predict(X)
    assert (predicted == (fitted.scores(X) > 0)).all()
    assert (predicted.sum(axis=1) >= 1).all()
    assert not predicted[:, ~Y.any(axis=0)].any()
    if model.max_labels:
        assert predicted.sum(axis=1).max() <= model.max_labels


@each
@few
@given(corpora(some_label=True))
def test_evidence_sums_to_the_score(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = fresh(model, prior=None).fit(X, Y)
    for x in X:
        scores = fitted.scores([x])[0]
        evidence = fitted.evidence([x]).toarray()
        assert not evidence[:, x == 0].any()
        sums = np.isfinite(scores) & x.any()
        np.testing.assert_allclose(evidence.sum(axis=1)[sums], scores[sums], atol=1e-9)


@each
@few
@given(st.integers(0, 2**32 - 1))
def test_permuting_labels_permutes_columns(model: Any, seed: int) -> None:
    """On weights that are no whole numbers and labels with documents of their own, so that nothing ties."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, 2.0, (14, 7))
    Y = np.vstack([np.eye(4, dtype=int), (rng.random((10, 4)) < 0.4).astype(int)])
    order = rng.permutation(4)
    model = fresh(model, start="counts", tol=0.0, max_iter=5)  # random starts go by place, not by label
    first, second = model.fit(X, Y), fresh(model).fit(X, Y[:, order])
    np.testing.assert_allclose(dense_theta(second), dense_theta(first)[order], atol=1e-12)
    np.testing.assert_array_equal(second.predict(X), first.predict(X)[:, order])
    np.testing.assert_allclose(second.scores(X), first.scores(X)[:, order], rtol=1e-7, atol=1e-9)


@each
@settings(max_examples=6)
@given(corpora(some_label=True))
def test_neither_form_nor_threads_change_a_bit(model: Any, corpus: Any) -> None:
    X, Y = corpus
    dense = fresh(model).fit(X, Y)
    for form in (sparse.csr_array, sparse.csc_array, sparse.coo_matrix):
        other = fresh(model, n_jobs=2).fit(form(X), form(Y))
        np.testing.assert_array_equal(other.theta_.toarray(), dense.theta_.toarray())
        np.testing.assert_array_equal(other.predict(form(X)).toarray(), dense.predict(X))
        np.testing.assert_array_equal(other.scores(form(X)), dense.scores(X))


@few
@given(corpora(some_label=True), st.floats(0.1, 9))
def test_the_length_of_a_document_does_not_change_its_set(corpus: Any, factor: float) -> None:
    """The value log P(x|S) is linear in x. With equal lengths not even the scores change."""
    X, Y = corpus
    plain, equal = PMM1().fit(X, Y), PMM1(equal_lengths=True).fit(X, Y)
    np.testing.assert_array_equal(plain.predict(factor * X), plain.predict(X))
    np.testing.assert_allclose(equal.scores(factor * X), equal.scores(X), atol=1e-9)


@few
@given(corpora(some_label=True), st.booleans())
def test_all_sets_are_at_least_as_good_as_the_greedy_one(corpus: Any, biased: bool) -> None:
    X, Y = corpus
    X = X[X.any(axis=1)]
    assume(len(X) and Y.any())
    model = (PMM2 if biased else PMM1)().fit(*corpus)
    x = sparse.csr_array(X.astype(float))
    greedy, everything = model._search(x), model.set_params(search="exhaustive")._search(x)
    reached = greedy.values.max(axis=1)
    assert (everything.values >= reached - 1e-9 * np.abs(reached)).all()


@few
@given(corpora(some_label=True), st.sampled_from(["documents", "add-one", "uniform"]), st.sampled_from([0.1, 1.0, 3.0]))
def test_the_objective_with_unlabelled_documents_never_falls(corpus: Any, prior: Any, weight: float) -> None:
    X, Y = corpus
    model = SemiSupervisedNaiveBayes(weight, 0.5, prior, tol=0.0, max_iter=15).fit(X, Y)
    assert (np.diff(model.objective_) >= -1e-9 * np.maximum(1, np.abs(model.objective_[1:]))).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert (model.predict_proba(X)[:, ~Y.any(axis=0)] == 0).all()
