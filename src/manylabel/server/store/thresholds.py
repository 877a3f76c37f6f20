"""What a threshold leads to: precision, recall, F1 and the documents that enter or leave, from columns of scores.

Figures are of the measured documents, against their true labels as reviewed so far. Documents that enter or leave are
those of the whole corpus. Only high scores are kept; `exact_from` is the least threshold at which no count misses one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.exceptions import ParameterError
from manylabel.server.store.decisions import ConflictError, change_label, measure_margins, new_event, recount
from manylabel.server.store.files import about
from manylabel.server.store.filters import label_number, own_name
from manylabel.tasks.reviewing import LEAST_GAP, threshold_below

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
DOCUMENTS, SCORES = np.dtype("<i4"), np.dtype("<f8")
"""How columns are stored."""


Target = Literal["threshold", "precision", "recall"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A threshold for every label in question, or the precision or recall that each should reach."""

    kind: Target
    value: float


@dataclass(frozen=True, slots=True)
class Column:
    """The kept scores of one label, the highest first, beside whether the label is true and the document measured."""

    label: str
    saved: float | None
    exact_from: float | None
    documents: Ints
    scores: Floats
    is_true: npt.NDArray[np.bool_]
    is_measured: npt.NDArray[np.bool_]
    true: Ints
    """The measured documents that have the label, scored or not."""

    @property
    def true_documents(self) -> int:
        """How many measured documents have the label."""
        return len(self.true)

    def place(self, threshold: float | None) -> int:
        """How many scores reach a threshold."""
        return 0 if threshold is None else int(np.searchsorted(-self.scores, -threshold, side="right"))

    def threshold_for(self, wanted: Wanted) -> float | None:
        """The threshold asked for; None where the label does not reach the target.

        For a precision, the threshold that reaches it with the greatest recall, and of several of equal recall the
        highest; for a recall, the highest that reaches it. `manylabel thresholds` chooses alike.
        """
        if wanted.kind == "threshold":
            return wanted.value
        right = np.cumsum(self.is_true & self.is_measured)
        predicted = np.cumsum(self.is_measured)
        if not len(right) or not self.true_documents:
            return None
        # Equal scores are predicted together, so that a threshold can only stand after the last of them.
        ends = np.append(self.scores[1:] < self.scores[:-1], True)
        exact = ends & (self.scores > (-np.inf if self.exact_from is None else self.exact_from))
        if wanted.kind == "precision":
            reached = np.flatnonzero(exact & (right >= wanted.value * predicted - 1e-9) & (right > 0))
            return None if not len(reached) else self._below(int(reached[np.argmax(right[reached])]))
        reached = np.flatnonzero(exact & (right >= wanted.value * self.true_documents - 1e-9))
        return None if not len(reached) else self._below(int(reached[0]))

    def _below(self, place: int) -> float:
        """A threshold between a score and the next lower one, whether that was kept or not."""
        lower = [float(one) for one in self.scores[place + 1 : place + 2]]
        lower += [] if self.exact_from is None else [self.exact_from]
        return threshold_below(float(self.scores[place]), max(lower, default=-np.inf))

    def figures(self, threshold: float | None) -> dict[str, Any]:
        """Counts and metrics at a threshold."""
        place = self.place(threshold)
        measured = self.is_measured[:place]
        right = int(np.count_nonzero(self.is_true[:place] & measured))
        wrong = int(np.count_nonzero(measured)) - right
        return {"threshold": threshold, **metrics(right, wrong, self.true_documents - right)}

    def moved(self, threshold: float | None) -> tuple[str, slice]:
        """Whether documents enter or leave against the saved threshold, and which."""
        now, before = self.place(threshold), self.place(self.saved)
        return ("enter", slice(before, now)) if now >= before else ("leave", slice(now, before))


def metrics(right: int, wrong: int, missed: int) -> dict[str, Any]:
    """Counts with precision, recall and F1; None where one is undefined."""
    return {
        "true_positives": right,
        "false_positives": wrong,
        "false_negatives": missed,
        "precision": right / (right + wrong) if right + wrong else None,
        "recall": right / (right + missed) if right + missed else None,
        "f1": 2 * right / (2 * right + wrong + missed) if right + wrong + missed else None,
    }


