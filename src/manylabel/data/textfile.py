"""Text files as numbered lines: compressed or not, with or without a byte order mark; wrong bytes are reported."""

from __future__ import annotations

import codecs
import gzip
import io
import math
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems
from manylabel.exceptions import DataError, MissingDataError, MissingExtraError, ParameterError
from manylabel.wording import setting_name, settings_text

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def other_encoding() -> str:
    """What to do about a file that is not UTF-8."""
    windows = settings_text(encoding="cp1252")
    return f"Save the file as UTF-8, or give its encoding (many files made on Windows: {windows})."


@dataclass(frozen=True, slots=True)
class Span:
    """A range of whole lines of a file that is not compressed, and how many lines come before it."""

    start: int = 0
    stop: int | None = None
    """The byte after the last one; None for the end of the file."""
    lines_before: int = 0


WHOLE_FILE = Span()


def open_bytes(path: Path, limits: Limits = LIMITS) -> IO[bytes]:
    """The bytes of a file, decompressed if it is a gzip or zstd file, whatever its name."""
    try:
        check_is_file(path)
        raw = path.open("rb")
    except FileNotFoundError:
        raise MissingDataError(f"There is no file {path}.") from None
    except OSError as error:
        raise MissingDataError(f"{path} cannot be opened: {error.strerror}.") from None
    magic = raw.read(4)
    raw.seek(0)
    if not magic.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        return raw
    kind = "gzip" if magic.startswith(GZIP_MAGIC) else "zstd"
    return cast(IO[bytes], io.BufferedReader(_Unpacked(path, raw, kind, limits)))


