"""The page of the thresholds of a model, and what a change of them leads to."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.reports.records import ThresholdEffect, ThresholdsRecord


def thresholds_page(found: ThresholdsRecord, limit: int | None) -> list[Block]:
    """The page of the thresholds of a model; `limit` is the number of labels to list (None: all of them)."""
    blocks: list[Block] = [Heading(f"Thresholds of {found.model}")]
    if not found.labels:
        text = "The rule of this model has no threshold per label: it predicts a number of labels, or whole label sets."
        return [*blocks, Note(f"{text} --all 0.5 replaces it by a threshold for every label.")]
    score = "probability" if found.probabilities else "score"
    blocks.append(Note(f"A document gets the labels whose {score} is at least the threshold."))
    if found.figures is not None:
        blocks.append(Note(f"Precision and recall: on {found.figures}."))
    rows = [row for row in found.labels if row.changed or not found.changed]
    columns = [Column("label"), Column("documents", "count"), Column("threshold", "number")]
    columns += [Column("before", "number")] if found.changed else []
    columns += [Column("precision", "number"), Column("recall", "number")] if found.figures is not None else []
    cells: list[list[Cell]] = []
    for row in rows[:limit]:
        before: list[Cell] = [_three(row.was)] if found.changed else []
        figures: list[Cell] = [_three(row.precision), _three(row.recall)] if found.figures is not None else []
        cells.append([row.label, row.documents, _three(row.threshold), *before, *figures])
    blocks.append(Table(columns, cells))
    if len(cells) < len(rows):
        blocks.append(Note(f"{counted(len(rows) - len(cells), 'more label')}: --labels all.", "quiet"))
    return [*blocks, *_changed_notes(found)]


def _changed_notes(found: ThresholdsRecord) -> list[Block]:
    """What was changed and written, and what to do next."""
    notes: list[Block] = [] if found.effect is None else [_effect_note(found, found.effect)]
    if found.effect is not None and found.effect.unmoved:
        notes.append(Note(_unmoved_text(found.effect.unmoved)))
    if found.unreached:
        notes.append(Note(_unreached_text(found)))
    if found.changed and found.target is not None:
        notes.append(_expectation_note(found, found.target))
    if found.guarantee_lost:
        notes.append(Note("The guarantee of the model does not hold for other thresholds and is removed.", "warning"))
    if found.written is not None:
        notes.append(Note(f"The corrected model is in {found.written}."))
    elif found.changed:
        notes.append(Note("Nothing was written. To write the corrected model, give --output FILE.", "warning"))
    elif found.target is None:
        change = f"manylabel thresholds {found.model} --set 'LABEL=0.6' --output NEW.manylabel"
        notes.append(Note(f"Change them: {change}   or --all, --precision, --recall.", "quiet"))
    else:
        notes.append(Note("No threshold was changed, so no model file was written.", "warning"))
    return notes


def _unreached_text(found: ThresholdsRecord) -> str:
    """The labels that keep their thresholds because none reaches the target, and how to change these."""
    rows = {row.label: row for row in found.labels}
    names = [label if (own := rows[label].precision) is None else f"{label} ({own:.3f})" for label in found.unreached]
    some = counted(len(names), "label does", "labels do")
    if found.target is None or not found.target.startswith("precision"):
        return f"{some} not reach {found.target} at any threshold, unchanged: {_named(names)}."
    their, them = ("its", "it") if len(names) == 1 else ("their", "one of them")
    higher = shlex.quote(f"{found.unreached[0]}=0.9") if found.probabilities else shlex.quote(f"{found.unreached[0]}=1")
    keep = "keeps" if len(names) == 1 else "keep"
    return (
        f"{some} not reach {found.target} at any threshold, and {keep} {their} threshold and precision: "
        f"{_named(names)}. To predict {them} less often, set a higher threshold: --set {higher}."
    )


def _expectation_note(found: ThresholdsRecord, target: str) -> Block:
    """What a target means for new documents, and how to measure or guarantee it."""
    figure, least = target.split()
    if figure == "precision":
        expected = "Expect less precision on new documents, often by 5 to 10 points where labels have few documents"
        guarantee = f"fdr={1 - float(least):g}"
    else:
        expected, guarantee = "New documents may have less recall", f"recall={least}"
    return Note(
        f"The thresholds reach {target} on the documents on which they were chosen. {expected}: this is no guarantee. "
        f"Measure it on other labelled documents (manylabel evaluate DATA --model {found.written or 'NEW.manylabel'}), "
        f"or train with a guarantee (--guarantee {guarantee})."
    )


def _effect_note(found: ThresholdsRecord, effect: ThresholdEffect) -> Block:
    """Precision and recall over all labels; a warning with the remedy where a change halves one, or loses labels."""
    figures = (
        f"Over all labels: precision {_now_and_before(effect.precision, effect.precision_before)}, "
        f"recall {_now_and_before(effect.recall, effect.recall_before)}."
    )
    lost, recall_lost = _lost_labels(effect), _halved(effect.recall, effect.recall_before)
    if not (lost or recall_lost or _halved(effect.precision, effect.precision_before)):
        return Note(figures)
    if found.target is None:
        remedy = f"choose {'lower' if lost or recall_lost else 'higher'} thresholds"
    else:
        some = (
            ""
            if any(not row.changed for row in found.labels)
            else ", or name the labels that need it with --only LABEL"
        )
        remedy = f"ask for less {found.target.split()[0]}{some}"
    return Note(f"{figures}{lost} If that is not wanted, {remedy}.", "warning")


def _lost_labels(effect: ThresholdEffect) -> str:
    """The labels that a change leaves with little recall, in sentences."""
    sentences = ""
    if effect.hardly_predicted:
        some = counted(len(effect.hardly_predicted), "label is", "labels are")
        sentences += f" {some} then hardly ever predicted (recall below 0.1): {_named(effect.hardly_predicted)}."
    if effect.recall_halved:
        some = counted(len(effect.recall_halved), "label keeps", "labels keep")
        sentences += f" {some} less than half of the recall: {_named(effect.recall_halved)}."
    return sentences


def _unmoved_text(labels: Sequence[str]) -> str:
    """Why figures stay the same though thresholds changed.

    >>> _unmoved_text(["roads"])
    'Precision and recall of roads stay the same: no score lies between its old and its new threshold.'
    """
    whose = "its old and its new threshold" if len(labels) == 1 else "their old and their new thresholds"
    return f"Precision and recall of {_named(labels)} stay the same: no score lies between {whose}."


def _named(labels: Sequence[str]) -> str:
    """Up to five names.

    >>> _named(["a", "b"]), _named(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    return ", ".join(labels[:5]) + (f" and {len(labels) - 5:,} more" if len(labels) > 5 else "")


def _halved(now: float | None, before: float | None) -> bool:
    return before is not None and (now or 0.0) < before / 2


def _now_and_before(now: float | None, before: float | None) -> str:
    """A figure and what it was before.

    >>> _now_and_before(0.91, 0.853), _now_and_before(None, 0.85), _now_and_before(0.5, None)
    ('0.910 (before 0.853)', 'unknown (before 0.850)', '0.500')
    """
    return (_three(now) or "unknown") + ("" if before is None else f" (before {_three(before)})")


def _three(value: float | None) -> str:
    """A number with three decimals; nothing for None."""
    return "" if value is None else f"{value:.3f}"


def change_text(change: Mapping[str, Any]) -> str:
    """A sentence on thresholds that were changed after training.

    >>> one = {"label": "roads", "from": 0.4, "to": 0.6}
    >>> change_text({"reason": "set", "labels": 1, "thresholds": [one]})
    'Threshold changed after training (set): roads 0.400 → 0.600.'
    >>> change_text({"reason": "for precision 0.9 on new.csv", "labels": 30})
    'Thresholds of 30 labels changed after training (for precision 0.9 on new.csv).'
    """
    if "thresholds" not in change:
        return f"Thresholds of {counted(change['labels'], 'label')} changed after training ({change['reason']})."
    pairs = [(one["label"], _three(one["from"]), _three(one["to"])) for one in change["thresholds"]]
    listed = ", ".join(
        f"{label} {before} → {after}" if before else f"{label} {after}" for label, before, after in pairs
    )
    noun = "Threshold" if change["labels"] == 1 else "Thresholds"
    return f"{noun} changed after training ({change['reason']}): {listed}."