def columns(database: sqlite3.Connection, label: int | None = None) -> Iterator[Column]:
    """The columns of one label, or of all that have scores or a threshold."""
    most = database.execute("SELECT COALESCE(MAX(number), 0) FROM documents").fetchone()[0]
    measured = np.zeros(most + 1, dtype=bool)
    measured[numbers_of(database, "SELECT group_concat(number) FROM documents WHERE measured = 1")] = True
    flags = np.zeros(most + 1, dtype=bool)
    rows = database.execute(
        """SELECT l.number, l.name, l.threshold, l.exact_from, c.documents, c.scores,
            (SELECT group_concat(document) FROM assignments WHERE label = l.number AND state <> 'rejected') AS true
        FROM labels AS l LEFT JOIN columns AS c ON c.label = l.number WHERE l.state = 'active'
        AND (c.label IS NOT NULL OR l.threshold IS NOT NULL) AND (?1 IS NULL OR l.number = ?1) ORDER BY l.number""",
        (label,),
    )
    for row in rows:
        true = _parsed(row["true"])
        documents = np.frombuffer(row["documents"] or b"", dtype=DOCUMENTS).astype(np.int64)
        flags[true] = True
        is_true = flags[documents]
        flags[true] = False
        yield Column(
            row["name"],
            row["threshold"],
            row["exact_from"],
            documents,
            np.frombuffer(row["scores"] or b"", dtype=SCORES),
            is_true,
            measured[documents],
            true[measured[true]],
        )


def numbers_of(database: sqlite3.Connection, query: str, *parameters: Any) -> Ints:
    """Numbers that a query joins by commas."""
    return _parsed(database.execute(query, parameters).fetchone()[0])


