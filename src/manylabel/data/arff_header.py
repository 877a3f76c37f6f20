"""The header of an ARFF file, and which of its attributes are labels."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from manylabel.data.hierarchy import Hierarchy
from manylabel.data.split_names import SPLIT_NAMES
from manylabel.data.textfile import Lines, read_bytes
from manylabel.exceptions import DataError

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|\S+?)\s*(\{{.*\}}|\s[a-z]+(?:\s.*)?)\s*$", re.IGNORECASE)
_VALUE = re.compile(rf"\s*({QUOTED}|[^,]*?)\s*(?:,|$)")
_MEKA = re.compile(r"-C\s+(-?\d+)")
_PART_ENDING = re.compile(rf"[-_.]({'|'.join(SPLIT_NAMES)})$", re.IGNORECASE)
_WORDS = {"yes": 1.0, "true": 1.0, "y": 1.0, "t": 1.0, "no": 0.0, "false": 0.0, "n": 0.0, "f": 0.0}


@dataclass(frozen=True)
class Attribute:
    """One column: numbers, one of some values, or a string."""

    name: str
    kind: Literal["numeric", "nominal", "string"]
    values: tuple[str, ...] = ()

    @cached_property
    def codes(self) -> dict[str, float] | None:
        """The number each value stands for; None when the values are mere names."""
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
        if match is None:
            break
        values.append(unquote(match[1]))
        position = match.end() if match[0].endswith(",") else len(text) + 1
    return values


def read_header(path: Path, lines: Lines, reader: Iterator[str]) -> Header:
    """Read up to and with ``@data``."""
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
        elif keyword.startswith("@data"):
            return _checked(path, relation, attributes)
        else:
            raise DataError(
                f"{line[:40]!r} is no line of an ARFF header.",
                path=path,
                line=lines.number,
                remedy="Before @data only @relation, @attribute and % comments are allowed.",
            )
    raise DataError("There is no @data line.", path=path, remedy="Copy the whole ARFF file again.")


def _attribute(path: Path, number: int, line: str) -> Attribute:
    match = _ATTRIBUTE.match(line)
    kind = match[2].strip() if match else ""
    word = kind.split()[0].lower() if kind else ""
    if match and kind.startswith("{"):
        return Attribute(unquote(match[1]), "nominal", tuple(split_values(kind[1:-1])))
    if match and word in ("numeric", "real", "integer"):
        return Attribute(unquote(match[1]), "numeric")
    if match and word == "string":
        return Attribute(unquote(match[1]), "string")
    raise DataError(
        f"{line[:60]!r} declares no attribute that is understood.",
        path=path,
        line=number,
        remedy="Write @attribute NAME followed by numeric, real, integer, string or {value,value}.",
    )


def _checked(path: Path, relation: str, attributes: list[Attribute]) -> Header:
    if not attributes:
        raise DataError("The header declares no attribute.", path=path, remedy="Copy the whole ARFF file again.")
    return Header(relation, attributes)


def find_label_file(path: Path) -> Path | None:
    """The label XML beside an ARFF file: ``enron.xml`` for ``enron-train.arff``."""
    stem = path.name.removesuffix(".gz").removesuffix(".arff").removesuffix(".ARFF")
    for name in (stem, _PART_ENDING.sub("", stem)):
        if (beside := path.with_name(f"{name}.xml")).is_file():
            return beside
    return None


def read_label_file(path: Path) -> tuple[list[str], Hierarchy | None]:
    """The labels of Mulan's XML file in their order; labels inside labels make a hierarchy."""
    try:
        root = ElementTree.fromstring(read_bytes(path))
    except ElementTree.ParseError as error:
        raise DataError(f"The file is not XML ({error}).", path=path, remedy="Copy the label file again.") from None
    names: list[str] = []
    parents: dict[str, str] = {}

    def walk(element: ElementTree.Element, parent: str | None) -> None:
        for child in element:
            name = child.get("name")
            if child.tag.rpartition("}")[2] != "label" or name is None:
                continue
            names.append(name)
            if parent is not None:
                parents[name] = parent
            walk(child, name)

    walk(root, None)
    if not names:
        raise DataError("The file names no label.", path=path, remedy="Give Mulan's file of <label name=…> elements.")
    return names, Hierarchy(parents) if parents else None


def meka_label_columns(relation: str, width: int) -> list[int] | None:
    """The columns MEKA's ``-C n`` in the relation names: the first n, or the last -n if n is negative.

    >>> meka_label_columns("mail: -C 2", 5), meka_label_columns("mail: -C -2", 5)
    ([0, 1], [3, 4])
    """
    match = _MEKA.search(relation)
    if match is None or not 0 < abs(int(match[1])) < width:
        return None
    count = int(match[1])
    return list(range(count)) if count > 0 else list(range(width + count, width))


def class_column(attributes: list[Attribute]) -> int | None:
    """The one nominal class: the attribute named class, else the last one if its values are mere names."""
    for column, attribute in enumerate(attributes):
        if attribute.name.lower() == "class" and attribute.kind == "nominal":
            return column
    last = attributes[-1]
    named = last.kind == "nominal" and (last.codes is None or len(last.values) > 2)
    return len(attributes) - 1 if named else None
