"""Exact search for thresholds: every threshold that makes a difference is tried, by sorting once.

A label is predicted where its score is at least the threshold. The metrics are constant between attained scores, so
one candidate per gap is enough. Ties go to the smallest threshold. A threshold lies in the middle of its gap, never on
an attained score (`manylabel.models.label_thresholds`).

Vilar, Castro & Sanchis 2004 learn their threshold but give no procedure; this is ours. The thresholds of all labels,
each by itself, come from `manylabel.kernels.label_thresholds`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from manylabel.decisions.base import floor
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import row_batches
from manylabel.models.label_thresholds import CELLS_A_BATCH, OwnThresholds, clear_threshold, own_thresholds
from manylabel.models.score_kinds import Bools, ScoreKind, logit

SearchedMetric = Literal["micro-f1", "exact-match", "break-even", "hamming-loss"]
BATCH_BYTES = 24 * CELLS_A_BATCH
LEAST_PRUNED = 1 << 16
"""The number of scores up to which sorting them takes less time than finding out which of them need it."""
HALVINGS = 20
"""Halvings of the range of true scores in which `_lowest_useful` looks for a score."""

NATURAL = {
    ScoreKind.POSTERIOR: 0.5,
    ScoreKind.LOG_ODDS: 0.5,
    ScoreKind.MARGIN: 0.0,
    ScoreKind.SIMILARITY: 0.5,
}
"""The threshold of each kind of scores where none is set, in the units people read."""


@dataclass(frozen=True, slots=True)
class FoundThreshold:
    """A threshold and what it attains: micro F1, share of exact label sets, −|precision − recall|, or TP − FP."""

    value: float
    attained: float


class ThresholdSearch:
    """Thresholds and curves of one table of scores, documents × labels, each computed once however many rules ask.

    Impossible labels are never predicted.

    >>> search = ThresholdSearch(np.array([[0.9, 0.4], [0.2, 0.3]]), Csr([[1, 1], [0, 0]]), ScoreKind.POSTERIOR)
    >>> search.common("micro-f1"), search.own.thresholds.round(2).tolist(), search.highest.tolist()
    (0.35, [0.55, 0.35], [0.9, 0.4])
    """

    def __init__(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        self.scores, self.Y, self.kind = scores, Y, kind
        self._common: dict[SearchedMetric, float] = {}
        self._curves: dict[tuple[str, float], Calibration] = {}

    @cached_property
    def usable(self) -> Floats:
        """The scores, −∞ where a label is impossible."""
        if floor(self.kind) == -math.inf and not np.isnan(self.scores).any():
            return self.scores
        return np.where(self.scores > floor(self.kind), self.scores, -math.inf)

    @property
    def highest(self) -> Floats:
        """The highest score of each label; +∞, which is never reached, where all its scores are impossible."""
        found = self.usable.max(axis=0, initial=-math.inf)
        return np.where(np.isneginf(found), math.inf, found)

    @cached_property
    def own(self) -> OwnThresholds:
        """The best threshold of each label by itself; see `own_thresholds`."""
        return own_thresholds(self.usable, self.Y)

    def common(self, metric: SearchedMetric) -> float:
        """The best threshold for all labels together; see `common_threshold`."""
        if metric not in self._common:
            self._common[metric] = common_threshold(self.scores, self.Y, self.kind, metric)
        return self._common[metric]

    def calibration(self, curve: Literal["logistic", "isotonic"], shrinkage: float) -> Calibration:
        """Curves from scores to probabilities; see `Calibration`."""
        if (curve, shrinkage) not in self._curves:
            self._curves[curve, shrinkage] = Calibration(curve, shrinkage).fit(
                open_scores(self.scores, self.kind), self.Y
            )
        return self._curves[curve, shrinkage]


def common_threshold(scores: Floats, Y: Csr, kind: ScoreKind, metric: SearchedMetric) -> float:
    """The best threshold for all labels in the units of the scores; the natural one where nothing can be learned."""
    found = pooled_threshold(scores, Y, metric, above=floor(kind))
    if found is None:
        natural = score_units(NATURAL[kind], kind)
        return math.nextafter(natural, math.inf) if kind is ScoreKind.MARGIN else natural
    return found.value


def score_units(value: float, kind: ScoreKind) -> float:
    """A threshold as people read it, in the units of the scores."""
    return logit(value) if kind is ScoreKind.LOG_ODDS else value


def pooled_threshold(scores: Floats, Y: Csr, metric: SearchedMetric, above: float = -math.inf) -> FoundThreshold | None:
    """One threshold for all labels; None where there is nothing to learn from.

    Cells whose score is not above the floor `above` are never predicted.

    >>> pooled_threshold(np.array([[0.9], [0.8], [0.75], [0.25]]), Csr([[1], [0], [1], [0]]), "micro-f1")
    FoundThreshold(value=0.5, attained=0.8)
    """
    possible = scores > above
    if not possible.any():
        return None
    # Where the impossible is −∞, no score has to be copied: infinite scores are never reached and bound no gap.
    whole = above == -math.inf
    attained = scores.reshape(-1) if whole else scores[possible]
    if metric != "exact-match":
        Y_true = Y.toarray().astype(np.bool_)
        return _counted_threshold(attained, Y_true.reshape(-1) if whole else Y_true[possible], Y.nnz, metric)
    start, end = np.empty(len(scores)), np.empty(len(scores))
    for rows in row_batches(scores.shape[0], scores.shape[1], BATCH_BYTES):
        start[rows], end[rows] = _exact_between(scores[rows], Y[rows].toarray().astype(np.bool_), possible[rows])
    found = interval_threshold(start, end, attained, beyond=float(np.nextafter(scores.max(), math.inf)))
    return FoundThreshold(clear_threshold(attained, found.value), found.attained)


def _exact_between(scores: Floats, Y_true: Bools, possible: Bools) -> tuple[Floats, Floats]:
    """The thresholds at which each document is exact: above its best false label and at most its worst true one."""
    start = np.where(possible & ~Y_true, scores, -math.inf).max(axis=1, initial=-math.inf)
    end = np.where(Y_true, np.where(possible, scores, -math.inf), math.inf).min(axis=1, initial=math.inf)
    return start, end


def prefix_threshold(
    keys: Floats, hits: Bools, ranks: Ints, sizes: Ints, metric: SearchedMetric, limit: float
) -> FoundThreshold:
    """One threshold for rules that predict a document's labels in order until a growing key reaches the threshold.

    A document has its first n labels predicted, n the smallest with keys[n] ≥ threshold, at most `ranks` (its possible
    labels). `keys` grow along each row, `hits` are True for the ordered labels that are true, `sizes` is the number of
    true labels. Candidates are the attained keys below `limit`.
    """
    usable = np.arange(keys.shape[1]) < ranks[:, np.newaxis]
    below = float(np.nextafter(limit, -math.inf)) if math.isfinite(limit) else math.inf
    attained = keys[usable & (keys < limit)]
    if metric == "exact-match":
        found = interval_threshold(*_exact_intervals(keys, hits, ranks, sizes), attained, beyond=below)
        always = int(((ranks == 0) & (sizes == 0)).sum())
        value, reached = found.value, found.attained + always / max(len(keys), 1)
    else:
        candidates = np.unique(np.append(attained, below))
        tp, predicted = _prefix_counts(keys, hits, usable, candidates)
        values = _metric_values(tp, predicted, int(sizes.sum()), metric)
        best = int(np.argmax(values))
        value, reached = float(candidates[best]), float(values[best])
    return FoundThreshold(min(clear_threshold(np.append(attained, limit), value), below), reached)


def _prefix_counts(keys: Floats, hits: Bools, usable: Bools, candidates: Floats) -> tuple[Ints, Ints]:
    """True positives and predicted labels at each candidate threshold."""
    grows, first = usable[:, 1:], usable[:, 0]
    steps, gains = keys[:, :-1][grows], hits[:, 1:][grows]
    order = np.argsort(steps, kind="stable")
    gained = np.concatenate([[0], np.cumsum(gains[order])])
    taken = np.searchsorted(steps[order], candidates, side="left")
    return gained[taken] + int(hits[first, 0].sum()), taken + int(first.sum())


def interval_threshold(start: Floats, end: Floats, attained: Floats, beyond: float) -> FoundThreshold:
    """The threshold t that lies in most of the intervals (start, end], as a share of all of them.

    The count rises only right after a start, so only the starts are looked at. The threshold is the smallest
    attained score after the best one, or `beyond`, the largest threshold allowed, where there is none.
    """
    right = start < end
    starts, ends = np.sort(start[right]), np.sort(end[right])
    tried = np.unique(np.append(starts, -math.inf))
    tried = tried[tried < beyond]
    holding = np.searchsorted(starts, tried, side="right") - np.searchsorted(ends, tried, side="right")
    best = int(np.argmax(holding))
    later = attained[attained > tried[best]]
    value = float(later.min()) if len(later) else beyond
    return FoundThreshold(value, float(holding[best]) / max(len(start), 1))


def _counted_threshold(scores: Floats, Y_true: Bools, n_true: int, metric: SearchedMetric) -> FoundThreshold | None:
    positive = scores[Y_true]
    positive = positive[positive > -math.inf]
    if not len(positive):
        return None
    attained = scores
    if metric in ("micro-f1", "hamming-loss"):  # below the worst true cell a threshold only adds mistakes
        kept = scores >= _lowest_useful(scores, positive, n_true, metric)
    else:
        kept = scores > -math.inf
    scores, Y_true = scores[kept], Y_true[kept]
    order = np.argsort(-scores, kind="stable")
    ordered, tp = scores[order], np.cumsum(Y_true[order], dtype=np.int64)
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    values = _metric_values(tp[last], last + 1, n_true, metric)
    best = len(last) - 1 - int(np.argmax(values[::-1]))  # the smallest of equally good ones
    if metric == "hamming-loss" and values[best] < 0:  # predicting nothing makes fewer mistakes than any threshold
        return FoundThreshold(clear_threshold(attained, float(np.nextafter(ordered[0], math.inf))), 0.0)
    return FoundThreshold(clear_threshold(attained, float(ordered[last[best]])), float(values[best]))


def _lowest_useful(scores: Floats, positive: Floats, n_true: int, metric: SearchedMetric) -> float:
    """A score below which no threshold is best for micro F1 or Hamming loss, so that few scores need to be sorted.

    It is at least the lowest of the true cells. With more than m predictions micro F1 is below 2 n_true/(m + n_true)
    even if all true cells are among them; if some threshold reaches more, no such threshold is best. TP − FP is below 0
    with more than 2 n_true predictions, which is less than without any.

    >>> _lowest_useful(np.arange(10.0), np.array([0.0, 8.0, 9.0]), 3, "micro-f1")
    0.0
    """
    low, high = float(positive.min()), float(positive.max())
    if len(scores) <= LEAST_PRUNED or not (math.isfinite(low) and math.isfinite(high)):
        return low
    most = 2.0 * n_true
    if metric == "micro-f1":
        tried = np.quantile(positive, np.linspace(0, 1, 17), method="lower")
        reached = max(2 * np.count_nonzero(positive >= t) / (np.count_nonzero(scores >= t) + n_true) for t in tried)
        most = 2 * n_true / reached - n_true
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if np.count_nonzero(scores >= middle) > most + 1 else (low, middle)
    return low


def _metric_values(tp: Ints, predicted: Ints, n_true: int, metric: SearchedMetric) -> Floats:
    """Micro F1; TP − FP, the mistakes spared (Hamming); or −|P − R| where anything is right.

    One division of whole numbers, so that equal ratios are equal floats and ties are ties.
    """
    if metric == "micro-f1":
        return np.asarray(2.0 * tp / np.maximum(predicted + n_true, 1))
    if metric == "hamming-loss":
        return np.asarray(2.0 * tp - predicted)
    gap = tp * np.abs(n_true - predicted) / np.maximum(predicted * float(n_true), 1.0)
    return np.where(tp > 0, -gap, -math.inf)


def _exact_intervals(keys: Floats, hits: Bools, ranks: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """The thresholds (start, end] at which exactly the true labels are predicted; an empty interval where none does."""
    rows = np.arange(len(keys))
    start, end = np.full(len(keys), math.inf), np.full(len(keys), -math.inf)
    reachable = (sizes >= 1) & (sizes <= ranks)
    last = np.clip(sizes - 1, 0, max(keys.shape[1] - 1, 0))
    reachable &= np.cumsum(hits, axis=1)[rows, last] == sizes
    before = keys[rows, np.maximum(last - 1, 0)]
    start[reachable] = np.where(sizes == 1, -math.inf, before)[reachable]
    end[reachable] = np.where(sizes == ranks, math.inf, keys[rows, last])[reachable]
    return start, end
