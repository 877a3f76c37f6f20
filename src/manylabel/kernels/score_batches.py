"""Scores of a batch of documents from sparse or dense weights, on several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.exceptions import DataError
from manylabel.kernels import compiled_module
from manylabel.kernels import scoring_reference as reference
from manylabel.kernels.threads import blocks_of, in_threads
from manylabel.wording import counted

_kernel: Any = compiled_module("scoring") or reference

CELLS_A_BLOCK = 1 << 16  # stored values of X a thread works through at a stretch


def batch_scores(
    X: Csr | Floats, W: Csr | npt.NDArray[Any], n_jobs: int | None = None, *, onto: Floats | None = None
) -> Floats:
    """X · W as a dense array, W being terms × labels: dense, or sparse without repeated labels in a row.

    Half the time of SciPy's product of two sparse matrices, which makes a sparse one first, and without its copy of
    dense weights in double precision. Terms are added one after the other in double precision, so that the scores of a
    document depend neither on the batch it came in nor on the processor; a product of two dense arrays by BLAS does
    (docs/decisions/0016). With `onto` the products are added to that array, which is returned.

    >>> batch_scores(Csr(np.array([[1.0, 2.0], [3.0, 0.0]])), Csr(np.array([[0.0, 5.0], [2.0, 3.0]]))).tolist()
    [[4.0, 11.0], [0.0, 15.0]]
    >>> batch_scores(np.array([[1.0, 2.0]]), np.array([[0.0, 5.0], [2.0, 3.0]]), onto=np.ones((1, 2))).tolist()
    [[5.0, 12.0]]
    """
    if X.ndim != 2 or X.shape[1] != W.shape[0]:
        raise DataError(
            f"The documents have to be a matrix of documents × terms with {counted(W.shape[0], 'column')}; found: an "
            f"array of shape {X.shape}."
        )
    documents = _documents(X)
    if _kernel is reference and onto is None:  # SciPy adds in the same order
        product: Any = Csr(documents[::-1], shape=X.shape) @ W.astype(np.float64)
        return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())
    scores = np.zeros((X.shape[0], W.shape[1])) if onto is None else onto
    weights: tuple[npt.NDArray[Any], ...]
    if isinstance(W, np.ndarray):
        add_rows, weights = _kernel.add_dense_scores, (np.ascontiguousarray(_floating(W)),)
    else:
        add_rows, weights = _kernel.add_scores, (_wide(W.indptr), _narrow(W.indices, W.shape[1]), _floating(W.data))

    def add(rows: tuple[int, int]) -> None:
        add_rows(*documents, *rows, *weights, scores)

    in_threads(add, blocks_of(np.diff(documents[0]) + 1, CELLS_A_BLOCK), n_jobs)
    return scores


def _documents(X: Csr | Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], Floats]:
    """The rows of X as the kernels read them: where each begins, its columns and its values."""
    if isinstance(X, np.ndarray):
        n_documents, width = X.shape
        columns = np.tile(np.arange(width, dtype=np.int32), n_documents)
        return np.arange(n_documents + 1, dtype=np.int64) * width, columns, X.astype(np.float64, copy=False).ravel()
    return _wide(X.indptr), _narrow(X.indices, X.shape[1]), X.data.astype(np.float64, copy=False)


def _floating(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values if values.dtype == np.float32 else values.astype(np.float64, copy=False)


def _wide(starts: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return starts.astype(np.int64, copy=False)


def _narrow(columns: npt.NDArray[Any], width: int) -> npt.NDArray[np.int32]:
    if len(columns) and (columns.min() < 0 or columns.max() >= width):
        raise IndexError("A column is out of bounds.")
    return columns.astype(np.int32, copy=False)
