"""Laws of the relatives of naive Bayes that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from corpora import corpora
from manylabel.features.discretize import FrequencyBins
from manylabel.features.information_weights import kl_value_weights, normalise
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.complement_nb import ComplementNaiveBayes
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.models.weighted_nb import WeightedNaiveBayes

COUNTED: list[Any] = [
    BernoulliNaiveBayes(),
    BernoulliNaiveBayes(target="classes", alpha=0.2),
    BernoulliNaiveBayes(unlabelled="ignore"),
    ComplementNaiveBayes(),
    ComplementNaiveBayes(normalise=False, unlabelled="ignore"),
    WeightedNaiveBayes(),
    WeightedNaiveBayes(weight="kl", prior="add-one"),
]
VALUED: list[Any] = [
    ValueWeightedNaiveBayes(),
    ValueWeightedNaiveBayes(refine_cells="seen", n_bins=3),
    ValueWeightedNaiveBayes("categorical", norm="global", refine="none"),
    ValueWeightedNaiveBayes("categorical", target="classes", steps=3),
    ValueWeightedNaiveBayes("multinomial", norm="feature", scope="global", refine="none", prior="documents", m=0.0),
]
each_model = pytest.mark.parametrize("model", COUNTED + VALUED, ids=repr)
some = settings(max_examples=12)


def _fresh(model: Any) -> Any:
    return type(model)(**model.get_params())


def _same(first: np.ndarray, second: np.ndarray) -> None:
    np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-9)


@each_model
@given(corpora(), st.randoms(use_true_random=False))
@some
def test_the_order_of_words_and_documents_does_not_matter(model: Any, corpus: Any, random: Any) -> None:
    X, Y = corpus
    words, documents = list(range(X.shape[1])), list(range(len(X)))
    random.shuffle(words)
    random.shuffle(documents)
    shuffled = _fresh(model).fit(X[documents][:, words], Y[documents])
    _same(shuffled.scores(X[:, words]), _fresh(model).fit(X, Y).scores(X))


counts = hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(2, 4)), elements=st.integers(0, 30))


@given(counts, st.sampled_from(["kl", "kl_split", "p_kl"]), st.floats(0.0, 5.0))
def test_weights_are_not_negative_and_blind_to_the_order_of_classes(table: Any, weight: Any, m: float) -> None:
    found = kl_value_weights(table, weight, m)
    assert (found >= 0).all()
    _same(kl_value_weights(table[:, ::-1], weight, m), found)


@given(counts, st.integers(1, 9))
def test_a_value_that_follows_the_prior_has_no_weight(table: Any, times: int) -> None:
    """KL is 0 where P(c|a) = P(c), whatever m is."""
    totals = table.sum(axis=0, keepdims=True)
    found = kl_value_weights(np.vstack([totals, totals * times]), "kl", 1.0)
    np.testing.assert_array_equal(found, 0.0)


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(0, 10)), hnp.arrays(np.bool_, (3, 4)))
def test_normalised_weights_have_mean_one(weights: Any, occupied: Any) -> None:
    used = np.where(occupied, weights, 0.0)
    if used.sum() > 1e-6:
        assert normalise(weights, "global", occupied)[occupied].mean() == pytest.approx(1.0)


@given(hnp.arrays(np.float64, (6, 3), elements=st.sampled_from([0, 0.5, 1, 2, 3, 8])), st.integers(2, 6))
def test_bins_rise_with_the_frequency(X: Any, n_bins: int) -> None:
    for scope in ("feature", "global"):
        bins = FrequencyBins(n_bins, scope).fit_transform(X).toarray()  # type: ignore[arg-type]
        assert ((bins > 0) == (X > 0)).all()
        assert bins.max() < n_bins
        order = np.argsort(X, axis=0, kind="stable")
        assert (np.diff(np.take_along_axis(bins, order, axis=0), axis=0) >= 0).all()
