"""The files of corpora under review: a folder each, with an SQLite file and the data it was made from.

A decision is confirmed once it is on the disk (`synchronous = FULL` in WAL mode). Every process opens its own
connection for each step, so that nothing is kept in memory that another process could change.
"""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from manylabel.exceptions import MissingDataError, ParameterError
from manylabel.server.damage import damage_named
from manylabel.server.jobs.store import checked_name
from manylabel.tasks.corpora import Source

VERSION = 2
"""The format of the tables below; `_UPGRADES` has the step to it from each earlier one."""
CACHE = 64 << 10
"""Kilobytes of pages that a connection keeps."""
MAPPED = 1 << 30
"""Bytes of the file that are read without copying."""
ACTIVE, MERGED, RETIRED = "active", "merged", "retired"
"""The states of a label."""
_DELETED = ".deleted-"
"""How the names of folders begin that are being deleted; no corpus has such a name."""
_TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # Everything that changes a corpus is an event. `undone` is the event that took it back.
    """CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, by TEXT NOT NULL, kind TEXT NOT NULL,
        detail TEXT NOT NULL, undone INTEGER REFERENCES events)""",
    "CREATE INDEX events_by_user ON events (by, number)",
    """CREATE TABLE labels (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, merged_into INTEGER REFERENCES labels,
        threshold REAL, exact_from REAL, imported_name TEXT)""",
    "CREATE UNIQUE INDEX labels_by_name ON labels (name) WHERE state = 'active'",
    # Rows of this table stay small, because filters scan it; texts have a table of their own.
    """CREATE TABLE documents (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL, split TEXT NOT NULL, revision INTEGER NOT NULL DEFAULT 1,
        reviewed INTEGER NOT NULL DEFAULT 0, event INTEGER NOT NULL REFERENCES events,
        true_labels INTEGER NOT NULL DEFAULT 0, measured INTEGER NOT NULL DEFAULT 0,
        false_positives INTEGER NOT NULL DEFAULT 0, false_negatives INTEGER NOT NULL DEFAULT 0, margin REAL,
        queue_place INTEGER)""",
    "CREATE INDEX documents_by_id ON documents (id, number)",
    "CREATE INDEX documents_by_split ON documents (split, number)",
    "CREATE INDEX documents_by_state ON documents (reviewed, true_labels, number)",
    "CREATE INDEX documents_by_margin ON documents (margin, number)",
    # The place in the queue of documents to label next.
    "CREATE INDEX documents_by_place ON documents (queue_place) WHERE queue_place IS NOT NULL",
    """CREATE TABLE texts (
        document INTEGER PRIMARY KEY REFERENCES documents, beginning TEXT NOT NULL, fields TEXT NOT NULL)""",
    """CREATE VIRTUAL TABLE search USING fts5 (
        text, content = '', columnsize = 0, tokenize = "unicode61 remove_diacritics 2")""",
    # The state is imported, accepted or rejected; all but the last one are true labels.
    """CREATE TABLE assignments (
        label INTEGER NOT NULL REFERENCES labels, document INTEGER NOT NULL REFERENCES documents, state TEXT NOT NULL,
        event INTEGER NOT NULL REFERENCES events, PRIMARY KEY (label, document)) WITHOUT ROWID""",
    "CREATE INDEX assignments_by_document ON assignments (document, label, state)",
    """CREATE TABLE scores (
        document INTEGER NOT NULL REFERENCES documents, label INTEGER NOT NULL REFERENCES labels, score REAL NOT NULL,
        PRIMARY KEY (document, label)) WITHOUT ROWID""",
    "CREATE INDEX scores_by_label ON scores (label, score, document)",
    # The same scores per label, the highest first, as arrays: figures of all labels are computed from these.
    """CREATE TABLE columns (
        label INTEGER PRIMARY KEY REFERENCES labels, documents BLOB NOT NULL, scores BLOB NOT NULL)""",
    """CREATE TABLE suggestions (
        document INTEGER NOT NULL REFERENCES documents, label INTEGER NOT NULL REFERENCES labels, action TEXT NOT NULL,
        probability REAL NOT NULL, source TEXT NOT NULL, PRIMARY KEY (label, document)) WITHOUT ROWID""",
    "CREATE INDEX suggestions_by_document ON suggestions (document)",
    # What an event changed. Label 0 stands for the document itself, whether it is reviewed.
    """CREATE TABLE changes (
        event INTEGER NOT NULL REFERENCES events, document INTEGER NOT NULL REFERENCES documents,
        label INTEGER NOT NULL, was TEXT, was_event INTEGER, now TEXT, PRIMARY KEY (event, document, label)
    ) WITHOUT ROWID""",
    "CREATE INDEX changes_by_document ON changes (document, label, event)",
    """CREATE TABLE label_changes (
        event INTEGER NOT NULL REFERENCES events, label INTEGER NOT NULL REFERENCES labels,
        was_name TEXT, was_state TEXT, was_into INTEGER, was_threshold REAL,
        name TEXT, state TEXT, merged_into INTEGER, threshold REAL, PRIMARY KEY (event, label)) WITHOUT ROWID""",
)  # fmt: skip
_UPGRADES: Mapping[int, tuple[str, ...]] = {
    1: (
        "ALTER TABLE documents ADD COLUMN queue_place INTEGER",
        "CREATE INDEX documents_by_place ON documents (queue_place) WHERE queue_place IS NOT NULL",
    ),
}
"""By format, the statements that make the next one of it."""


