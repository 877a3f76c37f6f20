"""Parquet tables of texts, read and written by pyarrow."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_bytes
from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.limits import Limits
from manylabel.data.parquet_footer import column_parts
from manylabel.data.problems import Problems, read_by_others
from manylabel.data.table import ColumnOptions, Table, check_names
from manylabel.data.textfile import read_bytes
from manylabel.exceptions import DataError, MissingExtraError

CELL_BYTES = 8
"""The least that a cell takes in memory."""
BATCH_BYTES = 1 << 27
"""What is decoded at a time: a batch of rows may hold the largest part of a column once per row, and no more."""
LEAST_ROWS, MOST_ROWS = 128, 1 << 16


def _pyarrow() -> Any:
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
    pyarrow = _pyarrow()
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
    rows = {file.metadata.num_rows, *map(len, values.values())}
    if len(rows) > 1:
        raise DataError(
            f"The Parquet file declares {file.metadata.num_rows:,} rows and holds other numbers of them.",
            path=path,
            remedy="Copy or write it again.",
        )
    return corpus_of_table(Table(values, list(range(1, max(rows) + 1)), path, problems), options)


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
    pyarrow = _pyarrow()
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
