"""The cells that an audit judges: all assigned labels, and the documents without each label that come nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manylabel.data.splits import iterative_stratification
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.insight.label_evidence import Bools, Regression
from manylabel.models.base import MultiLabelModel, row_batches
from manylabel.progress import track

LEAST_DOCUMENTS = 5
"""Labels of fewer documents are not judged: nothing can be learned about them."""
NEAREST, MORE = 3, 50
"""For a label of n documents, 3n + 50 documents without it are judged by each source of evidence."""
MOST_SCORES = 1 << 24
"""Scores from which the calibration is learned, of all documents or of a sample (as everywhere, decision 0021)."""
LOG_ODDS_LIMIT = 12.0


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells of Y, label after label."""

    rows: Ints
    columns: Ints
    has: Bools
    """Whether the document has the label."""
    by_terms: Floats
    """Calibrated log-odds by the terms of the document."""
    by_labels: Floats
    """The regression on the other labels of the document."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredCells:
    """Cells of Y with the scores of the model, before they are calibrated."""

    rows: Ints
    columns: Ints
    has: Bools
    scores: Floats
    by_labels: Floats

    @classmethod
    def joined(cls, parts: Sequence[ScoredCells]) -> ScoredCells:
        """The cells of all parts in the order of labels, and of documents for each label."""
        rows, columns = (np.concatenate(one) for one in ([part.rows for part in parts], [p.columns for p in parts]))
        order = np.lexsort((rows, columns))
        has = np.concatenate([part.has for part in parts])[order]
        scores = np.concatenate([part.scores for part in parts])[order]
        return cls(rows[order], columns[order], has, scores, np.concatenate([part.by_labels for part in parts])[order])

    def at(self, places: Ints) -> ScoredCells:
        """Some of the cells."""
        rows, columns, has = self.rows[places], self.columns[places], self.has[places]
        return ScoredCells(rows, columns, has, self.scores[places], self.by_labels[places])

    def calibrated(self, calibration: Calibration) -> Cells:
        """The cells with log-odds instead of scores."""
        columns = self.columns
        log_odds = np.clip(self.scores, -1e6, 1e6) * calibration.slopes_[columns] + calibration.intercepts_[columns]
        clipped = np.clip(log_odds, -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT)
        return Cells(self.rows, columns, self.has, clipped, self.by_labels)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Cells with their log-odds, and the models of the folds, which explain them."""

    cells: Cells
    log_odds: Floats
    models: Sequence[MultiLabelModel]
    fold_of: Ints
    """For each document the number of the model that did not see it."""


def candidate_cells(
    model: MultiLabelModel, X: Csr, Y: Csr, seed: int, folds: int
) -> tuple[Cells, list[MultiLabelModel], Ints]:
    """The cells to judge, the models of the folds, and for each document the model that did not see it."""
    random = np.random.default_rng(seed)
    splits = iterative_stratification(Y, min(folds, X.shape[0]), seed)
    quota = judged_documents(Y)
    sampled = calibrating_documents(random, *Y.shape)
    models, found, sample, fold_of = [], [], [], np.zeros(X.shape[0], dtype=np.int64)
    for number, (train, test) in enumerate(track("Judging labels", splits)):
        models.append(unfitted_copy(model).fit(Csr(X[train]), Csr(Y[train])))
        fold_of[test] = number
        regression = Regression.of(Csr(Y[train]))
        test = random.permutation(test)  # each batch is a sample, so that each may have its share of the candidates
        for batch in row_batches(len(test), Y.shape[1]):
            rows = test[batch]
            scores = open_scores(models[-1].scores(Csr(X[rows])), model.score_kind)
            by_labels = regression.predicted(Csr(Y[rows]))
            has = Y[rows].toarray() > 0
            chosen = _nearest(scores, by_labels, has, share_of(quota, len(rows) / X.shape[0]))
            found.append(ScoredCells(rows[chosen[0]], chosen[1], has[chosen], scores[chosen], by_labels[chosen]))
            sample.append((rows[sampled[rows]], scores[sampled[rows]]))
    return _calibrated(found, sample, Y), models, fold_of


def calibrating_documents(
    random: np.random.Generator, documents: int, labels: int, most_scores: int = MOST_SCORES
) -> Bools:
    """Which documents the calibration is learned from: all, or a sample with at most so many scores."""
    sampled = np.zeros(documents, dtype=np.bool_)
    sampled[random.permutation(documents)[: max(1, most_scores // labels)]] = True
    return sampled


def share_of(quota: Ints, share: float) -> Ints:
    """The quota of a share of the documents."""
    return np.asarray(np.ceil(quota * share), dtype=np.int64)


def judged_documents(Y: Csr) -> Ints:
    """How many documents without it are judged for each label: none if the label is too rare."""
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    return np.where(documents >= LEAST_DOCUMENTS, np.minimum(NEAREST * documents + MORE, Y.shape[0] - documents), 0)


def _nearest(scores: Floats, by_labels: Floats, has: Bools, quota: Ints) -> tuple[Ints, Ints]:
    """The cells of judged labels that are assigned, or among the highest of the others by terms or by labels."""
    chosen = has & (quota > 0)
    for table in (scores, by_labels):
        absent = np.where(has, -np.inf, table)
        for label in np.flatnonzero(quota).tolist():
            count = min(int(quota[label]), len(absent))
            chosen[np.argpartition(-absent[:, label], count - 1)[:count], label] = True
    rows, columns = np.nonzero(chosen)
    return rows, columns


def _calibrated(found: Sequence[ScoredCells], sample: Sequence[tuple[Ints, Floats]], Y: Csr) -> Cells:
    """The cells in the order of labels, their scores as log-odds."""
    sampled = np.concatenate([part[0] for part in sample])
    calibration = Calibration("logistic").fit(np.concatenate([part[1] for part in sample]), Csr(Y[sampled]))
    return ScoredCells.joined(found).calibrated(calibration)
