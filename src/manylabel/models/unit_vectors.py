"""Documents as vectors of length 1, whose inner product is the cosine."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr, Floats


def lengths(X: Csr) -> Floats:
    """The Euclidean length of each document, ‖x‖.

    >>> lengths(Csr(np.array([[3.0, 4.0], [0.0, 0.0]]))).tolist()
    [5.0, 0.0]
    """
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.sqrt(np.bincount(rows, weights=X.data * X.data, minlength=X.shape[0]))


def unit_vectors(X: Csr) -> Csr:
    """Each document divided by its length; one without terms stays zero.

    >>> unit_vectors(Csr(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray().tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    found = lengths(X)
    scale = np.repeat(np.where(found > 0, found, 1.0), np.diff(X.indptr))
    return Csr((X.data / scale, X.indices, X.indptr), shape=X.shape)
