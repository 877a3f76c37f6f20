"""Tests of methods over several data sets: average ranks, and whether they differ significantly.

Source: Demšar 2006, "Statistical comparisons of classifiers over multiple data sets".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from manylabel.estimator import Floats
from manylabel.exceptions import DataError, ParameterError
from manylabel.parameters import Number
from manylabel.wording import shown

LEVEL = 0.05
MOST_EXACT = 50
"""The number of data sets up to which the exact distribution of ranks is used."""


@dataclass(frozen=True, slots=True)
class Friedman:
    """The result of Friedman's test that all methods are equally good, over data sets."""

    average_ranks: tuple[float, ...]
    """1 is best."""
    n_sets: int
    chi2: float
    chi2_p: float
    f: float
    """Iman and Davenport's F, less conservative than χ²; inf where all data sets rank the methods alike."""
    p: float
    """Of F; where F is inf, the chance that all rankings agree, which is exact."""


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """Wilcoxon's signed-rank test of two methods over data sets."""

    statistic: float
    p: float
    n_sets: int
    """Data sets on which the two differ."""


def ranks(values: npt.ArrayLike, *, greater_is_better: bool = False) -> Floats:
    """The rank of each value, 1 for the best; equal values share the mean of their ranks.

    Source: Demšar 2006; used by Lee 2018, Table 4.

    >>> ranks([0.10, 0.08, 0.08, 0.05])
    array([4. , 2.5, 2.5, 1. ])
    >>> ranks([0.10, 0.08, 0.08, 0.05], greater_is_better=True)
    array([1. , 2.5, 2.5, 4. ])
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or np.isnan(numbers).any():
        raise DataError(
            f"Ranks need one number per method, none of them nan, not {numbers.tolist()!r}.",
            remedy="Leave out the data sets that some method has no result for.",
        )
    _, place, ties = np.unique(-numbers if greater_is_better else numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    shared: Floats = (last - (ties - 1) / 2)[place.reshape(-1)]
    return shared


def average_ranks(values: npt.ArrayLike, *, greater_is_better: bool = False) -> Floats:
    """The mean rank of each method (column) over the data sets (rows).

    Source: Demšar 2006; used by Lee 2018, Table 4.

    >>> average_ranks([[0.10, 0.08, 0.08, 0.05], [0.3, 0.2, 0.1, 0.4]])
    array([3.5 , 2.25, 1.75, 2.5 ])
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.shape[0]:
        raise DataError(
            f"Average ranks need a table of data sets × methods, not an array of shape {table.shape}.",
            remedy="For one data set, use `ranks`.",
        )
    mean: Floats = np.mean([ranks(row, greater_is_better=greater_is_better) for row in table], axis=0)
    return mean


def friedman(values: npt.ArrayLike, *, greater_is_better: bool = True) -> Friedman:
    """Friedman's test of a table of data sets (rows) × methods (columns).

        χ² = 12 N / (k (k + 1)) · (Σ_j R_j² − k (k + 1)² / 4) / C,    C = 1 − Σ (t³ − t) / (N k (k² − 1))
        F  = (N − 1) χ² / (N (k − 1) − χ²),    k − 1 and (k − 1)(N − 1) degrees of freedom

    R_j is the average rank of method j over N data sets; the sum of C runs over the ties of every data set, t methods
    of equal value each (Demšar leaves C out; SciPy has it). Where no data set tells any two methods apart, p = 1.

    Source: Friedman 1937; Iman & Davenport 1980; Demšar 2006, section 3.2.2.

    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.8, 0.5], [0.9, 0.5, 0.3]])
    >>> found.average_ranks, found.chi2, round(found.chi2_p, 4), found.f, round(found.p, 4)
    ((1.25, 1.75, 3.0), 6.5, 0.0388, 13.0, 0.0066)
    """
    table = _table(values)
    n_sets, k = table.shape
    ranked = np.array([ranks(row, greater_is_better=greater_is_better) for row in table])
    average = ranked.mean(axis=0)
    tied = sum(int((t**3 - t).sum()) for t in (np.unique(row, return_counts=True)[1] for row in ranked))
    correction = 1 - tied / (n_sets * k * (k**2 - 1))
    if correction <= 0:
        return Friedman(tuple(average.tolist()), n_sets, 0.0, 1.0, 0.0, 1.0)
    chi2 = 12 * n_sets / (k * (k + 1)) * float((average**2).sum() - k * (k + 1) ** 2 / 4) / correction
    f, p = _iman_davenport(ranked, max(chi2, 0.0))
    return Friedman(tuple(average.tolist()), n_sets, chi2, float(special.chdtrc(k - 1, max(chi2, 0.0))), f, p)


