"""How much a file may hold: limits that keep a small file from a stranger from taking all memory or time.

Every limit has a name and a default that real corpora do not reach; ``--limit NAME=NUMBER`` or, in Python,
``load(…, limits={"NAME": NUMBER})`` raises it. docs/limits.md lists them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.parameters import Number, check_parameter
from manylabel.wording import is_worded_for

csv.field_size_limit(2**31 - 1)
"""Cells may have any length. The csv module has one limit for all readers of the process, and its default of 128 KiB is
too low for texts. It is set once, here: a limit that is changed for the time of a reading fails in other threads."""
FREE_BYTES = 1 << 22
"""What a file may always be unpacked to, however small it is."""


def raising(name: str, value: str = "NUMBER") -> str:
    """What to do where a limit is too low; a server has no setting for it."""
    if is_worded_for("request"):
        return "divide the data: the server does not raise this limit"
    given = f"--limit {name}={value}" if is_worded_for("command line") else f"limits={{{name!r}: {value}}}"
    return f"raise the limit: {given}"


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is read of each thing.

    >>> Limits().check("features", 10**9, "features", "a.svm", line=1)
    Traceback (most recent call last):
    ...
    manylabel.exceptions.DataError: a.svm, line 1: There are 1,000,000,000 features, and at most 4,194,304 are read. \
If they are meant, raise the limit: limits={'features': NUMBER}.
    """

    documents: int = 50_000_000
    columns: int = 200_000
    """Columns of a table, and different keys of JSON objects."""
    empty_cells: int = 50_000_000
    """Cells of a table of JSON objects that lack the key of another object."""
    sheet_cells: int = 20_000_000
    """Cells of an Excel sheet, empty ones before the last filled one of a row included."""
    labels: int = 1 << 22
    features: int = 1 << 22
    """Columns of a matrix of counts."""
    line_bytes: int = 1 << 30
    nesting: int = 100
    """How deep lists, objects, tables and brackets may lie within one another."""
    levels: int = 100
    """Levels of a label hierarchy."""
    expansion: int = 100
    """How many times as large as the file its content may be when it is unpacked, beyond `FREE_BYTES`."""

    @classmethod
    def of(cls, given: Mapping[str, int] | None) -> Limits:
        """The defaults with some of them replaced."""
        names = [field.name for field in fields(cls)]
        for name, value in (given or {}).items():
            if name not in names:
                raise UnknownNameError("limit", name, names)
            check_parameter("limits", name, value, Number(low=1, whole=True))
        return cls(**(given or {}))

    @classmethod
    def parsed(cls, assignments: Iterable[str]) -> dict[str, int]:
        """The limits in assignments such as ``features=10_000_000``.

        >>> Limits.parsed(["features=10_000_000"])
        {'features': 10000000}
        """
        found: dict[str, int] = {}
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            try:
                found[name.strip().replace("-", "_")] = int(value)
            except ValueError:
                raise ParameterError(f"A limit is written name=number, not {assignment!r}.") from None
        cls.of(found)
        return found

    def check(self, name: str, found: int, what: str, path: str | Path | None, *, line: int | None = None) -> None:
        """Raise `DataError` if there is more of something than the limit of that name allows."""
        most: int = getattr(self, name)
        if found > most:
            raise DataError(
                f"There are {found:,} {what}, and at most {most:,} are read.",
                path=path,
                line=line,
                remedy=f"If they are meant, {raising(name)}.",
            )

    def check_unpacked(self, unpacked: int, packed: int, path: str | Path) -> None:
        """Raise `DataError` if `packed` bytes of a file become too many bytes when they are unpacked."""
        if unpacked > max(FREE_BYTES, self.expansion * packed):
            raise DataError(
                f"{packed:,} bytes of the file are unpacked to more than {self.expansion} times as much.",
                path=path,
                remedy=f"If it is meant, unpack it first, or {raising('expansion', '1100')}.",
            )


LIMITS = Limits()
"""The defaults."""
