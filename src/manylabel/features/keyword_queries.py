"""Boolean queries over words: what a keyword rule says, as a tree that can be printed and asked.

query   word | prefix | phrase | NOT query | query AND query … | query OR query …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

OPERATORS = ("AND", "OR", "NOT")
SPECIAL = '\\()"*'
"""Signs that mean something in a query; a backslash before one makes it a letter like others."""


@dataclass(frozen=True, slots=True)
class Word:
    """The word occurs."""

    text: str

    def __str__(self) -> str:
        return f'"{escaped(self.text)}"' if self.text.upper() in OPERATORS else escaped(self.text)


@dataclass(frozen=True, slots=True)
class Prefix:
    """A word with this beginning occurs."""

    text: str

    def __str__(self) -> str:
        return escaped(self.text) + "*"


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words (or words with these beginnings) follow one another; at least two."""

    words: tuple[Word | Prefix, ...]

    def __str__(self) -> str:
        return '"' + " ".join(escaped(word.text) + "*" * isinstance(word, Prefix) for word in self.words) + '"'


@dataclass(frozen=True, slots=True)
class Not:
    """The query does not hold."""

    part: Query

    def __str__(self) -> str:
        return f"NOT {_nested(self.part, And, Or)}"


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold; at least two."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " AND ".join(_nested(part, And, Or) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """Any part holds; at least two."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " OR ".join(_nested(part, Or) for part in self.parts)


Atom = Word | Prefix | Phrase
Query = Atom | Not | And | Or


def escaped(text: str) -> str:
    r"""The text with a backslash before each sign that means something in a query.

    >>> print(escaped("f(x)*"))
    f\(x\)\*
    """
    return "".join(f"\\{sign}" if sign in SPECIAL else sign for sign in text)


def _nested(query: Query, *looser: type) -> str:
    return f"({query})" if isinstance(query, looser) else str(query)


def atoms(query: Query) -> Iterator[Atom]:
    """The words, prefixes and phrases of a query, from left to right."""
    for atom, _ in signed_atoms(query):
        yield atom


def signed_atoms(query: Query, sign: bool = True) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a query, each with whether it speaks for it (an even number of NOTs stands before it)."""
    if isinstance(query, Not):
        yield from signed_atoms(query.part, not sign)
    elif isinstance(query, (And, Or)):
        for part in query.parts:
            yield from signed_atoms(part, sign)
    else:
        yield query, sign


def holds(query: Query, occurs: Callable[[Atom], Bools]) -> Bools:
    """For which documents a query holds, given for which each atom occurs.

    >>> table = {Word("a"): np.array([True, True, False]), Word("b"): np.array([False, True, False])}
    >>> holds(And((Word("a"), Not(Word("b")))), table.__getitem__).tolist()
    [True, False, False]
    """
    if isinstance(query, Not):
        return ~holds(query.part, occurs)
    if isinstance(query, And):
        return np.asarray(np.logical_and.reduce([holds(part, occurs) for part in query.parts]))
    if isinstance(query, Or):
        return np.asarray(np.logical_or.reduce([holds(part, occurs) for part in query.parts]))
    return occurs(query)
