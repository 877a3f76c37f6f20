"""Methods on repeated random splits or folds: means, standard deviations, and tests of their differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import fdtrc, stdtr, stdtrit

from manylabel.evaluation.paired_tests import t_test
from manylabel.exceptions import DataError
from manylabel.metrics.table import METRICS

TESTED = ("micro-f1", "macro-f1", "sample-f1", "jaccard", "exact-match", "hamming-loss")
"""The metrics that are averaged over splits and tested."""
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class SplitTest:
    """The difference of two methods over the same splits, by the paired and by the corrected t-test; both two-sided."""

    difference: float
    """Mean of the first minus mean of the second."""
    t: float
    p: float
    """Of the paired t-test, which takes the splits for independent and so finds too many differences."""
    corrected_t: float
    corrected_p: float
    """Of the corrected resampled t-test."""
    low: float
    high: float
    """The 95 % interval of the difference, by the corrected test."""
    df: int
    higher: int
    """In how many splits the first has the higher value."""


def split_t_test(first: npt.ArrayLike, second: npt.ArrayLike, test_to_train: float) -> SplitTest:
    """The paired t-test and the corrected resampled t-test of two methods over R random splits.

    paired      t = m / (s √(1/R))                         m, s: mean and standard deviation of the R differences
    corrected   t = m / (s √(1/R + n_test/n_train))        both with R − 1 degrees of freedom, two-sided

    Random splits share documents, so their differences are correlated and their mean varies more than s/√R. The
    correction estimates the correlation by n_test / (n_test + n_train). `test_to_train` is n_test/n_train.

    Source: Nadeau & Bengio 2003, section 3; for splits of one data set Bouckaert & Frank 2004. The paired test is that
    of Godbole & Sarawagi 2004, section 5.3, there directional. Differences that are all 0 have no t (nan) and p 1.

    >>> found = split_t_test([0.8, 0.7, 0.9, 0.8], [0.7, 0.7, 0.7, 0.7], test_to_train=0.5)
    >>> round(found.difference, 6), round(found.t, 4), round(found.p, 4)
    (0.1, 2.4495, 0.0917)
    >>> round(found.corrected_t, 4), round(found.corrected_p, 4), found.higher
    (1.4142, 0.2522, 3)
    """
    if not test_to_train > 0:
        raise DataError(f"test_to_train must be a number above 0, not {test_to_train!r}.")
    plain = t_test(first, second, paired=True)
    gaps = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    runs = len(gaps)
    spread = 0.0 if (gaps == gaps[0]).all() else float(gaps.std(ddof=1))
    corrected = plain.t * math.sqrt(1 / (1 + runs * test_to_train))
    half = float(stdtrit(plain.df, (1 + LEVEL) / 2)) * spread * math.sqrt(1 / runs + test_to_train)
    return SplitTest(
        difference=plain.difference,
        t=plain.t,
        p=_two_sided(plain.t, plain.df),
        corrected_t=corrected,
        corrected_p=_two_sided(corrected, plain.df),
        low=plain.difference - half,
        high=plain.difference + half,
        df=plain.df,
        higher=int((gaps > 0).sum()),
    )


def _two_sided(t: float, df: int) -> float:
    return 1.0 if math.isnan(t) else min(1.0, 2 * float(stdtr(df, -abs(t))))


@dataclass(frozen=True, slots=True)
class RepeatedSplits:
    """The metrics of some methods on the same random splits."""

    data: str
    split: str
    """How the splits were made, in words."""
    documents: int
    train: int
    test: int
    """Documents of the first split."""
    seed: int
    values: Mapping[str, Mapping[str, Sequence[float]]]
    """By method and metric, one value per split."""
    seconds: float
    skipped: list[str]
    recipes: Mapping[str, Mapping[str, Any]]
    """The resolved settings of each method."""
    conventions: Mapping[str, str]
    """How the metrics count, in words."""
    versions: Mapping[str, str]
    documents_sha256: str
    """All documents that were divided and their labels, as a hash like that of `Result`."""

    @property
    def methods(self) -> list[str]:
        """The methods, in the order they were named."""
        return list(self.values)

    @property
    def repeats(self) -> int:
        """The number of splits."""
        return len(self.values[self.methods[0]][TESTED[0]])

    def mean_and_deviation(self, method: str, metric: str) -> tuple[float, float]:
        """The mean over splits and the standard deviation (n − 1 below)."""
        values = np.asarray(self.values[method][metric])
        return float(values.mean()), float(values.std(ddof=1))

    def tests(self) -> dict[str, dict[str, SplitTest]]:
        """The tests of the first method against each other one, by that method and by metric."""
        first, *others = self.methods
        return {
            other: {
                metric: split_t_test(self.values[first][metric], self.values[other][metric], self.test / self.train)
                for metric in TESTED
            }
            for other in others
        }

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data, with means, deviations and tests."""
        means = {
            method: {
                metric: dict(zip(("mean", "sd"), self.mean_and_deviation(method, metric), strict=True))
                for metric in TESTED
            }
            for method in self.methods
        }
        tests = {
            other: {metric: asdict(test) for metric, test in found.items()} for other, found in self.tests().items()
        }
        titles = {metric: METRICS[metric].title for metric in TESTED}
        return {**asdict(self), "repeats": self.repeats, "means": means, "tests": tests, "titles": titles}


