"""Metrics of how well a ranking of labels by their scores places the true labels first.

No threshold is involved. All are computed from the ranks of the true labels, which can be counted batch by batch. A
document without true labels is left out of every mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.metrics.counts import LabelMatrix
from manylabel.metrics.ranks import LabelRanks, label_ranks
from manylabel.parameters import names_given


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


def f1_at(ranks: LabelRanks, k: int) -> float:
    """The mean F1 of predicting the k best: twice the hits, divided by k and the number of true labels together.

    As ``F1@5`` of ``annif eval``, which also counts documents without true labels, with 0.

    >>> f1_at(label_ranks([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]]), 2)
    0.5833333333333333
    """
    return ranks.mean(np.where(ranks.rank <= k, 2.0, 0.0), k + _sizes(ranks))


def ndcg_at(ranks: LabelRanks, k: int) -> float:
    """The mean of Σ 1/log₂(r + 1) over true labels of rank r ≤ k, divided by its largest value for |T| labels.

    Source: Järvelin & Kekäläinen 2002, gains of 0 and 1. scikit-learn averages over the orders of equal scores; we use
    the order of `label_ranking`.

    >>> round(ndcg_at(label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]]), 3), 6)
    0.693426
    """
    gains = np.where(ranks.rank <= k, 1.0 / np.log2(ranks.rank + 1.0), 0.0)
    return ranks.mean(gains, _discounts(k)[np.minimum(_sizes(ranks), k)])


def propensities(label_documents: npt.ArrayLike, n_documents: int, a: float = 0.55, b: float = 1.5) -> Floats:
    """The estimated probability that a label which applies to a document was assigned to it, for each label.

        p = 1 / (1 + C (N_l + b)^−a),   C = (log N − 1) (b + 1)^a

    of N training documents, of which N_l have the label: indexers overlook rare labels. Source: Jain, Prabhu & Varma
    2016, eq. 1, with their a and b for Wikipedia. C is at least 0, so that p is at most 1 for N < e.

    >>> propensities([0, 10, 1000], 10_000).round(4).tolist()
    [0.0842, 0.2199, 0.7669]
    """
    scale = max(0.0, np.log(max(n_documents, 1)) - 1.0) * (b + 1.0) ** a
    return np.asarray(1.0 / (1.0 + scale * (np.asarray(label_documents, dtype=np.float64) + b) ** -a))


def ps_precision_at(ranks: LabelRanks, k: int) -> float:
    """Precision at k in which a hit counts 1/p, divided by that of the best possible ranking.

    Σ_i Σ_{hits among the k best} 1/p  /  Σ_i (the k largest 1/p of the true labels), over all documents i. Source:
    Jain, Prabhu & Varma 2016; divided by the best possible value as in the Extreme Classification Repository.

    >>> ranks = label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]], propensities=[0.5, 1.0, 0.25])
    >>> ps_precision_at(ranks, 1), round(ps_precision_at(ranks, 2), 6)
    (0.0, 0.666667)
    """
    gain, best = _known_gain(ranks), _best_ranks(ranks)
    return _share(np.sum(gain[ranks.rank <= k]), np.sum(gain[best <= k]))


def ps_ndcg_at(ranks: LabelRanks, k: int) -> float:
    """The nDCG at k in which a hit counts 1/p, divided by that of the best possible ranking.

    Per document Σ (1/p)/log₂(r + 1) over true labels of rank r ≤ k, divided by Σ 1/log₂(r + 1) over the ranks up to
    min(k, |T|); the mean over documents is divided by that of the best possible ranking. Source: as `ps_precision_at`.

    >>> ranks = label_ranks([[1, 0, 1]], [[0.2, 0.9, 0.3]], propensities=[0.5, 1.0, 0.25])
    >>> round(ps_ndcg_at(ranks, 2), 6)
    0.479625
    """
    gain, best = _known_gain(ranks), _best_ranks(ranks)
    reachable = _discounts(k)[np.minimum(_sizes(ranks), k)]

    def mean(rank: Ints) -> float:
        return ranks.mean(np.where(rank <= k, gain / np.log2(rank + 1.0), 0.0), reachable)

    return _share(mean(ranks.rank), mean(best))


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
    """A metric of label rankings; `is_share` is true for a number from 0 to 1, false for a number of labels.

    `uses_propensities` is true for metrics that weigh labels by their propensities, which the ranks must know.
    """

    name: str
    title: str
    compute: Callable[[LabelRanks], float]
    greater_is_better: bool
    convention: str
    source: str
    is_share: bool = True
    uses_propensities: bool = False


_MEAN = "Mean over documents with a label; "
_ORDER = "equal scores in the order of the labels."
_FULL = "equal scores count against the method."
_SCHAPIRE = "Schapire & Singer 2000"
_MANNING = "Manning, Raghavan & Schütze 2008, section 8.4"
_JAIN = "Jain, Prabhu & Varma 2016"


def _at(name: str, title: str, function: Callable[..., float], k: int, what: str, source: str) -> RankingMetric:
    return RankingMetric(
        f"{name}@{k}", f"{title} at {k}", partial(function, k=k), True, f"{_MEAN}{what}; {_ORDER}", source
    )


def _recall_at(k: int) -> RankingMetric:
    return _at("recall", "Recall", recall_at, k, "hits divided by the true labels", _MANNING)


def _scored_at(name: str, title: str, function: Callable[..., float], k: int) -> RankingMetric:
    what = f"a hit counts 1/p of its label; divided by the best possible value; {_ORDER}"
    compute = partial(function, k=k)
    return RankingMetric(f"{name}@{k}", f"{title} at {k}", compute, True, what.capitalize(), _JAIN, True, True)


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
    *(_recall_at(k) for k in (3, 5)),
    _at("f1", "F1", f1_at, 5, "twice the hits divided by 5 and the true labels together", "annif eval, there F1@5"),
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
    *(_scored_at("ps-precision", "Propensity-scored precision", ps_precision_at, k) for k in (1, 3, 5)),
    *(_scored_at("ps-ndcg", "Propensity-scored nDCG", ps_ndcg_at, k) for k in (3, 5)),
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


def find_ranking_metric(name: str) -> RankingMetric:
    """The ranking metric with this name: a row of the table, or recall at any other number of labels.

    >>> find_ranking_metric("recall@10").title
    'Recall at 10'
    """
    if name in RANKING_METRICS:
        return RANKING_METRICS[name]
    if found := re.fullmatch(r"recall@([1-9]\d*)", name):
        return _recall_at(int(found[1]))
    raise UnknownNameError("ranking metric", name, RANKING_METRICS)


def metrics_of_ranks(ranks: LabelRanks, names: Iterable[str] | None = None) -> dict[str, float]:
    """The named ranking metrics (default: all), computed from ranks, for example of several batches.

    Where the ranks know no propensities, "all" leaves out the metrics that need them.
    """
    known = [name for name, one in RANKING_METRICS.items() if ranks.gain is not None or not one.uses_propensities]
    wanted = known if names is None else names_given("names", names)
    return {name: find_ranking_metric(name).compute(ranks) for name in wanted}


def compute_ranking_metrics(
    Y_true: LabelMatrix,
    scores: npt.ArrayLike,
    names: Iterable[str] | None = None,
    propensities: npt.ArrayLike | None = None,
) -> dict[str, float]:
    """The named ranking metrics (default: all) of scores; those named ``ps-…`` need the `propensities` of the labels.

    >>> compute_ranking_metrics([[1, 0, 1], [0, 0, 1]], [[0.2, 0.9, 0.3], [0.5, 0.1, 0.7]], ["one-error", "coverage"])
    {'one-error': 0.5, 'coverage': 2.0}
    """
    return metrics_of_ranks(label_ranks(Y_true, scores, propensities), names)


def ranking_conventions() -> dict[str, str]:
    """How each ranking metric treats ties and documents without labels, in words."""
    return {name: metric.convention for name, metric in RANKING_METRICS.items()}


def _sizes(ranks: LabelRanks) -> Ints:
    return ranks.sizes[ranks.sizes > 0]


def _discounts(k: int) -> Floats:
    """Σ_{r ≤ n} 1/log₂(r + 1) for n = 0 to k."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, k + 2)))])


def _known_gain(ranks: LabelRanks) -> Floats:
    if ranks.gain is None:
        raise DataError(
            "Propensity-scored metrics need the propensities of the labels. Pass propensities= to label_ranks or "
            "compute_ranking_metrics; manylabel.metrics.propensities estimates them from the training documents."
        )
    return ranks.gain


def _best_ranks(ranks: LabelRanks) -> Ints:
    """The rank of each true label in a ranking of its document that begins with the true labels, largest 1/p first."""
    documents = ranks.documents
    order = np.lexsort((-_known_gain(ranks), documents))
    starts = np.concatenate([[0], np.cumsum(_sizes(ranks))]).astype(np.int64)
    best = np.empty(len(order), dtype=np.int64)
    best[order] = np.arange(len(order)) - starts[documents[order]] + 1
    return best


def _share(reached: float, possible: float) -> float:
    return float(reached / possible) if possible > 0 else float("nan")
