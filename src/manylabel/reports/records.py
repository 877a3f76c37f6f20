"""The records that tasks return and pages print: frozen, typed, and plain data by `as_dict`.

Those of `compare` and `tune` are in `manylabel.reports.choosing_records`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # importing decisions takes longer than printing a page
    from manylabel.decisions.base import Choice
    from manylabel.evaluation.expected import ExpectedQuality


@dataclass(frozen=True, slots=True)
class Record:
    """The base class of records: frozen data classes with `as_dict`."""

    def as_dict(self) -> dict[str, Any]:
        """The record as dictionaries, lists, strings and numbers."""
        return asdict(self)


# Training, model files, predictions


@dataclass(frozen=True, slots=True)
class TrainingRecord(Record):
    """A training run: the documents, the model and what was chosen or guaranteed."""

    model: str | None
    """The path of the model file; None where none was written."""
    data: str
    documents: int
    unlabelled: int
    labels: int
    terms: int
    reading: list[str]
    """What was chosen for the texts, in words: the stemmer, tokens for scripts without spaces, HTML."""
    seconds: float
    recipe: Mapping[str, Any]
    chosen: Choice | None
    """The decision rule and settings that were chosen for a metric; None where nothing was chosen."""
    guarantee: Mapping[str, Any] | None
    expected: ExpectedQuality | None
    """The quality to expect on new documents; None where training gives no out-of-fold scores."""
    has_test_split: bool
    """Whether the data have a test split that training did not use."""
    skipped: list[str]
    vocabulary: str | None = None
    """A sentence on the vocabulary that names the labels; None where there is none."""
    one_label_each: bool = False
    """Whether every training document has exactly one label."""
    single_label: bool = False
    """Whether exactly one label is predicted per document."""
    documents_per_label: float | None = None
    """How many training documents a label has, on average."""
    labels_once: int = 0
    """How many labels have a single training document."""
    described_only: list[str] = field(default_factory=list)
    """The labels that no training document has, known from their descriptions only."""


@dataclass(frozen=True, slots=True)
class ArrayShape(Record):
    """The type and shape of an array in a model file."""

    dtype: str
    shape: list[int]


@dataclass(frozen=True, slots=True)
class ModelRecord(Record):
    """The contents of a model file."""

    path: str
    bytes: int
    versions: dict[str, str]
    facts: dict[str, Any]
    """What was written beside the model: the data, their documents, the recipe."""
    labels: list[str]
    addresses: dict[str, str]
    """The address (URI) of each label that a vocabulary named."""
    label_counts: list[int]
    thresholds: list[float] | None
    language: str | None
    """The language of the stemmer, where it was detected."""
    texts: list[str]
    """What was chosen by the training texts, in words: stems, pairs of characters, removed HTML."""
    chosen: Choice | None
    guarantee: Mapping[str, Any] | None
    bin_weights: Mapping[str, list[float]] | None
    """The mean weight of each frequency bin (value-weighted naive Bayes); None for other methods."""
    expected: ExpectedQuality | None
    """The quality to expect on new documents, as training measured it out of fold."""
    changes: list[dict[str, Any]]
    """Corrections of the thresholds after training."""
    single_label: bool
    """Whether exactly one label is predicted per document."""
    arrays: dict[str, ArrayShape]
    reading: str | None = None
    """A sentence on how the documents were read from a file; None where they were not."""
    updates: list[Mapping[str, Any]] = field(default_factory=list)
    """The updates since training, the first one first."""
    described: list[str] = field(default_factory=list)
    """The labels that were described in training."""


@dataclass(frozen=True, slots=True)
class ThresholdRow(Record):
    """The threshold of one label, with its precision and recall; None where these are not known."""

    label: str
    documents: int
    threshold: float
    was: float | None
    """The threshold before the change; None where it was not changed, or there was none."""
    changed: bool
    precision: float | None
    recall: float | None


@dataclass(frozen=True, slots=True)
class ThresholdEffect(Record):
    """Precision and recall over all labels, before and after a change of thresholds; None where nothing is known."""

    precision: float | None
    precision_before: float | None
    recall: float | None
    recall_before: float | None
    hardly_predicted: list[str]
    """The labels that the change leaves with a recall below 0.1, those with most documents first."""
    recall_halved: list[str]
    """Other labels that the change leaves with less than half of their recall, in the same order."""
    unmoved: list[str]
    """The labels with another threshold but the same figures, since no score lies between the old and the new one."""


@dataclass(frozen=True, slots=True)
class ThresholdsRecord(Record):
    """The thresholds of a model, before and after a change if there was one."""

    model: str
    written: str | None
    """The corrected model file; None where none was written."""
    probabilities: bool
    """Whether thresholds and scores are probabilities."""
    figures: str | None
    """The documents on which precision and recall were measured; None where they are not known."""
    changed: bool
    target: str | None
    unreached: list[str]
    """The labels that do not reach the target at any threshold; theirs were not changed."""
    guarantee_lost: bool
    effect: ThresholdEffect | None
    """What the change leads to; None where nothing was changed, or precision and recall are not known."""
    labels: list[ThresholdRow]
    """The labels, those with most documents first; empty where the rule has no threshold per label."""


@dataclass(frozen=True, slots=True)
class UpdateReport(Record):
    """A model that was updated."""

    model: str
    written: str
    method: str
    labels_before: int
    labels: int
    update: Mapping[str, Any]
    """What the model keeps of the update, see `manylabel.text_model.UPDATE`."""
    remark: str | None
    """A sentence where training documents are missing among the former ones."""
    skipped: list[str]


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """The predicted labels of one document, best first, with scores and thresholds of these and the next labels."""

    id: str
    labels: list[str]
    scores: dict[str, float]
    thresholds: dict[str, float]
    addresses: Mapping[str, str] = field(default_factory=dict)
    """The address (URI) of each label that a vocabulary named; empty without a vocabulary."""

    def as_dict(self, *, with_scores: bool) -> dict[str, Any]:
        """The prediction as plain data, for one line of JSON."""
        if self.addresses:
            uris = [self.addresses.get(name) for name in self.labels]
            return {**replace(self, addresses={}).as_dict(with_scores=with_scores), "uris": uris}
        if not with_scores:
            return {"id": self.id, "labels": self.labels}
        scored = [{"label": name, "score": score, **self._threshold(name)} for name, score in self.scores.items()]
        return {"id": self.id, "labels": self.labels, "scores": scored}

    def _threshold(self, name: str) -> dict[str, float]:
        return {"threshold": self.thresholds[name]} if name in self.thresholds else {}


# Evaluation


@dataclass(frozen=True, slots=True)
class Straddle(Record):
    """How many test documents have a near-duplicate in training, and the first of them with its nearest one."""

    documents: int
    tested: int
    identical: int
    first: tuple[str, str] | None
    dropped: int = 0
    """How many training documents were left out because they are near-duplicates of test documents."""


# Terms


@dataclass(frozen=True, slots=True)
class Term(Record):
    """A term, its score, its number of documents, and whether it is evidence against the label."""

    term: str
    score: float
    documents: int
    against: bool


@dataclass(frozen=True, slots=True)
class BestTerms(Record):
    """The best terms by each function for one label, or for all labels together (`label` None)."""

    label: str | None
    documents: int
    best: Mapping[str, Sequence[Term]]


@dataclass(frozen=True, slots=True)
class SelectionRecord(Record):
    """The best terms of some documents by several functions."""

    data: str
    documents: int
    labels: int
    terms: int
    min_df: int
    functions: Sequence[str]
    eps: float
    combine: Mapping[str, str]
    found: Sequence[BestTerms]
    skipped: list[str]


# Learning curves


@dataclass(frozen=True, slots=True)
class CurveStep(Record):
    """One size: the mean of the metric over repeats, its smallest and largest value, and all values."""

    documents: int
    mean: float
    low: float
    high: float
    values: list[float]


@dataclass(frozen=True, slots=True)
class Outlook(Record):
    """The fitted curve a − b · n^(−c) at twice the documents, with 95 % intervals, and how far to trust it.

    `value` is the last measured value plus what the curve adds to it (`gain`, above 0 where it gets better); `closed`
    is the share of the distance to a perfect score that this closes. `foretold` is the value that the curve through all
    steps but the last predicts, in the same way, for the last (None below four steps).
    """

    a: float
    b: float
    c: float
    documents: int
    value: float
    low: float
    high: float
    gain: float
    closed: float
    closed_low: float
    closed_high: float
    foretold: float | None


@dataclass(frozen=True, slots=True)
class LabelCurve(Record):
    """The F1 of one label at each size and its slope per doubling of the documents: see `LabelTrend`."""

    label: str
    trained: int
    tested: int
    f1: list[float]
    slope: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True, slots=True)
class LearningCurve(Record):
    """A learning curve, its outlook for more documents, and the curve of each label."""

    data: str
    split: str
    method: str
    metric: str
    title: str
    greater_is_better: bool
    tested: int
    repeats: int
    seed: int
    steps: list[CurveStep]
    outlook: Outlook
    labels: list[LabelCurve]
    recipe: Mapping[str, Any]
    seconds: float
    skipped: list[str]


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """What was exported, and the files written."""

    model: str
    target: str
    output: str
    method: str
    labels: int
    terms: int
    files: list[dict[str, Any]]
    """The path of each file and its size in bytes."""

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ListedExperiment(Record):
    """An experiment of a paper that can be reproduced."""

    paper: str
    key: str
    title: str
    jobs: int
    seconds: float
    """About how long its jobs take on one core."""
