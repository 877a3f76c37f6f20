"""Tables of texts with commas or tabs between the cells, with or without a header line."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from manylabel.data import count_table
from manylabel.data.columns import KNOWN, ColumnOptions, Table, corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.label_files import with_named_labels
from manylabel.data.labels import LabelSets
from manylabel.data.problems import Problems
from manylabel.data.textfile import Lines, first_lines
from manylabel.exceptions import DataError

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def has_header(cells: Sequence[str]) -> bool:
    """Whether a first row is a header: one of its cells is a usual column name such as ``text``."""
    return any(cell.strip().strip('"').lower() in KNOWN for cell in cells)


def is_numeric_row(cells: Sequence[str]) -> bool:
    """Whether a row is one of a table of counts: at least three cells, all numbers."""
    return len(cells) >= 3 and all(_NUMBER.match(cell.strip()) for cell in cells)


def read(
    path: Path,
    problems: Problems,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    quoting: bool | None = None,
    text_column: str | None = None,
    title_column: str | None = None,
    label_column: str | None = None,
    label_columns: Sequence[str] | None = None,
    label_separator: str | None = None,
    id_column: str | None = None,
    split_column: str | None = None,
    label_names_file: str | Path | None = None,
    label_groups_file: str | Path | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """The documents of a CSV or TSV file.

    The delimiter is a tab for ``.tsv``, otherwise whichever of ``,`` ``;`` tab ``|`` the first line has
    most of. A first row with a usual column name, or with one an option names, is the header. Without a
    header, rows of numbers are a table of counts whose last column is the class (see `count_table`), and
    two or three tab-separated columns are text, labels and id, with no quoting. Columns of other headerless
    tables are named 1, 2, 3 … Labels are in one column (the separator is given, or found by
    `label_separator`), or in one column of 0 and 1 per label: those given, or all such columns if there is
    no column of labels and there are at least two. Label ids are replaced by the names in
    `label_names_file`, one a line.
    """
    options = ColumnOptions(
        text_column, title_column, label_column, label_columns, label_separator, id_column, split_column
    )
    first = next((line for line in first_lines(path) if line.strip()), "")
    delimiter = delimiter or _delimiter(path, first)
    top = first.split(delimiter if delimiter != " " else None)
    if delimiter not in (" ", "\t"):
        top = next(csv.reader([first], delimiter=delimiter), [])
    if header is None and is_numeric_row(top):
        return count_table.read(path, problems, None if delimiter == " " else delimiter, encoding)
    header = _is_header(top, delimiter, options) if header is None else header
    quoting = quoting if quoting is not None else header or delimiter != "\t"
    rows = _rows(path, problems, delimiter, quoting, encoding)
    table = _table(path, problems, rows, header, bare=not header and delimiter == "\t")
    return with_named_labels(corpus_of_table(table, options), path, label_names_file, label_groups_file)


def _is_header(top: Sequence[str], delimiter: str, options: ColumnOptions) -> bool:
    """Whether the first row is the header; only two or three bare tab-separated columns may go without."""
    given = [options.text_column, options.title_column, options.label_column, options.id_column]
    named = {*given, options.split_column, *(options.label_columns or ())} - {None}
    bare = delimiter == "\t" and len(top) in (2, 3) and not named
    return has_header(top) or not bare


def _delimiter(path: Path, first: str) -> str:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".tsv", ".tab")):
        return "\t"
    best = max(",;\t|", key=first.count)
    if first.count(best):
        return best
    return " " if is_numeric_row(first.split()) else ","


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell hold a whole book; the csv module's own limit of 128 KiB is one setting for the process."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _rows(
    path: Path, problems: Problems, delimiter: str, quoting: bool, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins on."""
    lines = Lines(path, problems, encoding)
    starts: list[int] = []  # the lines of the row being read; broken ones are not among them

    def noted() -> Iterator[str]:
        for line in lines:
            starts.append(lines.number)
            yield line

    style: Literal[0, 3] = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    with _long_cells():
        reader = csv.reader(noted(), delimiter=delimiter, quoting=style, strict=quoting)
        while True:
            starts.clear()
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                unclosed = "unexpected end" in str(error)
                problem = "A quote opened in this row is never closed." if unclosed else f"The row is broken ({error})."
                problems.report(problem, path=path, line=starts[0], remedy='Write a quote inside a quoted cell as "".')
                continue
            if any(cell.strip() for cell in row):
                yield starts[0], row


def _table(path: Path, problems: Problems, rows: Iterator[tuple[int, list[str]]], header: bool, bare: bool) -> Table:
    names: list[str] = []
    kept: list[list[str]] = []
    numbers: list[int] = []
    for line, row in rows:
        if not names:
            names = [cell.strip() for cell in row] if header else _positions(len(row), bare)
            _check_names(path, line, names)
            if header:
                continue
        if len(row) != len(names):
            problems.report(
                f"The row has {len(row)} cells where {len(names)} are needed.",
                path=path,
                line=line,
                remedy="Quote cells that hold the delimiter, or name the delimiter (-o delimiter=';').",
            )
            continue
        kept.append(row)
        numbers.append(line)
    if not kept and not problems.skipped:
        what = "a header line but no documents" if header else "no documents"
        raise DataError(f"The file has {what}.", path=path, remedy="Give a file with at least one document.")
    columns: dict[str, list[Any]] = {name: [row[index] for row in kept] for index, name in enumerate(names)}
    return Table(columns, numbers, path, problems)


def _positions(width: int, bare: bool) -> list[str]:
    if bare and width in (2, 3):
        return ["text", "labels", "id"][:width]
    return [str(index + 1) for index in range(width)]


def _check_names(path: Path, line: int, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(
            f"The header names column {twice[0]!r} twice.", path=path, line=line, remedy="Rename one of them."
        )


def write(corpus: Corpus, stream: IO[str], *, delimiter: str = ",") -> None:
    """A header line, then one row a document: id, the fields, labels, split, metadata of strings and numbers.

    Labels are joined by ``;`` where the reader's rule finds that separator again, and are JSON lists
    otherwise.
    """
    columns: dict[str, Sequence[object]] = {"id": corpus.ids, **corpus.fields}
    if corpus.labels is not None:
        columns["labels"] = _label_cells(corpus.labels)
    if corpus.split_names is not None:
        columns["split"] = corpus.split_names
    for name, values in corpus.metadata.items():
        if all(isinstance(value, (str, int, float)) for value in values):
            columns.setdefault(name, values)
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def _label_cells(labels: LabelSets) -> list[str]:
    names = {name for document in labels for name in document}
    seen = any(len(document) > 1 for document in labels)
    unclear = any(";" in name or name.startswith(("[", "<")) for name in names)
    if unclear or (not seen and any(re.search(r"[|,\s]", name) for name in names)):
        return [json.dumps(list(document), ensure_ascii=False) if document else "" for document in labels]
    return [";".join(document) for document in labels]
