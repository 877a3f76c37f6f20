"""Laws of sampling and of the strategy over it that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from manylabel.estimator import Csr
from manylabel.exceptions import ParameterError
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.resampling.clusters import few_clusters, many_clusters
from manylabel.resampling.imbalance import label_imbalance
from manylabel.resampling.samplers import (
    OVER_SAMPLERS,
    SAMPLERS,
    UNDER_SAMPLERS,
    Sampling,
    generator,
    synthetic_positives,
)
from manylabel.strategies import resampled
from manylabel.strategies.resampled import Resampled

STRATEGIES: list[Any] = [
    *(Resampled(LinearSVM(max_iter=10_000), sampler, ratio=0.5) for sampler in SAMPLERS),
    Resampled(MultinomialNaiveBayes(), "weights", ratio=0.7),
    Resampled(MultinomialNaiveBayes(), "cluster"),
    Resampled(MultinomialNaiveBayes(), "smote", ratio=0.7, distance="cosine"),
    Resampled(BernoulliNB(), "random"),
    Resampled(BernoulliNB(), "weights", cost=3),
]
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Csr, np.ndarray]:
    n, terms = draw(st.integers(2, 9)), draw(st.integers(1, 5))
    X = draw(hnp.arrays(np.int64, (n, terms), elements=st.sampled_from([0, 0, 0, 1, 1, 2, 5])))
    positive = draw(hnp.arrays(np.bool_, n))
    positive[draw(st.integers(0, n - 1))] = True
    return Csr(X.astype(float)), positive


def random_corpus(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    Y = (random.random((60, 5)) < [0.5, 0.3, 0.1, 0.05, 0.0]).astype(int)
    Y[0, :4] = 1
    return random.poisson(0.4 + Y @ random.random((5, 8))).astype(float), Y


@pytest.mark.parametrize("sampler", UNDER_SAMPLERS)
@given(problems(), st.floats(0.05, 3))
@settings(max_examples=20)
def test_positives_are_never_dropped(sampler: str, problem: Any, ratio: float) -> None:
    X, positive = problem
    margins = np.linspace(-1, 1, len(positive))
    rows = Sampling(sampler, ratio, 5, "euclidean", 100, 0, lambda label: margins).kept_rows(X, positive, 0)
    assert set(np.flatnonzero(positive)) <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
    if not positive.all():
        assert not positive[rows].all()  # a negative is left to learn from
    if sampler != "cluster":
        negatives = len(rows) - positive.sum()
        assert negatives == min((~positive).sum(), max(1, int(positive.sum() / ratio)))


@pytest.mark.parametrize("sampler", OVER_SAMPLERS)
@given(problems(), st.floats(0.05, 3))
@settings(max_examples=20)
def test_old_documents_stay_and_new_ones_are_positive(sampler: str, problem: Any, ratio: float) -> None:
    X, positive = problem
    grown, flags = Sampling(sampler, ratio, 5, "euclidean", 100, 0).problem(X, positive, 0)
    n = len(positive)
    np.testing.assert_array_equal(grown[:n].toarray(), X.toarray())
    np.testing.assert_array_equal(flags[:n], positive)
    assert flags[n:].all()
    assert len(flags) - n == max(0, int(ratio * (~positive).sum()) - positive.sum())


@given(problems(), st.integers(1, 4), st.sampled_from(["euclidean", "cosine"]))
@settings(max_examples=20)
def test_new_documents_lie_between_positives(problem: Any, k: int, distance: Any) -> None:
    X, positive = problem
    new = synthetic_positives(X, positive, 2.0, generator(0, positive), k=k, distance=distance)
    points = X.toarray()[positive]
    assert new.has_canonical_format
    assert (new.data != 0).all()
    for row in new.toarray():
        best = np.inf
        for a in points:
            for b in points:
                d = b - a
                g = np.clip((row - a) @ d / (d @ d), 0, 1) if d.any() else 0.0
                best = min(best, np.abs(a + g * d - row).max())
        assert best < 1e-9


@given(problems())
@settings(max_examples=20)
def test_both_ways_of_clustering_agree(problem: Any) -> None:
    X, positive = problem
    first = Csr(X[np.flatnonzero(positive)])
    few, many = (way(X, first, 100) for way in (few_clusters, many_clusters))
    np.testing.assert_array_equal(few.assigned, many.assigned)
    np.testing.assert_allclose(few.centroids.toarray(), many.centroids.toarray(), atol=1e-9)


@given(hnp.arrays(np.int8, st.tuples(st.integers(0, 7), st.integers(1, 5)), elements=st.integers(0, 1)), st.randoms())
@settings(max_examples=20)
def test_imbalance_does_not_depend_on_the_order_of_labels_or_documents(Y: np.ndarray, random: Any) -> None:
    rows, columns = (random.sample(range(size), size) for size in Y.shape)
    one, other = label_imbalance(Csr(Y)), label_imbalance(Csr(Y[rows][:, columns]))
    np.testing.assert_array_equal(one.label_documents[columns], other.label_documents)
    for name in ("mean_ratio", "ratio_variation", "scumble", "gini", "cardinality", "density", "unlabelled_share"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), nan_ok=True)
    assert (one.label_sets, one.label_sets_once) == (other.label_sets, other.label_sets_once)
    assert np.isnan(one.gini) or 0 <= one.gini < 1
    assert np.isnan(one.scumble) or 0 <= one.scumble < 1


@each_strategy
def test_threads_do_not_change_scores(strategy: Any) -> None:
    X, Y = random_corpus()
    alone = clone(strategy).set_params(n_jobs=1).fit(X, Y).scores(X)
    np.testing.assert_array_equal(clone(strategy).set_params(n_jobs=3).fit(X, Y).scores(X), alone)


@each_strategy
def test_permuting_labels_permutes_columns(strategy: Any) -> None:
    X, Y = random_corpus()
    order = [3, 0, 4, 2, 1]
    one, other = clone(strategy).fit(X, Y).scores(X), clone(strategy).fit(X, Y[:, order]).scores(X)
    # An SVM visits documents in an order that depends on the label's place, and stops within tol.
    loose = isinstance(strategy.model, LinearSVM)
    np.testing.assert_allclose(other, one[:, order], atol=2e-2 if loose else 1e-9)


@pytest.mark.parametrize("sampler", ["random", "replicate", "smote"])
@pytest.mark.parametrize("model", [LinearSVM(), MultinomialNaiveBayes()], ids=repr)
def test_seeds_give_the_same_and_others_others(sampler: str, model: Any) -> None:
    X, Y = random_corpus()
    scores = [Resampled(model, sampler, sampling_seed=seed).fit(X, Y).scores(X)[:, 2] for seed in (0, 0, 1)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()


@each_strategy
@pytest.mark.filterwarnings("ignore:LinearSVM")
def test_every_form_of_input_is_the_same(strategy: Any) -> None:
    X, Y = random_corpus(1)
    dense = clone(strategy).fit(X, Y).scores(X)
    for form in (sparse.csr_array(X), sparse.csc_array(X), sparse.csr_matrix(X)):
        np.testing.assert_array_equal(clone(strategy).fit(form, sparse.csr_array(Y)).scores(form), dense)


@pytest.mark.parametrize("sampler", ["random", "surface", "cluster"])
def test_groups_of_labels_give_what_one_fit_gives(sampler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where exclusions would take too much room, labels are learned in groups; costs that differ by label go along."""
    X, Y = random_corpus()
    model = LinearSVM(C=[1.0, 0.5, 2.0, 1.0, 1.0], tol=1e-6, max_iter=100_000)
    whole = Resampled(model, sampler).fit(X, Y)
    monkeypatch.setattr(resampled, "EXCLUSIONS", 2 * len(X))
    groups = Resampled(model, sampler).fit(X, Y)
    np.testing.assert_allclose(groups.scores(X), whole.scores(X), atol=1e-4)
    np.testing.assert_allclose(groups.model_.intercept_, whole.model_.intercept_, atol=1e-4)  # type: ignore[attr-defined]


