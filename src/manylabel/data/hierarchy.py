"""Label hierarchies: which label is the parent of which, read off label names, from a file of parents, or from SKOS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from manylabel.data.label_vocabulary import LabelVocabulary, bare_address
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines
from manylabel.estimator import Ints
from manylabel.exceptions import DataError, ParameterError
from manylabel.wording import counted, settings_text

SEPARATORS = ("::", " > ", "--", " / ", "/", "|", "\\", ".")
"""Separators to look for in label names, in this order: a longer one before the shorter one it contains."""
NAMES = "names"
SKOS_SUFFIXES = (".ttl", ".nt", ".rdf", ".xml", ".owl", ".skos")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The parents of labels. A label may have several parents; labels without one are roots.

    `parents` holds the first parent of each label, `further_parents` the others. Ancestors and children follow all of
    them. Methods for hierarchies and hierarchical metrics work on the forest of first parents (`columns`).

    >>> tree = Hierarchy.from_paths(["streets/roads", "streets/parking"], separator="/")
    >>> tree.ancestors("streets/roads")
    ['streets']
    >>> tree.children("streets")
    ['streets/parking', 'streets/roads']
    >>> Hierarchy({"cat": "animal"}, {"cat": ("pet",)}).ancestors("cat")
    ['animal', 'pet']
    """

    parents: Mapping[str, str]
    further_parents: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        levels: dict[str, int] = {}
        for label in self.parents:
            _count_levels(label, self.parents_of, levels)

    @classmethod
    def from_lists(cls, parents: Mapping[str, Sequence[str]]) -> Self:
        """The hierarchy of labels with their parents, the first of them being the one that forests keep.

        >>> Hierarchy.from_lists({"cat": ["animal", "pet"], "dog": ["animal"]}).further_parents
        {'cat': ('pet',)}
        """
        return cls(
            {label: above[0] for label, above in parents.items()},
            {label: tuple(above[1:]) for label, above in parents.items() if len(above) > 1},
        )

    @classmethod
    def from_paths(cls, names: Iterable[str], separator: str, limits: Limits = LIMITS) -> Self:
        """The hierarchy in names such as ``area/topic``: everything before the last separator is the parent."""
        if not separator:
            raise DataError("The separator of a label hierarchy is empty.", remedy="Give one such as '/'.")
        parents: dict[str, str] = {}
        for name in names:
            limits.check("levels", name.count(separator) + 1, f"levels in the label {name[:40]!r}", None)
            while separator in name:
                parent = name.rpartition(separator)[0]
                if not parent:
                    break
                parents[name] = parent
                name = parent
        return cls(parents)

    def parents_of(self, label: str) -> list[str]:
        """All parents of a label, the first one first; none for a root."""
        return [self.parents[label], *self.further_parents.get(label, ())] if label in self.parents else []

    def ancestors(self, label: str) -> list[str]:
        """The parents, their parents and so on up to the roots, each once, the nearest first."""
        found = dict.fromkeys(self.parents_of(label))
        waiting = list(found)
        for above in waiting:
            new = [parent for parent in self.parents_of(above) if parent not in found]
            found.update(dict.fromkeys(new))
            waiting.extend(new)
        return list(found)

    def children(self, label: str) -> list[str]:
        """The labels that have `label` as a parent, sorted."""
        return sorted(child for child in self.parents if label in self.parents_of(child))

    @property
    def labels(self) -> list[str]:
        """Every label that has a parent or is one, sorted."""
        return sorted(set(self.parents).union(*(self.parents_of(label) for label in self.parents)))

    @property
    def levels(self) -> int:
        """How many labels the longest path from a root down has; 0 without any label."""
        levels: dict[str, int] = {}
        for label in self.parents:
            _count_levels(label, self.parents_of, levels)
        return max(levels.values(), default=0)

    def close(self, names: Iterable[str]) -> list[str]:
        """Some labels and all their ancestors, sorted.

        >>> Hierarchy.from_paths(["streets/roads"], "/").close(["streets/roads", "noise"])
        ['noise', 'streets', 'streets/roads']
        """
        found = set(names)
        return sorted(found.union(*(self.ancestors(name) for name in found)))

    def columns(self, names: Sequence[str]) -> tuple[list[str], Ints]:
        """The forest over the labels of a matrix: the nodes' names, and for each the column of its parent (−1: root).

        The first nodes are `names`; their ancestors that are not labels themselves follow, sorted. Of several parents
        the first one counts.

        >>> nodes, parents = Hierarchy.from_paths(["a/x", "a/y"], "/").columns(["a/y", "b", "a/x"])
        >>> nodes, parents.tolist()
        (['a/y', 'b', 'a/x', 'a'], [3, -1, 3, -1])
        """
        labels = set(names)
        groups: set[str] = set()
        for name in labels:
            while (name := self.parents.get(name, "")) and name not in groups:
                groups.add(name)
        groups -= labels
        nodes = [*names, *sorted(groups)]
        column_of = {name: column for column, name in enumerate(nodes)}
        found = (column_of[self.parents[name]] if name in self.parents else -1 for name in nodes)
        return nodes, np.fromiter(found, dtype=np.int64, count=len(nodes))


