"""Search a method's settings by cross-validation, keep what is shown to be better, train with it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from manylabel.catalog import DEFAULT_METHOD
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.halving import Step, Trial
from manylabel.choosing.settings import searched, value_in
from manylabel.choosing.tuning import Tuned, importances
from manylabel.choosing.tuning import tune as search
from manylabel.deadline import Deadline
from manylabel.evaluation.bootstrap import interval
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
from manylabel.tasks.corpora import Source, load_source, split_of
from manylabel.tasks.dividing import folds_of
from manylabel.tasks.models import Overrides
from manylabel.tasks.winner import DocumentsInMemory

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
    check_search(method, metric, trials, folds, overrides)
    loaded = load_source(source)
    corpus, name = split_of(loaded.corpus, split, "train"), loaded.corpus.name or source.data
    documents = DocumentsInMemory(corpus, None, name, seed, n_jobs, memory)
    found = tune_documents(
        documents, model, method=method, metric=metric, trials=trials, folds=folds, budget=budget, overrides=overrides,
        began=began,
    )  # fmt: skip
    return replace(found, skipped=[str(problem) for problem in loaded.skipped])


def tune_documents(
    documents: DocumentsInMemory,
    model: Path | None,
    *,
    method: str = DEFAULT_METHOD,
    metric: str = DEFAULT_METRIC,
    trials: int = TRIALS,
    folds: int = FOLDS,
    budget: float | None = None,
    overrides: Overrides | None = None,
    began: float,
) -> TuningRecord:
    """Search the method's declared ranges on training documents; see `tune`. Times run from `began`."""
    wanted, corpus, seed = find_target_metric(metric), documents.train, documents.seed
    deadline = Deadline(None if budget is None else FOR_SEARCH * budget - (time.perf_counter() - began))
    splits, how = folds_of(corpus, folds, seed)
    work = FoldWork.of(corpus, splits, seed=seed, n_jobs=documents.n_jobs, memory=documents.memory)
    tuned = search(work, method, wanted, fixed=overrides, trials=trials, deadline=deadline)
    del work  # its matrices are not needed any more, and the training may need their memory
    winner = documents.fit(tuned.chosen.recipe, model, "tune")
    assert winner.classifier is not None
    recipe, last = tuned.chosen.recipe, tuned.search.steps[-1]
    return TuningRecord(
        data=documents.name,
        documents=documents.counts.documents,
        in_memory=len(corpus),
        labels=len(winner.classifier.labels_),
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
        trained=winner.documents,
        why_not_all=winner.why_not_all,
        seconds=time.perf_counter() - began,
        skipped=[],
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


def check_search(method: str, metric: str, trials: int, folds: int, overrides: Overrides | None) -> None:
    """Raise an error for wrong names and numbers, before anything is read."""
    find_target_metric(metric)
    if trials < 2:
        raise ParameterError(f"A search takes at least 2 trials, the method's own settings and others, not {trials}.")
    if folds < 2:
        raise ParameterError(f"Cross-validation takes at least 2 folds, not {folds}.")
    Recipe.of(method, overrides)
    searched(method, overrides)
