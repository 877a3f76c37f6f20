"""The record of an evaluation, and checks that two of them can be compared."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from manylabel import __version__
from manylabel.exceptions import ComparisonError, DataError
from manylabel.metrics.by_frequency import FrequencyBand, frequency_bands
from manylabel.metrics.counts import LabelCounts
from manylabel.wording import counted


@dataclass(frozen=True, slots=True)
class LabelRow:
    """The results for one label: its documents in training and test, its counts, and the metrics of these."""

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
    """The documents of a split by how many labels they have."""

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


class Guaranteed(TypedDict, total=False):
    """What a decision rule guarantees, in remarks; the measured figures are those of the test documents."""

    metric: str
    level: float
    documents: int
    threshold: float
    risk: float
    bound: float
    measured: float
    measured_on: int


class Chosen(TypedDict, total=False):
    """What was chosen for a metric, in remarks."""

    metric: str
    title: str
    rule: str
    value: float | None
    settings: Mapping[str, float]


class Remarks(TypedDict, total=False):
    """The remarks that pages show, see `manylabel.evaluation.remarks.remarks_of`; there may be others."""

    iterations_median: float
    iterations_95: float
    cycle_share: float
    unsettled_share: float
    cycle_periods: Mapping[str, int]
    chosen: Mapping[str, float]
    chosen_for_metric: Chosen
    all_negative_share: float
    guarantee: Guaranteed
    supports: Mapping[str, Mapping[str, float]]
    bin_weights: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Result:
    """The metrics of one classifier on one set of documents.

    `metrics` has two columns wherever the documents include unlabelled ones: over ``all`` documents and over the
    ``labelled`` ones only; some figures differ by ten points between the two, and papers seldom say which they print.
    """

    method: str
    data: str
    split: str
    test: SplitCounts
    train: SplitCounts | None
    metrics: Mapping[str, Mapping[str, float]]
    labels: Sequence[LabelRow]
    unseen_labels: Mapping[str, int]
    conventions: Mapping[str, str]
    recipe: Mapping[str, Any]
    seed: int
    seconds: Mapping[str, float]
    true_labels_sha256: str
    versions: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, Any] = field(default_factory=dict)
    """What a method reports on its predictions, for example the rounds of co-training."""
    train_sha256: str | None = None
    """The training documents and their labels, as a hash like `true_labels_sha256`; None where they are not known."""

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
        values = {name: value for name, value in plain.items() if name in known}
        metrics = values["metrics"]
        if isinstance(metrics, Mapping) and all(isinstance(measured, Mapping) for measured in metrics.values()):
            values["metrics"] = {
                view: {name: float("nan") if value is None else value for name, value in measured.items()}
                for view, measured in metrics.items()
            }
        hints = {**get_type_hints(cls), "remarks": Remarks}
        odd = [name for name, value in values.items() if not _fits(value, hints[name])]
        if not odd and "predict" not in values["seconds"]:
            odd = ["seconds"]
        if not odd and not {"all"} <= values["metrics"].keys() <= {"all", "labelled"}:
            odd = ["metrics"]
        if odd:
            raise DataError(
                f"This is not the result of an evaluation, or another version of manylabel wrote it: {odd[0]!r} does "
                "not hold what it should.",
                remedy="Write it again with `manylabel evaluate DATA --json`.",
            )
        values["test"] = SplitCounts(**values["test"])
        values["train"] = None if values["train"] is None else SplitCounts(**values["train"])
        values["labels"] = [LabelRow(**row) for row in values["labels"]]
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data, with the figures by frequency, which follow from those of the labels."""
        return {**asdict(self), "by_frequency": [asdict(one) for one in self.by_frequency]}

    @property
    def label_counts(self) -> LabelCounts:
        """The counts of each label over the test documents."""
        columns = ([row.hits for row in self.labels], [row.predicted for row in self.labels])
        tp, predicted, true = (np.array(one, dtype=np.int64) for one in (*columns, [row.true for row in self.labels]))
        return LabelCounts(tp, predicted - tp, true - tp, self.test.documents - predicted - true + tp)

    @property
    def by_frequency(self) -> list[FrequencyBand]:
        """The quality of labels with few, some and many training documents."""
        return frequency_bands(self.label_counts, np.array([row.trained for row in self.labels], dtype=np.int64))


MOST = 1 << 53
"""The largest whole number in a result; every program reads it from JSON as it is."""


