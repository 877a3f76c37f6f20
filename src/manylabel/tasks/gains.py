"""What a review and a new training brought: the quality of predictions before and after, on the same documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from manylabel.estimator import Csr
from manylabel.evaluation.bootstrap import RESAMPLES, paired_difference
from manylabel.evaluation.statistics import document_statistics

METRICS = {"micro_f1": "micro-f1", "macro_f1": "macro-f1"}


def measure_gain(Y_true: Csr, before: Csr, after: Csr, seed: int = 0) -> dict[str, dict[str, float]]:
    """By metric, its value before and after, their difference, and its 95 % interval over resampled documents.

    Labels that are neither true nor predicted, before or after, are left out.

    >>> found = measure_gain(Csr([[1, 0], [0, 1]] * 9), Csr([[1, 0], [1, 0]] * 9), Csr([[1, 0], [0, 1]] * 9))
    >>> found["micro_f1"]["before"], found["micro_f1"]["after"], found["micro_f1"]["low"] > 0
    (0.5, 1.0, True)
    """
    used = np.flatnonzero(np.asarray((Y_true + before + after).sum(axis=0)).ravel())
    first, second = (document_statistics(Y_true[:, used], predicted[:, used]) for predicted in (after, before))
    found: dict[str, Any] = {}
    for key, metric in METRICS.items():
        one = paired_difference(first, second, metric, seed, RESAMPLES)
        found[key] = {
            "before": second.value(metric),
            "after": first.value(metric),
            "difference": one.value,
            "low": one.low,
            "high": one.high,
        }
    return found
