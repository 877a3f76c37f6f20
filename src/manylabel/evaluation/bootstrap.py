"""Bootstrap intervals: how much a metric would vary with other test documents, by resampling documents.

Each of B resamples draws n documents with replacement; the interval reaches from the (1 − level)/2 to the
(1 + level)/2 quantile of the B values (Efron & Tibshirani 1993, section 13.3, the percentile interval). Two systems are
resampled with the same documents, so what is hard for both does not widen the interval of their difference (Berg-
Kirkpatrick, Burkett & Klein 2012 for the use in text processing).

What it covers: other documents of the same kind. What it does not: another training set, another seed, later documents
that differ. The bootstrap of macro F1 is biased for rare labels: a label with one test document is missing from 37 % of
the resamples and counts 0 there, as the convention of ``macro-f1`` says (the mean over all labels), so the values lie
lower than the figure itself and the interval with them. For differences between two systems this falls on both alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Floats
from manylabel.evaluation.statistics import (
    DocumentStatistics,
    check_paired,
    check_statistics,
    document_statistics,
    resampled_metric,
)
from manylabel.exceptions import ParameterError
from manylabel.metrics.targets import TargetMetric
from manylabel.parameters import SEED, check_parameter

__all__ = ["Difference", "Interval", "document_statistics", "interval", "paired_difference", "resampled_values"]

RESAMPLES = 1000
LEVEL = 0.95
CELLS_A_BLOCK = 1 << 22
"""Weights held in memory at a time: 32 MiB of numbers. Results do not depend on it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The value of a metric with its percentile interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The first method's value minus the second's, with its interval.

    `better` is the share of resamples in which the first is the better one, ties counted half. For a loss that is where
    the difference lies below 0.
    """

    value: float
    low: float
    high: float
    better: float

    @property
    def shown(self) -> bool:
        """Whether 0 lies outside the interval."""
        return self.low > 0 or self.high < 0


def interval(
    statistics: DocumentStatistics,
    metric: TargetMetric | str,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """The value of the metric with its percentile interval.

    >>> truth, given = [[1, 0], [1, 1], [0, 1], [1, 0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> found = interval(document_statistics(truth, given), "exact-match", seed=0)
    >>> found.value, found.low, found.high
    (0.5, 0.0, 1.0)
    """
    values = resampled_values([statistics], metric, seed, resamples)[0]
    return Interval(statistics.value(metric), *possible_ends(*percentiles(values, level), len(statistics), level))


def paired_difference(
    first: DocumentStatistics,
    second: DocumentStatistics,
    metric: TargetMetric | str,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Difference:
    """The difference of two methods on the same documents, with an interval over resamples that both share.

    >>> truth = [[1, 0], [1, 1], [0, 1], [1, 0]] * 5
    >>> other = document_statistics(truth, [[1, 0], [1, 0], [0, 1], [0, 1]] * 5)
    >>> found = paired_difference(document_statistics(truth, truth), other, "exact-match", seed=0)
    >>> found.value, found.low > 0, found.better
    (0.5, True, 1.0)
    """
    check_paired(first, second)
    one, two = resampled_values([first, second], metric, seed, resamples)
    wanted = resampled_metric(metric)
    gains = (one - two if wanted.greater_is_better else two - one)[~np.isnan(one - two)]
    better = float(np.mean((gains > 0) + 0.5 * (gains == 0))) if len(gains) else np.nan
    return Difference(first.value(metric) - second.value(metric), *percentiles(one - two, level), better)


def resampled_values(
    systems: Sequence[DocumentStatistics], metric: TargetMetric | str, seed: int = 0, resamples: int = RESAMPLES
) -> Floats:
    """The metric's values, methods × resamples; all methods share the resamples, and so have equally many documents.

    A resample in which the metric is undefined (recall@k without one labelled document) has nan.
    """
    if resamples < 1:
        raise ParameterError(f"The number of resamples must be at least 1, not {resamples}.")
    check_parameter("resampling", "seed", seed, SEED)
    check_statistics(*systems)
    for system in systems[1:]:
        check_paired(systems[0], system)
    n = len(systems[0])
    made_of = [system.fractions(metric) for system in systems]
    columns = max(fractions.above.shape[1] for fractions in made_of)
    values = np.empty((len(systems), resamples))
    start = 0
    for weights in resampled_weights(n, seed, resamples, max(n, columns)):
        for row, fractions in enumerate(made_of):
            values[row, start : start + len(weights)] = fractions.weighed(weights)
        start += len(weights)
    return values


def resampled_weights(n: int, seed: int, resamples: int, width: int) -> Iterator[Floats]:
    """How often each of n documents is drawn: resamples × documents, a block of bounded size at a time."""
    rng = np.random.default_rng(seed)
    most = max(1, CELLS_A_BLOCK // max(width, 1))
    for start in range(0, resamples, most):
        rows = [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(min(most, resamples - start))]
        yield np.array(rows, dtype=np.float64)


def possible_ends(low: float, high: float, documents: int, level: float = LEVEL) -> tuple[float, float]:
    """The ends of an interval; where it is 1 or 0 alone, it reaches as far as the documents leave possible.

    Where all documents are right, so are those of every resample, and where all are wrong likewise. The other end is
    then the share of right ones that n of n, or none of n, leave possible (Clopper & Pearson 1934).

    >>> possible_ends(0.4, 0.6, 100), [round(end, 3) for end in possible_ends(1.0, 1.0, 8)]
    ((0.4, 0.6), [0.631, 1.0])
    """
    reached = ((1 - level) / 2) ** (1 / max(documents, 1))
    if low == high == 1:
        return reached, 1.0
    return (0.0, 1 - reached) if low == high == 0 else (low, high)


def percentiles(values: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The ends of the percentile interval of resampled values; nan where none is defined."""
    if not 0 < level < 1:
        raise ParameterError(f"The level of an interval must lie between 0 and 1, not {level!r}.")
    defined = values[~np.isnan(values)]
    if not len(defined):
        return np.nan, np.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
