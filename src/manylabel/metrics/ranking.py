"""The ranking view: orders made of scores, and how well they put the right labels first.

No threshold is involved. *Label ranking* sorts the labels of each document, *document ranking* the documents of each
label; equal scores stand in the order of their index. The metrics are of label rankings. They all come from the ranks
of the true labels, which are counted batch by batch and put together. A document without true labels has nothing to
rank: it is left out of every mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.metrics.counts import LabelMatrix, indicator

CELLS_A_BLOCK = 1 << 20
"""Comparisons held in memory at a time."""


def label_ranking(scores: npt.ArrayLike, k: int | None = None) -> Ints:
    """The labels of each document, best first: documents × labels, or the first `k` columns of it.

    >>> label_ranking([[0.2, 0.9, 0.2], [0.5, 0.1, 0.7]]).tolist()
    [[1, 0, 2], [2, 0, 1]]
    """
    return np.argsort(-_table(scores), axis=1, kind="stable")[:, :k].astype(np.int64)


def document_ranking(scores: npt.ArrayLike, k: int | None = None) -> Ints:
    """The documents of each label, best first: labels × documents, or the first `k` columns of it.

    >>> document_ranking([[0.2, 0.9], [0.5, 0.1], [0.2, 0.3]]).tolist()
    [[1, 0, 2], [0, 2, 1]]
    """
    return label_ranking(_table(scores).T, k)


@dataclass(frozen=True, slots=True, eq=False)
class LabelRanks:
    """Where the true labels of documents stand; ranks of batches can be put together.

    `sizes` is |T| of each document; the other three have a number for each true label, document after document:
    `place` its rank from 1, equal scores in the order of their index; `reach` how many labels score at least as much;
    `right` how many true labels do, itself included.

    >>> ranks = label_ranks([[1, 0, 1], [0, 0, 0]], [[0.2, 0.9, 0.2], [0.5, 0.1, 0.7]])
    >>> ranks.sizes.tolist(), ranks.place.tolist(), ranks.reach.tolist(), ranks.right.tolist()
    ([2, 0], [2, 3], [3, 3], [2, 2])
    """

    sizes: Ints
    place: Ints
    reach: Ints
    right: Ints
    labels: int

    @classmethod
    def concatenate(cls, parts: Iterable[LabelRanks]) -> LabelRanks:
        """The ranks of several batches of documents, one after the other."""
        batches = list(parts)
        widths = sorted({batch.labels for batch in batches})
        if len(widths) != 1:
            raise DataError(
                "Batches of ranks must have one number of labels in common, "
                f"but there are {len(batches)} batches with {widths} labels."
            )
        sizes, place, reach, right = (
            np.concatenate([getattr(batch, name) for batch in batches]) for name in ("sizes", "place", "reach", "right")
        )
        return cls(sizes, place, reach, right, widths[0])

    @property
    def documents(self) -> Ints:
        """The document of each true label, counted among those that have one."""
        sizes = self.sizes[self.sizes > 0]
        return np.repeat(np.arange(len(sizes)), sizes)

    def mean(self, of_labels: Floats | Ints | npt.NDArray[np.bool_], over: npt.ArrayLike) -> float:
        """The mean over labelled documents of (sum over true labels) / `over`; nan where no document has a label."""
        sizes = self.sizes[self.sizes > 0]
        if not len(sizes):
            return float("nan")
        sums = np.bincount(self.documents, weights=of_labels, minlength=len(sizes))
        return float(np.mean(sums / np.asarray(over, dtype=np.float64)))


def label_ranks(T: LabelMatrix, scores: npt.ArrayLike) -> LabelRanks:
    """The ranks of the true labels T among all labels by `scores` (dense: hand in a batch of documents at a time)."""
    truth, table = indicator(T, "The truth T"), _table(scores)
    if truth.shape != table.shape:
        raise DataError(f"Truth and scores must have the same shape, but have {truth.shape} and {table.shape}.")
    sizes = np.diff(truth.indptr).astype(np.int64)
    labelled = np.flatnonzero(sizes)
    if len(labelled) < len(sizes):
        truth, table = truth[labelled], table[labelled]
    parts = [_ranks(truth[rows], table[rows]) for rows in _blocks(sizes[labelled], table.shape[1])]
    place, reach, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LabelRanks(sizes, place, reach, right, int(table.shape[1]))


def one_error(ranks: LabelRanks) -> float:
    """The share of documents whose best label is not a true one. Source: Schapire & Singer 2000.

    >>> one_error(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]))
    0.5
    """
    return 1.0 - precision_at(ranks, 1)


def precision_at(ranks: LabelRanks, k: int) -> float:
    """The share of true labels among the k best, in the mean; divided by k even where there are fewer labels.

    >>> precision_at(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]), 2)
    0.5
    """
    return ranks.mean(ranks.place <= k, k)


def recall_at(ranks: LabelRanks, k: int) -> float:
    """The share of the true labels that are among the k best, in the mean.

    >>> recall_at(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]), 2)
    0.75
    """
    return ranks.mean(ranks.place <= k, _sizes(ranks))


def ndcg_at(ranks: LabelRanks, k: int) -> float:
    """Σ over true labels of rank r ≤ k of 1/log₂(r + 1), divided by the most that |T| labels can reach; in the mean.

    Source: Järvelin & Kekäläinen 2002, gains of 0 and 1. Where scikit-learn averages over the orders of equal scores,
    we take the one order of `label_ranking`.

    >>> round(ndcg_at(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]]), 3), 6)
    0.693426
    """
    gains = np.where(ranks.place <= k, 1.0 / np.log2(ranks.place + 1.0), 0.0)
    reachable = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, k + 2)))])
    return ranks.mean(gains, reachable[np.minimum(_sizes(ranks), k)])


def ranking_loss(ranks: LabelRanks) -> float:
    """The share of pairs of a true and a wrong label that stand in the wrong order, equal scores counted as wrong.

    0 for a document that has all labels. Source: Schapire & Singer 2000.

    >>> ranking_loss(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]]))
    1.0
    """
    sizes = _sizes(ranks)
    return ranks.mean(ranks.reach - ranks.right, np.maximum(sizes * (ranks.labels - sizes), 1))


def coverage(ranks: LabelRanks) -> float:
    """How far down the ranking one has to go to have met all true labels, in the mean; equal scores count in full.

    From |T| at best to the number of labels. Source: Schapire & Singer 2000, whose value is one less.

    >>> coverage(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]))
    2.0
    """
    if not len(ranks.reach):
        return float("nan")
    starts = np.concatenate([[0], np.cumsum(_sizes(ranks))[:-1]])
    return float(np.mean(np.maximum.reduceat(ranks.reach, starts)))


def ranking_average_precision(ranks: LabelRanks) -> float:
    """The mean over true labels of the share of true ones among the labels that score at least as much.

    Source: Schapire & Singer 2000.

    >>> round(ranking_average_precision(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]])), 6)
    0.583333
    """
    return ranks.mean(ranks.right / ranks.reach, _sizes(ranks))


def _sizes(ranks: LabelRanks) -> Ints:
    return ranks.sizes[ranks.sizes > 0]


def _table(scores: npt.ArrayLike) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"A ranking needs scores of documents × labels, not an array of {table.ndim} dimension(s).")
    if np.isnan(table).any():
        raise DataError("Scores must be numbers, but some are nan.")
    return table


def _blocks(sizes: Ints, n_labels: int) -> Iterator[slice]:
    """Stretches of documents whose true labels are compared with all labels at once."""
    most = max(1, CELLS_A_BLOCK // max(n_labels, 1))
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes) or start == 0:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


def _ranks(truth: Any, scores: Floats) -> tuple[Ints, Ints, Ints]:
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    own = scores[rows, truth.indices][:, np.newaxis]
    all_scores = scores[rows]
    same = all_scores == own
    earlier = np.arange(scores.shape[1]) < truth.indices[:, np.newaxis]
    above = all_scores > own
    place = 1 + above.sum(axis=1) + (same & earlier).sum(axis=1)
    reached = above | same
    right = (reached & Csr(truth).toarray().astype(np.bool_)[rows]).sum(axis=1)
    return place.astype(np.int64), reached.sum(axis=1).astype(np.int64), right.astype(np.int64)
