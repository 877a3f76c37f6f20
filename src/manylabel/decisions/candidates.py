"""Scores of some labels of each document, the candidates, where all other labels are impossible."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Csr, Floats, rows_of_cells
from manylabel.models.score_kinds import Bools


def dense_candidates(scores: Csr, impossible: float) -> Floats:
    """Scores of candidates as documents × labels, all others with the score of an impossible label."""
    table = np.full(scores.shape, impossible)
    table[rows_of_cells(scores), scores.indices] = scores.data
    return table


def best_candidates(scores: Csr, k: int) -> Bools:
    """Which of the stored scores are among the k best of their document; ties go to the lowest label.

    >>> best_candidates(Csr([[0.5, 0.7, 0.5], [0.0, 0.1, 0.0]]), 2).tolist()
    [True, True, False, True]
    """
    rows = rows_of_cells(scores)
    order = np.lexsort((scores.indices, -scores.data, rows))
    chosen = np.zeros(len(rows), dtype=np.bool_)
    chosen[order] = np.arange(len(rows)) - scores.indptr[rows] < k  # sorted rows stay where they were
    return chosen


def pooled_candidates(scores: Csr, Y: Csr, impossible: float) -> tuple[Floats, Csr]:
    """Scores and true labels as documents × candidates, for whoever does not ask which label a score belongs to.

    The candidates of a document come first. Behind them are its true labels that are no candidates, then filling, both
    with the score of an impossible label. So the table is as wide as the longest of these rows, not as all labels.

    >>> scores = Csr([[0, 0.7, 0, 0.2], [0, 0, 0.9, 0]])
    >>> table, Y_true = pooled_candidates(scores, Csr([[1, 1, 0, 0], [0, 0, 1, 0]]), impossible=0)
    >>> table.tolist(), Y_true.toarray().tolist()
    ([[0.7, 0.2, 0.0], [0.9, 0.0, 0.0]], [[1, 0, 1], [1, 0, 0]])
    """
    rows, sizes = rows_of_cells(scores), np.diff(scores.indptr).astype(np.int64)
    n_labels = np.int64(scores.shape[1])
    hits = np.isin(rows * n_labels + scores.indices, rows_of_cells(Y) * n_labels + Y.indices, assume_unique=True)
    missed = np.diff(Y.indptr) - np.bincount(rows[hits], minlength=len(sizes))
    place = np.arange(len(rows)) - scores.indptr[rows]
    table = np.full((len(sizes), int((sizes + missed).max(initial=0))), float(impossible))
    table[rows, place] = scores.data
    others = np.repeat(np.arange(len(sizes)), missed)
    behind = np.arange(len(others)) - np.repeat(np.cumsum(missed) - missed, missed) + sizes[others]
    cells = np.concatenate([rows[hits], others]), np.concatenate([place[hits], behind])
    return table, Csr((np.ones(len(cells[0]), dtype=np.int8), cells), shape=table.shape)
