"""Tables with commas or tabs between the cells: texts with or without a header line, or rows of numbers."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from manylabel.data.atomic import atomic_text
from manylabel.data.columns import check_first_line, check_first_row, corpus_of_table, has_header
from manylabel.data.corpus import Corpus, numbered_terms
from manylabel.data.formats import name_without_suffix
from manylabel.data.label_cells import is_addresses, is_bare_addresses, open_address
from manylabel.data.label_files import with_named_labels
from manylabel.data.labels import LabelSets
from manylabel.data.layout import Layout
from manylabel.data.problems import Problems
from manylabel.data.table import ColumnOptions, Table, check_names
from manylabel.data.textfile import WHOLE_FILE, Lines, Span, first_lines, numbered_lines
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.wording import counted, settings_text

DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[-+]?(\d++(\.\d*+)?|\.\d++)([eE][-+]?\d++)?$")


def is_numeric_row(cells: Sequence[str]) -> bool:
    """Whether a row is one of a table of counts: at least three cells, all numbers."""
    return len(cells) >= 3 and all(_NUMBER.match(cell.strip()) for cell in cells)


def is_csv(lines: list[str]) -> bool:
    """Whether the first line is a header with commas, or a row of numbers."""
    return has_header(lines[0].split(",")) or is_numeric_row(lines[0].replace(",", " ").split())


def is_tsv(lines: list[str]) -> bool:
    """Whether the first line has a tab."""
    return "\t" in lines[0]


def read(
    path: Path,
    problems: Problems,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    quoting: bool | None = None,
    label_names_file: str | Path | None = None,
    label_groups_file: str | Path | None = None,
    encoding: str = "utf-8",
    **columns: Any,
) -> Corpus:
    """The documents of a CSV or TSV file.

    Without a header, rows of numbers are a table of counts whose last column is the class (see `read_counts`), and two
    or three columns are text, labels and id, unless an option names a column. Columns of other headerless tables are
    named 1, 2, 3 …

    Parameters
    ----------
    path, problems
        The file, and where its problems are reported.
    delimiter
        By default a tab for ``.tsv``, otherwise whichever of ``,`` ``;`` tab ``|`` occurs most often in the first line.
    header
        Whether the first row names the columns. By default it does if it has a usual column name, or one that an option
        names.
    quoting
        Whether cells may be quoted. By default they may, except in tables without a header that tabs separate.
    label_names_file, label_groups_file
        Files with the names of label ids, one per line, and with groups of labels.
    encoding
        The encoding of the file.
    columns
        The fields of `ColumnOptions`. Labels are in one column (the separator is given, or found by `label_separator`),
        or in one column of 0 and 1 per label: those given, or all such columns if there is no column of labels and
        there are at least two.
    """
    options = ColumnOptions(**columns)
    dialect = dialect_of(path, options, delimiter, header, quoting)
    guessed, header, delimiter = header is None, dialect.header, dialect.delimiter
    if guessed and is_numeric_row(dialect.top):
        return read_counts(path, problems, None if delimiter == " " else delimiter, encoding)
    rows = read_rows(path, problems, dialect, encoding)
    bare = not header and not _names_column(options)
    if guessed and header and options.labels and delimiter == "\t":
        _check_columns(path, dialect.top, options)
    table = table_of_rows(path, problems, rows, header, bare, delimiter=delimiter)
    if not table.lines and not problems.skipped:
        what = "a header line but no documents" if header else "no documents"
        raise DataError(f"The file has {what}.", path=path, remedy="Give a file with at least one document.")
    first = table.columns.get("text", []) if not header else []
    if is_addresses(first) or (is_bare_addresses(first) and not is_bare_addresses(table.columns["labels"])):
        table = replace(table, columns=_labels_first(table.columns))
    if guessed and bare and "text" in table.columns and table.lines and options.like is None and options.labels:
        check_first_row(path, table.columns["text"], table.columns["labels"])
    corpus = corpus_of_table(table, options, delimiter=delimiter, header=header)
    if bare and corpus.layout is not None and "text" in table.columns:
        corpus = replace(corpus, layout=_by_position(corpus.layout, list(table.columns)))
    return with_named_labels(corpus, path, label_names_file, label_groups_file)


def _check_columns(path: Path, top: Sequence[str], options: ColumnOptions) -> None:
    """Raise `DataError` for a file with tabs in its name alone: one column, and no usual name above it."""
    if len(top) == 1 and not has_header(top) and not _names_column(options):
        other = "The first line has {!r}: if it separates columns, use {}."
        found = [other.format(sign, settings_text(delimiter=sign)) for sign in ";|" if sign in top[0]]
        tab = "Write a tab and the labels behind each text. If the texts have no labels, write a first row: text."
        what = "The file has one column; an Annif corpus has text, tab, addresses."
        raise DataError(what, path=path, remedy=" ".join([*found, tab]))


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the cells of a table are separated, whether they may be quoted, and whether the first row is a header."""

    delimiter: str
    header: bool
    quoting: bool
    top: list[str]
    """The cells of the first row."""


