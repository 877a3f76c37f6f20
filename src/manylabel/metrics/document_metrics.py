"""Metrics computed from document counts: how close the predicted label set S is to the true label set T, on average.

A document with neither true nor predicted labels counts as `zero_division`: 1 by default, because predicting nothing
was right; nan leaves it out of the mean. If only one of the two sets is empty, every metric is 0. This differs from
scikit-learn, where `zero_division` also replaces precision if only S is empty and recall if only T is. Over no
documents every mean is nan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.metrics.counts import DocumentCounts
from manylabel.metrics.label_metrics import harmonic_mean, mean_defined, ratio


def jaccard(counts: DocumentCounts, zero_division: float = 1.0) -> float:
    """The mean of |T ∩ S| / |T ∪ S|; the "accuracy" or "Hamming score" of some papers.

    Source: Godbole & Sarawagi 2004, section 5.2.

    >>> jaccard(DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3))
    0.5
    """
    union = counts.true + counts.predicted - counts.right
    return _mean(counts, counts.right, union, zero_division)


def sample_precision(counts: DocumentCounts, zero_division: float = 1.0) -> float:
    """The mean of |T ∩ S| / |S|.

    Source: Godbole & Sarawagi 2004, section 5.2.

    >>> counts = DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3)
    >>> sample_precision(counts)
    0.625
    """
    return _mean(counts, counts.right, counts.predicted, zero_division)


def sample_recall(counts: DocumentCounts, zero_division: float = 1.0) -> float:
    """The mean of |T ∩ S| / |T|.

    Source: Godbole & Sarawagi 2004, section 5.2.

    >>> sample_recall(DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3))
    0.625
    """
    return _mean(counts, counts.right, counts.true, zero_division)


def sample_f1(counts: DocumentCounts, zero_division: float = 1.0) -> float:
    """The mean of 2 |T ∩ S| / (|T| + |S|), the F1 of each document.

    Source: Ueda & Saito 2002, section 4.1.

    >>> counts = DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3)
    >>> round(sample_f1(counts), 6)
    0.583333
    """
    return _mean(counts, 2 * counts.right, counts.true + counts.predicted, zero_division)


def f1_of_means(counts: DocumentCounts, zero_division: float = 1.0) -> float:
    """2 P R / (P + R) of the mean precision P and the mean recall R of documents.

    Source: Godbole & Sarawagi 2004 print these values, though their text defines the mean of F1.

    >>> f1_of_means(DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3))
    0.625
    """
    return harmonic_mean(sample_precision(counts, zero_division), sample_recall(counts, zero_division))


def hamming_loss(counts: DocumentCounts) -> float:
    """The share of wrong cells: the mean of (|T| + |S| − 2 |T ∩ S|) / labels. 0 when there are no labels.

    Source: Schapire & Singer 2000; named by Lee 2018.

    >>> counts = DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3)
    >>> round(hamming_loss(counts), 6)
    0.333333
    """
    wrong = counts.true + counts.predicted - 2 * counts.right
    return _plain_mean(wrong / max(counts.labels, 1))


def zero_one_loss(counts: DocumentCounts) -> float:
    """The share of documents whose predicted set is not exactly the true set: the error rate.

    Source: Vilar, Castro & Sanchis 2004, section 4.2.

    >>> zero_one_loss(DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3))
    0.75
    """
    return _plain_mean(~_exact(counts))


def exact_match(counts: DocumentCounts) -> float:
    """The share of documents whose predicted set is exactly the true set: 1 − 0/1 loss.

    For documents with one label each, this is accuracy.

    >>> exact_match(DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3))
    0.25
    """
    return _plain_mean(_exact(counts))


def all_negative_share(counts: DocumentCounts) -> float:
    """The share of documents without predicted labels.

    Source: Godbole & Sarawagi 2004, section 5.5.

    >>> counts = DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3)
    >>> all_negative_share(counts)
    0.5
    """
    return _plain_mean(counts.predicted == 0)


def true_cardinality(counts: DocumentCounts) -> float:
    """The mean number of true labels per document.

    >>> counts = DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3)
    >>> true_cardinality(counts)
    1.25
    """
    return _plain_mean(counts.true)


def predicted_cardinality(counts: DocumentCounts) -> float:
    """The mean number of predicted labels per document.

    >>> counts = DocumentCounts(right=[1, 1, 0, 0], true=[2, 1, 2, 0], predicted=[1, 2, 0, 0], labels=3)
    >>> predicted_cardinality(counts)
    0.75
    """
    return _plain_mean(counts.predicted)


@dataclass(frozen=True, slots=True, eq=False)
class SetSizeTable:
    """Sizes of predicted label sets by the size of the true one.

    One row per true size 1 … k; columns are the predicted sizes 0, 1 … k and "more than k".

    `shares` sum to 1 in each row that has `documents`, and are nan in a row that has none.
    """

    shares: Floats
    documents: Ints

    @property
    def largest(self) -> int:
        """k, the largest size with a row of its own."""
        return len(self.documents)


def set_size_table(counts: DocumentCounts, largest: int = 3, *, count_empty: bool = True) -> SetSizeTable:
    """For each true set size |T| = 1 … k, the shares of the predicted sizes |S| = 0, 1 … k and larger.

    Source: Godbole & Sarawagi 2004, Fig. 4. They have no column for empty predictions, because they predict the best
    label of a document that would have none; `count_empty=False` leaves such documents out.

    >>> counts = DocumentCounts(right=[1, 1, 0], true=[1, 1, 2], predicted=[1, 2, 0], labels=9)
    >>> table = set_size_table(counts, largest=2)
    >>> table.shares
    array([[0. , 0.5, 0.5, 0. ],
           [1. , 0. , 0. , 0. ]])
    >>> table.documents
    array([2, 1])
    """
    table = set_size_counts(counts, largest)[1 : largest + 1]
    if not count_empty:
        table[:, 0] = 0
    documents = table.sum(axis=1)
    shares = np.full(table.shape, np.nan)
    np.divide(table, documents[:, None], out=shares, where=documents[:, None] > 0)
    return SetSizeTable(shares, documents)


def set_size_counts(counts: DocumentCounts, largest: int = 3) -> Ints:
    """The number of documents by true set size |T| (rows) and predicted set size |S| (columns).

    Both sizes are 0, 1 … k and "more than k".

    >>> counts = DocumentCounts(right=[1, 1, 0], true=[1, 1, 2], predicted=[1, 2, 0], labels=9)
    >>> set_size_counts(counts, largest=1).tolist()
    [[0, 0, 0], [0, 1, 1], [1, 0, 0]]
    """
    if largest < 1:
        raise ParameterError(f"The largest set size must be a whole number of at least 1, not {largest!r}.")
    width = largest + 2
    true, predicted = (np.minimum(sizes, largest + 1) for sizes in (counts.true, counts.predicted))
    table: Ints = np.bincount(true * width + predicted, minlength=width * width).reshape(width, width).astype(np.int64)
    return table


def _mean(counts: DocumentCounts, above: Ints, below: Ints, zero_division: float) -> float:
    values = ratio(above, below, 0.0)
    values[(counts.true == 0) & (counts.predicted == 0)] = zero_division
    return mean_defined(values).value


def _exact(counts: DocumentCounts) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    exact: np.ndarray[tuple[int], np.dtype[np.bool_]] = (counts.right == counts.true) & (
        counts.right == counts.predicted
    )
    return exact


def _plain_mean(values: Floats | Ints | np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    return float(np.mean(values)) if values.size else float("nan")
