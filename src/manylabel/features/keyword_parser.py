"""From the text of a keyword rule to its tree, by recursive descent.

alternatives   conjunction (OR conjunction)*
conjunction    negation ([AND] negation)*
negation       NOT negation | primary
primary        ( alternatives ) | word | word* | "a phrase of words"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

from manylabel.exceptions import DataError
from manylabel.features.keyword_queries import OPERATORS, And, Not, Or, Phrase, Prefix, Query, Word

DEEPEST = 100
"""How deep parentheses and NOTs may be nested."""

Kind = Literal["AND", "OR", "NOT", "(", ")", "term", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query: an operator, a parenthesis, a word or phrase, or the end."""

    kind: Kind
    start: int
    stop: int
    term: Word | Prefix | Phrase | None = None


def parse_query(text: str, start: int = 0) -> Query:
    r"""The tree of a query; `start` leaves out what stands before it in the text that errors show.

    AND binds closer than OR, NOT closest; words side by side must all occur. Operators are written in capitals, words
    as one likes. A star at the end of a word stands for any ending, quotes hold words that follow one another, and a
    backslash takes its meaning from the sign that comes next.

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
    """An error that shows the query with a mark under the place."""
    shown = "".join(" " if sign.isspace() else sign for sign in text)
    return DataError(f"{problem}:\n    {shown}\n    {' ' * position}^")


# ---- pieces ----------------------------------------------------------------------------------------------------------


def tokens_of(text: str, start: int = 0) -> list[Token]:
    """The pieces of a query, the end among them."""
    found: list[Token] = []
    at = start
    while at < len(text):
        sign = text[at]
        if sign.isspace():
            at += 1
            continue
        if sign == "(":
            token = Token("(", at, at + 1)
        elif sign == ")":
            token = Token(")", at, at + 1)
        else:
            token = _quoted(text, at) if sign == '"' else _bare(text, at)
        found.append(token)
        at = token.stop
    return [*found, Token("end", len(text), len(text))]


def _bare(text: str, start: int) -> Token:
    """A word without quotes, or an operator."""
    term, stop = _word(text, start, '()"')
    raw = text[start:stop]
    for kind in OPERATORS:
        if raw == kind:
            return Token(kind, start, stop)  # type: ignore[arg-type]
        if raw.upper() == kind:
            raise query_problem(
                text,
                start,
                f'At column {start + 1} stands {raw!r}: write {kind} for the operator, or "{raw}" for the word',
            )
    return Token("term", start, stop, term)


def _quoted(text: str, start: int) -> Token:
    """A word or a phrase in quotes."""
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


def _word(text: str, start: int, ends: str) -> tuple[Word | Prefix, int]:
    """The word that begins at a place, and the place after it; it goes on to a blank or one of the signs in `ends`."""
    letters: list[str] = []
    at = start
    while at < len(text) and not text[at].isspace() and text[at] not in ends:
        if text[at] == "*":
            after = at + 1
            if after < len(text) and not text[after].isspace() and text[after] not in ends:
                raise query_problem(
                    text, at, f"At column {at + 1} a star stands inside a word; it may only end one (or write \\*)"
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
                    text, at - 1, f"The backslash at column {at} stands alone; the sign it is for was expected"
                )
        letters.append(text[at])
        at += 1
    return Word("".join(letters)), at


# ---- the tree --------------------------------------------------------------------------------------------------------


class _Parser:
    """One function a line of the grammar."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.tokens = tokens_of(text, start)
        self.place = 0
        self.depth = 0

    def next(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        self.place += 1
        return self.tokens[self.place - 1]

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
        place = f"at column {token.start + 1}"
        if token.kind == "end":
            raise query_problem(self.text, token.start, f"The query ends {place} where {expected} was expected")
        given = self.text[token.start : token.stop]
        raise query_problem(self.text, token.start, f"There is {given} {place} where {expected} was expected")
