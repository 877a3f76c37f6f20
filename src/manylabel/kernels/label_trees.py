"""Trees of linear classifiers, indexed so that a document finds its best labels by beam search, on several threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels import compiled_module
from manylabel.kernels import label_tree_reference as reference
from manylabel.kernels.threads import blocks_of, in_threads

_kernel: Any = compiled_module("label_tree") or reference

Combine = Literal["sigmoid", "squared-hinge", "cubed-hinge"]
COMBINE: dict[str, int] = {
    "sigmoid": reference.SIGMOID,
    "squared-hinge": reference.SQUARED,
    "cubed-hinge": reference.CUBED,
}
SLOPE = 3.0
"""A of 1/(1 + exp(−A · margin)), as in LibMultiLabel 0.10."""
TERMS_A_BLOCK = 1 << 16  # terms of the documents that a thread works through at a stretch


@dataclass(frozen=True, slots=True)
class Search:
    """How trees are searched: the nodes followed on each level, and how margins become scores."""

    beam: int
    combine: Combine
    path: float
    n_jobs: int | None


@dataclass(frozen=True, slots=True, eq=False)
class TreeIndex:
    """Trees in the form of the kernel, see `label_tree_reference.beam_search`."""

    node_starts: Ints
    targets: Ints
    bias: Floats
    words: npt.NDArray[np.uint64]
    ranks: Ints
    n_terms: int
    row_starts: Ints
    cell_children: npt.NDArray[np.int32]
    cell_weights: npt.NDArray[np.float32]
    roots: Ints
    n_labels: int

    def found(self, X: Csr, most: int, search: Search) -> tuple[npt.NDArray[np.int32], Floats, Ints]:
        """The best labels of each document and their log P, documents × `most`, and how many each has."""
        n = X.shape[0]
        starts, terms = X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False)
        values = X.data.astype(np.float64, copy=False)
        most = max(1, min(most, self.n_labels))
        labels, scores = np.empty((n, most), dtype=np.int32), np.empty((n, most))
        counts = np.zeros(n, dtype=np.int64)
        trees = (self.node_starts, self.targets, self.bias, self.words, self.ranks, self.n_terms, self.row_starts)
        weights = (self.cell_children, self.cell_weights, self.roots, self.n_labels)

        how = (search.beam, COMBINE[search.combine], SLOPE, search.path)

        def find(rows: tuple[int, int]) -> None:
            _kernel.beam_search(starts, terms, values, *rows, *trees, *weights, *how, labels, scores, counts)

        in_threads(find, blocks_of(np.diff(starts) + 1, TERMS_A_BLOCK), search.n_jobs)
        return labels, scores, counts


def tree_index(
    node_starts: Ints,
    targets: Ints,
    bias: Floats,
    node_rows: Ints,
    row_terms: npt.NDArray[np.int32],
    cells: Csr,
    roots: Ints,
    n_terms: int,
    n_labels: int,
) -> TreeIndex:
    """Index trees by node and term: the rows of node i are `node_rows[i]` to `node_rows[i + 1]`, their terms ascend.

    The index takes 2 bits for every node and term that could meet, 16 bytes for 64 of them.
    """
    n_nodes, width = len(node_starts) - 1, (n_terms + 63) >> 6
    nodes = np.repeat(np.arange(n_nodes, dtype=np.int64), np.diff(node_rows))
    places = nodes * width + (row_terms >> 6)
    bits = np.uint64(1) << (row_terms & 63).astype(np.uint64)
    words = np.zeros(n_nodes * width, dtype=np.uint64)
    if len(places):
        first = np.flatnonzero(np.diff(places, prepend=-1))
        words[places[first]] = np.bitwise_or.reduceat(bits, first)
    sizes = np.bincount(places, minlength=n_nodes * width)
    ranks = np.cumsum(sizes) - sizes
    return TreeIndex(
        node_starts, targets, bias, words, ranks.astype(np.int64), n_terms, cells.indptr.astype(np.int64),
        cells.indices.astype(np.int32), cells.data.astype(np.float32, copy=False), roots, n_labels,
    )  # fmt: skip
