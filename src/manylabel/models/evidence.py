"""Evidence: what each term of one document adds to the scores of some labels, as a labels × terms table.

Where a score is a sum over terms (naive Bayes, linear models), the evidence of a term is its summand. Elsewhere it is
what the score loses when the term is removed from the document; for a sum both are the same. `ScoreParts` holds the
evidence with all other parts of the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.models.score_kinds import LOG_ODDS_LIMIT

if TYPE_CHECKING:
    from manylabel.models.base import MultiLabelModel

ENTRIES_AT_ONCE = 1 << 20
"""Stored values of the shortened documents that are scored together."""


LOG_JOINT = "log p(label, document)"
"""The quantity that the parts add up to where scores are posteriors, which are computed from it."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreParts:
    """The parts of one document's scores of some labels: intercept, evidence of terms, evidence of other labels."""

    terms: Csr
    """The evidence of terms, labels × terms."""
    total: Floats
    """The sum of the parts: the score, or the `quantity` that the score is computed from."""
    intercept: Floats
    """The part that is due to no term or label; NaN for a label whose evidence was found by removal and has no sum."""
    labels: Csr | None = None
    """The evidence of other labels that the method predicted, some labels × all labels; None for most methods."""
    quantity: str = "score"
    members: tuple[tuple[str, Floats], ...] = ()
    """The name of each member of an ensemble and its share of the total, one number per label."""

    def scaled(self, factor: Floats) -> ScoreParts:
        """The same parts multiplied by one number per label."""
        rows = factor[:, np.newaxis]
        labels = None if self.labels is None else Csr(self.labels.multiply(rows).tocsr())
        return ScoreParts(
            Csr(self.terms.multiply(rows).tocsr()), self.total * factor, self.intercept * factor, labels, self.quantity
        )

    def with_label_columns(self, n_terms: int, labels: Ints, n_labels: int) -> ScoreParts:
        """The same parts where the columns behind the terms are labels, whose evidence is then told apart."""
        behind = self.terms[:, n_terms:].tocoo()
        shape = (self.terms.shape[0], n_labels)
        told = Csr(sparse.coo_array((behind.data, (behind.row, labels[behind.col])), shape=shape).tocsr())
        return ScoreParts(Csr(self.terms[:, :n_terms]), self.total, self.intercept, told, self.quantity, self.members)


@dataclass(frozen=True, slots=True, eq=False)
class NeighbourVotes:
    """The training documents nearest to a document, best first."""

    documents: npt.NDArray[np.int32]
    """Their rows in the training data, counted from 0."""
    similarities: Floats
    votes: Floats
    """The weight of each one's vote."""
    label_sets: Csr
    """Neighbours × labels: the labels that each votes for."""
    terms: Csr
    """Neighbours × terms: each term's share of the vote, by its share of the similarity."""


def placed_parts(rows: Sequence[ScoreParts], places: Ints, constants: Floats, n_terms: int) -> ScoreParts:
    """The parts of several labels, one per row, put at some places; all other labels have a constant score."""
    table = Csr((len(constants), n_terms), dtype=np.float64)
    total = constants.astype(np.float64)
    if not rows:
        return ScoreParts(table, total, total.copy())
    put = Csr((np.ones(len(places)), (places, np.arange(len(places)))), shape=(len(constants), len(places)))
    intercept = total.copy()
    total[places] = np.concatenate([row.total for row in rows])
    intercept[places] = np.concatenate([row.intercept for row in rows])
    among = [row.labels for row in rows if row.labels is not None]
    labels = Csr(put @ Csr(sparse.vstack(among, format="csr"))) if len(among) == len(rows) else None
    table = Csr(put @ Csr(sparse.vstack([row.terms for row in rows], format="csr")))
    return ScoreParts(table, total, intercept, labels, rows[0].quantity)


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
