"""Search the settings of a method: draw trials from its ranges, compare the best with the method's own settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from manylabel.catalog import find_class, find_method
from manylabel.catalog.ranges import Choice, Range
from manylabel.catalog.ranges import Search as Ranges
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.halving import Rung, Search, Step, Trial, halve, plan_rungs
from manylabel.choosing.settings import Overrides, draw_settings, searched, value_in, with_settings
from manylabel.choosing.trial import WarmStarts, run_trial
from manylabel.data.splits import Split, iterative_split
from manylabel.deadline import Deadline
from manylabel.estimator import Csr
from manylabel.evaluation.bootstrap import Difference, paired_difference
from manylabel.evaluation.paired_tests import permutation_test
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.exceptions import ManylabelWarning, ParameterError
from manylabel.metrics.targets import TargetMetric
from manylabel.parameters import value_text
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.wording import counted, setting_name

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """The best settings compared with the method's own on the same documents.

    `p` is that of the permutation test times the number of trials (Bonferroni): the best of many settings looks better
    than it is, since it is also the luckiest.
    """

    difference: Difference
    p: float
    shown: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """The outcome of a search: its ranges, trials and rungs, and the verdict on the best settings."""

    ranges: Ranges
    trials: tuple[Trial, ...]
    rungs: tuple[Rung, ...]
    search: Search
    verdict: Verdict | None
    """None if the method's own settings were the best."""

    @property
    def chosen(self) -> Trial:
        """The best settings if their gain is significant, the method's own otherwise."""
        return self.search.best if self.verdict is not None and self.verdict.shown else self.trials[0]


def tune(
    work: FoldWork,
    method: str,
    metric: TargetMetric,
    *,
    fixed: Overrides | None = None,
    trials: int,
    deadline: Deadline,
) -> Tuned:
    """Search the ranges of a method over the folds of `work`; `fixed` settings are not searched.

    The result depends on the seed but not on the number of threads, unless the deadline ends the search.
    """
    ranges = searched(method, fixed, has_texts=work.has_texts)
    drawn = draw_settings(ranges, trials - 1, work.seed)
    listed = [Trial(0, {}, with_settings(method, fixed, {}))]
    listed += [Trial(place, one, with_settings(method, fixed, one)) for place, one in enumerate(drawn, start=1)]
    rungs = plan_rungs(len(listed), len(work.splits), min(len(train) for train, _ in work.splits))
    runner = _Runner(work, rungs, metric, deadline)
    with stage(f"Tuning {method}", runner.total) as advance:
        runner.advance = advance
        search = halve(listed, rungs, runner.run, metric)
    if not search.steps:
        raise ParameterError(
            f"The budget ended before the method's own settings were measured. Give a longer {setting_name('budget')}."
        )
    return Tuned(ranges, tuple(listed), tuple(rungs), search, judge(search, metric, len(listed), work.seed))


def judge(search: Search, metric: TargetMetric, trials: int, seed: int) -> Verdict | None:
    """The verdict on whether the best settings beat the method's own; None if the method's own are the best."""
    if search.best.number == 0:
        return None
    predictions = search.steps[-1].predictions
    best, own = predictions[search.best.number], predictions[0]
    # Enough permutations for p to fall below the level after the correction.
    test = permutation_test(best, own, metric, seed, permutations=max(1999, 100 * trials - 1))
    p = min(1.0, test.p * trials)
    gain = metric.gain(best.value(metric)) - metric.gain(own.value(metric))
    return Verdict(paired_difference(best, own, metric, seed), p, bool(p < LEVEL and gain > 0))


