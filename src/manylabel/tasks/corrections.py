"""Apply decisions about labels to a copy of the data, with a record of every change, and undo them exactly."""

from __future__ import annotations

import base64
import getpass
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manylabel import __version__
from manylabel.data.atomic import atomic_text, atomic_write, check_target
from manylabel.data.corpus import Corpus
from manylabel.data.formats import name_without_suffix
from manylabel.data.jsonl import read_lines
from manylabel.data.layout import listed
from manylabel.data.problems import Problems
from manylabel.data.reading import write_corrected
from manylabel.data.strict_json import dumps
from manylabel.exceptions import DataError, nearest_name
from manylabel.tasks.corpora import Source, load_source
from manylabel.wording import counted

ACTIONS = ("add", "remove")
LARGEST = 1 << 30
"""The most bytes of an original that a record is unpacked to."""
METHOD = f"manylabel audit {__version__}"
"""What doubted the label, unless the decision names another model."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was written: the corrected copy, the record, and how many labels were added and removed."""

    corrected: str
    record: str
    added: int
    removed: int
    new_labels: tuple[str, ...]
    """Labels that no document had before."""
    skipped: tuple[str, ...]
    """Decisions that changed nothing, each with the reason."""

    @property
    def text(self) -> str:
        """Sentences on what was written and what was not."""
        same = "".join(f"\nNothing to do for {one}." for one in self.skipped)
        new = f"\nNew labels: {listed(self.new_labels)}." if self.new_labels else ""
        return (
            f"{counted(self.added, 'label')} added, {self.removed:,} removed. The corrected copy is in "
            f"{self.corrected}, the record of the changes in {self.record}.{new}{same}\n"
            f"Undo: manylabel audit --revert {self.record}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {
            "corrected": self.corrected,
            "record": self.record,
            "added": self.added,
            "removed": self.removed,
            "new_labels": list(self.new_labels),
            "skipped": list(self.skipped),
        }


def default_corrected(path: Path) -> Path:
    """Where the corrected copy of a file goes: beside it, with ``.corrected`` before the suffix.

    >>> default_corrected(Path("a/letters.csv")).name, default_corrected(Path("a/letters.csv.gz")).name
    ('letters.corrected.csv', 'letters.corrected.csv.gz')
    """
    name = name_without_suffix(path)
    suffix = path.name[len(name) :].removesuffix(".zst")  # the copy is not written in this compression
    return path.with_name(f"{name}.corrected{suffix}")


