"""The documents of a corpus that the query of a keyword rule matches, found in the texts themselves.

The index of the search is of no help here: it splits texts in its own way, so that a document which a rule matches may
be missing from what the index finds. 100,000 short documents are read and matched in about a second.
"""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
from collections.abc import Iterator

from manylabel.exceptions import ParameterError
from manylabel.server.problems import RequestError
from manylabel.tasks.rule_study import OneQuery

BLOCK = 500
"""Documents that are read at once."""
CHARACTERS = 8_000_000
"""About how many characters are matched at once."""
SAMPLE = 1_000
"""Documents by which is chosen how texts are split."""
SECONDS = 20
"""The longest time to find the documents of one query."""
MOST_KEPT = 16
_KEPT: dict[tuple[str, float, str], str] = {}
"""By file, time of import and query, the documents found; the newest last."""
_LOCK = threading.Lock()


def text_batches(database: sqlite3.Connection, *, in_order: bool) -> Iterator[tuple[list[int], list[str]]]:
    """The numbers and texts of all documents, in batches; unless `in_order`, any first batches are a fair sample."""
    last = database.execute("SELECT COALESCE(MAX(number), 0) FROM documents").fetchone()[0]
    starts = list(range(1, last + 1, BLOCK))
    if not in_order:
        random.Random(0).shuffle(starts)
    numbers: list[int] = []
    texts: list[str] = []
    size = 0
    for start in starts:
        rows = database.execute(
            "SELECT document, fields FROM texts WHERE document BETWEEN ? AND ?", (start, start + BLOCK - 1)
        )
        for row in rows:
            numbers.append(row["document"])
            texts.append(_text(row["fields"]))
            size += len(texts[-1])
        if size >= CHARACTERS:
            yield numbers, texts
            numbers, texts, size = [], [], 0
    if numbers:
        yield numbers, texts


def sample(database: sqlite3.Connection) -> list[str]:
    """Some texts, evenly spread; an error for a corpus that came as counts, which have no order of words."""
    counts = database.execute("SELECT value FROM about WHERE key = 'is_counts'").fetchone()
    if counts is not None and json.loads(counts["value"]):
        raise ParameterError("Keyword rules are looked up in texts, and this corpus came as counts of terms.")
    rows = database.execute(
        "SELECT fields FROM texts WHERE document % (SELECT 1 + COUNT(*) / ?1 FROM documents) = 0 LIMIT ?1", (SAMPLE,)
    )
    return [_text(row["fields"]) for row in rows]


def _text(fields: str) -> str:
    """The fields of a document as one text."""
    return "\n".join(json.loads(fields).values())


def matched(database: sqlite3.Connection, query: str) -> str:
    """The numbers of the documents that a query matches, as JSON. Texts never change, so the latest ones are kept."""
    path = database.execute("PRAGMA database_list").fetchone()["file"]
    imported = database.execute("SELECT MIN(at) FROM events").fetchone()[0]
    key = (path, imported, query)
    with _LOCK:
        found = _KEPT.get(key)
    if found is None:
        found = _find(database, query)
        with _LOCK:
            _KEPT[key] = found
            while len(_KEPT) > MOST_KEPT:
                del _KEPT[next(iter(_KEPT))]
    return found


def _find(database: sqlite3.Connection, query: str) -> str:
    looked_for = OneQuery(query, sample(database))
    until = time.monotonic() + SECONDS
    found: list[int] = []
    for numbers, texts in text_batches(database, in_order=True):
        if time.monotonic() > until:
            raise RequestError(
                429,
                f"The corpus is too large to match a keyword rule within {SECONDS} seconds. Filter by 'text' instead.",
            )
        found += [numbers[place] for place in looked_for.places(texts).tolist()]
    return json.dumps(found)
