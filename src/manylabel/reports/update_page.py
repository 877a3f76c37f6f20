"""The page of an updated model: which labels and figures changed; and the updates that a model file remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manylabel.reports.page import Block, Cell, Column, Heading, Items, Note, Table, skipped_notes
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.reports.records import UpdateReport

LISTED = 10
"""How many labels a sentence names."""


def update_page(found: UpdateReport) -> list[Block]:
    """What an update changed, the quality before and after, and where the model is."""
    update = found.update
    return [
        Heading(f"Updated {found.model}"),
        Note(
            f"{found.method}, {update['way']}: {counted(found.labels_before, 'label')} before, {found.labels:,} after"
            f"{_documents_text(update)}; {update['seconds']:.2f} s."
        ),
        Items(changed_labels(update)),
        *(Note(note) for note in update["notes"]),
        *([] if found.remark is None else [Note(found.remark, "warning")]),
        *_figures(update),
        *skipped_notes(found.skipped),
        Note(f"The updated model is in {found.written}."),
    ]


def _documents_text(update: Mapping[str, Any]) -> str:
    new, former = update["documents"], update["former_documents"]
    also = f" and {counted(former, 'former one')}" if former else ""
    return (
        f"; {counted(new, 'new document')}{also}"
        if new
        else (f"; {counted(former, 'former document')}" if former else "")
    )


def _figures(update: Mapping[str, Any]) -> list[Block]:
    """The quality on the new documents before and after, and the labels whose F1 changed most."""
    before, after, in_all = update["before"], update["after"], update["after_all"]
    if before is None and after is None:
        return []
    added = in_all is not None and (update["added"] or update["merged"] or update["split"])
    rows: list[list[Cell]] = []
    for place, figure in enumerate((before or after)["figures"]):
        cells = [_figure(one, place) for one in ((before, after, in_all) if added else (before, after))]
        rows.append([figure["title"], *cells])
    titles = ["known labels before", "known labels after", *(["all labels after"] if added else [])]
    blocks: list[Block] = [
        Heading("On the new documents"),
        Table([Column("metric"), *map(Column, titles)], rows),
        Note(_measured_text(after is not None), "quiet"),
    ]
    labels = [row for row in update["labels"] if row["before"] != row["after"]]
    if after is not None and labels:
        kinds = [
            Column("label"),
            Column("new documents", "count"),
            Column("F1 before", "share"),
            Column("after", "share"),
        ]
        changed = [[row["label"], row["documents"], row["before"], row["after"]] for row in labels[:LISTED]]
        blocks += [Heading("Labels that changed most"), Table(kinds, changed)]
    return blocks


def _figure(quality: Mapping[str, Any] | None, place: int) -> str:
    if quality is None:
        return ""
    one = quality["figures"][place]
    return f"{100 * one['value']:.1f} % [{100 * one['low']:.1f}, {100 * one['high']:.1f}]"


def _measured_text(after: bool) -> str:
    first = "Before: predicted by the former model."
    if not after:
        return f"{first} After: not measured, since the rule learns nothing on out-of-fold scores. 95 % intervals."
    return (
        f"{first} After: each document scored by a copy that learned from the other folds, and decided by the "
        "thresholds of the updated model, which have seen it. 95 % intervals."
    )


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
    return f"Updated {update['at']} ({update['way']}{_documents_text(update)}): {'; '.join(changed_labels(update))}."
