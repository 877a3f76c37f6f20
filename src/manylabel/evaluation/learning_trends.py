"""Learning curves as inverse power laws, and which labels still improve with more documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.bootstrap import resampled_weights
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.exceptions import DataError
from manylabel.wording import counted

RATES = np.geomspace(0.05, 2.0, 80)
"""The values of c that are tried: below them a curve is as good as logarithmic, above them it ends at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaws:
    """One or more curves a − b · n^(−c): `a` is the limit for many documents, `c` how fast it is approached."""

    a: Floats
    b: Floats
    c: Floats

    def at(self, documents: float) -> Floats:
        """The value of each curve at a number of documents.

        >>> PowerLaws(np.array([0.9]), np.array([2.0]), np.array([0.5])).at(100).round(3).tolist()
        [0.7]
        """
        return np.asarray(self.a - self.b * float(documents) ** -self.c)


def fit_power_laws(documents: npt.ArrayLike, values: npt.ArrayLike, best: float = 1.0) -> PowerLaws:
    """The curve a − b · n^(−c), b ≥ 0, a ≤ `best`, nearest to each row of values; greater values are better.

    Least squares, the i-th of k sizes weighed i / k, since a law for many documents need not hold for a few. For each
    of `RATES` a and b follow in closed form. At least three sizes are needed.

    Source: Cortes, Jackel, Solla, Vapnik & Denker 1994, equation 1, for the form; Figueroa, Zeng-Treitler, Kandula &
    Ngo 2012 for the weights.

    >>> sizes = np.array([100, 200, 400, 800])
    >>> laws = fit_power_laws(sizes, 0.9 - 2 * sizes**-0.5)
    >>> laws.at(1600).round(3).tolist()
    [0.85]
    """
    sizes, rows = np.asarray(documents, dtype=np.float64), np.atleast_2d(np.asarray(values, dtype=np.float64))
    if sizes.size < 3 or rows.shape[1] != sizes.size:
        raise DataError(
            f"A learning curve is fitted to three sizes or more and a value for each, not to {sizes.size} sizes and "
            f"{counted(rows.shape[1], 'value')}."
        )
    weights = np.arange(1, sizes.size + 1) / sizes.size
    weights /= weights.sum()
    largest = sizes.max()
    found = np.full((4, len(rows)), np.inf)
    for rate in RATES:
        x = (sizes / largest) ** -rate
        a, b = _line(x, rows, weights, best)
        error = ((a[:, np.newaxis] - np.outer(b, x) - rows) ** 2) @ weights
        better = error < found[0]
        found[:, better] = np.stack([error, a, b * largest**rate, np.full(len(rows), rate)])[:, better]
    return PowerLaws(*found[1:])


def _line(x: Floats, values: Floats, weights: Floats, best: float) -> tuple[Floats, Floats]:
    """The a and b of the weighed least-squares lines a − b·x with b ≥ 0 and a ≤ best."""
    mean_x, mean = x @ weights, values @ weights
    spread = ((x - mean_x) ** 2) @ weights
    b = np.maximum(-(values - mean[:, np.newaxis]) @ (weights * (x - mean_x)) / spread, 0.0)
    a = mean + b * mean_x
    over = a > best
    a[over] = best
    b[over] = ((best - values[over]) @ (weights * x)) / ((x**2) @ weights)
    return a, b


FEWEST = 10
"""Labels with fewer test documents are not judged."""
LEVEL_BELOW = 0.02
"""A label is level where a doubling of the documents moves its F1 by less than this."""

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

    `runs` has for each size the predictions of each repeat, all for the same documents. The slope is that of the
    least-squares line of F1, averaged over repeats, on log₂ of the size; its interval the percentile interval over
    resamples of documents and repeats. Of labels without a trend, half of 1 − `level` look as if they rose.
    """
    tested = np.asarray(runs[0][0].Y_true.sum(axis=0)).ravel().astype(np.int64)
    columns = np.flatnonzero(tested)
    curves = np.array([[_f1(run, None, columns) for run in step] for step in runs])[:, :, 0, :].mean(axis=1)
    judged = np.flatnonzero(tested >= FEWEST)
    drawn = _resampled_slopes(sizes[-last:], runs[-last:], judged, resamples, seed)
    slopes = dict(zip(judged.tolist(), drawn.T, strict=True))
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
    slopes = []
    for weights in resampled_weights(n, seed, resamples, max(n, columns.size * len(runs))):
        shares = random.multinomial(repeats, np.full(repeats, 1 / repeats), size=len(weights)) / repeats
        steps = []
        for step in runs:
            by_repeat = [shares[:, [place]] * _f1(run, weights, columns) for place, run in enumerate(step)]
            steps.append(np.sum(by_repeat, axis=0))
        slopes.append(_slopes(sizes, np.array(steps).reshape(len(runs), -1)).reshape(len(weights), -1))
    return np.concatenate(slopes)


def _slopes(sizes: Sequence[int], values: Floats) -> Floats:
    """The slope on log₂ n of each column of values, sizes × columns."""
    x = np.log2(np.asarray(sizes, dtype=np.float64))
    x = x - x.mean()
    return np.asarray(x @ values / (x @ x))


def _f1(run: DocumentStatistics, weights: Floats | None, columns: Ints) -> Floats:
    """Weights × labels: F1 = 2 · right / (true + predicted), 0 where a label is neither true nor predicted."""
    rows = np.ones((1, len(run))) if weights is None else weights
    right, true, predicted = (
        np.asarray(rows @ Csr(matrix[:, columns])) for matrix in (run.right, run.Y_true, run.Y_pred)
    )
    below = (true + predicted).astype(np.float64)
    shares: Floats = np.divide(2.0 * right, below, out=np.zeros(below.shape), where=below > 0)
    return shares
