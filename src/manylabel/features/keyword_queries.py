"""Boolean queries over words: their syntax, parsed into a tree that can be printed and evaluated.

alternatives   conjunction (OR conjunction)*
conjunction    negation ([AND] negation)*
negation       NOT negation | primary
primary        ( alternatives ) | word | word* | "a phrase of words"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np
import numpy.typing as npt

from manylabel.exceptions import DataError

Bools = npt.NDArray[np.bool_]

OPERATORS = ("AND", "OR", "NOT")
SPECIAL = '\\()"*'
"""Characters with a meaning in a query; after a backslash they are ordinary characters."""


@dataclass(frozen=True, slots=True)
class Word:
    """True for documents that contain the word."""

    text: str

    def __str__(self) -> str:
        return f'"{escaped(self.text)}"' if self.text.upper() in OPERATORS else escaped(self.text)


@dataclass(frozen=True, slots=True)
class Prefix:
    """True for documents that contain a word with this prefix."""

    text: str

    def __str__(self) -> str:
        return escaped(self.text) + "*"


@dataclass(frozen=True, slots=True)
class Phrase:
    """True for documents in which the words (or prefixes), at least two, follow one another."""

    words: tuple[Word | Prefix, ...]

    def __str__(self) -> str:
        return '"' + " ".join(escaped(word.text) + "*" * isinstance(word, Prefix) for word in self.words) + '"'


@dataclass(frozen=True, slots=True)
class Not:
    """True for documents for which the inner query is false."""

    part: Query

    def __str__(self) -> str:
        return f"NOT {_nested(self.part, And, Or)}"


@dataclass(frozen=True, slots=True)
class And:
    """True for documents for which all inner queries, at least two, are true."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " AND ".join(_nested(part, And, Or) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """True for documents for which any of the inner queries, at least two, is true."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " OR ".join(_nested(part, Or) for part in self.parts)


Atom = Word | Prefix | Phrase
Query = Atom | Not | And | Or


def escaped(text: str) -> str:
    r"""The text with a backslash before each character that has a meaning in a query.

    >>> print(escaped("f(x)*"))
    f\(x\)\*
    """
    return "".join(f"\\{character}" if character in SPECIAL else character for character in text)


def _nested(query: Query, *looser: type) -> str:
    return f"({query})" if isinstance(query, looser) else str(query)


def atoms(query: Query) -> Iterator[Atom]:
    """The words, prefixes and phrases of a query, from left to right."""
    for atom, _ in signed_atoms(query):
        yield atom


def signed_atoms(query: Query, positive: bool = True) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a query, each with True if an even number of NOTs applies to it."""
    if isinstance(query, Not):
        yield from signed_atoms(query.part, not positive)
    elif isinstance(query, (And, Or)):
        for part in query.parts:
            yield from signed_atoms(part, positive)
    else:
        yield query, positive


def holds(query: Query, occurs: Callable[[Atom], Bools]) -> Bools:
    """For each document, whether the query is true; `occurs` returns the same for an atom.

    >>> table = {Word("a"): np.array([True, True, False]), Word("b"): np.array([False, True, False])}
    >>> holds(And((Word("a"), Not(Word("b")))), table.__getitem__).tolist()
    [True, False, False]
    """
    if isinstance(query, Not):
        return ~holds(query.part, occurs)
    if isinstance(query, (And, Or)):  # one part after the other: a rule may have very many
        found = holds(query.parts[0], occurs).copy()
        combine = np.logical_and if isinstance(query, And) else np.logical_or
        for part in query.parts[1:]:
            combine(found, holds(part, occurs), out=found)
        return found
    return occurs(query)


# ---- parsing ---------------------------------------------------------------------------------------------------------

SHOWN = 200
"""How many characters of a query an error shows before and after the place."""
DEEPEST = 100
"""The deepest nesting of parentheses and NOTs."""

Kind = Literal["AND", "OR", "NOT", "(", ")", "term", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query: an operator, a parenthesis, a word or phrase, or the end."""

    kind: Kind
    start: int
    stop: int
    term: Word | Prefix | Phrase | None = None


def parse_query(text: str, start: int = 0) -> Query:
    r"""The tree of the query that begins at `start` of the text; error messages show the whole text.

    AND binds more tightly than OR, and NOT most tightly; adjacent words must all occur. Operators are written in
    capital letters; the case of words does not matter. A star at the end of a word matches any ending, quotes enclose
    words that follow one another, and a backslash makes the next character an ordinary one.

    >>> parse_query('(wheat OR corn) AND NOT weather')
    And(parts=(Or(parts=(Word(text='wheat'), Word(text='corn'))), Not(part=Word(text='weather'))))
    >>> print(parse_query('trad* "interest rate" OR (bank)'))
    trad* AND "interest rate" OR bank
    >>> parse_query('wheat OR')
    Traceback (most recent call last):
    ...
    manylabel.exceptions.DataError: The query ends at column 9 where a word, a phrase in quotes, NOT or ( was expected:
        wheat OR
                ^
    """
    return _Parser(text, start).query()