def by_document(lists: Sequence[Ints], last: int) -> Any:
    """Documents, up to the number of the last one, × labels: 1 for the documents that each label lists."""
    indptr = np.cumsum([0, *map(len, lists)])
    indices = np.concatenate([np.zeros(0, dtype=np.int64), *lists])
    return sparse.csc_array((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=(last + 1, len(lists)))


def _parsed(numbers: str | None) -> Ints:
    """Numbers that SQLite joined by commas: faster than a row for each."""
    return np.zeros(0, dtype=np.int64) if numbers is None else np.fromstring(numbers, dtype=np.int64, sep=",")


@dataclass(frozen=True, slots=True)
class Trial:
    """Thresholds to try: some by label, and one wish for all labels that are neither among these nor locked."""

    wanted: Wanted | None = None
    tried: Mapping[str, float] = field(default_factory=dict)
    locked: frozenset[str] = frozenset()

    def threshold_of(self, column: Column) -> tuple[float | None, bool]:
        """The threshold that a label gets, and whether it reaches the target; it keeps the saved one otherwise."""
        if column.label in self.tried:
            return self.tried[column.label], True
        if self.wanted is None or column.label in self.locked:
            return column.saved, True
        found = column.threshold_for(self.wanted)
        return (column.saved, False) if found is None else (found, True)


def study(database: sqlite3.Connection, label: str | None, trial: Trial, most: int) -> dict[str, Any]:
    """What thresholds would lead to, for one label or all, against the saved ones.

    A label that does not reach a target keeps its threshold and is marked. Up to `most` documents that enter and as
    many that leave are listed, those nearest to the threshold first.
    """
    number = None if label is None else label_number(database, label)
    trial = replace(
        trial,
        tried={own_name(database, name): threshold for name, threshold in trial.tried.items()},
        locked=frozenset(own_name(database, name) for name in trial.locked),
    )
    rows: list[dict[str, Any]] = []
    entering: list[dict[str, Any]] = []
    leaving: list[dict[str, Any]] = []
    totals = np.zeros((2, 3), dtype=np.int64)
    for column in columns(database, number):
        threshold, is_reached = trial.threshold_of(column)
        now, before = column.figures(threshold), column.figures(column.saved)
        kind, places = column.moved(threshold)
        size = places.stop - places.start
        keys = ("true_positives", "false_positives", "false_negatives")
        totals += [[figures[key] for key in keys] for figures in (now, before)]
        rows.append(
            {
                "label": column.label,
                "exact_from": column.exact_from,
                "reached": is_reached,
                "now": now,
                "saved": before,
                "enter": size if kind == "enter" else 0,
                "leave": size if kind == "leave" else 0,
            }
        )
        listed = entering if kind == "enter" else leaving
        listed += _listed(column, kind, places, most - len(listed))
    if label is not None and not rows:
        raise ParameterError(f"The label {label!r:.200} has no scores yet. Run a job of the kind 'score'.")
    now, before = (metrics(*map(int, one)) for one in totals)
    shown = _named(database, [*entering, *leaving])
    return {
        "revision": _revision(database),
        "labels": rows,
        "all": {"now": now, "saved": before, **{way: sum(row[way] for row in rows) for way in ("enter", "leave")}},
        "enter": shown[: len(entering)],
        "leave": shown[len(entering) :],
    }  # fmt: skip


def _listed(column: Column, kind: str, places: slice, most: int) -> list[dict[str, Any]]:
    """Documents that enter, the lowest score last; or leave, the highest score last: the threshold lies between."""
    order = range(places.start, places.stop)
    chosen = order[::-1][: max(most, 0)] if kind == "leave" else order[: max(most, 0)]
    return [
        {
            "number": int(column.documents[place]),
            "label": column.label,
            "score": float(column.scores[place]),
            "is_true": bool(column.is_true[place]),
        }
        for place in chosen
    ]


def _named(database: sqlite3.Connection, listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Documents with their ids; `is_true` is None where neither the document nor the label was decided."""
    named = []
    for one in listed:
        row = database.execute(
            """SELECT id, reviewed OR true_labels OR EXISTS (SELECT 1 FROM assignments WHERE document = d.number
                AND label = (SELECT number FROM labels WHERE name = ? AND state = 'active')) AS is_known
            FROM documents AS d WHERE number = ?""",
            (one["label"], one["number"]),
        ).fetchone()
        named.append({**one, "id": row["id"], "is_true": one["is_true"] if row["is_known"] else None})
    return named


def _revision(database: sqlite3.Connection) -> int:
    """The latest event that changed a label (its name, state or threshold) or all scores."""
    row = database.execute(
        """SELECT max((SELECT COALESCE(MAX(event), 0) FROM label_changes),
            COALESCE((SELECT value FROM about WHERE key = 'scores_event'), 0) + 0)"""
    ).fetchone()
    return int(row[0])


def curve(database: sqlite3.Connection, label: str, points: int) -> list[dict[str, Any]]:
    """Counts and metrics of a label at thresholds from its highest kept score to its lowest."""
    found = next(columns(database, label_number(database, label)), None)
    if found is None or not len(found.scores):
        raise ParameterError(f"The label {label!r:.200} has no scores yet. Run a job of the kind 'score'.")
    places = np.unique(np.linspace(0, len(found.scores) - 1, points).astype(np.int64))
    thresholds = np.unique(found.scores[places])[::-1]
    return [found.figures(float(threshold)) for threshold in thresholds]


def saved_thresholds(database: sqlite3.Connection) -> dict[str, float]:
    """The saved threshold of each label that has one."""
    rows = database.execute("SELECT name, threshold FROM labels WHERE state = 'active' AND threshold IS NOT NULL")
    return {row["name"]: row["threshold"] for row in rows}


def save(database: sqlite3.Connection, by: str, thresholds: Mapping[str, float], revision: int) -> int:
    """Keep thresholds of labels; return the event. `revision` is that of the study they were chosen in."""
    if _revision(database) != revision:
        row = database.execute("SELECT by FROM events WHERE number = ?", (_revision(database),)).fetchone()
        raise ConflictError(f"{row['by']!r:.100} changed labels or thresholds after you saw them. Nothing was saved.")
    if about(database).get("scores_are_probabilities"):
        _check_probabilities(thresholds)
    return put_thresholds(database, by, thresholds)


def _check_probabilities(thresholds: Mapping[str, float]) -> None:
    """Raise an error for a threshold that no probability can have."""
    for label, value in thresholds.items():
        if not -LEAST_GAP <= value <= 1 + LEAST_GAP:  # a threshold just below the score 0 is one that a study gives
            raise ParameterError(
                f"The threshold of {label!r:.200} must be a number from 0 to 1, because scores are shown as "
                f"probabilities, not {value!r}."
            )


def put_thresholds(database: sqlite3.Connection, by: str, thresholds: Mapping[str, float]) -> int:
    """Give labels these thresholds; return the event."""
    event = new_event(database, by, "thresholds", {"labels": len(thresholds)})
    for name, threshold in thresholds.items():
        change_label(database, event, label_number(database, name), threshold=threshold)
    recount(
        database,
        "SELECT document FROM scores WHERE label IN (SELECT label FROM label_changes WHERE event = ?1) UNION "
        "SELECT document FROM assignments WHERE label IN (SELECT label FROM label_changes WHERE event = ?1)",
        event,
    )
    measure_margins(database)
    return event
