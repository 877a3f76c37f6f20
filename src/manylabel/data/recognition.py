"""How the format of a file is recognised: by its first bytes and lines, and by its suffix."""

from __future__ import annotations

import io
import re
import shlex
import tarfile
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from manylabel.data.formats import BY_NAME, FORMATS, Format
from manylabel.data.label_vocabulary import SKOS_ENDINGS, as_vocabulary
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import read_by_others
from manylabel.data.textfile import first_lines, open_bytes, read_bytes
from manylabel.exceptions import DataError, UnknownFormatError
from manylabel.wording import setting_name, settings_text

_ARCHIVES = (".tar.gz", ".tar")
_NO_TEXT = (
    (rb"\xff\xd8\xff", "a picture (JPEG)"),
    (rb"\x89PNG\r\n", "a picture (PNG)"),
    (rb"GIF8[79]a", "a picture (GIF)"),
    (rb"II\*\x00|MM\x00\*", "a picture (TIFF)"),
    (rb"RIFF....WEBP", "a picture (WebP)"),
    (rb"%PDF-", "a PDF"),
)
"""How files begin that people take for documents."""


def suffix_of(path: Path) -> str:
    """The end of a file's name, in lower case; ``.gz`` and ``.zst`` are ignored except in archives.

    >>> suffix_of(Path("train.jsonl.gz")), suffix_of(Path("reuters.tar.gz")), suffix_of(Path("README"))
    ('.jsonl', '.tar.gz', '')
    """
    name = path.name.lower()
    if name.endswith((".tar.gz", ".tgz")):
        return ".tar.gz"
    return Path(name.removesuffix(".gz").removesuffix(".zst")).suffix


def format_of_suffix(path: Path) -> Format | None:
    """The format whose files have this suffix; None if there is none."""
    return next((row for row in FORMATS if suffix_of(path) in row.suffixes), None)


def guess_format(path: str | Path, former: str | None = None, limits: Limits = LIMITS) -> str:
    """The name of a file's format, by its first lines and by its suffix.

    The beginning of a file decides where it is unmistakable (`signature`, `first_line`); the suffix decides next; for
    other names the first lines are compared with the `shape` of each format. Between a format and its variant, which
    only the lengths of their columns tell apart, the format of `former` data decides.
    """
    path = Path(path)
    start = read_bytes(path, 512)
    empty = DataError("The file is empty.", path=path, remedy="Give a file with at least one document.")
    if not start.strip():
        raise empty
    if suffix_of(path) in _ARCHIVES or b"ustar" in start:
        return _archive_format(path, _tar_members(path, limits))
    if start.startswith(b"PK\x03\x04"):
        return _archive_format(path, _zip_members(path, limits))
    if start[8:].startswith(b'{"__metadata__":{"manylabel":'):
        raise UnknownFormatError(
            "This is a model file, not a file of documents.",
            path=path,
            remedy=f"To label documents with it: manylabel predict {shlex.quote(str(path))} FILE.",
        )
    if start.startswith(b"\xd0\xcf\x11\xe0"):
        raise UnknownFormatError(
            "This is a file of an old Office program, or a locked one.", path=path, remedy="Save it as .xlsx or .csv."
        )
    if (what := next((what for begin, what in _NO_TEXT if re.match(begin, start, re.DOTALL)), None)) is not None:
        remedy = "Export it as a table or text." if what == "a PDF" else "Give a file of texts and labels."
        raise UnknownFormatError(f"This is {what}, not a table or text.", path=path, remedy=remedy)
    lines = [line for line in first_lines(path) if line.strip()]
    if not lines and not any(row.signature and start.startswith(row.signature) for row in FORMATS):
        raise empty
    first = next((line.strip() for line in lines if not line.lstrip().startswith("%")), "")
    for row in FORMATS:
        if row.signature and start.startswith(row.signature):
            return row.name
        if row.first_line and re.fullmatch(row.first_line, first):
            return row.name
    by_suffix = format_of_suffix(path)
    # Formats further down the table are more specific, so the last one that fits is meant.
    by_shape = next((row for row in reversed(FORMATS) if row.has_shape(lines)), None)
    found = {row.name for row in (by_suffix, by_shape) if row is not None}
    if (decided := _of_former(former, found, lines, path)) is not None:
        return decided
    if by_suffix is not None:
        is_variant = by_shape is not None and by_shape.variant_of == by_suffix.name
        return by_shape.name if by_shape is not None and is_variant else by_suffix.name
    if suffix_of(path) in SKOS_ENDINGS:
        raise UnknownFormatError(
            "The file looks like a SKOS thesaurus: it names labels and holds no documents.",
            path=path,
            remedy=f"Give the documents as data{as_vocabulary(path)}.",
        )
    if by_shape is None:
        remedy = f"Give its format ({setting_name('format')}), one of: {', '.join(BY_NAME)}."
        raise UnknownFormatError("The format of the file is not recognised.", path=path, remedy=remedy)
    return by_shape.name


def _of_former(former: str | None, found: set[str], lines: list[str], path: Path) -> str | None:
    """The format of `former` data, where the lines may be of one of the formats `found` or of its variant; None where
    there is no doubt. `UnknownFormatError` where there is, and no former data decide.
    """
    for row in [row for row in FORMATS if row.doubt]:
        pair = {row.name, row.variant_of}
        if not pair & found:
            continue
        if former in pair and (row.is_doubtful(lines) or row.has_shape(lines)):
            return former
        if row.is_doubtful(lines):
            other = BY_NAME[row.variant_of]
            raise UnknownFormatError(
                f"The file has no header, and the lengths of its columns do not show which of them holds the texts: "
                f"{lines[0][:60]!r}.",
                path=path,
                remedy=f"Use {settings_text(format=other.name)} ({other.layout}) or {settings_text(format=row.name)} "
                f"({row.layout}), or add a header with the columns text and labels.",
            )
    return None


def _archive_format(path: Path, members: Iterator[str]) -> str:
    known = {row.archive_members: row.name for row in FORMATS if row.archive_members}
    with read_by_others("The archive", path, "Copy or download it again."):
        for member in members:
            for pattern, name in known.items():
                if fnmatch(Path(member).name, pattern):
                    return name
    raise UnknownFormatError(
        f"The archive holds no files of a known format ({', '.join(known)}).",
        path=path,
        remedy="Unpack it and give the file or folder inside.",
    )


def _tar_members(path: Path, limits: Limits) -> Iterator[str]:
    with open_bytes(path, limits) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            yield member.name


def _zip_members(path: Path, limits: Limits) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(read_bytes(path, limits=limits))) as archive:
        yield from archive.namelist()