# ---- repeated cross-validation ---------------------------------------------------------------------------------------
# Folds share training documents, so their values vary less than those of independent runs. Student's t-test over folds
# finds too many differences; these tests allow for it.

FIVE_BY_TWO = (5, 2)


@dataclass(frozen=True, slots=True)
class RepeatedTest:
    """The statistic and the two-sided p of a test over repeated folds, and the name of the test."""

    name: str
    statistic: float
    p: float


def repeated_test(differences: npt.ArrayLike) -> RepeatedTest:
    """The test for a table of differences, repetitions × folds: the 5×2 F test where it has that shape, else the
    corrected t-test.
    """
    table = _table(differences)
    return f_test_5x2(table) if table.shape == FIVE_BY_TWO else corrected_t_test(table)


def f_test_5x2(differences: npt.ArrayLike) -> RepeatedTest:
    """The combined 5×2 cross-validation F test of the differences between two methods, 5 repetitions × 2 folds.

        f = Σ_i Σ_j d_ij² / (2 Σ_i s_i²),   s_i² = (d_i1 − d̄_i)² + (d_i2 − d̄_i)²;   F with 10 and 5 degrees of freedom

    Source: Alpaydın 1999, equation 1, after the 5×2 t-test of Dietterich 1998, which uses one of the ten differences
    above the line. Without any difference p = 1.

    >>> found = f_test_5x2([[0.02, 0.01], [0.03, 0.02], [0.02, 0.02], [0.01, 0.03], [0.02, 0.01]])
    >>> round(found.statistic, 2), round(found.p, 3)
    (5.86, 0.032)
    """
    d = _table(differences)
    if d.shape != FIVE_BY_TWO:
        raise DataError(f"The 5×2 test needs 5 repetitions × 2 folds, not {d.shape[0]} × {d.shape[1]}.")
    above, below = float((d**2).sum()), 2 * float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())
    f = _ratio(above, below)
    return RepeatedTest("5×2 F test", f, 1.0 if above == 0 else float(fdtrc(10, 5, f)) if below else 0.0)


def corrected_t_test(differences: npt.ArrayLike) -> RepeatedTest:
    """The corrected t-test over r repetitions × k folds.

        t = d̄ / √((1/(r k) + 1/(k − 1)) s²),   r k − 1 degrees of freedom

    s² is the variance of all r k differences; 1/(k − 1) is the ratio of tested to training documents of a fold.

    Source: Nadeau & Bengio 2003, section 4; for repeated cross-validation Bouckaert & Frank 2004, section 3.2. Without
    any difference p = 1.

    >>> found = corrected_t_test([[0.02, 0.01, 0.03], [0.01, 0.02, 0.02]])
    >>> round(found.statistic, 2), round(found.p, 3)
    (2.98, 0.031)
    """
    d = _table(differences)
    r, k = d.shape
    spread = 0.0 if (d == d[0, 0]).all() else float(d.var(ddof=1))
    mean = float(d.mean())
    t = _ratio(mean, math.sqrt((1 / (r * k) + 1 / (k - 1)) * spread))
    p = 1.0 if mean == 0 else float(2 * stdtr(r * k - 1, -abs(t))) if spread else 0.0
    return RepeatedTest("corrected t-test", t, p)


def _table(differences: npt.ArrayLike) -> npt.NDArray[np.float64]:
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise DataError("A test over repeated folds needs a table of finite differences, repetitions × folds.")
    return table


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.copysign(math.inf, above) if above else 0.0
