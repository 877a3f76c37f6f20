"""From a table with named columns (CSV, JSON lines, Parquet) to a corpus: which column is what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manylabel.data.corpus import Corpus
from manylabel.data.label_cells import label_sets_of_cells
from manylabel.data.problems import Problems
from manylabel.data.split_names import split_name
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
# Only these may stand beside the main text as fields; a stray `comment` or `message` stays metadata.
SIDE_FIELDS = ("title", "headline", "abstract", "body", "description", "summary")


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Which column is what; None means: by its name."""

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
        """The column an option names (an error if it is not there), else the first of the usual names."""
        if given is not None:
            if given not in self.columns:
                raise self.missing(f"There is no column {given!r}", option)
            return given
        by_name = {name.strip().lower(): name for name in reversed(list(self.columns))}
        return next((by_name[name] for name in usual if name in by_name), None)

    def missing(self, problem: str, option: str) -> DataError:
        """The error for a column that is not there: names those that are, and the option to use."""
        there = ", ".join(map(repr, self.columns)) or "none"
        return DataError(
            f"{problem}; the columns are {there}.",
            path=self.path,
            remedy=f"Name the right one (--{option.replace('_', '-')}).",
        )

    def without(self, rows: set[int]) -> Table:
        """The table without the given rows."""
        keep = [row for row in range(len(self.lines)) if row not in rows]
        columns = {name: [values[row] for row in keep] for name, values in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[row] for row in keep])


def corpus_of_table(table: Table, options: ColumnOptions) -> Corpus:
    """The corpus a table holds.

    The main text is the first of the usual names (``text``, ``body``, ``abstract``, …) that is there;
    ``title``, ``abstract`` and a few more stay fields of their own. A title that every text begins with
    anyway is metadata, so that its words are not counted twice. Columns that are nothing else become
    metadata.
    """
    if not table.lines:
        return Corpus(ids=[], source=str(table.path))  # `read` says why nothing is left
    text = table.find(options.text_column, TEXTS, "text_column")
    title = table.find(options.title_column, TITLES, "title_column")
    if text is None and title is not None:
        text, title = title, None
    if text is None:
        raise table.missing("There is no column of texts", "text_column")
    sides = [] if title is None else [title]
    if options.text_column is None:
        sides += [name for name in table.columns if name.strip().lower() in SIDE_FIELDS and name not in (text, title)]
    table = _only_texts(table, text)
    fields = _fields(table, text, sides)
    split = table.find(options.split_column, SPLITS, "split_column")
    identity = table.find(options.id_column, IDS, "id_column")
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
                remedy="Give it a text, or name the column of texts (--text-column).",
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
    """The label sets, and the columns they came from; None where the table has no labels."""
    wide = list(options.label_columns) if options.label_columns is not None else []
    for name in wide:
        table.find(name, (), "label_columns")
    column = None if wide else table.find(options.label_column, LABELS, "label_column")
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
                    f"Column {name!r} holds {value!r} where 0 or 1 is needed.",
                    path=table.path,
                    line=table.lines[row],
                    remedy="Correct the value, or leave the column out of --label-columns.",
                )
                bad.add(row)
    return bad


def _ids(table: Table, identity: str | None) -> list[str]:
    if identity is None:
        return [str(line) for line in table.lines]
    values = table.columns[identity]
    return [str(line) if value in (None, "") else str(value) for value, line in zip(values, table.lines, strict=True)]
