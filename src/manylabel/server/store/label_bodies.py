"""The bodies of requests about labels, thresholds, mistakes and keyword rules of corpora, and of their responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from manylabel.server.store.bodies import Asked, User, Whole
from manylabel.server.store.filters import LabelName, Number
from manylabel.server.store.thresholds import Target, Trial, Wanted

Rules = Annotated[str, Field(max_length=1_000_000)]


class LabelRow(BaseModel):
    """A label, how many documents have it, and its threshold.

    Where an `order` was given, also on how many documents it was decided, and its figures at the threshold.
    """

    label: str
    documents: int
    threshold: float | None
    decided: int | None = None
    true_positives: int | None = None
    false_positives: int | None = None
    false_negatives: int | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None


class LabelRows(BaseModel):
    """Labels that hold what was typed."""

    total: int
    labels: list[LabelRow]
    near: list[LabelRow] = []
    """Where no label holds what was typed, those with the most similar names."""


class FoundConcept(BaseModel):
    """A concept of the vocabulary: the label that it is, or would be if it were added, and the name that was found."""

    label: str
    uri: str
    name: str
    is_new: bool
    """Whether no label of the corpus is this concept."""


class FoundConcepts(BaseModel):
    """Concepts that hold what was typed; null where the corpus has no vocabulary."""

    concepts: list[FoundConcept] | None


class LabelRequest(Asked):
    """A change of the labels of a corpus; `label` is the name that the user saw."""

    by: User
    do: Literal["add", "rename", "merge", "retire"]
    label: LabelName
    to: LabelName | None = None
    """The new name, or the label to merge into."""


class StudyRequest(Asked):
    """Thresholds to try: one for all labels in question, or a precision or recall that each should reach.

    Labels in `tried` get the threshold given there, and labels in `locked` keep the saved one.
    """

    label: LabelName | None = None
    threshold: Number | None = None
    precision: Annotated[float, Field(gt=0, le=1)] | None = None
    recall: Annotated[float, Field(gt=0, le=1)] | None = None
    tried: Annotated[dict[LabelName, Number], Field(max_length=100_000, default_factory=dict)]
    locked: Annotated[list[LabelName], Field(max_length=100_000, default_factory=list)]
    documents: Annotated[int, Field(ge=0, le=1_000)] = 50

    @model_validator(mode="after")
    def _is_one_target(self) -> StudyRequest:
        if sum(value is not None for value in (self.threshold, self.precision, self.recall)) > 1:
            raise ValueError("give one of 'threshold', 'precision' and 'recall'")
        return self

    @property
    def trial(self) -> Trial:
        """The thresholds that were asked for."""
        targets: tuple[tuple[Target, float | None], ...] = (
            ("threshold", self.threshold), ("precision", self.precision), ("recall", self.recall),
        )  # fmt: skip
        given = [Wanted(kind, value) for kind, value in targets if value is not None]
        return Trial(given[0] if given else None, self.tried, frozenset(self.locked))


class Figures(BaseModel):
    """Counts and metrics; None where one is undefined."""

    true_positives: int
    false_positives: int
    false_negatives: int
    precision: float | None
    recall: float | None
    f1: float | None


class ThresholdFigures(Figures):
    """The figures of a label at a threshold."""

    threshold: float | None


class StudiedLabel(BaseModel):
    """A label at the threshold tried and at the saved one, and how many documents enter and leave."""

    label: str
    exact_from: float | None
    reached: bool
    now: ThresholdFigures
    saved: ThresholdFigures
    enter: int
    leave: int


class StudiedAll(BaseModel):
    """The figures of all labels in question together (micro averages)."""

    now: Figures
    saved: Figures
    enter: int
    leave: int


class MovedDocument(BaseModel):
    """A document that enters or leaves the documents predicted to have a label."""

    number: int
    id: str
    label: str
    score: float
    is_true: bool | None
    """None for a document without labels that nobody has reviewed."""


class Study(BaseModel):
    """What thresholds lead to, against the saved ones."""

    revision: int
    labels: list[StudiedLabel]
    all: StudiedAll
    enter: list[MovedDocument]
    leave: list[MovedDocument]


class Curve(BaseModel):
    """The figures of a label by threshold, the highest first."""

    points: list[ThresholdFigures]


class SaveThresholds(Asked):
    """Thresholds to keep, and the revision of the study they were chosen in."""

    by: User
    revision: Whole
    thresholds: Annotated[dict[LabelName, Number], Field(min_length=1, max_length=100_000)]


class Confusion(BaseModel):
    """A label that documents miss, another that is wrongly predicted for them, and how many documents these are."""

    missed: str
    wrong: str
    documents: int


class Confusions(BaseModel):
    """The most frequent confusions, how many pairs there are, and how many documents have both kinds of mistakes."""

    documents: int
    total: int
    pairs: list[Confusion]


class StudyRules(Asked):
    """Keyword rules to study: one ``label: query`` per line."""

    rules: Rules


class SaveRules(StudyRules):
    """Keyword rules to keep, and the revision of those that were seen."""

    by: User
    revision: Whole


class SavedRules(BaseModel):
    """The keyword rules that were saved last, by whom and when; the revision is 0 before the first."""

    rules: str
    revision: int
    by: str | None
    at: float | None


class RuleFigures(BaseModel):
    """How many documents match, have the label, and are unlabelled; precision leaves the unlabelled ones out."""

    documents: int
    true: int
    unlabelled: int
    precision: float | None
    interval: tuple[float, float] | None
    """The 95 % interval of the precision."""
    recall: float | None


class StudiedRule(RuleFigures):
    """One line of keyword rules."""

    line: int
    label: str
    query: str


class RuledLabel(RuleFigures):
    """All lines of a label together: they are alternatives."""

    label: str
    lines: int
    label_documents: int


class RuleProblem(BaseModel):
    """A mistake in a line of keyword rules."""

    line: int
    problem: str


class RuleStudy(BaseModel):
    """What keyword rules match; counts are of the documents that were read within the time for it."""

    documents: int
    read: int
    rules: list[StudiedRule]
    labels: list[RuledLabel]
    problems: list[RuleProblem]
