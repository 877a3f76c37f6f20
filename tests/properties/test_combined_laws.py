"""Laws of methods made of methods: pairs, ensembles and keyword rules."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.keyword_rules import KeywordRules
from manylabel.models.linear_svm import LinearSVM
from manylabel.strategies.ensemble import Ensemble
from manylabel.strategies.one_vs_one import OneVsOne
from manylabel.strategies.weighted_member import WeightedMember

NAIVE = BinaryNaiveBayes(smoothing="laplace", unlabelled="negative")
SVM = LinearSVM(max_iter=100_000, tol=1e-9)  # counts are not of unit length
MEMBERS = (WeightedMember(SVM), NAIVE)
MODELS: list[Any] = [
    OneVsOne(NAIVE),
    OneVsOne(LinearSVM(tol=1e-8, max_iter=10_000), calibrated=True),
    Ensemble(MEMBERS, "votes"),
    Ensemble((NAIVE,), "average", folds=2),
    KeywordRules(),
    KeywordRules(SVM),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)
even_unfinished = pytest.mark.filterwarnings("ignore:LinearSVM")  # laws that also hold for SVMs that stop short of tol


@st.composite
def corpora(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Small corpora with empty documents, unlabelled ones, constant labels and unused words among them."""
    n, terms, labels = draw(st.integers(2, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.int64, (n, terms), elements=st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7])))
    return X, draw(hnp.arrays(np.int8, (n, labels), elements=st.integers(0, 1)))


@each_model
@even_unfinished
@given(corpora(), st.data())
@settings(max_examples=15)
def test_unseen_labels_are_never_predicted(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    unseen = data.draw(st.integers(0, Y.shape[1] - 1))
    Y = Y.copy()
    Y[:, unseen] = 0
    fitted = clone(model).fit(X, Y)
    anything = data.draw(hnp.arrays(np.int64, (3, X.shape[1]), elements=st.integers(0, 50)))
    assert not fitted.predict(anything)[:, unseen].any()
    assert not np.isnan(fitted.scores(anything)).any()


@each_model
@even_unfinished
@given(corpora(), st.integers(1, 400))
@settings(max_examples=10)
def test_batches_do_not_change_predictions(model: Any, corpus: Any, working_memory: int) -> None:
    X, Y = corpus
    fitted = clone(model).fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(X, working_memory=working_memory), fitted.predict(X))


@pytest.mark.parametrize("model", [Ensemble(MEMBERS, "votes"), KeywordRules(), OneVsOne(NAIVE)], ids=repr)
@given(corpora(), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_permuting_labels_permutes_columns(model: Any, corpus: Any, random: Any) -> None:
    X, Y = corpus
    order = random.sample(range(Y.shape[1]), Y.shape[1])
    fitted, permuted = clone(model).fit(X, Y), clone(model).fit(X, Y[:, order])
    if isinstance(model, OneVsOne) and fitted.models_:
        values = np.column_stack([one.score_batch(fitted.features(X))[:, -1] for one in fitted.models_])
        if np.abs(values).min() < 1e-9:  # a pair without a winner goes to the lower index, which permuting changes
            return
    if isinstance(model, Ensemble):
        values = np.column_stack([member.scores(X) for member in fitted.members_])
        if np.abs(values).min() < 1e-6:  # a vote on the boundary goes by rounding
            return
    np.testing.assert_allclose(permuted.scores(X), fitted.scores(X)[:, order], atol=1e-6)


@given(corpora())
@settings(max_examples=15)
def test_every_pair_has_one_winner(corpus: Any) -> None:
    X, Y = corpus
    model = OneVsOne(NAIVE).fit(X, Y)
    votes, sums = model.votes(model.features(X))
    fought = len(model.pairs_) + model.walkovers_[:, 0].sum()
    np.testing.assert_allclose(votes.sum(axis=1), fought)
    np.testing.assert_allclose(sums.sum(axis=1), 0.0, atol=1e-6)
