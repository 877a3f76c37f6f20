"""The data directory of a server: a queue and history of jobs in SQLite, uploaded data, and trained models.

A job is accepted once its row is on the disk (`synchronous = FULL` in WAL mode). Files are written beside their place
and renamed. Every name in a request is checked here, so that none leads out of the directory.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from manylabel.exceptions import MissingDataError, ParameterError
from manylabel.server.damage import damage_named
from manylabel.tasks.previewing import has_readable_ending, readable_endings

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
OVER: tuple[State, ...] = ("done", "failed", "cancelled", "interrupted")
RESUMABLE: tuple[State, ...] = ("interrupted", "failed", "cancelled")
LEARN_MODELS = ("train", "compare", "retrain")
"""The kinds of jobs that need no model of the name they give."""
WRITE_MODELS = (*LEARN_MODELS, "thresholds")
"""The kinds of jobs that write the model they name."""
SHORT = ("preview", "import")
"""The kinds of jobs that only read uploaded data. They have a lane of their own: none waits for a training to end."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
NAMES = "letters, digits, - and _ only, up to 64 of them"
ENDING = re.compile(r"(\.[A-Za-z0-9]{1,10}){1,2}")
BUILT_IN = "townhall"
FULL = 5
"""The exit code of a job that could not keep its end because the disk is full."""
SERVER_STOPPED = "The server stopped while the job ran. Resume it to run it again."
STARTS_OVER = "The job was resumed. It has the same request, and starts over: jobs keep no partial results."
READ = "BEGIN"
VERSION = 1
"""The format of the table of jobs; files from before formats were numbered have 0, and are the same."""
_TABLES = (
    """CREATE TABLE IF NOT EXISTS jobs (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, kind TEXT NOT NULL, request TEXT NOT NULL,
        state TEXT NOT NULL, created REAL NOT NULL, started REAL, ended REAL, attempt INTEGER NOT NULL DEFAULT 0,
        cancel INTEGER NOT NULL DEFAULT 0, progress TEXT, error TEXT, result TEXT
    )""",
    "CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, number)",
)


