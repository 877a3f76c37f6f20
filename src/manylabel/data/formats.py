"""The one table of file formats, and how a file's format is recognised.

>>> [row.name for row in FORMATS if row.kind == "counts"]
['libsvm', 'xmc', 'arff', 'npz']
"""

from __future__ import annotations

import importlib
import inspect
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from manylabel.data.textfile import first_lines, read_bytes
from manylabel.exceptions import DataError, UnknownFormatError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Format:
    """One row: what the format is called, how its files end, who reads it, what it holds."""

    name: str
    extensions: tuple[str, ...]
    module: str
    summary: str
    kind: Literal["text", "counts"]
    writes: bool = True

    def load(self) -> ModuleType:
        """The module with `read` and, where the format can be written, `write`."""
        return importlib.import_module(f"manylabel.data.{self.module}")

    def options(self) -> list[str]:
        """The names of the options its reader takes."""
        parameters = inspect.signature(self.load().read).parameters.values()
        return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]

    def check_options(self, given: Mapping[str, Any]) -> None:
        """Raise `UnknownNameError`, with the nearest name, for an option the reader does not take."""
        known = self.options()
        for name in given:
            if name not in known:
                raise UnknownNameError(f"option of the {self.name} format", name, known)


FORMATS: tuple[Format, ...] = (
    Format(
        "csv",
        (".csv",),
        "delimited",
        "comma-separated table, a column of texts and one or more of labels",
        "text",
    ),
    Format("tsv", (".tsv", ".tab"), "delimited", "tab-separated table, with or without a header line", "text"),
    Format(
        "jsonl",
        (".jsonl", ".ndjson", ".json"),
        "jsonl",
        "one JSON object a line (ours, Annif's, {text, labels})",
        "text",
    ),
    Format("parquet", (".parquet", ".pq"), "parquet", "Parquet table (needs pyarrow)", "text"),
    Format("directory", (), "directory", "folder of .txt files with .tsv or .key label files (Annif)", "text"),
    Format("fasttext", (".ft", ".fasttext"), "fasttext", "__label__a __label__b text", "text"),
    Format("libmultilabel", (".lml",), "libmultilabel", "[ID<TAB>]label label<TAB>text (LibMultiLabel)", "text"),
    Format(
        "libsvm",
        (".svm", ".libsvm", ".svmlight"),
        "libsvm",
        "1,3,5 12:0.5 40:1 (multi-label libsvm)",
        "counts",
    ),
    Format("xmc", (".xmc",), "xmc", "header N V L, then labels and feature:value pairs", "counts"),
    Format("arff", (".arff",), "arff", "Mulan or MEKA ARFF, sparse or dense, or one nominal class", "counts"),
    Format("npz", (".npz",), "npz", "a pair X.npz, Y.npz of SciPy sparse matrices", "counts"),
    Format(
        "reuters",
        (".sgm", ".tar.gz", ".tgz", ".tar"),
        "reuters_sgml",
        "Reuters-21578 SGML, from its archive",
        "text",
        False,
    ),
)

_BY_NAME = {row.name: row for row in FORMATS}
_REMEDY = f"Name its format (--format), one of: {', '.join(_BY_NAME)}."
_LIBSVM_LINE = re.compile(r"(\d+(,\d+)*)?\s*(\s\d+:[-+.\deE]+)+\s*(#.*)?$")
_XMC_HEADER = re.compile(r"\s*\d+\s+\d+\s+\d+\s*$")


def format_named(name: str) -> Format:
    """The row of that name; `UnknownNameError` offers the nearest."""
    if name not in _BY_NAME:
        raise UnknownNameError("format", name, _BY_NAME)
    return _BY_NAME[name]


def extension(path: Path) -> str:
    """How the name ends, in lower case: ``.gz`` is set aside but for archives.

    >>> extension(Path("train.jsonl.gz")), extension(Path("reuters.tar.gz")), extension(Path("README"))
    ('.jsonl', '.tar.gz', '')
    """
    name = path.name.lower()
    if name.endswith((".tar.gz", ".tgz")):
        return ".tar.gz"
    return Path(name.removesuffix(".gz")).suffix


def format_of_extension(path: Path) -> Format | None:
    """The format whose files end like this, if there is one."""
    return next((row for row in FORMATS if extension(path) in row.extensions), None)


def guess_format(path: str | Path) -> str:
    """The name of a file's format, by its first lines and by its extension.

    What a file begins with decides where that is beyond doubt (Parquet, npz, ARFF, ``__label__``, a JSON
    object); the extension decides next; for other names the first lines are compared with each format's
    shape. A table of two or three tab-separated columns without a header is LibMultiLabel's when its last
    column is the longest, ours otherwise.
    """
    path = Path(path)
    if path.is_dir():
        return "reuters" if any(path.glob("reut2-*.sgm*")) else "directory"
    start = read_bytes(path, 512)
    if not start.strip():
        raise DataError("The file is empty.", path=path, remedy="Give a file with at least one document.")
    lines = [line for line in first_lines(path) if line.strip()]
    sure = _unmistakable(path, start, lines)
    if sure is not None:
        return sure
    by_extension = format_of_extension(path)
    if by_extension is not None and by_extension.name != "tsv":
        if by_extension.name == "libsvm" and _XMC_HEADER.match(lines[0]):
            return "xmc"
        return by_extension.name
    guess = _by_shape(lines)
    if guess is None and by_extension is None:
        raise UnknownFormatError("The format of the file is not recognised.", path=path, remedy=_REMEDY)
    return guess if guess in ("tsv", "libmultilabel") or by_extension is None else "tsv"  # type: ignore[return-value]


def _unmistakable(path: Path, start: bytes, lines: list[str]) -> str | None:
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if extension(path) in (".tar.gz", ".tar") or b"ustar" in start:
        return _archive_format(path)
    first = next((line.strip() for line in lines if not line.lstrip().startswith("%")), "")
    if first.lower().startswith("@relation"):
        return "arff"
    if first.startswith("__label__"):
        return "fasttext"
    if first.startswith('{"') and first.endswith("}"):
        return "jsonl"
    if "<!DOCTYPE lewis" in first or first.startswith("<REUTERS "):
        return "reuters"
    return None


def _archive_format(path: Path) -> str:
    try:
        with tarfile.open(path) as archive:
            if any(Path(member.name).match("reut2-*.sgm") for member in archive):
                return "reuters"
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(
            f"The archive cannot be read ({error}).", path=path, remedy="Copy or download it again."
        ) from None
    raise UnknownFormatError(
        "The archive holds no Reuters-21578 files (reut2-*.sgm), the only archive that is read.",
        path=path,
        remedy="Unpack it and give the file or folder inside.",
    )


def _by_shape(lines: list[str]) -> str | None:
    from manylabel.data.delimited import has_header, is_numeric_row

    if _XMC_HEADER.match(lines[0]):
        return "xmc"
    if all(_LIBSVM_LINE.match(line) for line in lines[:20]):
        return "libsvm"
    rows = [line.split("\t") for line in lines[:200]]
    if len(rows[0]) > 1:
        if has_header(rows[0]) or len({len(row) for row in rows}) > 1 or len(rows[0]) > 3:
            return "tsv"
        lengths = [sum(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "libmultilabel" if lengths[-1] == max(lengths) else "tsv"
    if has_header(lines[0].split(",")) or is_numeric_row(lines[0].replace(",", " ").split()):
        return "csv"
    return None
