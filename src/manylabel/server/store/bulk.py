"""One action on all documents of a filter: what it would change, and the change, which needs what the preview found."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from manylabel.server.store.decisions import (
    DOCUMENT,
    MOST_SHOWN,
    NOT_REVIEWED,
    REVIEWED,
    ConflictError,
    carry_out,
    new_event,
    want,
)
from manylabel.server.store.documents import documents, page
from manylabel.server.store.filters import OPEN_SUGGESTIONS, Filter, condition_of, label_number
from manylabel.wording import counted

MOST_SUGGESTIONS = 500
"""Suggestions that a preview lists."""
Wanted = tuple[int, int, str | None, int | None]
"""A row of `want`."""


def preview(database: sqlite3.Connection, wanted: Filter, action: Mapping[str, Any]) -> dict[str, Any]:
    """How many documents of a filter an action would change, some of them, and the revision of all together.

    Where it takes suggestions, these are listed too, the most probable first.
    """
    found, revision = _matched(database, wanted)
    if action["do"] != "take suggestions":
        changes = len(_wanted_in_bulk(database, found, action))
        shown, _ = page(database, wanted, limit=MOST_SHOWN)
        return {
            "documents": len(found), "changes": changes, "sample": shown, "suggestions": [], "revision": revision,
        }  # fmt: skip
    taken = _suggestions(database, found, action)
    concerned = list(dict.fromkeys(one["number"] for one in taken))
    return {
        "documents": len(found),
        "changes": len(taken),
        "sample": documents(database, concerned[:MOST_SHOWN]),
        "suggestions": taken[:MOST_SUGGESTIONS],
        "revision": _with_suggestions(revision, taken),
    }


def apply_to_all(
    database: sqlite3.Connection, by: str, wanted: Filter, action: Mapping[str, Any], revision: str
) -> tuple[int, int]:
    """Carry out an action on all documents of a filter; return the event and the number of changes.

    `revision` is that of the preview: a `ConflictError` where the filter finds other documents, or changed ones, or
    there are other suggestions.
    """
    found, now = _matched(database, wanted)
    rows: list[Wanted]
    if action["do"] == "take suggestions":
        taken = _suggestions(database, found, action)
        now = _with_suggestions(now, taken)
        states = {"add": "accepted", "remove": "rejected"}
        rows = [(one["number"], label_number(database, one["label"]), states[one["action"]], None) for one in taken]
    else:
        rows = _wanted_in_bulk(database, found, action)
    if now != revision:
        raise ConflictError(
            f"The filter finds other documents than in the preview, or some were changed since: "
            f"{counted(len(found), 'document')} now. Nothing was saved. Ask for the preview again."
        )
    event = new_event(
        database, by, "bulk", {"action": dict(action), "filter": wanted.model_dump(exclude_defaults=True)}
    )
    want(database, rows)
    return event, carry_out(database, event)


def _suggestions(database: sqlite3.Connection, found: Sequence[int], action: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The open suggestions of some documents, the most probable first: at most as many as the action takes."""
    label = None if action["label"] is None else label_number(database, action["label"])
    rows = database.execute(
        f"""SELECT d.number, d.id, l.name AS label, g.action, g.probability FROM ({OPEN_SUGGESTIONS}) AS g
        JOIN documents AS d ON d.number = g.document JOIN labels AS l ON l.number = g.label
        WHERE d.number IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR g.label = ?2)
        ORDER BY g.probability DESC, d.number, l.number LIMIT ?3""",
        (json.dumps(list(found)), label, -1 if action["most"] is None else action["most"]),
    )
    return [dict(row) for row in rows]


def _with_suggestions(revision: str, taken: Sequence[Mapping[str, Any]]) -> str:
    """The digest of documents together with that of suggestions: an audit replaces these and no document changes."""
    rows = [[one["number"], one["label"], one["action"]] for one in taken]
    return hashlib.sha256(f"{revision} {json.dumps(rows)}".encode()).hexdigest()[:32]


def _matched(database: sqlite3.Connection, wanted: Filter) -> tuple[list[int], str]:
    """The documents of a filter, and a digest of their numbers and revisions."""
    made = condition_of(database, wanted)
    rows = database.execute(
        f"SELECT d.number, d.revision FROM documents AS d WHERE {made.sql} ORDER BY d.number", made.parameters
    ).fetchall()
    numbers, revisions = [row[0] for row in rows], [row[1] for row in rows]
    digest = hashlib.sha256(array("q", numbers).tobytes() + array("q", revisions).tobytes())
    return numbers, digest.hexdigest()[:32]


def _wanted_in_bulk(database: sqlite3.Connection, found: Sequence[int], action: Mapping[str, Any]) -> list[Wanted]:
    """The rows of `want` for an action on documents; those that are so already are left out."""
    if action["state"] is not None:
        now = NOT_REVIEWED if action["state"] == NOT_REVIEWED else REVIEWED
        # A label must be there for 'reviewed', and none for 'no label applies', which is never a side effect.
        fits = {NOT_REVIEWED: "reviewed = 1", REVIEWED: "reviewed = 0 AND true_labels > 0"}
        condition = fits.get(action["state"], "reviewed = 0 AND true_labels = 0")
        open_ = {row[0] for row in database.execute(f"SELECT number FROM documents WHERE {condition}")}
        return [(number, DOCUMENT, now, None) for number in found if number in open_]
    state = {"accept": "accepted", "reject": "rejected", "clear": None}[action["do"]]
    label = label_number(database, action["label"])
    rows = database.execute("SELECT document, state FROM assignments WHERE label = ?", (label,))
    states = {row["document"]: row["state"] for row in rows}
    return [(number, label, state, None) for number in found if states.get(number) != state]
