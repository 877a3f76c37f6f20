"""Whether a file that predictions are to be written to holds earlier ones: a table of the user is not overwritten."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

from manylabel.data.excel import load_openpyxl
from manylabel.data.parquet import load_pyarrow
from manylabel.exceptions import ParameterError

LONGEST = 1 << 20
"""Bytes of the first line that are read."""
ADDED = (re.compile(r"(predicted_)?labels(_\d+)?"), re.compile(r"(predicted_)?scores(_\d+)?"))
"""The columns that predictions add, as `manylabel.data.labelled_table.free_name` names them."""


def check_overwritten(path: Path, format: str) -> None:
    """Raise `ParameterError` for a file that exists and holds something else than predictions of this format.

    An empty file, a pipe and a device may be written to.
    """
    if not path.is_file() or not path.stat().st_size:
        return
    try:
        names = _names(path, format)
    except (OSError, ValueError, KeyError, csv.Error, zipfile.BadZipFile):  # pyarrow's errors are among these
        names = []
    if not all(any(pattern.fullmatch(name) for name in names) for pattern in ADDED):
        raise ParameterError(
            f"{path} exists, holds no predictions of manylabel, and would be overwritten. Give another name, or remove "
            "the file first."
        )


def _names(path: Path, format: str) -> Sequence[str]:
    """The names of the columns in a file; of JSON lines, the keys of the first object."""
    if format == "parquet":
        return list(load_pyarrow().parquet.read_schema(path).names)
    if format == "xlsx":
        book = load_openpyxl().load_workbook(io.BytesIO(path.read_bytes()), read_only=True)
        try:
            return [str(cell) for cell in next(book.worksheets[0].iter_rows(max_row=1, values_only=True), ())]
        finally:
            book.close()
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        line = stream.readline(LONGEST).decode("utf-8-sig")
    if format == "jsonl":
        found = json.loads(line)
        return list(found) if isinstance(found, dict) else []
    delimiters = "\t" if format == "tsv" else ",;|"
    return max((next(csv.reader(io.StringIO(line), delimiter=one), []) for one in delimiters), key=len)
