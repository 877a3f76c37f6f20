"""How the documents of a model were read from a file, so that later documents are read in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike, fspath
from typing import Any

from manylabel.data.layout import NO_SEPARATOR, Layout, separator_text

COLUMN_OPTIONS = frozenset(
    {"text_column", "title_column", "label_column", "label_separator", "labels", "id_column", "split_column"}
)
"""Options that name columns: they apply to every format with columns, other options to the same format alone."""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """The format, options and columns with which the documents of a model were read.

    >>> layout = Layout("body", ("title",), ("tags",), fields=("title", "body"), separator=";")
    >>> options = ReadingOptions.of("csv", ".csv", {"text_column": "body"}, layout)
    >>> options.texts, options.labels, options.gave("text_column"), options.gave("label_column")
    (('title', 'body'), ('tags',), True, False)
    >>> ReadingOptions.from_dict(options.as_dict()) == options
    True
    """

    format: str
    suffix: str
    """The end of the file's name, such as ``.csv``."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """The options that the user gave, ``format`` included; all others were chosen by the content of the file."""
    texts: tuple[str, ...] = ()
    """The columns of texts, the main text last; empty for formats without named columns."""
    fields: tuple[str, ...] = ()
    """The name of the field that each column of texts became."""
    labels: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    separator: str | None = None
    """What separates the labels of a cell, ``none`` for one label per cell; None where no cell showed it."""
    identity: str | None = None
    """The column of ids, which models of earlier versions do not know."""

    @classmethod
    def of(cls, format: str, suffix: str, given: Mapping[str, Any], layout: Layout | None) -> ReadingOptions:
        """The options of a file that was read; `layout` is None for formats without columns."""
        plain = {name: _plain(value) for name, value in given.items() if value is not None}
        if layout is None:
            return cls(format, suffix, plain)
        separator = plain.get("label_separator", layout.separator)
        if layout.positions:  # its columns have no names, and the user gave none by number
            return cls(format, suffix, plain, separator=separator)
        return cls(
            format,
            suffix,
            plain,
            texts=(*layout.sides, layout.text),
            fields=layout.fields,
            labels=layout.labels,
            marks=layout.marks,
            separator=separator if layout.labels else None,
            identity=layout.identity,
        )

    def gave(self, option: str) -> bool:
        """Whether the user gave the option; if not, the reader chose its value."""
        return option in self.given

    def also(self, **given: bool) -> ReadingOptions:
        """The same options with others that were given."""
        return replace(self, given={**self.given, **given})

    def format_of(self, suffix: str) -> str | None:
        """The format that the user gave, for files with the same suffix; None otherwise."""
        return str(self.given["format"]) if "format" in self.given and suffix == self.suffix else None

    def options_of(self, format: str, known: Sequence[str]) -> dict[str, Any]:
        """The given options that also apply to a file of some format, whose reader has the options `known`."""
        return {
            name: value
            for name, value in self.given.items()
            if name in known and name not in COLUMN_OPTIONS and (format == self.format or name == "encoding")
        }

    def as_dict(self) -> dict[str, Any]:
        """The options as plain data, for a model file."""
        plain = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}

    @classmethod
    def from_dict(cls, plain: Any) -> ReadingOptions:
        """The options that `as_dict` returned; ValueError for anything else."""
        if not isinstance(plain, Mapping) or {*plain, "identity"} != set(cls.__dataclass_fields__):
            raise ValueError("other fields than this version knows")
        lists = {name: plain[name] for name in ("texts", "fields", "labels", "marks")}
        for name, value in lists.items():
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise ValueError(f"{name!r} is not a list of strings")
        identity = plain.get("identity")
        for name, value in {
            **{key: plain[key] for key in ("format", "suffix", "separator")},
            "identity": identity,
        }.items():
            if not isinstance(value, str) and (name in ("format", "suffix") or value is not None):
                raise ValueError(f"{name!r} is not a string")
        if not isinstance(plain["given"], Mapping) or not all(map(_is_plain, plain["given"].values())):
            raise ValueError("'given' does not map options to plain values")
        if len(plain["texts"]) != len(plain["fields"]):
            raise ValueError("'texts' and 'fields' have different lengths")
        columns = {name: tuple(value) for name, value in lists.items()}
        return cls(
            plain["format"],
            plain["suffix"],
            dict(plain["given"]),
            separator=plain["separator"],
            identity=identity,
            **columns,
        )

    def summary(self) -> str:
        """A sentence on how the documents of the model were read."""
        phrases = [f"Read as {self.format}"]
        if self.texts:
            phrases.append(f"text from {', '.join(map(repr, self.texts))}")
        if self.labels:
            divided = (
                "" if self.separator in (None, NO_SEPARATOR) else f", separated by {separator_text(self.separator)}"
            )
            phrases.append(f"labels from {', '.join(map(repr, self.labels))}{divided}")
        others = [f"{name} = {value!r}" for name, value in self.given.items() if name not in COLUMN_OPTIONS]
        return "; ".join([*phrases, *others]) + "; new data are read in the same way."


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, bool, int, float)) or (
        isinstance(value, list) and all(isinstance(one, (str, bool, int, float)) for one in value)
    )


def _plain(value: Any) -> Any:
    """An option as plain data: paths as strings, tuples as lists."""
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value if _is_plain(value) else str(value)
