"""Search a method's settings by cross-validation, keep what is shown to be better, train with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.halving import Step, Trial
from manylabel.choosing.settings import searched, value_in
from manylabel.choosing.tuning import Tuned, importances
from manylabel.choosing.tuning import tune as search
from manylabel.data import Corpus
from manylabel.data.problems import Problem
from manylabel.deadline import Deadline
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.result import SplitCounts, fingerprint
from manylabel.exceptions import ParameterError
from manylabel.metrics.targets import DEFAULT_METRIC, TargetMetric, find_target_metric
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source, folds_of, load_source, split_of
from manylabel.tasks.models import Overrides, fit_corpus

TRIALS = 27
FOLDS = 3
FOR_SEARCH = 0.8
"""The share of the time that the search may take; the rest is for training with what it found."""


@dataclass(frozen=True, slots=True, eq=False)
class TunedMethod:
    """A search and the model that was trained with its outcome."""

    tuned: Tuned
    metric: TargetMetric
    data: str
    counts: SplitCounts
    labels: int
    folds: str
    fold_documents: int
    """Documents to learn from in a whole fold."""
    seed: int
    model: Path | None
    seconds: float
    skipped: list[Problem]

    def as_dict(self) -> dict[str, Any]:
        """The search as plain data."""
        tuned, metric = self.tuned, self.metric
        last, first = tuned.search.steps[-1], tuned.search.steps[0]
        return {
            "data": self.data,
            "documents": self.counts.documents,
            "labels": self.labels,
            "method": tuned.trials[0].recipe.method,
            "metric": {"name": metric.name, "title": metric.title, "greater_is_better": metric.greater_is_better},
            "folds": self.folds,
            "seed": self.seed,
            "trials": len(tuned.trials),
            "stopped": tuned.search.stopped,
            "ranges": {setting: str(values) for setting, values in tuned.ranges.items()},
            "rungs": list(self._rungs()),
            "planned_rungs": len(tuned.rungs),
            "finalists": [self._measured(last, trial) for trial in last.ranking],
            "verdict": None if tuned.verdict is None else asdict(tuned.verdict),
            "chosen": tuned.chosen.number,
            "importance": [asdict(one) for one in importances(first, tuned.ranges, metric)],
            "recipe": tuned.chosen.recipe.as_dict(),
            "toml": tuned.chosen.recipe.to_toml(),
            "model": None if self.model is None else str(self.model),
            "seconds": self.seconds,
            "skipped": [str(problem) for problem in self.skipped],
        }

    def _rungs(self) -> Iterator[dict[str, Any]]:
        for step in self.tuned.search.steps:
            yield {
                "trials": len(step.ranking),
                "learned_from": round(step.rung.share * self.fold_documents),
                "folds": step.rung.folds,
                "tested": len(step.answers[0]),
                "best": self._measured(step, step.ranking[0]),
                "preset": step.answers[0].value(self.metric),
                "values": {str(one.number): value for one, value in zip(step.ranking, step.values, strict=True)},
            }

    def _measured(self, step: Step, trial: Trial) -> dict[str, Any]:
        found = interval(step.answers[trial.number], self.metric, self.seed)
        settings = {setting: value_in(trial.recipe, setting) for setting in self.tuned.ranges}
        return {"trial": trial.number, **asdict(found), "settings": settings}


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
    part: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> TunedMethod:
    """Search the method's declared ranges on the training split, fit the outcome to all of it and save it.

    The outcome is the best settings where they are shown to be better than the method's own, and the method's own
    otherwise. `budget` is in seconds. A test split is not looked at.
    """
    began = time.perf_counter()
    wanted = find_target_metric(metric)
    _check(trials, folds)
    Recipe.of(method, overrides)  # wrong names are said before anything is read
    searched(method, overrides)
    deadline = Deadline(None if budget is None else FOR_SEARCH * budget)
    loaded = load_source(source)
    corpus = split_of(loaded.corpus, part, "train")
    splits, how = folds_of(corpus, folds, seed)
    work = FoldWork.of(corpus, splits, seed=seed, n_jobs=n_jobs)
    tuned = search(work, method, wanted, fixed=overrides, trials=trials, deadline=deadline)
    labels = _train(corpus, tuned.chosen.recipe, model, loaded.corpus.name or source.data, seed, n_jobs)
    return TunedMethod(
        tuned, wanted, loaded.corpus.name or source.data, SplitCounts.of(corpus.label_sets), labels, how,
        min(len(train) for train, _ in splits), seed, model, time.perf_counter() - began, list(loaded.skipped),
    )  # fmt: skip


def _check(trials: int, folds: int) -> None:
    if trials < 2:
        raise ParameterError(f"A search takes at least 2 trials, the method's own settings and others, not {trials}.")
    if folds < 2:
        raise ParameterError(f"Cross-validation takes at least 2 folds, not {folds}.")


def _train(corpus: Corpus, recipe: Recipe, model: Path | None, name: str, seed: int, n_jobs: int | None) -> int:
    """Train with a recipe and save; the number of labels."""
    classifier = fit_corpus(corpus, recipe, seed=seed, n_jobs=n_jobs)
    counts = SplitCounts.of(corpus.label_sets)
    if model is not None:
        facts = {"data": name, "documents": counts.documents, "unlabelled": counts.unlabelled}
        classifier.save(model, {**facts, "train_sha256": fingerprint(corpus.ids, corpus.label_sets)})
    return len(classifier.labels_)
