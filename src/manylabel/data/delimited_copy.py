"""A copy of a CSV or TSV file in which only cells of labels differ; all other bytes stay as they are."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_bytes
from manylabel.data.corpus import Corpus
from manylabel.data.delimited import Dialect, dialect_of, rows_and_lines
from manylabel.data.label_edits import LabelEdits, OtherShapeError
from manylabel.data.limits import Limits
from manylabel.data.problems import Problems
from manylabel.data.table import ColumnOptions
from manylabel.data.textfile import checked_encoding, read_bytes

_WIDE = {
    "utf-16": ((codecs.BOM_UTF16_BE, "utf-16-be"), (b"", "utf-16-le")),
    "utf-32": ((codecs.BOM_UTF32_BE, "utf-32-be"), (b"", "utf-32-le")),
}
"""The encodings whose byte order the beginning of a file decides: the mark of each order, and its own name."""
_READ = Limits(line_bytes=1 << 40, expansion=1 << 40)
"""The file was read before, within the limits of its user."""


def write_copy(corpus: Corpus, edits: LabelEdits, target: Path) -> None:
    """Write the file that a corpus was read from with changed cells, in its own encoding and with its own lines.

    Rows that are not documents, because they are empty or were skipped, are copied too.
    """
    layout, lines, columns = corpus.layout, corpus.lines, corpus.columns
    assert layout is not None
    assert lines is not None
    assert columns is not None
    given: Mapping[str, Any] = {} if corpus.reading is None else corpus.reading.given
    path = Path(corpus.source)
    dialect = dialect_of(path, ColumnOptions(), layout.delimiter, layout.header, given.get("quoting"))
    file = _File(path, checked_encoding(given.get("encoding") or "utf-8"))
    places = {name: place for place, name in enumerate(columns)}
    row_of = {line: row for row, line in enumerate(lines)}
    is_header = dialect.header
    for numbers, cells in rows_and_lines(path, Problems("skip", limits=_READ), dialect, file.encoding):
        if not any(cell.strip() for cell in cells):
            if cells and edits.added:
                file.change(numbers, dialect, {}, dict.fromkeys(edits.added, ""))
            continue
        if is_header:
            file.change(numbers, dialect, {}, {name: name for name in edits.added})
            is_header = False
            continue
        changed = edits.cells.get(row_of[numbers[0]], {}) if numbers[0] in row_of else {}
        own = {places[name]: content for name, content in changed.items() if name in places}
        file.change(numbers, dialect, own, {name: changed.get(name, rest) for name, rest in edits.added.items()})
    with atomic_bytes(target) as stream:
        stream.writelines(file.lines)


class _File:
    """The lines of a file as bytes, with their ends."""

    def __init__(self, path: Path, encoding: str) -> None:
        data = read_bytes(path, limits=_READ)
        self.path, self.encoding = path, encoding
        self._codec = next((name for mark, name in _WIDE.get(encoding, ()) if data.startswith(mark)), encoding)
        if self._codec.startswith(("utf-16", "utf-32")):
            text = io.StringIO(data.decode(self._codec), newline="")
            self.lines = [line.encode(self._codec) for line in text]
            self._mark = "\ufeff".encode(self._codec)
        else:
            self.lines = io.BytesIO(data).readlines()
            self._mark = codecs.BOM_UTF8

    def change(self, numbers: list[int], dialect: Dialect, cells: Mapping[int, Any], added: Mapping[str, Any]) -> None:
        """Change some cells of the row on some lines, by their place, and add cells at its end."""
        if not cells and not added:
            return
        first, last = numbers[0] - 1, numbers[-1]
        whole = b"".join(self.lines[first:last])
        mark = self._mark if first == 0 and whole.startswith(self._mark) else b""
        text = whole[len(mark) :].decode(self._codec, "surrogateescape")
        row = text.rstrip("\r\n")
        pieces = list(_pieces(row, dialect))
        for place, content in cells.items():
            pieces[place] = self._written(content, dialect, pieces[place].startswith('"'))
        is_quoted = pieces[-1].startswith('"')
        pieces += [self._written(content, dialect, is_quoted) for content in added.values()]
        made = dialect.delimiter.join(pieces) + text[len(row) :]
        try:
            self.lines[first:last] = [mark + made.encode(self._codec, "surrogateescape"), *[b""] * (last - first - 1)]
        except UnicodeEncodeError as error:
            raise OtherShapeError(
                f"{error.object[error.start : error.end]!r} in a label has no place in {self.encoding}, the encoding "
                "of the file."
            ) from None

    def _written(self, content: Any, dialect: Dialect, is_quoted: bool) -> str:
        """A cell as it stands in the file; quoted where it must be, or where its former content was."""
        text = "" if content is None else str(content)
        is_special = any(sign in text for sign in (dialect.delimiter, '"', "\r", "\n"))
        if not dialect.quoting:
            if dialect.delimiter in text or "\n" in text:
                raise OtherShapeError(f"{text!r} holds what separates cells, and the file has no quoted cells.")
            return text
        return '"{}"'.format(text.replace('"', '""')) if is_quoted or is_special else text


def _pieces(row: str, dialect: Dialect) -> Iterator[str]:
    """The cells of a row as they stand in the file, with their quotes."""
    if not dialect.quoting:
        yield from row.split(dialect.delimiter)
        return
    cell = re.compile(rf'"(?:[^"]|"")*+"|[^{re.escape(dialect.delimiter)}]*+')
    at = 0
    while at <= len(row):
        match = cell.match(row, at)
        assert match is not None  # an empty cell matches too
        yield match[0]
        at = match.end() + 1
