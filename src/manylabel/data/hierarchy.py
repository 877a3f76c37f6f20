"""Which label lies under which: a forest over label names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from manylabel.estimator import Ints
from manylabel.exceptions import DataError

SEPARATORS = ("::", " > ", "--", " / ", "/", "|", "\\", ".")
"""What may stand between the parts of a path; looked for in this order, the longer before what it contains."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A forest given by each label's parent; labels without a parent are roots. A label has one parent at most.

    >>> tree = Hierarchy.from_paths(["streets/roads", "streets/parking"], separator="/")
    >>> tree.ancestors("streets/roads")
    ['streets']
    >>> tree.children("streets")
    ['streets/parking', 'streets/roads']
    """

    parents: Mapping[str, str]

    def __post_init__(self) -> None:
        above_are_fine: set[str] = set()
        for label in self.parents:
            line = [label]
            while (label := self.parents.get(label, "")) in self.parents and label not in above_are_fine:
                if label in line:
                    raise DataError(f"The label hierarchy runs in a circle through {label!r}.")
                line.append(label)
            above_are_fine.update(line)

    @classmethod
    def from_paths(cls, names: Iterable[str], separator: str) -> Self:
        """Read the hierarchy off names such as ``area/topic``: everything before the last separator is the parent."""
        if not separator:
            raise DataError("The separator of a label hierarchy is empty.", remedy="Give one such as '/'.")
        parents: dict[str, str] = {}
        for name in names:
            while separator in name:
                parent = name.rpartition(separator)[0]
                if not parent:
                    break
                parents[name] = parent
                name = parent
        return cls(parents)

    def ancestors(self, label: str) -> list[str]:
        """The parent, its parent and so on up to a root."""
        line: list[str] = []
        while label in self.parents:
            label = self.parents[label]
            line.append(label)
        return line

    def children(self, label: str) -> list[str]:
        """The labels directly below, sorted."""
        return sorted(child for child, parent in self.parents.items() if parent == label)

    @property
    def labels(self) -> list[str]:
        """Every label that has a parent or is one, sorted."""
        return sorted(set(self.parents) | set(self.parents.values()))

    def close(self, names: Iterable[str]) -> list[str]:
        """Some labels and all their ancestors, sorted: what a set says once the hierarchy is known.

        >>> Hierarchy.from_paths(["streets/roads"], "/").close(["streets/roads", "noise"])
        ['noise', 'streets', 'streets/roads']
        """
        found = set(names)
        return sorted(found.union(*(self.ancestors(name) for name in found)))

    def columns(self, names: Sequence[str]) -> tuple[list[str], Ints]:
        """The forest over the labels of a matrix: nodes by name, and for each the number of its parent, −1 for a root.

        The first nodes are `names`; behind them, sorted, stand those of their ancestors that are no labels.

        >>> nodes, parents = Hierarchy.from_paths(["a/x", "a/y"], "/").columns(["a/y", "b", "a/x"])
        >>> nodes, parents.tolist()
        (['a/y', 'b', 'a/x', 'a'], [3, -1, 3, -1])
        """
        labels = set(names)
        groups = {above for name in labels for above in self.ancestors(name)} - labels
        nodes = [*names, *sorted(groups)]
        place = {name: column for column, name in enumerate(nodes)}
        found = (place[self.parents[name]] if name in self.parents else -1 for name in nodes)
        return nodes, np.fromiter(found, dtype=np.int64, count=len(nodes))


def find_separator(names: Sequence[str]) -> str:
    """What stands between the parts of names such as ``area/topic``, where that is beyond doubt.

    A separator is in at least half of the names, and some parent it gives has two children or is a name itself. An
    error where none or several are so.

    >>> find_separator(["streets/roads", "streets/parking", "noise"])
    '/'
    """
    found = [separator for separator in SEPARATORS if _separates(names, separator)]
    # "a / b" also holds "/": the longer one is meant.
    found = [one for one in found if not any(one != other and one in other for other in found)]
    if len(found) == 1:
        return found[0]
    tried = " ".join(repr(separator) for separator in (found or SEPARATORS))
    how_many = "several" if found else "none"
    raise DataError(
        f"The label names do not tell what separates their levels: {how_many} of {tried} would do.",
        remedy="Name the separator, for example --hierarchy names:/",
    )


def _separates(names: Sequence[str], separator: str) -> bool:
    inside = [name for name in names if name.rpartition(separator)[0]]
    above = Counter(name.rpartition(separator)[0] for name in inside)
    known = set(names)
    return 2 * len(inside) >= max(len(names), 1) and any(n > 1 or parent in known for parent, n in above.items())
