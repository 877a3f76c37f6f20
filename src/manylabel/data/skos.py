"""Label hierarchies in SKOS, the W3C's vocabulary for thesauri: Turtle, N-Triples or RDF/XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from manylabel.data.hierarchy import Hierarchy
from manylabel.data.parent_files import add_parent, in_file
from manylabel.data.problems import Problems
from manylabel.data.rdf_xml import read_rdf_xml
from manylabel.data.textfile import read_bytes
from manylabel.data.triples import Literal, Triple
from manylabel.data.turtle import read_turtle
from manylabel.exceptions import DataError

SKOS = "http://www.w3.org/2004/02/skos/core#"
ADDRESSES, ENDS = "addresses", "ends of addresses"


def read_skos(
    path: str | Path,
    problems: Problems | None = None,
    *,
    labels: Sequence[str] = (),
    language: str | None = None,
) -> Hierarchy:
    """The hierarchy of a thesaurus: ``skos:broader``, and ``skos:narrower`` the other way round.

    Labels of the data may be the addresses of concepts (all of them, or what follows the last ``/`` or ``#``), or their
    ``skos:prefLabel`` in a language. With `language` they are the latter; otherwise whatever most of `labels` are, or
    else prefLabels in the one language there is. A concept without such a name goes by its address.

    A concept with several broader ones is refused; where bad lines are skipped, the first one stays.
    """
    path, problems = Path(path), problems or Problems()
    triples = list(_statements(path))
    names = _chosen_names(triples, labels, language, path)
    parents: dict[str, str] = {}
    for triple in triples:
        if isinstance(triple.object, Literal) or triple.predicate not in (SKOS + "broader", SKOS + "narrower"):
            continue
        pair = (triple.subject, triple.object)
        child, parent = pair if triple.predicate == SKOS + "broader" else pair[::-1]
        add_parent(parents, names.get(child, child), names.get(parent, parent), problems, path, triple.line)
    if not parents:
        raise DataError("There is no skos:broader or skos:narrower in it, so no hierarchy.", path=path)
    return in_file(parents, path)


def _statements(path: Path) -> Iterable[Triple]:
    data = read_bytes(path)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml") or b"<rdf:RDF" in data[:4096]:
        return read_rdf_xml(data, path)
    try:
        return read_turtle(data.decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError("The file is not UTF-8.", path=path, line=line, remedy="Save it as UTF-8.") from None


def _chosen_names(triples: list[Triple], labels: Sequence[str], language: str | None, path: Path) -> dict[str, str]:
    """The name of each concept that has one, of the kind the labels of the data are."""
    named = _preferred(triples)
    if language is not None:
        if language.lower() not in named:
            raise _no_language(f"There is no skos:prefLabel in the language {language!r}", named, path)
        return _distinct(named[language.lower()])
    concepts = {concept for t in triples for concept in (t.subject, t.object) if isinstance(concept, str)}
    short = {concept: concept.rstrip("/#").replace("#", "/").rpartition("/")[2] for concept in concepts}
    if not labels:
        if len(named) > 1:
            raise _no_language("The concepts have names in several languages", named, path)
        return _distinct(next(iter(named.values()))) if named else {}
    wanted = set(labels)
    by_language = sorted(named.items(), key=lambda item: (item[0] not in ("", "en"), item[0]))
    kinds: dict[str, dict[str, str]] = {ADDRESSES: {}, **dict(by_language), ENDS: short}  # of equals the first
    hits = {kind: len(wanted & set(names.values())) for kind, names in kinds.items()}
    hits[ADDRESSES] = len(wanted & concepts)
    best = max(hits, key=lambda kind: hits[kind])
    if not hits[best]:
        raise DataError(
            f"None of the {len(wanted):,} labels of the data is the address or the skos:prefLabel of a concept.",
            path=path,
            remedy=f"Labels are, for example, {', '.join(map(repr, sorted(wanted)[:3]))}.",
        )
    return _distinct(kinds[best])


def _preferred(triples: Iterable[Triple]) -> dict[str, dict[str, str]]:
    """By language, the first prefLabel of each concept."""
    found: dict[str, dict[str, str]] = {}
    for triple in triples:
        if triple.predicate == SKOS + "prefLabel" and isinstance(triple.object, Literal):
            found.setdefault(triple.object.language, {}).setdefault(triple.subject, triple.object.text)
    return found


def _distinct(names: dict[str, str]) -> dict[str, str]:
    """Names that two concepts share stand for neither: such concepts go by their addresses."""
    shared = Counter(names.values())
    return {concept: name for concept, name in names.items() if shared[name] == 1}


def _no_language(problem: str, named: dict[str, dict[str, str]], path: Path) -> DataError:
    there = (
        ", ".join(repr(language) if language else "none named" for language in sorted(named)) or "no prefLabels at all"
    )
    return DataError(f"{problem}; there are: {there}.", path=path, remedy="Name one of them.")
