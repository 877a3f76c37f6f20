"""Balanced clusters of labels whose documents are alike, level by level: the shape of a label tree."""

from __future__ import annotations

import math

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.neighbour_model import unit_vectors

ROUNDS = 20
"""Rounds of 2-means at most, as in omikuji and PECOS."""
LEAST_GAIN = 1e-4
"""The mean similarity to the own centre has to grow by this in a round; as in omikuji."""


def label_vectors(X: Csr, Y: Csr) -> Csr:
    """Labels × terms: the sum of the unit vectors of each label's documents, of length 1, in single precision.

    Source: Prabhu, Kag, Harsola, Agrawal & Varma 2018 (Parabel), section 4.1.
    """
    sums = Csr(Y.T.tocsr().astype(np.float32) @ unit_vectors(X).astype(np.float32))
    return Csr(unit_vectors(sums).astype(np.float32))


def level_sizes(n_labels: int, arity: int, leaf_size: int) -> list[int]:
    """The number of clusters that every cluster of a level is divided into, from the root down.

    As few levels as `arity` allows, and on each the least number of clusters for which no leaf has more than
    `leaf_size` labels. An empty list stands for one node with all labels: one-vs-rest.

    >>> level_sizes(9021, arity=16, leaf_size=100), level_sizes(50_000, 16, 100), level_sizes(80, 16, 100)
    ([10, 10], [8, 8, 8], [])
    """
    leaves = -(-n_labels // leaf_size)
    if leaves <= 1:
        return []
    depth = 1
    while arity**depth < leaves:
        depth += 1
    size = max(2, math.ceil(leaves ** (1 / depth) - 1e-9))
    return [size] * depth


def divided(n: int, parts: int) -> Ints:
    """Where each of some parts of 0 .. n begins, and n; their sizes differ by at most one, the larger come first.

    >>> divided(8, 3).tolist()
    [0, 3, 6, 8]
    """
    return np.concatenate([[0], np.cumsum(np.full(parts, n // parts) + (np.arange(parts) < n % parts))])


def arranged(vectors: Csr, sizes: list[int], rng: np.random.Generator) -> Ints:
    """An order of the labels in which every cluster of every level is a range of `divided`."""
    order = np.arange(vectors.shape[0])
    if not sizes or len(order) <= 1:
        return order
    parts = sizes[0]
    clustered, starts = _cluster(vectors, order, divided(len(order), parts), rng), divided(len(order), parts)
    within = [clustered[starts[at] : starts[at + 1]] for at in range(parts)]
    return np.concatenate([one[arranged(Csr(vectors[one]), sizes[1:], rng)] for one in within])


def _cluster(vectors: Csr, labels: Ints, starts: Ints, rng: np.random.Generator) -> Ints:
    """The labels in an order in which each range between two starts is a cluster, by repeated halving."""
    if len(starts) <= 2 or len(labels) <= 1:
        return labels
    middle = len(starts) // 2
    first = bisected(vectors, int(starts[middle] - starts[0]), rng)
    halves = ((first, starts[: middle + 1]), (~first, starts[middle:]))
    return np.concatenate([_cluster(Csr(vectors[half]), labels[half], bounds, rng) for half, bounds in halves])


def bisected(vectors: Csr, n_first: int, rng: np.random.Generator) -> np.ndarray:
    """Which labels are in the first of two clusters, of `n_first` labels: spherical 2-means with given sizes.

    Two labels drawn at random are the first centres. In each round the labels are sorted by v·(c₁ − c₂): the `n_first`
    largest go to the first cluster, whose mean direction is its next centre. Source: Prabhu, Kag, Harsola, Agrawal &
    Varma 2018 (Parabel), section 4.1, there with equal halves.

    >>> bisected(Csr(np.array([[1.0, 0], [0, 1], [0.9, 0.1], [0.1, 0.9]])), 2, np.random.default_rng(0)).tolist()
    [True, False, True, False]
    """
    n = vectors.shape[0]
    seeds = rng.choice(n, size=2, replace=False)
    centres = vectors[seeds].toarray()
    first, reached = np.zeros(n, dtype=np.bool_), -np.inf
    by_term = vectors.T
    whole = by_term @ np.ones(n, dtype=np.float32)
    for _ in range(ROUNDS):
        closer = vectors @ (centres[0] - centres[1])
        first = np.zeros(n, dtype=np.bool_)
        first[np.argsort(-closer, kind="stable")[:n_first]] = True
        own = by_term @ first.astype(np.float32)
        sums = own, whole - own
        lengths = [float(np.linalg.norm(total)) for total in sums]
        # the similarities of all labels to their centres add up to the lengths of the sums
        if sum(lengths) / n <= reached + LEAST_GAIN:
            break
        reached = sum(lengths) / n
        centres = np.stack([_unit(total, length) for total, length in zip(sums, lengths, strict=True)])
    return first


def _unit(total: Floats, length: float) -> Floats:
    return np.asarray(total / length if length > 0 else total)
