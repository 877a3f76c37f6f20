"""Search a method's settings by cross-validation, keep what is shown to be better, train with it."""

from __future__ import annotations

import time
from pathlib import Path

from manylabel.catalog import DEFAULT_METHOD
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.halving import Step, Trial
from manylabel.choosing.settings import searched, value_in
from manylabel.choosing.tuning import Tuned, importances
from manylabel.choosing.tuning import tune as search
from manylabel.deadline import Deadline
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.result import SplitCounts
from manylabel.exceptions import ParameterError
from manylabel.metrics.targets import DEFAULT_METRIC, TargetMetric, find_target_metric
from manylabel.recipe import Recipe
from manylabel.reports.choosing_records import (
    MetricName,
    RungRow,
    SettingEffect,
    SettingValues,
    TrialRow,
    TuningRecord,
    TuningVerdict,
)
from manylabel.tasks.corpora import Source, folds_of, load_source, split_of
from manylabel.tasks.model_facts import training_facts
from manylabel.tasks.models import Overrides, fit_corpus

TRIALS = 27
FOLDS = 3
FOR_SEARCH = 0.8
"""The share of the time that the search may take; the rest is for training with what it found."""


def tune(
    source: Source,
    model: Path | None,
    *,
    method: str = DEFAULT_METHOD,
    metric: str = DEFAULT_METRIC,
    trials: int = TRIALS,
    folds: int = FOLDS,
    budget: float | None = None,
    overrides: Overrides | None = None,
    split: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
) -> TuningRecord:
    """Search the method's declared ranges on the training split, fit the outcome to all of it and save it.

    The outcome is the best settings where they are shown to be better than the method's own, and the method's own
    otherwise. `budget` is in seconds. A test split is not looked at.
    """
    began = time.perf_counter()
    wanted = find_target_metric(metric)
    _check(trials, folds)
    Recipe.of(method, overrides)  # wrong names are reported before anything is read
    searched(method, overrides)
    deadline = Deadline(None if budget is None else FOR_SEARCH * budget)
    loaded = load_source(source)
    corpus = split_of(loaded.corpus, split, "train")
    splits, how = folds_of(corpus, folds, seed)
    work = FoldWork.of(corpus, splits, seed=seed, n_jobs=n_jobs, memory=memory)
    tuned = search(work, method, wanted, fixed=overrides, trials=trials, deadline=deadline)
    name = loaded.corpus.name or source.data
    classifier = fit_corpus(corpus, tuned.chosen.recipe, seed=seed, n_jobs=n_jobs, memory=memory)
    if model is not None:
        classifier.save(model, training_facts(corpus, name, "tune"))
    recipe, last = tuned.chosen.recipe, tuned.search.steps[-1]
    return TuningRecord(
        data=name,
        documents=SplitCounts.of(corpus.label_sets).documents,
        labels=len(classifier.labels_),
        method=tuned.trials[0].recipe.method,
        metric=MetricName(wanted.name, wanted.title, wanted.greater_is_better),
        folds=how,
        seed=seed,
        trials=len(tuned.trials),
        stopped=tuned.search.stopped,
        ranges={setting: str(values) for setting, values in tuned.ranges.items()},
        rungs=[_rung(tuned, step, min(len(train) for train, _ in splits), wanted, seed) for step in tuned.search.steps],
        planned_rungs=len(tuned.rungs),
        finalists=[_trial(tuned, last, trial, wanted, seed) for trial in last.ranking],
        verdict=_verdict(tuned),
        chosen=tuned.chosen.number,
        importance=_effects(tuned, wanted),
        recipe=recipe.as_dict(),
        toml=recipe.to_toml(),
        model=None if model is None else str(model),
        seconds=time.perf_counter() - began,
        skipped=[str(problem) for problem in loaded.skipped],
    )


def _rung(tuned: Tuned, step: Step, documents: int, metric: TargetMetric, seed: int) -> RungRow:
    """One rung; `documents` is the number of training documents of a whole fold."""
    return RungRow(
        trials=len(step.ranking),
        learned_from=round(step.rung.share * documents),
        folds=step.rung.folds,
        tested=len(step.predictions[0]),
        best=_trial(tuned, step, step.ranking[0], metric, seed),
        preset=step.predictions[0].value(metric),
        values={str(one.number): value for one, value in zip(step.ranking, step.values, strict=True)},
    )


def _trial(tuned: Tuned, step: Step, trial: Trial, metric: TargetMetric, seed: int) -> TrialRow:
    found = interval(step.predictions[trial.number], metric, seed)
    settings = {setting: value_in(trial.recipe, setting) for setting in tuned.ranges}
    return TrialRow(trial.number, found.value, found.low, found.high, settings)


def _verdict(tuned: Tuned) -> TuningVerdict | None:
    verdict = tuned.verdict
    return None if verdict is None else TuningVerdict(verdict.difference, verdict.p, verdict.shown)


def _effects(tuned: Tuned, metric: TargetMetric) -> list[SettingEffect]:
    return [
        SettingEffect(
            one.setting,
            one.effect,
            [SettingValues(values.text, values.trials, values.mean, values.best) for values in one.groups],
        )
        for one in importances(tuned.search.steps[0], tuned.ranges, metric)
    ]


def _check(trials: int, folds: int) -> None:
    if trials < 2:
        raise ParameterError(f"A search takes at least 2 trials, the method's own settings and others, not {trials}.")
    if folds < 2:
        raise ParameterError(f"Cross-validation takes at least 2 folds, not {folds}.")
