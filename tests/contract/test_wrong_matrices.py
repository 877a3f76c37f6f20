"""Matrices handed to every method: malformed ones are refused, unusual ones are answered correctly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from manylabel import TextClassifier
from manylabel.catalog import METHODS
from manylabel.exceptions import DataError
from manylabel.recipe import Recipe

RNG = np.random.default_rng(0)
DENSE = RNG.poisson(0.7, (24, 10)).astype(np.float64)
Y = (RNG.random((24, 3)) < 0.4).astype(np.int8)
CSR = sparse.csr_array(DENSE)

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("patient")]


def built(kind: Any, data: Any, indices: Any, indptr: Any, shape: tuple[int, int] = (24, 10)) -> Any:
    """A sparse matrix of given arrays, which are not checked."""
    matrix = kind(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def with_one(array: Any, value: int, place: int = 3) -> Any:
    """A copy of an array with one other value."""
    changed = array.copy()
    changed[place] = value
    return changed


def wrong_sparse(table: Any) -> Iterator[tuple[str, Any]]:
    """Sparse matrices of the shape of `table` whose arrays do not fit together, or name cells outside of it."""
    csr, csc, coo, bsr = (sparse.csr_array(table), sparse.csc_array(table), sparse.coo_array(table),
                          sparse.bsr_array(table, blocksize=(2, 1)))  # fmt: skip
    shape = table.shape
    for value in (-1, shape[1], 10**6):
        yield f"CSR, column {value}", built(type(csr), csr.data, with_one(csr.indices, value), csr.indptr, shape)
        yield f"BSR, column {value}", built(type(bsr), bsr.data, with_one(bsr.indices, value), bsr.indptr, shape)
    for value in (-1, shape[0], 10**6):
        yield f"CSC, row {value}", built(type(csc), csc.data, with_one(csc.indices, value), csc.indptr, shape)
        moved = coo.copy()
        moved.coords = (with_one(coo.coords[0], value), coo.coords[1])
        yield f"COO, row {value}", moved
    yield "falling", built(type(csr), csr.data, csr.indices, with_one(csr.indptr, csr.nnz), shape)
    yield "beyond the end", built(type(csr), csr.data, csr.indices, with_one(csr.indptr, csr.nnz + 50, -1), shape)
    yield "before the start", built(type(csr), csr.data, csr.indices, with_one(csr.indptr, -4, 0), shape)
    yield "too few rows", built(type(csr), csr.data, csr.indices, csr.indptr[:-3], shape)
    yield "too few values", built(type(csr), csr.data[:-5], csr.indices, csr.indptr, shape)
    yield "unsigned columns", built(type(csr), csr.data, csr.indices.astype(np.uint32), csr.indptr, shape)
    yield "fractions as columns", built(type(csr), csr.data, csr.indices.astype(np.float64), csr.indptr, shape)
    yield "unsigned starts", built(type(csr), csr.data, csr.indices, csr.indptr.astype(np.uint16), shape)
    yield "complex", sparse.csr_array(table.astype(np.complex128))


def wrong_values() -> Iterator[tuple[str, Any]]:
    """Matrices of documents with values that are no finite numbers."""
    for value in (np.nan, np.inf):
        yield f"sparse {value}", built(sparse.csr_array, with_one(CSR.data, value), CSR.indices, CSR.indptr)
        yield f"dense {value}", np.where(np.arange(10) == 3, value, DENSE)
    yield "words", np.full((24, 10), "bus", dtype=object)
    yield "three dimensions", np.zeros((2, 3, 4))


def unusual() -> Iterator[tuple[str, Any]]:
    """The matrix `DENSE` in forms that must be read correctly."""
    frozen = CSR.copy()
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    yield "read-only", frozen
    wide = CSR.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield "64-bit", wide
    yield "single precision", sparse.csr_array(DENSE.astype(np.float32))
    yield "whole numbers", sparse.csc_array(DENSE.astype(np.uint8))
    halves = sparse.coo_array(CSR)
    doubled = sparse.coo_array(
        (np.tile(halves.data / 2, 2), tuple(np.tile(side, 2) for side in halves.coords)), shape=CSR.shape
    )
    yield "duplicates", doubled
    backwards = built(sparse.csr_array, CSR.data.copy(), CSR.indices.copy(), CSR.indptr)
    for start, end in zip(CSR.indptr[:-1], CSR.indptr[1:], strict=True):
        backwards.indices[start:end] = CSR.indices[start:end][::-1]
        backwards.data[start:end] = CSR.data[start:end][::-1]
    backwards.has_sorted_indices = backwards.has_canonical_format = True
    yield "said to be sorted", backwards
    spare = np.zeros(5)
    yield "room for more", built(sparse.csr_array, np.r_[CSR.data, spare], np.r_[CSR.indices, spare.astype(np.int32)],
                                 CSR.indptr)  # fmt: skip
    yield "DOK", sparse.dok_array(DENSE)
    yield "LIL", sparse.lil_array(DENSE)
    yield "Fortran order", np.asfortranarray(DENSE)


@pytest.mark.parametrize("method", METHODS)
def test_matrices_are_refused_or_answered_correctly(method: str) -> None:
    model: Any = Recipe.of(method).build_model()
    for what, X in [*wrong_sparse(DENSE), *wrong_values()]:
        kind = DataError if sparse.issparse(X) else ValueError  # dense arrays are checked by scikit-learn
        with pytest.raises(kind, match=r"\w"):
            model.fit(X, Y)
        assert not model.is_fitted, what
    for what, labels in wrong_sparse(Y):
        with pytest.raises(DataError):
            model.fit(CSR, labels)
        assert not model.is_fitted, what
    expected = model.fit(CSR, Y).scores(CSR)
    for _, X in [*wrong_sparse(DENSE), *wrong_values(), ("width", CSR[:, :7]), ("wide", sparse.csr_array((2, 11)))]:
        with pytest.raises(DataError if sparse.issparse(X) else ValueError):
            model.predict(X)
    for what, X in unusual():
        np.testing.assert_allclose(model.scores(X), expected, rtol=1e-12, atol=1e-12, err_msg=what)


def test_a_classifier_refuses_malformed_matrices() -> None:
    classifier = TextClassifier("nb")
    for _, X in [*wrong_sparse(DENSE), *wrong_values()]:
        with pytest.raises(DataError):
            classifier.fit(X, Y)
    for _, labels in wrong_sparse(Y):
        with pytest.raises(DataError):
            classifier.fit(CSR, labels)
    expected = classifier.fit(CSR, Y).predict_scores(CSR)
    for _, X in [*wrong_sparse(DENSE), *wrong_values()]:
        with pytest.raises(DataError):
            classifier.predict(X)
    for what, X in unusual():
        np.testing.assert_allclose(classifier.predict_scores(X), expected, rtol=1e-12, atol=1e-12, err_msg=what)
