"""What strategies of one two-class problem a label share: what they take over from their model, and constant labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.strategies.binary_relevance_problem import BASE_MODEL, problem_kind, wants_counts

__all__ = ["BASE_MODEL", "ProblemStrategy", "placed_rows"]


class ProblemStrategy(MultiLabelModel):
    """A strategy that asks `model`, label by label, whether a document has the label.

    A label that every training document has, or none, is constant: there is nothing to learn about it, and its score is
    ±∞ as log-odds, ±1 as a margin.
    """

    model: Any
    always_: Bools
    """Labels that every training document has."""

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds where the model gives probabilities, margins otherwise."""
        return problem_kind(self.model)

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return wants_counts(self.model)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts about the corpus that the model wants."""
        return getattr(self.model, "wants", frozenset())

    def note_constant_labels(self, Y: Csr) -> Bools:
        """Which labels are constant; notes those that every document has."""
        documents = np.bincount(Y.indices, minlength=Y.shape[1])
        constant = np.isin(documents, (0, Y.shape[0]))
        self.always_ = constant & (documents > 0)
        return np.asarray(constant)

    def constant_scores(self, n_documents: int) -> Floats:
        """Scores as if every label were constant, documents × labels: those of the others are to be filled in."""
        certain = np.inf if self.score_kind is ScoreKind.LOG_ODDS else 1.0
        return np.tile(np.where(self.always_, certain, -certain), (n_documents, 1))


def placed_rows(rows: Csr | Sequence[Csr], places: Ints, n_rows: int, n_columns: int) -> Csr:
    """A table whose rows at some places are given, cut to a number of columns, and whose other rows are empty.

    >>> placed_rows([Csr([[1.0, 2.0, 9.0]])], np.array([1]), 2, 2).toarray().tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """
    if not len(places):
        return Csr((n_rows, n_columns), dtype=np.float64)
    table = rows if sparse.issparse(rows) else sparse.vstack(list(rows), format="csr")
    put = Csr((np.ones(len(places)), (places, np.arange(len(places)))), shape=(n_rows, len(places)))
    return Csr(put @ Csr(table)[:, :n_columns])