def critical_difference(methods: int, n_sets: int, level: float = LEVEL) -> float:
    """Nemenyi's critical difference: average ranks of k methods that differ by less are not significantly different.

        CD = q √(k (k + 1) / (6 N)),    q = the (1 − level) quantile of the studentised range of k, ∞ df, over √2

    Source: Nemenyi 1963; Demšar 2006, section 3.2.2 and Table 5(a).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range  # imported here because it takes a while

    allowed = Number(low=2, whole=True), Number(low=1, whole=True), Number(0, 1, open_low=True, open_high=True)
    if not all(one.allows(value) for one, value in zip(allowed, (methods, n_sets, level), strict=True)):
        raise ParameterError(
            "A critical difference needs a number of at least 2 methods, one of at least 1 data set, and a level "
            f"between 0 and 1, not {shown(methods)}, {shown(n_sets)} and {shown(level)}."
        )
    q = float(studentized_range.ppf(1 - level, methods, np.inf)) / math.sqrt(2)
    return q * math.sqrt(methods * (methods + 1) / (6 * n_sets))


def undivided_groups(average_ranks: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """The largest groups of methods, best first, within which no two average ranks differ by `difference` or more.

    Groups may overlap: no difference shown between a and b, nor between b and c, leaves one between a and c possible.

    >>> undivided_groups([1.0, 3.4, 2.2, 4.8], 1.5)
    [(0, 2), (2, 1), (1, 3)]
    """
    order = np.argsort(np.asarray(average_ranks), kind="stable").tolist()
    groups: list[tuple[int, ...]] = []
    end = 0
    for start, best in enumerate(order):
        stop = start + 1
        while stop < len(order) and average_ranks[order[stop]] - average_ranks[best] < difference:
            stop += 1
        if stop > end and stop - start > 1:
            groups.append(tuple(order[start:stop]))
        end = max(end, stop)
    return groups


def wilcoxon(first: npt.ArrayLike, second: npt.ArrayLike) -> Wilcoxon:
    """Wilcoxon's signed-rank test of two methods' figures on several data sets, two-sided.

    The distribution of rank sums is exact for up to 50 data sets, with average ranks for ties; above, SciPy's normal
    approximation. Data sets on which both methods are equal are left out; where none remains, p = 1. Below six data
    sets p cannot fall under 0.05.

    Source: Wilcoxon 1945; Demšar 2006, section 3.1.3.

    >>> found = wilcoxon([0.81, 0.62, 0.73, 0.94, 0.85, 0.66], [0.80, 0.60, 0.70, 0.90, 0.80, 0.60])
    >>> found.statistic, found.p, found.n_sets
    (0.0, 0.03125, 6)
    """
    from scipy import stats  # imported here because it takes a while

    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape or not np.isfinite(one - two).all():
        raise DataError(
            "Wilcoxon's test needs two lists of finite figures, one per data set, of the same length, "
            f"not arrays of shapes {one.shape} and {two.shape}."
        )
    differing = one != two
    if not differing.any():
        return Wilcoxon(0.0, 1.0, 0)
    difference = one[differing] - two[differing]
    if len(difference) > MOST_EXACT:
        found = stats.wilcoxon(difference, method="approx")
        return Wilcoxon(float(found.statistic), float(found.pvalue), len(difference))
    ranks = stats.rankdata(np.abs(difference))
    smaller = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    # Average ranks are multiples of 1/2: share[r] is the share of all signs whose positive ranks sum to r/2.
    share = np.ones(1)
    for doubled in (2 * ranks).astype(np.int64):
        share = (np.pad(share, (0, doubled)) + np.pad(share, (doubled, 0))) / 2
    p = min(1.0, 2 * float(share[: round(2 * smaller) + 1].sum()))
    return Wilcoxon(float(smaller), p, len(difference))


def _table(values: npt.ArrayLike) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise DataError(
            f"Friedman's test needs at least 2 data sets × 2 methods, not a table of shape {table.shape}.",
            remedy="For one data set, use the tests of evaluation.paired_tests.",
        )
    return table


def _iman_davenport(ranked: Floats, chi2: float) -> tuple[float, float]:
    n_sets, k = ranked.shape
    if (ranked == ranked[0]).all():
        ties = np.unique(ranked[0], return_counts=True)[1]
        arrangements = math.factorial(k) / math.prod(math.factorial(t) for t in ties.tolist())
        return math.inf, arrangements ** (1 - n_sets)
    f = (n_sets - 1) * chi2 / (n_sets * (k - 1) - chi2)
    return f, float(special.fdtrc(k - 1, (k - 1) * (n_sets - 1), f))
