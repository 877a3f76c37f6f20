"""Which labels get better with more documents, which do not, and of which it cannot be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.bootstrap import resampled_weights
from manylabel.evaluation.document_statistics import DocumentStatistics

FEWEST = 10
"""Test documents below which nothing is said of a label."""
LEVEL_BELOW = 0.02
"""A label is level where a doubling of the documents moves its F1 by less than this, as far as can be told."""

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class LabelTrend:
    """The F1 of one label at each size, and what a doubling of the documents adds to it: `slope`, with an interval.

    `verdict`: "rising" where the interval lies above 0, "level" where it lies below two points, "open" where it is too
    wide for either, "rare" where there are too few test documents to look.
    """

    column: int
    tested: int
    f1: list[float]
    slope: float
    low: float
    high: float
    verdict: str


def label_trends(
    sizes: Sequence[int],
    runs: Sequence[Sequence[DocumentStatistics]],
    *,
    last: int = 3,
    level: float = 0.9,
    resamples: int = 200,
    seed: int = 0,
) -> list[LabelTrend]:
    """The trend of every label with a test document over the `last` sizes, in the order of columns.

    `runs` has for each size the answers of each repeat, all to the same documents. The slope is that of the
    least-squares line of F1, averaged over repeats, on log₂ of the size; its interval the percentile interval over
    resamples of documents and repeats. Of labels without a trend, half of 1 − `level` look as if they rose.
    """
    truth = runs[0][0].truth
    tested = np.asarray(truth.sum(axis=0)).ravel().astype(np.int64)
    columns = np.flatnonzero(tested)
    curves = np.array([[_f1(run, None, columns) for run in step] for step in runs])[:, :, 0, :].mean(axis=1)
    told = np.flatnonzero(tested >= FEWEST)
    drawn = _resampled_slopes(sizes[-last:], runs[-last:], told, resamples, seed)
    slopes = dict(zip(told.tolist(), drawn.T, strict=True))
    found = []
    for place, column in enumerate(columns.tolist()):
        slope = float(_slopes(sizes[-last:], curves[-last:, place][:, np.newaxis])[0])
        low, high = (np.nan, np.nan)
        if column in slopes:
            low, high = np.quantile(slopes[column], [(1 - level) / 2, (1 + level) / 2])
        verdict = _verdict(low, high)
        figures = [float(value) for value in curves[:, place]]
        found.append(LabelTrend(column, int(tested[column]), figures, slope, float(low), float(high), verdict))
    return found


def _verdict(low: float, high: float) -> str:
    if low != low:
        return "rare"
    if low > ROUNDING:
        return "rising"
    return "level" if high < LEVEL_BELOW else "open"


def _resampled_slopes(
    sizes: Sequence[int], runs: Sequence[Sequence[DocumentStatistics]], columns: Ints, resamples: int, seed: int
) -> Floats:
    """Resamples × labels: the slopes under resampled documents and repeats."""
    n, repeats = len(runs[0][0]), len(runs[0])
    random = np.random.default_rng([seed, 1])
    parts = []
    for weights in resampled_weights(n, seed, resamples, max(n, columns.size * len(runs))):
        shares = random.multinomial(repeats, np.full(repeats, 1 / repeats), size=len(weights)) / repeats
        steps = []
        for step in runs:
            by_repeat = [shares[:, [place]] * _f1(run, weights, columns) for place, run in enumerate(step)]
            steps.append(np.sum(by_repeat, axis=0))
        parts.append(_slopes(sizes, np.array(steps).reshape(len(runs), -1)).reshape(len(weights), -1))
    return np.concatenate(parts)


def _slopes(sizes: Sequence[int], values: Floats) -> Floats:
    """The slope on log₂ n of each column of values, sizes × columns."""
    x = np.log2(np.asarray(sizes, dtype=np.float64))
    x = x - x.mean()
    return np.asarray(x @ values / (x @ x))


def _f1(run: DocumentStatistics, weights: Floats | None, columns: Ints) -> Floats:
    """Weights × labels: F1 = 2 · right / (true + given), 0 where a label is neither true nor given."""
    rows = np.ones((1, len(run))) if weights is None else weights
    right, true, given = (np.asarray(rows @ Csr(matrix[:, columns])) for matrix in (run.right, run.truth, run.given))
    below = (true + given).astype(np.float64)
    shares: Floats = np.divide(2.0 * right, below, out=np.zeros(below.shape), where=below > 0)
    return shares