@pytest.mark.parametrize("sampler", UNDER_SAMPLERS)
def test_exclusions_are_what_leaving_documents_out_is(sampler: str) -> None:
    """The one fit of all labels equals a fit of each label on the rows it keeps."""
    X, Y = random_corpus()
    model = LinearSVM(tol=1e-6, max_iter=100_000)
    strategy = Resampled(model, sampler, ratio=0.5)
    scores = strategy.fit(X, Y).scores(X)
    sampling = strategy._sampling(Csr(X), Csr(Y))
    for label in range(4):
        rows = sampling.kept_rows(Csr(X), Y[:, label] == 1, label)
        alone = LinearSVM(tol=1e-6, max_iter=100_000).fit(X[rows], Y[rows, label : label + 1]).scores(X)
        np.testing.assert_allclose(scores[:, label], alone[:, 0], atol=1e-4)


def test_evidence_adds_up_to_the_score() -> None:
    X, Y = random_corpus()
    for strategy in (Resampled(LinearSVM(), "smote", ratio=0.5), Resampled(BinaryNaiveBayes(), "weights")):
        fitted = strategy.fit(X, Y)
        added = fitted.evidence(X[:1]).sum(axis=1)
        empty = fitted.scores(np.zeros((1, X.shape[1])))[0]
        np.testing.assert_allclose(empty[:4] + added[:4], fitted.scores(X[:1])[0, :4], atol=1e-9)


def test_what_cannot_be_weighed_says_what_to_do() -> None:
    X, Y = random_corpus()

    class Unweighted(MultinomialNB):
        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X, y)

    with pytest.raises(ParameterError, match="Use sampler='replicate'"):
        Resampled(Unweighted(), "weights").fit(X, Y)
    with pytest.raises(ParameterError, match="Did you mean 'smote'"):
        Resampled(LinearSVM(), "smotte").fit(X, Y)


@pytest.mark.parametrize("sampler", SAMPLERS)
@given(problems())
@settings(max_examples=8)
def test_any_problem_can_be_learned(sampler: str, problem: Any) -> None:
    X, positive = problem
    Y = np.column_stack([positive, ~positive, np.zeros(len(positive), bool), np.ones(len(positive), bool)]).astype(int)
    fitted = Resampled(MultinomialNB(), sampler, ratio=0.8).fit(X, Y)
    scores = fitted.scores(X)
    assert not np.isnan(scores).any()
    assert not fitted.predict(X)[:, 2].any()
    assert fitted.predict(X)[:, 3].all()
