"""The form of sparse matrices that kernels read: CSR, columns sorted within a row, no cell stored twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr
from manylabel.exceptions import DataError


def canonical(X: Any, dtype: npt.DTypeLike | None = None, *, keep_zeros: bool = True) -> Csr:
    """X as a `csr_array` with sorted columns and no repeated cells; X itself is not changed.

    Explicit zeros stay unless `keep_zeros` is False. Columns out of bounds, which SciPy accepts, are an error,
    because not every kernel checks them.

    >>> from scipy import sparse
    >>> X = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    >>> canonical(X).indices.tolist(), canonical(X).data.tolist(), X.nnz
    ([0, 1], [2.0, 5.0], 3)
    """
    table = X if isinstance(X, Csr) else Csr(X)
    if len(table.indices) and (table.indices.min() < 0 or table.indices.max() >= table.shape[1]):
        raise DataError(
            f"A sparse matrix of {table.shape[1]} columns names columns {table.indices.min()} to "
            f"{table.indices.max()}. Columns count from 0 to {table.shape[1] - 1}."
        )
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    if not keep_zeros and not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    if dtype is not None and table.dtype != np.dtype(dtype):
        table = Csr((table.data.astype(dtype), table.indices, table.indptr), shape=table.shape)
    return table
