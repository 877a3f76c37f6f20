"""Differences with confidence intervals, and the rule by which they decide whether a claim holds.

A difference comes with a 95 % percentile interval of a paired bootstrap: both sides are computed on the same resamples
of whatever the figure is a mean over, be it test documents, splits, draws, folds or data sets. A statement about it
then holds, fails, or is open:

above   the first is above the second by more than `by`: holds where the whole interval lies above `by`, fails where it
        lies below, and is open where it contains `by`. Equal figures are open.
level   both are within `margin` of each other: holds where the whole interval lies within the margin, fails where it
        lies outside, and is open otherwise.

near    a printed figure is reproduced where ours lies within `NEAR` points of it: the paper's own sampling error is not
        known.

"Similar", "close" and "flat" mean level within `NEAR` points; "much", "far" and "clearly" mean above by `CLEAR` points.

A claim whose statements all hold is reproduced, one whose statements all fail is not, any other is reproduced in part
(`manylabel.evaluation.findings.Verdict.of`). With few repeats the interval is somewhat too narrow, and random splits
of the same documents are not independent: a lead that it shows is shown for these data, not for others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.evaluation.bootstrap import RESAMPLES, percentiles, resampled_weights

NEAR = 1.5
"""Points within which two figures are the same."""
CLEAR = 5.0
"""Points by which one figure is far above another."""


def near(ours: float, paper: float) -> bool:
    """Whether our value agrees with the paper's.

    >>> near(8.6, 8.56), near(84.6, 92.4)
    (True, False)
    """
    return abs(ours - paper) <= NEAR


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference and its 95 % interval.

    >>> Gap(0.18, -0.05, 0.4).text()
    '+0.18 (-0.05 to +0.40)'
    """

    value: float
    low: float
    high: float

    def above(self, by: float = 0.0) -> bool | None:
        """Whether the difference is above `by`; None where the interval contains it.

        >>> [Gap(*gap).above() for gap in ((2.0, 1.0, 3.0), (-2.0, -3.0, -1.0), (0.1, -1.0, 1.0), (0.0, 0.0, 0.0))]
        [True, False, None, None]
        """
        if self.low > by:
            return True
        return False if self.high < by else None

    def level(self, margin: float = NEAR) -> bool | None:
        """Whether the difference is within `margin` of 0; None where the interval reaches across the margin.

        >>> [Gap(*gap).level(1.0) for gap in ((0.1, -0.5, 0.7), (3.0, 2.0, 4.0), (0.8, 0.3, 1.3))]
        [True, False, None]
        """
        if -margin <= self.low and self.high <= margin:
            return True
        return False if self.low > margin or self.high < -margin else None

    def text(self, digits: int = 2) -> str:
        """The difference with its interval in parentheses."""
        return f"{self.value:+.{digits}f} ({self.low:+.{digits}f} to {self.high:+.{digits}f})"


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """A metric as Σ above / Σ below over documents: a mean if `below` is 1, a micro average if it is a count."""

    above: Floats
    below: Floats

    @classmethod
    def mean(cls, values: npt.ArrayLike) -> Ratios:
        """The mean of one value per document or repeat."""
        values = np.asarray(values, dtype=np.float64)
        return cls(values, np.ones(len(values)))

    def resampled(self, weights: Floats) -> Floats:
        """The value for each row of weights; nan where the denominator is 0."""
        below = weights @ self.below
        found: Floats = np.divide(weights @ self.above, below, out=np.full(len(below), np.nan), where=below > 0)
        return found


def paired_gap(first: Ratios, second: Ratios, scale: float = 1.0, seed: int = 0) -> Gap:
    """The first value minus the second, times `scale`, with an interval over shared resamples.

    >>> paired_gap(Ratios.mean([1.0, 1.0, 1.0]), Ratios.mean([0.0, 0.0, 0.0]), scale=100.0)
    Gap(value=100.0, low=100.0, high=100.0)
    """
    return resampled_gap(
        lambda weights: scale * (first.resampled(weights) - second.resampled(weights)), len(first.above), seed
    )


def repeat_gap(first: Sequence[float], second: Sequence[float], seed: int = 0) -> Gap:
    """The mean of the first minus that of the second over the repeats that both have (splits, draws, folds, data sets).

    >>> repeat_gap([3.0, 5.0], [2.0, 4.0])
    Gap(value=1.0, low=1.0, high=1.0)
    """
    shared = min(len(first), len(second))
    return paired_gap(Ratios.mean(first[:shared]), Ratios.mean(second[:shared]), seed=seed)


def resampled_gap(statistic: Callable[[Floats], Floats], n: int, seed: int = 0) -> Gap:
    """Any statistic of n documents or repeats with its interval; `statistic` returns one value per row of weights.

    >>> resampled_gap(lambda weights: weights @ np.array([1.0, 1.0]) / 2, 2)
    Gap(value=1.0, low=1.0, high=1.0)
    """
    value = float(statistic(np.ones((1, n)))[0])
    values = np.concatenate([statistic(weights) for weights in resampled_weights(n, seed, RESAMPLES, n)])
    return Gap(value, *percentiles(values))


def leads(figures: Mapping[str, Ratios], first: str, scale: float = 1.0) -> dict[str, Gap]:
    """The lead of one method over each other one, by name."""
    return {name: paired_gap(figures[first], other, scale) for name, other in figures.items() if name != first}


def leads_text(first: str, gaps: Mapping[str, Gap], digits: int = 2) -> str:
    """The leads of a method in words.

    >>> leads_text("SVM", {"NB": Gap(1.0, 0.5, 1.5)}, 1)
    'SVM minus NB +1.0 (+0.5 to +1.5).'
    """
    return f"{first} minus " + ", ".join(f"{name} {gap.text(digits)}" for name, gap in gaps.items()) + "."
