"""Parquet tables of texts, read and written by pyarrow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_bytes
from manylabel.data.columns import ColumnOptions, Table, corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.problems import Problems
from manylabel.data.textfile import read_bytes
from manylabel.exceptions import DataError, MissingExtraError


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet", "parquet") from None
    return pyarrow


def read(
    path: Path,
    problems: Problems,
    *,
    text_column: str | None = None,
    title_column: str | None = None,
    label_column: str | None = None,
    label_columns: Sequence[str] | None = None,
    label_separator: str | None = None,
    id_column: str | None = None,
    split_column: str | None = None,
) -> Corpus:
    """The documents of a Parquet file; columns are recognised as those of CSV and JSON lines are.

    Problems name the row, counted from 1, as the line.
    """
    options = ColumnOptions(
        text_column, title_column, label_column, label_columns, label_separator, id_column, split_column
    )
    pyarrow = _pyarrow()
    try:
        table = pyarrow.parquet.read_table(io.BytesIO(read_bytes(path)))
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(
            f"The Parquet file cannot be read ({str(error).splitlines()[0].rstrip('.')}).",
            path=path,
            remedy="Copy or write it again.",
        ) from None
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    lines = list(range(1, table.num_rows + 1))
    return corpus_of_table(Table(columns, lines, path, problems), options)


def write(corpus: Corpus, path: Path) -> None:
    """A table of id, the fields, labels as lists of strings, split, and the metadata."""
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