def query_problem(text: str, position: int, problem: str) -> DataError:
    """A `DataError` that shows the query around the position, with a caret under it."""
    first = max(0, position - SHOWN)
    piece = text[first : position + SHOWN]
    shown = "".join(" " if character.isspace() else character for character in piece)
    before, after = "…" * (first > 0), "…" * (first + len(piece) < len(text))
    caret = " " * (len(before) + position - first)
    return DataError(f"{problem}:\n    {before}{shown}{after}\n    {caret}^")


def tokens_of(text: str, start: int = 0) -> list[Token]:
    """The tokens of a query, including the end."""
    found: list[Token] = []
    at = start
    while at < len(text):
        character = text[at]
        if character.isspace():
            at += 1
            continue
        if character == "(":
            token = Token("(", at, at + 1)
        elif character == ")":
            token = Token(")", at, at + 1)
        else:
            token = _quoted(text, at) if character == '"' else _bare(text, at)
        found.append(token)
        at = token.stop
    return [*found, Token("end", len(text), len(text))]


def _bare(text: str, start: int) -> Token:
    """The word without quotes, or the operator, that begins at `start`."""
    term, stop = _word(text, start, '()"')
    raw = text[start:stop]
    for kind in OPERATORS:
        if raw == kind:
            return Token(kind, start, stop)  # type: ignore[arg-type]
        if raw.upper() == kind:
            raise query_problem(
                text,
                start,
                f'Column {start + 1} has {raw!r}: write {kind} for the operator, or "{raw}" for the word',
            )
    return Token("term", start, stop, term)


def _quoted(text: str, start: int) -> Token:
    """The quoted word or phrase that begins at `start`."""
    words: list[Word | Prefix] = []
    at = start + 1
    while at < len(text) and text[at] != '"':
        if text[at].isspace():
            at += 1
            continue
        word, at = _word(text, at, '"')
        words.append(word)
    if at >= len(text):
        raise query_problem(
            text, start, f'The quote opened at column {start + 1} is never closed; another " was expected'
        )
    if not words:
        raise query_problem(text, start, f"The quotes at column {start + 1} are empty; a word was expected")
    return Token("term", start, at + 1, words[0] if len(words) == 1 else Phrase(tuple(words)))


_PLAIN = re.compile(r'[^\s()"*\\]+')
"""A word without any character that has a meaning in a query."""


def _word(text: str, start: int, ends: str) -> tuple[Word | Prefix, int]:
    """The word that begins at `start`, and the position after it; a blank or a character of `ends` ends it."""
    plain = _PLAIN.match(text, start)
    if plain and (plain.end() == len(text) or text[plain.end()].isspace()):
        return Word(plain[0]), plain.end()
    letters: list[str] = []
    at = start
    while at < len(text) and not text[at].isspace() and text[at] not in ends:
        if text[at] == "*":
            after = at + 1
            if after < len(text) and not text[after].isspace() and text[after] not in ends:
                raise query_problem(
                    text, at, f"The star at column {at + 1} is inside a word; it may only end one (or write \\*)"
                )
            if not letters:
                raise query_problem(
                    text, at, f"The star at column {at + 1} has no word before it; letters were expected"
                )
            return Prefix("".join(letters)), after
        if text[at] == "\\":
            at += 1
            if at == len(text) or text[at].isspace():
                raise query_problem(
                    text, at - 1, f"The backslash at column {at} is alone; the character it escapes was expected"
                )
        letters.append(text[at])
        at += 1
    return Word("".join(letters)), at


class _Parser:
    """Recursive descent: one method per rule of the grammar."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.tokens = tokens_of(text, start)
        self.position = 0
        self.depth = 0

    def next(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        self.position += 1
        return self.tokens[self.position - 1]

    def query(self) -> Query:
        found = self.alternatives()
        if self.next().kind != "end":  # only ) can follow: everything else begins a conjunction's next part
            self.complain("AND, OR, a further word or the end")
        return found

    def alternatives(self) -> Query:
        parts = [self.conjunction()]
        while self.next().kind == "OR":
            self.take()
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def conjunction(self) -> Query:
        parts = [self.negation()]
        while self.next().kind in ("AND", "NOT", "(", "term"):
            if self.next().kind == "AND":
                self.take()
            parts.append(self.negation())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def negation(self) -> Query:
        if self.next().kind not in ("NOT", "("):
            return self.primary()
        opened = self.take()
        self.depth += 1
        if self.depth > DEEPEST:
            raise query_problem(self.text, opened.start, f"The query is nested more than {DEEPEST} deep")
        found: Query
        if opened.kind == "NOT":
            found = Not(self.negation())
        else:
            found = self.alternatives()
            if self.next().kind != ")":
                self.complain(f") for the ( at column {opened.start + 1}")
            self.take()
        self.depth -= 1
        return found

    def primary(self) -> Query:
        if self.next().kind != "term":
            self.complain("a word, a phrase in quotes, NOT or (")
        term = self.take().term
        assert term is not None
        return term

    def complain(self, expected: str) -> NoReturn:
        token = self.next()
        where = f"at column {token.start + 1}"
        if token.kind == "end":
            raise query_problem(self.text, token.start, f"The query ends {where} where {expected} was expected")
        found = self.text[token.start : token.stop]
        raise query_problem(self.text, token.start, f"There is {found} {where} where {expected} was expected")
