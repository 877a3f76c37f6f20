"""Small corpora for the tests of laws, and the forms a matrix may come in."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

COUNTS = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7])


@st.composite
def corpora(
    draw: st.DrawFn, min_documents: int = 1, some_label: bool = False, most: tuple[int, int, int] = (9, 6, 4)
) -> tuple[np.ndarray, np.ndarray]:
    """Counts X and labels Y, with empty documents, unlabelled ones, constant labels and unused words among them.

    With `some_label` one document has a label at least; `most` bounds documents, words and labels.
    """
    n, terms, labels = (draw(st.integers(low, high)) for low, high in zip((min_documents, 1, 1), most, strict=True))
    X = draw(hnp.arrays(np.int64, (n, terms), elements=COUNTS))
    Y = draw(hnp.arrays(np.int8, (n, labels), elements=st.integers(0, 1)))
    if some_label and not Y.any():
        Y[draw(st.integers(0, n - 1)), draw(st.integers(0, labels - 1))] = 1
    return X, Y


def every_form(X: np.ndarray) -> Iterator[Any]:
    """The same matrix as CSR, CSC, CSR with unsorted columns, with duplicates and stored zeros, and as COO."""
    csr = sparse.csr_array(X)
    backwards = csr.copy()
    for start, stop in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        backwards.indices[start:stop] = csr.indices[start:stop][::-1]
        backwards.data[start:stop] = csr.data[start:stop][::-1]
    backwards.has_sorted_indices = False
    row, column = np.nonzero(np.ones_like(X))
    halves = np.stack([X[row, column] / 2, X[row, column] / 2, np.zeros(len(row))], axis=1).ravel()
    indptr = 3 * X.shape[1] * np.arange(len(X) + 1)
    messy = sparse.csr_array((halves, np.repeat(column, 3), indptr), shape=X.shape)
    assert messy.nnz == 3 * X.size
    yield from (csr, sparse.csc_array(X), backwards, messy, sparse.csr_matrix(X), sparse.coo_array(messy))
