"""Iterative stratification: assign documents, or whole groups of them, to splits so that labels are spread evenly."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from manylabel.estimator import Csr, Ints


def stratify(
    counts: Csr, shares: Sequence[float], random: np.random.Generator, sizes: Sequence[int] | None = None
) -> Ints:
    """The split of each row, so that every split has about its share of every label's documents.

    A row is a document, its counts 0 or 1; or a group of documents that stay together, its counts how many of them
    have each label and its size (`sizes`) how many they are. Take the label with the fewest documents left; give each
    of its rows, those with most of its documents first, to the split that still needs most documents of this label,
    then most documents, then at random; repeat. Rows without labels go where most documents are needed.

    Source: Sechidis, Tsoumakas & Vlahavas 2011, algorithm 1, for single documents. Deviations: groups; a split left
    empty gets one row of the split with the greatest surplus.

    >>> Y = Csr(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]))
    >>> sorted(stratify(Y, [0.5, 0.5], np.random.default_rng(0))[:2].tolist())
    [0, 1]
    """
    rows = counts.shape[0]
    # Rows are shuffled first and labels get random ranks: afterwards "first" means "at random".
    order = random.permutation(rows)
    lots = random.random(rows).tolist()
    shuffled = Csr(counts[order])
    weights = [1] * rows if sizes is None else np.asarray(sizes)[order].tolist()
    room = [share * sum(weights) for share in shares]
    split_of = _assign_labelled(shuffled, weights, shares, room, lots, random)
    _assign_unlabelled(split_of, weights, room, lots)
    result = np.empty(rows, dtype=np.int64)
    result[order] = _without_empty_splits(np.array(split_of, dtype=np.int64), room, np.diff(shuffled.indptr))
    return result


def _assign_labelled(
    rows: Csr,
    weights: list[int],
    shares: Sequence[float],
    room: list[float],
    lots: list[float],
    random: np.random.Generator,
) -> list[int]:
    """The split of each row with a label, −1 for the others; reduces the room of each split by what it gets."""
    starts, labels_of, counts_of = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    columns = rows.tocsc()
    left = np.asarray(columns.sum(axis=0)).ravel().astype(np.int64).tolist()
    needed = [[share * count for share in shares] for count in left]
    split_of = [-1] * rows.shape[0]
    rank = random.permutation(len(left)).tolist()
    heap = [(count, rank[label], label) for label, count in enumerate(left) if count]
    heapq.heapify(heap)
    while heap:
        label = heapq.heappop(heap)[2]
        if not left[label]:
            continue  # counts only fall, so a label's newest entry came first; this is an older one
        touched: set[int] = set()
        inside = slice(columns.indptr[label], columns.indptr[label + 1])
        largest_first = np.argsort(-columns.data[inside], kind="stable")
        for row in columns.indices[inside][largest_first].tolist():
            if split_of[row] >= 0:
                continue
            chosen = split_of[row] = _neediest(needed[label], room, lots[row])
            room[chosen] -= weights[row]
            for cell in range(starts[row], starts[row + 1]):
                other = labels_of[cell]
                needed[other][chosen] -= counts_of[cell]
                left[other] -= counts_of[cell]
                touched.add(other)
        for other in touched:
            if left[other]:
                heapq.heappush(heap, (left[other], rank[other], other))
    return split_of


def _assign_unlabelled(split_of: list[int], weights: list[int], room: list[float], lots: list[float]) -> None:
    """Assign each row without a label, the largest first, to the split with most room."""
    waiting = [row for row, split in enumerate(split_of) if split < 0]
    for row in sorted(waiting, key=lambda row: -weights[row]):
        chosen = split_of[row] = _neediest(room, room, lots[row])
        room[chosen] -= weights[row]


def _neediest(needed: list[float], room: list[float], lot: float) -> int:
    """The split that needs most of a label; among equals the one with most room; then by the random number `lot`."""
    most = max(needed)
    if needed.count(most) == 1:
        return needed.index(most)
    equal = [split for split, need in enumerate(needed) if need == most]
    widest = max(room[split] for split in equal)
    equal = [split for split in equal if room[split] == widest]
    return equal[int(lot * len(equal))]


def _without_empty_splits(split_of: Ints, room: list[float], cardinality: Ints) -> Ints:
    """Give each empty split the row with the fewest labels of the split with the greatest surplus."""
    sizes = np.bincount(split_of, minlength=len(room))
    surplus = -np.array(room)
    for empty in np.flatnonzero(sizes == 0).tolist():
        donor = int(np.argmax(np.where(sizes > 1, surplus, -np.inf)))
        members = np.flatnonzero(split_of == donor)
        split_of[members[np.argmin(cardinality[members])]] = empty
        sizes[donor], sizes[empty] = sizes[donor] - 1, 1
        surplus[donor] -= 1
    return split_of
