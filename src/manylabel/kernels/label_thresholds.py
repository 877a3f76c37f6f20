"""The threshold with the best F1 of every label at once, on several threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.exceptions import DataError
from manylabel.kernels import compiled_module
from manylabel.kernels import thresholds_reference as reference
from manylabel.kernels.canonical import canonical
from manylabel.kernels.threads import in_threads

_kernel: Any = compiled_module("thresholds") or reference

LABELS_A_BLOCK = 64


def label_thresholds(scores: npt.ArrayLike, Y: Any, *, n_jobs: int | None = None) -> tuple[Floats, Floats]:
    """The F1-best threshold of each label by itself, and that F1; NaN for labels without a positive scored above −∞.

    A label is predicted where its score is at least the threshold. Candidates are the attained scores; ties go to the
    smallest. Scores of −∞ or NaN are never predicted, but their positives count as true. float32 scores stay float32.

    >>> scores = np.array([[0.9, 0.2, 0.1], [0.8, 0.1, 0.1], [0.3, 0.15, 0.1]])
    >>> thresholds, attained = label_thresholds(scores, np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]]))
    >>> thresholds.tolist(), attained.tolist()
    ([0.8, 0.15, nan], [1.0, 1.0, nan])
    """
    block = np.asarray(scores)
    block = np.ascontiguousarray(block, dtype=np.float32 if block.dtype == np.float32 else np.float64)
    truth = canonical(Y, keep_zeros=False)
    if block.ndim != 2 or block.shape != truth.shape:
        raise DataError(f"Scores and truth must have the same shape, but have {block.shape} and {truth.shape}.")
    n_labels = block.shape[1]
    by_label = truth.tocsc()
    sizes = np.diff(by_label.indptr).astype(np.int64)
    label_of = np.repeat(np.arange(n_labels), sizes)
    positives = block[by_label.indices, label_of]
    possible = positives > -np.inf
    positives = positives[possible]
    starts = np.zeros(n_labels + 1, dtype=np.int64)
    np.cumsum(np.bincount(label_of[possible], minlength=n_labels), out=starts[1:])
    thresholds, attained = np.full(n_labels, np.nan), np.full(n_labels, np.nan)

    def search(begin: int) -> None:
        end = min(begin + LABELS_A_BLOCK, n_labels)
        for label in range(begin, end):
            positives[starts[label] : starts[label + 1]].sort()
        _kernel.best_thresholds(block, starts, positives, sizes, begin, end, thresholds, attained)

    in_threads(search, range(0, n_labels, LABELS_A_BLOCK), n_jobs)
    return thresholds, attained
