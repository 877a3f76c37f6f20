"""Columns without a vocabulary."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manylabel.kernels import text as kernels


def hashed_columns(terms: list[str], n_hashes: int) -> npt.NDArray[np.int32]:
    """The column of each term: abs(h) mod n, h its signed MurmurHash3, as in scikit-learn's `FeatureHasher`.

    >>> hashed_columns(["bus", "road"], 16).tolist()
    [11, 14]
    """
    hashes = np.abs(kernels.hash_terms(terms).astype(np.int64))
    return np.asarray(hashes % n_hashes, dtype=np.int32)