class _Runner:
    """Runs the trials of a rung: those that share matrices together, and linear SVMs in the order of rising C."""

    def __init__(self, work: FoldWork, rungs: Sequence[Rung], metric: TargetMetric, deadline: Deadline) -> None:
        self.metric = metric
        self.deadline = deadline
        self.rungs = list(rungs)
        self.works = _on_shares(work, rungs)
        self.total = sum((rung.trials + (place > 0)) * self.weight(rung) for place, rung in enumerate(rungs))
        self.advance: Callable[[int], None] = lambda by: None

    @staticmethod
    def weight(rung: Rung) -> int:
        """The cost of one trial of the rung, in hundredths of a whole fold."""
        return round(100 * rung.share) * rung.folds

    def run(self, trials: Sequence[Trial], rung: Rung) -> Iterator[tuple[Trial, DocumentStatistics]]:
        place = self.rungs.index(rung)
        work, is_last = self.works[place], place == len(self.rungs) - 1
        title = f"Rung {place + 1} of {len(self.rungs)}: {counted(len(trials), 'setting')}"
        with stage(title, len(trials) * rung.folds) as advance:
            for group in _groups(trials):
                by_trial: dict[int, list[DocumentStatistics]] = {trial.number: [] for trial in group}
                for fold in range(rung.folds):
                    fit = WarmStarts()
                    for trial in group:
                        recipe = trial.recipe if is_last else _loosened(trial.recipe)
                        by_trial[trial.number].append(self._predictions(work, recipe, fold, fit))
                        advance(1)
                        self.advance(self.weight(rung) // rung.folds)
                for trial in group:
                    yield trial, DocumentStatistics.concatenate(by_trial[trial.number])

    def _predictions(self, work: FoldWork, recipe: Recipe, fold: int, fit: WarmStarts) -> DocumentStatistics:
        with warnings.catch_warnings():  # settings under trial that do not converge are no concern of the user
            warnings.simplefilter("ignore", ManylabelWarning)
            found = run_trial(
                work,
                recipe,
                {"own": recipe.decision},
                fold,
                with_ranks=self.metric.k is not None,
                fit=fit,
                deadline=self.deadline,
            )["own"]
        return DocumentStatistics(Csr(work.Y[work.splits[fold][1]]), found.Y_pred, found.ranks)


def _on_shares(work: FoldWork, rungs: Sequence[Rung]) -> list[FoldWork]:
    """The work of each rung: the first folds, with a stratified share of the training documents.

    Smaller shares are subsets of larger ones. The tested documents stay the same.
    """
    found: list[FoldWork] = []
    splits: list[Split] = list(work.splits)
    share = 1.0
    for rung in reversed(rungs):
        if rung.share < share:
            kept = (rung.share / share, 1 - rung.share / share)
            splits = [
                (np.sort(train[iterative_split(Csr(work.Y[train]), kept, work.seed)[0]]), test)
                for train, test in splits[: rung.folds]
            ]
            share = rung.share
        found.insert(0, work if share == 1 else work.divided(splits))
    return found


def _groups(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Groups of trials that learn from the same matrices, C rising; the settings to beat come first, alone."""

    def key(trial: Trial) -> tuple[bool, str]:
        recipe = trial.recipe
        others = {name: value for name, value in recipe.model.items() if name != "C"}
        sections = (recipe.features, recipe.selection, recipe.weighting, others)
        return trial.number != 0, repr([sorted(section.items()) for section in sections])

    ordered = sorted(trials, key=lambda one: (key(one), one.recipe.model.get("C", 1.0), one.number))
    return [list(group) for _, group in groupby(ordered, key)]


def _loosened(recipe: Recipe) -> Recipe:
    """The recipe with the model's `trial_settings`: solved just precisely enough to choose between settings."""
    model = find_class(find_method(recipe.method).model)
    return replace(recipe, model={**model.trial_settings, **recipe.model})


# ---- which settings mattered -----------------------------------------------------------------------------------------

INTERVALS = 3
"""The number of intervals, with equally many trials, into which the values of a numeric range are divided."""


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """The trials with one value of a setting, or with values in one interval of it."""

    text: str
    trials: int
    mean: float
    best: float


@dataclass(frozen=True, slots=True)
class Importance:
    """A setting, its groups of values, and its effect: the difference between the best and the worst group's mean."""

    setting: str
    effect: float
    groups: tuple[ValueGroup, ...]


def importances(step: Step, ranges: Mapping[str, Range], metric: TargetMetric) -> list[Importance]:
    """The settings of a rung's trials, from the one that mattered most to the one that mattered least.

    The effect is the main effect of an analysis of variance: since each range is drawn from evenly, whatever else was
    drawn, the other settings even out over the trials of a group. With few trials they do so roughly.
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
    divided = _choices(settings, allowed.values) if isinstance(allowed, Choice) else _number_groups(settings)
    groups = []
    for text, numbers in divided:
        found = [values[number] for number in numbers]
        groups.append(ValueGroup(text, len(found), float(np.mean(found)), max(found, key=metric.gain)))
    gains = [metric.gain(group.mean) for group in groups]
    return Importance(setting, max(gains) - min(gains), tuple(groups))


def _choices(settings: Mapping[int, Any], declared: Sequence[Any] = ()) -> list[tuple[str, list[int]]]:
    """The trials with each value, in the order in which the values were declared."""
    by_text: dict[str, list[int]] = {value_text(value): [] for value in declared}
    for number, value in sorted(settings.items()):
        by_text.setdefault(value_text(value), []).append(number)
    return [(text, numbers) for text, numbers in by_text.items() if numbers]


def _number_groups(settings: Mapping[int, Any]) -> list[tuple[str, list[int]]]:
    """The trials by interval of their numbers; a value that is no number (such as no selection) is its own group."""
    numeric = sorted((value, number) for number, value in settings.items() if isinstance(value, (int, float)))
    found = []
    for interval in np.array_split(np.arange(len(numeric)), min(INTERVALS, len(numeric))) if numeric else []:
        low, high = numeric[interval[0]][0], numeric[interval[-1]][0]
        text = value_text(low) if low == high else f"{value_text(low)} to {value_text(high)}"
        found.append((text, [numeric[index][1] for index in interval.tolist()]))
    return found + _choices(
        {number: value for number, value in settings.items() if not isinstance(value, (int, float))}
    )
