"""Nearest documents: worked numbers, the twin, scikit-learn, and the edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels import nearest as driver
from manylabel.kernels import neighbours_reference as reference
from manylabel.kernels.nearest import Neighbours, frequent_terms, merged, nearest, nearest_index, votes

compiled = pytest.importorskip("manylabel.kernels.neighbours", reason="The kernels are not compiled.")
BOTH = pytest.mark.parametrize("kernel", [compiled, reference], ids=["compiled", "plain"])


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda kernel: monkeypatch.setattr(driver, "_kernel", kernel)


@BOTH
def test_worked_example(kernel: Any, use: Any) -> None:
    """B-2: similarities .96, .936, .8, .28; shares 2/3, 2/3; cosine weighted .703264, .643917."""
    use(kernel)
    stored = nearest_index(np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]]))
    Y = Csr(np.array([[1, 0], [1, 1], [0, 1], [0, 1]]))
    found = nearest(stored, np.array([[0.96, 0.28]]), 4)
    assert found.similarities[0] == pytest.approx([0.96, 0.936, 0.8, 0.28])
    three = nearest(stored, np.array([[0.96, 0.28]]), 3)
    assert three.ids.tolist() == [[0, 1, 2]]
    assert votes(three, Y).toarray()[0] == pytest.approx([2 / 3, 2 / 3])
    assert votes(three, Y, weights="cosine").toarray()[0] == pytest.approx([0.703264, 0.643917], abs=1e-6)


@BOTH
def test_ties_go_to_the_lowest_document_and_only_positive_similarities_count(kernel: Any, use: Any) -> None:
    use(kernel)
    stored = nearest_index(np.array([[0, 1.0], [1, 0], [-1, 0], [1, 0], [2, 0], [1, 0]]))
    found = nearest(stored, np.array([[1.0, 0], [0, -1], [0, 0]]), 3)
    assert found.ids.tolist() == [[4, 1, 3], [-1, -1, -1], [-1, -1, -1]]
    assert found.counts.tolist() == [3, 0, 0]
    assert found.similarities.tolist() == [[2, 1, 1], [0, 0, 0], [0, 0, 0]]


@BOTH
def test_skip_leaves_one_document_out(kernel: Any, use: Any) -> None:
    use(kernel)
    stored = nearest_index(np.eye(3) + 1)
    found = nearest(stored, np.eye(3) + 1, 2, skip=[0, -1, 2])
    assert found.ids.tolist() == [[1, 2], [1, 0], [0, 1]]


@pytest.mark.parametrize("k", [1, 7, 60])
def test_neighbours_of_groups_are_merged_to_those_of_all_to_the_bit(k: int) -> None:
    random = np.random.default_rng(k)
    stored, asked = (Csr(np.where(random.random((n, 40)) < 0.13, random.random((n, 40)), 0)) for n in (50, 20))
    stored = Csr(sparse.vstack([stored, stored[:10], Csr(np.zeros((1, 40)))], format="csr"))  # ties
    asked = Csr(sparse.vstack([asked, stored[-1:]], format="csr"))
    frequent = frequent_terms(np.bincount(stored.indices, minlength=40), stored.shape[0])
    assert 0 < len(frequent) < 40
    groups = []
    for start, end in ((0, 3), (3, 40), (40, 61)):
        found = nearest(nearest_index(stored[start:end], frequent), asked, k)
        groups.append(replace(found, ids=np.where(found.ids < 0, -1, found.ids + start)))
    one, whole = merged(groups, k), nearest(nearest_index(stored), asked, k)
    for name in ("ids", "similarities", "counts"):
        assert np.array_equal(getattr(one, name), getattr(whole, name))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_twins_agree_to_the_bit(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, v, q = (int(rng.integers(low, 60)) for low in (1, 1, 0))
    kind = data.draw(st.sampled_from([np.float32, np.float64]))
    X, Q = (_random(rng, rows, v, kind, data.draw(st.booleans())) for rows in (n, q))
    k = data.draw(st.integers(1, n + 3))
    skip = rng.integers(-1, n, q).astype(np.int32)
    index = nearest_index(X)
    results = []
    for kernel, jobs in ((compiled, 1), (compiled, 3), (reference, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            patch.setattr(driver, "QUERIES_PER_BLOCK", 7)
            results.append(nearest(index, Q, k, skip=skip, n_jobs=jobs))
    for other in results[1:]:
        assert np.array_equal(results[0].ids, other.ids)
        assert np.array_equal(results[0].similarities, other.similarities)
        assert np.array_equal(results[0].counts, other.counts)
    assert results[0].similarities.dtype == kind
    Y = Csr((rng.random((n, 4)) < 0.4).astype(np.int8))
    tables = []
    for kernel in (compiled, reference):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            tables.append(votes(results[0], Y, weights="cosine"))
    assert np.array_equal(tables[0].toarray(), tables[1].toarray())
    assert np.array_equal(tables[0].indptr, tables[1].indptr)


def test_agrees_with_brute_force() -> None:
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(0)
    X, Q = (normalize(abs(_random(rng, rows, 40, np.float64, False))) for rows in (200, 50))
    distances, _ = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(X).kneighbors(Q)
    found = nearest(nearest_index(X), Q, 5)
    assert (found.counts == 5).all()
    assert found.similarities == pytest.approx(1 - distances)


def test_shares_are_the_labels_among_the_neighbours() -> None:
    """Against a plain loop over lists of neighbours."""
    rng = np.random.default_rng(1)
    Y = (rng.random((30, 5)) < 0.3).astype(int)
    counts = rng.integers(0, 5, 8).astype(np.int32)
    ids = rng.integers(0, 30, (8, 4)).astype(np.int32)
    shares = votes(Neighbours(ids, rng.random((8, 4)), counts), Csr(Y), n_jobs=1).toarray()
    for row, (mine, count) in enumerate(zip(ids, counts)):
        expected = Y[mine[:count]].mean(axis=0) if count else np.zeros(5)
        assert shares[row] == pytest.approx(expected)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_more_columns_than_16_bits_and_both_index_types(index_type: Any, kind: Any) -> None:
    columns = np.array([0, 65_535, 65_536, 70_003], dtype=index_type)
    X = Csr((np.ones(4, kind), columns, np.arange(5, dtype=index_type)), shape=(4, 70_004))
    found = nearest(nearest_index(X), X, 2)
    assert found.ids[:, 0].tolist() == [0, 1, 2, 3]
    assert found.counts.tolist() == [1, 1, 1, 1]


@BOTH
def test_unsorted_and_repeated_cells_are_read_as_their_sum(kernel: Any, use: Any) -> None:
    use(kernel)
    messy = sparse.csr_matrix((np.array([1.0, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    found = nearest(nearest_index(messy), messy, 1)
    assert found.similarities.tolist() == [[4.0 + 16.0]]
    assert messy.nnz == 3


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (1, 1)])
def test_empty_tables(shape: tuple[int, int]) -> None:
    found = nearest(nearest_index(np.zeros(shape)), np.zeros((2, shape[1])), 5)
    assert found.counts.tolist() == [0, 0]
    assert votes(found, np.ones((shape[0], 2))).shape == (2, 2)


def test_a_term_out_of_bounds_is_refused_by_the_kernels() -> None:
    index = nearest_index(np.eye(3))
    bad = reference.Queries(np.array([0, 1]), np.array([3]), np.array([1.0]))
    out = (np.zeros((1, 1), np.int32), np.zeros((1, 1)), np.zeros(1, np.int32))
    for kernel in (compiled, reference):
        with pytest.raises(IndexError, match="term"):
            kernel.k_nearest(bad, index.postings, 3, np.full(1, -1, np.int32), 0, 1, *out)
        with pytest.raises(IndexError, match="out of bounds"):
            kernel.k_nearest(bad, index.postings, 3, np.full(1, -1, np.int32), 0, 2, *out)


def test_users_mistakes_are_sentences() -> None:
    index = nearest_index(np.eye(3))
    with pytest.raises(ParameterError, match="at least 1, not 0"):
        nearest(index, np.eye(3), 0)
    with pytest.raises(DataError, match="4 terms but the stored documents 3"):
        nearest(index, np.eye(4), 1)
    with pytest.raises(DataError, match="one document for each of 3 queries"):
        nearest(index, np.eye(3), 1, skip=[0])
    with pytest.raises(ParameterError, match="uniform"):
        votes(nearest(index, np.eye(3), 1), np.eye(3), weights="distance")  # type: ignore[arg-type]
    wrong = Csr((np.ones(1), np.array([0]), np.array([0, 1])), shape=(1, 3))
    wrong.indices[0] = 7
    with pytest.raises(DataError, match="columns 7 to 7"):
        nearest_index(wrong)


def _random(rng: np.random.Generator, n: int, v: int, kind: Any, whole: bool) -> sparse.csr_matrix:
    table = rng.integers(-2, 4, (n, v)) if whole else rng.normal(0.5, 1.0, (n, v))
    return sparse.csr_matrix(np.where(rng.random((n, v)) < rng.random(v), table, 0).astype(kind))
