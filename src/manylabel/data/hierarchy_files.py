"""Label hierarchies given beside the data: by the names themselves, by a file of parents, or by a SKOS thesaurus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from manylabel.data.hierarchy import Hierarchy, find_separator
from manylabel.data.parent_files import read_parents
from manylabel.data.problems import Problems
from manylabel.data.skos import read_skos
from manylabel.exceptions import DataError

NAMES = "names"
SKOS_ENDINGS = (".ttl", ".nt", ".rdf", ".xml", ".owl", ".skos")


def find_hierarchy(wish: str, labels: Sequence[str], problems: Problems | None = None) -> Hierarchy:
    """The hierarchy a user asks for.

    ``names:/`` reads it off the label names, separated by what follows the colon; ``names`` finds the separator where
    that is beyond doubt. Anything else is a file: SKOS (``.ttl``, ``.nt``, ``.rdf``, ``.xml``), or one child and parent
    a line. An error where no label of the data occurs in it.

    >>> find_hierarchy("names:/", ["streets/roads", "noise"]).parents
    {'streets/roads': 'streets'}
    """
    kind, colon, separator = wish.partition(":")
    if kind == NAMES:
        found = Hierarchy.from_paths(labels, separator if colon else find_separator(labels))
        if not found.parents:
            raise DataError(
                f"No label name has {separator!r} between two parts, so there is no hierarchy in the names.",
                remedy="Name another separator, or give a file of parents.",
            )
        return found
    path = Path(wish)
    problems = problems or Problems()
    if path.name.lower().removesuffix(".gz").endswith(SKOS_ENDINGS):
        return read_skos(path, problems, labels=labels)
    found = read_parents(path, problems)
    if not set(labels).intersection(found.labels):
        raise DataError(
            f"None of the {len(set(labels)):,} labels of the data is in the hierarchy.",
            path=path,
            remedy=f"It names, for example, {', '.join(map(repr, found.labels[:3]))}.",
        )
    return found
