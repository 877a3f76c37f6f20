"""Tests of two methods over the folds of a repeated cross-validation.

Folds share training documents, so that their figures vary less than independent runs would. Student's t-test over folds
is therefore too sure of itself; these tests allow for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from manylabel.exceptions import DataError

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
    return RepeatedTest("5×2 F test", f, 1.0 if above == 0 else float(special.fdtrc(10, 5, f)) if below else 0.0)


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
    p = 1.0 if mean == 0 else float(2 * special.stdtr(r * k - 1, -abs(t))) if spread else 0.0
    return RepeatedTest("corrected t-test", t, p)


def _table(differences: npt.ArrayLike) -> npt.NDArray[np.float64]:
    table = np.asarray(differences, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or not np.isfinite(table).all():
        raise DataError("A test over repeated folds needs a table of finite differences, repetitions × folds.")
    return table


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.copysign(math.inf, above) if above else 0.0
