"""Label hierarchies in SKOS, the W3C's vocabulary for thesauri: Turtle, N-Triples or RDF/XML, read by rdflib.

Nothing is fetched: the format is always named, so that rdflib never guesses JSON-LD with a remote context; imports
are not followed; and XML files that declare entities are refused before rdflib sees them.

Only names and links of concepts are kept, and what describes them where that is asked for; all else is dropped while it
is read. Reading takes up to eight times the
size of the file in memory, and rdflib reads 25,000 to 50,000 statements per second of one core: a thesaurus of 500,000
statements takes about 15 seconds. A file of parents (child, tab, parent) with the same hierarchy is read at once.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manylabel.data.hierarchy import Hierarchy, add_parent, hierarchy_of_file
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems
from manylabel.data.textfile import read_bytes
from manylabel.data.xml_text import check_xml
from manylabel.exceptions import DataError, MissingExtraError
from manylabel.wording import counted, is_worded_for

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NO_BASE = "http://relative.invalid/"
"""What relative addresses are resolved against; it is removed again, so that they stay relative."""
DESCRIBING = ("prefLabel", "altLabel", "hiddenLabel", "definition", "scopeNote", "note", "example")
"""The properties of SKOS whose texts describe a concept."""
ADDRESSES, ENDS = "addresses", "ends of addresses"


@dataclass(slots=True)
class Thesaurus:
    """The concepts of a file. Concepts are known by their address, nameless ones by ``_:`` and a number."""

    concepts: set[str] = field(default_factory=set)
    names: dict[str, dict[str, str]] = field(default_factory=dict)
    """By language (empty where none is given), the first prefLabel of each concept."""
    links: list[tuple[str, str]] = field(default_factory=list)
    """Child and parent, in the order of the file."""
    texts: dict[str, dict[str, list[str]]] | None = None
    """By language, all names, definitions and notes of each concept; None where they are not asked for."""


def read_skos(
    path: str | Path,
    problems: Problems | None = None,
    *,
    labels: Sequence[str] = (),
    language: str | None = None,
) -> Hierarchy:
    """The hierarchy of a thesaurus: ``skos:broader``, and ``skos:narrower`` the other way round.

    Labels of the data may be the addresses of concepts (the whole address, or what follows the last ``/`` or ``#``) or
    their ``skos:prefLabel`` in one language. With `language` they are the latter; otherwise whatever most of `labels`
    are, or else prefLabels in the only language there is. A concept without such a name is named by its address; a
    link to a concept with neither is left out.

    A concept may have several broader concepts.
    """
    path, problems = Path(path), problems or Problems()
    thesaurus = read_thesaurus(path, problems.limits)
    names = _chosen_names(thesaurus, labels, language, path)
    parents: dict[str, dict[str, None]] = {}
    for pair in thesaurus.links:
        child, parent = (names.get(concept, concept) for concept in pair)
        if not child.startswith("_:") and not parent.startswith("_:"):
            add_parent(parents, child, parent, problems, path)
    if not parents:
        raise DataError("The file has no skos:broader or skos:narrower, so there is no hierarchy.", path=path)
    return hierarchy_of_file(parents, path, problems.limits)


def read_concept_texts(
    path: Path, limits: Limits = LIMITS, labels: Sequence[str] = (), language: str | None = None
) -> dict[str, list[str]]:
    """The names, alternative names, definitions and notes of each concept, under the name that `read_skos` gives it.

    Texts are those in the language of the names, and those without a language. Concepts without a name of their own are
    known by their addresses.
    """
    thesaurus = read_thesaurus(path, limits, texts=True)
    names = _chosen_names(thesaurus, labels, language, path)
    described = thesaurus.texts or {}
    spoken = [
        one for one, of in thesaurus.names.items() if any(of.get(concept) == name for concept, name in names.items())
    ]
    wanted = [described[one] for one in dict.fromkeys([*(spoken or described), ""]) if one in described]
    concepts = dict.fromkeys(concept for by_concept in wanted for concept in by_concept if not concept.startswith("_:"))
    return {
        names.get(concept, concept): [text for by_concept in wanted for text in by_concept.get(concept, [])]
        for concept in concepts
        if concept in thesaurus.concepts
    }


def read_thesaurus(path: Path, limits: Limits = LIMITS, *, texts: bool = False) -> Thesaurus:
    """The concepts of a Turtle, N-Triples or RDF/XML file; `DataError` with path and line where it is broken.

    With `texts`, all that describes them is kept too.
    """
    data = read_bytes(path, limits=limits)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml") or b"<rdf:RDF" in data[:4096]:
        check_xml(data, path, limits)
        return _parse(data, "xml", path, texts)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError("The file is not UTF-8.", path=path, line=line, remedy="Save it as UTF-8.") from None
    _check_turtle(text, path, limits)
    return _parse(text, "turtle", path, texts)  # every N-Triples file is Turtle


def _parse(data: str | bytes, format: str, path: Path, texts: bool) -> Thesaurus:
    found = Thesaurus(texts={} if texts else None)
    with _silenced():
        try:
            from rdflib import Graph, Literal
        except ImportError:
            raise MissingExtraError("Reading SKOS", "skos") from None

        class Collector(Graph):
            """A graph that passes on what it is given instead of storing it."""

            def add(self, triple: Any) -> Collector:
                subject, predicate, value = triple
                if isinstance(value, Literal):
                    _collect_name(found, _address(subject), str(predicate), str(value), value.language or "")
                else:
                    _collect_link(found, _address(subject), str(predicate), _address(value))
                return self

        try:
            Collector().parse(data=data, format=format, publicID=NO_BASE)
        except Exception as error:  # rdflib raises errors of many classes for broken files
            raise _broken(error, data, path) from None
    return found


def _address(node: Any) -> str:
    from rdflib import BNode

    # rdflib joins <#x> to a base that ends in # with both signs
    return f"_:{node}" if isinstance(node, BNode) else str(node).replace("##", "#").removeprefix(NO_BASE)


def _collect_name(found: Thesaurus, concept: str, predicate: str, name: str, language: str) -> None:
    if predicate == SKOS + "prefLabel":
        found.concepts.add(concept)
        found.names.setdefault(language.lower(), {}).setdefault(concept, name)
    if found.texts is not None and predicate.removeprefix(SKOS) in DESCRIBING:
        found.texts.setdefault(language.lower(), {}).setdefault(concept, []).append(name)


def _collect_link(found: Thesaurus, subject: str, predicate: str, value: str) -> None:
    if predicate == SKOS + "broader":
        found.links.append((subject, value))
    elif predicate == SKOS + "narrower":
        found.links.append((value, subject))
    elif predicate != RDF_TYPE or value != SKOS + "Concept":
        return
    found.concepts |= {subject} if predicate == RDF_TYPE else {subject, value}


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep rdflib's warnings and log messages (about odd addresses and values) from the user's terminal."""
    logger = logging.getLogger("rdflib")
    level = logger.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            logger.setLevel(level)


def _broken(error: Exception, data: str | bytes, path: Path) -> DataError:
    """The error of rdflib in one sentence, with the line where its message has one."""
    from xml.sax import SAXParseException

    if isinstance(error, SAXParseException):
        return DataError(f"The file is not XML ({error.getMessage()}).", path=path, line=error.getLineNumber())
    if isinstance(error, IndexError) and isinstance(data, str):
        return DataError(  # rdflib's Turtle parser reads past the end of the text
            "The file ends within a statement.",
            path=path,
            line=data.rstrip().count("\n") + 1,
            remedy="Copy the whole file again.",
        )
    what = "RDF/XML" if isinstance(data, bytes) else "Turtle"
    text = str(error)
    place = re.search(r"at line (\d+)", text)
    reason = re.search(r"Bad syntax \((.*?)\) at \^", text, re.DOTALL)
    message = (reason[1] if reason else text.strip().split("\n")[0]).rstrip(".") or type(error).__name__
    return DataError(
        f"The file cannot be read as {what} ({message}).",
        path=path,
        line=int(place[1]) if place else None,
        remedy="Correct it, or copy the whole file again.",
    )


_TOKEN = re.compile(
    r"""#[^\n]*+|<[^<>\s]*+>|(?:\"\"\"(?:[^"\\]++|\\.|""?(?!"))*+\"\"\"|'''(?:[^'\\]++|\\.|''?(?!'))*+'''|"""
    r""""[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')|(["'])|([\[(])|([\])])""",
    re.DOTALL,
)
"""A comment, an address, a string; or a quote that begins a string without an end, an opening or closing bracket."""


def _check_turtle(text: str, path: Path, limits: Limits) -> None:
    """Raise `DataError` for a string without an end, and for deep brackets, on which rdflib takes time without end."""
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[1]:
            raise DataError(
                "The string that begins here has no end.",
                path=path,
                line=text.count("\n", 0, match.start()) + 1,
                remedy="Close it, or copy the whole file again.",
            )
        depth += bool(match[2]) - bool(match[3])
        if depth > limits.nesting:
            line = text.count("\n", 0, match.start()) + 1
            limits.check("nesting", depth, "brackets within one another", path, line=line)


def _chosen_names(thesaurus: Thesaurus, labels: Sequence[str], language: str | None, path: Path) -> dict[str, str]:
    """The name of each concept that has one, of the kind the labels of the data are."""
    named = thesaurus.names
    if language is not None:
        if language.lower() not in named:
            raise _no_language(f"There is no skos:prefLabel in the language {language!r}", named, path)
        return _distinct(named[language.lower()])
    if not labels:
        if len(named) > 1:
            raise _no_language("The concepts have names in several languages", named, path)
        return _distinct(next(iter(named.values()))) if named else {}
    wanted = set(labels)
    short = {concept: concept.rstrip("/#").replace("#", "/").rpartition("/")[2] for concept in thesaurus.concepts}
    by_language = sorted(named.items(), key=lambda item: (item[0] not in ("", "en"), item[0]))
    kinds: dict[str, dict[str, str]] = {ADDRESSES: {}, **dict(by_language), ENDS: short}  # among equals the first wins
    hits = {kind: len(wanted & set(names.values())) for kind, names in kinds.items()}
    hits[ADDRESSES] = len(wanted & thesaurus.concepts)
    best = max(hits, key=lambda kind: hits[kind])
    if not hits[best]:
        raise DataError(
            f"None of the {counted(len(wanted), 'label')} of the data is the address or the skos:prefLabel of a "
            "concept.",
            path=path,
            remedy=f"Labels are, for example, {', '.join(map(repr, sorted(wanted)[:3]))}.",
        )
    return _distinct(kinds[best])


def _distinct(names: dict[str, str]) -> dict[str, str]:
    """The names without those that two concepts share: such concepts are named by their addresses."""
    shared = Counter(names.values())
    return {concept: name for concept, name in names.items() if shared[name] == 1}


def _no_language(problem: str, named: dict[str, dict[str, str]], path: Path) -> DataError:
    languages = ", ".join(repr(language) if language else "none given" for language in sorted(named))
    remedy = f"Choose one of them ({'--label-language' if is_worded_for('command line') else 'language'})."
    return DataError(f"{problem}. Found: {languages or 'no prefLabels'}.", path=path, remedy=remedy)
