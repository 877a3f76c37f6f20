"""Rankings by scores, and metrics of how well they place the true labels first.

No threshold is involved. *Label ranking* sorts the labels of each document, *document ranking* the documents of each
label; equal scores are in the order of their index. The metrics are of label rankings, and are all computed from the
ranks of the true labels, which can be counted batch by batch. A document without true labels is left out of every mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError, UnknownNameError
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
    labels that score at least as much; `right` the number of true labels that do, itself included.

    >>> ranks = label_ranks([[1, 0, 1], [0, 0, 0]], [[0.2, 0.9, 0.2], [0.5, 0.1, 0.7]])
    >>> ranks.sizes.tolist(), ranks.rank.tolist(), ranks.reach.tolist(), ranks.right.tolist()
    ([2, 0], [2, 3], [3, 3], [2, 2])
    """

    sizes: Ints
    rank: Ints
    reach: Ints
    right: Ints
    labels: int

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
        return cls(sizes, rank, reach, right, widths[0])

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


def label_ranks(Y_true: LabelMatrix, scores: npt.ArrayLike) -> LabelRanks:
    """The ranks of the true labels among all labels by `scores` (dense: pass a batch of documents at a time)."""
    true, table = indicator(Y_true, "Y_true"), _table(scores)
    if true.shape != table.shape:
        raise DataError(f"Y_true and scores must have the same shape, but have {true.shape} and {table.shape}.")
    sizes = np.diff(true.indptr).astype(np.int64)
    labelled = np.flatnonzero(sizes)
    if len(labelled) < len(sizes):
        true, table = true[labelled], table[labelled]
    blocks = [_ranks(true[rows], table[rows]) for rows in _blocks(sizes[labelled], table.shape[1])]
    rank, reach, right = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return LabelRanks(sizes, rank, reach, right, int(table.shape[1]))


def one_error(ranks: LabelRanks) -> float:
    """The share of documents whose best label is not a true label. Source: Schapire & Singer 2000.

    >>> one_error(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]))
    0.5
    """
    return 1.0 - precision_at(ranks, 1)


def precision_at(ranks: LabelRanks, k: int) -> float:
    """The mean share of true labels among the k best; hits are divided by k even if there are fewer labels.

    >>> precision_at(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]), 2)
    0.5
    """
    return ranks.mean(ranks.rank <= k, k)


def recall_at(ranks: LabelRanks, k: int) -> float:
    """The mean share of the true labels that are among the k best.

    >>> recall_at(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]), 2)
    0.75
    """
    return ranks.mean(ranks.rank <= k, _sizes(ranks))


def ndcg_at(ranks: LabelRanks, k: int) -> float:
    """The mean of Σ 1/log₂(r + 1) over true labels of rank r ≤ k, divided by its largest value for |T| labels.

    Source: Järvelin & Kekäläinen 2002, gains of 0 and 1. scikit-learn averages over the orders of equal scores; we use
    the order of `label_ranking`.

    >>> round(ndcg_at(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]]), 3), 6)
    0.693426
    """
    gains = np.where(ranks.rank <= k, 1.0 / np.log2(ranks.rank + 1.0), 0.0)
    reachable = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, k + 2)))])
    return ranks.mean(gains, reachable[np.minimum(_sizes(ranks), k)])


def ranking_loss(ranks: LabelRanks) -> float:
    """The mean share of pairs of a true and another label that are in the wrong order, which includes equal scores.

    0 for a document that has all labels. Source: Schapire & Singer 2000.

    >>> ranking_loss(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]]))
    1.0
    """
    sizes = _sizes(ranks)
    return ranks.mean(ranks.reach - ranks.right, np.maximum(sizes * (ranks.labels - sizes), 1))


def coverage(ranks: LabelRanks) -> float:
    """The mean number of labels to read from the top until all true labels are met; equal scores count in full.

    From |T| at best to the number of labels. Source: Schapire & Singer 2000, whose value is one less.

    >>> coverage(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]))
    2.0
    """
    if not len(ranks.reach):
        return float("nan")
    starts = np.concatenate([[0], np.cumsum(_sizes(ranks))[:-1]])
    return float(np.mean(np.maximum.reduceat(ranks.reach, starts)))