class JobStore:
    """The data directory; every process opens its own connection for each step.

    `served` are the files of the models that the server was started with, by name.
    """

    def __init__(self, folder: Path, served: Mapping[str, str] | None = None) -> None:
        self.folder, self.served = folder, dict(served or {})
        self.models, self.uploads, self.logs = (folder / name for name in ("models", "uploads", "logs"))

    def prepare(self) -> None:
        """Make the directory and its table."""
        for path in (self.folder, self.models, self.uploads, self.logs):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._open() as database:
            found = database.execute("PRAGMA user_version").fetchone()[0]
            if found > VERSION:
                raise ParameterError(
                    f"The jobs in {self.folder} were written by a later version of manylabel: their format is {found}, "
                    f"and this version reads formats up to {VERSION}. Install the later version again, or restore a "
                    "copy of the data directory from before the upgrade."
                )
            for statement in _TABLES:
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _open(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """A connection with one transaction, which is on the disk when the block ends."""
        path = self.folder / "jobs.sqlite"
        with damage_named(path), closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as database:
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute(begin)
            yield database
            database.execute("COMMIT")  # without it, closing undoes what was done

    # ---- jobs --------------------------------------------------------------------------------------------------------

    def add(self, kind: str, request: Mapping[str, Any], most: int) -> dict[str, Any] | None:
        """Put a job into the queue; None where `most` jobs wait already."""
        identifier = secrets.token_hex(8)
        with self._open() as database:
            waiting = database.execute("SELECT COUNT(*) FROM jobs WHERE state = 'queued'").fetchone()[0]
            if waiting >= most:
                return None
            database.execute(
                "INSERT INTO jobs (id, kind, request, state, created) VALUES (?, ?, ?, 'queued', ?)",
                (identifier, kind, json.dumps(request), time.time()),
            )
        return self.get(identifier)

    def get(self, identifier: str) -> dict[str, Any] | None:
        """The job of an identifier; None where there is none."""
        with self._open(READ) as database:
            row = database.execute("SELECT * FROM jobs WHERE id = ?", (identifier,)).fetchone()
        return None if row is None else _job(row)

    def list(
        self, state: str | None, limit: int, *, kind: str | None = None, corpus: str | None = None
    ) -> list[dict[str, Any]]:
        """The latest jobs of a state, of a kind and of a corpus, the newest first."""
        with self._open(READ) as database:
            rows = database.execute(
                """SELECT * FROM jobs WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR kind = ?2)
                AND (?3 IS NULL OR json_extract(request, '$.corpus') = ?3) ORDER BY number DESC LIMIT ?4""",
                (state, kind, corpus, limit),
            ).fetchall()
        return [_job(row) for row in rows]

    def take(self, *, short: bool = False) -> dict[str, Any] | None:
        """The short or long job that has waited longest, now running; None where none waits."""
        marks = ", ".join("?" * len(SHORT))
        with self._open() as database:
            row = database.execute(
                f"SELECT * FROM jobs WHERE state = 'queued' AND (kind IN ({marks})) = ? ORDER BY number LIMIT 1",
                (*SHORT, short),
            ).fetchone()
            if row is None:
                return None
            database.execute(
                "UPDATE jobs SET state = 'running', started = ?, ended = NULL, attempt = attempt + 1, cancel = 0, "
                "progress = NULL, error = NULL, result = NULL WHERE id = ?",
                (time.time(), row["id"]),
            )
        return self.get(row["id"])

    def report(self, identifier: str, progress: Mapping[str, Any]) -> bool:
        """Keep the progress of a running job; return whether it was told to stop."""
        with self._open() as database:
            database.execute("UPDATE jobs SET progress = ? WHERE id = ?", (json.dumps(progress), identifier))
        return self.is_cancelled(identifier)

    def end(self, identifier: str, state: State, *, error: str | None = None, result: str | None = None) -> None:
        """Record how a running job ended."""
        with self._open() as database:
            database.execute(
                "UPDATE jobs SET state = ?, ended = ?, error = ?, result = ? WHERE id = ? AND state = 'running'",
                (state, time.time(), error, result, identifier),
            )

    def interrupt_all(self) -> int:
        """Mark the jobs that ran when the server was killed; return their number."""
        with self._open() as database:
            found = database.execute(
                "UPDATE jobs SET state = 'interrupted', ended = ?, error = ? WHERE state = 'running'",
                (time.time(), SERVER_STOPPED),
            )
            return found.rowcount

    def cancel(self, identifier: str) -> None:
        """Take a job out of the queue, or tell the running one to stop."""
        with self._open() as database:
            database.execute("UPDATE jobs SET cancel = 1 WHERE id = ? AND state = 'running'", (identifier,))
            database.execute(
                "UPDATE jobs SET state = 'cancelled', ended = ? WHERE id = ? AND state = 'queued'",
                (time.time(), identifier),
            )

    def is_cancelled(self, identifier: str) -> bool:
        """Whether a job was told to stop."""
        with self._open(READ) as database:
            row = database.execute("SELECT cancel FROM jobs WHERE id = ?", (identifier,)).fetchone()
        return row is None or bool(row["cancel"])

    def resume(self, identifier: str) -> None:
        """Put an interrupted, failed or cancelled job back into the queue."""
        marks = ", ".join("?" * len(RESUMABLE))
        with self._open() as database:
            database.execute(
                f"UPDATE jobs SET state = 'queued', cancel = 0, error = NULL WHERE id = ? AND state IN ({marks})",
                (identifier, *RESUMABLE),
            )

    def log_of(self, identifier: str) -> Path:
        """The file with what a job printed; `identifier` is that of a known job."""
        return self.logs / f"{identifier}.txt"

    # ---- files -------------------------------------------------------------------------------------------------------

    def model_path(self, name: str) -> Path:
        """The file of a model."""
        return self.models / f"{checked_name(name, 'a model')}.manylabel"

    def found_model(self, name: str) -> Path:
        """The file of a model that there is: one that the server was started with, or one that a job wrote."""
        path = Path(self.served[name]) if name in self.served else self.model_path(name)
        if not path.is_file():
            known = sorted({*self.served, *(one.stem for one in self.models.glob("*.manylabel"))})
            raise MissingDataError(
                f"There is no model {name!r}. Known: {', '.join(known) or 'none'}. Train one with a job of the kind "
                "'train'."
            )
        return path

    def is_awaited(self, name: str) -> bool:
        """Whether a job that waits or runs writes a model of this name."""
        marks = ", ".join("?" * len(WRITE_MODELS))
        with self._open(READ) as database:
            row = database.execute(
                f"""SELECT 1 FROM jobs WHERE state IN ('queued', 'running') AND kind IN ({marks})
                AND ? IN (json_extract(request, '$.model'), json_extract(request, '$.name'))""",
                (*WRITE_MODELS, name),
            ).fetchone()
        return row is not None

    def writable_model(self, name: str) -> Path:
        """The file that a job writes a model to; an error where the server was started with another one of the name."""
        path = self.model_path(name)
        if name in self.served and Path(self.served[name]).resolve() != path.resolve():
            raise ParameterError(
                f"The server was started with the model {name!r}, which lies outside of its data directory, so that "
                "jobs do not replace it. Choose another name."
            )
        return path

    def data_path(self, name: str) -> str:
        """The file of uploaded data, or the name of the data set that comes with manylabel."""
        if name == BUILT_IN:
            return name
        found = sorted(self.uploads.glob(f"{checked_name(name, 'data')}.*"))
        if not found:
            known = [BUILT_IN, *self.upload_names()]
            raise MissingDataError(
                f"There are no data {name!r}. Known: {', '.join(known)}. Send them to /v1/data first."
            )
        return str(found[0])

    def upload_names(self) -> Sequence[str]:
        """The names of uploaded data."""
        return sorted({path.name.partition(".")[0] for path in self.uploads.iterdir() if path.name[0] != "."})

    def delete_upload(self, name: str) -> None:
        """Delete uploaded data; an error where there are none, or a job on them waits or runs."""
        self.data_path(name)
        if name == BUILT_IN:
            raise ParameterError(f"{BUILT_IN!r} comes with manylabel and cannot be deleted.")
        with self._open(READ) as database:
            row = database.execute(
                "SELECT kind FROM jobs WHERE state IN ('queued', 'running') AND json_extract(request, '$.data') = ?",
                (name,),
            ).fetchone()
        if row is not None:
            raise ParameterError(f"A job of the kind {row['kind']!r} needs the data {name!r}. Stop it, or wait for it.")
        for path in self.uploads.glob(f"{name}.*"):
            path.unlink(missing_ok=True)

    def new_upload(self, file: str) -> tuple[str, Path, Path]:
        """The name of data, a free place to write them to, and the place they are then renamed to."""
        name, dot, rest = file.partition(".")
        ending = dot + rest
        if not NAME.fullmatch(name):
            raise ParameterError(f"{file[:80]!r} cannot be the name of a file: {NAMES}, before its ending.")
        if not ENDING.fullmatch(ending) or not has_readable_ending(file):
            raise ParameterError(
                f"{file[:80]!r} has no ending that shows the format of the data. Known: "
                f"{', '.join(readable_endings())}; the file may be compressed (.gz, .zst)."
            )
        place = self.uploads / f"{name}{ending.lower()}"
        return name, self.uploads / f".{secrets.token_hex(8)}", place

    def keep_upload(self, written: Path, place: Path) -> None:
        """Put uploaded data in their place, instead of others of the same name."""
        for other in self.uploads.glob(f"{place.name.partition('.')[0]}.*"):
            if other != place:
                other.unlink()
        written.replace(place)
        folder = os.open(self.uploads, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def checked_name(name: str, what: str) -> str:
    """The name of something in the data directory; an error where it could lead out of it."""
    if not NAME.fullmatch(name):
        raise ParameterError(f"{name[:80]!r} cannot be the name of {what}: {NAMES}.")
    return name


def _job(row: sqlite3.Row) -> dict[str, Any]:
    """A row as plain data."""
    plain = {name: row[name] for name in ("id", "kind", "state", "created", "started", "ended", "attempt", "error")}
    again = row["attempt"] + (row["state"] == "queued") > 1
    plain["remark"] = STARTS_OVER if again else None
    for name in ("request", "progress", "result"):
        plain[name] = None if row[name] is None else json.loads(row[name])
    return plain
