"""Label sets as lists of names and as a 0/1 CSR matrix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr

LabelSets = Sequence[Sequence[str]]


def label_names(label_sets: Iterable[Iterable[str]]) -> list[str]:
    """The names in use, sorted.

    >>> label_names([["b", "a"], [], ["a"]])
    ['a', 'b']
    """
    return sorted({name for names in label_sets for name in names})


def label_matrix(label_sets: LabelSets, names: Sequence[str]) -> Csr:
    """Y: documents × labels, 1 where the document has the label. Other names than `names` are left out.

    >>> label_matrix([["b"], [], ["a", "b", "other"]], ["a", "b"]).toarray().tolist()
    [[0, 1], [0, 0], [1, 1]]
    """
    column = {name: index for index, name in enumerate(names)}
    sizes = np.fromiter(map(len, label_sets), dtype=np.int64, count=len(label_sets))
    columns = np.fromiter((column.get(name, -1) for name in chain.from_iterable(label_sets)), dtype=np.int64)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    cells = np.unique((rows * max(len(names), 1) + columns)[columns >= 0])  # sorted, a label named twice counted once
    indptr = np.searchsorted(cells, np.arange(len(sizes) + 1) * max(len(names), 1))
    data = np.ones(len(cells), dtype=np.int8)
    return Csr((data, cells % max(len(names), 1), indptr), shape=(len(sizes), len(names)))


def label_sets(Y: Csr, names: Sequence[str]) -> list[list[str]]:
    """The names of each row's non-zero columns, in label order.

    >>> label_sets(label_matrix([["b"], [], ["a", "b"]], ["a", "b"]), ["a", "b"])
    [['b'], [], ['a', 'b']]
    """
    starts = Y.indptr.tolist()
    columns = Y.indices.tolist()
    return [[names[column] for column in sorted(columns[a:b])] for a, b in pairwise(starts)]


def stack(batches: Sequence[Csr], n_labels: int) -> Csr:
    """One matrix of several batches of rows, widened with empty columns to `n_labels`.

    >>> stack([label_matrix([["a"]], ["a"]), label_matrix([[]], ["a"])], n_labels=2).toarray().tolist()
    [[1, 0], [0, 0]]
    """
    if not batches:
        return Csr(np.zeros((0, n_labels), dtype=np.int8))
    below: Any = sparse.vstack(batches, format="csr")
    return Csr((below.data, below.indices, below.indptr), shape=(below.shape[0], n_labels))
