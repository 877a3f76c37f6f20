"""What the readers of RDF give: statements of subject, predicate and object, each with its line."""

from __future__ import annotations

from typing import NamedTuple


class Literal(NamedTuple):
    """A text and its language, empty where none is named."""

    text: str
    language: str = ""


class Triple(NamedTuple):
    """A statement. IRIs are plain strings, blank nodes begin with ``_:``."""

    line: int
    subject: str
    predicate: str
    object: str | Literal
