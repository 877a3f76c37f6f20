"""Keyword rules of a corpus under review: saved as events, and studied on its documents."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

import numpy as np

from manylabel.server.store.decisions import ConflictError, new_event
from manylabel.server.store.matches import sample, text_batches
from manylabel.server.store.thresholds import by_document, numbers_of
from manylabel.tasks.rule_study import RuleStudy

SECONDS = 5
"""After this time a study tells of the documents that were read until then."""
KIND = "rules"
"""The kind of the events that keep rules."""


def study(database: sqlite3.Connection, rules: str, seconds: float = SECONDS) -> dict[str, Any]:
    """What each keyword rule matches, with precision and recall against the true labels as reviewed so far.

    Counts are exact where all documents were read (`read`); else they are of a fair sample of them.
    """
    names = {row["name"]: row["number"] for row in database.execute("SELECT * FROM labels WHERE state = 'active'")}
    made = RuleStudy(rules, sample(database), list(names))
    until = time.monotonic() + seconds
    last = database.execute("SELECT COALESCE(MAX(number), 0) FROM documents").fetchone()[0]
    carriers = "SELECT group_concat(document) FROM assignments WHERE label = ? AND state <> 'rejected'"
    Y = by_document([numbers_of(database, carriers, names.get(label, 0)) for label in made.labels], last).tocsr()
    unlabelled = np.zeros(last + 1, dtype=np.int64)
    unlabelled[
        numbers_of(database, "SELECT group_concat(number) FROM documents WHERE reviewed = 0 AND true_labels = 0")
    ] = 1
    read = 0
    for numbers, texts in text_batches(database, in_order=False) if made.lines else ():
        made.add(texts, Y[numbers], unlabelled[numbers])
        read += len(numbers)
        if time.monotonic() > until:
            break
    total = database.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
    return {"documents": total, "read": read if made.lines else total, **made.rows()}


def saved(database: sqlite3.Connection) -> dict[str, Any]:
    """The rules that were saved last, by whom and when; their revision is the event, 0 before the first."""
    row = database.execute(
        """SELECT number, by, at, json_extract(detail, '$.text') AS text FROM events
        WHERE kind = ? AND undone IS NULL ORDER BY number DESC LIMIT 1""",
        (KIND,),
    ).fetchone()
    if row is None:
        return {"rules": "", "revision": 0, "by": None, "at": None}
    return {"rules": row["text"], "revision": row["number"], "by": row["by"], "at": row["at"]}


def save(database: sqlite3.Connection, by: str, rules: str, revision: int) -> int:
    """Keep rules instead of those of `revision`; return the event. A `ConflictError` where others were saved since."""
    now = saved(database)
    if now["revision"] != revision:
        by_whom = "" if now["by"] is None else f" by {now['by']!r:.100}"
        raise ConflictError(
            f"The keyword rules were changed{by_whom} after you saw them. Nothing was saved. Look at them again."
        )
    return new_event(database, by, KIND, {"lines": rules.count("\n") + 1 if rules else 0, "text": rules})
