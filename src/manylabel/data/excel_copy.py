"""A copy of an Excel workbook in which only cells of labels differ: formats, formulas and other sheets stay."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from manylabel.data.atomic import atomic_bytes
from manylabel.data.corpus import Corpus
from manylabel.data.excel import filled_rows, load_openpyxl, sheet_name
from manylabel.data.label_edits import LabelEdits, OtherShapeError
from manylabel.data.limits import Limits
from manylabel.data.problems import Problems
from manylabel.data.textfile import read_bytes
from manylabel.progress import remarks_to

_TAG = re.compile(r"<(/?)((?:[\w.-]+:)?)(row|c|f)\b([^<>]*)>")
_DIMENSION = re.compile(r"<(?:[\w.-]+:)?dimension\b[^<>]*/>")
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_READ = Limits(sheet_cells=1 << 40, expansion=1 << 40)
"""The file was read before, within the limits of its user."""
MAX_CELL = 32_767
"""The most characters that a cell holds."""
_Rows = dict[int, dict[int, Any]]
"""The content of changed cells, by the numbers of their row and column."""


def write_copy(corpus: Corpus, edits: LabelEdits, target: Path) -> None:
    """Write the workbook that a corpus was read from with changed cells; all else in it is copied as it is."""
    path, columns = Path(corpus.source), corpus.columns
    assert columns is not None
    assert corpus.lines is not None
    given: Mapping[str, Any] = {} if corpus.reading is None else corpus.reading.given
    data = read_bytes(path, limits=_READ)
    member, header = _place(path, data, given.get("sheet"))
    column_of = {name: place for place, name in enumerate([*columns, *edits.added], start=1)}
    rows: _Rows = {header: {column_of[name]: name for name in edits.added}}
    for row, line in enumerate(corpus.lines):
        changed = {**edits.added, **edits.cells.get(row, {})}
        rows[line] = {column_of[name]: content for name, content in changed.items()}
    copied = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(copied, "w") as made:
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename == member:
                content = _changed(content, rows, bool(edits.added))
            made.writestr(entry, content, compress_type=entry.compress_type)
    _check(path, copied.getvalue(), given.get("sheet"), rows)
    with atomic_bytes(target) as stream:
        stream.write(copied.getvalue())


def _place(path: Path, data: bytes, given: str | int | None) -> tuple[str, int]:
    """Where the sheet is in the workbook's archive, and the number of the row that names its columns."""
    sheet = _sheet(path, data, given)
    header, _ = next(filled_rows(path, Problems(limits=_READ), sheet))
    return str(sheet._worksheet_path), header


def _sheet(path: Path, data: bytes, given: str | int | None) -> Any:
    """A sheet of a workbook; nothing is reported again that was reported when it was read."""
    openpyxl = load_openpyxl()
    with warnings.catch_warnings(action="ignore"), remarks_to(None):
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        return book[sheet_name(path, book, given)]


def _changed(content: bytes, rows: _Rows, wider: bool) -> bytes:
    """The XML of a sheet with changed cells."""
    try:
        xml = content.decode("utf-8")
    except UnicodeDecodeError:
        raise OtherShapeError("The sheet is not written in UTF-8.") from None
    made: list[str] = []
    done = number = column = begins = 0
    row = _Row("", "", [])
    for tag in _TAG.finditer(xml):
        closing, prefix, name, attributes = tag.groups()
        if name == "row" and not closing:
            given = _attribute(attributes, "r")
            number = int(given) if given.isdecimal() else number + 1
            column, row = 0, _Row(prefix, tag[0], [])
            made.append(xml[done : tag.start()])
            done = tag.start()
            begins = tag.end()
        elif name == "c" and not closing:
            column = _column(_attribute(attributes, "r")) or column + 1
            row.cells.append(_Cell(column, attributes, tag.start(), tag.end()))
        elif name == "c" and row.cells:
            row.cells[-1].end = tag.end()
        elif name == "f" and row.cells:
            row.cells[-1].is_formula = True
        elif name == "row" and rows.get(number):
            made.append(row.written(xml, begins, tag.start(), number, rows[number]))
            done = tag.start()
    xml = "".join([*made, xml[done:]])
    return (_DIMENSION.sub("", xml, count=1) if wider else xml).encode()


