"""The plain twin of the kernel for thresholds: what it computes, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints


def best_thresholds(
    scores: npt.NDArray[Any],
    starts: Ints,
    positives: npt.NDArray[Any],
    sizes: Ints,
    begin: int,
    end: int,
    thresholds: Floats,
    attained: Floats,
) -> None:
    """Write the threshold with the best F1 of each of the labels begin .. end, and that F1.

    F1(τ) = 2 TP / (predicted + true), where a label is predicted if its score is at least τ. Every score above −∞ is a
    candidate; of equally good ones the smallest. ``positives[starts[l]:starts[l + 1]]`` are the scores above −∞ of the
    documents that have label l, rising; ``sizes[l]`` is how many have it in all. NaN where there are no positives.

    Vilar, Castro & Sanchis 2004 learn a threshold but give no procedure; the exact search is ours, per label as in
    Yang 2001 (SCut).

    >>> thresholds, attained = np.zeros(1), np.zeros(1)
    >>> scores = np.array([[0.9], [0.8], [0.7], [0.1]])
    >>> best_thresholds(scores, np.array([0, 2]), np.array([0.7, 0.9]), np.array([2]), 0, 1, thresholds, attained)
    >>> thresholds.tolist(), attained.tolist()
    ([0.7], [0.8])
    """
    n_labels = scores.shape[1]
    if (
        not 0 <= begin <= end <= n_labels
        or {len(sizes), len(thresholds), len(attained), len(starts) - 1} != {n_labels}
        or starts[end] > len(positives)
    ):
        raise IndexError(f"Labels {begin} to {end} are out of bounds.")
    for label in range(begin, end):
        thresholds[label] = attained[label] = np.nan
        true = positives[starts[label] : starts[label + 1]]
        if len(true) == 0:
            continue
        column = np.sort(scores[:, label][scores[:, label] > -np.inf])
        candidates = np.unique(column)
        predicted = len(column) - np.searchsorted(column, candidates, side="left")
        right = len(true) - np.searchsorted(true, candidates, side="left")
        f1 = 2.0 * right / (predicted + sizes[label])
        best = int(np.argmax(f1))
        thresholds[label], attained[label] = candidates[best], f1[best]
