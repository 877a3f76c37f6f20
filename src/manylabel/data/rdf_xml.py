"""RDF/XML, as far as thesauri are written in it.

Elements alternate: a node, its properties, their nodes, and so on. Entities are refused where they are declared, so
that no file can expand into gigabytes or reach for another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin
from xml.parsers import expat

from manylabel.data.triples import Literal, Triple
from manylabel.exceptions import DataError

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = "http://www.w3.org/XML/1998/namespace"


@dataclass(slots=True)
class _Open:
    """An element that is being read: a node with its name, or a property of one."""

    is_node: bool
    name: str
    language: str
    base: str
    line: int
    text: list[str] = field(default_factory=list)
    filled: bool = False


def read_rdf_xml(data: bytes, path: Path) -> Iterator[Triple]:
    """The statements of an RDF/XML file.

    >>> rdf = b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="http://s#">'
    >>> rdf += b'<s:Concept r:about="http://x/cat"><s:broader r:resource="http://x/animal"/></s:Concept></r:RDF>'
    >>> [triple[1:] for triple in read_rdf_xml(rdf, Path("x.rdf"))][1:]
    [('http://x/cat', 'http://s#broader', 'http://x/animal')]
    """
    reader = _Reader(path)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DataError(
            f"The file is not XML ({expat.errors.messages[error.code]}).", path=path, line=error.lineno
        ) from None
    return iter(reader.found)


class _Reader:
    """Handlers of the parser's events; what is understood is collected in `found`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[Triple] = []
        self.open: list[_Open] = []
        self.skipped = 0
        self.nameless = 0
        self.parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = self.entity

    def entity(self, name: str, *_: object) -> None:
        raise DataError(
            f"The file declares the entity {name!r}, and entities are not read.",
            path=self.path,
            line=self.parser.CurrentLineNumber,
            remedy="Write the addresses out, or save the thesaurus as Turtle.",
        )

    def start(self, tag: str, given: dict[str, str]) -> None:
        name = tag.replace(" ", "")
        if name == RDF + "RDF" and not self.open:
            self.open.append(self._opened(False, "", given))
            return
        above = self.open[-1] if self.open else None
        if self.skipped or (above is None and name == RDF + "RDF") or f"{RDF} parseType" in given:
            self.skipped += 1  # XML in a text, collections: nothing that a hierarchy is made of
            return
        if above is None or not above.is_node:
            self._start_node(name, given)
        else:
            self._start_property(name, given)

    def _opened(self, is_node: bool, name: str, given: dict[str, str]) -> _Open:
        above = self.open[-1] if self.open else None
        language = given.get(f"{XML} lang", above.language if above else "").lower()
        base = given.get(f"{XML} base", above.base if above else "")
        return _Open(is_node, name, language, base, self.parser.CurrentLineNumber)

    def _start_node(self, kind: str, given: dict[str, str]) -> None:
        node = self._opened(True, "", given)
        node.name = self._name(node, given)
        if self.open and self.open[-1].name:  # the value of a property
            self._tell(self.open[-1], node.name)
        if kind != RDF + "Description":
            self.found.append(Triple(node.line, node.name, RDF + "type", kind))
        self.open.append(node)

    def _start_property(self, name: str, given: dict[str, str]) -> None:
        about = self._opened(False, name, given)
        self.open.append(about)
        if f"{RDF} resource" in given:
            self._tell(about, urljoin(about.base, given[f"{RDF} resource"]))

    def _name(self, node: _Open, given: dict[str, str]) -> str:
        if f"{RDF} about" in given:
            return urljoin(node.base, given[f"{RDF} about"])
        if f"{RDF} ID" in given:
            return f"{node.base}#{given[f'{RDF} ID']}"
        self.nameless += 1
        return f"_:{given.get(f'{RDF} nodeID', f' {self.nameless}')}"

    def _tell(self, about: _Open, value: str | Literal) -> None:
        about.filled = True
        subject = next(above.name for above in reversed(self.open) if above.is_node)
        self.found.append(Triple(about.line, subject, about.name, value))

    def characters(self, text: str) -> None:
        if self.open and not self.skipped and not self.open[-1].is_node:
            self.open[-1].text.append(text)

    def end(self, tag: str) -> None:
        if self.skipped:
            self.skipped -= 1
            return
        last = self.open[-1]
        if not last.is_node and last.name and not last.filled:
            self._tell(last, Literal("".join(last.text).strip(), last.language))
        self.open.pop()
