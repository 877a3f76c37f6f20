"""Over-sampling by replication: the same positives, several times."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Ints
from manylabel.resampling.amounts import Bools, positives_to_add


def replicated_rows(positive: Bools, ratio: float, random: np.random.Generator) -> Ints:
    """Rows of positives to be added again until there are `ratio` positives per negative.

    Every positive is taken equally often, the remainder drawn without repetition; imbalanced-learn draws them all
    independently. To a classifier with costs this is what a weight is. Source: Batista, Prati & Monard 2004.

    >>> positive = np.array([True, False, False, True, False, False, False])
    >>> np.bincount(replicated_rows(positive, 1.0, np.random.default_rng(0)), minlength=7).tolist()
    [1, 0, 0, 2, 0, 0, 0]
    """
    rows = np.flatnonzero(positive)
    wanted = positives_to_add(len(rows), len(positive) - len(rows), ratio)
    if wanted == 0:
        return np.zeros(0, dtype=np.int64)
    times, rest = divmod(wanted, len(rows))
    return np.sort(np.concatenate([np.repeat(rows, times), random.choice(rows, size=rest, replace=False)]))
