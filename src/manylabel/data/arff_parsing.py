"""The header and the rows of an ARFF file: attributes, and one sparse matrix of their values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from manylabel.data.limits import Limits
from manylabel.data.problems import Problems
from manylabel.data.sparse_lines import SparseRows
from manylabel.data.textfile import Lines
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.wording import counted

_QUOTED = r"'[^'\\]*+(?:\\.[^'\\]*+)*+'|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
_NAME = re.compile(rf"\s*+({_QUOTED}|[^\s{{]++)")
_VALUE = re.compile(rf"\s*+({_QUOTED}|[^,]*+)\s*+")
_PAIR = re.compile(rf"\s*+([0-9]{{1,15}})\s++({_QUOTED}|[^\s,][^,]*+)\s*+(?:,|$)")
_WORDS = {"yes": 1.0, "true": 1.0, "y": 1.0, "t": 1.0, "no": 0.0, "false": 0.0, "n": 0.0, "f": 0.0}


@dataclass(frozen=True)
class Attribute:
    """One column: a number, one of several values, or a string."""

    name: str
    kind: Literal["numeric", "nominal", "string"]
    values: tuple[str, ...] = ()

    @cached_property
    def codes(self) -> dict[str, float] | None:
        """The number each value stands for; None if the values are names."""
        words = {value: _WORDS.get(value.lower()) for value in self.values}
        if len(words) == 2 and set(words.values()) == {0.0, 1.0}:
            return {value: float(code or 0) for value, code in words.items()}
        try:
            return {value: float(value) for value in self.values}
        except ValueError:
            return None


@dataclass(frozen=True)
class Header:
    """The relation's name and the attributes."""

    relation: str
    attributes: list[Attribute]


def unquote(word: str) -> str:
    r"""The word without its quotes and backslashes.

    >>> unquote(r"'it\'s'"), unquote("plain")
    ("it's", 'plain')
    """
    if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]:
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def split_values(text: str) -> list[str]:
    """The comma-separated values of a line, quotes taken off.

    >>> split_values("1, 'a, b',c")
    ['1', 'a, b', 'c']
    """
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values: list[str] = []
    position = 0
    while position <= len(text):
        match = _VALUE.match(text, position)
        end = text.find(",", match.end() if match else position)
        end = len(text) if end < 0 else end
        whole = match is not None and match.end() == end
        values.append(unquote(match[1].strip()) if match and whole else text[position:end].strip())
        position = end + 1
    return values


def read_header(path: Path, lines: Lines, reader: Iterator[str], limits: Limits) -> Header:
    """The header of an ARFF file; reads up to and including the ``@data`` line."""
    relation = ""
    attributes: list[Attribute] = []
    for line in reader:
        line = line.strip()
        keyword = line[:10].lower()
        if not line or line.startswith("%"):
            continue
        if keyword.startswith("@relation"):
            relation = unquote(line[9:].strip())
        elif keyword.startswith("@attribute"):
            attributes.append(_attribute(path, lines.number, line))
            limits.check("features", len(attributes), "or more attributes", path, line=lines.number)
        elif keyword.startswith("@data"):
            return _checked(path, relation, attributes)
        else:
            raise DataError(
                f"{line[:40]!r} is not a line of an ARFF header.",
                path=path,
                line=lines.number,
                remedy="Before @data only @relation, @attribute and % comments are allowed.",
            )
    raise DataError("The file has no @data line.", path=path, remedy="Copy the whole ARFF file again.")


def _attribute(path: Path, number: int, line: str) -> Attribute:
    match = _NAME.match(line, len("@attribute"))
    kind = line[match.end() :].strip() if match else ""
    word = kind.split(None, 1)[0].lower() if kind else ""
    if match and kind.startswith("{") and kind.endswith("}"):
        return Attribute(unquote(match[1]), "nominal", tuple(split_values(kind[1:-1])))
    if match and word in ("numeric", "real", "integer"):
        return Attribute(unquote(match[1]), "numeric")
    if match and word == "string":
        return Attribute(unquote(match[1]), "string")
    raise DataError(
        f"{line[:60]!r} is not a declaration of an attribute.",
        path=path,
        line=number,
        remedy="Write @attribute NAME followed by numeric, real, integer, string or {value,value}.",
    )


def _checked(path: Path, relation: str, attributes: list[Attribute]) -> Header:
    if not attributes:
        raise DataError("The header declares no attribute.", path=path, remedy="Copy the whole ARFF file again.")
    return Header(relation, attributes)


class _RowError(ValueError):
    """Why a row cannot be read."""


@dataclass(slots=True)
class Rows:
    """Every attribute but the strings as a matrix, the strings by column, and the line of each row."""

    matrix: Csr
    texts: dict[int, list[str]]
    lines: list[int] = field(default_factory=list)


