"""Successive halving: many settings are tried on little data, the best of them on more, the last few on all of it.

Source: Jamieson & Talwalkar 2016, algorithm 1; Li, Jamieson, DeSalvo, Rostamizadeh & Talwalkar 2018 (Hyperband), whose
inner loop it is, with its η = 3: each rung keeps the best third of the settings and gives them three times the work:
more training documents, then more folds. We add: the first trial, the settings to beat, is kept to the end, so that it
is measured on the same documents as the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from manylabel.deadline import OutOfTime
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import TargetMetric
from manylabel.recipe import Recipe

ETA = 3
FEWEST = 200
"""Training documents below which settings are not judged, as long as there are more."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A number of trials, each of which learns from a share of the training documents in the first `folds` folds."""

    trials: int
    share: float
    folds: int


@dataclass(frozen=True, slots=True)
class Trial:
    """Settings to try; number 0 has the method's own settings, which the others have to beat."""

    number: int
    settings: dict[str, Any]
    recipe: Recipe


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A finished rung: its trials from best to worst, their values in the same order, and their predictions."""

    rung: Rung
    ranking: tuple[Trial, ...]
    values: tuple[float, ...]
    predictions: dict[int, DocumentStatistics]
    """By number of the trial."""


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The finished rungs of a search; `stopped` if the deadline ended it early."""

    steps: tuple[Step, ...]
    stopped: bool

    @property
    def best(self) -> Trial:
        """The best trial of the last rung; the method's own settings win ties."""
        return self.steps[-1].ranking[0]


Run = Callable[[Sequence[Trial], Rung], Iterator[tuple[Trial, DocumentStatistics]]]
"""Runs trials on a rung, in any order."""


def plan_rungs(trials: int, folds: int, documents: int) -> list[Rung]:
    """The rungs of a search: from all trials down to at most three, which get all the work.

    Of L rungs the i-th gets the share 3^(i − L) of `folds` whole folds: a share of one fold's training documents
    (of `documents`, at least `FEWEST`), or several folds.

    >>> for rung in plan_rungs(27, folds=3, documents=6000): print(rung)
    Rung(trials=27, share=0.3333333333333333, folds=1)
    Rung(trials=9, share=1.0, folds=1)
    Rung(trials=3, share=1.0, folds=3)
    """
    numbers = [trials]
    while numbers[-1] > ETA:
        numbers.append(math.ceil(numbers[-1] / ETA))
    rungs = []
    for place, number in enumerate(numbers):
        work = folds / ETA ** (len(numbers) - 1 - place)
        share = min(1.0, max(work, FEWEST / max(documents, 1)))
        rungs.append(Rung(number, share, max(1, round(work))))
    return rungs


def halve(trials: Sequence[Trial], rungs: Sequence[Rung], run: Run, metric: TargetMetric) -> Search:
    """Run the trials down the rungs; `run` may raise `OutOfTime`.

    A rung that the deadline interrupted does not count, since its cheapest trials come first and would be judged alone.
    The first rung does count, as there is no other, if the settings to beat were run.
    """
    steps: list[Step] = []
    left = list(trials)
    for rung in rungs:
        predictions: dict[int, DocumentStatistics] = {}
        try:
            for trial, found in run(left, rung):
                predictions[trial.number] = found
        except OutOfTime:
            if not steps and 0 in predictions:
                steps.append(_ranked(rung, left, predictions, metric))
            return Search(tuple(steps), stopped=True)
        steps.append(_ranked(rung, left, predictions, metric))
        left = _survivors(steps[-1].ranking, rung.trials)
    return Search(tuple(steps), stopped=False)


def _ranked(
    rung: Rung, trials: Sequence[Trial], predictions: dict[int, DocumentStatistics], metric: TargetMetric
) -> Step:
    values = {number: found.value(metric) for number, found in predictions.items()}

    def rank(trial: Trial) -> tuple[bool, float, int]:
        value = values[trial.number]
        return math.isnan(value), -metric.gain(value), trial.number

    ranking = sorted((trial for trial in trials if trial.number in values), key=rank)
    return Step(rung, tuple(ranking), tuple(values[trial.number] for trial in ranking), predictions)


def _survivors(ranking: Sequence[Trial], trials: int) -> list[Trial]:
    """The trials of the next rung: the best third, and the settings to beat."""
    kept = list(ranking[: math.ceil(trials / ETA)])
    return kept if any(trial.number == 0 for trial in kept) else [*kept, *(one for one in ranking if one.number == 0)]
