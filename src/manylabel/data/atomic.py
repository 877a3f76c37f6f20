"""Files that are written completely or not at all."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import signal
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from manylabel.exceptions import ManylabelError, MissingDataError, ParameterError, WriteError


@contextmanager
def atomic_write(path: str | Path, mode: Literal["wb", "w"] = "wb") -> Iterator[IO[Any]]:
    """A stream whose content becomes the file `path` when the block succeeds; if it fails, nothing changes.

    The bytes go to a file beside the target, are flushed to the disk, and the file is renamed: a reader
    sees the old file or the new one, never half of it. A replaced file keeps its permissions. A pipe or device such as
    ``/dev/stdout`` is written to as it is. `WriteError` where the disk is full, or the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "a.txt", "w") as stream:
    ...         _ = stream.write("whole")
    ...     Path(folder, "a.txt").read_text(), len(os.listdir(folder))
    ('whole', 1)
    """
    with atomic_files([path]) as (binary,):
        if mode == "wb":
            yield binary
            return
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
        yield text
        text.flush()
        text.detach()


@contextmanager
def atomic_files(paths: Sequence[str | Path]) -> Iterator[list[IO[bytes]]]:
    """Binary streams whose contents become files when the block succeeds: all of them, or none if anything fails."""
    files = [_File.beside(path) for path in paths]
    try:
        with _write_errors(files[0].path if files else ""), ExitStack() as opened:
            streams: list[IO[bytes]] = []
            for file in files:
                with _write_errors(file.path):
                    streams.append(opened.enter_context(open(file.open(), "wb")))
            yield streams
            for file, stream in zip(files, streams, strict=True):
                with _write_errors(file.path):
                    stream.flush()
                    if file.part is not None:
                        os.fsync(stream.fileno())
        with _signals_deferred():
            for file in files:
                with _write_errors(file.path):
                    file.rename()
    finally:
        for file in files:
            file.remove()
    for folder in {file.target.parent for file in files if file.part is not None}:
        _flush_folder(folder)


@dataclass(frozen=True, slots=True)
class _File:
    """A file to be written: as the user names it, where it lies, and the file beside it that receives the bytes."""

    path: str | Path
    target: Path
    part: Path | None
    """None for a pipe or a device, which is written to as it is."""

    @classmethod
    def beside(cls, path: str | Path) -> _File:
        check_target(path)
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            return cls(path, target, None)
        return cls(path, target, target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.part"))

    def open(self) -> int:
        if self.part is None:
            return os.open(self.target, os.O_WRONLY)
        return os.open(self.part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)

    def rename(self) -> None:
        if self.part is not None:
            if self.target.exists():
                os.chmod(self.part, stat.S_IMODE(self.target.stat().st_mode))
            os.replace(self.part, self.target)

    def remove(self) -> None:
        """Remove what was not renamed."""
        if self.part is not None:
            with suppress(OSError):
                self.part.unlink()


@contextmanager
def _write_errors(path: str | Path) -> Iterator[None]:
    """Turn an error of the system into a sentence that names the file."""
    try:
        yield
    except (ManylabelError, BrokenPipeError):
        raise
    except OSError as error:
        if error.filename not in (None, str(path)) and not str(error.filename).endswith(".part"):
            raise  # another file, which was read while this one was written
        reason = error.strerror or str(error)
        raise WriteError(f"{path} could not be written: {reason}. Nothing was changed.") from None


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Let Ctrl-C and termination wait until all files of a group are renamed, where the system can do that."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


STANDARD_OUTPUT = "-"


def check_is_named(path: str | Path) -> None:
    """Raise an error for ``-``: people mean standard output by it, and get a file or folder of that name."""
    if str(path) == STANDARD_OUTPUT:
        raise ParameterError(
            "- stands for standard output, which takes only the predictions of `manylabel predict`. Give the name of a "
            "file or folder to write to."
        )


def check_target(path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise an error, before the work, for a file that cannot be written or that is one of the inputs.

    >>> check_target("letters.csv", ["./letters.csv"])
    Traceback (most recent call last):
    ...
    manylabel.exceptions.ParameterError: letters.csv is an input and would be overwritten. Give another name.
    """
    check_is_named(path)
    target = Path(os.path.realpath(path))
    if any(given is not None and Path(os.path.realpath(given)) == target for given in inputs):
        raise ParameterError(f"{path} is an input and would be overwritten. Give another name.")
    if target.is_dir():
        raise ParameterError(f"{path} is a folder. Give the name of a file to write to.")
    if not target.parent.is_dir():
        raise MissingDataError(f"{path} cannot be written: the folder {target.parent} does not exist. Make it first.")


def check_targets(paths: Iterable[str | Path | None], inputs: Sequence[str | Path | None] = ()) -> None:
    """Raise an error as `check_target` does for any of the paths that is not None."""
    for path in paths:
        if path is not None:
            check_target(path, inputs)


def check_folder(path: str | Path) -> None:
    """Raise an error, before the work, for a folder that cannot be written to; one that is missing can be made.

    >>> check_folder(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    manylabel.exceptions.ParameterError: ... is a file. Give the name of a folder to write to.
    """
    check_is_named(path)
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
    with atomic_texts([path]) as (text,):
        yield text


@contextmanager
def atomic_bytes(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary stream written by `atomic_write`, compressed when the name ends in ``.gz``."""
    with atomic_write(path, "wb") as stream:
        if not str(path).endswith(".gz"):
            yield stream
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield packed  # type: ignore[misc]


@contextmanager
def atomic_texts(paths: Sequence[str | Path]) -> Iterator[list[IO[str]]]:
    """UTF-8 text streams of files that appear together or not at all, compressed where a name ends in ``.gz``."""
    with atomic_files(paths) as streams, ExitStack() as opened:
        texts: list[IO[str]] = []
        for path, stream in zip(paths, streams, strict=True):
            binary: Any = stream
            if str(path).endswith(".gz"):
                binary = opened.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0))
            texts.append(io.TextIOWrapper(binary, encoding="utf-8", newline="\n"))
        yield texts
        for text in texts:
            text.flush()
            text.detach()  # type: ignore[attr-defined]


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself survive a power failure, where the system can flush a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
