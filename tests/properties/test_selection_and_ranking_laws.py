"""Laws of feature selection and of rankings, for all inputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from manylabel import metrics as m
from manylabel.features import TermSelector
from manylabel.features.contingency import contingency_tables
from manylabel.features.term_scores import FUNCTIONS, global_scores

SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 6), st.integers(1, 4))


@st.composite
def corpora(draw):
    documents, terms, labels = draw(SHAPES)
    X = draw(arrays(np.int64, (documents, terms), elements=st.integers(0, 3)))
    Y = draw(arrays(np.int64, (documents, labels), elements=st.integers(0, 1)))
    Y[0, 0] = 1
    return X, Y


names = st.sampled_from(list(FUNCTIONS))


@given(corpora(), names, st.integers(1, 8))
def test_k_terms_are_kept_and_more_only_add(corpus, name: str, k: int) -> None:
    X, Y = corpus
    kept = TermSelector(function=name, k=k).fit(X, Y).kept_
    assert len(kept) == min(k, X.shape[1])
    assert set(kept) <= set(TermSelector(function=name, k=k + 1).fit(X, Y).kept_)


@given(corpora(), names, st.integers(1, 8))
def test_terms_left_out_score_no_better(corpus, name: str, k: int) -> None:
    X, Y = corpus
    scores = global_scores(contingency_tables(X, Y), name)
    assert not np.isnan(scores).any()
    mask = TermSelector(function=name, k=k).fit(X, Y).mask
    if not mask.all():
        assert scores[mask].min() >= scores[~mask].max()


@given(corpora(), names, st.integers(1, 3))
def test_selecting_per_label_holds_each_labels_best(corpus, name: str, k: int) -> None:
    X, Y = corpus
    every = set(TermSelector(function=name, k=k, scope="label").fit(X, Y).kept_)
    for column in range(Y.shape[1]):
        if Y[:, column].any():
            assert set(TermSelector(function=name, k=k).fit(X, Y[:, [column]]).kept_) <= every


@given(corpora(), names)
def test_tables_merge_in_any_order(corpus, name: str) -> None:
    X, Y = corpus
    n_first = len(X) // 2
    first, second = (contingency_tables(X[rows], Y[rows]) for rows in (slice(n_first), slice(n_first, None)))
    whole = global_scores(contingency_tables(X, Y), name)
    np.testing.assert_array_equal(global_scores(first + second, name), whole)
    np.testing.assert_array_equal(global_scores(second + first, name), whole)


@given(corpora(), names)
def test_how_often_a_term_occurs_does_not_matter(corpus, name: str) -> None:
    X, Y = corpus
    np.testing.assert_array_equal(
        global_scores(contingency_tables(X, Y), name), global_scores(contingency_tables(np.minimum(X, 1), Y), name)
    )


@given(corpora(), st.integers(1, 6))
def test_dense_and_every_sparse_form_select_the_same(corpus, k: int) -> None:
    X, Y = corpus
    dense = TermSelector(k=k).fit(X, Y)
    for form in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        other = TermSelector(k=k).fit(form(X), form(Y))
        assert other.kept_.tolist() == dense.kept_.tolist()
        np.testing.assert_array_equal(other.transform(form(X)).toarray(), X[:, dense.kept_])


@st.composite
def rankings(draw):
    documents, labels = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    T = draw(arrays(np.int64, (documents, labels), elements=st.integers(0, 1)))
    return T, draw(arrays(np.float64, (documents, labels), elements=st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0])))


@given(rankings())
def test_values_stay_in_their_range(ranking) -> None:
    T, scores = ranking
    for name, value in m.compute_ranking_metrics(T, scores).items():
        if not T.any():
            assert np.isnan(value)
        elif name == "coverage":
            assert 1 <= value <= T.shape[1]
        else:
            assert -1e-12 <= value <= 1 + 1e-12


@given(rankings(), st.integers(0, 6))
def test_batches_add_up(ranking, n_first: int) -> None:
    T, scores = ranking
    batches = [m.label_ranks(T[rows], scores[rows]) for rows in (slice(n_first), slice(n_first, None))]
    assert m.metrics_of_ranks(m.LabelRanks.concatenate(batches)) == pytest.approx(
        m.compute_ranking_metrics(T, scores), nan_ok=True
    )


@given(rankings())
def test_only_the_order_of_scores_matters(ranking) -> None:
    T, scores = ranking
    assert m.compute_ranking_metrics(T, np.arctan(scores)) == pytest.approx(
        m.compute_ranking_metrics(T, scores), nan_ok=True
    )


@given(rankings())
def test_the_true_labels_as_scores_are_perfect(ranking) -> None:
    T, _ = ranking
    found = m.compute_ranking_metrics(T, T)
    if T.any():
        assert (found["one-error"], found["ranking-loss"], found["ranking-average-precision"]) == (0, 0, 1)
        assert found["ndcg@3"] == pytest.approx(1)
        assert found["coverage"] == pytest.approx(T.sum(axis=1)[T.any(axis=1)].mean())


@given(rankings())
def test_ranks_are_those_of_the_ranking(ranking) -> None:
    T, scores = ranking
    order = m.label_ranking(scores)
    expected = [np.flatnonzero(order[i] == j)[0] + 1 for i, j in zip(*np.nonzero(T), strict=True)]
    assert m.label_ranks(T, scores).rank.tolist() == expected