def _fits(value: Any, hint: Any) -> bool:
    """Whether plain data are of the type that a field of a record is declared with.

    >>> _fits({"a": [1.5, 2]}, Mapping[str, Sequence[float]]), _fits({"a": ["1"]}, Mapping[str, Sequence[float]])
    (True, False)
    """
    if hint is Any or hint is NoneType:
        return hint is Any or value is None
    if hint is float or hint is int:
        whole = isinstance(value, int) and -MOST <= value <= MOST
        return whole or (hint is float and isinstance(value, float))
    if is_dataclass(hint) or is_typeddict(hint):
        declared = get_type_hints(hint)
        if not isinstance(value, Mapping) or (is_dataclass(hint) and declared.keys() != value.keys()):
            return False
        return all(_fits(inner, declared.get(name, Any)) for name, inner in value.items())
    origin, inner = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return any(_fits(value, one) for one in inner)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(one, inner[1]) for one in value.values())
    if origin is Sequence:
        return isinstance(value, (list, tuple)) and all(_fits(one, inner[0]) for one in value)
    return isinstance(value, hint)


SHOWN = 12
"""Characters of a hash that are shown."""


def fingerprint(ids: Sequence[str], label_sets: Sequence[Sequence[str]]) -> str:
    """SHA-256 of documents' ids and labels: two results with the same one were measured against the same true labels.

    >>> fingerprint(["1", "2"], [["a", "b"], []]) == fingerprint(["1", "2"], [["b", "a"], []])
    True
    """
    digest = hashlib.sha256()
    for identifier, names in zip(ids, label_sets, strict=True):
        digest.update(json.dumps([identifier, sorted(names)], ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The versions of manylabel, Python and NumPy that figures are computed with."""
    return {"manylabel": __version__, "python": platform.python_version(), "numpy": np.__version__}


def check_comparable(results: Sequence[Result], names: Sequence[str] | None = None) -> None:
    """Raise `ComparisonError` for results of one data set that were measured differently, naming what differs.

    Alike are: the split measured, the true labels (`true_labels_sha256`), the labels counted (the denominator of macro
    averages and Hamming loss), and the convention of every metric both have. Methods, recipes, seeds, versions and the
    training documents may differ: they are what is compared.

    `names` is what the message calls the results; without, their methods.
    """
    called = list(names or (result.method for result in results))
    for name, result in zip(called[1:], results[1:], strict=True):
        if differing := "; ".join(_unlike(results[0], result)):
            raise ComparisonError(
                f"{called[0]} and {name} were not measured alike and cannot stand in one table: {differing}. "
                "Measure both again, on the same documents with the same version of manylabel."
            )


def check_same_conventions(results: Sequence[Result]) -> None:
    """Raise `ComparisonError` for results of several data sets whose metrics follow different conventions."""
    for result in results[1:]:
        if differing := "; ".join(_other_conventions(results[0].conventions, result.conventions)):
            raise ComparisonError(
                f"The results on {results[0].data} and {result.data} cannot be ranked together: {differing}."
            )


def same_training(results: Sequence[Result]) -> bool:
    """Whether all results whose training documents are known were trained on the same ones."""
    return len({result.train_sha256 for result in results if result.train_sha256 is not None}) <= 1


def _unlike(one: Result, two: Result) -> Iterator[str]:
    if one.split != two.split:
        yield f"one is of the split {one.split!r}, the other of {two.split!r}"
    if one.true_labels_sha256 != two.true_labels_sha256:
        yield (
            f"the measured documents or their true labels differ ({one.data}, "
            f"{counted(one.test.documents, 'document')}, hash "
            f"{one.true_labels_sha256[:SHOWN]}; {two.data}, {counted(two.test.documents, 'document')}, hash "
            f"{two.true_labels_sha256[:SHOWN]})"
        )
    labels = [{row.label for row in result.labels} for result in (one, two)]
    if labels[0] != labels[1]:
        odd = min(labels[0] ^ labels[1])
        one_counts = counted(len(labels[0]), "label")
        yield f"one counts {one_counts}, the other {len(labels[1])} ({odd!r} is only in one of them)"
    if one.metrics.keys() != two.metrics.keys():
        yield "only one of them has figures over the labelled documents alone"
    yield from _other_conventions(one.conventions, two.conventions)


def _other_conventions(one: Mapping[str, str], two: Mapping[str, str]) -> Iterator[str]:
    other = [name for name in one if name in two and one[name] != two[name]]
    if other:
        more = f" (and {len(other) - 1} more metrics)" if len(other) > 1 else ""
        yield f"the convention of {other[0]} differs: “{one[other[0]]}” and “{two[other[0]]}”{more}"
