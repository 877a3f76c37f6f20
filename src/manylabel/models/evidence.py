"""Evidence: what each term of one document adds to the scores of some labels, as a labels × terms table.

Where a score is a sum over terms (naive Bayes, linear models), the evidence of a term is its summand. Elsewhere it is
what the score loses when the term is removed from the document; for a sum both are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.models.score_kinds import LOG_ODDS_LIMIT

if TYPE_CHECKING:
    from manylabel.models.base import MultiLabelModel

ENTRIES_AT_ONCE = 1 << 20
"""Stored values of the shortened documents that are scored together."""


class Weights(Protocol):
    """A linear model: what one occurrence of a term adds to the score of a label."""

    def weights(self, terms: Ints, labels: Ints) -> Floats:
        """The weights of some terms for some labels, terms × labels."""


def asked_for(model: MultiLabelModel, x: object, labels: npt.ArrayLike | None) -> tuple[Csr, Ints]:
    """The checked document and labels (default: all) of a call of `evidence`."""
    document = model.features(x)
    if document.shape[0] != 1:
        raise DataError(f"evidence explains one document at a time, not {document.shape[0]}.")
    wanted = np.arange(model.n_labels_) if labels is None else np.atleast_1d(np.asarray(labels, dtype=np.int64))
    if len(wanted) and (wanted.min() < 0 or wanted.max() >= model.n_labels_):
        raise DataError(f"evidence was asked for a label out of bounds: they count from 0 to {model.n_labels_ - 1}.")
    return document, wanted


def evidence_table(document: Csr, values: Floats) -> Csr:
    """Values for labels × stored terms of a document as labels × terms.

    >>> evidence_table(Csr(np.array([[0, 2, 0, 1]])), np.array([[0.5, 0.0], [-1.0, 2.0]])).toarray().tolist()
    [[0.0, 0.5, 0.0, 0.0], [0.0, -1.0, 0.0, 2.0]]
    """
    indptr = np.arange(len(values) + 1) * document.nnz
    return Csr((values.reshape(-1), np.tile(document.indices, len(values)), indptr), (len(values), document.shape[1]))


def linear_evidence(linear: Weights, document: Csr, labels: Ints) -> Csr:
    """The terms x_w W_wk of a linear score, labels × terms; with the intercept they add up to it."""
    weights = linear.weights(document.indices.astype(np.int64), labels)
    return evidence_table(document, document.data * weights.T)


def removal_evidence(score: Callable[[Csr], Floats], document: Csr) -> Csr:
    """What each score loses when a term is removed from the document: s(x) − s(x without w), labels × terms.

    `score` returns documents × labels. One document is scored per distinct term, and the whole one. A score of ±∞
    counts as one of ±700, so that labels that are certain either way have no evidence.

    >>> removal_evidence(lambda X: X @ np.array([[1.0], [0.5], [9.0]]) - 4.0, Csr([[2.0, 1.0, 0.0]])).toarray().tolist()
    [[2.0, 0.5, 0.0]]
    """

    def finite(X: Csr) -> Floats:
        return np.nan_to_num(score(X), posinf=LOG_ODDS_LIMIT, neginf=-LOG_ODDS_LIMIT)

    whole = finite(document)[0]
    lost = np.zeros((len(whole), document.nnz))
    size = max(1, ENTRIES_AT_ONCE // max(1, document.nnz))
    for start in range(0, document.nnz, size):
        words = np.arange(start, min(start + size, document.nnz))
        lost[:, words] = (whole - finite(_shortened(document, words))).T
    return evidence_table(document, lost)


def _shortened(document: Csr, words: Ints) -> Csr:
    """One copy of the document for each of some of its terms, without that term."""
    kept = np.arange(document.nnz) != words[:, np.newaxis]
    data, indices = (np.broadcast_to(part, kept.shape)[kept] for part in (document.data, document.indices))
    indptr = np.arange(len(words) + 1) * (document.nnz - 1)
    return Csr((data, indices, indptr), shape=(len(words), document.shape[1]))
