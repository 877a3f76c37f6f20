"""Which settings mattered: how good a search's trials were with each choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.catalog.ranges import Choice, Range
from manylabel.choosing.halving import Step, Trial
from manylabel.choosing.settings import value_in
from manylabel.metrics.targets import TargetMetric
from manylabel.parameters import value_text

STRETCHES = 3
"""Into so many parts, of equally many trials, the numbers of a range are divided."""


@dataclass(frozen=True, slots=True)
class Part:
    """The trials with one value of a setting, or with values of one stretch of it."""

    text: str
    trials: int
    mean: float
    best: float


@dataclass(frozen=True, slots=True)
class Importance:
    """A setting, its parts, and the effect: the gain from the part of the worst mean to that of the best."""

    setting: str
    effect: float
    parts: tuple[Part, ...]


def importances(step: Step, ranges: Mapping[str, Range], metric: TargetMetric) -> list[Importance]:
    """The settings of a rung's trials, from the one that mattered most to the one that mattered least.

    The effect is the main effect of an analysis of variance: since each range is drawn from evenly, whatever else was
    drawn, the other settings even out over the trials of a part. With few trials they do so roughly.
    """
    values = dict(zip((trial.number for trial in step.ranking), step.values, strict=True))
    found = [
        _importance(setting, allowed, step.ranking, values, metric)
        for setting, allowed in ranges.items()
        if not (isinstance(allowed, Choice) and len(allowed.values) == 1)
    ]
    return sorted(found, key=lambda one: -one.effect)


def _importance(
    setting: str, allowed: Range, trials: Sequence[Trial], values: Mapping[int, float], metric: TargetMetric
) -> Importance:
    settings = {trial.number: value_in(trial.recipe, setting) for trial in trials}
    divided = _choices(settings, allowed.values) if isinstance(allowed, Choice) else _stretches(settings)
    parts = []
    for text, numbers in divided:
        found = [values[number] for number in numbers]
        parts.append(Part(text, len(found), float(np.mean(found)), max(found, key=metric.gain)))
    gains = [metric.gain(part.mean) for part in parts]
    return Importance(setting, max(gains) - min(gains), tuple(parts))


def _choices(settings: Mapping[int, Any], declared: Sequence[Any] = ()) -> list[tuple[str, list[int]]]:
    """The trials with each value, in the order in which the values were declared."""
    by_text: dict[str, list[int]] = {value_text(value): [] for value in declared}
    for number, value in sorted(settings.items()):
        by_text.setdefault(value_text(value), []).append(number)
    return [(text, numbers) for text, numbers in by_text.items() if numbers]


def _stretches(settings: Mapping[int, Any]) -> list[tuple[str, list[int]]]:
    """Numbers in stretches; what is no number (no selection, say) stands for itself."""
    numeric = sorted((value, number) for number, value in settings.items() if isinstance(value, (int, float)))
    found = []
    for places in np.array_split(np.arange(len(numeric)), min(STRETCHES, len(numeric))) if numeric else []:
        low, high = numeric[places[0]][0], numeric[places[-1]][0]
        text = value_text(low) if low == high else f"{value_text(low)} to {value_text(high)}"
        found.append((text, [numeric[place][1] for place in places.tolist()]))
    return found + _choices(
        {number: value for number, value in settings.items() if not isinstance(value, (int, float))}
    )
