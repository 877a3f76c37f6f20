"""Labels of a corpus added, renamed, merged and retired during a review; each is an event that can be undone."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from manylabel.exceptions import ParameterError
from manylabel.server.store.decisions import ConflictError, carry_out, change_label, new_event, recount, want
from manylabel.server.store.files import ACTIVE, MERGED, RETIRED
from manylabel.server.store.filters import label_number
from manylabel.tasks.reviewing import checked_label

MOST_DOCUMENTS = 1_000
"""Documents that are listed for an event."""


def add(database: sqlite3.Connection, by: str, name: str) -> int:
    """Add a label; return the event."""
    event = new_event(database, by, "add label", {"label": checked_label(name)})
    made = database.execute("INSERT INTO labels (name, state) VALUES (?, ?)", (name, RETIRED))
    assert made.lastrowid is not None
    change_label(database, event, made.lastrowid, state=ACTIVE)
    return event


def rename(database: sqlite3.Connection, by: str, name: str, new: str) -> int:
    """Give a label another name; its documents, scores and threshold stay. Return the event."""
    label = _seen(database, name)
    event = new_event(database, by, "rename label", {"label": name, "name": checked_label(new)})
    change_label(database, event, label, name=new)
    return event


def merge(database: sqlite3.Connection, by: str, name: str, into: str) -> int:
    """Give the documents of a label another one instead; return the event.

    A document that has either label has the other one afterwards. A rejection of the merged label is not carried over.
    """
    label, target = _seen(database, name), label_number(database, into)
    if label == target:
        raise ParameterError("A label cannot be merged into itself. Name another one.")
    rows = database.execute(
        """SELECT a.document, a.state, b.state AS other FROM assignments AS a
        LEFT JOIN assignments AS b ON b.label = ? AND b.document = a.document WHERE a.label = ?""",
        (target, label),
    ).fetchall()
    moved: list[tuple[int, int, str | None, int | None]] = [(row["document"], label, None, None) for row in rows]
    for row in rows:
        stronger = row["other"] in (None, "rejected") or row["other"] == "imported" != row["state"]
        if row["state"] != "rejected" and stronger:
            moved.append((row["document"], target, row["state"], None))
    event = new_event(database, by, "merge labels", {"label": name, "into": into, "documents": len(rows)})
    want(database, moved)
    change_label(database, event, label, state=MERGED, merged_into=target)
    carry_out(database, event)
    _recount(database, label)
    return event


def retire(database: sqlite3.Connection, by: str, name: str) -> int:
    """Take a label from all documents and offer it no more; return the event."""
    label = _seen(database, name)
    rows = database.execute("SELECT document FROM assignments WHERE label = ?", (label,)).fetchall()
    event = new_event(database, by, "retire label", {"label": name, "documents": len(rows)})
    want(database, [(row["document"], label, None, None) for row in rows])
    change_label(database, event, label, state=RETIRED)
    carry_out(database, event)
    _recount(database, label)
    return event


def _recount(database: sqlite3.Connection, label: int) -> None:
    """Count again where the label was predicted: it is no longer."""
    recount(database, "SELECT document FROM scores WHERE label = ?", label)


def _seen(database: sqlite3.Connection, name: str) -> int:
    """The number of the label that a user saw; a `ConflictError` that tells what became of it."""
    row = database.execute("SELECT number FROM labels WHERE name = ? AND state = 'active'", (name,)).fetchone()
    if row is not None:
        return int(row["number"])
    was = database.execute(
        """SELECT l.name, l.state, m.name AS target, e.by FROM label_changes AS c
        JOIN labels AS l ON l.number = c.label JOIN events AS e ON e.number = c.event
        LEFT JOIN labels AS m ON m.number = l.merged_into WHERE c.was_name = ? AND c.was_state = 'active'
        ORDER BY c.event DESC LIMIT 1""",
        (name,),
    ).fetchone()
    if was is None:
        return label_number(database, name)  # an error that offers the nearest name
    raise ConflictError(f"The label {name!r:.200} was {_fate(was)} by {was['by']!r:.100}. Look at the labels again.")


def _fate(was: sqlite3.Row) -> str:
    if was["state"] == MERGED:
        return f"merged into {was['target']!r:.200}"
    return "retired" if was["state"] == RETIRED else f"renamed to {was['name']!r:.200}"


def events(
    database: sqlite3.Connection, by: str | None, before: int | None, after: int | None, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """The latest events, the newest first, of one user or of all, with some of what each changed; and the latest one.

    Events lie between `before` and `after`, where these are given. The text of keyword rules is left out.
    """
    rows = database.execute(
        """SELECT number, at, by, kind, json_remove(detail, '$.text') AS detail, undone,
            (SELECT COUNT(*) FROM changes AS c WHERE c.event = events.number) AS changes
        FROM events WHERE (?1 IS NULL OR by = ?1) AND (?2 IS NULL OR number < ?2) AND (?3 IS NULL OR number > ?3)
        ORDER BY number DESC LIMIT ?4""",
        (by, before, after, limit),
    ).fetchall()
    found = []
    for row in rows:
        documents = database.execute(
            "SELECT DISTINCT document FROM changes WHERE event = ? ORDER BY document LIMIT ?",
            (row["number"], MOST_DOCUMENTS),
        )
        found.append(
            {
                **dict(row),
                "detail": json.loads(row["detail"]),
                "documents": [one["document"] for one in documents],
                "first": _first_changes(database, row["number"]),
            }
        )
    return found, int(database.execute("SELECT MAX(number) FROM events").fetchone()[0])


def _first_changes(database: sqlite3.Connection, event: int, most: int = 10) -> list[dict[str, Any]]:
    rows = database.execute(
        """SELECT d.number AS document, d.id, l.name AS label, c.was, c.now FROM changes AS c
        JOIN documents AS d ON d.number = c.document LEFT JOIN labels AS l ON l.number = c.label
        WHERE c.event = ? LIMIT ?""",
        (event, most),
    )
    return [dict(row) for row in rows]
