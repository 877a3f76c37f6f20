"""`Result`: what an evaluation found, as a frozen record that turns into JSON, a table or a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class LabelRow:
    """How one label fared: its documents in training and test, the counts, and what they give."""

    label: str
    trained: int
    true: int
    predicted: int
    hits: int
    precision: float
    recall: float
    f1: float
    threshold: float | None


@dataclass(frozen=True, slots=True)
class PartCounts:
    """The documents of a part by how many labels they have."""

    documents: int
    unlabelled: int
    one_label: int
    several_labels: int

    @classmethod
    def of(cls, label_sets: Sequence[Sequence[str]]) -> PartCounts:
        """Count a list of label sets.

        >>> PartCounts.of([["a"], [], ["a", "b"]])
        PartCounts(documents=3, unlabelled=1, one_label=1, several_labels=1)
        """
        sizes = [len(names) for names in label_sets]
        none, one = sizes.count(0), sizes.count(1)
        return cls(len(sizes), none, one, len(sizes) - none - one)


@dataclass(frozen=True, slots=True)
class Result:
    """The measures of one classifier on one set of documents.

    `measures` has two columns wherever the documents include unlabelled ones: over ``all`` documents and over the
    ``labelled`` ones only; some figures differ by ten points between the two, and papers seldom say which they print.
    """

    method: str
    data: str
    part: str
    test: PartCounts
    train: PartCounts | None
    measures: Mapping[str, Mapping[str, float]]
    labels: Sequence[LabelRow]
    unseen_labels: Mapping[str, int]
    conventions: Mapping[str, str]
    recipe: Mapping[str, Any]
    seed: int
    seconds: Mapping[str, float]
    gold_sha256: str
    versions: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, Any] = field(default_factory=dict)
    """What a method has to say of how it came to its answers, for example the rounds of co-training."""

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data."""
        return asdict(self)
