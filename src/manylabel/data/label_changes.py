"""Labels renamed, merged, split and retired: the changes of a label set, as a command or a file names them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.wording import is_worded_for

KINDS = ("rename", "merge", "split", "retire")


def checked_label(name: str) -> str:
    """The name of a new label; an error for one that no file could hold."""
    if not name or name != name.strip() or any(ord(letter) < 32 for letter in name):
        raise ParameterError(
            f"{name!r:.200} cannot be a label: no blanks at its ends, no line breaks or other control characters."
        )
    return name


@dataclass(frozen=True, slots=True)
class LabelChanges:
    """The labels to change.

    >>> changes = LabelChanges(rename={"bus": "buses"}, merge={"tram": "rail", "train": "rail"}, retire=["other"])
    >>> changes.check(["bus", "tram", "train", "other", "roads"])
    >>> changes.kept(["bus", "tram", "train", "other", "roads"])
    {'bus': 'buses', 'roads': 'roads'}
    >>> changes.applied([["bus", "tram", "train"], ["other"], ["roads"]])
    [['buses', 'rail'], [], ['roads']]
    """

    rename: Mapping[str, str] = field(default_factory=dict)
    """The new name of each renamed label."""
    merge: Mapping[str, str] = field(default_factory=dict)
    """For each merged label the one, new or not, that its documents get instead."""
    split: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The parts of each label that is split; which document gets which part is in the data."""
    retire: Sequence[str] = ()

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str, str, str]]) -> Self:
        """The changes given one by one: kind, label and what it becomes (empty for `retire`)."""
        one: dict[str, dict[str, str]] = {"rename": {}, "merge": {}}
        split: dict[str, list[str]] = {}
        retire: list[str] = []
        for kind, label, to in pairs:
            if kind in one and label in one[kind]:
                raise ParameterError(f"The label {label!r} is to be changed twice ({kind}). Name it once.")
            if kind == "retire":
                retire.append(label)
            elif kind == "split":
                split.setdefault(label, []).append(to)
            else:
                one[kind][label] = to
        return cls(one["rename"], one["merge"], split, retire)

    @classmethod
    def read(cls, path: str | Path) -> list[tuple[str, str, str]]:
        """The changes of a file, for `of_pairs`: on each line kind, tab, label and, but for `retire`, tab, new label.

        Empty lines and lines that begin with # are left out.
        """
        found: list[tuple[str, str, str]] = []
        for number, line in numbered_lines(Path(path), Problems()):
            if not line.strip() or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split("\t")]
            wanted = 2 if cells[0] == "retire" else 3
            if cells[0] not in KINDS or len(cells) != wanted or not all(cells):
                raise DataError(
                    f"The line must hold {', '.join(KINDS)}, a label and what it becomes, but is {line[:80]!r}.",
                    path=path,
                    line=number,
                    remedy="Write rename, tab, old, tab, new; or retire, tab, old.",
                )
            found.append((cells[0], cells[1], cells[2] if wanted == 3 else ""))
        return found

    def __bool__(self) -> bool:
        return bool(self.rename or self.merge or self.split or self.retire)

    @property
    def learned_anew(self) -> list[str]:
        """The labels that merging and splitting make."""
        return list(dict.fromkeys([*self.merge.values(), *(part for parts in self.split.values() for part in parts)]))

    def check(self, labels: Sequence[str]) -> None:
        """Raise an error unless the changed labels are among `labels`, each is changed once, and new names are free."""
        changed = Counter([*self.rename, *self.merge, *self.split, *self.retire])
        for label, times in changed.items():
            if label not in labels:
                raise UnknownNameError("label", label, list(labels))
            if times > 1:
                raise ParameterError(f"The label {label!r} is to be changed in two ways. Change it in one.")
        for name in [*self.rename.values(), *self.learned_anew]:
            checked_label(name)
        stay = [label for label in labels if label not in changed]
        names = Counter([*stay, *self.rename.values()])
        if clashes := [(old, new) for old, new in self.rename.items() if names[new] > 1]:
            old, new = clashes[0]
            pair = shlex.quote(f"{old}={new}")
            merging = f"--merge {pair}" if is_worded_for("command line") else f"merge={{{old!r}: {new!r}}}"
            raise ParameterError(
                f"{old!r} cannot be renamed to {new!r}, the name of another label. To make one label of both, merge "
                f"them: {merging}."
            )
        if taken := [part for parts in self.split.values() for part in parts if names[part]]:
            raise ParameterError(f"{taken[0]!r} is a label already, so it cannot be a part of another one.")
        if gone := [name for name in self.merge.values() if name in changed and name not in self.merge]:
            raise ParameterError(
                f"Labels are merged into {gone[0]!r}, which is changed itself. Do one after the other."
            )
        if set(labels) <= {*self.retire} and not self.learned_anew:
            raise ParameterError("No label would be left. Keep at least one.")

    def kept(self, labels: Sequence[str]) -> dict[str, str]:
        """The new name of each label that stays as it was learned, by its old name, in their order."""
        gone = {*self.merge, *self.merge.values(), *self.split, *self.retire}
        return {label: self.rename.get(label, label) for label in labels if label not in gone}

    def applied(self, label_sets: Iterable[Iterable[str]]) -> list[list[str]]:
        """The label sets of documents after the changes, sorted; split and retired labels are left out."""
        gone = {*self.split, *self.retire}
        new = {**self.rename, **self.merge}
        return [sorted({new.get(label, label) for label in labels if label not in gone}) for labels in label_sets]

    def as_dict(self) -> dict[str, Any]:
        """The changes as plain data."""
        split = {label: list(parts) for label, parts in self.split.items()}
        return {"rename": dict(self.rename), "merge": dict(self.merge), "split": split, "retire": list(self.retire)}


def names_since(updates: Iterable[Mapping[str, Any]], taken: Iterable[str]) -> dict[str, str]:
    """What earlier updates of a model made of names that later data may still have; empty where a label was left out.

    `updates` are the records that a model keeps. Names in `taken`, such as its labels, stand for themselves.

    >>> first = {"renamed": {"bus": "buses"}, "merged": {}, "split": {}, "retired": ["other"], "added": []}
    >>> second = {"renamed": {"buses": "coaches"}, "merged": {}, "split": {}, "retired": [], "added": []}
    >>> names_since([first, second], ["coaches", "roads"])
    {'bus': 'coaches', 'other': '', 'buses': 'coaches'}
    """
    became: dict[str, str] = {}
    for update in updates:
        gone = dict.fromkeys([*update["split"], *update["retired"]], "")
        changed = {**update["renamed"], **update["merged"], **gone}
        parts = [part for names in update["split"].values() for part in names]
        labels = {*update["added"], *update["renamed"].values(), *update["merged"].values(), *parts}
        earlier = {name: changed.get(label, label) for name, label in became.items() if name not in labels}
        became = earlier | changed
    own = set(taken)
    return {name: label for name, label in became.items() if name not in own}
