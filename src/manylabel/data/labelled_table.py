"""Tables of documents with predicted labels beside the user's own columns (CSV, TSV, Excel, Parquet), tables with other
labels in another format than their file has, and corpora as workbooks.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from manylabel.data.atomic import atomic_bytes, atomic_text
from manylabel.data.corpus import Corpus
from manylabel.data.delimited import table_columns
from manylabel.data.excel import load_openpyxl
from manylabel.data.label_edits import LabelEdits, OtherShapeError
from manylabel.data.parquet import load_pyarrow
from manylabel.exceptions import DataError
from manylabel.progress import remark

Append: TypeAlias = Callable[[Mapping[str, Sequence[Any]]], None]
"""Takes columns of equal length."""
MAX_SHEET_ROWS = 1_048_576
MAX_CELL = 32_767
"""The most characters that a cell of a workbook holds."""
_DATE = re.compile(r"(19|2[0-9])[0-9]{2}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?")
"""A date, perhaps with a time of day, that Excel knows: those before 1900 are texts there."""


def free_name(wanted: str, taken: Sequence[str]) -> str:
    """A name for an added column that no column has: the wanted one, or ``predicted_`` before it.

    >>> free_name("labels", ["id", "text"]), free_name("labels", ["text", "labels", "predicted_labels"])
    ('labels', 'predicted_labels_2')
    """
    if wanted not in taken:
        return wanted
    name, number = f"predicted_{wanted}", 2
    while name in taken:
        name, number = f"predicted_{wanted}_{number}", number + 1
    return name


def check_table_format(format: str) -> None:
    """Raise `MissingExtraError` where the package that writes tables of this format is not installed."""
    if format == "xlsx":
        load_openpyxl()
    elif format == "parquet":
        load_pyarrow()


@contextmanager
def table_stream(path: Path, format: str, delimiter: str = ",") -> Iterator[Append]:
    """A function that appends columns to a table of CSV, TSV, Excel or Parquet; the first piece names them.

    Pieces are written as they come, except to a workbook, and the file appears whole or not at all. Lists are lists in
    Parquet and joined by ``;`` elsewhere. In a workbook every text is stored as text, also where it begins with ``=``,
    ``+``, ``-`` or ``@``: it is never a formula. CSV cannot tell the difference, so a spreadsheet may run such a cell
    when it opens the file.
    """
    if format == "parquet":
        with _parquet_stream(path) as write:
            yield write
        return
    if format == "xlsx":
        whole: dict[str, list[Any]] = {}

        def keep(columns: Mapping[str, Sequence[Any]]) -> None:
            for name, values in columns.items():
                whole.setdefault(name, []).extend(values)

        yield keep
        _write_workbook(path, whole)
        return
    with atomic_text(path) as stream:
        writer = csv.writer(stream, delimiter="\t" if format == "tsv" else delimiter, lineterminator="\n")
        is_first = True

        def append(columns: Mapping[str, Sequence[Any]]) -> None:
            nonlocal is_first
            if is_first:
                writer.writerow(columns)
                is_first = False
            writer.writerows([_flat(value) for value in row] for row in zip(*columns.values(), strict=True))

        yield append


def _flat(value: Any) -> Any:
    """A cell of a table: lists joined, mappings as JSON, None empty."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ";".join(str(one) for one in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else value


@contextmanager
def _parquet_stream(path: Path) -> Iterator[Append]:
    pyarrow = load_pyarrow()
    with atomic_bytes(path) as stream, ExitStack() as opened:
        writer: Any = None

        def append(columns: Mapping[str, Sequence[Any]]) -> None:
            nonlocal writer
            arrays = {}
            for name, values in columns.items():
                try:
                    kind = None if writer is None else writer.schema.field(name).type
                    arrays[name] = pyarrow.array(values, kind)
                except pyarrow.ArrowException:  # values of several types
                    arrays[name] = pyarrow.array([None if value is None else str(value) for value in values])
            table = pyarrow.table(arrays)
            if writer is None:
                writer = opened.enter_context(pyarrow.parquet.ParquetWriter(stream, table.schema))
            writer.write_table(table)

        yield append


def _with_dates(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a column, as dates where all are dates in ISO 8601, which is how cells of Excel are read.

    >>> _with_dates(["2024-05-01", None, "2024-05-02T08:30:00"])[0], _with_dates(["2024-05-01", "soon"])[0]
    (datetime.datetime(2024, 5, 1, 0, 0), '2024-05-01')
    """
    filled = [value for value in values if value not in (None, "")]
    if not filled or not all(isinstance(value, str) and _DATE.fullmatch(value) for value in filled):
        return values
    try:
        return [None if value in (None, "") else datetime.fromisoformat(value) for value in values]
    except ValueError:  # the 30th of February, say
        return values


def write_excel(corpus: Corpus, path: Path) -> None:
    """Write a workbook with one row per document and the columns of `write_csv`.

    Columns of dates in ISO 8601 become dates. `DataError` for a text that is longer than a cell may be: it is not cut.
    """
    _write_documents(corpus, table_columns(corpus), path)


def write_edited(corpus: Corpus, edits: LabelEdits, path: Path, format: str) -> None:
    """Write the table that a corpus was read from with changed cells, as CSV, TSV or Excel; one row per document.

    `OtherShapeError` for a table without names of columns.
    """
    layout, columns = corpus.layout, corpus.columns
    assert layout is not None
    assert columns is not None
    if not layout.header:
        raise OtherShapeError("The table has no header.")
    changed = edits.applied(columns, len(corpus))
    if format == "excel":
        _write_documents(corpus, changed, path)
        return
    with table_stream(path, format) as append:
        append(changed)


def _write_documents(corpus: Corpus, columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns of documents as a workbook, none of whose cells is cut."""
    for name, values in columns.items():
        for row, value in enumerate(values):
            if isinstance(value, str) and len(value) > MAX_CELL:
                raise DataError(
                    f"A cell of Excel holds {MAX_CELL:,} characters; {name!r} of document {corpus.ids[row]!r} has "
                    f"{len(value):,}.",
                    path=path,
                    remedy="Write .csv or .jsonl.",
                )
    _write_workbook(path, columns, "documents")


def _write_workbook(path: Path, columns: Mapping[str, Sequence[Any]], title: str = "predictions") -> None:
    openpyxl = load_openpyxl()
    illegal = openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE
    rows = len(next(iter(columns.values()), ()))
    if rows >= MAX_SHEET_ROWS:
        raise DataError(
            f"A sheet of a workbook has at most {MAX_SHEET_ROWS:,} rows, and there are {rows:,} documents.",
            path=path,
            remedy="Write .csv or .parquet.",
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(title)
    shortened = 0

    def cell(value: Any) -> Any:
        nonlocal shortened
        flat = _flat(value)
        if not isinstance(flat, str):
            return flat
        clean = illegal.sub("", flat)
        shortened += len(clean) > MAX_CELL
        made = openpyxl.cell.WriteOnlyCell(sheet, value=clean[:MAX_CELL])
        made.data_type = "s"  # never a formula
        return made

    sheet.append([cell(name) for name in columns])
    for row in zip(*map(_with_dates, columns.values()), strict=True):
        sheet.append([cell(value) for value in row])
    packed = io.BytesIO()  # ZIP archives are written back and forth, which streams of gzip do not allow
    book.save(packed)
    with atomic_bytes(path) as stream:
        stream.write(packed.getvalue())
    if shortened:
        remark(f"{path}: cells longer than {MAX_CELL:,} characters, which Excel cannot hold, were cut: {shortened:,}.")
