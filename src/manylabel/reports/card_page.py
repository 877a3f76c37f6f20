"""The card of a model as a page, and as Markdown with the header that model hubs read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path

from manylabel.reports.files import markdown
from manylabel.reports.model_page import expected_text, guarantee_text
from manylabel.reports.page import Block, Cell, Column, Heading, Items, Note, Table
from manylabel.reports.provenance import program_text
from manylabel.reports.records import ModelRecord, Record
from manylabel.reports.thresholds_page import change_text
from manylabel.wording import counted

FEW = 20
"""A label with fewer training documents than this is reported as rare."""
NAMED = 8
"""How many labels a sentence names."""


@dataclass(frozen=True, slots=True)
class LabelFigures(Record):
    """The precision, recall and F1 of one label, measured out of fold; None where nothing was predicted."""

    label: str
    documents: int
    """The documents with the label among those that were measured."""
    precision: float | None
    recall: float | None
    f1: float | None
    f1_interval: tuple[float, float] | None
    """The ends of the 95 % interval of F1."""


@dataclass(frozen=True, slots=True)
class CardRecord(Record):
    """All that a card tells of a model."""

    model: ModelRecord
    sha256: str
    """The hash of the model file."""
    about: str | None
    licence: str | None
    contact: str | None
    recipe: str
    """The recipe as TOML."""
    probabilities: bool
    """Whether scores are probabilities."""
    labels_empty_documents: bool
    """Whether a document without any known term can get labels."""
    figures: list[LabelFigures]
    few: list[str]
    """The labels with fewer than 20 training documents."""
    never: list[str]
    """The labels that were never predicted out of fold."""
    weak: list[str]
    """The labels whose F1 is below 0.5, as sure as the interval is."""


def card_title(found: CardRecord) -> str:
    """The title of the card: the name of the model file."""
    return f"Model card: {Path(found.model.path).stem}"


def card_page(found: CardRecord, limit: int | None = None) -> list[Block]:
    """The card as a page; `limit` is the number of labels to list (None: all of them)."""
    return [
        Heading(card_title(found)),
        Note(_purpose(found), "answer"),
        *([Note(f"Contact: {found.contact}")] if found.contact else []),
        Heading("Intended use"),
        Note(found.about or "Not stated by its makers (--about)."),
        Heading("Data"),
        Items(_data(found.model)),
        Heading("Quality"),
        *_quality(found, limit),
        Heading("Limits"),
        Items(_limits(found)),
        Heading("Provenance"),
        Items(_provenance(found)),
        Heading("Licence"),
        Note(found.licence or "Not stated by its makers (--licence)."),
        Heading("Recipe"),
        Note(found.recipe.rstrip(), "code"),
        Heading("Use"),
        Note(_use(Path(found.model.path).name), "code"),
    ]


def card_markdown(found: CardRecord) -> str:
    """The card as Markdown, with a header (YAML) of what model hubs read: library, task, licence, metrics."""
    header = ["---", "library_name: manylabel", "pipeline_tag: text-classification", "tags:", "- multi-label"]
    if found.licence:
        header.append(f"license: {dumps(found.licence)}")
    if found.model.expected is not None:
        header += ["metrics:", *(f"- {one['metric']}" for one in found.model.expected["figures"])]
    return "\n".join([*header, "---", "", markdown(card_title(found), card_page(found))])


def _purpose(found: CardRecord) -> str:
    number = counted(len(found.model.labels), "label")
    which = "exactly one" if found.model.single_label else "a set"
    return f"Reads a text and predicts {which} of {number}."


def _data(model: ModelRecord) -> list[str]:
    facts, counts = model.facts, model.label_counts
    documents = facts.get("documents", 0)
    told = ["Trained in Python; what on is not stored."]
    if "data" in facts:
        told = [f"Trained on {facts['data']}: {counted(documents, 'document')}."]
    if documents and not model.single_label:
        without = facts.get("unlabelled", 0)
        told.append(f"{sum(counts) / documents:.2f} labels per document; {without:,} of them without a label.")
    if counts:
        told.append(
            f"Documents per label: {min(counts):,} to {max(counts):,}, median {sorted(counts)[len(counts) // 2]:,}."
        )
    if model.reading is not None:
        told.append(model.reading)
    if model.texts:
        told.append(f"How texts are read: {', '.join(model.texts)}.")
    return told


def _quality(found: CardRecord, limit: int | None) -> list[Block]:
    model, blocks = found.model, list[Block]()
    if expected := expected_text(model.expected):
        blocks.append(Note(expected))
    if model.guarantee is not None:
        blocks.append(Note(guarantee_text(model.guarantee)))
    if not found.figures:
        if not blocks:
            blocks.append(Note("Training did not measure it. Measure it on labelled documents: manylabel evaluate."))
        return blocks
    shown = sorted(found.figures, key=lambda one: -one.documents)[:limit]
    columns = [Column("label"), Column("documents", "count"), Column("precision", "share"), Column("recall", "share")]
    rows: list[list[Cell]] = [
        [one.label, one.documents, one.precision, one.recall, one.f1, _interval(one.f1_interval)] for one in shown
    ]
    blocks.append(Table([*columns, Column("F1", "share"), Column("95 % interval")], rows))
    if len(shown) < len(found.figures):
        blocks.append(Note(f"{counted(len(found.figures) - len(shown), 'more label')}: --labels all.", "quiet"))
    how = (
        "By label: measured out of fold on the training documents, at the thresholds of the model, with the 95 % "
        "interval of F1. Where thresholds were learned on the same scores, figures of rare labels are too high."
    )
    return [*blocks, Note(how, "quiet")]


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f"{100 * ends[0]:.0f} to {100 * ends[1]:.0f} %"


def _limits(found: CardRecord) -> list[str]:
    told = []
    if found.few:
        told.append(f"{_labels(found.few, 'has', 'have')} fewer than {FEW} training documents: do not rely on these.")
    if found.never:
        told.append(f"{_labels(found.never, 'was', 'were')} never predicted for documents held out from training.")
    if found.weak:
        told.append(f"{_labels(found.weak, 'has', 'have')} an F1 below 50 %, even at the upper end of the interval.")
    if not found.probabilities:
        told.append("Scores rank labels; they are not probabilities.")
    if not found.labels_empty_documents:
        told.append("A document without a single word that the model knows gets no label.")
    if found.model.language is not None:
        told.append(f"Texts are read as {found.model.language.capitalize()}; in other languages little is recognised.")
    told.append("A label that was missing from a training document counted as one that does not apply.")
    told.append("The figures hold for documents like those of training. Measure again when the documents change.")
    return told


def _labels(names: Sequence[str], one: str, several: str) -> str:
    """The number of labels, some of their names, and the verb."""
    listed = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
    return f"{counted(len(names), 'label')} ({listed}) {one if len(names) == 1 else several}"


def _provenance(found: CardRecord) -> list[str]:
    model = found.model
    told = [
        f"{Path(model.path).name}, {model.bytes:,} bytes, SHA-256 {found.sha256}.",
        f"Written by manylabel {model.versions['manylabel']} with NumPy {model.versions['numpy']}"
        + (f", command {by}." if (by := model.facts.get("written_by")) else "."),
    ]
    if text := program_text(model.facts):
        told.append(text)
    if digest := model.facts.get("train_sha256"):
        told.append(f"SHA-256 of the ids and labels of its training documents: {digest}.")
    return [*told, *(change_text(change) for change in model.changes)]


def _use(name: str) -> str:
    return (
        f"manylabel predict {name} FILE\n\n"
        f'from manylabel import TextClassifier\nTextClassifier.load("{name}").predict(["a text"])'
    )
