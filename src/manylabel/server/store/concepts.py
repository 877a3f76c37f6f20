"""The concepts of a vocabulary, which labels are chosen from: found by a name in any language or by address."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from manylabel.server.store.documents import folded
from manylabel.tasks.reviewing import Concept

FILE = "concepts.json"
"""The file beside a corpus that lists them; corpora without a vocabulary, and those made before, have none."""
KEPT = 4
"""Vocabularies that a process keeps in memory."""


def keep_concepts(folder: Path, concepts: Sequence[Concept]) -> None:
    """Write the concepts of a new corpus, where it has some."""
    if concepts:
        plain = [[one.address, one.label, one.names] for one in concepts]
        (folder / FILE).write_text(json.dumps(plain, ensure_ascii=False), encoding="utf-8")


def find_concepts(folder: Path, database: sqlite3.Connection, typed: str, limit: int) -> list[dict[str, Any]] | None:
    """Concepts with a name that holds what was typed, or with that address; None where there is no vocabulary.

    A concept that is a label of the corpus has its name there, whatever it was renamed to. Those that begin with what
    was typed come first, then those with short names.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    wanted, address = folded(typed.strip()), typed.strip().removeprefix("<").removesuffix(">")
    found = []
    for concept, names in _concepts(path, path.stat().st_mtime_ns) if wanted else ():
        held = [place for place, name in enumerate(names) if wanted in name]
        if held:
            best = min(held, key=lambda place: (not names[place].startswith(wanted), len(names[place])))
            found.append((not names[best].startswith(wanted), len(names[best]), concept.names[best], concept))
        elif "://" in address and address in concept.address:
            found.append((address != concept.address, len(concept.address), concept.label, concept))
    found.sort(key=lambda one: (*one[:3], one[3].address))
    labels = _Labels(database)
    return [
        {"label": labels.name_of(one) or one.label, "uri": one.address, "name": name, "is_new": not labels.name_of(one)}
        for *_, name, one in found[:limit]
    ]


@lru_cache(maxsize=KEPT)
def _concepts(path: Path, written: int) -> list[tuple[Concept, list[str]]]:
    """The concepts of a file that was written at a time, each with its names as they are compared."""
    concepts = [Concept(*one) for one in json.loads(path.read_text(encoding="utf-8"))]
    return [(one, [folded(name) for name in one.names]) for one in concepts]


class _Labels:
    """The active labels of a corpus, by their names and by the addresses that the data gave them."""

    def __init__(self, database: sqlite3.Connection) -> None:
        rows = database.execute("SELECT name, imported_name FROM labels WHERE state = 'active'").fetchall()
        self._names = {row["name"] for row in rows}
        self._imported = {row["imported_name"]: row["name"] for row in rows if row["imported_name"] is not None}
        kept = database.execute("SELECT value FROM about WHERE key = 'addresses'").fetchone()
        self._addresses: dict[str, str] = {} if kept is None else json.loads(kept["value"])

    def name_of(self, concept: Concept) -> str | None:
        """The name of the label that is this concept; None where no label is."""
        own = self._imported.get(self._addresses.get(concept.address, ""))
        return own or (concept.label if concept.label in self._names else None)