def dialect_of(
    path: Path,
    options: ColumnOptions,
    delimiter: str | None = None,
    header: bool | None = None,
    quoting: bool | None = None,
) -> Dialect:
    """The dialect of a file, by its first line where it is not given."""
    lines = first_lines(path)
    first = next((line for line in lines if line.strip()), "")
    if first.lower().startswith(("sep=", '"sep=')):
        raise DataError(
            f"The first line, {first.strip()!r}, is a note for Excel and no header.",
            path=path,
            remedy="Delete this line.",
        )
    if header is None:
        check_first_line(path, lines, DELIMITERS if delimiter is None else [delimiter])
    delimiter = delimiter or _delimiter(path, first)
    top = first.split(delimiter if delimiter != " " else None)
    if delimiter not in (" ", "\t"):
        top = _first_row(first, delimiter)
    header = _is_header(top, delimiter, options) if header is None else header
    return Dialect(delimiter, header, quoting if quoting is not None else header or delimiter != "\t", top)


def _first_row(line: str, delimiter: str) -> list[str]:
    """The cells of the first line, as far as it can be read; an error in it is reported with the rows."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _by_position(layout: Layout, columns: Sequence[str]) -> Layout:
    """The layout of a table without a header, whose columns were not recognised by their names."""
    places = {name: place for place, name in enumerate(columns, start=1)}
    reasons = {**layout.reasons, "text": "Without a header, two or three columns are text, labels and perhaps id."}
    reasons.pop("labels", None)
    return replace(layout, positions=places, reasons=reasons)


def _is_header(top: Sequence[str], delimiter: str, options: ColumnOptions) -> bool:
    """Whether the first row is the header; only tables of two or three tab-separated columns may have none."""
    trained = set() if options.like is None else {*options.like.texts} & {cell.strip() for cell in top}
    bare = delimiter == "\t" and len(top) in (2, 3) and not _names_column(options) and not trained
    return has_header(top) or not bare


def _names_column(options: ColumnOptions) -> bool:
    """Whether an option names a column, or one of the training its number in a table without a header."""
    if options.like is not None and any(name.isdigit() for name in options.like.texts):
        return True
    given = [options.text_column, options.title_column, options.id_column, options.split_column, options.label_column]
    return any(one is not None for one in given)


def _delimiter(path: Path, first: str) -> str:
    name = path.name.lower().removesuffix(".gz").removesuffix(".zst")
    if name.endswith((".tsv", ".tab")):
        return "\t"
    bare = re.sub(r'"[^"]*"', "", first)  # delimiters inside quotation marks separate nothing
    best = max(DELIMITERS, key=bare.count)
    if bare.count(best):
        return best
    return " " if is_numeric_row(first.split()) else ","


def read_rows(
    path: Path, problems: Problems, dialect: Dialect, encoding: str = "utf-8", span: Span = WHOLE_FILE
) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins on."""
    for numbers, row in rows_and_lines(path, problems, dialect, encoding, span):
        if problems.keep_blank or any(cell.strip() for cell in row):
            yield numbers[0], row


def rows_and_lines(
    path: Path, problems: Problems, dialect: Dialect, encoding: str = "utf-8", span: Span = WHOLE_FILE
) -> Iterator[tuple[list[int], list[str]]]:
    """Each row, blank ones too, with the numbers of its lines."""
    lines, delimiter, quoting = Lines(path, problems, encoding, span), dialect.delimiter, dialect.quoting
    starts: list[int] = []  # the lines of the row being read; broken ones are not among them

    def noted() -> Iterator[str]:
        for line in lines:
            starts.append(lines.number)
            yield line

    style: Literal[0, 3] = csv.QUOTE_MINIMAL if quoting else csv.QUOTE_NONE
    try:
        reader = csv.reader(noted(), delimiter=delimiter, quoting=style, strict=quoting)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{delimiter!r} cannot separate the cells of a table ({error}). Use one character."
        ) from None
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
        yield list(starts), row


def table_of_rows(
    path: Path,
    problems: Problems,
    rows: Iterable[tuple[int, list[str]]],
    header: bool,
    bare: bool = False,
    names: Sequence[str] = (),
    *,
    delimiter: str | None = None,
) -> Table:
    """The table of numbered rows; `names` are those of its columns where a header was read before.

    With a `header` the first row names the columns; a `bare` table has columns by position: text, labels and id.
    """
    kept, numbers = list[list[str]](), list[int]()
    for line, row in rows:
        if not names and not any(cell.strip() for cell in row):
            continue
        if not names:
            problems.limits.check("columns", len(row), "columns", path, line=line)
            names = tuple(cell.strip() for cell in row) if header else _positions(len(row), bare)
            check_names(path, line, names)
            if header:
                continue
        if not row:
            row = [""] * len(names)
        if (wrong := _wrong_row(row, len(names), bare, delimiter)) is not None:
            problems.report(wrong[0], path=path, line=line, remedy=wrong[1])
            continue
        kept.append(row)
        numbers.append(line)
        if len(kept) > problems.limits.documents:
            problems.limits.check("documents", len(kept), "or more rows", path)
    while kept and not any(cell.strip() for cell in kept[-1]):
        del kept[-1], numbers[-1]  # blank lines at the end of a file are not documents
    columns: dict[str, list[Any]] = {name: [row[index] for row in kept] for index, name in enumerate(names)}
    return Table(columns, numbers, path, problems)


