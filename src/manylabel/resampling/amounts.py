"""How much to change: one ratio, positives per negative afterwards, read by weights, under- and over-sampling alike.

The counts are those of imbalanced-learn's float `sampling_strategy`. A problem that already has the ratio is left as it
is: positives are never dropped and negatives never added.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Ints

Bools = npt.NDArray[np.bool_]


def negatives_to_keep(n_positive: int, n_negative: int, ratio: float) -> int:
    """How many negatives leave `ratio` positives per negative: ⌊n₊ / ratio⌋, at least one, at most all.

    >>> negatives_to_keep(10, 990, 0.1), negatives_to_keep(10, 990, 0.001), negatives_to_keep(1, 99, 5)
    (100, 990, 1)
    """
    return min(n_negative, max(1, int(n_positive / ratio)))


def positives_to_add(n_positive: int, n_negative: int, ratio: float) -> int:
    """How many new positives make `ratio` positives per negative: ⌊ratio · n₋⌋ − n₊, at least none.

    >>> positives_to_add(10, 990, 0.1), positives_to_add(10, 990, 0.001), positives_to_add(0, 99, 1.0)
    (89, 0, 0)
    """
    return max(0, int(ratio * n_negative) - n_positive) if n_positive else 0


def generator(seed: int, positive: Bools) -> np.random.Generator:
    """The random numbers of one label: they depend on the seed and on which documents are positive, nothing else.

    So neither the number of threads nor the order of the labels changes what is drawn.
    """
    rows: Ints = np.flatnonzero(positive).astype("<i8")
    return np.random.default_rng([seed, zlib.crc32(rows.tobytes())])