def ranking_average_precision(ranks: LabelRanks) -> float:
    """The mean over true labels of the share of true labels among the labels that score at least as much.

    Source: Schapire & Singer 2000.

    >>> round(ranking_average_precision(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]])), 6)
    0.583333
    """
    return ranks.mean(ranks.right / ranks.reach, _sizes(ranks))


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """A metric of label rankings; `is_share` is true for a number from 0 to 1, false for a number of labels."""

    name: str
    title: str
    compute: Callable[[LabelRanks], float]
    greater_is_better: bool
    convention: str
    source: str
    is_share: bool = True


_MEAN = "Mean over documents with a label; "
_ORDER = "equal scores in the order of the labels."
_FULL = "equal scores count against the method."
_SCHAPIRE = "Schapire & Singer 2000"
_MANNING = "Manning, Raghavan & Schütze 2008, section 8.4"


def _at(name: str, title: str, function: Callable[..., float], k: int, what: str, source: str) -> RankingMetric:
    return RankingMetric(
        f"{name}@{k}", f"{title} at {k}", partial(function, k=k), True, f"{_MEAN}{what}; {_ORDER}", source
    )


_TABLE = (
    RankingMetric(
        "one-error",
        "One-error",
        one_error,
        False,
        f"Share of documents with a label whose best label is wrong: 1 − precision at 1; {_ORDER}",
        _SCHAPIRE,
    ),
    *(_at("precision", "Precision", precision_at, k, f"hits divided by {k}", _MANNING) for k in (1, 3, 5)),
    *(_at("recall", "Recall", recall_at, k, "hits divided by the true labels", _MANNING) for k in (3, 5)),
    *(
        _at(
            "ndcg",
            "nDCG",
            ndcg_at,
            k,
            "gains of 0 and 1, discount log₂(rank + 1)",
            "Järvelin & Kekäläinen 2002",
        )
        for k in (3, 5)
    ),
    RankingMetric(
        "ranking-average-precision",
        "Average precision of the ranking",
        ranking_average_precision,
        True,
        f"{_MEAN}the mean over its true labels; {_FULL}",
        _SCHAPIRE,
    ),
    RankingMetric(
        "ranking-loss",
        "Ranking loss",
        ranking_loss,
        False,
        f"{_MEAN}share of wrongly ordered pairs, 0 for a document with all labels; {_FULL}",
        _SCHAPIRE,
    ),
    RankingMetric(
        "coverage",
        "Coverage",
        coverage,
        False,
        f"{_MEAN}labels read until all true ones are met, the last one included; {_FULL}",
        _SCHAPIRE + ", plus one",
        is_share=False,
    ),
)

RANKING_METRICS: Mapping[str, RankingMetric] = {metric.name: metric for metric in _TABLE}


def metrics_of_ranks(ranks: LabelRanks, names: Iterable[str] | None = None) -> dict[str, float]:
    """The named ranking metrics (default: all), computed from ranks, for example of several batches."""
    chosen = list(RANKING_METRICS if names is None else names)
    for name in chosen:
        if name not in RANKING_METRICS:
            raise UnknownNameError("ranking metric", name, RANKING_METRICS)
    return {name: RANKING_METRICS[name].compute(ranks) for name in chosen}


def compute_ranking_metrics(
    Y_true: LabelMatrix, scores: npt.ArrayLike, names: Iterable[str] | None = None
) -> dict[str, float]:
    """The named ranking metrics (default: all) of scores.

    >>> compute_ranking_metrics([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]], ["one-error", "coverage"])
    {'one-error': 0.5, 'coverage': 2.0}
    """
    return metrics_of_ranks(label_ranks(Y_true, scores), names)


def ranking_conventions() -> dict[str, str]:
    """How each ranking metric treats ties and documents without labels, in words."""
    return {name: metric.convention for name, metric in RANKING_METRICS.items()}


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
