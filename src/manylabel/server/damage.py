"""Databases of the data directory that are damaged: an error that names the file, instead of one of SQLite's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manylabel.exceptions import DataError

NO_TEXT = "Could not decode to UTF-8"


class DamagedStoreError(DataError):
    """A database that SQLite cannot read, because something else has written to it or the disk is faulty."""


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Raise `DamagedStoreError` with the path of a database where SQLite finds it damaged within the block."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        # All errors but those of damaged files have a class of their own; that of a text which is none has no code.
        if type(error) is not sqlite3.DatabaseError and not str(error).startswith(NO_TEXT):
            raise
        remedy = "Restore it from a backup."
        raise DamagedStoreError(f"this file is damaged ({error}).", path=path, remedy=remedy) from error
