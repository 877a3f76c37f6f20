"""Words and labels in one vector: the heterogeneous features of SVM-HF.

A document's label block is γ in {−1, +1}^L, and nearly all of it is −1: written out, 600 labels would put 600 numbers
beside the 60 words of a document. A linear machine only ever sees inner products, so the block may be turned in its
space by any rotation. In the unbalanced Haar basis γ = −1 + 2p has one coordinate for the constant part and about
log₂ L for each label a document has; all inner products, norms and solutions stay what they were.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats

Scaling = Literal["kernel", "literal", "literal_unit"]
ZeroText = Literal["keep", "unit"]


@lru_cache(maxsize=8)
def haar_basis(n_labels: int) -> Csr:
    """An orthogonal labels × coordinates matrix R with about log₂ L numbers a row: row l is the unit vector of label l.

    Coordinate 0 is the constant 1/√L. Every other one sets the a labels of one half of a stretch against the b of the
    other half: √(b / a(a + b)) for those, −√(a / b(a + b)) for these; stretches are halved until one label is left.

    >>> haar_basis(3).toarray().round(4).tolist()
    [[0.5774, 0.8165, 0.0], [0.5774, -0.4082, 0.7071], [0.5774, -0.4082, -0.7071]]
    """
    rows, columns, values = [np.arange(n_labels)], [np.zeros(n_labels, np.int64)], [np.full(n_labels, n_labels**-0.5)]
    stretches, coordinate = [(0, n_labels)], 0
    while stretches:
        begin, end = stretches.pop()
        if end - begin < 2:
            continue
        coordinate += 1
        middle = (begin + end) // 2
        a, b = middle - begin, end - middle
        rows.append(np.arange(begin, end))
        columns.append(np.full(a + b, coordinate))
        values.append(np.repeat([(b / (a * (a + b))) ** 0.5, -((a / (b * (a + b))) ** 0.5)], [a, b]))
        stretches += [(middle, end), (begin, middle)]
    cells = (np.concatenate(rows), np.concatenate(columns))
    return Csr(sparse.coo_array((np.concatenate(values), cells), shape=(n_labels, n_labels)).tocsr())


def block_scales(
    squares: Floats, n_labels: int, f: float, scaling: Scaling, zero_text: ZeroText
) -> tuple[Floats, Floats]:
    """What the words and the labels of each document are multiplied by, from its squared length ‖d‖².

    kernel         √f d                √((1 − f)/L) γ                K = f K_T + (1 − f) K_L
    literal        f d / n             (1 − f) γ / n                 n makes the whole vector of length 1
    literal_unit   f d / n             (1 − f) γ / (n √L)            the same

    A document without known words has length √(1 − f) under ``kernel``, or 1 with ``zero_text="unit"``.

    >>> [scale.round(6).tolist() for scale in block_scales(np.array([1.0, 0.0]), 3, 0.7, "kernel", "unit")]
    [[0.83666, 0.83666], [0.316228, 0.57735]]
    """
    if scaling == "kernel":
        words, labels = np.full(len(squares), f**0.5), np.full(len(squares), ((1 - f) / n_labels) ** 0.5)
        if zero_text == "unit" and f < 1:
            labels[squares == 0] = n_labels**-0.5
        return words, labels
    label = (1 - f) if scaling == "literal" else (1 - f) / n_labels**0.5
    length = np.sqrt(f**2 * squares + label**2 * n_labels)
    length[length == 0] = 1.0
    return f / length, label / length


def heterogeneous(X: Csr, P: Csr, f: float, scaling: Scaling = "kernel", zero_text: ZeroText = "keep") -> Csr:
    """The vectors z of words and labels, documents × (terms + labels), label coordinates in the Haar basis.

    `P` holds 1 where γ is +1. Source: Godbole & Sarawagi 2004, section 3.1; the scaling is discussed in `SVMHF`.

    >>> X, P = Csr(np.array([[0.6, 0.8], [1.0, 0.0]])), Csr(np.array([[1, 0, 0], [0, 1, 0]]))
    >>> Z = heterogeneous(X, P, 0.7)
    >>> round(float((Z[[0]] @ Z[[1]].T).toarray()[0, 0]), 6)
    0.32
    """
    n_labels = P.shape[1]
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).reshape(-1)
    words, labels = block_scales(squares, n_labels, f, scaling, zero_text)
    text = Csr((X.data * np.repeat(words, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)
    turned = Csr(P.astype(np.float64) @ haar_basis(n_labels))
    turned.data *= np.repeat(2 * labels, np.diff(turned.indptr))
    n = X.shape[0]
    constant = Csr((-labels * n_labels**0.5, np.zeros(n, np.int32), np.arange(n + 1)), shape=(n, n_labels))
    joined = Csr(sparse.hstack([text, turned + constant], format="csr"))
    joined.eliminate_zeros()
    return joined
