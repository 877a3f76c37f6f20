"""The lock of a data directory: one server at a time, whose parent process holds it for all of its workers."""

from __future__ import annotations

import fcntl  # not on Windows, where the server does not run: it hands sockets to its workers as POSIX systems do
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manylabel.exceptions import ManylabelError, ParameterError
from manylabel.server.shortage import DISK_FULL, is_disk_full

LOCK = "server.lock"


@contextmanager
def held(data: Path) -> Iterator[None]:
    """Hold the lock of a data directory, which is made where there is none; an error where another server holds it.

    The folder in which it is made has to be there, since it is more often mistyped than meant. The system gives the
    lock up when the process ends, however it ends. Processes that are started do not inherit it.
    """
    try:
        data.mkdir(mode=0o700, exist_ok=True)
        lock = (data / LOCK).open("ab")
    except FileNotFoundError:
        raise ParameterError(
            f"--data {data}: there is no folder {data.absolute().parent}, in which to make it. Correct the path, or "
            "make that folder first."
        ) from None
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise ManylabelError(DISK_FULL) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ParameterError(
                f"--data {data}: another server uses this directory; stop it first, give this one another directory, "
                "or start one server with more --workers."
            ) from None
        yield