class _Cell:
    """Where a cell is in the XML."""

    def __init__(self, column: int, attributes: str, start: int, end: int) -> None:
        self.column, self.attributes, self.start, self.end, self.is_formula = column, attributes, start, end, False


class _Row:
    """A row of the sheet: the prefix of its tags, its first tag, and its cells."""

    def __init__(self, prefix: str, tag: str, cells: list[_Cell]) -> None:
        self.prefix, self.tag, self.cells = prefix, tag, cells

    def written(self, xml: str, start: int, stop: int, number: int, changed: Mapping[int, Any]) -> str:
        """The XML of the row up to its last tag, with changed cells."""
        made, at, left = [re.sub(r'\s+spans="[^"]*"', "", self.tag)], start, dict(sorted(changed.items()))
        for cell in self.cells:
            for column in [one for one in left if one < cell.column]:
                made += [xml[at : cell.start], self._cell(column, number, left.pop(column), "")]
                at = cell.start
            if cell.column in left:
                if cell.is_formula:
                    place = f"{_letters(cell.column)}{number}"
                    raise OtherShapeError(f"The label cell {place} holds a formula, which cannot be changed.")
                made += [xml[at : cell.start], self._cell(cell.column, number, left.pop(cell.column), cell.attributes)]
                at = cell.end
        made.append(xml[at:stop])
        for column, content in left.items():  # new texts, such as names of columns, look like the text before them
            former = self.cells[-1].attributes if self.cells and isinstance(content, str) else ""
            made.append(self._cell(column, number, content, former))
        return "".join(made)

    def _cell(self, column: int, number: int, content: Any, former: str) -> str:
        """The XML of a cell, in the style of its former attributes."""
        style = _attribute(former, "s")
        attributes = f'r="{_letters(column)}{number}"' + (f' s="{style}"' if style else "")
        p = self.prefix
        if content is None or content == "":
            return f"<{p}c {attributes}/>"
        if isinstance(content, (bool, int, float)):
            kind = ' t="b"' if isinstance(content, bool) else ""
            return f"<{p}c {attributes}{kind}><{p}v>{content:g}</{p}v></{p}c>"
        text = str(content)
        if _ILLEGAL.search(text) or len(text) > MAX_CELL:
            raise OtherShapeError(f"A cell cannot hold {text[:40]!r}: it is too long, or has control characters.")
        return (
            f'<{p}c {attributes} t="inlineStr"><{p}is><{p}t xml:space="preserve">{escape(text)}</{p}t></{p}is></{p}c>'
        )


def _attribute(attributes: str, name: str) -> str:
    found = re.search(rf'(?<![\w:]){name}="([^"]*)"', attributes)
    return "" if found is None else found[1]


def _letters(column: int) -> str:
    """The letters of a column.

    >>> _letters(1), _letters(28), _column("AB17"), _column("")
    ('A', 'AB', 28, 0)
    """
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _column(place: str) -> int:
    """The number of the column of a place such as ``AB17``; 0 for an empty one."""
    number = 0
    for letter in place.upper():
        if letter.isalpha():
            number = 26 * number + ord(letter) - 64
    return number


def _check(path: Path, data: bytes, given: str | int | None, rows: _Rows) -> None:
    """Raise `OtherShapeError` unless the changed cells of a workbook are read as they should be."""
    for number, values in filled_rows(path, Problems(limits=_READ), _sheet(path, data, given)):
        for column, content in rows.pop(number, {}).items():
            found = values[column - 1] if column <= len(values) else None
            if found != content and (found, content) not in ((None, ""), ("", None)):
                raise OtherShapeError(f"The cell {_letters(column)}{number} of the workbook could not be changed.")
    if left := [
        number for number, cells in rows.items() if any(content not in (None, "") for content in cells.values())
    ]:
        raise OtherShapeError(f"Row {left[0]} of the workbook could not be changed.")
