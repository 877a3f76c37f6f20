"""Commands of ``manylabel corpora`` about labels: their figures, names, thresholds and confusions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.corpora import By, Corpus, Directory, reading, writing
from manylabel.cli.display import show, show_json
from manylabel.cli.reviewing import option
from manylabel.reports.page import Column, Note, Table
from manylabel.wording import counted

Rows = Annotated[int, typer.Option("--rows", min=1, max=10_000, help="How many rows to list.")]
Typed = Annotated[str, typer.Option("--typed", help="Only names that contain this.")]
FIGURES = (
    Column("threshold", "number"),
    Column("precision", "share"),
    Column("recall", "share"),
    Column("f1", "share"),
)


class LabelOrder(StrEnum):
    """The columns that labels are ordered by."""

    NAME = "name"
    DOCUMENTS = "documents"
    THRESHOLD = "threshold"
    PRECISION = "precision"
    RECALL = "recall"
    F1 = "f1"
    FALSE_POSITIVES = "false_positives"
    FALSE_NEGATIVES = "false_negatives"


class LabelChange(StrEnum):
    """What can be done to a label."""

    ADD = "add"
    RENAME = "rename"
    MERGE = "merge"
    RETIRE = "retire"


def labels(
    folder: Directory,
    name: Corpus,
    typed: Typed = "",
    order: Annotated[LabelOrder, typer.Option("--order", help="The column to order by.")] = LabelOrder.NAME,
    descending: Annotated[bool, typer.Option("--descending", help="The highest first.")] = False,
    rows: Rows = 50,
    json: o.Json = False,
) -> None:
    """List labels with their documents, thresholds, precision, recall and F1."""
    with reading(folder, name) as database:
        from manylabel.server.store.figures import label_table

        total, found = label_table(database, typed, order.value, descending, 0, rows)
    if json:
        show_json({"total": total, "labels": found})
        return
    columns = [Column("label"), Column("documents", "count"), *FIGURES]
    rows_shown = [[one["label"], one["documents"], *(one[column.title] for column in FIGURES)] for one in found]
    show([Note(counted(total, "label")), Table(columns, rows_shown)])


def change_label(
    folder: Directory,
    name: Corpus,
    do: Annotated[LabelChange, typer.Argument(help="What to do.", show_default=False)],
    label: Annotated[str, typer.Argument(help="The label.", show_default=False)],
    to: Annotated[
        str | None, typer.Argument(help="The new name, or the label to merge into.", show_default=False)
    ] = None,
    *,
    by: By,
    json: o.Json = False,
) -> None:
    """Add, rename, merge or retire a label."""
    from manylabel.exceptions import ParameterError

    if (to is None) == (do in (LabelChange.RENAME, LabelChange.MERGE)):
        raise ParameterError("TO is given where a label is renamed or merged, and only there.")
    with writing(folder, name) as database:
        from manylabel.server.store import labels as store

        if to is not None:
            work = store.rename if do is LabelChange.RENAME else store.merge
            event = work(database, by, label, to)
        else:
            event = (store.add if do is LabelChange.ADD else store.retire)(database, by, label)
    show_json({"event": event}) if json else show([Note(f"Done, event {event}.")])


def thresholds(
    folder: Directory,
    name: Corpus,
    label: Annotated[str | None, option("--label", "One label; all by default.")] = None,
    threshold: Annotated[float | None, option("--threshold", "A threshold to try.")] = None,
    precision: Annotated[float | None, option("--precision", "The least precision to reach.")] = None,
    recall: Annotated[float | None, option("--recall", "The least recall to reach.")] = None,
    save: Annotated[bool, typer.Option("--save", help="Keep these thresholds; requires --by.")] = False,
    by: Annotated[str | None, option("--by", "Your name, with --save.")] = None,
    json: o.Json = False,
) -> None:
    """Show precision, recall and F1 at other thresholds, and how many documents enter and leave; or keep them."""
    from manylabel.exceptions import ParameterError

    if save != (by is not None):
        raise ParameterError("To keep thresholds, give --save and --by NAME.")
    with writing(folder, name) if save else reading(folder, name) as database:
        from manylabel.server.store import thresholds as store
        from manylabel.server.store.bodies import checked
        from manylabel.server.store.label_bodies import StudyRequest

        targets = {"label": label, "threshold": threshold, "precision": precision, "recall": recall}
        found = store.study(database, label, checked(StudyRequest, targets).trial, 50)
        if by is not None:
            now = {one["label"]: one["now"]["threshold"] for one in found["labels"]}
            kept = {name: value for name, value in now.items() if value is not None}
            found["event"] = store.save(database, by, kept, found["revision"])
    if json:
        show_json(found)
        return
    columns = [Column("label"), *FIGURES, Column("enter", "count"), Column("leave", "count")]
    rows = [
        [one["label"], *(one["now"][column.title] for column in FIGURES), one["enter"], one["leave"]]
        for one in found["labels"]
    ]
    show([Table(columns, rows)])


def write_thresholds(
    folder: Directory,
    name: Corpus,
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="The model file to write.", show_default=False)],
    json: o.Json = False,
) -> None:
    """Write a copy of a model that predicts by the thresholds of the corpus."""
    with reading(folder, name) as database:
        from manylabel.server.store.thresholds import saved_thresholds

        saved = saved_thresholds(database)
    from manylabel.tasks.thresholds import write_reviewed

    found = write_reviewed(model, saved, output, f"saved in the review of {name}")
    show_json(found) if json else show([Note(f"Written to {output}.")])


def confusions(
    folder: Directory,
    name: Corpus,
    typed: Typed = "",
    label: Annotated[str | None, option("--label", "Pairs of one label.")] = None,
    rows: Rows = 20,
    json: o.Json = False,
) -> None:
    """List pairs of a label that documents miss and another that is wrongly predicted, the most frequent first."""
    with reading(folder, name) as database:
        from manylabel.server.store.figures import confusions as work

        found = work(database, typed, label, rows)
    if json:
        show_json(found)
        return
    columns = [Column("missed"), Column("wrongly predicted"), Column("documents", "count")]
    show([Table(columns, [(one["missed"], one["wrong"], one["documents"]) for one in found["pairs"]])])
