"""Tables with named columns (CSV, JSON lines, Parquet) as a corpus: which column is what, and the labels in a cell."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel.data.corpus import Corpus, split_name
from manylabel.data.problems import Problems
from manylabel.exceptions import DataError

TITLES = ("title", "headline", "subject")
TEXTS = (
    "text", "body", "abstract", "content", "description", "document", "comment_text", "comment", "message",
    "sentence", "review", "tweet", "summary",
)  # fmt: skip
LABELS = (
    "labels",
    "label",
    "subjects",
    "subject_uris",
    "subject_labels",
    "topics",
    "tags",
    "categories",
    "classes",
    "category",
    "topic",
    "class",
)
IDS = ("id", "document_id", "doc_id", "_id", "docid")
SPLITS = ("split", "part", "fold")
KNOWN = frozenset(TITLES + TEXTS + LABELS + IDS + SPLITS)
# Only these become fields beside the main text; another column, such as `comment`, stays metadata.
SIDE_FIELDS = ("title", "headline", "abstract", "body", "description", "summary")


def has_header(cells: Sequence[str]) -> bool:
    """Whether a first row is a header: one of its cells is a usual column name such as ``text``."""
    return any(cell.strip().strip('"').lower() in KNOWN for cell in cells)


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Which column is what; None: found by its name. See `COLUMNS` in formats.py."""

    text_column: str | None = None
    title_column: str | None = None
    label_column: str | None = None
    label_columns: Sequence[str] | None = None
    label_separator: str | None = None
    id_column: str | None = None
    split_column: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, and the line in the file each row began on."""

    columns: Mapping[str, list[Any]]
    lines: list[int]
    path: Path
    problems: Problems = field(repr=False)

    def find(self, given: str | None, usual: Sequence[str], option: str) -> str | None:
        """The column given by an option (an error if it is missing), else the first of the usual names."""
        if given is not None:
            if given not in self.columns:
                raise self.missing(f"There is no column {given!r}", option)
            return given
        by_name = {name.strip().lower(): name for name in reversed(list(self.columns))}
        return next((by_name[name] for name in usual if name in by_name), None)

    def missing(self, problem: str, option: str) -> DataError:
        """The error for a missing column, with the columns there are and the option to use."""
        found = ", ".join(map(repr, self.columns)) or "none"
        return DataError(f"{problem}. Found: {found}.", path=self.path, remedy=f"Use {option}.")

    def without(self, rows: set[int]) -> Table:
        """The table without the given rows."""
        keep = [row for row in range(len(self.lines)) if row not in rows]
        columns = {name: [values[row] for row in keep] for name, values in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[row] for row in keep])


def corpus_of_table(table: Table, options: ColumnOptions) -> Corpus:
    """The corpus in a table.

    The main text is the first of the usual names (``text``, ``body``, ``abstract``, …) that occurs;
    ``title``, ``abstract`` and a few more become fields of their own. A title that every text begins with is metadata,
    so that its words are not counted twice. All other columns are metadata.
    """
    if not table.lines:
        return Corpus(ids=[], source=str(table.path))  # `read` reports why nothing is left
    text = table.find(options.text_column, TEXTS, "--text-column NAME")
    title = table.find(options.title_column, TITLES, "-o title_column=NAME")
    if text is None and title is not None:
        text, title = title, None
    if text is None:
        raise table.missing("There is no column of texts", "--text-column NAME")
    sides = [] if title is None else [title]
    if options.text_column is None:
        sides += [name for name in table.columns if name.strip().lower() in SIDE_FIELDS and name not in (text, title)]
    table = _only_texts(table, text)
    fields = _fields(table, text, sides)
    split = table.find(options.split_column, SPLITS, "-o split_column=NAME")
    identity = table.find(options.id_column, IDS, "-o id_column=NAME")
    table, labels, used = _labels(table, options, {text, split, identity, *sides})
    if labels is not None and len(table.lines) != len(next(iter(fields.values()))):
        fields = _fields(table, text, sides)
    kept = {*fields, text, split, identity, *used}
    return Corpus(
        ids=_ids(table, identity),
        fields=fields,
        labels=labels,
        split_names=None if split is None else [split_name(value) for value in table.columns[split]],
        metadata={name: values for name, values in table.columns.items() if name not in kept},
        name=table.path.name.split(".")[0],
        source=str(table.path),
    )


def _only_texts(table: Table, text: str) -> Table:
    """Leave out, after reporting them, the rows whose text is not a string."""
    bad: set[int] = set()
    for row, value in enumerate(table.columns[text]):
        if not isinstance(value, str):
            given = "nothing" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"
            there = ", ".join(repr(name) for name, values in table.columns.items() if values[row] is not None)
            table.problems.report(
                f"The document has no text: {text!r} holds {given} (the document has {there or 'nothing'}).",
                path=table.path,
                line=table.lines[row],
                remedy="Give it a text, or give the column of texts (--text-column).",
            )
            bad.add(row)
    return table.without(bad) if bad else table


def _fields(table: Table, text: str, sides: list[str]) -> dict[str, list[str]]:
    main = table.columns[text]
    fields: dict[str, list[str]] = {}
    for name in sides:
        values = [value if isinstance(value, str) else "" for value in table.columns[name]]
        repeated = all(whole.startswith(value) for whole, value in zip(main, values, strict=True))
        if not repeated:
            fields[name] = values
    return {**fields, text if text.lower() in TEXTS + TITLES else "text": main}


def _labels(
    table: Table, options: ColumnOptions, taken: set[str | None]
) -> tuple[Table, list[list[str]] | None, list[str]]:
    """The table without bad rows, its label sets (None without labels), and the columns they came from."""
    wide = list(options.label_columns) if options.label_columns is not None else []
    for name in wide:
        table.find(name, (), '-o label_columns=["A", "B"]')
    column = None if wide else table.find(options.label_column, LABELS, "--label-column NAME")
    if column in taken and options.label_column is None:
        column = None
    if column is not None:
        cells = table.columns[column]
        sets, bad = label_sets_of_cells(cells, table, column, options.label_separator)
        return (table.without(bad) if bad else table), sets, [column]
    wide = wide or _columns_of_marks(table, taken)
    if len(wide) == 0:
        return table, None, []
    bad = _bad_marks(table, wide)
    table = table.without(bad) if bad else table
    marks = [[str(value).strip() in _YES for value in table.columns[name]] for name in wide]
    names = [name.strip() for name in wide]
    return (
        table,
        [sorted(n for n, on in zip(names, row, strict=True) if on) for row in zip(*marks, strict=True)],
        wide,
    )


_YES = frozenset({"1", "1.0", "True", "true", "TRUE"})
_NO = frozenset({"0", "0.0", "False", "false", "FALSE"})


def _columns_of_marks(table: Table, taken: set[str | None]) -> list[str]:
    """The columns that hold only 0 and 1, if there are at least two: one column per label."""
    marks = [
        name
        for name, values in table.columns.items()
        if name not in taken and values and all(str(value).strip() in _YES | _NO for value in values)
    ]
    return marks if len(marks) >= 2 else []


def _bad_marks(table: Table, wide: list[str]) -> set[int]:
    bad: set[int] = set()
    for name in wide:
        for row, value in enumerate(table.columns[name]):
            if str(value).strip() not in _YES | _NO:
                table.problems.report(
                    f"Column {name!r} holds {value!r} instead of 0 or 1.",
                    path=table.path,
                    line=table.lines[row],
                    remedy="Correct the value, or leave the column out of label_columns.",
                )
                bad.add(row)
    return bad


def _ids(table: Table, identity: str | None) -> list[str]:
    if identity is None:
        return [str(line) for line in table.lines]
    values = table.columns[identity]
    return [str(line) if value in (None, "") else str(value) for value, line in zip(values, table.lines, strict=True)]


if TYPE_CHECKING:
    from manylabel.data.columns import Table

_ADDRESSES = re.compile(r"<[^<>\s]*>(\s+<[^<>\s]*>)*$")


def label_separator(cells: Iterable[str]) -> str | None:
    """The separator of the labels of a cell: the first of ``;`` ``|`` ``,`` that occurs in any cell.

    It is a blank if none occurs and splitting at blanks leaves fewer distinct names than there are distinct cells, so
    that "real estate" stays one label while "acq earn", "earn", "acq" become two. None: each cell is one label.

    >>> label_separator(["sport; politics", "art, music"])
    ';'
    >>> label_separator(["real estate", "sport"]) is None
    True
    >>> label_separator(["acq earn", "earn", "acq"])
    ' '
    """
    distinct = {cell.strip() for cell in cells if cell.strip()}
    for candidate in (";", "|", ","):
        if any(candidate in cell for cell in distinct):
            return candidate
    names = {name for cell in distinct for name in cell.split()}
    return " " if len(names) < len(distinct) else None


def split_cell(cell: str, separator: str | None) -> list[str]:
    """The labels of one cell, sorted, each once; a list in JSON or Python notation is read as one.

    >>> split_cell("b; a;b;", ";"), split_cell('["a, b"]', ","), split_cell("", ";")
    (['a', 'b'], ['a, b'], [])
    """
    cell = cell.strip()
    if cell.startswith("[") and cell.endswith("]"):
        names = _listed(cell)
        if names is not None:
            return sorted(set(names))
    if _ADDRESSES.match(cell):
        return sorted({address.strip("<>") for address in cell.split()})
    pieces = [cell] if separator is None else cell.split(None if separator == " " else separator)
    return sorted({piece.strip() for piece in pieces} - {""})


def _listed(cell: str) -> list[str] | None:
    for parse in (json.loads, ast.literal_eval):  # literal_eval reads literals only, it runs nothing
        try:
            values = parse(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(values, list) and all(isinstance(value, (str, int)) for value in values):
            return [str(value).strip() for value in values if str(value).strip()]
    return None


def label_sets_of_cells(
    cells: list[Any], table: Table, column: str, separator: str | None
) -> tuple[list[list[str]], set[int]]:
    """The label set of each cell that can be read as one, and the rows that cannot."""
    texts = [cell for cell in cells if isinstance(cell, str) and not cell.startswith(("[", "<"))]
    if separator is None:
        separator = " " if column.strip().lower() == "subject_uris" else label_separator(texts)
    sets: list[list[str]] = []
    bad: set[int] = set()
    for row, cell in enumerate(cells):
        names = _names(cell, separator)
        if isinstance(names, str):
            table.problems.report(
                names,
                path=table.path,
                line=table.lines[row],
                remedy=f"Give {column!r} as a list of strings, or as one string.",
            )
            bad.add(row)
        else:
            sets.append(names)
    return sets, bad


def _names(cell: Any, separator: str | None) -> list[str] | str:
    """The labels of a cell, or a sentence about why it holds none."""
    if cell is None:
        return []
    if isinstance(cell, str):
        return split_cell(cell, separator)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return [str(cell)]
    if not isinstance(cell, list):
        return f"The labels are {type(cell).__name__} {str(cell)[:40]!r}, not a list of strings."
    names: set[str] = set()
    for item in cell:
        value = (item.get("label") or item.get("uri")) if isinstance(item, dict) else item
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            return f"The label {str(item)[:40]!r} is not a string."
        names.add(str(value).strip())
    return sorted(names - {""})