class _Zstd:
    """The content of a zstd file; `EOFError` where its end is missing, which zstandard's own reader does not notice."""

    def __init__(self, raw: IO[bytes]) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtraError("A zstd file", "scale") from None
        self._raw, self._frame, self._damage = raw, zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
        self._open, self._ready = self._frame(), b""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; none at the end of the file."""
        while not self._ready:
            packed = self._open.unused_data if self._open.eof else b""
            packed = packed or self._raw.read(1 << 16)
            if not packed:
                if not self._open.eof:
                    raise EOFError("the end is missing")
                return b""
            if self._open.eof:
                self._open = self._frame()
            try:
                self._ready = self._open.decompress(packed)
            except self._damage as error:
                raise OSError(str(error)) from None
        data, self._ready = self._ready[:size], self._ready[size:]
        return data


def is_packed(path: Path) -> bool:
    """Whether a file is a gzip or zstd file, whatever its name."""
    with path.open("rb") as stream:
        return stream.read(4).startswith((GZIP_MAGIC, ZSTD_MAGIC))


def check_is_file(path: Path) -> None:
    """Raise `MissingDataError` for a folder, a pipe or a device: reading these may never end."""
    mode = path.stat().st_mode
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    if not stat.S_ISREG(mode):
        what = kinds.get(stat.S_IFMT(mode), "a device")
        raise MissingDataError(f"{path} is {what}, not a file. Write the data to a file and give its name.")


def read_bytes(path: Path, limit: int = -1, limits: Limits = LIMITS) -> bytes:
    """The (decompressed) bytes of a file, at most `limit` of them."""
    with open_bytes(path, limits) as stream:
        return stream.read(limit)


class _Unpacked(io.RawIOBase):
    """A decompressed stream that raises `DataError` where it is damaged, or too large for its file."""

    def __init__(self, path: Path, raw: IO[bytes], kind: str, limits: Limits) -> None:
        self._path, self._raw, self._kind = path, raw, kind
        self._stream = gzip.GzipFile(fileobj=raw, mode="rb") if kind == "gzip" else _Zstd(raw)
        self._limits, self._unpacked = limits, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._stream.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"The {self._kind} file is damaged ({str(error).rstrip('.')}).",
                path=self._path,
                remedy="Copy or download it again.",
            ) from None
        self._unpacked += len(data)
        self._limits.check_unpacked(self._unpacked, self._raw.tell(), self._path)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._raw.close()
        super().close()


class Lines:
    r"""Iterates over the lines of a text file with their ends; `number` is that of the last line.

    A line with bytes that are not text in `encoding` is a problem: raised, or skipped and recorded. Lines
    end in ``\n`` or ``\r\n``; the byte order mark of UTF-8 is dropped. A `span` limits them to a part of the file.
    """

    def __init__(self, path: Path, problems: Problems, encoding: str = "utf-8", span: Span = WHOLE_FILE) -> None:
        self.encoding = checked_encoding(encoding)
        self.path, self.problems, self.number, self.span = path, problems, span.lines_before, span

    def __iter__(self) -> Iterator[str]:
        wide = self.encoding.startswith(("utf-16", "utf-32"))
        return self._wide_lines() if wide else self._lines()

    def _lines(self) -> Iterator[str]:
        most = self.problems.limits.line_bytes
        with open_bytes(self.path, self.problems.limits) as stream:
            if self.span.start:
                stream.seek(self.span.start)
            left = math.inf if self.span.stop is None else self.span.stop - self.span.start
            while left > 0 and (raw := stream.readline(most + 1)):
                self.number += 1
                left -= len(raw)
                if len(raw) > most:
                    self.problems.limits.check(
                        "line_bytes", len(raw), "bytes or more in one line", self.path, line=self.number
                    )
                if self.number == 1 and raw.startswith(codecs.BOM_UTF8):
                    raw = raw[3:]
                try:
                    line = raw.decode(self.encoding)
                except UnicodeError as error:
                    self._report(raw, error)
                    continue
                yield line[:-2] + "\n" if line.endswith("\r\n") else line

    def _wide_lines(self) -> Iterator[str]:
        with io.TextIOWrapper(open_bytes(self.path, self.problems.limits), encoding=self.encoding) as stream:
            try:
                for line in stream:
                    self.number += 1
                    yield line
            except UnicodeError as error:
                raise DataError(
                    f"The file is not {self.encoding} text ({error}).",
                    path=self.path,
                    line=self.number + 1,
                    remedy=f"Give its encoding ({setting_name('encoding')}).",
                ) from None

    def _report(self, raw: bytes, error: UnicodeError) -> None:
        what = "The line"
        if isinstance(error, UnicodeDecodeError):
            what = f"Byte 0x{raw[error.start]:02x} at position {error.start + 1} of the line"
        self.problems.report(
            f"{what} is not {self.encoding}.",
            path=self.path,
            line=self.number,
            remedy=f"Use {settings_text(encoding='utf-16')}."
            if self.number == 1 and raw.startswith(UTF16_MARKS)
            else other_encoding(),
        )


def checked_encoding(encoding: str) -> str:
    """The name of an encoding as Python spells it; `ParameterError` where there is none, or none of text."""
    try:
        b"".decode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ParameterError(
            f"There is no encoding {encoding!r}. Usual ones are utf-8, latin-1, cp1252 and utf-16."
        ) from None


def is_utf8(path: Path, limits: Limits) -> bool:
    """Whether all bytes of a file are UTF-8, which text in another encoding hardly ever is by chance."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_bytes(path, limits) as stream:
            while piece := stream.read(1 << 20):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def numbered_lines(
    path: Path, problems: Problems, encoding: str = "utf-8", span: Span = WHOLE_FILE
) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, without their ends, each with its number."""
    lines = Lines(path, problems, encoding, span)
    most = problems.limits.documents
    for found, line in enumerate((line for line in lines if line.strip()), start=1):
        if found > most:
            problems.limits.check("documents", found, "or more lines", path)
        yield lines.number, line.rstrip("\n")


def first_lines(path: Path, limit: int = 65536) -> list[str]:
    """The first lines of a file, decoded whatever their bytes; the last line is left out if it may be cut."""
    data = read_bytes(path, limit)
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    lines = text.splitlines() if "\n" not in text else text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if len(data) == limit and len(lines) > 1 else lines
