"""Errors that mean that the disk is full or memory is short, whichever library raised them."""

from __future__ import annotations

import errno
import sqlite3
import tempfile
from pathlib import Path

from manylabel.memory import lacks_memory

DISK_FULL = "The disk of the server's data folder is full, or cannot be written. Free some space, then try again."
PROBE = 1 << 20
"""Bytes without room for which a disk counts as full."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NO_MEMORY = (sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_IOERR_NOMEM, sqlite3.SQLITE_IOERR_SHMMAP)
"""The last one: SQLite could not map a file of some KiB into memory."""


def is_disk_full(error: BaseException) -> bool:
    """Whether an error means that the disk is full; SQLite reports some cases as a disk I/O error.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device")), is_disk_full(OSError(errno.EACCES, "denied"))
    (True, False)
    """
    if isinstance(error, sqlite3.OperationalError):
        code = error.sqlite_errorcode
        return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) and code not in _NO_MEMORY
    return isinstance(error, OSError) and error.errno in _NO_SPACE


def has_no_space(folder: Path) -> bool:
    """Whether the disk of a folder is full now; also where a quota is used up, because it is tried by writing.

    >>> has_no_space(Path(tempfile.gettempdir()))
    False
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(PROBE))
    except OSError as error:
        return is_disk_full(error)
    return False


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that the process got no more memory, errors of SQLite included."""
    if isinstance(error, sqlite3.OperationalError):
        return error.sqlite_errorcode in _NO_MEMORY
    return lacks_memory(error)
