"""Iterative stratification: deal documents, or whole groups of them, to parts so that every label is spread evenly."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from manylabel.estimator import Csr, Ints


def stratify(
    counts: Csr, shares: Sequence[float], random: np.random.Generator, sizes: Sequence[int] | None = None
) -> Ints:
    """The part of each row, so that every part has about its share of every label's documents.

    A row is a document, its counts 0 or 1; or a group of documents that stay together, its counts how many of them
    have each label and its size (`sizes`) how many they are. Take the label with the fewest documents left; give each
    of its rows, those with most of its documents first, to the part that still wants most of this label, then most
    documents, then by lot; repeat. Rows without labels go where most documents are wanted.

    Source: Sechidis, Tsoumakas & Vlahavas 2011, algorithm 1, for single documents. Deviations: groups; a part left
    empty is given one row of the part with the greatest surplus.

    >>> Y = Csr(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]))
    >>> sorted(stratify(Y, [0.5, 0.5], np.random.default_rng(0))[:2].tolist())
    [0, 1]
    """
    rows = counts.shape[0]
    # Rows are shuffled first and labels get random ranks: afterwards "first" means "by lot".
    order = random.permutation(rows)
    lots = random.random(rows).tolist()
    shuffled = Csr(counts[order])
    weights = [1] * rows if sizes is None else np.asarray(sizes)[order].tolist()
    room = [share * sum(weights) for share in shares]
    part = _place_labelled(shuffled, weights, shares, room, lots, random)
    _place_unlabelled(part, weights, room, lots)
    result = np.empty(rows, dtype=np.int64)
    result[order] = _without_empty_parts(np.array(part, dtype=np.int64), room, np.diff(shuffled.indptr))
    return result


def _place_labelled(
    rows: Csr,
    weights: list[int],
    shares: Sequence[float],
    room: list[float],
    lots: list[float],
    random: np.random.Generator,
) -> list[int]:
    """The part of each row with a label, −1 for the others; takes what was placed from the room of each part."""
    starts, labels_of, counts_of = rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()
    columns = rows.tocsc()
    left = np.asarray(columns.sum(axis=0)).ravel().astype(np.int64).tolist()
    wanted = [[share * count for share in shares] for count in left]
    part = [-1] * rows.shape[0]
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
            if part[row] >= 0:
                continue
            chosen = part[row] = _neediest(wanted[label], room, lots[row])
            room[chosen] -= weights[row]
            for place in range(starts[row], starts[row + 1]):
                other = labels_of[place]
                wanted[other][chosen] -= counts_of[place]
                left[other] -= counts_of[place]
                touched.add(other)
        for other in touched:
            if left[other]:
                heapq.heappush(heap, (left[other], rank[other], other))
    return part


def _place_unlabelled(part: list[int], weights: list[int], room: list[float], lots: list[float]) -> None:
    """Give each row that no label has placed, the largest first, to the part with most room."""
    waiting = [row for row, placed in enumerate(part) if placed < 0]
    for row in sorted(waiting, key=lambda row: -weights[row]):
        chosen = part[row] = _neediest(room, room, lots[row])
        room[chosen] -= weights[row]


def _neediest(wanted: list[float], room: list[float], lot: float) -> int:
    """The part that wants most of a label; among equals the one with most room; then by lot (0 ≤ lot < 1)."""
    most = max(wanted)
    if wanted.count(most) == 1:
        return wanted.index(most)
    equal = [part for part, want in enumerate(wanted) if want == most]
    widest = max(room[part] for part in equal)
    equal = [part for part in equal if room[part] == widest]
    return equal[int(lot * len(equal))]


def _without_empty_parts(part: Ints, room: list[float], cardinality: Ints) -> Ints:
    """Give each empty part the row with the fewest labels of the part that is most over its size."""
    sizes = np.bincount(part, minlength=len(room))
    surplus = -np.array(room)
    for empty in np.flatnonzero(sizes == 0).tolist():
        donor = int(np.argmax(np.where(sizes > 1, surplus, -np.inf)))
        members = np.flatnonzero(part == donor)
        part[members[np.argmin(cardinality[members])]] = empty
        sizes[donor], sizes[empty] = sizes[donor] - 1, 1
        surplus[donor] -= 1
    return part
