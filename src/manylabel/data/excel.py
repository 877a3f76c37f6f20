"""Excel workbooks (.xlsx), read by openpyxl row by row, within limits that a damaged or hostile file cannot exceed."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from manylabel.data.columns import MOST_ABOVE, check_titles, corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.layout import listed
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems, read_by_others
from manylabel.data.table import ColumnOptions, Table, check_names
from manylabel.data.textfile import read_bytes
from manylabel.exceptions import DataError, MissingExtraError
from manylabel.progress import remark
from manylabel.wording import settings_text

_SAVE_AGAIN = "Save it again, or as .csv."
MOST_ROWS = 1 << 20
"""The rows that a sheet of Excel can have. openpyxl makes up all rows between two numbers."""


def load_openpyxl() -> Any:
    """The package openpyxl; `MissingExtraError` where it is not installed."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("Excel", "excel") from None
    return openpyxl


def read(path: Path, problems: Problems, *, sheet: str | int | None = None, **columns: Any) -> Corpus:
    """The documents of one sheet of a workbook; `columns` are the fields of `ColumnOptions`.

    The first row that is not empty holds the names of the columns. A cell with a formula has the value that was
    computed when the file was saved. In a column with at least one text, numbers and dates are read as text, and empty
    cells as empty texts. Problems give the row of the sheet as the line.
    """
    options = ColumnOptions(**columns)
    data = _checked_bytes(path, problems.limits)
    openpyxl = load_openpyxl()
    with (
        read_by_others("The Excel file", path, _SAVE_AGAIN),
        warnings.catch_warnings(action="ignore"),  # of styles and extensions that have nothing to do with cells
    ):
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        chosen = sheet_name(path, book, sheet)
        rows = list(filled_rows(path, problems, book[chosen]))
    if not rows:
        raise DataError(
            f"Sheet {chosen!r} is empty.", path=path, remedy=f"Give another sheet: {settings_text(sheet='NAME')}."
        )
    check_titles(path, [(line, [_text(cell) for cell in row]) for line, row in rows[:MOST_ABOVE]], "row")
    (_, header), *body = rows
    names, places = _names(path, header, max((len(row) for _, row in body), default=0))
    body = [(line, [row[place] if place < len(row) else None for place in places]) for line, row in body]
    while body and not any(_is_filled(value) for value in body[-1][1]):
        del body[-1]
    if not body:
        raise DataError("The sheet has column names but no documents.", path=path, remedy="Give at least one document.")
    values = {name: _column([row[index] for _, row in body]) for index, name in enumerate(names)}
    return corpus_of_table(Table(values, [line for line, _ in body], path, problems), options)


def sheet_names(path: Path) -> list[str]:
    """The names of the sheets of a workbook, in their order."""
    from openpyxl import load_workbook

    with read_by_others("The Excel file", path, _SAVE_AGAIN), warnings.catch_warnings(action="ignore"):
        book = load_workbook(io.BytesIO(_checked_bytes(path, LIMITS)), read_only=True, keep_links=False)
        return [sheet.title for sheet in book.worksheets]


def _checked_bytes(path: Path, limits: Limits) -> bytes:
    """The bytes of a workbook whose parts are not too large when they are unpacked."""
    data = read_bytes(path, limits=limits)
    with read_by_others("The Excel file", path, _SAVE_AGAIN), zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())  # no entry is unpacked to more than it claims
        limits.check_unpacked(size, len(data), path)
    return data


def sheet_name(path: Path, book: Any, given: str | int | None) -> str:
    """The name of the sheet that was given, by name (which may be a year) or number from 1, or of the first one."""
    names = [sheet.title for sheet in book.worksheets]
    if not names:
        raise DataError("The workbook has no sheet of cells.", path=path)
    if given is None:
        if len(names) > 1:
            others = f"{'sheet' if len(names) == 2 else 'sheets'} {listed(names[1:])}"
            remark(f"{path}: sheet {names[0]!r} is read, not {others} ({settings_text(sheet='NAME')}).")
        return str(names[0])
    if str(given) in names:
        return str(given)
    if isinstance(given, int) and 1 <= given <= len(names):
        return str(names[given - 1])
    remedy = f"Use {settings_text(sheet='NAME')}."
    raise DataError(f"There is no sheet {given!r}. Found: {listed(names)}.", path=path, remedy=remedy)


def filled_rows(path: Path, problems: Problems, sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    """The rows up to their last filled cell, each with its number; blank ones only if blank documents are kept."""
    sheet.reset_dimensions()  # what a file claims about its size is not to be relied upon
    cells, begun = 0, False
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MOST_ROWS:
            what = f"The sheet has a row with a number above {MOST_ROWS:,}, which Excel does not know."
            raise DataError(what, path=path, remedy=_SAVE_AGAIN)
        cells += max(len(row), 1)
        problems.limits.check("sheet_cells", cells, "cells or more in the sheet", path, line=number)
        filled = [index for index, value in enumerate(row) if _is_filled(value)]
        if filled or (begun and problems.keep_blank):
            begun = True
            yield number, list(row[: filled[-1] + 1]) if filled else []


def _names(path: Path, header: Sequence[Any], width: int) -> tuple[list[str], list[int]]:
    """The names of the columns and their places; a column without a name is called by its place."""
    names: list[str] = []
    for place in range(max(len(header), width)):
        value = header[place] if place < len(header) else None
        names.append(_text(value).strip() if _is_filled(value) else f"column {place + 1}")
    check_names(path, None, names)
    return names, list(range(len(names)))


def _is_filled(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _column(values: list[Any]) -> list[Any]:
    """The values of a column; as texts if one of them is a text."""
    if any(isinstance(value, str) for value in values):
        return [_text(value) for value in values]
    return [_text(value) if isinstance(value, (date, time)) else value for value in values]


def _text(value: Any) -> str:
    """A cell as text: numbers without a needless decimal point, dates in ISO 8601.

    >>> _text(3.0), _text(datetime(2024, 5, 1)), _text(None), _text("a")
    ('3', '2024-05-01', '', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time(0):
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, (date, time)) else str(value)
