"""Intervals of the precision, recall and F1 of each label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from manylabel.estimator import Floats
from manylabel.metrics.counts import LabelCounts

ENDS = (0.025, 0.975)


class LabelIntervals(NamedTuple):
    """The ends of the 95 % intervals of each label: labels × 2."""

    precision: Floats
    recall: Floats
    f1: Floats


def label_intervals(counts: LabelCounts) -> LabelIntervals:
    """The 95 % intervals of Goutte & Gaussier 2005 with Jeffreys' prior.

    Precision is Beta(TP + ½, FP + ½), recall Beta(TP + ½, FN + ½), and F1 = 2b/(1 + b) with b from
    Beta(TP + ½, FP + FN + 1).

    >>> label_intervals(LabelCounts([9], [1], [3], [87])).precision.round(3).tolist()
    [[0.619, 0.989]]
    """
    tp, fp, fn = (part.astype(np.float64) for part in (counts.tp, counts.fp, counts.fn))
    precision, recall, b = (
        np.stack([betaincinv(tp + 0.5, wrong, end) for end in ENDS], axis=1).astype(np.float64)
        for wrong in (fp + 0.5, fn + 0.5, fp + fn + 1.0)
    )
    return LabelIntervals(precision, recall, 2 * b / (1 + b))
