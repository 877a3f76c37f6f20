"""The records of ``compare`` and ``tune``: see `manylabel.reports.records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manylabel.evaluation.bootstrap import Difference, Interval
from manylabel.reports.records import Record


@dataclass(frozen=True, slots=True)
class MetricName(Record):
    """The metric that was optimised for."""

    name: str
    title: str
    greater_is_better: bool


# Tuning


@dataclass(frozen=True, slots=True)
class TrialRow(Record):
    """One trial: its settings and the value of the metric with its interval."""

    trial: int
    value: float
    low: float
    high: float
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RungRow(Record):
    """One rung of the search: how many trials ran on how many documents, the best one, and the method's own."""

    trials: int
    learned_from: int
    folds: int
    tested: int
    best: TrialRow
    preset: float
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TuningVerdict(Record):
    """The best settings against the method's own: the difference, its corrected p, and whether it is significant."""

    difference: Difference
    p: float
    shown: bool


@dataclass(frozen=True, slots=True)
class SettingValues(Record):
    """The trials with one value of a setting, or with one range of values."""

    text: str
    trials: int
    mean: float
    best: float


@dataclass(frozen=True, slots=True)
class SettingEffect(Record):
    """A setting and its effect: the difference between the best and the worst mean over its values."""

    setting: str
    effect: float
    values: list[SettingValues]


@dataclass(frozen=True, slots=True)
class TuningRecord(Record):
    """A search over the settings of a method, and the recipe it ended with."""

    data: str
    documents: int
    in_memory: int
    """Documents of the search: all, or a random sample where all would take more than --memory."""
    labels: int
    method: str
    metric: MetricName
    folds: str
    seed: int
    trials: int
    stopped: bool
    ranges: Mapping[str, str]
    rungs: list[RungRow]
    planned_rungs: int
    finalists: list[TrialRow]
    verdict: TuningVerdict | None
    """None where the method's own settings were the best."""
    chosen: int
    importance: list[SettingEffect]
    recipe: Mapping[str, Any]
    toml: str
    model: str | None
    trained: int
    """Documents that the model was trained on."""
    why_not_all: str
    """Why these are not all documents, as a phrase; empty where they are."""
    seconds: float
    skipped: list[str]


# Comparisons


@dataclass(frozen=True, slots=True)
class LeaderboardRow(Record):
    """One method with its best decision rule: the metric over the folds it ran, and its distance to the winner."""

    method: str
    features: str
    rule: str
    value: float
    low: float
    high: float
    folds: int
    difference: Difference | None
    """To the winner on the same folds; None for the winner itself."""
    p: float | None
    p_repeated: float | None
    """The p of the test over repeated folds; None where folds were not repeated."""
    no_difference_shown: bool
    reason: str | None
    """Why the method was stopped before it ran all folds; None where it ran them."""
    recipe: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CostRow(Record):
    """What a pipeline costs, beside its value of the metric."""

    name: str
    value: float
    train_seconds: float
    seconds_per_document: float
    bytes: int
    on_front: bool
    """Whether no other pipeline is better in quality, both times and size at once."""


@dataclass(frozen=True, slots=True)
class Discordant(Record):
    """McNemar's test: how often only the winner, and only the other method, was right."""

    winner_only: int
    other_only: int
    p: float


@dataclass(frozen=True, slots=True)
class DiscordantLabel(Discordant):
    """McNemar's test of the decisions on one label."""

    label: str


@dataclass(frozen=True, slots=True)
class Signs(Record):
    """The sign test over labels: on how many the winner's F1 is higher, lower and equal."""

    wins: int
    losses: int
    ties: int
    p: float


@dataclass(frozen=True, slots=True)
class RunnerUp(Record):
    """The winner against the next method: whole label sets, and single labels."""

    other: str
    sets: Discordant
    signs: Signs
    labels: list[DiscordantLabel]


@dataclass(frozen=True, slots=True)
class Expected(Record):
    """The value expected on `documents` new documents, with a prediction interval and its components.

    `optimism` is how much the winner's value gains from the choice itself, in the units of the value; `of_estimate`,
    `of_test` and `of_folds` are standard deviations.
    """

    value: float
    low: float
    high: float
    documents: int
    optimism: float
    of_estimate: float
    of_test: float
    of_folds: float


@dataclass(frozen=True, slots=True)
class TestFigure(Record):
    """The winner's value on the test split, and whether it lies within the expected interval."""

    documents: int
    value: float
    within: bool
    unseen_labels: int


@dataclass(frozen=True, slots=True)
class LabelTable(Record):
    """The F1 of every label by the leading pipelines."""

    labels: list[str]
    documents: list[int]
    f1: Mapping[str, list[float]]
    macro_f1: Mapping[str, Interval]
    """Their mean, with its 95 % interval over resampled documents."""


@dataclass(frozen=True, slots=True)
class ComparisonRecord(Record):
    """A comparison of methods on one data set."""

    data: str
    documents: int
    unlabelled: int
    labels: int
    compared: int
    """Documents that were cross-validated."""
    in_memory: int
    """Documents from which those were taken: all, or a random sample where all would take more than --memory."""
    folds: str
    n_folds: int
    """The number of folds, of all repetitions together."""
    repeats: int
    metric: MetricName
    budget: float | None
    seed: int
    clock_ended_it: bool
    nominal_seconds: float
    leaderboard: list[LeaderboardRow]
    stopped: list[LeaderboardRow]
    left_out: Mapping[str, str]
    """The methods that never ran, and why."""
    costs: list[CostRow]
    against: RunnerUp | None
    expected: Expected
    test: TestFigure | None
    by_label: LabelTable
    first_fold: Mapping[str, float]
    """Each method's best value in the first fold, which all ran: several data sets are compared by it."""
    fold_values: Mapping[str, list[float]]
    """The value in every fold of each pipeline that ran in all."""
    recipe: Mapping[str, Any]
    toml: str
    model: str | None
    trained: int
    """Documents that the winner was trained on; 0 if the budget ended before."""
    why_not_all: str
    """Why these are not all documents, as a phrase; empty where they are."""
    seconds: Mapping[str, float]
    conventions: Mapping[str, Any]
    versions: Mapping[str, str]
    train_sha256: str
    """The training documents in memory and their labels, as a hash like that of `Result`."""
    true_labels_sha256: str | None
    """The same of the test documents; None where there are none, or they are read from disk in pieces."""
    skipped: list[str]
