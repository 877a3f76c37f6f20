"""The figure to expect on new documents from the pipeline that won a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from manylabel.estimator import Floats
from manylabel.evaluation.bootstrap import possible_ends, resampled_values
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import TargetMetric
from manylabel.reports.choosing_records import Expected

RESAMPLES = 500
BLOCK = 50
"""Number of resamples computed at a time."""
LEVEL = 0.95


def expectation(
    winner: Sequence[DocumentStatistics],
    finishers: Sequence[DocumentStatistics],
    metric: TargetMetric,
    documents: int,
    *,
    folds_differ: bool,
    seed: int = 0,
) -> Expected:
    """A 95 % prediction interval for the winner's figure on new documents.

        value = mean of figures on m documents drawn from the n tested ones − optimism
        value ± t √( s²_n + s²_m + τ² (1 + 1/k) )

    s_n is the bootstrap's standard deviation of the figure itself, s_m that of a figure on m documents; τ² the variance
    between folds beyond what their sizes explain. τ is used where folds differ in kind (`folds_differ`: time-ordered
    folds, groups), since new documents are then one more such fold, and t is Student's with k − 1 degrees of freedom,
    also where τ is estimated as 0: five folds are too few to be sure of it (after Higgins, Thompson & Spiegelhalter
    2009, section 4.3). For folds drawn at random τ is 0 and t normal.

    optimism: the best of several pipelines is partly the luckiest. In every resample of the tested documents the best
    is chosen anew, and its figure there is compared with its figure on all of them; the average change of the winner's
    own figure is subtracted (Efron 1983's optimism, as in the bootstrap bias correction of Tsamardinos, Greasidou &
    Borboudakis 2018).

    Without any variance the interval is that of `possible_ends`, as in `train`.

    `winner` has the statistics of the winner's predictions per fold; `finishers` those of all pipelines that ran in all
    folds, pooled, the winner first. Not included: a model trained on all documents learns from more documents than the
    models of the folds.

    >>> Y_true = [[1, 0], [0, 1], [1, 1], [0, 1]] * 25
    >>> Y_pred = [[1, 0], [0, 1], [1, 0], [1, 0]] * 25
    >>> from manylabel.evaluation.statistics import document_statistics
    >>> one = document_statistics(Y_true, Y_pred)
    >>> found = expectation([one], [one], TargetMetric("exact-match", "", True), 100, folds_differ=False)
    >>> round(found.value, 2), found.low < 0.5 < found.high, found.optimism
    (0.5, True, 0.0)
    """
    pooled = finishers[0]
    values = resampled_values(finishers, metric, seed, RESAMPLES)
    spread = float(np.nanstd(values[0]))
    on_new = _drawn(pooled, metric, documents, seed)
    optimism = _optimism(values, finishers, metric)
    between = _between_folds(winner, metric, seed) if folds_differ and len(winner) > 1 else 0.0
    k = len(winner)
    width = math.sqrt(spread**2 + float(np.nanvar(on_new)) + between**2 * (1 + 1 / k))
    in_kind = folds_differ and k > 1
    t = float(special.stdtrit(k - 1, (1 + LEVEL) / 2) if in_kind else special.ndtri((1 + LEVEL) / 2))
    value = float(np.nanmean(on_new)) - (optimism if metric.greater_is_better else -optimism)
    low, high = possible_ends(max(0.0, value - t * width), min(1.0, value + t * width), len(pooled))
    return Expected(value, low, high, documents, optimism, spread, float(np.nanstd(on_new)), between)


def _drawn(statistics: DocumentStatistics, metric: TargetMetric, documents: int, seed: int) -> Floats:
    """The metric on `RESAMPLES` samples of this many documents, drawn with replacement."""
    rng = np.random.default_rng(seed + 1)
    fractions, n = statistics.fractions(metric), len(statistics)
    values = []
    for start in range(0, RESAMPLES, BLOCK):
        rows = (np.bincount(rng.integers(n, size=documents), minlength=n) for _ in range(start, start + BLOCK))
        values.append(fractions.weighed(np.array(list(rows), dtype=np.float64)))
    return np.concatenate(values)


def _optimism(values: Floats, finishers: Sequence[DocumentStatistics], metric: TargetMetric) -> float:
    """The average amount by which the best pipeline of a resample looks better there than on all; at least 0."""
    if len(finishers) < 2:
        return 0.0
    gains = values if metric.greater_is_better else -values
    full = np.array([metric.gain(one.value(metric)) for one in finishers])
    gains = np.where(np.isnan(gains), -np.inf, gains)
    best = gains.argmax(axis=0)
    looks = gains[best, np.arange(gains.shape[1])] - full[best]
    moves = gains[0] - full[0]
    both = np.isfinite(looks) & np.isfinite(moves)
    return max(0.0, float(np.mean(looks[both] - moves[both]))) if both.any() else 0.0


def _between_folds(folds: Sequence[DocumentStatistics], metric: TargetMetric, seed: int) -> float:
    """τ, the standard deviation between folds beyond chance.

    Estimated by the method of moments of DerSimonian & Laird 1986, with equal weights of the folds.
    """
    figures = np.array([fold.value(metric) for fold in folds])
    within = [float(np.nanvar(resampled_values([fold], metric, seed, RESAMPLES // 2))) for fold in folds]
    return math.sqrt(max(0.0, float(figures.var(ddof=1)) - float(np.mean(within))))
