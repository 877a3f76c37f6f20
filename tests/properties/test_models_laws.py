"""Laws of the models that hold for all inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.models import BinaryNaiveBayes, MultinomialNaiveBayes
from manylabel.models.base import MultiLabelModel, posteriors
from manylabel.models.counting import count, merge
from manylabel.models.smoothing import discount
from manylabel.strategies.label_powerset import LabelPowerset

MODELS: list[Any] = [
    MultinomialNaiveBayes(),
    MultinomialNaiveBayes(smoothing="laplace", unigram_docs="all"),
    MultinomialNaiveBayes(unigram="documents", counts="class", no_class=True, prior="uniform"),
    BinaryNaiveBayes(),
    BinaryNaiveBayes(smoothing="lidstone", alpha=0.1, unlabelled="negative"),
    BinaryNaiveBayes(unigram="replicated", b=1.0, unlabelled="ignore"),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


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
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


@each_model
@given(corpora(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_permuting_labels_permutes_columns(model: Any, corpus: Any, random: Any) -> None:
    X, Y = corpus
    order = random.sample(range(Y.shape[1]), Y.shape[1])
    _same(_fresh(model).fit(X, Y[:, order]).scores(X), _fresh(model).fit(X, Y).scores(X)[:, order])


@each_model
@given(corpora(min_documents=2), st.data())
@settings(max_examples=25)
def test_pieces_equal_the_whole(model: Any, corpus: Any, data: st.DataObject) -> None:
    """Exactly so: the same learned arrays, bit by bit, for any chunking."""
    X, Y = corpus
    cuts = sorted(data.draw(st.sets(st.integers(1, len(X) - 1), max_size=3)))
    whole, pieces = _fresh(model).fit(X, Y), _fresh(model)
    for rows in np.split(np.arange(len(X)), cuts):
        pieces.partial_fit(X[rows], Y[rows])
    _identical(whole, pieces)


@each_model
@given(corpora(min_documents=3), st.data())
@settings(max_examples=25)
def test_merging_is_commutative_and_associative(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    first = data.draw(st.integers(1, len(X) - 2))
    second = data.draw(st.integers(first + 1, len(X) - 1))
    parts = [slice(0, first), slice(first, second), slice(second, len(X))]
    a, b, c = (_fresh(model).fit(X[rows], Y[rows]) for rows in parts)
    whole = _fresh(model).fit(X, Y)
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        _identical(whole, merged)
    tables = [count(Csr(X[rows].astype(float)), Csr(Y[rows])) for rows in parts]
    together = merge(merge(tables[2], tables[0]), tables[1])
    np.testing.assert_array_equal(together.label_terms.toarray(), whole.label_terms_.toarray())


def _identical(first: Any, second: Any) -> None:
    expected, found = first.learned_state(), second.learned_state()
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        if sparse.issparse(value):
            np.testing.assert_array_equal(value.toarray(), found[name].toarray(), err_msg=name)
        else:
            np.testing.assert_array_equal(value, found[name], err_msg=name)


@each_model
@given(corpora())
@settings(max_examples=25)
def test_the_form_of_the_input_does_not_matter(model: Any, corpus: Any) -> None:
    """Dense = CSR = CSC = unsorted CSR = CSR with duplicates and stored zeros; the input is not changed."""
    X, Y = corpus
    expected = _fresh(model).fit(X, Y).scores(X)
    csr = sparse.csr_array(X)
    backwards = csr.copy()
    for start, stop in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        backwards.indices[start:stop] = csr.indices[start:stop][::-1]
        backwards.data[start:stop] = csr.data[start:stop][::-1]
    backwards.has_sorted_indices = False
    row, column = np.nonzero(np.ones_like(X))
    halves = np.concatenate([X[row, column] / 2, X[row, column] / 2, np.zeros(len(row))])
    doubled = sparse.coo_array((halves, (np.tile(row, 3), np.tile(column, 3))), shape=X.shape)
    indptr = _sort_rows(doubled, len(X))
    messy = sparse.csr_array((doubled.data, doubled.col, indptr), shape=X.shape)
    for form in (csr, csr.tocsc(), backwards, messy, sparse.csr_matrix(X), doubled):
        before = form.copy().toarray()
        _same(_fresh(model).fit(form, sparse.csr_array(Y)).scores(form), expected)
        np.testing.assert_array_equal(form.toarray(), before)
    assert messy.nnz == 3 * X.size


def _sort_rows(entries: Any, n_rows: int) -> np.ndarray:
    order = np.argsort(entries.row, kind="stable")
    entries.row, entries.col, entries.data = entries.row[order], entries.col[order], entries.data[order]
    return np.concatenate([[0], np.cumsum(np.bincount(entries.row, minlength=n_rows))])


@each_model
@given(corpora())
@settings(max_examples=25)
def test_empty_documents_have_the_prior(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = _fresh(model).fit(X, Y)
    empty = fitted.scores(np.zeros((1, X.shape[1])))[0]
    if isinstance(fitted, BinaryNaiveBayes):
        np.testing.assert_array_equal(empty, fitted.intercept_)
    elif not fitted.no_class and Y.any():
        _same(empty, np.exp(fitted.intercept_))


@each_model
@given(corpora(), st.data())
@settings(max_examples=25)
def test_unseen_labels_are_never_predicted(model: Any, corpus: Any, data: st.DataObject) -> None:
    X, Y = corpus
    unseen = data.draw(st.integers(0, Y.shape[1] - 1))
    Y = Y.copy()
    Y[:, unseen] = 0
    fitted = _fresh(model).fit(X, Y)
    anything = data.draw(hnp.arrays(np.int64, (3, X.shape[1]), elements=st.integers(0, 50)))
    assert not fitted.predict(anything)[:, unseen].any()
    assert not fitted.predict_proba(anything)[:, unseen].any()


@each_model
@given(corpora(), st.integers(1, 400))
@settings(max_examples=15)
def test_batches_do_not_change_predictions(model: Any, corpus: Any, working_memory: int) -> None:
    X, Y = corpus
    fitted = _fresh(model).fit(sparse.csr_array(X), sparse.csr_array(Y))
    small = fitted.predict(sparse.csr_array(X), working_memory=working_memory)
    np.testing.assert_array_equal(small.toarray(), fitted.predict(X).toarray())


@given(corpora())
@settings(max_examples=25)
def test_posteriors_sum_to_one(corpus: Any) -> None:
    X, Y = corpus
    sums = MultinomialNaiveBayes().fit(X, Y).scores(X).sum(axis=1)
    np.testing.assert_allclose(sums, 1.0 if Y.any() else 0.0, rtol=1e-12)


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-1e5, 1e5)), st.floats(-1e6, 1e6))
def test_posteriors_do_not_depend_on_a_common_factor(joint: np.ndarray, factor: float) -> None:
    np.testing.assert_allclose(posteriors(joint), posteriors(joint + factor), atol=1e-9)


@given(st.dictionaries(st.integers(3, 40), st.integers(0, 50), max_size=6), st.integers(1, 200), st.integers(1, 200))
def test_discounts_are_ordered(rest: dict[int, int], n1: int, n2: int) -> None:
    """A-4: lower_safe ≤ loo ≤ upper ≤ printed23, all in [.001, 1]."""
    n = {1: n1, 2: n2, **rest}
    safe, loo, upper, printed = (discount(n, method).b for method in ("lower_safe", "loo", "upper", "printed23"))
    assert 1e-3 <= safe <= loo + 1e-12
    assert loo <= upper + 1e-12
    assert upper <= printed <= 1


@given(corpora())
@settings(max_examples=25)
def test_powerset_predicts_only_sets_it_saw(corpus: Any) -> None:
    X, Y = corpus
    if not Y.any():
        return
    model: MultiLabelModel = LabelPowerset(MultinomialNaiveBayes()).fit(X, Y)
    seen = {tuple(row) for row in Y.tolist()}
    assert {tuple(row) for row in model.predict(X).tolist()} <= seen
