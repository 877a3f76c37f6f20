"""Parquet tables of texts, read and written by pyarrow."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_bytes
from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.problems import Problems
from manylabel.data.table import ColumnOptions, Table
from manylabel.data.textfile import read_bytes
from manylabel.exceptions import DataError, MissingExtraError


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
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(read_bytes(path)))
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            f"The Parquet file cannot be read ({str(error).splitlines()[0].rstrip('.')}).",
            path=path,
            remedy="Copy or write it again.",
        ) from None
    values = {name: table.column(name).to_pylist() for name in table.column_names}
    lines = list(range(1, table.num_rows + 1))
    return corpus_of_table(Table(values, lines, path, problems), options)


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
