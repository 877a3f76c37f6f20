"""The records of the label report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from manylabel.evaluation.mistakes import Confusion
from manylabel.evaluation.threshold_curves import ThresholdCurve
from manylabel.reports.records import Record


@dataclass(frozen=True, slots=True)
class LabelRow(Record):
    """One label in use."""

    label: str
    documents: int
    share: float
    imbalance: float
    """IRLbl: how many times as frequent the most frequent label is."""
    companions: tuple[str, ...]
    """The labels that occur with it most above chance."""


@dataclass(frozen=True, slots=True)
class Together(Record):
    """Two labels that occur together significantly more often than by chance."""

    first: str
    second: str
    both: int
    expected: float
    p: float


@dataclass(frozen=True, slots=True)
class Implication(Record):
    """A label nearly all of whose documents have another one, too."""

    label: str
    implied: str
    both: int
    documents: int
    low: float
    """The lower end of the 95 % interval of the share of documents that have both."""
    p: float


@dataclass(frozen=True, slots=True)
class Exclusion(Record):
    """Two labels that occur together significantly less often than by chance."""

    first: str
    second: str
    both: int
    expected: float
    p: float


@dataclass(frozen=True, slots=True)
class MissingAncestor(Record):
    """A label whose documents lack an ancestor."""

    label: str
    ancestor: str
    lacking: int
    documents: int


ONE_LABEL = (
    "Where two of them mean one label, write one name in the data and train again; or merge them in a model: "
    "manylabel update MODEL --with DATA --merge 'OLD=NEW'."
)
"""What to do about labels that may be one."""


@dataclass(frozen=True, slots=True)
class SimilarNames(Record):
    """Two label names that may mean the same."""

    first: str
    second: str
    reason: str


@dataclass(frozen=True, slots=True)
class LabelQuality(Record):
    """How well a model predicts a label; None where nothing is defined, pairs are 95 % intervals."""

    label: str
    true: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None
    precision_interval: tuple[float, ...]
    recall_interval: tuple[float, ...]
    f1_interval: tuple[float, ...]
    threshold: float | None
    more_documents: str | None = None
    """Whether more documents would help: rising, level, open or rare, as `LabelTrend`; None where it was not judged."""


@dataclass(frozen=True, slots=True)
class LabelTerms(Record):
    """The best terms of a label by each selection function, and the terms that speak for it in wrong predictions."""

    label: str
    best: Mapping[str, tuple[str, ...]]
    misleading: tuple[tuple[str, float], ...] = ()
    """Terms with their mean contribution to wrong predictions of the label, the strongest first."""


@dataclass(frozen=True, slots=True)
class LabelReport(Record):
    """The labels of a corpus: sizes, imbalance, pairs, names, hierarchy."""

    data: str
    documents: int
    names: int
    mean_ratio: float
    scumble: float
    cardinality: float
    labels: tuple[LabelRow, ...]
    n_together: int
    together: tuple[Together, ...]
    n_implications: int
    implications: tuple[Implication, ...]
    n_exclusions: int
    exclusions: tuple[Exclusion, ...]
    missing_ancestors: tuple[MissingAncestor, ...]
    similar_names: tuple[SimilarNames, ...]


@dataclass(frozen=True, slots=True)
class ModelOfLabels(Record):
    """What a model adds to the label report, measured on some documents."""

    model: str
    measured_on: str
    documents: int
    trained_on: int
    """How many of these documents the model was trained on, of those compared."""
    quality: tuple[LabelQuality, ...]
    verdicts: str | None
    """How `LabelQuality.more_documents` was found; None where it was not judged."""
    probabilities: bool
    """Whether thresholds are probabilities."""
    common: ThresholdCurve | None
    thresholds: tuple[ThresholdCurve, ...]
    """What thresholds would predict, of the most frequent labels."""
    confusions: tuple[Confusion, ...]
    terms: tuple[LabelTerms, ...]
