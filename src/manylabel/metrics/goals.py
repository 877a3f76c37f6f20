"""What a user may say matters: the goals by which methods are compared and decisions are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy.typing as npt

from manylabel.exceptions import UnknownNameError
from manylabel.metrics.counts import LabelMatrix
from manylabel.metrics.measures import find_measure, measure_all
from manylabel.metrics.ranking import label_ranks, recall_at


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal: the measure it stands for. `k` is set for goals about the k best-scored labels, which need scores."""

    name: str
    title: str
    measure: str
    greater_is_better: bool
    k: int | None = None

    def value(self, truth: LabelMatrix, given: LabelMatrix, scores: npt.ArrayLike | None = None) -> float:
        """The measure itself, as it is printed."""
        if self.k is None:
            return measure_all(truth, given, [self.measure])[self.measure]
        if scores is None:
            raise ValueError(f"{self.name} is about the order of labels and needs their scores.")
        return recall_at(label_ranks(truth, scores), self.k)

    def gain(self, value: float) -> float:
        """The value with its sign turned where less is better, so that greater is always better."""
        return value if self.greater_is_better else -value


_TABLE = {
    "micro-f1": "micro-f1",
    "macro-f1": "macro-f1",
    "sample-f1": "sample-f1",
    "exact": "exact-match",
    "hamming": "hamming-loss",
}
GOALS: Mapping[str, Goal] = {
    name: Goal(name, find_measure(measure).title, measure, bool(find_measure(measure).greater_is_better))
    for name, measure in _TABLE.items()
}
DEFAULT_GOAL = "micro-f1"


def find_goal(name: str) -> Goal:
    """The goal of that name; ``recall@5`` (any number) is the recall of the five best labels.

    >>> find_goal("exact").measure, find_goal("hamming").greater_is_better, find_goal("recall@3").k
    ('exact-match', False, 3)
    """
    if name in GOALS:
        return GOALS[name]
    if found := re.fullmatch(r"recall(?:@|-at-)([1-9]\d*)", name):
        k = int(found[1])
        return Goal(f"recall@{k}", f"Recall at {k}", f"recall-at-{k}", True, k)
    known = [goal for goal, row in GOALS.items() if row.measure == name]
    if known:
        return GOALS[known[0]]
    raise UnknownNameError("goal", name, [*GOALS, "recall@5"])
