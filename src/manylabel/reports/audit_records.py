"""The records of audits (doubted labels, conflicting copies, alike labels) and of suggested documents."""

from __future__ import annotations

from dataclasses import dataclass

from manylabel.reports.records import Record


@dataclass(frozen=True, slots=True)
class DoubtedLabel(Record):
    """A label that a document probably lacks (``add``) or wrongly has (``remove``)."""

    document: str
    label: str
    action: str
    probability: float
    """That the correction is right."""
    evidence: tuple[tuple[str, float], ...]
    """Terms with their contributions to the score of the label, by a model that did not see the document."""
    text: str
    """The beginning of the document."""


@dataclass(frozen=True, slots=True)
class ConflictingCopies(Record):
    """Two documents that are near-duplicates but have different labels."""

    first: str
    second: str
    similarity: float
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImpliedLabel(Record):
    """An ancestor that a document lacks although the hierarchy implies it."""

    document: str
    label: str
    because: str


@dataclass(frozen=True, slots=True)
class AlikeLabels(Record):
    """Two labels that may be one: they have nearly the same documents, or nearly the same name."""

    first: str
    second: str
    reason: str


@dataclass(frozen=True, slots=True)
class DividedLabel(Record):
    """A label that may be two: its documents fall into two groups with different terms."""

    label: str
    ratio: float
    """How many times as much as without structure the division gains, see `manylabel.insight.label_halves`."""
    documents: tuple[int, int]
    """Documents of both groups, of all or of a sample."""
    first: tuple[str, ...]
    """Terms of the larger group."""
    second: tuple[str, ...]
    examples: tuple[str, str]
    """A document of each group."""


@dataclass(frozen=True, slots=True)
class SuggestedDocument(Record):
    """A document to label next."""

    document: str
    value: float
    """How much there is to learn from it, see `manylabel.insight.suggest`."""
    labels: tuple[tuple[str, float], ...]
    """The most probable labels with their probabilities."""
    text: str


@dataclass(frozen=True, slots=True)
class SuggestionRecord(Record):
    """Documents to label next, in order."""

    data: str
    labelled: int
    candidates: int
    documents: tuple[SuggestedDocument, ...]


@dataclass(frozen=True, slots=True)
class AuditRecord(Record):
    """What an audit of the labels of some data found."""

    data: str
    documents: int
    labels: int
    assignments: int
    judged_labels: int
    """Labels with enough documents to be judged."""
    doubted: tuple[DoubtedLabel, ...]
    """The surest first."""
    n_doubted: int
    copies: tuple[ConflictingCopies, ...]
    n_copies: int
    implied: tuple[ImpliedLabel, ...]
    n_implied: int
    unexplained: tuple[str, ...]
    """Documents all of whose labels are doubted and that lack none."""
    alike: tuple[AlikeLabels, ...]
    divided: tuple[DividedLabel, ...]
    """Labels that may be two, the clearest first."""
    not_looked_for: tuple[str, ...] = ()
    """What was left out because the documents were read from disk, in words."""
