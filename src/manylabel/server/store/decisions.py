"""Decisions about labels of documents, and how they are taken back.

Every change is written with what was there before. A decision names the revision of the document that the user saw; one
about an older revision is refused, together with what others decided since.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from manylabel.exceptions import ParameterError
from manylabel.server.problems import RequestError
from manylabel.server.store.documents import documents
from manylabel.server.store.files import RETIRED
from manylabel.server.store.filters import label_number
from manylabel.wording import counted

REVIEWED, NOT_REVIEWED = "reviewed", "not reviewed"
DOCUMENT = 0
"""Stands for the document itself where a change is not about a label."""
MOST_SHOWN = 20
"""Documents that are listed in a conflict or a preview."""


class ConflictError(RequestError):
    """Someone else changed what a request is about; the answer says who, when and what."""

    def __init__(self, detail: str, conflicts: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(409, detail, members={"conflicts": list(conflicts)})


def new_event(database: sqlite3.Connection, by: str, kind: str, detail: Mapping[str, Any]) -> int:
    """Record that a user does something; return the number of the event."""
    made = database.execute(
        "INSERT INTO events (at, by, kind, detail) VALUES (?, ?, ?, ?)", (time.time(), by, kind, json.dumps(detail))
    )
    assert made.lastrowid is not None
    return made.lastrowid


def want(database: sqlite3.Connection, rows: Iterable[tuple[int, int, str | None, int | None]]) -> None:
    """Collect what labels of documents are to become: document, label, state and the event that decided it."""
    database.execute(
        "CREATE TEMP TABLE IF NOT EXISTS wanted (document, label, now, event, PRIMARY KEY (document, label))"
    )
    database.execute("DELETE FROM wanted")
    database.executemany("INSERT OR REPLACE INTO wanted VALUES (?, ?, ?, ?)", rows)


def carry_out(database: sqlite3.Connection, event: int) -> int:
    """Change what is wanted and not yet so, with a record of it; return the number of changes."""
    changed = database.execute(
        """INSERT INTO changes SELECT ?1, w.document, w.label, a.state, a.event, w.now FROM wanted AS w
        LEFT JOIN assignments AS a ON a.label = w.label AND a.document = w.document
        WHERE w.label > 0 AND a.state IS NOT w.now
        UNION ALL SELECT ?1, w.document, 0, IIF(d.reviewed, 'reviewed', 'not reviewed'), d.event, w.now
        FROM wanted AS w JOIN documents AS d ON d.number = w.document
        WHERE w.label = 0 AND d.reviewed <> (w.now = 'reviewed')""",
        (event,),
    ).rowcount
    database.execute(
        """DELETE FROM assignments WHERE (label, document) IN
        (SELECT label, document FROM changes WHERE event = ? AND now IS NULL)""",
        (event,),
    )
    database.execute(
        """INSERT OR REPLACE INTO assignments SELECT c.label, c.document, c.now, COALESCE(w.event, ?1)
        FROM changes AS c JOIN wanted AS w ON w.document = c.document AND w.label = c.label
        WHERE c.event = ?1 AND c.label > 0 AND c.now IS NOT NULL""",
        (event,),
    )
    database.execute(
        """UPDATE documents SET reviewed = (c.now = 'reviewed'), event = COALESCE(w.event, ?1)
        FROM changes AS c JOIN wanted AS w ON w.document = c.document AND w.label = 0
        WHERE c.event = ?1 AND c.label = 0 AND c.document = documents.number""",
        (event,),
    )
    database.execute(
        "UPDATE documents SET revision = revision + 1 WHERE number IN (SELECT document FROM changes WHERE event = ?)",
        (event,),
    )
    recount(database, "SELECT document FROM changes WHERE event = ?", event)
    return changed


def recount(database: sqlite3.Connection, which: str, *parameters: Any) -> None:
    """Count the true labels of documents again, and the labels on which true and predicted ones differ."""
    database.execute(
        f"""UPDATE documents SET
        true_labels = (SELECT COUNT(*) FROM assignments AS a JOIN labels AS l ON l.number = a.label
            WHERE a.document = documents.number AND a.state <> 'rejected' AND l.state = 'active'),
        false_positives = IIF(measured, (SELECT COUNT(*) FROM scores AS s JOIN labels AS l ON l.number = s.label
            WHERE s.document = documents.number AND l.state = 'active' AND s.score >= l.threshold AND NOT EXISTS
            (SELECT 1 FROM assignments AS a WHERE a.label = s.label AND a.document = s.document
                AND a.state <> 'rejected')), 0),
        false_negatives = IIF(measured, (SELECT COUNT(*) FROM assignments AS a JOIN labels AS l ON l.number = a.label
            WHERE a.document = documents.number AND a.state <> 'rejected' AND l.state = 'active'
            AND l.threshold IS NOT NULL AND NOT EXISTS (SELECT 1 FROM scores AS s WHERE s.document = a.document
                AND s.label = a.label AND s.score >= l.threshold)), 0)
        WHERE number IN ({which})""",
        parameters,
    )


def measure_margins(database: sqlite3.Connection) -> None:
    """Keep for each document how near its scores come to a threshold."""
    database.execute(
        """UPDATE documents SET margin = (SELECT MIN(ABS(s.score - l.threshold)) FROM scores AS s
        JOIN labels AS l ON l.number = s.label AND l.state = 'active' WHERE s.document = documents.number)"""
    )


def decide(database: sqlite3.Connection, by: str, decisions: Sequence[Mapping[str, Any]]) -> tuple[int, list[int]]:
    """Decide about labels of some documents at once; return the event and the documents' new revisions.

    A decision has the `document`, the `revision` that was seen, labels to `accept`, to `reject` and to `clear`, and the
    `state` that the document is to have. Either all decisions are kept or none.
    """
    check_revisions(database, {one["document"]: one["revision"] for one in decisions})
    numbers: dict[str, int] = {}
    rows: list[tuple[int, int, str | None, int | None]] = []
    for one in decisions:
        named: set[int] = set()
        for now, names in (("accepted", one["accept"]), ("rejected", one["reject"]), (None, one["clear"])):
            for name in names:
                if name not in numbers:
                    numbers[name] = label_number(database, name)
                if numbers[name] in named:
                    raise ParameterError(f"The label {name!r} is named twice in one decision.")
                named.add(numbers[name])
                rows.append((one["document"], numbers[name], now, None))
        if one["state"] is not None:
            now = NOT_REVIEWED if one["state"] == NOT_REVIEWED else REVIEWED
            rows.append((one["document"], DOCUMENT, now, None))
    event = new_event(database, by, "decision", {"documents": len(decisions)})
    want(database, rows)
    carry_out(database, event)
    _check_states(database, decisions)
    order = [one["document"] for one in decisions]
    revisions = dict(_revisions(database, order))
    return event, [revisions[number] for number in order]


def _check_states(database: sqlite3.Connection, decisions: Sequence[Mapping[str, Any]]) -> None:
    empty = [one["document"] for one in decisions if one["state"] == "no label applies"]
    row = database.execute(
        "SELECT id, true_labels FROM documents WHERE true_labels > 0 AND number IN (SELECT value FROM json_each(?))",
        (json.dumps(empty),),
    ).fetchone()
    if row is not None:
        raise ParameterError(
            f"The document {row['id']!r:.200} has {counted(row['true_labels'], 'label')}, so that 'no label applies' "
            "contradicts it. Reject its labels in the same decision."
        )
    kept = {one["document"]: one["state"] for one in decisions if one["state"] == "reviewed"}
    row = database.execute(
        "SELECT id FROM documents WHERE true_labels = 0 AND number IN (SELECT value FROM json_each(?))",
        (json.dumps(list(kept)),),
    ).fetchone()
    if row is not None:
        raise ParameterError(
            f"The document {row['id']!r:.200} has no label. Accept one, or give it the state 'no label applies'."
        )


def _revisions(database: sqlite3.Connection, numbers: Sequence[int]) -> list[tuple[int, int]]:
    rows = database.execute(
        "SELECT number, revision FROM documents WHERE number IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    return [(row["number"], row["revision"]) for row in rows]


def check_revisions(database: sqlite3.Connection, seen: Mapping[int, int]) -> None:
    """Raise a `ConflictError` where documents were changed after a user saw them."""
    found = dict(_revisions(database, list(seen)))
    if missing := [number for number in seen if number not in found]:
        raise RequestError(404, f"There is no document of the number {missing[0]}.")
    changed = [number for number, revision in seen.items() if found[number] != revision]
    if not changed:
        return
    shown = documents(database, changed[:MOST_SHOWN])
    changes = [_since(database, one["number"], seen[one["number"]]) for one in shown]
    users = sorted({change["by"] for some in changes for change in some})
    raise ConflictError(
        f"{counted(len(changed), 'document was', 'documents were')} changed by {', '.join(users) or 'someone'} after "
        "you saw them. Nothing was saved. Look at 'conflicts' and decide again.",
        [{"document": one, "changes": some} for one, some in zip(shown, changes, strict=True)],
    )


def _since(database: sqlite3.Connection, number: int, revision: int) -> list[dict[str, Any]]:
    """What changed in a document after a revision: an event changes the revision by one."""
    rows = database.execute(
        """SELECT e.number AS event, e.by, e.at, e.kind, l.name AS label, c.was, c.now FROM changes AS c
        JOIN events AS e ON e.number = c.event LEFT JOIN labels AS l ON l.number = c.label
        WHERE c.document = ?1 AND c.event IN (SELECT DISTINCT event FROM changes WHERE document = ?1
            ORDER BY event DESC LIMIT max(0, (SELECT revision FROM documents WHERE number = ?1) - ?2))
        ORDER BY c.event, c.label""",
        (number, revision),
    )
    return [dict(row) for row in rows]


# ---- undo ------------------------------------------------------------------------------------------------------------


def undo(database: sqlite3.Connection, by: str, event: int | None) -> tuple[int, int]:
    """Take back an event, by default the user's latest one; return the event of the undo and the one undone.

    An undo can be taken back too: what it took back holds again. A `ConflictError` where someone changed the same
    labels of the same documents after it.
    """
    number = _undoable(database, by, event)
    rows = database.execute(
        """SELECT c.document FROM changes AS c
        LEFT JOIN assignments AS a ON a.label = c.label AND a.document = c.document
        WHERE c.event = ?1 AND c.label > 0 AND a.state IS NOT c.now
        UNION SELECT c.document FROM changes AS c JOIN documents AS d ON d.number = c.document
        WHERE c.event = ?1 AND c.label = 0 AND d.reviewed <> (c.now = 'reviewed')""",
        (number,),
    ).fetchall()
    if rows:
        shown = documents(database, [row[0] for row in rows[:MOST_SHOWN]])
        raise ConflictError(
            f"{counted(len(rows), 'document was', 'documents were')} changed after the decision. Nothing was undone.",
            [{"document": one, "changes": _since(database, one["number"], one["revision"] - 1)} for one in shown],
        )
    _check_rules(database, number)
    made = new_event(database, by, "undo", {"undoes": number})
    _undo_labels(database, number, made)
    database.execute("UPDATE events SET undone = NULL WHERE undone = ? AND kind = 'add label'", (number,))
    before = database.execute("SELECT document, label, was, was_event FROM changes WHERE event = ?", (number,))
    want(database, [tuple(row) for row in before])
    carry_out(database, made)
    _retire_new_label(database, by, number, made)
    _mark_undone(database, number, made)
    return made, number


def _retire_new_label(database: sqlite3.Connection, by: str, event: int, made: int) -> None:
    """Retire, with the undo of a decision, the label that the user added right before it, if no document has it."""
    row = database.execute(
        """SELECT e.number, c.label FROM events AS e JOIN label_changes AS c ON c.event = e.number
        WHERE e.number = (SELECT MAX(number) FROM events WHERE by = ?1 AND number < ?2) AND e.kind = 'add label'
        AND e.undone IS NULL AND EXISTS (SELECT 1 FROM changes WHERE event = ?2 AND label = c.label)
        AND NOT EXISTS (SELECT 1 FROM assignments WHERE label = c.label)""",
        (by, event),
    ).fetchone()
    if row is not None:
        change_label(database, made, row["label"], state=RETIRED)
        database.execute("UPDATE events SET undone = ? WHERE number = ?", (made, row["number"]))


def _mark_undone(database: sqlite3.Connection, event: int | None, by: int | None) -> None:
    """Mark an event as undone by another one. What it undid itself holds again, what that undid does not, and so on."""
    while event is not None:
        database.execute("UPDATE events SET undone = ? WHERE number = ?", (by, event))
        row = database.execute(
            "SELECT json_extract(detail, '$.undoes') AS undoes FROM events WHERE number = ? AND kind = 'undo'", (event,)
        ).fetchone()
        event, by = None if row is None else row["undoes"], event if by is None else None


def _undoable(database: sqlite3.Connection, by: str, event: int | None) -> int:
    if event is None:
        row = database.execute(
            "SELECT MAX(number) FROM events WHERE by = ? AND undone IS NULL AND "
            "kind NOT IN ('undo', 'import', 'scores')",
            (by,),
        ).fetchone()
        if row[0] is None:
            raise RequestError(404, f"{by!r:.100} has decided nothing that could be undone.")
        return int(row[0])
    row = database.execute("SELECT by, kind, undone FROM events WHERE number = ?", (event,)).fetchone()
    if row is None or row["kind"] in ("import", "scores"):
        raise RequestError(404, f"There is no event {event} that could be undone.")
    if row["by"] != by:
        raise RequestError(403, f"The event {event} is of {row['by']!r:.100}. Users undo their own decisions.")
    if row["undone"] is not None:
        raise ConflictError(f"The event {event} was undone already, by event {row['undone']}.")
    return event


def _check_rules(database: sqlite3.Connection, event: int) -> None:
    """Raise a `ConflictError` for saved keyword rules that were replaced since."""
    row = database.execute(
        """SELECT by FROM events WHERE kind = 'rules' AND undone IS NULL AND number > ?1
        AND EXISTS (SELECT 1 FROM events WHERE number = ?1 AND kind = 'rules')""",
        (event,),
    ).fetchone()
    if row is not None:
        raise ConflictError(f"The keyword rules were saved again by {row['by']!r:.100}. Nothing was undone.")


def _undo_labels(database: sqlite3.Connection, event: int, made: int) -> None:
    """Give labels the names, states and thresholds back that they had before an event."""
    rows = database.execute("SELECT * FROM label_changes WHERE event = ?", (event,)).fetchall()
    for row in rows:
        now = database.execute("SELECT * FROM labels WHERE number = ?", (row["label"],)).fetchone()
        if any(now[key] != row[key] for key in ("name", "state", "merged_into", "threshold")):
            raise ConflictError(f"The label {now['name']!r:.200} was changed after this. Nothing was undone.")
    for row in rows:
        change_label(
            database, made, row["label"],
            name=row["was_name"], state=row["was_state"], merged_into=row["was_into"], threshold=row["was_threshold"],
        )  # fmt: skip
    if rows:
        recount(
            database,
            "SELECT document FROM scores WHERE label IN (SELECT label FROM label_changes WHERE event = ?1) UNION "
            "SELECT document FROM assignments WHERE label IN (SELECT label FROM label_changes WHERE event = ?1)",
            event,
        )
    if any(row["was_threshold"] != row["threshold"] for row in rows):
        measure_margins(database)


def change_label(database: sqlite3.Connection, event: int, label: int, **now: Any) -> None:
    """Change the name, state, target or threshold of a label, with a record of it."""
    row = database.execute("SELECT * FROM labels WHERE number = ?", (label,)).fetchone()
    after = {key: now.get(key, row[key]) for key in ("name", "state", "merged_into", "threshold")}
    try:
        database.execute(
            "UPDATE labels SET name = :name, state = :state, merged_into = :merged_into, threshold = :threshold "
            "WHERE number = :label",
            {**after, "label": label},
        )
    except sqlite3.IntegrityError:
        raise ConflictError(f"There is a label {after['name']!r:.200} already.") from None
    database.execute(
        "INSERT OR REPLACE INTO label_changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (event, label, row["name"], row["state"], row["merged_into"], row["threshold"], *after.values()),
    )
