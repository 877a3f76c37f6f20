"""The record and the page of `distil`: agreement of program and human labels, and what the model is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from manylabel.reports.model_page import expected_text
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.reports.records import Record
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.evaluation.expected import ExpectedQuality


@dataclass(frozen=True, slots=True)
class LabelAgreement(Record):
    """How a program's label agrees with the human one on documents that both labelled."""

    label: str
    human: int
    program: int
    precision: float | None
    """The share of the program's labels that people gave too; None where it gave none."""
    precision_interval: tuple[float, float] | None
    recall: float | None
    recall_interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class DistilRecord(Record):
    """A model that was trained on labels of a program."""

    model: str
    program: str
    program_documents: int
    """Documents that only the program labelled."""
    human: str | None
    human_documents: int
    documents_in_both: int
    labels: list[LabelAgreement]
    """The labels that occur in documents of both."""
    expected: ExpectedQuality | None
    """The quality on human documents that the model did not see; None where there are too few."""
    human_alone: ExpectedQuality | None
    """The same, of a model without the labels of the program."""
    method: str


def distil_page(found: DistilRecord, limit: int | None) -> list[Block]:
    """The page of a distillation; `limit` is the number of labels to list (None: all of them)."""
    program, human = (counted(n, "document") for n in (found.program_documents, found.human_documents))
    blocks: list[Block] = [
        Heading(f"Distilled {found.method} from {found.program}"),
        Note(f"Trained on {program} with labels of a program and {human} with labels of people."),
        *_agreement(found, limit),
    ]
    if found.expected is None:
        blocks.append(Note("How good the model is was not measured: give at least 6 documents of people (--human)."))
    else:
        blocks.append(Note(f"On documents of people alone: {expected_text(found.expected)}"))
        if found.human_alone is not None:
            blocks.append(Note(f"Without the labels of the program: {expected_text(found.human_alone)}"))
    return [*blocks, Note(f"The model is in {found.model}. It keeps that a program made labels.")]


def _agreement(found: DistilRecord, limit: int | None) -> list[Block]:
    """The table of agreement by label, or a note that there are no documents to compare."""
    if not found.documents_in_both:
        text = "No document has labels of both, so agreement is not known, and all documents count alike."
        return [Note(text)]
    rows: list[list[Cell]] = [
        [
            one.label,
            one.human,
            one.program,
            one.precision,
            _ends(one.precision_interval),
            one.recall,
            _ends(one.recall_interval),
        ]
        for one in found.labels[:limit]
    ]
    columns = [
        Column("label"), Column("human", "count"), Column("program", "count"), Column("precision", "share"),
        Column("95 % interval"), Column("recall", "share"), Column("95 % interval of recall"),
    ]  # fmt: skip
    blocks: list[Block] = [
        Heading(f"Labels of the program on {counted(found.documents_in_both, 'document')} that people labelled too"),
        Table(columns, rows),
    ]
    if limit is not None and len(found.labels) > limit:
        blocks.append(Note(f"{counted(len(found.labels) - limit, 'more label')}: --labels all.", "quiet"))
    return blocks


def _ends(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f} %"