def read_decisions(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The accepted decisions of a file with their lines: one JSON object per line with document, label and action.

    A line with ``"accept": false`` is left out.
    """
    found = []
    for number, decision in _lines(path):
        is_named = all(isinstance(decision.get(key), str) for key in ("document", "label"))
        if not is_named or decision.get("action") not in ACTIONS:
            raise DataError(
                "A decision needs the keys document and label, and action 'add' or 'remove'.",
                path=path,
                line=number,
                remedy='Write, for example, {"document": "17", "label": "roads", "action": "add"}.',
            )
        if decision.get("accept", True):
            found.append((number, decision))
    return found


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines; an error says what to do with the whole output of an audit."""
    try:
        yield from read_lines(path, Problems())
    except DataError as error:
        remedy = (
            "Write one decision per line: in the output of `manylabel audit --json`, the objects of the list 'doubted'."
        )
        raise DataError(error.problem, path=error.path, line=error.line, remedy=remedy) from None


def apply_decisions(source: Source, decisions: Path, target: Path, record: Path) -> Applied:
    """Write a copy of a file with the decisions applied, and a record from which `revert` restores the original."""
    original = Path(source.data)
    if not original.is_file():
        raise DataError(
            f"Decisions are applied to a single file, and {source.data} is not one.",
            remedy=f"Write one first: manylabel convert {source.data} FILE.jsonl",
        )
    for path in (target, record):
        check_target(path, [original, decisions])
    loaded = load_source(source)
    corpus = loaded.corpus
    before = original.read_bytes()
    sets = [list(names) for names in corpus.label_sets]
    accepted = read_decisions(decisions)
    _check_labels(corpus, accepted, decisions)
    changes, skipped = _changed(sets, list(corpus.ids), accepted, decisions)
    new = sorted({change["label"] for change in changes} - set(corpus.label_names))
    names = [*corpus.label_names, *new]
    write_corrected(corpus, [sorted(one) for one in sets], names, target, format=loaded.format)
    after = target.read_bytes()
    when = datetime.now(UTC).isoformat(timespec="seconds")
    head = {
        "original": original.name,
        "corrected": target.name,
        "original_sha256": hashlib.sha256(before).hexdigest(),
        "corrected_sha256": hashlib.sha256(after).hexdigest(),
        "restore": base64.b85encode(zlib.compress(_difference(after, before), 9)).decode(),
    }
    with atomic_text(record) as stream:
        stream.write(dumps(head) + "\n")
        for change in changes:
            stream.write(dumps({"when": when, "by": _user(), "model": METHOD, "why": "", **change}) + "\n")
    added = sum(change["action"] == "add" for change in changes)
    return Applied(str(target), str(record), added, len(changes) - added, tuple(new), tuple(skipped))


def _check_labels(corpus: Corpus, decisions: Sequence[tuple[int, Mapping[str, Any]]], path: Path) -> None:
    """Raise `DataError` for a label that the data do not have, unless a decision about it has ``"new": true``."""
    known = {*corpus.label_names, *(one["label"] for _, one in decisions if one.get("new") is True)}
    for line, decision in decisions:
        if (label := decision["label"]) not in known:
            near = nearest_name(label, known)
            offer = "" if near is None else f" Did you mean {near!r}?"
            raise DataError(
                f"No document of {corpus.source} has the label {label!r:.200}.{offer}",
                path=path,
                line=line,
                remedy='Correct it; or add "new": true to this line if it is a new label.',
            )


def _changed(
    sets: list[list[str]], ids: Sequence[str], decisions: Sequence[tuple[int, Mapping[str, Any]]], path: Path
) -> tuple[list[dict[str, Any]], list[str]]:
    """Change the label sets in place; return the changes made and the decisions that change nothing."""
    row_of = {identifier: row for row, identifier in enumerate(ids)}
    times = Counter(ids)
    changes, skipped = [], []
    for line, decision in decisions:
        name, label, action = (decision[key] for key in ("document", "label", "action"))
        if name not in row_of:
            problem = f"This decision is about the document {name!r:.200}, which the data do not have."
            raise DataError(problem, path=path, line=line, remedy="Name a document by its id, or else by its line.")
        if times[name] > 1:
            problem = f"This decision is about the document {name!r:.200}, but {times[name]:,} documents have this id."
            raise DataError(problem, path=path, line=line, remedy="Give each document an id of its own in the data.")
        labels = sets[row_of[name]]
        if (label in labels) == (action == "add"):
            skipped.append(f"{name}: {label} is {'there already' if action == 'add' else 'not there'}")
            continue
        labels.append(label) if action == "add" else labels.remove(label)
        changes.append({key: value for key, value in decision.items() if key != "accept"})
    return changes, skipped


def revert(record: Path) -> Path:
    """Restore the original bytes in place of the corrected file that a record names; return its path."""
    try:
        head = json.loads(record.read_text(encoding="utf-8").split("\n", 1)[0])
        corrected = record.parent / Path(head["corrected"]).name
        before, after = head["original_sha256"], head["corrected_sha256"]
        difference = _unpacked(base64.b85decode(head["restore"]))
        if not re.match(rb"[0-9]{1,18} [0-9]{1,18}\n", difference):
            raise ValueError("no difference")
    except (ValueError, LookupError, TypeError, zlib.error, RecursionError):
        raise DataError("This is not a record that `manylabel audit --apply` wrote.", path=record) from None
    data = corrected.read_bytes()
    if hashlib.sha256(data).hexdigest() != after:
        raise DataError(
            "This file was changed after the decisions were applied, so they cannot be undone.", path=corrected
        )
    restored = _restored(data, difference)
    if hashlib.sha256(restored).hexdigest() != before:
        raise DataError("The record is damaged: it does not lead back to the original.", path=record)
    with atomic_write(corrected) as stream:
        stream.write(restored)
    return corrected


def _unpacked(packed: bytes) -> bytes:
    """What was packed; `ValueError` if it is too much."""
    unpacking = zlib.decompressobj()
    unpacked = unpacking.decompress(packed, LARGEST)
    if unpacking.unconsumed_tail:
        raise ValueError("too large")
    return unpacked


def _difference(old: bytes, new: bytes) -> bytes:
    """How to make `new` from `old`: the length of their common beginning and end, and what lies between in `new`."""
    most = min(len(old), len(new))
    begin = _common(old, new, most)
    end = _common(old[::-1], new[::-1], most - begin)
    return f"{begin} {end}\n".encode() + new[begin : len(new) - end]


def _common(one: bytes, other: bytes, most: int) -> int:
    """The length of the common beginning of two byte strings, up to `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _restored(old: bytes, difference: bytes) -> bytes:
    """The bytes `new` of which `_difference` was taken."""
    head, _, between = difference.partition(b"\n")
    begin, end = map(int, head.split())
    return old[:begin] + between + old[len(old) - end :]


def _user() -> str:
    """Who applies the decisions; empty where the system does not know."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
