"""Apply decisions about labels to a copy of the data, with a record of every change, and undo them exactly."""

from __future__ import annotations

import base64
import getpass
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manylabel import __version__
from manylabel.data.atomic import atomic_text, atomic_write, check_target
from manylabel.data.jsonl import read_lines
from manylabel.data.problems import Problems
from manylabel.data.reading import write
from manylabel.data.strict_json import dumps
from manylabel.exceptions import DataError
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
    skipped: tuple[str, ...]
    """Decisions that changed nothing, each with the reason."""

    @property
    def text(self) -> str:
        """Sentences on what was written and what was not."""
        same = "".join(f"\nNothing to do for {one}." for one in self.skipped)
        return (
            f"{counted(self.added, 'label')} added, {self.removed:,} removed. The corrected copy is in "
            f"{self.corrected}, the record of the changes in {self.record}.{same}\n"
            f"Undo: manylabel audit --revert {self.record}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return {
            "corrected": self.corrected,
            "record": self.record,
            "added": self.added,
            "removed": self.removed,
            "skipped": list(self.skipped),
        }


def default_corrected(path: Path) -> Path:
    """Where the corrected copy of a file goes: beside it, with ``.corrected`` before the ending."""
    return path.with_name(f"{path.stem}.corrected{path.suffix}")


def read_decisions(path: Path) -> list[dict[str, Any]]:
    """The accepted decisions of a file: one JSON object per line with document, label and action.

    A line with ``"accept": false`` is left out.
    """
    found = []
    for number, decision in read_lines(path, Problems()):
        is_named = all(isinstance(decision.get(key), str) for key in ("document", "label"))
        if not is_named or decision.get("action") not in ACTIONS:
            raise DataError(
                "A decision needs the keys document and label, and action 'add' or 'remove'.",
                path=path,
                line=number,
                remedy='Write, for example, {"document": "17", "label": "roads", "action": "add"}.',
            )
        if decision.get("accept", True):
            found.append(decision)
    return found


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
    changes, skipped = _changed(sets, list(corpus.ids), read_decisions(decisions))
    names = [*corpus.label_names, *sorted({c["label"] for c in changes} - set(corpus.label_names))]
    write(replace(corpus, labels=[sorted(one) for one in sets], label_names=names), target, format=loaded.format)
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
    return Applied(str(target), str(record), added, len(changes) - added, tuple(skipped))


def _changed(
    sets: list[list[str]], ids: Sequence[str], decisions: Sequence[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Change the label sets in place; return the changes made and the decisions that change nothing."""
    row_of = {identifier: row for row, identifier in enumerate(ids)}
    changes, skipped = [], []
    for decision in decisions:
        name, label, action = (decision[key] for key in ("document", "label", "action"))
        if name not in row_of:
            raise DataError(f"A decision is about the document {name!r}, which the data do not have.")
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
        raise DataError("This is not a record that --apply wrote.", path=record) from None
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
