"""The cells of a fold that an audit judges, chosen from batches of its documents that come one after the other."""

from __future__ import annotations

import numpy as np

from manylabel.estimator import Floats, Ints
from manylabel.insight.cells import ScoredCells
from manylabel.insight.label_evidence import Bools

LEAST_PENDING = 1 << 18
"""Cells that wait at least before they are compared with those that were kept."""


class CellStream:
    """Collects the assigned labels of all documents, and for each label the nearest documents without it.

    Nearest are the highest by terms (the scores of the model), and the highest by labels (the regression on the other
    labels): of each, as many as `quota` has for the label, whatever the batches. Memory grows with the quota.
    """

    def __init__(self, quota: Ints) -> None:
        self.quota = quota
        self._assigned: list[ScoredCells] = []
        self._nearest = [_Highest(quota, by_labels=False), _Highest(quota, by_labels=True)]

    def add(self, rows: Ints, scores: Floats, by_labels: Floats, has: Bools) -> None:
        """Offer documents × labels: the scores of some documents, and which labels they have."""
        judged = self.quota > 0
        self._assigned.append(_cells(rows, has & judged, scores, by_labels, True))
        for nearest, table in zip(self._nearest, (scores, by_labels), strict=True):
            nearest.add(_cells(rows, ~has & judged & (table > nearest.limits), scores, by_labels, False))

    def cells(self) -> ScoredCells:
        """The cells to judge, each once, in the order of labels."""
        found = ScoredCells.joined([*self._assigned, *(nearest.kept() for nearest in self._nearest)])
        is_first = np.ones(len(found.rows), dtype=np.bool_)  # equal cells follow each other
        is_first[1:] = (np.diff(found.rows) != 0) | (np.diff(found.columns) != 0)
        return found.at(np.flatnonzero(is_first))


class _Highest:
    """For each label the cells with the highest values, of those that were added so far."""

    def __init__(self, quota: Ints, *, by_labels: bool) -> None:
        self.quota = quota
        self.by_labels = by_labels
        self.limits = np.full(len(quota), -np.inf)
        """Values that a cell must exceed to be among the highest of its label."""
        none = np.zeros(0, dtype=np.int64)
        self._kept = [ScoredCells(none, none, none > 0, np.zeros(0), np.zeros(0))]
        self._waiting = 0

    def add(self, cells: ScoredCells) -> None:
        self._kept.append(cells)
        self._waiting += len(cells.rows)
        if self._waiting > max(LEAST_PENDING, len(self._kept[0].rows)):
            self.kept()

    def kept(self) -> ScoredCells:
        """The highest cells of each label; the others are forgotten."""
        found = ScoredCells.joined(self._kept)
        values = found.by_labels if self.by_labels else found.scores
        order = np.lexsort((-values, found.columns))
        columns = found.columns[order]
        rank = np.arange(len(order)) - np.searchsorted(columns, columns)
        last = order[rank == self.quota[columns] - 1]
        self.limits[found.columns[last]] = values[last]
        self._kept, self._waiting = [found.at(np.sort(order[rank < self.quota[columns]]))], 0
        return self._kept[0]


def _cells(rows: Ints, chosen: Bools, scores: Floats, by_labels: Floats, has: bool) -> ScoredCells:
    places, columns = np.nonzero(chosen)
    flags = np.full(len(places), has)
    return ScoredCells(rows[places], columns, flags, scores[places, columns], by_labels[places, columns])
