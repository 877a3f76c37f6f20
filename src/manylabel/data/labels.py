"""Label sets outside (lists of names) and inside (a 0/1 CSR matrix), and the way between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
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
    """Y: documents × labels, 1 where the document has the label. Names not in `names` are left out.

    >>> label_matrix([["b"], [], ["a", "b", "other"]], ["a", "b"]).toarray().tolist()
    [[0, 1], [0, 0], [1, 1]]
    """
    column = {name: index for index, name in enumerate(names)}
    indptr = np.zeros(len(label_sets) + 1, dtype=np.int64)
    indices: list[int] = []
    for row, document in enumerate(label_sets):
        indices.extend(sorted({column[name] for name in document if name in column}))
        indptr[row + 1] = len(indices)
    data = np.ones(len(indices), dtype=np.int8)
    return Csr((data, np.array(indices, dtype=np.int64), indptr), shape=(len(label_sets), len(names)))


def label_sets(Y: Csr, names: Sequence[str]) -> list[list[str]]:
    """The names of each row's non-zero columns, in label order.

    >>> label_sets(label_matrix([["b"], [], ["a", "b"]], ["a", "b"]), ["a", "b"])
    [['b'], [], ['a', 'b']]
    """
    starts = Y.indptr.tolist()
    columns = Y.indices.tolist()
    return [[names[column] for column in sorted(columns[a:b])] for a, b in pairwise(starts)]


def stack(batches: Sequence[Csr], n_labels: int) -> Csr:
    """Batches of label sets below each other, widened with empty columns to `n_labels`.

    >>> stack([label_matrix([["a"]], ["a"]), label_matrix([[]], ["a"])], n_labels=2).toarray().tolist()
    [[1, 0], [0, 0]]
    """
    if not batches:
        return Csr(np.zeros((0, n_labels), dtype=np.int8))
    below: Any = sparse.vstack(batches, format="csr")
    return Csr((below.data, below.indices, below.indptr), shape=(below.shape[0], n_labels))
