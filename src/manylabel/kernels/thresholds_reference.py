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


def thresholds_in_order(
    scores: npt.NDArray[Any], starts: Ints, positives: npt.NDArray[Any], sizes: Ints, order: Ints, thresholds: Floats
) -> None:
    """Write the thresholds of all labels, one after the other in an order, each the best after those before it.

    The threshold of the r-th label maximises micro F1 of the first r labels + F1 of the label / r: the sum of micro and
    macro F1 of the first r labels, as far as it depends on this threshold. Every score above −∞ is a candidate; NaN is
    written where predicting the label nowhere is best. Of equally good thresholds the highest.
    ``starts``, ``positives`` and ``sizes`` are those of `best_thresholds`.

    Lin & Lin 2023, section 4.3 and supplement D (micromacro-freq).

    >>> scores = np.array([[0.9, 0.6], [0.8, 0.7], [0.7, 0.2], [0.1, 0.1], *4 * [[0.1, 0.3]]])
    >>> positives, thresholds = np.array([0.7, 0.9, 0.1]), np.zeros(2)
    >>> starts, sizes, order = np.array([0, 2, 3]), np.array([2, 1]), np.array([0, 1])
    >>> thresholds_in_order(scores, starts, positives, sizes, order, thresholds)
    >>> thresholds.tolist()
    [0.7, nan]
    """
    n_labels = scores.shape[1]
    if (
        {len(sizes), len(order), len(thresholds), len(starts) - 1} != {n_labels}
        or starts[n_labels] > len(positives)
        or not ((order >= 0) & (order < n_labels)).all()
    ):
        raise IndexError("Labels are out of bounds.")
    all_right = all_counted = 0
    for rank, label in enumerate(order.tolist(), 1):
        thresholds[label] = np.nan
        true, size = positives[starts[label] : starts[label + 1]], int(sizes[label])
        column = np.sort(scores[:, label][scores[:, label] > -np.inf])
        candidates = np.unique(true)[::-1]
        predicted = len(column) - np.searchsorted(column, candidates, side="left")
        right = len(true) - np.searchsorted(true, candidates, side="left")
        micro = 2.0 * (all_right + right) / (all_counted + predicted + size)
        values = micro + 2.0 * right / (predicted + size) / rank
        best = int(np.argmax(values)) if len(values) else -1
        if best >= 0 and values[best] > 2.0 * all_right / (all_counted + size):
            thresholds[label] = candidates[best]
            all_right, all_counted = all_right + int(right[best]), all_counted + int(predicted[best])
        all_counted += size
