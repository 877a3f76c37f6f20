"""Turtle and N-Triples, as far as thesauri are written in them.

A small reader of our own: prefixes, base, lists of predicates and objects, literals with language or type, comments.
What stands in brackets, nameless nodes and collections, is skipped: no thesaurus keeps its hierarchy there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from manylabel.data.triples import Literal, Triple
from manylabel.exceptions import DataError

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    |(?P<iri><(?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>)
    |(?P<text>\"{3}(?:\"{0,2}(?:[^"\\]|\\.))*\"{3}|'{3}(?:'{0,2}(?:[^'\\]|\\.))*'{3}
        |"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<at>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<type>\^\^)
    |(?P<mark>[;,\[\]()])
    |(?P<name>_?[^\s<>"'@^;,\[\]()\#:.]*(?:\.+[^\s<>"'@^;,\[\]()\#:.]+)*:(?:\\.|[^\s<>"'@^;,\[\]()\#\\.]|\.(?=[^\s<>"'@^;,\[\]()\#]))*)
    |(?P<number>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[A-Za-z]+)
    |(?P<dot>\.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


class Token(NamedTuple):
    """A piece of the text, what it is, and the line it begins on."""

    kind: str
    text: str
    line: int


def read_turtle(text: str, path: Path) -> Iterator[Triple]:
    """The statements of a Turtle or N-Triples text.

    >>> text = '@prefix s: <http://s#> . s:cat s:broader s:animal ; s:prefLabel "Katze"@de, "cat"@en .'
    >>> [triple.object for triple in read_turtle(text, Path("x.ttl"))]
    ['http://s#animal', Literal(text='Katze', language='de'), Literal(text='cat', language='en')]
    """
    return _Reader(_tokens(text, path), path).statements()


def _tokens(text: str, path: Path) -> Iterator[Token]:
    place, line = 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            shown = text[place : place + 20].split("\n")[0]
            raise DataError(f"{shown!r} cannot be read as Turtle.", path=path, line=line)
        kind = match.lastgroup or ""
        if kind != "space":
            yield Token(kind, match[0], line)
        line += match[0].count("\n")
        place = match.end()


class _Reader:
    """Statement by statement, one token ahead."""

    def __init__(self, tokens: Iterator[Token], path: Path) -> None:
        self.tokens, self.path = tokens, path
        self.line = 1
        self.prefixes: dict[str, str] = {}
        self.base = ""
        self.nameless = 0
        self.ahead = next(tokens, None)

    def statements(self) -> Iterator[Triple]:
        while self.ahead is not None:
            if self.ahead.text.lower() in ("@prefix", "@base", "prefix", "base"):
                self._directive()
            else:
                yield from self._statement()

    def _take(self) -> Token:
        token = self.ahead
        if token is None:
            raise self._error("The file ends within a statement", "It may have been cut short.")
        self.line = token.line
        self.ahead = next(self.tokens, None)
        return token

    def _directive(self) -> None:
        word = self._take().text.lower()
        if word.endswith("prefix"):
            name = self._take()
            if name.kind != "name" or not name.text.endswith(":"):
                raise self._error(f"{name.text!r} is no prefix", "A prefix ends in a colon.")
            self.prefixes[name.text[:-1]] = self._iri(self._take())
        else:
            self.base = self._iri(self._take())
        if word.startswith("@"):
            self._expect(".")

    def _statement(self) -> Iterator[Triple]:
        subject = self._resource(self._take())
        if self._ahead_is("."):  # [ … ] . on its own
            self._take()
            return
        while True:
            verb = self._take()
            predicate = RDF_TYPE if verb.text == "a" else self._resource(verb)
            while True:
                line = self.ahead.line if self.ahead else self.line
                yield Triple(line, subject, predicate, self._object())
                if not self._ahead_is(","):
                    break
                self._take()
            goes_on = self._ahead_is(";")
            while self._ahead_is(";"):
                self._take()
            if self._ahead_is("."):
                self._take()
                return
            if not goes_on or self.ahead is None:
                found = "the end of the file" if self.ahead is None else repr(self.ahead.text)
                raise self._error(f"A statement ends in a full stop, but there is {found}")

    def _object(self) -> str | Literal:
        token = self._take()
        if token.kind in ("number", "word"):
            return Literal(token.text)
        if token.kind != "text":
            return self._resource(token)
        quotes = 3 if token.text[:3] in ('"""', "'''") else 1
        text = self._unescaped(token.text[quotes:-quotes])
        if self.ahead is not None and self.ahead.kind == "at":
            return Literal(text, self._take().text[1:].lower())
        if self.ahead is not None and self.ahead.kind == "type":
            self._take()
            self._resource(self._take())
        return Literal(text)

    def _resource(self, token: Token) -> str:
        if token.text in ("[", "("):
            return self._skip_brackets()
        if token.kind == "iri":
            return self._iri(token)
        if token.kind != "name":
            raise self._error(f"{token.text!r} stands where a name is needed")
        prefix, _, local = token.text.partition(":")
        if prefix == "_":
            return token.text
        if prefix not in self.prefixes:
            raise self._error(f"The prefix {prefix!r} is not declared", f"Add @prefix {prefix}: <…> .")
        return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)

    def _skip_brackets(self) -> str:
        depth = 1
        while depth:
            depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(self._take().text, 0)
        self.nameless += 1
        return f"_: {self.nameless}"

    def _iri(self, token: Token) -> str:
        if token.kind != "iri":
            raise self._error(f"{token.text!r} stands where an address in <…> is needed")
        address = self._unescaped(token.text[1:-1])
        return urljoin(self.base, address) if self.base else address

    def _unescaped(self, text: str) -> str:
        def character(match: re.Match[str]) -> str:
            code = match[1]
            if code[0] not in "uU" or len(code) == 1:
                return _ESCAPED.get(code, code)
            if int(code[1:], 16) > 0x10FFFF:
                raise self._error(f"There is no character {match[0]}")
            return chr(int(code[1:], 16))

        return _ESCAPE.sub(character, text) if "\\" in text else text

    def _ahead_is(self, mark: str) -> bool:
        return self.ahead is not None and self.ahead.text == mark and self.ahead.kind in ("mark", "dot")

    def _expect(self, mark: str) -> None:
        if not self._ahead_is(mark):
            raise self._error(f"{mark!r} is missing")
        self._take()

    def _error(self, problem: str, remedy: str | None = None) -> DataError:
        return DataError(f"{problem}.", path=self.path, line=self.line, remedy=remedy)
