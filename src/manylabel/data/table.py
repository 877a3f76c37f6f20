"""Tables with named columns, and the options that name their columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from manylabel.data.layout import listed
from manylabel.data.problems import Problems
from manylabel.data.reading_options import ReadingOptions
from manylabel.exceptions import DataError
from manylabel.progress import remark
from manylabel.wording import settings_text


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Which column is what; None: found by its name. See `COLUMNS` in formats.py."""

    text_column: str | Sequence[str] | None = None
    """The column of texts, or several, the main one last; no other column is a text then, but the title if given."""
    title_column: str | None = None
    label_column: str | Sequence[str] | None = None
    label_separator: str | None = None
    id_column: str | None = None
    split_column: str | None = None
    labels: bool = True
    """Whether to look for labels; if not, columns of labels are metadata."""
    like: ReadingOptions | None = None
    """The columns that a model was trained on, which are read where no option is given."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, and the line in the file each row began on."""

    columns: Mapping[str, list[Any]]
    lines: list[int]
    path: Path
    problems: Problems = field(repr=False)

    def find(
        self, given: str | None, usual: Sequence[str], option: str, taken: frozenset[str] = frozenset()
    ) -> str | None:
        """The column given by an option (an error if missing), else the first of the usual names that is not taken."""
        if given is not None:
            if given not in self.columns:
                raise self.missing(f"There is no column {given!r}", settings_text(**{option: "NAME"}), given)
            return given
        by_name = {name.strip().lower(): name for name in reversed(list(self.columns)) if name not in taken}
        return next((by_name[name] for name in usual if name in by_name), None)

    def missing(self, problem: str, option: str, wanted: str = "") -> DataError:
        """The error for a missing column, with the columns there are, the one most like `wanted`, and the option."""
        found = listed(list(self.columns), most=20) or "none"
        by_name = {name.strip().lower(): name for name in self.columns}
        near = [name for name in by_name if wanted and name.startswith(wanted.strip().lower())]
        if wanted and not near:
            near = get_close_matches(wanted.strip().lower(), by_name, n=1)
        offer = f" Did you mean {by_name[near[0]]!r}?" if near else ""
        return DataError(f"{problem}. Found: {found}.{offer}", path=self.path, remedy=f"Use {option}.")

    def without(self, rows: set[int]) -> Table:
        """The table without the given rows."""
        keep = [row for row in range(len(self.lines)) if row not in rows]
        columns = {name: [values[row] for row in keep] for name, values in self.columns.items()}
        return replace(self, columns=columns, lines=[self.lines[row] for row in keep])


def check_names(path: Path, line: int | None, names: Sequence[str]) -> None:
    """Raise `DataError` for a header that names a column twice."""
    if len(set(names)) < len(names):
        twice = min(name for name, times in Counter(names).items() if times > 1)
        raise DataError(f"The header names column {twice!r} twice.", path=path, line=line, remedy="Rename one of them.")


def columns_of_training(
    table: Table, names: Sequence[str], given: bool, option: str, main: str | None = None
) -> dict[str, str]:
    """The columns of a table by the names that they had in training.

    A missing one is an error if the user named it in training (`given`). Otherwise the others are read, with a remark;
    none where all or the `main` one are missing, so that columns are chosen anew.
    """
    usual = {name.strip().lower(): name for name in reversed(list(table.columns))}
    same = {name: name if name in table.columns else usual.get(name.strip().lower()) for name in names}
    found = {name: column for name, column in same.items() if column is not None}
    missing = [name for name in names if name not in found]
    if not missing:
        return found
    absent = "There is no column" if len(missing) == 1 else "There are no columns"
    problem = f"{absent} {listed(missing)}, which {'was' if len(missing) == 1 else 'were'} read in training"
    if given:
        raise table.missing(problem, settings_text(**{option: "NAME"}))
    if main in missing or not found:
        found = {}
    others = list(found.values())
    only = f"only {listed(others)} {'is' if len(others) == 1 else 'are'} read"
    rest = only if found else "other columns are chosen by their names"
    remark(f"{table.path}: {problem}; {rest}. Use {settings_text(**{option: 'NAME'})} to name others.")
    return found
