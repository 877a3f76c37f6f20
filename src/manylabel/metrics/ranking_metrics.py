"""The table of metrics that need scores instead of label sets: how well labels are ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy.typing as npt

from manylabel.exceptions import UnknownNameError
from manylabel.metrics import ranking
from manylabel.metrics.counts import LabelMatrix
from manylabel.metrics.ranking import LabelRanks, label_ranks


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """One number about label rankings; `is_share` tells a number from 0 to 1 from a count of labels."""

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
        ranking.one_error,
        False,
        f"Share of documents with a label whose best label is wrong: 1 − precision at 1; {_ORDER}",
        _SCHAPIRE,
    ),
    *(_at("precision", "Precision", ranking.precision_at, k, f"hits divided by {k}", _MANNING) for k in (1, 3, 5)),
    *(_at("recall", "Recall", ranking.recall_at, k, "hits divided by the true labels", _MANNING) for k in (3, 5)),
    *(
        _at(
            "ndcg",
            "nDCG",
            ranking.ndcg_at,
            k,
            "gains of 0 and 1, discount log₂(rank + 1)",
            "Järvelin & Kekäläinen 2002",
        )
        for k in (3, 5)
    ),
    RankingMetric(
        "ranking-average-precision",
        "Average precision of the ranking",
        ranking.ranking_average_precision,
        True,
        f"{_MEAN}the mean over its true labels; {_FULL}",
        _SCHAPIRE,
    ),
    RankingMetric(
        "ranking-loss",
        "Ranking loss",
        ranking.ranking_loss,
        False,
        f"{_MEAN}share of wrongly ordered pairs, 0 for a document with all labels; {_FULL}",
        _SCHAPIRE,
    ),
    RankingMetric(
        "coverage",
        "Coverage",
        ranking.coverage,
        False,
        f"{_MEAN}labels read until all true ones are met, the last one included; {_FULL}",
        _SCHAPIRE + ", plus one",
        is_share=False,
    ),
)

RANKING_METRICS: Mapping[str, RankingMetric] = {metric.name: metric for metric in _TABLE}


def metrics_of_ranks(ranks: LabelRanks, names: Iterable[str] | None = None) -> dict[str, float]:
    """The named ranking metrics (default: all) of ranks that may have been put together from batches."""
    chosen = list(RANKING_METRICS if names is None else names)
    for name in chosen:
        if name not in RANKING_METRICS:
            raise UnknownNameError("ranking metric", name, RANKING_METRICS)
    return {name: RANKING_METRICS[name].compute(ranks) for name in chosen}


def compute_ranking_metrics(
    T: LabelMatrix, scores: npt.ArrayLike, names: Iterable[str] | None = None
) -> dict[str, float]:
    """The named ranking metrics (default: all) of scores against the truth T.

    >>> compute_ranking_metrics([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]], ["one-error", "coverage"])
    {'one-error': 0.5, 'coverage': 2.0}
    """
    return metrics_of_ranks(label_ranks(T, scores), names)


def ranking_conventions() -> dict[str, str]:
    """What each ranking metric does with ties and with documents without labels, in words."""
    return {name: metric.convention for name, metric in RANKING_METRICS.items()}
