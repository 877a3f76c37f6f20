"""The page of an updated model: which labels changed, and how; and the updates that a model file remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manylabel.reports.page import Block, Heading, Items, Note
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.reports.records import UpdateReport

LISTED = 10
"""How many labels a sentence names."""


def update_page(found: UpdateReport) -> list[Block]:
    """What an update changed, and where the model is."""
    return [
        Heading(f"Updated {found.model}"),
        Note(f"{found.method}: {counted(found.labels_before, 'label')} before, {found.labels:,} after."),
        Items(changed_labels(found.update)),
        *(Note(note) for note in found.update["notes"]),
        Note(f"The updated model is in {found.written}."),
    ]


def changed_labels(update: Mapping[str, Any]) -> list[str]:
    """A line for each kind of change.

    >>> changed_labels({"added": ["trams"], "renamed": {"roads": "streets"}, "merged": {}, "split": {}, "retired": [],
    ...     "kept": 4, "learned": 1})
    ['added: trams', 'renamed: roads → streets', 'unchanged scores: 4 labels; learned: 1 label']
    """
    pairs = [f"{old} → {new}" for old, new in update["renamed"].items()]
    merged = [f"{old} → {new}" for old, new in update["merged"].items()]
    split = [f"{old} → {' + '.join(parts)}" for old, parts in update["split"].items()]
    lines = {"added": update["added"], "renamed": pairs, "merged": merged, "split": split, "retired": update["retired"]}
    learned = f"; learned: {counted(update['learned'], 'label')}" if update["learned"] else ""
    return [
        *(f"{kind}: {listed(names)}" for kind, names in lines.items() if names),
        f"unchanged scores: {counted(update['kept'], 'label')}{learned}",
    ]


def listed(names: Sequence[str]) -> str:
    """Names, the first ones where there are many."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more > 0 else "")


def history_text(update: Mapping[str, Any]) -> str:
    """A sentence on an earlier update of a model file."""
    documents = f", {counted(update['documents'], 'new document')}" if update["documents"] else ""
    return f"Updated {update['at']} ({update['way']}{documents}): {'; '.join(changed_labels(update))}."