def _count_levels(label: str, parents_of: Callable[[str], list[str]], levels: dict[str, int]) -> None:
    """Add to `levels` the level of a label (1 for a root) and of all its ancestors.

    `DataError` where a label is among its own ancestors.
    """
    if label in levels:
        return
    path, waiting = {label}, [(label, iter(parents_of(label)))]
    while waiting:
        last, parents = waiting[-1]
        above = next(parents, None)
        if above is None:
            levels[last] = 1 + max((levels[parent] for parent in parents_of(last)), default=0)
            path.remove(last)
            waiting.pop()
        elif above in path:
            raise DataError(f"The label hierarchy has a cycle through {above!r}.")
        elif above not in levels:
            path.add(above)
            waiting.append((above, iter(parents_of(above))))


def find_separator(names: Sequence[str]) -> str:
    """The separator in names such as ``area/topic``; `DataError` where none or several are possible.

    A separator occurs in at least half of the names, and at least one parent it gives has two children or is itself
    one of the names.

    >>> find_separator(["streets/roads", "streets/parking", "noise"])
    '/'
    """
    found = [separator for separator in SEPARATORS if _separates(names, separator)]
    # "a / b" also contains "/": the longer one is meant.
    found = [one for one in found if not any(one != other and one in other for other in found)]
    if len(found) == 1:
        return found[0]
    tried = " ".join(repr(separator) for separator in (found or SEPARATORS))
    how_many = "several" if found else "none"
    raise DataError(
        f"The separator between the levels of the label names is not clear: {how_many} of {tried} would do.",
        remedy=f"Give the separator, for example {settings_text(hierarchy='names:/')}",
    )


def _separates(names: Sequence[str], separator: str) -> bool:
    inside = [name for name in names if name.rpartition(separator)[0]]
    above = Counter(name.rpartition(separator)[0] for name in inside)
    known = set(names)
    return 2 * len(inside) >= max(len(names), 1) and any(n > 1 or parent in known for parent, n in above.items())


def find_hierarchy(
    source: str, labels: Sequence[str], problems: Problems | None = None, vocabulary: LabelVocabulary | None = None
) -> Hierarchy:
    """The hierarchy that ``--hierarchy`` asks for.

    ``names:/`` reads it off the label names, separated by what follows the colon; ``names`` finds the separator where
    only one is possible. Anything else is a file: SKOS (``.ttl``, ``.nt``, ``.rdf``, ``.xml``, ``.owl``), or one child
    and its parent per line, by names or by addresses that the vocabulary of the labels names. It is an error if no
    label of the data occurs in it.

    >>> find_hierarchy("names:/", ["streets/roads", "noise"]).parents
    {'streets/roads': 'streets'}
    """
    kind, colon, separator = source.partition(":")
    if kind == NAMES:
        limits = LIMITS if problems is None else problems.limits
        found = Hierarchy.from_paths(labels, separator if colon else find_separator(labels), limits)
        if not found.parents:
            raise DataError(
                f"No label name has {separator!r} between two levels, so there is no hierarchy in the names.",
                remedy="Give another separator, or a file of parents.",
            )
        return found
    path = Path(source)
    problems = problems or Problems()
    if path.name.lower().removesuffix(".gz").endswith(SKOS_SUFFIXES):
        from manylabel.data.skos import read_skos

        return read_skos(path, problems, labels=labels)
    found = _named(read_parents(path, problems), labels, vocabulary)
    if not set(labels).intersection(found.labels):
        raise DataError(
            f"None of the {counted(len(set(labels)), 'label')} of the data is in the hierarchy.",
            path=path,
            remedy=f"Its labels are, for example, {', '.join(map(repr, found.labels[:3]))}.",
        )
    return found


