"""Decision trees as arrays: the children of each node, and the share of each label at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.models.base import WORKING_MEMORY
from manylabel.models.inputs import single_precision
from manylabel.models.linear_scores import scaled_rows

Int32s = npt.NDArray[np.int32]
Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GrownTree:
    """One tree; its nodes count from 0, the root. A leaf has children −1."""

    left: Int32s
    right: Int32s
    feature: Int32s
    threshold: Floats
    positives: Csr
    """Nodes × labels: the (weighted) number of training documents with the label that reach the node."""
    documents: Floats
    """The (weighted) number of training documents that reach the node."""

    @classmethod
    def of(cls, grown: Any, labels: Ints, n_labels: int) -> GrownTree:
        """The arrays of a fitted scikit-learn tree that was grown for some of `n_labels` labels, each 0 or 1."""
        tree = grown.tree_
        documents = tree.weighted_n_node_samples.astype(np.float64)
        share = Csr(tree.value[:, :, 1])  # since scikit-learn 1.3, shares of the classes, not counts
        counts = (share.data * documents[rows_of_cells(share)], labels[share.indices], share.indptr)
        left = np.where(tree.children_left < 0, -1, tree.children_left).astype(np.int32)
        right = np.where(tree.children_left < 0, -1, tree.children_right).astype(np.int32)
        feature = np.where(tree.children_left < 0, 0, tree.feature).astype(np.int32)
        return cls(left, right, feature, tree.threshold.copy(), Csr(counts, (len(documents), n_labels)), documents)


@dataclass(frozen=True, slots=True)
class TreeArrays:
    """Several trees with their nodes in common arrays.

    A document goes left at a node when its value of ``terms[feature]`` is at most `threshold`, compared in single
    precision as scikit-learn does. Tree by tree, the label's share at node i is

        values_il + rest_i · prior_l

    which is the m-estimate (n_il + m prior_l) / (n_i + m): sparse, and of rank one.
    """

    roots: Nodes
    left: Int32s
    right: Int32s
    feature: Int32s
    threshold: Floats
    terms: Nodes
    """The columns of X that any node compares, in ascending order."""
    values: Csr
    rest: Floats

    @classmethod
    def of(cls, trees: Sequence[GrownTree], columns: Ints, m: float) -> TreeArrays:
        """Join trees into common arrays; feature f of a tree is column ``columns[f]`` of X."""
        sizes = [len(tree.left) for tree in trees]
        roots = np.cumsum([0, *sizes])[:-1].astype(np.int64)
        left = np.concatenate([np.where(tree.left < 0, -1, tree.left + root) for tree, root in zip(trees, roots)])
        right = np.concatenate([np.where(tree.right < 0, -1, tree.right + root) for tree, root in zip(trees, roots)])
        asked = np.concatenate([columns[tree.feature] for tree in trees])
        inner = left >= 0
        terms = np.unique(asked[inner])
        feature = np.where(inner, np.searchsorted(terms, asked), 0)
        n = np.concatenate([tree.documents for tree in trees])
        positives = Csr(sparse.vstack([tree.positives for tree in trees], format="csr"))
        values = scaled_rows(positives, 1.0 / (n + m))
        threshold = np.concatenate([tree.threshold for tree in trees])
        kinds = (left.astype(np.int32), right.astype(np.int32), feature.astype(np.int32))
        return cls(roots, *kinds, threshold, terms.astype(np.int64), values, m / (n + m))

    def batches(self, X: Csr, working_memory: int = WORKING_MEMORY) -> Iterator[slice]:
        """Slices of rows such that their dense values and their nodes in all trees stay within the memory budget."""
        size = max(1, working_memory // (4 * len(self.terms) + 40 * len(self.roots) + 1))
        for start in range(0, X.shape[0], size):
            yield slice(start, min(start + size, X.shape[0]))

    def leaves(self, X: Csr) -> Nodes:
        """The leaf that each document reaches in each tree, documents × trees."""
        *_, (_, last) = self.steps(X)
        return last

    def steps(self, X: Csr) -> Iterator[tuple[Nodes, Nodes]]:
        """Level by level, the current and the next node of each document, documents × trees; leaves stay."""
        known = single_precision(X[:, self.terms]).toarray() if len(self.terms) else np.zeros((X.shape[0], 1))
        rows = np.arange(X.shape[0])[:, np.newaxis]
        places = np.repeat(self.roots[np.newaxis], X.shape[0], axis=0)
        while True:
            goes_left = known[rows, self.feature[places]] <= self.threshold[places]
            following = np.where(goes_left, self.left[places], self.right[places]).astype(np.int64)
            following = np.where(self.left[places] < 0, places, following)
            yield places, following
            if (self.left[following] < 0).all():
                return
            places = following

    def shares(self, X: Csr, prior: Floats) -> Floats:
        """Each label's share summed over the trees, documents × labels."""
        found = np.empty((X.shape[0], self.values.shape[1]))
        for rows in self.batches(X):
            found[rows] = self.at(self.leaves(X[rows]), prior)
        return found

    def at(self, nodes: Nodes, prior: Floats) -> Floats:
        """The labels' shares at one node of each tree, summed; nodes are documents × trees."""
        n, n_trees = nodes.shape
        chosen = Csr((np.ones(nodes.size), nodes.ravel(), np.arange(n + 1) * n_trees), (n, self.values.shape[0]))
        summed = np.asarray((chosen @ self.values).toarray(), dtype=np.float64)
        summed += np.multiply.outer(self.rest[nodes].sum(axis=1), prior)
        return summed

    def as_learned(self) -> dict[str, Any]:
        """The arrays under the names a model keeps them by."""
        return {f"{item.name}_": getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_learned(cls, state: Any) -> TreeArrays:
        """The arrays a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(**{item.name: getattr(state, f"{item.name}_") for item in fields(cls)})
