"""The plain twin of `label_tree`: what it computes, in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SIGMOID, SQUARED, CUBED = 0, 2, 3


def beam_search(
    starts: Int64s,
    terms: Int32s,
    values: Floats,
    begin: int,
    end: int,
    node_starts: Int64s,
    targets: Int64s,
    bias: Floats,
    words: npt.NDArray[np.uint64],
    ranks: Int64s,
    n_terms: int,
    row_starts: Int64s,
    cell_children: Int32s,
    cell_weights: npt.NDArray[np.float32],
    roots: Int64s,
    n_labels: int,
    beam: int,
    combine: int,
    slope: float,
    path: float,
    labels: Int32s,
    scores: Floats,
    counts: Int64s,
) -> None:
    """Find the best labels of the documents begin to end (rows of a CSR matrix) and log P of each, in no order.

    The children of node i are `node_starts[i]` to `node_starts[i + 1]`: each leads to a node (`targets` ≥ 0) or to a
    label (−1 − label). A child's margin is its bias plus Σ_t x_t w_t, and its log P = path · log P of its node +
    log p(margin): a product of probabilities for a `path` of 1. On each level the `beam` best nodes are followed.

        combine   0  p = 1/(1 + exp(−slope · margin))    2, 3  p = exp(−max(0, 1 − margin)^combine)

    With several trees, P is the mean over the trees of what each found. At most as many labels are found as `labels`
    (documents × candidates) has columns; `counts` says how many. Of equal scores the lower number comes first.

    The weights of a node's children are rows, one for each term that the node knows: a term's bit is set in the node's
    `words`, and its row is the `ranks` of the word plus the number of lower bits. A document thus costs
    beam × its terms × the weights of the node's children for a term, whatever the number of labels.
    """
    if not 0 <= begin <= end < len(starts) or len(labels) != len(starts) - 1:
        raise IndexError("The documents are out of bounds.")
    width, most = (n_terms + 63) >> 6, labels.shape[1]

    def margins(node: int, document: list[tuple[int, float]]) -> list[float]:
        found: list[float] = bias[node_starts[node] : node_starts[node + 1]].tolist()
        for term, value in document:
            place = node * width + (term >> 6)
            bits = int(words[place])
            if bits >> (term & 63) & 1:
                row = int(ranks[place]) + (bits & ((1 << (term & 63)) - 1)).bit_count()
                for cell in range(int(row_starts[row]), int(row_starts[row + 1])):
                    found[int(cell_children[cell])] += value * float(cell_weights[cell])
        return found

    def search(root: int, document: list[tuple[int, float]]) -> list[tuple[float, int]]:
        level: list[tuple[float, int]] = [(0.0, root)]
        result: list[tuple[float, int]] = []
        while level:
            nodes: list[tuple[float, int]] = []
            for score, node in level:
                for target, margin in zip(_children(node), margins(node, document), strict=True):
                    reached = path * score + log_probability(margin, combine, slope)
                    (nodes if target >= 0 else result).append((reached, target if target >= 0 else -1 - target))
            level = _best(nodes, beam)
        return _best(result, most)

    def _children(node: int) -> list[int]:
        children: list[int] = targets[node_starts[node] : node_starts[node + 1]].tolist()
        return children

    for doc in range(begin, end):
        inside = slice(int(starts[doc]), int(starts[doc + 1]))
        document = list(zip(terms[inside].tolist(), values[inside].tolist(), strict=True))
        if any(not 0 <= term < n_terms for term, _ in document):
            raise IndexError(f"A term of document {doc} is out of bounds.")
        if not len(roots) or not len(targets):
            continue
        found = [search(root, document) for root in roots.tolist()]
        best = found[0] if len(found) == 1 else _mean(found, most)
        counts[doc] = len(best)
        labels[doc, : len(best)] = [label for _, label in best]
        scores[doc, : len(best)] = [score for score, _ in best]


def log_probability(margin: float, combine: int, slope: float) -> float:
    """The logarithm of p(margin), see `beam_search`.

    >>> log_probability(0.5, SQUARED, 0.0), round(log_probability(0.0, SIGMOID, 3.0), 6)
    (-0.25, -0.693147)
    """
    if combine == SIGMOID:
        z = slope * margin
        return -math.log1p(math.exp(-z)) if z >= 0 else z - math.log1p(math.exp(z))
    z = 1 - margin
    if z <= 0:
        return 0.0
    return -z * z if combine == SQUARED else -z * z * z


def _best(found: list[tuple[float, int]], most: int) -> list[tuple[float, int]]:
    return sorted(found, key=lambda one: (-one[0], one[1]))[:most]


def _mean(found: list[list[tuple[float, int]]], most: int) -> list[tuple[float, int]]:
    """The mean probability of each label over trees, as logarithm."""
    totals: dict[int, Any] = {}
    for tree in found:
        for score, label in tree:
            totals[label] = totals.get(label, 0.0) + math.exp(score)
    return _best([(math.log(total / len(found)), label) for label, total in totals.items() if total > 0], most)