def _wrong_row(row: Sequence[str], width: int, bare: bool, delimiter: str | None) -> tuple[str, str] | None:
    """What is wrong with a row, and what to do; None where nothing is."""
    if len(row) != width:
        used, other = f" {delimiter!r}" if delimiter else "", settings_text(delimiter="," if delimiter == ";" else ";")
        remedy = f"Quote cells that hold the delimiter{used}, or give another delimiter ({other})."
        remedy = "Write one tab between two cells, and none inside them." if delimiter == "\t" else remedy
        return f"The row has {counted(len(row), 'cell')} instead of {width}.", remedy
    unclosed = next(filter(None, map(open_address, row)), None) if bare else None
    return None if unclosed is None else (f"The address has no '>': {unclosed!r:.200}.", "Write it as <address>.")


def _labels_first(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns of a table without a header whose first column holds addresses: labels, text."""
    return {"labels": columns["text"], "text": columns["labels"], **{k: v for k, v in columns.items() if k == "id"}}


def _positions(width: int, bare: bool) -> tuple[str, ...]:
    if bare and width in (2, 3):
        return ("text", "labels", "id")[:width]
    return tuple(str(index + 1) for index in range(width))


def write_csv(corpus: Corpus, path: Path) -> None:
    """Write a header line, then one row per document: id, fields, labels, split, metadata of strings and numbers.

    Labels are joined by ``;`` where the reader's rule finds that separator again; otherwise they are JSON lists.
    """
    _write(corpus, path, ",")


def write_tsv(corpus: Corpus, path: Path) -> None:
    """Write the table of `write_csv` with tabs between the cells."""
    _write(corpus, path, "\t")


def table_columns(corpus: Corpus) -> dict[str, Sequence[object]]:
    """The columns in which a corpus is written: ids, fields, labels, splits, metadata of strings and numbers."""
    columns: dict[str, Sequence[object]] = {"id": corpus.ids, **corpus.fields}
    if corpus.labels is not None:
        columns["labels"] = _label_cells(corpus.labels)
    if corpus.split_names is not None:
        columns["split"] = corpus.split_names
    for name, values in corpus.metadata.items():
        if all(isinstance(value, (str, int, float)) for value in values):
            columns.setdefault(name, values)
    return columns


def _write(corpus: Corpus, path: Path, delimiter: str) -> None:
    columns = table_columns(corpus)
    with atomic_text(path) as stream:
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


def read_counts(path: Path, problems: Problems, delimiter: str | None, encoding: str) -> Corpus:
    """The documents of a table of numbers: one row per document, one column per term, the class last (CNAE-9).

    A row of another length, or with a cell that is not a number, is a problem.

    Whole-number classes are named without a decimal point, and label names are in the order of the numbers.
    """
    indices, values = list[np.ndarray](), list[np.ndarray]()
    classes, lines, width = list[float](), list[int](), 0
    for number, line in numbered_lines(path, problems, encoding):
        row = _numbers(path, problems, number, line.split(delimiter))
        if row is None:
            continue
        width = width or len(row)
        if len(row) != width:
            problem = f"The row has {counted(len(row), 'cell')} where the first row has {width}."
            problems.report(problem, path=path, line=number, remedy="Complete or remove the row.")
            continue
        filled = np.flatnonzero(row[:-1])
        indices.append(filled)
        values.append(row[filled])
        classes.append(float(row[-1]))
        lines.append(number)
    if not lines:
        raise DataError("The file holds no documents.", path=path, remedy="Give a file with at least one document.")
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in indices])])
    counts = Csr((np.concatenate(values), np.concatenate(indices), indptr), shape=(len(lines), width - 1))
    return Corpus(
        ids=[str(line) for line in lines],
        labels=[[f"{value:g}"] for value in classes],
        label_names=[f"{value:g}" for value in sorted(set(classes))],
        counts=counts,
        terms=numbered_terms(width - 1),
        name=name_without_suffix(path),
        source=str(path),
    )


def _numbers(path: Path, problems: Problems, number: int, cells: list[str]) -> np.ndarray | None:
    try:
        row = np.array(cells, dtype=np.float64)
    except ValueError:
        row = np.array([np.nan])
    if np.isfinite(row).all():
        return row
    bad = next((cell for cell in cells if not _is_finite(cell)), "")
    problems.report(f"{bad!r} is not a number.", path=path, line=number, remedy="Correct the value or remove the row.")
    return None


def _is_finite(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False
