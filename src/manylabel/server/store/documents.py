"""Lists of documents by filter, in an order, page by page; and single documents with what is known of their labels."""

from __future__ import annotations

import base64
import json
import sqlite3
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal

from manylabel.exceptions import ParameterError
from manylabel.server.store.filters import OPEN_SUGGESTIONS, STATES, Filter, condition_of, label_number

Order = Literal["id", "score", "uncertainty", "disagreement", "suggestion", "queue"]
NO_SCORE = -1e308
"""Stands for a score that was too low to be kept."""
NO_MARGIN = 1e308
MOST_COMPARED = 20_000
"""Labels whose names are compared with what was typed: a second of work."""


def count(database: sqlite3.Connection, wanted: Filter) -> int:
    """How many documents a filter finds."""
    made = condition_of(database, wanted)
    row = database.execute(f"SELECT COUNT(*) FROM documents AS d WHERE {made.sql}", made.parameters).fetchone()
    return int(row[0])


def page(
    database: sqlite3.Connection,
    wanted: Filter,
    order: Order = "id",
    label: str | None = None,
    *,
    descending: bool = False,
    cursor: str | None = None,
    limit: int = 50,
) -> tuple[list[dict[str, Any]], str | None]:
    """Up to `limit` documents of a filter in some order, and the cursor of the next page; None at the end.

    ``score`` orders by the score of `label`. ``uncertainty`` puts those first whose score, of `label` or of the label
    where it is least, is nearest to the threshold. ``disagreement`` orders by the number of labels on which true and
    predicted labels differ. ``suggestion`` orders by the probability of the most probable suggestion, of `label` or of
    any. ``queue`` is the order in which documents should be labelled, ``id`` the order of the data.
    """
    joined, key, first = _key(database, order, label)
    made = condition_of(database, wanted)
    sign, direction = ("<", "DESC") if descending else (">", "ASC")
    after = ""
    parameters = [*first, *made.parameters]
    if cursor is not None:
        at, number = _decoded(cursor)
        after = f" AND (({key}) {sign} ? OR (({key}) = ? AND d.number > ?))"
        parameters += [at, at, number]
    found = database.execute(
        f"SELECT d.number, {key} AS place FROM documents AS d {joined} WHERE {made.sql}{after} "
        f"ORDER BY place {direction}, d.number LIMIT ?",
        [*parameters, limit + 1],
    ).fetchall()
    shown = documents(database, [row["number"] for row in found[:limit]])
    last = found[limit - 1] if len(found) > limit else None
    return shown, None if last is None else _encoded(last["place"], last["number"])


def _key(database: sqlite3.Connection, order: Order, label: str | None) -> tuple[str, str, list[Any]]:
    """The join, the expression and the parameters by which documents are ordered."""
    if order == "id":
        return "", "d.number", []
    if order == "disagreement":
        return "", "d.false_positives + d.false_negatives", []
    if order == "queue":
        return "", f"COALESCE(d.queue_place, {NO_MARGIN})", []
    if order == "suggestion":
        number = None if label is None else label_number(database, label)
        joined = f"""LEFT JOIN (SELECT document, MAX(probability) AS probability FROM ({OPEN_SUGGESTIONS})
            WHERE ?1 IS NULL OR label = ?1 GROUP BY document) AS g ON g.document = d.number"""
        return joined, f"COALESCE(g.probability, {NO_SCORE})", [number]
    if label is None:
        if order == "score":
            raise ParameterError("The order 'score' needs 'label', the label whose scores are compared.")
        return "", f"COALESCE(d.margin, {NO_MARGIN})", []
    joined = (
        "LEFT JOIN scores AS s ON s.document = d.number AND s.label = ? LEFT JOIN labels AS l ON l.number = s.label"
    )
    if order == "score":
        return joined, f"COALESCE(s.score, {NO_SCORE})", [label_number(database, label)]
    return joined, f"COALESCE(ABS(s.score - l.threshold), {NO_MARGIN})", [label_number(database, label)]


def _encoded(place: float, number: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([place, number]).encode()).decode()


def _decoded(cursor: str) -> tuple[float, int]:
    try:
        place, number = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
        if isinstance(place, (int, float)) and isinstance(number, int) and abs(number) < 1 << 53:
            return float(place), number
    except (ValueError, TypeError, RecursionError, OverflowError):
        pass
    raise ParameterError("The cursor is not one that a list of documents ended with. Leave it out to begin anew.")


def state_of(row: sqlite3.Row) -> str:
    """Whether a document was reviewed, and whether a label applies to it then."""
    if not row["reviewed"]:
        return "not reviewed"
    return "reviewed" if row["true_labels"] else "no label applies"


