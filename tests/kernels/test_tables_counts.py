"""Counts of terms by label and the scores of one document: worked numbers, twins, SciPy, edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.kernels import label_tables as driver
from manylabel.kernels import tables_reference as reference
from manylabel.kernels.label_tables import label_term_table

compiled = pytest.importorskip("manylabel.kernels.tables", reason="The kernels are not compiled.")
BOTH = pytest.mark.parametrize("kernel", [compiled, reference], ids=["compiled", "plain"])


@BOTH
def test_replication(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A-1: N_c = (2, 2), N_cw = [[3,1,1],[1,3,1]]; the fourth document has no label."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
    table = label_term_table(X, np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
    assert table.occurrences.toarray().tolist() == [[3, 1, 1], [1, 3, 1]]
    assert table.label_documents.tolist() == [2, 2]
    assert table.term_occurrences.tolist() == [3, 3, 5]


@BOTH
def test_contingency_counts(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """S-1: n11 of a word in 30 documents, 20 of them of a category of 50, among 100; the first row of S-2."""
    monkeypatch.setattr(driver, "_kernel", kernel)
    word, category = np.zeros((100, 1)), np.zeros((100, 1))
    category[:50], word[:20], word[50:60] = 1, 3, 1
    table = label_term_table(word, category)
    n11 = int(table.documents.toarray()[0, 0])
    n10, n01 = int(table.term_documents[0]) - n11, int(table.label_documents[0]) - n11
    assert (n11, n10, n01, table.n_documents - n11 - n10 - n01) == (20, 10, 30, 40)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([np.int8, np.int32, np.int64, np.float32, np.float64]))
def test_twins_and_scipy_agree(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    n, v, labels = (int(rng.integers(low, high)) for low, high in ((0, 30), (1, 200), (1, 9)))
    X = (rng.integers(0, 5, (n, v)) * (rng.random((n, v)) < 0.3)).astype(kind)
    Y = (rng.random((n, labels)) < 0.3).astype(np.int8)
    messy = _messy(rng, sparse.csr_matrix(X))
    tables = []
    for kernel, jobs, most in ((compiled, 1, 10**9), (compiled, 3, 5), (reference, 1, 20)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(driver, "_kernel", kernel)
            patch.setattr(driver, "VISITS_PER_BLOCK", most)
            tables.append(label_term_table(messy, Y, n_jobs=jobs))
    for table in tables:
        assert np.array_equal(table.occurrences.toarray(), (Y.T.astype(float) @ X))
        assert np.array_equal(table.documents.toarray(), Y.T.astype(int) @ (X > 0))
        assert np.array_equal(table.term_documents, (X > 0).sum(axis=0))
        assert np.array_equal(table.term_occurrences, X.sum(axis=0))
        assert np.array_equal(table.occurrences.indices, tables[0].occurrences.indices)
        assert (table.documents.data > 0).all()


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_more_columns_than_16_bits(index_type: Any) -> None:
    columns = np.array([70_003, 0, 65_536, 4_095, 4_096], dtype=index_type)
    X = Csr((np.arange(1.0, 6.0), columns, np.array([0, 5], dtype=index_type)), shape=(1, 70_004))
    table = label_term_table(X, np.ones((1, 1)))
    assert table.occurrences.indices.tolist() == [0, 4_095, 4_096, 65_536, 70_003]
    assert table.occurrences.data.tolist() == [2.0, 4.0, 5.0, 3.0, 1.0]


@pytest.mark.parametrize(("n", "v", "labels"), [(0, 3, 2), (2, 0, 2), (2, 3, 0), (1, 1, 1)])
def test_empty_tables(n: int, v: int, labels: int) -> None:
    table = label_term_table(np.zeros((n, v)), np.ones((n, labels)))
    assert table.occurrences.shape == (labels, v)
    assert table.occurrences.nnz == 0
    assert table.label_documents.tolist() == [n] * labels


def test_mistakes() -> None:
    with pytest.raises(DataError, match="2 documents but Y 3"):
        label_term_table(np.zeros((2, 1)), np.zeros((3, 1)))
    rows = reference.Rows(np.array([0, 1]), np.array([5]), np.array([1.0]))
    for kernel in (compiled, reference):
        with pytest.raises(IndexError, match="term"):
            kernel.count_by_label(rows, 5, np.array([0, 1]), np.array([0]), 0, 1)
        with pytest.raises(IndexError, match="document"):
            kernel.count_by_label(rows, 6, np.array([0, 1]), np.array([1]), 0, 1)
        with pytest.raises(IndexError, match="Labels 0 to 2"):
            kernel.count_by_label(rows, 6, np.array([0, 1]), np.array([0]), 0, 2)


@BOTH
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_one_document_scores_as_the_product(kernel: Any, kind: Any, index_type: Any) -> None:
    rng = np.random.default_rng(2)
    W = np.where(rng.random((50, 7)) < 0.4, rng.normal(size=(50, 7)), 0).astype(kind)
    terms, values = rng.permutation(50)[:9].astype(index_type), rng.random(9).astype(kind)
    table = sparse.csr_array(W)
    expected = 1.0 + values.astype(float) @ W[terms].astype(float)
    sparse_scores, dense_scores = np.ones(7), np.ones(7)
    kernel.score_one(
        terms, values, table.indptr.astype(index_type), table.indices.astype(index_type), table.data, sparse_scores
    )
    kernel.score_one(terms, values, None, None, W, dense_scores)
    assert sparse_scores == pytest.approx(expected, abs=1e-12)
    assert dense_scores == pytest.approx(expected, abs=1e-12)


@BOTH
def test_one_document_at_the_edges(kernel: Any) -> None:
    table = sparse.csr_array(np.array([[1.0, 0, 2], [0, 0, 0]]))
    W = (table.indptr, table.indices, table.data)
    out = np.array([1.0, 2.0, 3.0])
    kernel.score_one(np.zeros(0, np.int32), np.zeros(0), *W, out)
    kernel.score_one(np.array([1]), np.ones(1), *W, out)
    assert out.tolist() == [1, 2, 3]
    for term in (2, -1):
        with pytest.raises(IndexError, match="term"):
            kernel.score_one(np.array([term]), np.ones(1), *W, out)
        with pytest.raises(IndexError, match="term"):
            kernel.score_one(np.array([term]), np.ones(1), None, None, np.ones((2, 3)), out)
    with pytest.raises(IndexError, match="labels"):
        kernel.score_one(np.array([0]), np.ones(1), *W, np.zeros(2))
    with pytest.raises(IndexError, match="one value"):
        kernel.score_one(np.array([0]), np.ones(2), *W, out)


def test_one_document_of_other_types_is_refused() -> None:
    table = sparse.csr_array(np.eye(2))
    W, out = (table.indptr, table.indices, table.data), np.zeros(2)
    with pytest.raises(TypeError):
        compiled.score_one(np.array([0.0]), np.ones(1), *W, out)
    with pytest.raises(TypeError):
        compiled.score_one(np.array([0]), np.array([1]), *W, out)
    with pytest.raises(TypeError):
        compiled.score_one(np.array([0]), np.ones(1), *W, np.zeros(2, np.float32))
    with pytest.raises(TypeError):
        compiled.score_one(np.array([0], np.int16), np.ones(1), *W, out)
    with pytest.raises((ValueError, BufferError)):
        compiled.score_one(np.array([0, 1, 0])[::2], np.ones(2), *W, out)


def _messy(rng: np.random.Generator, X: sparse.csr_matrix) -> sparse.csr_matrix:
    """The same matrix with columns in disorder, a cell stored in two halves and a stored zero."""
    X = X.copy()
    if not X.nnz:
        return X
    row = int(np.searchsorted(X.indptr, int(rng.integers(X.nnz)), side="right")) - 1
    a, b = X.indptr[row], X.indptr[row + 1]
    order = rng.permutation(b - a)
    X.indices[a:b], X.data[a:b] = X.indices[a:b][order], X.data[a:b][order]
    again, value = X.indices[a], X.data[a]
    first = value - 1 if value > 1 else value
    data = np.insert(X.data, [a, a], [value - first, 0]).astype(X.dtype)
    data[a + 2] = first
    indices = np.insert(X.indices, [a, a], [again, again])
    indptr = X.indptr.copy()
    indptr[row + 1 :] += 2
    return sparse.csr_matrix((data, indices, indptr), shape=X.shape)