class _Reader:
    """Turns lines into columns and values; string attributes go to `texts`."""

    def __init__(self, attributes: list[Attribute], single: int | None) -> None:
        self.attributes, self.single = attributes, single
        self.width = len(attributes)
        self.texts: dict[int, list[str]] = {c: [] for c, a in enumerate(attributes) if a.kind == "string"}
        self.codes = codes = [self._codes(column) for column in range(self.width)]
        # A sparse row leaves out 0 of a number but the first value of a nominal attribute.
        self.defaults = {c: code for c in range(self.width) if (code := self._first(c)) != 0.0}
        self.marks = np.array([code is not None for code in codes])
        simple = all(code is None or set(code) == {"0", "1"} for code in codes)
        self.quick = simple and single is None and not self.texts and not self.defaults

    def _codes(self, column: int) -> dict[str, float] | None:
        attribute = self.attributes[column]
        if column == self.single:
            return {value: float(index) for index, value in enumerate(attribute.values)}
        return attribute.codes if attribute.kind == "nominal" else None

    def _first(self, column: int) -> float:
        codes = self.codes[column]
        return codes[self.attributes[column].values[0]] if codes else 0.0

    def row(self, line: str) -> tuple[list[int], list[float]]:
        """Columns and values of one line."""
        if line.startswith("{"):
            return self._sparse(line)
        return self._dense(line)

    def _sparse(self, line: str) -> tuple[list[int], list[float]]:
        if not line.endswith("}"):
            raise _RowError("The row begins with { but does not end with }.")
        if self.quick:
            words = line[1:-1].replace(",", " ").split()
            try:
                columns, values = list(map(int, words[::2])), list(map(float, words[1::2]))
            except ValueError:
                columns, values = [], [np.nan]
            if len(columns) == len(values) and max(columns, default=0) < self.width:
                return columns, values
            # Something is wrong with the row: the slow way below reports what.
        cells: dict[int, str] = {}
        for pair in split_sparse(line[1:-1]):
            column = pair[0]
            if column in cells:
                raise _RowError(f"Attribute {column} is given twice.")
            if not 0 <= column < self.width:
                raise _RowError(f"There is no attribute {column}: they are numbered 0 to {self.width - 1}.")
            cells[column] = pair[1]
        values_by_column = {column: self._value(column, text) for column, text in cells.items()}
        for column, code in self.defaults.items():
            values_by_column.setdefault(column, code)
        self._keep_texts(cells)
        return list(values_by_column), list(values_by_column.values())

    def _dense(self, line: str) -> tuple[list[int], list[float]]:
        cells = split_values(line)
        if len(cells) != self.width:
            raise _RowError(f"The row has {counted(len(cells), 'value')} instead of {self.width}.")
        if self.quick:
            try:
                row = np.array(cells, dtype=np.float64)
            except ValueError:
                row = np.array([np.nan])
            if np.isfinite(row).all():
                filled = np.flatnonzero(row)
                return filled.tolist(), row[filled].tolist()
        values = [self._value(column, cell) for column, cell in enumerate(cells)]
        self._keep_texts(dict(enumerate(cells)))
        filled_columns = [column for column, value in enumerate(values) if value != 0.0]
        return filled_columns, [values[column] for column in filled_columns]

    def _keep_texts(self, cells: dict[int, str]) -> None:
        for column, texts in self.texts.items():
            texts.append(cells.get(column, ""))

    def _value(self, column: int, text: str) -> float:
        attribute, codes = self.attributes[column], self.codes[column]
        if text == "?":
            raise _RowError(f"The value of attribute {attribute.name!r} is missing (?).")
        if attribute.kind == "string":
            return 0.0
        if codes is not None:
            if text in codes:
                return codes[text]
            allowed = ", ".join(attribute.values[:8]) + (", …" if len(attribute.values) > 8 else "")
            raise _RowError(f"{text[:40]!r} is not a value of attribute {attribute.name!r}, which has {allowed}.")
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise _RowError(f"{text[:40]!r} is not a number (attribute {attribute.name!r}).")
        return value

    def check(self, columns: list[int], values: list[float]) -> None:
        """Raise an error for what the quick way has not checked."""
        if not columns:
            return
        if min(columns) < 0 or max(columns) >= self.width:
            wrong = next(column for column in columns if not 0 <= column < self.width)
            raise _RowError(f"There is no attribute {wrong}: they are numbered 0 to {self.width - 1}.")
        index, value = np.array(columns, dtype=np.int64), np.array(values, dtype=np.float64)
        if len(np.unique(index)) < len(index):
            raise _RowError("An attribute is given twice.")
        bad = (self.marks[index] & (value != 0) & (value != 1)) | ~np.isfinite(value)
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise _RowError(f"{value[first]:g} is not a value of attribute {self.attributes[index[first]].name!r}.")


def split_sparse(text: str) -> Iterator[tuple[int, str]]:
    """The pairs of a sparse row.

    >>> list(split_sparse("1 3, 4 'a, b'"))
    [(1, '3'), (4, 'a, b')]
    """
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _PAIR.match(text, position, end)
        if match is None:
            shown = text[position : position + 20].strip()
            raise _RowError(f"{shown!r} does not begin with an attribute's number and its value.")
        yield int(match[1]), unquote(match[2].strip())
        position = match.end()


def read_rows(
    path: Path,
    attributes: list[Attribute],
    single: int | None,
    lines: Lines,
    reader: Iterator[str],
    problems: Problems,
) -> Rows:
    """Every row below ``@data``; a bad one is reported with its line."""
    parser = _Reader(attributes, single)
    rows = SparseRows()
    numbers: list[int] = []
    for raw in reader:
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        problems.limits.check("documents", len(numbers) + 1, "or more rows", path)
        try:
            columns, values = parser.row(line)
            if parser.quick:
                parser.check(columns, values)
        except _RowError as error:
            problems.report(str(error), path=path, line=lines.number, remedy="Correct or remove the row.")
            continue
        rows.append(columns, values)
        numbers.append(lines.number)
    return Rows(rows.matrix(len(attributes)), parser.texts, numbers)
