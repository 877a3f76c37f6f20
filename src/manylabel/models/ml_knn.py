"""ML-kNN: log-odds of each label from the number of neighbours that have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.kernels.nearest import Neighbours, votes
from manylabel.models.evidence import NeighbourVotes, ScoreParts, asked_for
from manylabel.models.linear_scores import scaled_rows
from manylabel.models.neighbour_model import JOBS, K, NeighbourModel
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint, Number
from manylabel.stored import Stored, reals


class MLkNN(NeighbourModel):
    """The log-odds of each label, given the number j of the document's k neighbours that have it.

    log P(H₁) P(E_j|H₁) / P(H₀) P(E_j|H₀)

    P(H₁) = (s + n_l)/(2s + N),   P(E_j|H₁) = (s + c_l[j]) / (s(k+1) + Σ_j c_l[j]),   P(E_j|H₀) the same of c'_l

    c_l[j] is the number of training documents with label l that have j neighbours with l among the other documents,
    c'_l[j] of those without l. Source: Zhang & Zhou 2007, eq. 1 to 8. Neighbours are by cosine here, and only documents
    of positive cosine are neighbours. A label without documents has log-odds −∞, one of all documents +∞, without
    smoothing.

    >>> x = np.array([0, 1, 2, 10, 11, 12, 10.4]) / 10  # points on a line, bent to a circle
    >>> X, Y = np.column_stack([np.cos(x), np.sin(x)]), np.array([[1], [1], [1], [0], [0], [1]])
    >>> MLkNN(k=2).fit(X[:6], Y).predict_proba(X[6:]).round(6).tolist()
    [[0.704225]]
    """

    score_kind = ScoreKind.LOG_ODDS
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "k": K,
        "s": Number(low=0, open_low=True),
        "n_jobs": JOBS,
    }

    count_log_odds_: Floats
    """Labels × numbers of neighbours 0 … k."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "count_log_odds_": reals("labels", None),
    }

    def __init__(self, k: int = 10, s: float = 1.0, n_jobs: int | None = None) -> None:
        self.k = k
        self.s = s
        self.n_jobs = n_jobs

    def learn(self, X: Csr, Y: Csr) -> None:
        """Store the documents, count the neighbours with each label, and apply the formula."""
        self.keep(X, Y)
        self.learn_tables(*self.tables(self.neighbours(X, skip=np.arange(X.shape[0])), Y))

    def tables(self, found: Neighbours, Y: Csr) -> tuple[Ints, Ints]:
        """The `neighbour_tables` of training documents with labels Y, whose neighbours were found; they add up."""
        return neighbour_tables(self._carriers(found), Y, self.k)

    def learn_tables(self, with_label: Ints, without: Ints) -> None:
        """Apply the formula to the tables of all training documents."""
        self.count_log_odds_ = log_odds_of_counts(with_label, without, self.s)

    def _carriers(self, found: Neighbours) -> Csr:
        """How many neighbours have each label, documents × labels."""
        shares = votes(found, self.label_sets_, n_jobs=self.n_jobs)
        counts = np.rint(shares.data * found.counts[rows_of_cells(shares)]).astype(np.int64)
        return Csr((counts, shares.indices, shares.indptr), shape=shares.shape)

    def score_batch(self, X: Csr) -> Floats:
        """The log-odds of the labels, from the numbers of neighbours that have them."""
        counts = self._carriers(self.neighbours(X))
        scores = np.repeat(self.count_log_odds_[np.newaxis, :, 0], X.shape[0], axis=0)
        scores[rows_of_cells(counts), counts.indices] = self.count_log_odds_[counts.indices, counts.data]
        return scores

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term adds to the log-odds of some labels (default: all), labels × terms.

        What the neighbours that have a label add to its log-odds, compared with none having it, is divided evenly
        among them and then among the terms that make each similar.
        """
        document, wanted = asked_for(self, x, labels)
        parts, sets = self.votes_by_term(document, self.neighbours(document), np.ones(self.k))
        carriers = np.asarray(sets.sum(axis=0)).astype(np.int64)
        none, some = self.count_log_odds_[:, 0], self.count_log_odds_[np.arange(self.n_labels_), carriers]
        finite = np.isfinite(none)
        gain = np.where(finite, np.where(finite, some, 0) - np.where(finite, none, 0), 0.0) / np.maximum(carriers, 1)
        table = Csr(sets.T.tocsr()[wanted] @ parts)
        return scaled_rows(table, gain[wanted])

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's log-odds; the intercept is their value where no neighbour has the label."""
        document, wanted = asked_for(self, x, labels)
        total, none = self.score_batch(document)[0, wanted], self.count_log_odds_[wanted, 0]
        return ScoreParts(self.evidence(document, wanted), total, np.where(np.isfinite(none), none, total))

    def neighbour_votes(self, x: object) -> NeighbourVotes:
        """The nearest training documents; each counts once."""
        document, _ = asked_for(self, x, None)
        return self.votes_of(document, self.neighbours(document), np.ones(self.k))


def neighbour_tables(counts: Csr, Y: Csr, k: int) -> tuple[Ints, Ints]:
    """c_l[j] and c'_l[j]: documents with and without label l that have j neighbours with l, labels × (k + 1).

    `counts` (documents × labels) holds the number of neighbours; what is not stored is 0.

    >>> counts = Csr(np.array([[2], [2], [2], [1], [1], [0]]))
    >>> [table.tolist() for table in neighbour_tables(counts, Csr(np.array([[1], [1], [1], [0], [0], [1]])), 2)]
    [[[1, 0, 3]], [[0, 2, 0]]]
    """
    n_documents, n_labels = Y.shape
    carried = _lookup(Y, rows_of_cells(counts), counts.indices)
    cells = counts.indices.astype(np.int64) * (k + 1) + counts.data
    size = n_labels * (k + 1)
    with_label, without = (
        np.bincount(cells[which], minlength=size).reshape(n_labels, k + 1) for which in (carried, ~carried)
    )
    n_l = np.bincount(Y.indices, minlength=n_labels)
    with_label[:, 0] += n_l - with_label.sum(axis=1)
    without[:, 0] += n_documents - n_l - without.sum(axis=1)
    return with_label, without


def _lookup(Y: Csr, rows: Ints, columns: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """Whether Y has an entry at each of some (row, column) cells."""
    known = rows_of_cells(Y) * Y.shape[1] + Y.indices
    return np.isin(rows.astype(np.int64) * Y.shape[1] + columns, known)


def log_odds_of_counts(with_label: Ints, without: Ints, s: float) -> Floats:
    """The log-odds P(H₁) P(E_j|H₁) / P(H₀) P(E_j|H₀) for each number j of neighbours, labels × (k + 1).

    >>> P = 1 / (1 + np.exp(-log_odds_of_counts(np.array([[1, 0, 3]]), np.array([[0, 2, 0]]), 1.0)))
    >>> float(P[0, 0].round(6))
    0.704225
    """
    n, rest = with_label.sum(axis=1, keepdims=True), without.sum(axis=1, keepdims=True)
    numbers = with_label.shape[1]
    prior = np.log(s + n) - np.log(s + rest)
    likelihood = np.log(s + with_label) - np.log(s * numbers + n)
    unlikely = np.log(s + without) - np.log(s * numbers + rest)
    odds = np.where(n == 0, -np.inf, np.where(rest == 0, np.inf, prior + likelihood - unlikely))
    return np.asarray(odds, dtype=np.float64)