def _named(hierarchy: Hierarchy, labels: Sequence[str], vocabulary: LabelVocabulary | None) -> Hierarchy:
    """The hierarchy with the names that a vocabulary shows of its labels; those of the data stay as they are."""
    if vocabulary is None:
        return hierarchy
    known, shown, own = vocabulary.addresses_by_name(), vocabulary.display_names(), set(labels)
    shown |= {known[label]: label for label in labels if label in known}
    names = {label: label if label in own else shown.get(known.get(label, ""), label) for label in hierarchy.labels}
    found: dict[str, dict[str, None]] = {}
    for label in hierarchy.parents:
        found.setdefault(names[label], {}).update(dict.fromkeys(names[above] for above in hierarchy.parents_of(label)))
    return Hierarchy.from_lists({label: list(above) for label, above in found.items()})


def read_parents(path: str | Path, problems: Problems | None = None) -> Hierarchy:
    """The hierarchy of a file with one child and its parent per line, separated by a tab; # begins a comment.

    A child on several lines has several parents.
    """
    path, problems = Path(path), problems or Problems()
    parents: dict[str, dict[str, None]] = {}
    for number, line in numbered_lines(path, problems):
        if line.startswith("#"):
            continue
        cells = [bare_address(cell.strip()) for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            problems.report(
                f"The line must hold a child and its parent, but is {line[:80]!r}.",
                path=path,
                line=number,
                remedy="Write child, tab, parent.",
            )
            continue
        child, parent = cells
        add_parent(parents, child, parent, problems, path, number)
    if not parents:
        raise DataError("The file has no child with a parent.", path=path, remedy="Write child, tab, parent.")
    return hierarchy_of_file(parents, path, problems.limits)


def add_parent(
    parents: dict[str, dict[str, None]],
    child: str,
    parent: str,
    problems: Problems,
    path: Path,
    line: int | None = None,
) -> None:
    """Add a parent, unless the label has it already; report a label that is its own parent."""
    if child == parent:
        problems.report(f"{child!r} is its own parent.", path=path, line=line, remedy="Remove the line.")
    else:
        parents.setdefault(child, {})[parent] = None


def hierarchy_of_file(parents: Mapping[str, Iterable[str]], path: Path, limits: Limits) -> Hierarchy:
    """The hierarchy of these parents; a cycle, or too many levels, is reported with the file's name."""
    try:
        found = Hierarchy.from_lists({label: list(above) for label, above in parents.items()})
    except DataError as error:
        raise DataError(error.problem, path=path, remedy="Remove one of the links.") from None
    limits.check("levels", found.levels, "levels in the label hierarchy", path)
    return found


def hierarchy_columns(
    hierarchy: Hierarchy | Mapping[str, str] | None, names: Sequence[str]
) -> tuple[list[str] | None, Ints | None]:
    """The nodes of a hierarchy at or above the labels, and the index of each node's parent; None without one."""
    if hierarchy is None:
        return None, None
    if not isinstance(hierarchy, (Hierarchy, Mapping)):
        raise ParameterError(
            f"hierarchy is the parent of each child label, such as {{'roads/holes': 'roads'}}, not {hierarchy!r:.80}."
        )
    forest = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy(dict(hierarchy))
    return forest.columns(names)
