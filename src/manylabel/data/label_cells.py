"""Label sets written as one cell: lists, or names with something between them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manylabel.data.columns import Table

_ADDRESSES = re.compile(r"<[^<>\s]*>(\s+<[^<>\s]*>)*$")


def label_separator(cells: Iterable[str]) -> str | None:
    """What separates the labels of a cell: the first of ``;`` ``|`` ``,`` that occurs in any cell.

    It is a blank if none does and splitting there leaves fewer distinct names than there are distinct
    cells, so that "real estate" stays one label while "acq earn", "earn", "acq" become two. None: each cell
    is one label.

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
    """The labels of a cell, or a sentence saying why it holds none."""
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
