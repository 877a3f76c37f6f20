"""`Result`: what an evaluation found, as a frozen record that turns into JSON, a table or a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

from manylabel.exceptions import DataError


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
class SplitCounts:
    """The documents of a part by how many labels they have."""

    documents: int
    unlabelled: int
    one_label: int
    several_labels: int

    @classmethod
    def of(cls, label_sets: Sequence[Sequence[str]]) -> SplitCounts:
        """Count a list of label sets.

        >>> SplitCounts.of([["a"], [], ["a", "b"]])
        SplitCounts(documents=3, unlabelled=1, one_label=1, several_labels=1)
        """
        sizes = [len(names) for names in label_sets]
        none, one = sizes.count(0), sizes.count(1)
        return cls(len(sizes), none, one, len(sizes) - none - one)


@dataclass(frozen=True, slots=True)
class Result:
    """The metrics of one classifier on one set of documents.

    `metrics` has two columns wherever the documents include unlabelled ones: over ``all`` documents and over the
    ``labelled`` ones only; some figures differ by ten points between the two, and papers seldom say which they print.
    """

    method: str
    data: str
    part: str
    test: SplitCounts
    train: SplitCounts | None
    metrics: Mapping[str, Mapping[str, float]]
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
    train_sha256: str | None = None
    """The training documents and their labels, as `gold_sha256` the measured ones; None where they are not known."""

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Result:
        """The record that `as_dict` made plain, also by way of JSON; what an older version did not write is left out.

        JSON knows no nan: a metric that is null there was undefined.
        """
        known = {one.name: one for one in fields(cls)}
        needed = {name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING}
        if not isinstance(plain, Mapping) or not needed <= plain.keys():
            lacks = sorted(needed - plain.keys()) if isinstance(plain, Mapping) else []
            raise DataError(
                f"This is not the result of an evaluation{f': it lacks {lacks[0]!r}' if lacks else ''}.",
                remedy="Write one with `manylabel evaluate DATA --json`.",
            )
        given = {name: value for name, value in plain.items() if name in known}
        try:
            given["test"] = SplitCounts(**plain["test"])
            given["train"] = None if plain["train"] is None else SplitCounts(**plain["train"])
            given["labels"] = [LabelRow(**row) for row in plain["labels"]]
        except TypeError as error:
            raise DataError(f"This result was written by another version of manylabel ({error}).") from None
        given["metrics"] = {
            view: {name: float("nan") if value is None else value for name, value in measured.items()}
            for view, measured in plain["metrics"].items()
        }
        return cls(**given)

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data."""
        return asdict(self)
