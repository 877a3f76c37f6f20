"""Growing label trees: the clusters, and the linear classifiers of every node's children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.label_trees import Search, tree_index
from manylabel.kernels.linear_solvers import LinearFit, fit_linear
from manylabel.progress import stage
from manylabel.strategies.label_clusters import arranged, divided, label_vectors, level_sizes


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """What `LabelTree` learns, see its attributes, and how many classifiers did not converge."""

    roots: Ints
    node_starts: Ints
    targets: Ints
    bias: Floats
    node_rows: Ints
    row_terms: npt.NDArray[np.int32]
    cells: Csr
    late: int


@dataclass(frozen=True, slots=True, eq=False)
class _Children:
    """The children of one node: the nodes or labels they are, and their classifiers by term."""

    targets: Ints
    terms: npt.NDArray[np.int32]
    lengths: Ints
    places: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]
    bias: Floats
    late: int

    @classmethod
    def of(cls, targets: Ints, found: LinearFit) -> _Children:
        """The children with what was learned; one that every document of the node has is certain."""
        table = Csr(found.weights)
        lengths = np.diff(table.indptr)
        known = np.flatnonzero(lengths)
        bias = np.where((found.epochs == 0) & (found.intercept > 0), np.inf, found.intercept)
        return cls(
            targets, known.astype(np.int32), lengths[known].astype(np.int64), table.indices.astype(np.int32),
            table.data.astype(np.float32), bias, int(np.count_nonzero(~found.converged)),
        )  # fmt: skip


def grown(X: Csr, Y: Csr, search: Search, sizes: tuple[int, int], trees: int, seed: int, **solver: Any) -> Trees:
    """Trees of the labels that some document has; `sizes` are the arity and the leaf size, `solver` the settings of
    `fit_linear`.
    """
    seen = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    levels = level_sizes(len(seen), *sizes)
    vectors = label_vectors(X, Csr(Y[:, seen])) if levels else None
    roots: list[int] = []
    nodes: list[_Children] = []
    for tree in range(trees if len(seen) else 0):
        order = seen if vectors is None else seen[arranged(vectors, levels, np.random.default_rng([seed, tree]))]
        roots.append(len(nodes))
        nodes.extend(_tree(X, Csr(Y[:, order]), order, levels, len(nodes), search, {**solver, "seed": seed}))
    return assembled(nodes, roots)


def _tree(
    X: Csr, Y: Csr, order: Ints, levels: list[int], first: int, search: Search, solver: dict[str, Any]
) -> list[_Children]:
    """The nodes of one tree, numbered from `first` on, level by level; the columns of Y are in the tree's order."""
    nodes: list[_Children] = []
    bounds, columns = np.array([0, len(order)]), Y.tocsc()
    for depth in range(len(levels) + 1):
        is_last = depth == len(levels)
        n_nodes = len(bounds) - 1
        below = np.arange(len(order) + 1) if is_last else _divided(bounds, levels[depth])
        targets = -1 - order if is_last else first + len(nodes) + n_nodes + np.arange(len(below) - 1)
        places = np.searchsorted(below, bounds)
        reached = None if depth == 0 else _reached(X, nodes, n_nodes, first, search)
        level: list[_Children] = []
        with stage(f"Training level {depth + 1} of {len(levels) + 1} of the label tree", n_nodes) as advance:
            for at in range(n_nodes):
                begin, end = places[at], places[at + 1]
                others = None if reached is None else reached.indices[reached.indptr[at] : reached.indptr[at + 1]]
                level.append(_learned(X, columns, below[begin : end + 1], targets[begin:end], others, solver))
                advance(1)
        nodes, bounds = nodes + level, below
    return nodes


def _divided(bounds: Ints, parts: int) -> Ints:
    """The bounds of the next level: every range in `parts` ranges, or in ranges of one where it is shorter."""
    ranges = zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    return np.concatenate([[0], *(begin + divided(end - begin, min(parts, end - begin))[1:] for begin, end in ranges)])


def _reached(X: Csr, nodes: Sequence[_Children], n_next: int, first: int, search: Search) -> Any:
    """Documents × nodes of the next level, 1 where the beam search reaches the node; as columns."""
    deepest = first + len(nodes)
    above = [_leading_to(node, first, deepest) for node in nodes]
    trees = assembled(above, [0])
    index = tree_index(
        trees.node_starts, trees.targets, trees.bias, trees.node_rows, trees.row_terms, trees.cells, trees.roots,
        X.shape[1], n_next,
    )  # fmt: skip
    found, _, counts = index.found(X, search.beam, search)
    is_found = np.arange(found.shape[1]) < counts[:, np.newaxis]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return Csr((np.ones(int(starts[-1])), found[is_found], starts), shape=(X.shape[0], n_next)).tocsc()


def _leading_to(node: _Children, first: int, deepest: int) -> _Children:
    """The node with numbers from 0 on, the nodes from `deepest` on in the place of labels."""
    targets = np.where(node.targets >= deepest, -1 - (node.targets - deepest), node.targets - first)
    return replace(node, targets=targets)


def _learned(
    X: Csr, columns: Any, starts: Ints, targets: Ints, others: Ints | None, solver: dict[str, Any]
) -> _Children:
    """The classifiers of a node's children: label ranges between `starts` (of the columns of Y).

    They learn from the documents that have a label of the node, and from `others`: all documents for the root (None),
    those that the beam search takes to the node elsewhere. So they see what they will be asked about.
    """
    cells = slice(int(columns.indptr[starts[0]]), int(columns.indptr[starts[-1]]))
    having = columns.indices[cells]
    child = np.repeat(np.arange(len(targets)), np.diff(columns.indptr[starts]))
    documents = np.arange(X.shape[0]) if others is None else np.union1d(having, others)
    rows = np.searchsorted(documents, having)
    table = Csr((np.ones(len(rows)), (rows, child)), shape=(len(documents), len(targets)))
    table.data[:] = 1.0  # a document may have several labels of a child
    features = X if others is None else Csr(X[documents])
    return _Children.of(targets, fit_linear(features, table, loss="squared_hinge", keep_dual=False, **solver))


def assembled(nodes: Sequence[_Children], roots: Sequence[int]) -> Trees:
    """The arrays of all nodes, in their order."""
    sizes = [len(node.targets) for node in nodes]
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(node.lengths for node in nodes)])
    places = np.concatenate([np.zeros(0, dtype=np.int32), *(node.places for node in nodes)])
    weights = np.concatenate([np.zeros(0, dtype=np.float32), *(node.weights for node in nodes)])
    return Trees(
        np.array(roots, dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.zeros(0, dtype=np.int64), *(node.targets for node in nodes)]),
        np.concatenate([np.zeros(0), *(node.bias for node in nodes)]),
        np.concatenate([[0], np.cumsum([len(node.terms) for node in nodes])]).astype(np.int64),
        np.concatenate([np.zeros(0, dtype=np.int32), *(node.terms for node in nodes)]),
        Csr((weights, places, np.cumsum(lengths)), shape=(len(lengths) - 1, max(sizes, default=0))),
        sum(node.late for node in nodes),
    )
