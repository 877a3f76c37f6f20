"""Rankings by scores, and the ranks of the true labels in them, from which ranking metrics are computed.

*Label ranking* sorts the labels of each document, *document ranking* the documents of each label; equal scores are in
the order of their index. Ranks can be counted batch by batch.
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

MAX_COMPARISONS = 1 << 20
"""The number of comparisons held in memory at a time."""


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
    """The ranks of the true labels of documents; those of several batches can be concatenated.

    `sizes` is the number of true labels of each document; the other three arrays have one number per true label,
    document after document: `rank` its rank from 1, equal scores in the order of their index; `reach` the number of
    labels that score at least as much; `right` the number of true labels that do, itself included. `gain` is what the
    true label counts in propensity-scored metrics, 1/p (see `propensities`); None where it is not known.

    >>> ranks = label_ranks([[1, 0, 1], [0, 0, 0]], [[0.2, 0.9, 0.2], [0.5, 0.1, 0.7]])
    >>> ranks.sizes.tolist(), ranks.rank.tolist(), ranks.reach.tolist(), ranks.right.tolist()
    ([2, 0], [2, 3], [3, 3], [2, 2])
    """

    sizes: Ints
    rank: Ints
    reach: Ints
    right: Ints
    labels: int
    gain: Floats | None = None

    @classmethod
    def concatenate(cls, ranks: Iterable[LabelRanks]) -> LabelRanks:
        """The ranks of several batches of documents, in order."""
        batches = list(ranks)
        widths = sorted({batch.labels for batch in batches})
        if len(widths) != 1:
            raise DataError(
                "Batches of ranks must have one number of labels in common, "
                f"but there are {len(batches)} batches with {widths} labels."
            )
        sizes, rank, reach, right = (
            np.concatenate([getattr(batch, name) for batch in batches]) for name in ("sizes", "rank", "reach", "right")
        )
        gains = [batch.gain for batch in batches if batch.gain is not None]
        gain = np.concatenate(gains) if len(gains) == len(batches) else None
        return cls(sizes, rank, reach, right, widths[0], gain)

    @property
    def documents(self) -> Ints:
        """The document of each true label, numbered among the documents that have one."""
        sizes = self.sizes[self.sizes > 0]
        return np.repeat(np.arange(len(sizes)), sizes)

    def mean(self, of_labels: Floats | Ints | npt.NDArray[np.bool_], over: npt.ArrayLike) -> float:
        """The mean over labelled documents of (sum over true labels) / `over`; nan if no document has a label."""
        sizes = self.sizes[self.sizes > 0]
        if not len(sizes):
            return float("nan")
        sums = np.bincount(self.documents, weights=of_labels, minlength=len(sizes))
        return float(np.mean(sums / np.asarray(over, dtype=np.float64)))


def label_ranks(Y_true: LabelMatrix, scores: npt.ArrayLike, propensities: npt.ArrayLike | None = None) -> LabelRanks:
    """The ranks of the true labels among all labels by `scores` (dense: pass a batch of documents at a time).

    The `propensities` of the labels are needed by propensity-scored metrics alone.
    """
    true, table = indicator(Y_true, "Y_true"), _table(scores)
    if true.shape != table.shape:
        raise DataError(f"Y_true and scores must have the same shape, but have {true.shape} and {table.shape}.")
    gain = None
    if propensities is not None:
        gain = _gains(np.asarray(propensities, dtype=np.float64), true.shape[1])[true.indices]
    sizes = np.diff(true.indptr).astype(np.int64)
    labelled = np.flatnonzero(sizes)
    if len(labelled) < len(sizes):
        true, table = true[labelled], table[labelled]
    blocks = [_ranks(true[rows], table[rows]) for rows in _blocks(sizes[labelled], table.shape[1])]
    rank, reach, right = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return LabelRanks(sizes, rank, reach, right, int(table.shape[1]), gain)


def _gains(propensity: Floats, n_labels: int) -> Floats:
    """1/p of each label."""
    if propensity.shape != (n_labels,) or not ((propensity > 0) & (propensity <= 1)).all():
        raise DataError(
            f"propensities must be one number above 0 and up to 1 for each of the {n_labels} labels; see "
            "manylabel.metrics.propensities."
        )
    return 1.0 / propensity


def _table(scores: npt.ArrayLike) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"A ranking needs scores of documents × labels, not an array of {table.ndim} dimension(s).")
    if np.isnan(table).any():
        raise DataError("Scores must be numbers, but some are nan.")
    return table


def _blocks(sizes: Ints, n_labels: int) -> Iterator[slice]:
    """Yield slices of documents whose true labels are compared with all labels at once."""
    most = max(1, MAX_COMPARISONS // max(n_labels, 1))
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes) or start == 0:
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


def _ranks(true: Any, scores: Floats) -> tuple[Ints, Ints, Ints]:
    rows = np.repeat(np.arange(true.shape[0]), np.diff(true.indptr))
    own = scores[rows, true.indices][:, np.newaxis]
    all_scores = scores[rows]
    same = all_scores == own
    earlier = np.arange(scores.shape[1]) < true.indices[:, np.newaxis]
    above = all_scores > own
    rank = 1 + above.sum(axis=1) + (same & earlier).sum(axis=1)
    reached = above | same
    right = (reached & Csr(true).toarray().astype(np.bool_)[rows]).sum(axis=1)
    return rank.astype(np.int64), reached.sum(axis=1).astype(np.int64), right.astype(np.int64)
