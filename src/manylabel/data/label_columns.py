"""Which columns of a table hold the labels, by name or content, and the labels in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from manylabel.data.label_cells import (
    YES,
    bad_cells,
    bad_marks,
    cell_kind,
    is_mark_column,
    joined_labels,
    mark_text,
    names_of_cell,
    separator_of,
)
from manylabel.data.layout import ANY_OF, ANY_SEPARATOR, NO_SEPARATOR, listed
from manylabel.data.table import ColumnOptions, Table, columns_of_training
from manylabel.exceptions import DataError
from manylabel.progress import remark
from manylabel.wording import counted, setting_name, settings_text

LABELS = (
    "labels", "label", "subjects", "subject_uris", "subject_labels", "topics", "tags", "categories", "classes",
    "category", "topic", "class", "tag",
    "schlagwörter", "schlagworte", "schlagwort", "kategorien", "kategorie", "themen", "thema",
    "étiquettes", "étiquette", "catégories", "catégorie", "thèmes", "thème",
    "etiquetas", "etiqueta", "categorías", "categoría", "temas", "tema",
    "asiasanat", "aiheet", "luokat", "luokka",
    "trefwoorden", "trefwoord", "categorieën", "categorie",
)  # fmt: skip
"""Usual names for labels: English, then German, French, Spanish, Finnish and Dutch."""
FAMILIES = {
    "label": "labels", "subject_uris": "subjects", "subject_labels": "subjects", "category": "categories",
    "topic": "topics", "class": "classes", "tag": "tags", "schlagworte": "schlagwörter", "schlagwort": "schlagwörter",
    "kategorie": "kategorien", "thema": "themen", "étiquette": "étiquettes", "catégorie": "catégories",
    "thème": "thèmes", "etiqueta": "etiquetas", "categoría": "categorías", "tema": "temas", "luokka": "luokat",
    "trefwoord": "trefwoorden", "categorie": "categorieën",
}  # fmt: skip
"""Names for labels of which the first that occurs is meant; columns of two families are ambiguous."""
NUMBERED = re.compile(r"([^\W\d]+?)[ _-]?\d+")


@dataclass(frozen=True, slots=True)
class LabelColumns:
    """The label sets of a table (None without labels), the columns they came from, and why."""

    sets: list[list[str]] | None
    columns: tuple[str, ...]
    marks: tuple[str, ...] = ()
    separator: str | None = None
    cells: str = "names"
    """What the cells hold: names, lists, or addresses in angle brackets."""
    reason: str = ""
    separator_reason: str = ""


def read_label_columns(table: Table, options: ColumnOptions, taken: set[str | None]) -> tuple[Table, LabelColumns]:
    """The table without the rows whose labels cannot be read, and the labels of the others."""
    chosen, reason = _trained_label_columns(table, options, taken), ""
    like = options.like if chosen else None
    if not chosen:
        chosen, reason = _label_columns(table, options, taken)
    if not chosen:
        return table, LabelColumns(None, (), reason=reason)
    found_marks = [name for name in chosen if len(chosen) > 1 and is_mark_column(table.columns[name])]
    if like is not None:
        trained = set(like.marks)
        found_marks = [name for name in chosen if name in trained]
    elif options.label_column is None and len(found_marks) < len(chosen):
        found_marks = []
    marks = dict.fromkeys(found_marks)
    named = [name for name in chosen if name not in marks]
    bad: set[int] = set()
    for name in chosen:
        bad |= bad_marks(table, name) if name in marks else bad_cells(table, name)
    table = table.without(bad) if bad else table
    if like is None and options.like is not None and not options.like.texts:
        like = options.like  # a table without a header, whose columns are known by their place
    given = options.label_separator or (None if like is None else like.separator)
    separator, why = separator_of(table, named, given) if named else (None, "")
    sets: list[set[str]] = [set() for _ in table.lines]
    for name in chosen:
        for names, cell in zip(sets, table.columns[name], strict=True):
            if name in marks:
                names.update([name.strip()] if mark_text(cell) in YES else [])
            else:
                names.update(names_of_cell(cell, separator))
    found = [sorted(names) for names in sets]
    if options.label_separator not in (None, NO_SEPARATOR, ANY_SEPARATOR) and named:
        _report_unused_separator(table, named, options.label_separator)
    if like is None:
        _report_joined(table, found)
    kind = cell_kind(table, named)
    return table, LabelColumns(found, tuple(chosen), tuple(marks), separator, kind, reason, why)


def _report_unused_separator(table: Table, columns: Sequence[str], separator: str) -> None:
    """Report a given separator that no label cell holds, such as several signs at once."""
    if not any(isinstance(cell, str) and separator in cell for name in columns for cell in table.columns[name]):
        remark(f"{table.path}: No label cell holds the separator {separator!r}, so every cell is one label.")


def _report_joined(table: Table, sets: Sequence[Sequence[str]]) -> None:
    """Report the labels that seem to be several, which another sign separates than in most cells, with their lines."""
    line_of: dict[str, int] = {}
    for names, line in zip(sets, table.lines, strict=True):
        for name in names:
            line_of.setdefault(name, line)
    if joined := joined_labels(set(line_of)):
        look = counted(len(joined), "label looks", "labels look")
        first = sorted(joined, key=lambda name: line_of[name])
        shown = ", ".join(f"{name!r} (line {line_of[name]:,})" for name in first[:3])
        more = f" and {len(first) - 3:,} more" if len(first) > 3 else ""
        remark(
            f"{table.path}: {look} like several in one: {shown}{more}. Correct these cells, or use "
            f"{settings_text(label_separator=ANY_SEPARATOR)} to split at {ANY_OF}."
        )


def named_label_columns(table: Table, options: ColumnOptions) -> frozenset[str]:
    """The columns that an option or the training names as labels, patterns left out: none of them holds texts."""
    given = options.label_column
    if given is None:
        given = () if options.like is None else options.like.labels
    wanted = [given] if isinstance(given, str) else list(given)
    lists = [[name] if name in table.columns else [piece.strip() for piece in name.split(",")] for name in wanted]
    return frozenset(name for names in lists for name in names) & set(table.columns)


def _trained_label_columns(table: Table, options: ColumnOptions, taken: set[str | None]) -> list[str]:
    """The columns of labels that a model was trained on; empty without a model, or where they are chosen anew."""
    like = options.like
    if like is None or not like.labels or not options.labels or options.label_column is not None:
        return []
    if like.gave("label_column"):
        given = like.given["label_column"]
        wanted = [given] if isinstance(given, str) else list(given)
        because = ", from which labels were read in training"
        return list(dict.fromkeys(name for one in wanted for name in _matching(table, one, taken, because)))
    found = columns_of_training(table, like.labels, False, "label_column")
    numbered = [names for names in _label_families(table, set()).values() if set(names) > set(found.values())]
    return numbered[0] if numbered and found else list(found.values())


def _label_columns(table: Table, options: ColumnOptions, taken: set[str | None]) -> tuple[list[str], str]:
    """The columns of labels, given or found by name or content, and the reason in one sentence."""
    if not options.labels:
        return [], ""
    if options.label_column is not None:
        given = options.label_column
        wanted = [given] if isinstance(given, str) else list(given)
        return list(dict.fromkeys(name for one in wanted for name in _matching(table, one, taken))), ""
    families = _label_families(table, taken)
    if len(families) > 1 and LABELS[0] not in families:
        columns = [name for names in families.values() for name in names]
        both = settings_text(label_column=tuple(columns))
        raise DataError(
            f"Several columns may hold the labels: {', '.join(map(repr, columns))}.",
            path=table.path,
            remedy=f"Give one of them with {setting_name('label_column')}, or several to join them: {both}.",
        )
    if families:
        first = next(iter(families.values()))
        if len(first) > 1:
            return first, "They are numbered, so they are joined."
        return first, f"{first[0]!r} is a usual name for labels."
    marked = [
        name for name, values in table.columns.items() if name not in taken and is_mark_column(values, strict=True)
    ]
    if len(marked) > 1:
        return marked, "They hold only 0 and 1, so each is a label."
    return [], _without_labels(table, taken)


def _without_labels(table: Table, taken: set[str | None]) -> str:
    """The reason why no column holds the labels, with the columns whose few values repeat, as labels do."""
    repeated = []
    for name, cells in table.columns.items():
        values = [str(cell).strip() for cell in cells if cell not in (None, "")]
        if name not in taken and 2 <= len(set(values)) <= len(values) / 3:
            repeated.append(name)
    hint = f" Values repeat, as labels do, in {listed(repeated)}." if repeated else ""
    return f"No column has a usual name for labels.{hint}"


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


def _matching(table: Table, wanted: str, taken: set[str | None], because: str = "") -> list[str]:
    """The columns that a name, a pattern such as ``label_*``, or a list with commas stands for.

    A pattern leaves out the columns of texts, ids and splits (`taken`).
    """
    if wanted in table.columns:
        return [wanted]
    free = [name for name in table.columns if name not in taken]
    if set("*?[") & set(wanted) and (found := [name for name in free if fnmatchcase(name, wanted)]):
        return found
    pieces = [piece.strip() for piece in wanted.split(",")]
    if len(pieces) > 1 and all(piece in table.columns for piece in pieces):
        return pieces
    raise table.missing(f"There is no column {wanted!r}{because}", settings_text(label_column="NAME"), wanted)
