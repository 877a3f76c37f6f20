"""Tables with named columns (CSV, JSON lines, Parquet, Excel) as a corpus: which column is what."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from manylabel.data.corpus import Corpus, split_name
from manylabel.data.label_cells import (
    YES,
    bad_cells,
    bad_marks,
    is_mark_column,
    mark_text,
    names_of_cell,
    separator_of,
)
from manylabel.data.layout import Layout, listed
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
    "tag",
)
FAMILIES = {
    "label": "labels", "subject_uris": "subjects", "subject_labels": "subjects", "category": "categories",
    "topic": "topics", "class": "classes", "tag": "tags",
}  # fmt: skip
"""Names for labels of which the first that occurs is meant; columns of two families are ambiguous."""
NUMBERED = re.compile(r"([a-z_]+?)[ _-]?\d+")
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
    label_column: str | Sequence[str] | None = None
    label_separator: str | None = None
    id_column: str | None = None
    split_column: str | None = None
    labels: bool = True
    """Whether to look for labels; if not, columns of labels are metadata."""


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


def corpus_of_table(
    table: Table, options: ColumnOptions, *, delimiter: str | None = None, header: bool = True
) -> Corpus:
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
    table, labels = _labels(table, options, {text, split, identity, *sides})
    if labels.sets is not None and len(table.lines) != len(next(iter(fields.values()))):
        fields = _fields(table, text, sides)
    kept = {*fields, text, split, identity, *labels.columns}
    unused = [name for name in table.columns if name not in kept]
    reasons = {"labels": labels.reason, "separator": labels.separator_reason}
    if options.text_column is None:
        reasons["text"] = _text_reason(table, text)
    layout = Layout(
        text,
        sides=tuple(name for name in sides if name in fields),
        labels=labels.columns,
        marks=labels.marks,
        separator=labels.separator,
        identity=identity,
        split=split,
        unused=tuple(unused),
        delimiter=delimiter,
        header=header,
        reasons={key: reason for key, reason in reasons.items() if reason},
    )
    return Corpus(
        ids=_ids(table, identity),
        fields=fields,
        labels=labels.sets,
        split_names=None if split is None else [split_name(value) for value in table.columns[split]],
        metadata={name: table.columns[name] for name in unused},
        layout=layout,
        name=table.path.name.split(".")[0],
        source=str(table.path),
    )


def _text_reason(table: Table, text: str) -> str:
    others = [name for name in table.columns if name != text and name.strip().lower() in TEXTS]
    also = f" {listed(others)} could be the text too: use --text-column to choose." if others else ""
    return f"Column {text!r} has a usual name for texts.{also}"


def _only_texts(table: Table, text: str) -> Table:
    """Leave out, after reporting them, the rows whose text is not a string."""
    bad: set[int] = set()
    if table.problems.keep_blank:
        texts = ["" if value is None else value for value in table.columns[text]]
        table = replace(table, columns={**table.columns, text: texts})
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


def _labels(table: Table, options: ColumnOptions, taken: set[str | None]) -> tuple[Table, _Labels]:
    """The table without the rows whose labels cannot be read, and the labels of the others."""
    chosen, reason = _label_columns(table, options, taken)
    if not chosen:
        return table, _Labels(None, (), reason=reason)
    marks = [name for name in chosen if len(chosen) > 1 and is_mark_column(table.columns[name])]
    if options.label_column is None and len(marks) < len(chosen):
        marks = []
    named = [name for name in chosen if name not in marks]
    bad: set[int] = set()
    for name in chosen:
        bad |= bad_marks(table, name) if name in marks else bad_cells(table, name)
    table = table.without(bad) if bad else table
    separator, why = separator_of(table, named, options.label_separator) if named else (None, "")
    sets: list[set[str]] = [set() for _ in table.lines]
    for name in chosen:
        for names, cell in zip(sets, table.columns[name], strict=True):
            if name in marks:
                names.update([name.strip()] if mark_text(cell) in YES else [])
            else:
                names.update(names_of_cell(cell, separator))
    return table, _Labels([sorted(names) for names in sets], tuple(chosen), tuple(marks), separator, reason, why)


@dataclass(frozen=True, slots=True)
class _Labels:
    """The label sets of a table (None without labels), the columns they came from, and why."""

    sets: list[list[str]] | None
    columns: tuple[str, ...]
    marks: tuple[str, ...] = ()
    separator: str | None = None
    reason: str = ""
    separator_reason: str = ""


def _label_columns(table: Table, options: ColumnOptions, taken: set[str | None]) -> tuple[list[str], str]:
    """The columns of labels, given or found by name or content, and the reason in one sentence."""
    if not options.labels:
        return [], ""
    if options.label_column is not None:
        given = options.label_column
        wanted = [given] if isinstance(given, str) else list(given)
        return list(dict.fromkeys(name for one in wanted for name in _matching(table, one))), ""
    families = _label_families(table, taken)
    if len(families) > 1 and LABELS[0] not in families:
        columns = [name for names in families.values() for name in names]
        both = " ".join(f"--label-column {shlex.quote(name)}" for name in columns)
        raise DataError(
            f"Several columns may hold the labels: {', '.join(map(repr, columns))}.",
            path=table.path,
            remedy=f"Give one of them with --label-column, or several to join them: {both}.",
        )
    if families:
        first = next(iter(families.values()))
        if len(first) > 1:
            return first, f"Columns {listed(first)} are numbered columns of labels, which are joined."
        return first, f"Column {first[0]!r} has a usual name for labels."
    marked = [
        name for name, values in table.columns.items() if name not in taken and is_mark_column(values, strict=True)
    ]
    if len(marked) > 1:
        return marked, f"Columns {listed(marked)} hold only 0 and 1, so each is a label."
    return [], ""


def _label_families(table: Table, taken: set[str | None]) -> dict[str, list[str]]:
    """The columns with a usual name for labels, by what they are called: ``labels`` first, ``tag_1`` with ``tag_2``."""
    free = {name.strip().lower(): name for name in reversed(list(table.columns)) if name not in taken}
    families: dict[str, list[str]] = {}
    for usual in LABELS:
        if usual in free:
            families.setdefault(FAMILIES.get(usual, usual), [free[usual]])
    for name in table.columns:
        match = NUMBERED.fullmatch(name.strip().lower())
        if match and name not in taken and match[1] in LABELS:
            families.setdefault(f"{match[1]} 1, 2, …", []).append(name)
    return families


def _matching(table: Table, wanted: str) -> list[str]:
    """The columns that a name, a pattern such as ``tag_*``, or a list with commas stands for."""
    if wanted in table.columns:
        return [wanted]
    if set("*?[") & set(wanted) and (found := [name for name in table.columns if fnmatchcase(name, wanted)]):
        return found
    pieces = [piece.strip() for piece in wanted.split(",")]
    if len(pieces) > 1 and all(piece in table.columns for piece in pieces):
        return pieces
    raise table.missing(f"There is no column {wanted!r}", "--label-column NAME")


def _ids(table: Table, identity: str | None) -> list[str]:
    if identity is None:
        return [str(line) for line in table.lines]
    values = table.columns[identity]
    return [str(line) if value in (None, "") else str(value) for value, line in zip(values, table.lines, strict=True)]
