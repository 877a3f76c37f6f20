"""Parquet tables of texts, read and written by pyarrow."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_bytes
from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.limits import Limits
from manylabel.data.problems import Problems, read_by_others
from manylabel.data.table import ColumnOptions, Table, check_names
from manylabel.data.textfile import read_bytes
from manylabel.exceptions import MissingExtraError

CELL_BYTES = 8
"""The least that a cell takes in memory."""
BATCH_BYTES = 1 << 27
"""What is decoded at a time: a batch of rows may hold the largest part of a column once per row, and no more."""
LEAST_ROWS, MOST_ROWS = 128, 1 << 16


def load_pyarrow() -> Any:
    """The package pyarrow with its Parquet reader; `MissingExtraError` where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet", "parquet") from None
    return pyarrow


def read(path: Path, problems: Problems, **columns: Any) -> Corpus:
    """The documents of a Parquet file; `columns` are the fields of `ColumnOptions`.

    Problems give the row, numbered from 1, as the line.
    """
    options = ColumnOptions(**columns)
    pyarrow = load_pyarrow()
    data = read_bytes(path, limits=problems.limits)
    with read_by_others("The Parquet file", path, "Copy or write it again."):
        file = pyarrow.parquet.ParquetFile(io.BytesIO(data))
        size = _check_size(file.metadata, data, path, problems.limits)
        values: dict[str, list[Any]] = {name: [] for name in file.schema_arrow.names}
        check_names(path, None, file.schema_arrow.names)
        decoded = 0
        for batch in file.iter_batches(batch_size=max(LEAST_ROWS, min(MOST_ROWS, BATCH_BYTES // max(size, 1)))):
            for name, column in zip(values, batch.columns, strict=True):
                whole = column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column
                decoded += whole.nbytes
                problems.limits.check_unpacked(decoded, len(data), path)
                values[name] += whole.to_pylist()
        if any(len(column) != file.metadata.num_rows for column in values.values()):
            raise ValueError(f"a column has more or fewer than the {file.metadata.num_rows:,} rows of the file")
    lines = list(range(1, file.metadata.num_rows + 1))
    return corpus_of_table(Table(values, lines, path, problems), options)


def _check_size(metadata: Any, data: bytes, path: Path, limits: Limits) -> int:
    """Check what a file claims to hold, and return the bytes of the largest part of a column.

    Equal values take no space in a file: a few kilobytes may hold millions of rows.
    """
    limits.check("documents", metadata.num_rows, "rows", path)
    limits.check("columns", metadata.num_columns, "columns", path)
    parts = column_parts(data)
    limits.check_unpacked(sum(part.unpacked for part in parts), len(data), path)
    limits.check_unpacked(sum(part.values for part in parts) * CELL_BYTES, len(data), path)
    return max((part.unpacked for part in parts), default=0)


def write(corpus: Corpus, path: Path) -> None:
    """Write a table of id, the fields, labels as lists of strings, split, and the metadata."""
    pyarrow = load_pyarrow()
    columns: dict[str, Any] = {"id": pyarrow.array(corpus.ids, pyarrow.string())}
    columns |= {name: pyarrow.array(values, pyarrow.string()) for name, values in corpus.fields.items()}
    if corpus.labels is not None:
        columns["labels"] = pyarrow.array(corpus.labels, pyarrow.list_(pyarrow.string()))
    if corpus.split_names is not None:
        columns["split"] = pyarrow.array(corpus.split_names, pyarrow.string())
    for name, values in corpus.metadata.items():
        if name not in columns:
            try:
                columns[name] = pyarrow.array(values)
            except pyarrow.ArrowException:
                columns[name] = pyarrow.array([str(value) for value in values], pyarrow.string())
    with atomic_bytes(path) as stream:
        pyarrow.parquet.write_table(pyarrow.table(columns), stream)


# ---- the footer ------------------------------------------------------------------------------------------------------

# pyarrow ends the process where the figures of a column contradict its type, as soon as they are asked for. So they are
# read here: the footer is a struct in Thrift's compact protocol
# (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).

ROW_GROUPS, COLUMNS, META_DATA, NUM_VALUES, UNPACKED = 4, 1, 3, 5, 6
"""Numbers of fields: of the file, of a row group, of a column in it, and two of that column's data."""
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class ColumnPart:
    """The values of one column in one group of rows, and their bytes when they are unpacked."""

    values: int
    unpacked: int


def column_parts(data: bytes) -> list[ColumnPart]:
    """The parts of all columns that the footer of a Parquet file declares; an error of any class if it is broken."""
    length = int.from_bytes(data[-8:-4], "little")
    footer = _Compact(data[len(data) - 8 - length : len(data) - 8]).struct(0)
    found = [column[META_DATA] for group in footer[ROW_GROUPS] for column in group[COLUMNS]]
    return [ColumnPart(int(part[NUM_VALUES]), int(part[UNPACKED])) for part in found]


class _Compact:
    """A reader of Thrift's compact protocol: structs become dictionaries from the numbers of fields to values."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        """A number without a sign, seven bits in each byte."""
        value = shift = 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")
        return value | byte << shift

    def signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)

    def struct(self, depth: int) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("structs are nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self.signed()
            kind = head & 0x0F
            fields[number] = kind == 1 if kind in (1, 2) else self.value(kind, depth + 1)
        return fields

    def value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            self.at += 8
            return None
        if kind == 8:
            length = self.number()
            self.at += length
            return None
        if kind in (9, 10):
            return self.items(depth)
        if kind == 12:
            return self.struct(depth)
        raise ValueError(f"values of the unknown type {kind}")

    def items(self, depth: int) -> list[Any]:
        head = self.byte()
        size = self.number() if head >> 4 == 15 else head >> 4
        if size > len(self.data) or depth > _DEEPEST:
            raise ValueError("a list that is longer than its data, or nested too deeply")
        return [self.value(head & 0x0F, depth + 1) for _ in range(size)]
