"""Laws of binary relevance, chains and their ensembles that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

from corpora import corpora
from manylabel.estimator import Csr
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.chain_ensemble import ChainEnsemble, count_matching_threshold
from manylabel.strategies.classifier_chain import ClassifierChain, with_label_column
from manylabel.strategies.label_order import dependency_order, label_order

STRATEGIES: list[Any] = [
    BinaryRelevance(MultinomialNaiveBayes(smoothing="laplace")),
    BinaryRelevance(BernoulliNB()),
    ClassifierChain(BinaryNaiveBayes(smoothing="laplace"), order="given"),
    ClassifierChain(BernoulliNB(), order="dependency", labels="out-of-fold", folds=2),
    ChainEnsemble(BernoulliNB(), n_chains=2),
    ChainEnsemble(BinaryNaiveBayes(smoothing="laplace"), n_chains=2, combine="scores", threshold="cardinality"),
]
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)


@each_strategy
@given(corpora())
@settings(max_examples=20)
def test_every_label_has_a_score_and_constant_ones_stay_constant(strategy: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = clone(strategy).fit(X, Y)
    scores, predicted = fitted.scores(X), fitted.predict(X)
    assert scores.shape == Y.shape
    assert not np.isnan(scores).any()
    np.testing.assert_array_equal(predicted[:, ~Y.any(axis=0)], 0)
    np.testing.assert_array_equal(predicted[:, Y.all(axis=0)], 1)
    np.testing.assert_array_equal(predicted, fitted.natural_decision(scores))


@given(corpora(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_permuting_labels_with_their_chain_permutes_columns(corpus: Any, random: Any) -> None:
    """Column j of the permuted problem is label p[j]; the chain that names the same labels has the same scores."""
    X, Y = corpus
    p = random.sample(range(Y.shape[1]), Y.shape[1])
    chain = random.sample(range(Y.shape[1]), Y.shape[1])
    there = ClassifierChain(BernoulliNB(), order=chain).fit(X, Y).scores(X)
    here = ClassifierChain(BernoulliNB(), order=[p.index(label) for label in chain]).fit(X, Y[:, p]).scores(X)
    np.testing.assert_array_equal(here, there[:, p])


@given(corpora())
@settings(max_examples=25)
def test_one_label_makes_every_strategy_binary_relevance(corpus: Any) -> None:
    X, Y = corpus
    alone = BinaryRelevance(BernoulliNB()).fit(X, Y[:, :1]).scores(X)
    np.testing.assert_array_equal(ClassifierChain(BernoulliNB()).fit(X, Y[:, :1]).scores(X), alone)
    together = ChainEnsemble(BernoulliNB(), n_chains=2, sample="none").fit(X, Y[:, :1])
    np.testing.assert_array_equal(together.predict(X), alone > 0)


@given(corpora(), st.floats(0.1, 5.0))
def test_a_label_column_is_appended_and_nothing_else_changes(corpus: Any, scale: float) -> None:
    X, Y = corpus
    wider = with_label_column(Csr(X.astype(float)), Y[:, 0].astype(bool), scale)
    np.testing.assert_array_equal(wider.toarray(), np.column_stack([X, scale * Y[:, 0]]))
    assert wider.has_canonical_format


@given(hnp.arrays(np.int8, st.tuples(st.integers(1, 9), st.integers(1, 6)), elements=st.integers(0, 1)))
def test_orders_are_permutations(Y: np.ndarray) -> None:
    labels = sparse.csr_array(Y)
    for order in ("random", "given", "frequency", "dependency"):
        assert sorted(label_order(order, labels, 3).tolist()) == list(range(Y.shape[1]))


@given(
    hnp.arrays(np.int8, st.tuples(st.integers(2, 9), st.integers(2, 5)), elements=st.integers(0, 1)),
    st.randoms(use_true_random=False),
)
def test_dependency_order_reads_documents_as_a_set(Y: np.ndarray, random: Any) -> None:
    """Neither the order of documents nor the complement of all labels changes it: mutual information sees neither."""
    rows = random.sample(range(len(Y)), len(Y))
    found = dependency_order(sparse.csr_array(Y)).tolist()
    assert dependency_order(sparse.csr_array(Y[rows])).tolist() == found
    assert dependency_order(sparse.csr_array(1 - Y)).tolist() == found


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=12), st.integers(1, 12))
def test_no_other_score_is_a_better_threshold(scores: list[float], wanted: int) -> None:
    values = np.array(scores)
    off = abs(int((values >= count_matching_threshold(values, wanted)).sum()) - wanted)
    assert off == min(abs(int((values >= at).sum()) - wanted) for at in scores)
