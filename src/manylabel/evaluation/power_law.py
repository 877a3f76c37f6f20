"""Learning curves as inverse power laws, and what they say of more documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.exceptions import DataError

RATES = np.geomspace(0.05, 2.0, 80)
"""The values of c that are tried: below them a curve is as good as logarithmic, above them it ends at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaws:
    """One or more curves a − b · n^(−c): `a` is what no number of documents exceeds, `c` how fast it is neared."""

    a: Floats
    b: Floats
    c: Floats

    def at(self, documents: float) -> Floats:
        """The value of each curve at so many documents.

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
            f"{rows.shape[1]} values."
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
