"""Files that are written completely or not at all."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from manylabel.exceptions import MissingDataError, ParameterError


@contextmanager
def atomic_write(
    path: str | Path,
    mode: Literal["wb", "w"] = "wb",
    *,
    encoding: str = "utf-8",
    newline: str = "\n",
) -> Iterator[IO[Any]]:
    """A stream whose content becomes the file `path` when the block succeeds; if it fails, nothing changes.

    The bytes go to a file beside the target, are flushed to the disk, and the file is renamed: a reader
    sees the old file or the new one, never half of it. A replaced file keeps its permissions.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt", "w") as stream:
    ...         _ = stream.write("whole")
    ...     Path(folder, "a.txt").read_text(), len(os.listdir(folder))
    ('whole', 1)
    """
    check_target(path)
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part")
    try:
        handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
        options: dict[str, Any] = {} if mode == "wb" else {"encoding": encoding, "newline": newline}
        with os.fdopen(handle, mode, **options) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            os.chmod(beside, stat.S_IMODE(target.stat().st_mode))
        os.replace(beside, target)
    except BaseException:
        with suppress(FileNotFoundError):
            beside.unlink()
        raise
    _flush_folder(target.parent)


def check_target(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise an error, before the work, for a file that cannot be written or that is one of the inputs.

    >>> check_target("letters.csv", ["./letters.csv"])
    Traceback (most recent call last):
    ...
    manylabel.exceptions.ParameterError: letters.csv is an input and would be overwritten. Give another name.
    """
    target = Path(os.path.realpath(path))
    if any(given is not None and Path(os.path.realpath(given)) == target for given in inputs):
        raise ParameterError(f"{path} is an input and would be overwritten. Give another name.")
    if target.is_dir():
        raise ParameterError(f"{path} is a folder. Give the name of a file to write to.")
    if not target.parent.is_dir():
        raise MissingDataError(f"{path} cannot be written: the folder {target.parent} does not exist. Make it first.")


def check_folder(path: str | Path) -> None:
    """Raise an error, before the work, for a folder that cannot be written to; one that is missing can be made.

    >>> check_folder(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    manylabel.exceptions.ParameterError: ... is a file. Give the name of a folder to write to.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise ParameterError(f"{path} is a file. Give the name of a folder to write to.")
    if not target.is_dir() and not target.parent.is_dir():
        raise MissingDataError(f"{path} cannot be made: the folder {target.parent} does not exist. Make it first.")


@contextmanager
def atomic_text(path: str | Path) -> Iterator[IO[str]]:
    """A UTF-8 text stream written by `atomic_write`, compressed when the name ends in ``.gz``.

    The compressed bytes depend on the content alone (no time, no name), so that equal corpora give equal files.
    """
    with atomic_bytes(path) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


@contextmanager
def atomic_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary stream written by `atomic_write`, compressed when the name ends in ``.gz``."""
    with atomic_write(path, "wb") as stream:
        if not str(path).endswith(".gz"):
            yield stream
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield packed  # type: ignore[misc]


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself survive a power failure, where the system can flush a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
