"""The plain twin of `scoring`: what it computes, in Python and NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def add_scores(
    starts: Int64s,
    terms: Int32s,
    values: Floats,
    begin: int,
    end: int,
    W_starts: Int64s,
    W_labels: Int32s,
    W_values: npt.NDArray[Any],
    out: Floats,
) -> None:
    """Add Σ_t x_t W_t for the documents begin to end (rows of a CSR matrix) to their rows of `out`.

    W is terms × labels, the three arrays of a CSR matrix whose labels do not repeat in a row and are within `out`.
    Terms are added one after the other in double precision, as `score_one` does for one document.

    >>> out = np.zeros((2, 2))
    >>> W = (np.array([0, 1, 3]), np.array([1, 0, 1]), np.array([5.0, 2.0, 3.0]))
    >>> add_scores(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0]), 0, 2, *W, out)
    >>> out.tolist()
    [[4.0, 11.0], [0.0, 15.0]]
    """
    if not 0 <= begin <= end < len(starts) or len(out) != len(starts) - 1:
        raise IndexError("The documents are out of bounds.")
    for row, term, value in _entries(starts, terms, values, begin, end, len(W_starts) - 1):
        cells = slice(int(W_starts[term]), int(W_starts[term + 1]))
        out[row, W_labels[cells]] += value * W_values[cells].astype(np.float64)


def add_dense_scores(
    starts: Int64s, terms: Int32s, values: Floats, begin: int, end: int, W: npt.NDArray[Any], out: Floats
) -> None:
    """The same for dense weights, terms × labels.

    >>> out, W = np.zeros((1, 2)), np.array([[0, 5], [2, 3]])
    >>> add_dense_scores(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 2.0]), 0, 1, W, out)
    >>> out.tolist()
    [[4.0, 11.0]]
    """
    if not 0 <= begin <= end < len(starts) or out.shape != (len(starts) - 1, W.shape[1]):
        raise IndexError("The documents are out of bounds.")
    for row, term, value in _entries(starts, terms, values, begin, end, len(W)):
        out[row] += value * W[term].astype(np.float64)


def _entries(
    starts: Int64s, terms: Int32s, values: Floats, begin: int, end: int, n_terms: int
) -> Iterator[tuple[int, int, float]]:
    for row in range(begin, end):
        inside = slice(int(starts[row]), int(starts[row + 1]))
        for term, value in zip(terms[inside].tolist(), values[inside].tolist(), strict=True):
            if not 0 <= term < n_terms:
                raise IndexError(f"A term of document {row} is out of bounds.")
            yield row, term, value