def documents(database: sqlite3.Connection, numbers: Sequence[int], *, whole: bool = False) -> list[dict[str, Any]]:
    """Documents by their numbers, in that order, with their labels and the beginning of their texts, or all of them."""
    rows = database.execute(
        f"SELECT d.*, t.beginning {', t.fields' if whole else ''}, e.by, e.at "
        "FROM documents AS d JOIN texts AS t ON t.document = d.number JOIN events AS e ON e.number = d.event "
        "WHERE d.number IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    labels = labels_of(database, numbers)
    found = {
        row["number"]: {
            "number": row["number"],
            "id": row["id"],
            "split": row["split"],
            "revision": row["revision"],
            "state": state_of(row),
            "reviewed_by": row["by"] if row["reviewed"] else None,
            "reviewed_at": row["at"] if row["reviewed"] else None,
            "false_positives": row["false_positives"],
            "false_negatives": row["false_negatives"],
            "beginning": row["beginning"],
            "fields": json.loads(row["fields"]) if whole else None,
            "labels": labels.get(row["number"], []),
        }
        for row in rows
    }
    return [found[number] for number in numbers if number in found]


def labels_of(database: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """By document, the labels that it has, had, might have or is scored for; true labels first, then by score."""
    rows = database.execute(
        """WITH wanted AS (SELECT value AS document FROM json_each(?)),
        pairs AS (SELECT document, label FROM assignments WHERE document IN wanted
            UNION SELECT document, label FROM scores WHERE document IN wanted
            UNION SELECT document, label FROM suggestions WHERE document IN wanted)
        SELECT p.document, l.name, l.threshold, a.state, e.by, e.at, s.score, g.action, g.probability, g.source
        FROM pairs AS p JOIN labels AS l ON l.number = p.label AND l.state = 'active'
        LEFT JOIN assignments AS a ON a.label = p.label AND a.document = p.document
        LEFT JOIN events AS e ON e.number = a.event
        LEFT JOIN scores AS s ON s.document = p.document AND s.label = p.label
        LEFT JOIN suggestions AS g ON g.label = p.label AND g.document = p.document
            AND a.state IS IIF(g.action = 'add', NULL, 'imported')
        ORDER BY p.document, COALESCE(a.state, 'rejected') = 'rejected', s.score DESC, l.name""",
        (json.dumps(list(numbers)),),
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        is_predicted = row["score"] is not None and row["threshold"] is not None and row["score"] >= row["threshold"]
        suggested = row["action"] == "add" or is_predicted
        found.setdefault(row["document"], []).append(
            {
                "label": row["name"],
                "state": row["state"] or ("suggested" if suggested else None),
                "is_true": row["state"] is not None and row["state"] != "rejected",
                "is_predicted": is_predicted,
                "score": row["score"],
                "threshold": row["threshold"],
                "by": row["by"],
                "at": row["at"],
                "suggestion": None
                if row["action"] is None
                else {"action": row["action"], "probability": row["probability"], "source": row["source"]},
            }
        )
    return found


def summary(database: sqlite3.Connection, known: dict[str, Any]) -> dict[str, Any]:
    """How many documents there are, by split and by state, and what the scores are."""
    splits = database.execute("SELECT split, COUNT(*) AS n FROM documents GROUP BY split ORDER BY split")
    states = {
        state: database.execute(f"SELECT COUNT(*) FROM documents AS d WHERE {condition}").fetchone()[0]
        for state, condition in STATES.items()
    }
    return {
        "name": known["name"],
        "format": known["format"],
        "scores": known.get("scores"),
        "splits": {row["split"]: row["n"] for row in splits},
        "states": states,
        "documents": sum(states.values()),
        "labels": database.execute("SELECT COUNT(*) FROM labels WHERE state = 'active'").fetchone()[0],
        "event": database.execute("SELECT MAX(number) FROM events").fetchone()[0],
        "scores_are_probabilities": known.get("scores_are_probabilities"),
        "saved_thresholds": len(thresholds_of_users(database, known)),
    }


def thresholds_of_users(database: sqlite3.Connection, known: dict[str, Any]) -> dict[str, float]:
    """By label, the thresholds that users saved since the scores were made: others than those that were learned."""
    rows = database.execute(
        """SELECT l.name, l.threshold FROM labels AS l JOIN label_changes AS c ON c.label = l.number
        WHERE l.state = 'active' AND l.threshold IS NOT NULL AND l.threshold IS NOT c.was_threshold
        AND c.event = (SELECT MIN(event) FROM label_changes WHERE label = l.number AND event > ?)""",
        (known.get("scores_event", 0),),
    )
    return {row["name"]: row["threshold"] for row in rows}


def near_labels(database: sqlite3.Connection, typed: str) -> list[dict[str, Any]]:
    """The labels whose names are most like what was typed, at most three; none of a corpus of very many labels."""
    rows = labels(database, "", 0, MOST_COMPARED + 1)[1] if typed else []
    names: dict[str, dict[str, Any]] = {folded(row["label"]): row for row in reversed(rows)}
    return [names[name] for name in get_close_matches(folded(typed), names)] if len(rows) <= MOST_COMPARED else []


def folded(text: str) -> str:
    """A text without case and accents, to compare what a user types with the names of labels.

    >>> folded("École ÉTÉ")
    'ecole ete'
    """
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in split if not unicodedata.combining(letter))


def labels(database: sqlite3.Connection, typed: str, offset: int, limit: int) -> tuple[int, list[dict[str, Any]]]:
    """How many labels hold what was typed, and some of them: those that begin with it first, then by documents."""
    rows = database.execute(
        """SELECT l.name, l.threshold,
            (SELECT COUNT(*) FROM assignments AS a WHERE a.label = l.number AND a.state <> 'rejected') AS documents
        FROM labels AS l WHERE l.state = 'active'"""
    ).fetchall()
    wanted = folded(typed)
    found = []
    for row in rows:
        name = folded(row["name"])
        if wanted in name:
            found.append((not name.startswith(wanted), -row["documents"], row["name"], row))
    found.sort(key=lambda one: one[:3])
    return len(found), [
        {"label": row["name"], "documents": row["documents"], "threshold": row["threshold"]}
        for *_, row in found[offset : offset + limit]
    ]
