"""How a table was read: which column became what, and the sentences that report it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
NO_SEPARATOR = "none"
"""The value of ``--label-separator`` for which every cell is one label."""
ANY_SEPARATOR = "any"
"""The separator of a table whose label cells hold several: labels are split at every sign of `JOINING`."""
JOINING = (";", "|", ",", " / ")
"""Signs that people write between labels; a slash without blanks may be a path of a hierarchy."""
ANY_OF = "; | , and / between blanks"
"""The signs of `JOINING` in a sentence."""


def separator_text(separator: str) -> str:
    """A separator of labels as a sentence names it.

    >>> separator_text(";"), separator_text(" "), separator_text("any")
    ("';'", 'blanks', '; | , and / between blanks')
    """
    return {" ": "blanks", ANY_SEPARATOR: ANY_OF}.get(separator, repr(separator))


def listed(names: Sequence[str], most: int = 6) -> str:
    """Column names in quotation marks, up to `most` of them.

    >>> listed(["a", "b"]), listed(["a", "b", "c"], most=2)
    ("'a', 'b'", "'a', 'b' and 1 more")
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a table that became texts, labels, ids and splits, and how label cells were divided."""

    text: str
    sides: tuple[str, ...] = ()
    """Columns that are further fields of a document, such as its title."""
    labels: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """Those label columns whose name is the label and whose cells are marks such as 0 and 1."""
    separator: str | None = None
    """What divides the labels of a cell; None if every cell is one label, or a list."""
    cells: str = "names"
    """What the cells of labels hold: names, lists, or addresses in angle brackets."""
    identity: str | None = None
    split: str | None = None
    unused: tuple[str, ...] = ()
    delimiter: str | None = None
    """What separates the cells of a line; None in formats without a delimiter."""
    header: bool = True
    fields: tuple[str, ...] = ()
    """The names of the fields that `sides` and `text` became."""
    positions: Mapping[str, int] = field(default_factory=dict)
    """The place of each column, from 1, in a table without a header whose columns have no names."""
    as_trained: bool = False
    """Whether the columns of texts are those that a model was trained on."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the columns of texts and labels were chosen, and none of ids: keys ``text``, ``labels``, ``separator`` and
    ``ids``."""

    def summary(self) -> str:
        """The choice of columns in one phrase.

        >>> Layout("body", ("title",), ("tags",), separator=";", delimiter=",").summary()
        "cells separated by commas; text from 'title', 'body'; labels from 'tags', separated by ';'"
        """
        parts = []
        if self.delimiter is not None:
            parts.append(f"cells separated by {DELIMITERS.get(self.delimiter, repr(self.delimiter))}")
        if not self.header:
            parts.append("no header")
        as_trained = ", as in training" if self.as_trained else ""
        parts.append(f"text from {self.shown([*self.sides, self.text])}{as_trained}")
        parts.append(self._labels())
        if self.identity is not None:
            parts.append(f"ids from {self.shown([self.identity])}")
        if self.split is not None:
            parts.append(f"splits from {self.split!r}")
        return "; ".join(parts)

    def shown(self, columns: Sequence[str]) -> str:
        """Columns by name, or by their place where they have no names."""
        if not self.positions:
            return listed(columns)
        return " and ".join(f"column {self.positions[name]}" for name in columns)

    def _labels(self) -> str:
        if not self.labels:
            return "no labels read"
        if len(self.marks) == len(self.labels):
            return f"labels marked in {self.shown(self.labels)}"
        phrase = f"labels from {self.shown(self.labels)}"
        if self.marks:
            phrase += f" (marks in {listed(self.marks)})"
        if self.separator is None:
            return f"{phrase}, {'one per cell' if self.cells == 'names' else self.cells}"
        return f"{phrase}, separated by {separator_text(self.separator)}"
