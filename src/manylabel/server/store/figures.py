"""Figures of labels against the true labels as reviewed so far, over the measured documents, and confusions."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

import numpy as np

from manylabel.server.store.documents import folded
from manylabel.server.store.filters import own_name
from manylabel.server.store.thresholds import Column, Ints, by_document, columns, metrics

LabelOrder = Literal[
    "name", "documents", "threshold", "precision", "recall", "f1", "true_positives", "false_positives",
    "false_negatives",
]  # fmt: skip
NO_FIGURES = dict.fromkeys(("threshold", *metrics(0, 0, 0)), None)
"""The figures of a label without scores."""


def label_table(
    database: sqlite3.Connection, typed: str, order: LabelOrder, descending: bool, offset: int, limit: int
) -> tuple[int, list[dict[str, Any]]]:
    """How many labels hold what was typed, and some of them with their figures at the saved thresholds, in an order.

    Labels that have no such figure come last.
    """
    figures = {column.label: column.figures(column.saved) for column in columns(database)}
    rows = database.execute(
        """SELECT l.name AS label, COALESCE(n.documents, 0) AS documents, COALESCE(n.decided, 0) AS decided
        FROM labels AS l LEFT JOIN (SELECT label, SUM(state <> 'rejected') AS documents,
            SUM(state <> 'imported') AS decided FROM assignments GROUP BY label) AS n ON n.label = l.number
        WHERE l.state = 'active'"""
    )
    wanted = folded(typed)
    found = [{**dict(row), **figures.get(row["label"], NO_FIGURES)} for row in rows if wanted in folded(row["label"])]
    found.sort(key=lambda one: (folded(one["label"]), one["label"]))
    if order == "name":
        ordered = found[::-1] if descending else found
    else:
        known = [one for one in found if one[order] is not None]
        known.sort(key=lambda one: one[order], reverse=descending)
        ordered = known + [one for one in found if one[order] is None]
    return len(ordered), ordered[offset : offset + limit]


def confusions(database: sqlite3.Connection, typed: str, label: str | None, limit: int) -> dict[str, Any]:
    """Pairs of a label that documents miss and another that is wrongly predicted, the most frequent first.

    `typed` keeps the pairs in which a name holds what was typed, `label` those of one label.
    """
    if label is not None:
        label = own_name(database, label)
    found = [column for column in columns(database) if column.saved is not None]
    names = [column.label for column in found]
    most = database.execute("SELECT COALESCE(MAX(number), 0) FROM documents").fetchone()[0]
    missed = by_document([_missed(column) for column in found], most)
    wrong = by_document([_wrong(column) for column in found], most)
    table = (missed.T @ wrong).tocoo()
    wanted = folded(typed)
    has_typed = np.array([wanted in folded(name) for name in names], dtype=bool)
    is_label = np.array([label in (None, name) for name in names], dtype=bool)
    kept = (has_typed[table.row] | has_typed[table.col]) & (is_label[table.row] | is_label[table.col])
    order = np.lexsort((table.col, table.row, -table.data, ~kept))[: np.count_nonzero(kept)]
    pairs = zip(*(part[order[:limit]].tolist() for part in (table.row, table.col, table.data)), strict=True)
    both = "SELECT COUNT(*) FROM documents WHERE false_positives > 0 AND false_negatives > 0"
    return {
        "documents": database.execute(both).fetchone()[0],
        "total": len(order),
        "pairs": [{"missed": names[a], "wrong": names[b], "documents": n} for a, b, n in pairs],
    }


def _missed(column: Column) -> Ints:
    """The measured documents that have a label which is not predicted."""
    return np.setdiff1d(column.true, column.documents[: column.place(column.saved)], assume_unique=True)


def _wrong(column: Column) -> Ints:
    """The measured documents for which a label is predicted that they do not have."""
    place = column.place(column.saved)
    return column.documents[:place][column.is_measured[:place] & ~column.is_true[:place]]
