"""Ranks of methods on several data sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.exceptions import DataError


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
