"""Which label lies under which: a forest over label names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from manylabel.exceptions import DataError


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A forest given by each label's parent; labels without a parent are roots.

    >>> tree = Hierarchy.from_paths(["streets/roads", "streets/parking"], separator="/")
    >>> tree.ancestors("streets/roads")
    ['streets']
    >>> tree.children("streets")
    ['streets/parking', 'streets/roads']
    """

    parents: Mapping[str, str]

    def __post_init__(self) -> None:
        for label in self.parents:
            self.ancestors(label)

    @classmethod
    def from_paths(cls, names: Iterable[str], separator: str) -> Self:
        """Read the hierarchy off names such as ``area/topic``: everything before the last separator is the parent."""
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
            if label in line:
                raise DataError(f"The label hierarchy runs in a circle through {label!r}.")
            line.append(label)
        return line

    def children(self, label: str) -> list[str]:
        """The labels directly below, sorted."""
        return sorted(child for child, parent in self.parents.items() if parent == label)

    @property
    def labels(self) -> list[str]:
        """Every label that has a parent or is one, sorted."""
        return sorted(set(self.parents) | set(self.parents.values()))
