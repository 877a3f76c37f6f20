"""Laws of the relatives of naive Bayes that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from manylabel.features.discretize import FrequencyBins
from manylabel.features.value_weights import kl_value_weights, normalise
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
    ValueWeightedNaiveBayes("multinomial", norm="feature", scope="global", refine="none", prior="ml", m=0.0),
]
each_counted = pytest.mark.parametrize("model", COUNTED, ids=repr)
each_model = pytest.mark.parametrize("model", COUNTED + VALUED, ids=repr)
some = settings(max_examples=12)


def _fresh(model: Any) -> Any:
    return type(model)(**model.get_params())


@st.composite
def corpora(draw: st.DrawFn, min_documents: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Small corpora with empty documents, unlabelled ones, constant labels and unused words among them."""
    n = draw(st.integers(min_documents, 9))
    terms, labels = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.int64, (n, terms), elements=st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7])))
    Y = draw(hnp.arrays(np.int8, (n, labels), elements=st.integers(0, 1)))
    return X, Y


def _same(first: np.ndarray, second: np.ndarray) -> None:
    np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-9)


@each_model
@given(corpora(), st.randoms(use_true_random=False))
@some
def test_permuting_labels_permutes_columns(model: Any, corpus: Any, random: Any) -> None:
    X, Y = corpus
    order = list(range(Y.shape[1]))
    random.shuffle(order)
    _same(_fresh(model).fit(X, Y[:, order]).scores(X), _fresh(model).fit(X, Y).scores(X)[:, order])


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


@each_model
@given(corpora())
@some
def test_the_form_of_the_input_does_not_matter(model: Any, corpus: Any) -> None:
    X, Y = corpus
    expected = _fresh(model).fit(X, Y).scores(X)
    for form in (sparse.csr_array(X), sparse.csc_array(X), sparse.csr_matrix(X)):
        _same(_fresh(model).fit(form, sparse.csr_array(Y)).scores(form), expected)


@each_model
@given(corpora(), st.data())
@some
def test_unseen_labels_are_never_predicted(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    unseen = data.draw(st.integers(0, Y.shape[1] - 1))
    Y = Y.copy()
    Y[:, unseen] = 0
    fitted = _fresh(model).fit(X, Y)
    anything = data.draw(hnp.arrays(np.int64, (3, X.shape[1]), elements=st.integers(0, 50)))
    assert not np.isnan(fitted.scores(anything)).any()
    assert not fitted.predict(anything)[:, unseen].any()


@each_model
@given(corpora())
@some
def test_scores_do_not_depend_on_the_batch(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = _fresh(model).fit(X, Y)
    _same(np.vstack([fitted.scores(row[np.newaxis]) for row in X]), fitted.scores(X))


@each_model
@given(corpora())
@some
def test_what_was_learned_is_the_model(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = _fresh(model).fit(X, Y)
    np.testing.assert_array_equal(_fresh(model).restore(fitted.learned_state()).scores(X), fitted.scores(X))


@each_counted
@given(corpora(min_documents=3), st.data())
@some
def test_pieces_and_merging_equal_the_whole(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    cut = data.draw(st.integers(1, len(X) - 1))
    whole = _fresh(model).fit(X, Y)
    pieces = _fresh(model).partial_fit(X[:cut], Y[:cut]).partial_fit(X[cut:], Y[cut:])
    merged = _fresh(model).fit(X[cut:], Y[cut:]).merge(_fresh(model).fit(X[:cut], Y[:cut]))
    for other in (pieces, merged):
        np.testing.assert_array_equal(other.scores(X), whole.scores(X))


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
