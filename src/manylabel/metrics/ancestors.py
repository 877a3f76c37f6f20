"""A label forest as one array, and label sets closed under ancestors.

`parents` holds the number of the parent of each node, −1 for a root. The first nodes are the labels, in the order of
the columns of Y; groups that are not labels may follow them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Ints
from manylabel.exceptions import DataError
from manylabel.wording import counted


def checked_parents(parents: npt.ArrayLike | None, n_labels: int) -> Ints:
    """The parents of all nodes, checked: whole numbers within bounds and no cycle; None is a forest of roots only.

    >>> checked_parents(None, 2).tolist(), checked_parents([2, 2, -1], 2).tolist()
    ([-1, -1], [2, 2, -1])
    """
    if parents is None:
        return np.full(n_labels, -1, dtype=np.int64)
    found = np.asarray(parents)
    if found.ndim != 1 or len(found) < n_labels or found.dtype.kind not in "iu":
        raise DataError(
            f"parents must hold one whole number for each of the {counted(n_labels, 'label')} (groups that are not "
            "labels may "
            f"follow), not an array of shape {found.shape} and type {found.dtype}."
        )
    if len(found) and (found.min() < -1 or found.max() >= len(found)):
        raise DataError(f"parents must lie between -1 (a root) and {len(found) - 1}, the last node.")
    depths(found)
    return found.astype(np.int64)


def depths(parents: Ints) -> Ints:
    """The number of ancestors of each node; 0 for roots.

    >>> depths(np.array([-1, 0, 1, 0])).tolist()
    [0, 1, 2, 1]
    """
    found = np.zeros(len(parents), dtype=np.int64)
    above = np.asarray(parents, dtype=np.int64)
    for _ in range(len(parents)):
        below_root = above >= 0
        if not below_root.any():
            return found
        found += below_root
        above = np.where(below_root, parents[above], -1)
    if (above >= 0).any():
        raise DataError(f"The label hierarchy has a cycle through node {int(above.max())}.")
    return found


def levels(parents: Ints) -> list[Ints]:
    """The nodes by depth, roots first.

    >>> [nodes.tolist() for nodes in levels(np.array([-1, 0, 1, 0]))]
    [[0], [1, 3], [2]]
    """
    depth = depths(parents)
    return [np.flatnonzero(depth == level) for level in range(int(depth.max(initial=-1)) + 1)]


def ancestor_table(parents: Ints) -> Csr:
    """Nodes × nodes: the number of steps from the row's node up to the column's, plus 1; 0 for other nodes.

    >>> ancestor_table(np.array([-1, 0, 1])).toarray().tolist()
    [[1, 0, 0], [2, 1, 0], [3, 2, 1]]
    """
    n_nodes = len(parents)
    depths(parents)
    rows, columns, steps = [], [], []
    below, above = np.arange(n_nodes), np.arange(n_nodes)
    step = 1
    while len(below):
        rows.append(below)
        columns.append(above)
        steps.append(np.full(len(below), step, dtype=np.int64))
        above = parents[above]
        below, above = below[above >= 0], above[above >= 0]
        step += 1
    if not rows:
        return Csr((0, 0), dtype=np.int64)
    cells = (np.concatenate(rows), np.concatenate(columns))
    return Csr((np.concatenate(steps), cells), shape=(n_nodes, n_nodes))


def closed(Y: Csr, parents: Ints) -> Csr:
    """Documents × nodes: the labels of each document and all their ancestors.

    Y has one column per label; the groups, which follow the labels, have none.

    >>> closed(Csr([[0, 1], [0, 0], [1, 1]]), np.array([2, 0, -1])).toarray().tolist()
    [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    """
    if not (parents >= 0).any() and Y.shape[1] == len(parents):
        return Y
    wide = Csr((np.ones(Y.nnz, dtype=np.int64), Y.indices, Y.indptr), shape=(Y.shape[0], len(parents)))
    found = Csr(wide @ ancestor_table(parents))
    found.sort_indices()
    found.data = np.ones(found.nnz, dtype=np.int8)
    return found
