"""Exact search for thresholds: every cut the data can tell apart is tried, by sorting once.

The metrics are constant between attained scores, so the attained scores are all the candidates there are.
Ties go to the smallest cut. A label is given when its score is at least the cut.

Vilar, Castro & Sanchis 2004 learn their threshold but give no procedure; this is ours. The cuts of all labels, each on
its own, come from `manylabel.kernels.label_thresholds`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.score_kinds import Bools

SearchedMetric = Literal["micro-f1", "exact-match", "break-even", "hamming-loss"]


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut and what it attains: micro F1, share of exact label sets, −|precision − recall|, or TP − FP."""

    value: float
    attained: float


def f1_cut(scores: Floats, truth: Bools) -> Cut | None:
    """The cut of one label with the best F1 = 2 TP/(predicted + true); None without positives
    that have a score above −∞.

    >>> f1_cut(np.array([0.9, 0.8, 0.7, 0.1]), np.array([True, False, True, False]))
    Cut(value=0.7, attained=0.8)
    """
    possible = scores > -math.inf  # a label that a fold never saw scores −∞ there
    return _counted_cut(scores[possible], truth[possible], int(truth.sum()), "micro-f1")


def pooled_cut(scores: Floats, Y: Csr, metric: SearchedMetric, above: float = -math.inf) -> Cut | None:
    """One cut for all labels; cells not above a floor are never given. None where no cell is possible."""
    possible = scores > above
    if not possible.any():
        return None
    truth = Y.toarray().astype(np.bool_)
    if metric != "exact-match":
        return _counted_cut(scores[possible], truth[possible], Y.nnz, metric)
    # A document is exact while the cut lies above its best false label and at most at its worst true one.
    start = np.where(possible & ~truth, scores, -math.inf).max(axis=1, initial=-math.inf)
    end = np.where(truth, np.where(possible, scores, -math.inf), math.inf).min(axis=1, initial=math.inf)
    highest = float(scores.max())
    return interval_cut(start, end, scores[possible], beyond=float(np.nextafter(highest, math.inf)))


def prefix_cut(keys: Floats, hits: Bools, ranks: Ints, sizes: Ints, metric: SearchedMetric, limit: float) -> Cut:
    """One cut for rules that give the labels of a document in order until a growing key reaches the cut.

    A document gives its first n labels, n the smallest with keys[n] ≥ cut, at most `ranks` (its possible
    labels). `keys` grow along each row, `hits` tells which of the ordered labels are true, `sizes` how many
    are true in all. Candidates are the attained keys below `limit`.
    """
    usable = np.arange(keys.shape[1]) < ranks[:, np.newaxis]
    below = float(np.nextafter(limit, -math.inf)) if math.isfinite(limit) else math.inf
    if metric == "exact-match":
        start, end = _exact_intervals(keys, hits, ranks, sizes)
        attained = keys[usable & (keys < limit)]
        found = interval_cut(start, end, attained, beyond=below)
        always = int(((ranks == 0) & (sizes == 0)).sum())
        return Cut(found.value, found.attained + always / max(len(keys), 1))
    grows = usable[:, 1:]
    steps, gains = keys[:, :-1][grows], hits[:, 1:][grows]
    order = np.argsort(steps, kind="stable")
    steps, gained = steps[order], np.concatenate([[0], np.cumsum(gains[order])])
    candidates = np.unique(np.append(keys[usable & (keys < limit)], below))
    taken = np.searchsorted(steps, candidates, side="left")
    first = ranks > 0
    tp = gained[taken] + int(hits[first, 0].sum())
    values = _metric_values(tp, taken + int(first.sum()), int(sizes.sum()), metric)
    best = int(np.argmax(values))
    return Cut(float(candidates[best]), float(values[best]))


def interval_cut(start: Floats, end: Floats, attained: Floats, beyond: float) -> Cut:
    """The cut t that lies in most of the intervals (start, end], as a share of all of them.

    The count rises only right after a start, so only these places are looked at; the cut is the smallest
    attained score after the best one, or `beyond`, the largest cut allowed, where there is none.
    """
    right = start < end
    starts, ends = np.sort(start[right]), np.sort(end[right])
    places = np.unique(np.append(starts, -math.inf))
    places = places[places < beyond]
    holding = np.searchsorted(starts, places, side="right") - np.searchsorted(ends, places, side="right")
    best = int(np.argmax(holding))
    later = attained[attained > places[best]]
    value = float(later.min()) if len(later) else beyond
    return Cut(value, float(holding[best]) / max(len(start), 1))


def _counted_cut(scores: Floats, truth: Bools, n_true: int, metric: SearchedMetric) -> Cut | None:
    positive = scores[truth]
    if not len(positive):
        return None
    if metric in ("micro-f1", "hamming-loss"):  # below the worst true cell a cut only adds mistakes
        kept = scores >= positive.min()
        scores, truth = scores[kept], truth[kept]
    order = np.argsort(-scores, kind="stable")
    ordered, tp = scores[order], np.cumsum(truth[order], dtype=np.int64)
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    values = _metric_values(tp[last], last + 1, n_true, metric)
    best = len(last) - 1 - int(np.argmax(values[::-1]))  # the smallest of equally good cuts
    if metric == "hamming-loss" and values[best] < 0:  # giving nothing makes fewer mistakes than any cut
        return Cut(float(np.nextafter(ordered[0], math.inf)), 0.0)
    return Cut(float(ordered[last[best]]), float(values[best]))


def _metric_values(tp: Ints, given: Ints, n_true: int, metric: SearchedMetric) -> Floats:
    """Micro F1; TP − FP, the mistakes spared (Hamming); or −|P − R| where anything is right.

    One division of whole numbers, so that equal ratios are equal floats and ties are ties.
    """
    if metric == "micro-f1":
        return np.asarray(2.0 * tp / np.maximum(given + n_true, 1))
    if metric == "hamming-loss":
        return np.asarray(2.0 * tp - given)
    gap = tp * np.abs(n_true - given) / np.maximum(given * float(n_true), 1.0)
    return np.where(tp > 0, -gap, -math.inf)


def _exact_intervals(keys: Floats, hits: Bools, ranks: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """The cuts (start, end] at which exactly the true labels are given; an empty interval where none does."""
    rows = np.arange(len(keys))
    start, end = np.full(len(keys), math.inf), np.full(len(keys), -math.inf)
    reachable = (sizes >= 1) & (sizes <= ranks)
    last = np.clip(sizes - 1, 0, max(keys.shape[1] - 1, 0))
    reachable &= np.cumsum(hits, axis=1)[rows, last] == sizes
    before = keys[rows, np.maximum(last - 1, 0)]
    start[reachable] = np.where(sizes == 1, -math.inf, before)[reachable]
    end[reachable] = np.where(sizes == ranks, math.inf, keys[rows, last])[reachable]
    return start, end
