"""The form of sparse matrices that kernels read: CSR, columns sorted within a row, no cell stored twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, as_csr


def canonical(X: Any, dtype: npt.DTypeLike | None = None, *, keep_zeros: bool = True) -> Csr:
    """X as a `csr_array` with sorted columns and no repeated cells; X itself is not changed.

    Explicit zeros stay unless `keep_zeros` is False. Arrays that do not fit together are an error: see `check_sparse`.

    >>> from scipy import sparse
    >>> X = sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    >>> canonical(X).indices.tolist(), canonical(X).data.tolist(), X.nnz
    ([0, 1], [2.0, 5.0], 3)
    """
    table = as_csr(X)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    if not keep_zeros and not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    if dtype is not None and table.dtype != np.dtype(dtype):
        table = Csr((table.data.astype(dtype), table.indices, table.indptr), shape=table.shape)
    return table
