"""The compiled scoring kernel against its plain twin and SciPy."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.kernels import scoring_reference as reference
from manylabel.kernels.score_batches import batch_scores


def kernels() -> list[Any]:
    try:
        compiled: ModuleType = importlib.import_module("manylabel.kernels.scoring")
    except ImportError:
        return [reference]
    return [compiled, reference]


def tables(seed: int, density: float, dtype: type) -> tuple[Csr, Csr]:
    rng = np.random.default_rng(seed)
    X = Csr((rng.random((23, 40)) < density) * rng.normal(size=(23, 40)))
    W = Csr(((rng.random((40, 7)) < 0.4) * rng.normal(size=(40, 7))).astype(dtype))
    return X, W


def arrays(X: Csr, W: Csr) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    left, right = ((table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data) for table in (X, W))
    return left, right


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [0.0, 0.05, 0.6])
def test_twins_add_the_same_bits(density: float, dtype: type) -> None:
    X, W = tables(3, density, dtype)
    documents, weights = arrays(X, W)
    found = []
    for kernel in kernels():
        out = np.ones((23, 7))
        kernel.add_scores(*documents, 2, 20, *weights, out)
        found.append(out)
    np.testing.assert_array_equal(found[0], found[-1])
    np.testing.assert_array_equal(found[0][:2], 1)
    np.testing.assert_allclose(found[0][2:20] - 1, (X @ W.astype(np.float64)).toarray()[2:20], atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_weights_add_the_bits_of_sparse_ones(dtype: type) -> None:
    X, W = tables(4, 0.3, dtype)
    documents, weights = arrays(X, W)
    for kernel in kernels():
        sparsely, densely = np.ones((23, 7)), np.ones((23, 7))
        kernel.add_scores(*documents, 2, 20, *weights, sparsely)
        kernel.add_dense_scores(*documents, 2, 20, W.toarray(), densely)
        np.testing.assert_array_equal(densely, sparsely)
    by_columns = np.asfortranarray(W.toarray())
    np.testing.assert_allclose(batch_scores(X, by_columns), batch_scores(X, W), atol=1e-12)


@pytest.mark.parametrize("kernel", kernels())
def test_dense_weights_out_of_bounds_are_refused(kernel: Any) -> None:
    X, W = tables(0, 0.5, np.float64)
    (starts, terms, values), _ = arrays(X, W)
    for begin, end, out in ((-1, 2, (23, 7)), (0, 24, (23, 7)), (0, 2, (22, 7)), (0, 2, (23, 6))):
        with pytest.raises(IndexError, match="documents"):
            kernel.add_dense_scores(starts, terms, values, begin, end, W.toarray(), np.zeros(out))
    for weights in (W.toarray()[:10], np.zeros((0, 7))):
        with pytest.raises(IndexError, match="term of document 0"):
            kernel.add_dense_scores(starts, terms, values, 0, 2, weights, np.zeros((23, 7)))


@pytest.mark.parametrize("kernel", kernels())
def test_what_is_out_of_bounds_is_refused(kernel: Any) -> None:
    documents, weights = arrays(*tables(0, 0.5, np.float64))
    starts, terms, values = documents
    for begin, end in ((-1, 2), (3, 2), (0, 24)):
        with pytest.raises(IndexError, match="documents"):
            kernel.add_scores(*documents, begin, end, *weights, np.zeros((23, 7)))
    with pytest.raises(IndexError, match="documents"):
        kernel.add_scores(*documents, 0, 2, *weights, np.zeros((22, 7)))
    for shift in (40, -41):
        with pytest.raises(IndexError, match="term of document 0"):
            kernel.add_scores(starts, terms + np.int32(shift), values, 0, 2, *weights, np.zeros((23, 7)))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_threads_and_index_widths_change_no_bit(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manylabel.kernels.score_batches.CELLS_A_BLOCK", 8)
    X, W = tables(5, 0.4, np.float32)
    wide = Csr(X)
    wide.indptr, wide.indices = X.indptr.astype(np.int64), X.indices.astype(np.int64)
    expected = batch_scores(X, W, 1)
    np.testing.assert_array_equal(batch_scores(wide, W, n_jobs), expected)
    np.testing.assert_array_equal(batch_scores(wide, W.toarray(), n_jobs), batch_scores(X, W.toarray(), 1))
    np.testing.assert_allclose(expected, (X @ W.astype(np.float64)).toarray(), atol=1e-12)


def test_a_wrong_number_of_terms_is_named() -> None:
    X, W = tables(5, 0.4, np.float64)
    with pytest.raises(DataError, match=r"with 40 columns; found: an array of shape \(\d+, 39\)"):
        batch_scores(Csr(X[:, :39]), W)


def test_no_documents_no_scores() -> None:
    X, W = tables(5, 0.4, np.float64)
    assert batch_scores(Csr(X[:0]), W).shape == (0, 7)
    assert not batch_scores(X, Csr((40, 7))).any()


def test_labels_out_of_bounds_are_refused() -> None:
    """The label after the last one would be written into the next row."""
    for kernel in kernels():
        out = np.zeros((2, 3))
        weights = (np.array([0, 1]), np.array([3], np.int32), np.ones(1))
        with pytest.raises(IndexError, match="out of bounds"):
            kernel.add_scores(np.array([0, 1, 1]), np.array([0], np.int32), np.ones(1), 0, 1, *weights, out)
        assert not out.any()
