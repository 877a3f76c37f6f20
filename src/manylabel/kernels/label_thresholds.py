"""Thresholds of all labels: each with the best F1 of its own, or in order with the best micro and macro F1."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
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
    block, starts, positives, sizes = _positives_by_label(scores, Y)
    n_labels = block.shape[1]
    thresholds, attained = np.full(n_labels, np.nan), np.full(n_labels, np.nan)

    def search(begin: int) -> None:
        end = min(begin + LABELS_A_BLOCK, n_labels)
        _kernel.best_thresholds(block, starts, positives, sizes, begin, end, thresholds, attained)

    in_threads(search, range(0, n_labels, LABELS_A_BLOCK), n_jobs)
    return thresholds, attained


def thresholds_in_order(scores: npt.ArrayLike, Y: Any, order: Ints) -> Floats:
    """The threshold of each label with the best micro F1 + macro F1 of all labels up to it in an order.

    See `manylabel.kernels.thresholds_reference.thresholds_in_order`. A threshold is an attained score, or NaN where
    predicting the label nowhere is best. Scores of −∞ or NaN are never predicted, but their positives count as true.

    >>> scores = np.array([[0.9, 0.2, 0.1], [0.8, 0.1, 0.1], [0.3, 0.15, 0.1]])
    >>> thresholds_in_order(scores, np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]]), np.arange(3)).tolist()
    [0.8, 0.15, nan]
    """
    block, starts, positives, sizes = _positives_by_label(scores, Y)
    thresholds = np.full(block.shape[1], np.nan)
    _kernel.thresholds_in_order(block, starts, positives, sizes, np.asarray(order, dtype=np.int64), thresholds)
    return thresholds


def _positives_by_label(scores: npt.ArrayLike, Y: Any) -> tuple[npt.NDArray[Any], Ints, npt.NDArray[Any], Ints]:
    """The scores in rows, and of each label the scores above −∞ of its documents, rising, where they start, and how
    many documents have it in all.
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
    positives, label_of = positives[possible], label_of[possible]
    starts = np.zeros(n_labels + 1, dtype=np.int64)
    np.cumsum(np.bincount(label_of, minlength=n_labels), out=starts[1:])
    return block, starts, positives[np.lexsort((positives, label_of))], sizes
