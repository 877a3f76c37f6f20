"""The labels and scores that the search of the default looks at where documents × labels are many."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr, Ints
from manylabel.models.out_of_fold import MANY_DOCUMENTS

MANY_SCORES = 1 << 22
"""Documents × labels beyond which the cost is searched with some labels, and folds start from the solution on all
documents."""
SEARCHED_LABELS = 256
"""How many labels the search for the cost and views looks at, at the least, where documents × labels are many."""


def is_many(shape: tuple[int, int]) -> bool:
    """Whether documents × labels are so many that the search looks at some of the labels."""
    n_documents, n_labels = shape
    return int(n_documents) * int(n_labels) > MANY_SCORES


def most_searched(n_documents: int) -> int:
    """With how many labels costs and views are tried, at the most, where documents × labels are many.

    >>> [most_searched(n_documents) for n_documents in (5_000, 50_000)]
    [838, 256]
    """
    return max(SEARCHED_LABELS, MANY_SCORES // n_documents)


def spaced_labels(Y: Csr, most: int) -> Ints:
    """The columns of at most so many labels, evenly spaced in the order of their frequency.

    Labels of a single document are left out where others have more: no model that scores this document out of fold
    knows the label, so its scores compare nothing.

    >>> spaced_labels(Csr([[1, 1, 0, 1, 1], [1, 0, 0, 1, 0], [1, 0, 0, 1, 0]]), 2).tolist()
    [0, 3]
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    least = 2 if counts.max(initial=0) > 1 else 1
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts >= least)]
    return np.sort(order[:: max(1, -(-len(order) // most))]).astype(np.int64)


def searched_scores(shape: tuple[int, int], n_searched: int, most_scores: int, folds: int) -> int:
    """How many scores the search compares where it looks at some of the labels; `shape` is documents × labels.

    No more documents than the rule learns from afterwards, so that a sample is one fold here too. Where a fold has
    enough documents to compare models by, one fold.

    >>> [searched_scores((documents, 1_000), 256, 1 << 24, 5) // 256 for documents in (20_000, 24_000)]
    [16777, 4800]
    """
    n_documents, n_labels = shape
    most = min(max(MANY_SCORES, most_scores * n_searched // n_labels), most_scores)
    return min(most, n_documents // folds * n_searched) if n_documents >= folds * MANY_DOCUMENTS else most