@contextmanager
def connected(path: Path, begin: str) -> Iterator[sqlite3.Connection]:
    """A connection with one transaction, which is on the disk when the block ends without an error."""
    with damage_named(path), closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as database:
        database.row_factory = sqlite3.Row
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA foreign_keys = ON")
        database.execute("PRAGMA temp_store = MEMORY")
        database.execute(f"PRAGMA cache_size = -{CACHE}")
        database.execute(f"PRAGMA mmap_size = {MAPPED}")
        database.execute(begin)
        yield database
        database.execute("COMMIT")  # without it, closing undoes what was done


class CorpusFile:
    """One corpus under review."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "corpus.sqlite"

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one state of the corpus, whatever others write meanwhile."""
        with self._opened("BEGIN") as database:
            yield database

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection that alone may write."""
        with self._opened("BEGIN IMMEDIATE") as database:
            yield database

    def create(self, about: Mapping[str, Any]) -> None:
        """Make the tables of a new corpus."""
        with connected(self.path, "BEGIN IMMEDIATE") as database:
            for statement in _TABLES:
                database.execute(statement)
            rows = [(key, json.dumps(value)) for key, value in about.items()]
            database.executemany("INSERT INTO about VALUES (?, ?)", rows)
            database.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _opened(self, begin: str) -> Iterator[sqlite3.Connection]:
        """A connection to tables of the present format; those of an earlier one are converted first."""
        with connected(self.path, begin) as database:
            if self._format(database) == VERSION:
                yield database
                return
        self._convert()
        with connected(self.path, begin) as database:
            yield database

    def _convert(self) -> None:
        """Convert a corpus of an earlier format, all steps or none; another process may have done it meanwhile."""
        with connected(self.path, "BEGIN IMMEDIATE") as database:
            for found in range(self._format(database), VERSION):
                for statement in _UPGRADES[found]:
                    database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")

    def _format(self, database: sqlite3.Connection) -> int:
        """The format of the corpus, which this version can read or convert."""
        found = int(database.execute("PRAGMA user_version").fetchone()[0])
        if found > VERSION:
            raise ParameterError(
                f"The corpus {self.folder.name!r} was written by a later version of manylabel: its format is {found}, "
                f"and this version reads formats up to {VERSION}. Install the later version again, or restore a copy "
                "of the data directory from before the upgrade."
            )
        if found < min(_UPGRADES):
            raise ParameterError(f"{self.path.name} of {self.folder.name!r} is not a corpus of manylabel.")
        return found


def about(database: sqlite3.Connection) -> dict[str, Any]:
    """What is known of a corpus as a whole: name, data, format, options of reading, scores; without the addresses of
    its labels, of which there may be many.
    """
    rows = database.execute("SELECT key, value FROM about WHERE key <> 'addresses'")
    return {row["key"]: json.loads(row["value"]) for row in rows}


class CorpusFiles:
    """The folder of all corpora of a server. Every name in a request is checked here."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "corpora"

    def names(self) -> list[str]:
        """The names of all corpora."""
        if not self.folder.is_dir():
            return []
        return sorted(path.parent.name for path in self.folder.glob("[!.]*/corpus.sqlite"))

    def get(self, name: str) -> CorpusFile:
        """The corpus of a name."""
        found = CorpusFile(self.folder / checked_name(name, "a corpus"))
        if not found.path.is_file():
            raise MissingDataError(
                f"There is no corpus {name!r}. Known: {', '.join(self.names()) or 'none'}. Import one: "
                "a job of the kind 'import', or `manylabel corpora import`."
            )
        return found

    def check_free(self, name: str) -> Path:
        """The folder of a new corpus; an error where there is one of that name."""
        folder = self.folder / checked_name(name, "a corpus")
        if folder.exists():
            raise ParameterError(f"There is a corpus {name!r} already. Choose another name.")
        return folder

    def delete(self, corpus: CorpusFile) -> None:
        """Delete a corpus: its name is free at once, whatever happens while its files are removed."""
        corpus.folder.rename(self.folder / f"{_DELETED}{secrets.token_hex(8)}")
        for folder in self.folder.glob(f"{_DELETED}*"):  # also those that a killed process left
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def new(self, name: str) -> Iterator[Path]:
        """A folder to make a corpus in, which gets its name when the block ends without an error."""
        place = self.check_free(name)
        made = self.folder / f".{name}"
        shutil.rmtree(made, ignore_errors=True)  # left by an import that was killed
        made.mkdir(mode=0o700, parents=True)
        try:
            yield made
            made.rename(place)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def original_source(corpus: CorpusFile, known: Mapping[str, Any]) -> Source:
    """The data that a corpus was made from, to be read again in the same way."""
    data = known["data"] if known["is_built_in"] else str(corpus.folder / known["data"])
    copied = known.get("vocabulary")  # not known of corpora that were made before vocabularies were copied
    vocabulary = None if copied is None else str(corpus.folder / copied)
    return Source(data, options=known["options"], vocabulary=vocabulary, label_language=known.get("label_language"))
