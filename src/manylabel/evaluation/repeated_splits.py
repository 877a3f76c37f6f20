"""Methods on repeated random splits: means, standard deviations, and t-tests of their differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

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
