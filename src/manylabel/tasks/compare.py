"""Compare methods on labelled documents within a budget of time, and keep the winner."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from manylabel.catalog import find_method
from manylabel.choosing.candidates import Traits, entrants
from manylabel.choosing.expectation import expectation
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.leaderboard import (
    Leaderboard,
    against_runner_up,
    leaderboard,
    pareto_front,
)
from manylabel.choosing.race import FOR_RACE, Race, RaceRunner, Taken, share_for_race
from manylabel.data import Corpus
from manylabel.data.problems import Problem
from manylabel.deadline import Deadline
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.result import SplitCounts, fingerprint, versions
from manylabel.exceptions import DataError, ManylabelWarning, ParameterError
from manylabel.metrics import conventions
from manylabel.metrics.targets import DEFAULT_METRIC, TargetMetric, find_target_metric
from manylabel.reports.choosing_records import (
    ComparisonRecord,
    Expected,
    LabelTable,
    MetricName,
    TestFigure,
)
from manylabel.tasks.corpora import Source, load_source, split_of
from manylabel.tasks.dividing import folds_of, ignores_labels, in_order_of_time, stratified_sample, time_column
from manylabel.tasks.winner import DocumentsInMemory, TimeLeft
from manylabel.wording import counted, setting_name, settings_text

FOLDS = 5
REFERENCE, FOR_REFERENCE = "svm", 0.2
"""A sound method that may take so much of the budget over all folds, or else a sample of the documents is compared."""
FEWEST = 1000
"""Documents that a sample has at least."""
SHOWN_LABELS = 3
"""Leaders whose figures per label are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A comparison on one data set, and the model that was trained with the winner."""

    data: str
    metric: TargetMetric
    counts: SplitCounts
    labels: list[str]
    folds: str
    compared: int
    """Documents that were cross-validated: all of the training split, or a sample of it."""
    in_memory: int
    """Documents that were in memory: all of the training split, or a random sample where all would take too much."""
    budget: float | None
    seed: int
    repeats: int
    race: Race
    board: Leaderboard
    expected: Expected
    test: TestFigure | None
    """The winner's figure on the test split, where there is one."""
    model: Path | None
    trained: int
    """Documents that the winner was trained on; 0 if the budget ended before."""
    why_not_all: str
    """Why the winner was not trained on all documents; empty where it was."""
    seconds: dict[str, float]
    skipped: list[Problem]
    train_sha256: str
    """The training documents in memory and their labels, as a hash."""
    true_labels_sha256: str | None
    """The same of the test documents; None where there are none, or they are read from disk in pieces."""

    @property
    def record(self) -> ComparisonRecord:
        """The comparison as typed plain data, for pages and JSON."""
        board, metric = self.board, self.metric
        front = pareto_front(board.finishers, metric)
        return ComparisonRecord(
            data=self.data,
            documents=self.counts.documents,
            unlabelled=self.counts.unlabelled,
            labels=len(self.labels),
            compared=self.compared,
            in_memory=self.in_memory,
            folds=self.folds,
            n_folds=self.race.n_folds,
            repeats=self.repeats,
            metric=MetricName(metric.name, metric.title, metric.greater_is_better),
            budget=self.budget,
            seed=self.seed,
            clock_ended_it=self.race.clock_ended_it,
            nominal_seconds=self.race.nominal_seconds,
            leaderboard=[one.row() for one in board.finishers],
            stopped=[one.row(self.race.left_out.get(one.runner.entrant.name)) for one in board.stopped],
            left_out=self._left_out(),
            costs=[one.cost(on_front) for one, on_front in zip(board.finishers, front, strict=True)],
            against=against_runner_up(board, self.labels, range(self.race.n_folds // self.repeats)),
            expected=self.expected,
            test=self.test,
            by_label=self._by_label(),
            first_fold=self._first_fold(),
            fold_values=self._fold_values(),
            recipe=board.winner.option.recipe.as_dict(),
            toml=board.winner.option.recipe.to_toml(),
            model=None if self.model is None else str(self.model),
            trained=self.trained,
            why_not_all=self.why_not_all,
            seconds=self.seconds,
            conventions=conventions(),
            versions=versions(),
            train_sha256=self.train_sha256,
            true_labels_sha256=self.true_labels_sha256,
            skipped=[str(problem) for problem in self.skipped],
        )

    def _left_out(self) -> dict[str, str]:
        """What never ran, and why."""
        ran = {runner.entrant.name for runner in self.race.runners}
        return {name: reason for name, reason in self.race.left_out.items() if name not in ran}

    def _by_label(self) -> LabelTable:
        leaders = [one.runner for one in self.board.finishers[:SHOWN_LABELS]]
        Y_true = leaders[0].pooled().Y_true
        return LabelTable(
            labels=self.labels,
            documents=(np.bincount(Y_true.indices, minlength=Y_true.shape[1]) // self.repeats).tolist(),
            f1={runner.option.name: runner.pooled().label_f1.tolist() for runner in leaders},
            macro_f1={runner.option.name: interval(runner.pooled(), "macro-f1", self.seed) for runner in leaders},
        )

    def _fold_values(self) -> dict[str, list[float]]:
        """The value in every fold of each pipeline on the leaderboard, by method, or by all its names where needed."""
        runners = [one.runner for one in self.board.finishers]
        twice = {name for name, times in Counter(one.option.method for one in runners).items() if times > 1}
        return {
            f"{one.option.method} ({one.option.features})" if one.option.method in twice else one.option.method: [
                one.folds[number].value(self.metric) for number in sorted(one.folds)
            ]
            for one in runners
        }

    def _first_fold(self) -> dict[str, float]:
        """Each method's best figure in the first fold, which all ran: what several data sets are compared by."""
        found: dict[str, float] = {}
        for runner in self.race.runners:
            value = runner.pooled([0]).value(self.metric)
            name = runner.option.method
            if name not in found or self.metric.gain(value) > self.metric.gain(found[name]):
                found[name] = value
        return found


def compare(
    source: Source,
    model: Path | None,
    *,
    methods: Sequence[str] | None = None,
    metric: str = DEFAULT_METRIC,
    folds: int = FOLDS,
    repeats: int = 1,
    test: Source | None = None,
    budget: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
    encoder: str | None = None,
) -> Comparison:
    """Compare on the training split of the data, and on the test split (or the documents of `test`) where there is one;
    see `compare_documents`.
    """
    began = time.perf_counter()
    check_comparison(metric, folds, repeats, methods)
    loaded = load_source(source)
    tested = None if test is None else load_source(test, like=loaded.corpus).corpus
    train, held_out = _train_and_test(loaded.corpus, tested)
    documents = DocumentsInMemory(train, held_out, loaded.corpus.name or source.data, seed, n_jobs, memory)
    found = compare_documents(
        documents, model, methods=methods, metric=metric, folds=folds, repeats=repeats, budget=budget, began=began,
        encoder=encoder,
    )  # fmt: skip
    return replace(found, skipped=list(loaded.skipped))


def compare_documents(
    documents: DocumentsInMemory,
    model: Path | None = None,
    *,
    methods: Sequence[str] | None = None,
    metric: str = DEFAULT_METRIC,
    folds: int = FOLDS,
    repeats: int = 1,
    budget: float | None = None,
    began: float | None = None,
    encoder: str | None = None,
) -> Comparison:
    """Cross-validate methods on training documents, train the best on all of them, save it as `model`, and measure it
    once on the test documents.

    `repeats` cross-validations are made, each with other folds. `budget` is in seconds, and runs from `began` (by
    `time.perf_counter`; default: from now). Methods for any numbers read the vectors of `encoder` too.
    """
    start, seed = time.perf_counter() if began is None else began, documents.seed
    wanted = check_comparison(metric, folds, repeats, methods)
    raced = _race(documents, wanted, methods, folds, repeats, budget, start, encoder)
    board, after_race = leaderboard(raced.race, seed), time.perf_counter()
    counts, n_tested = documents.counts, documents.n_tested
    expected = _expected(board, raced.race, counts.documents if n_tested is None else n_tested, raced.differ, seed)
    left = None
    if budget is not None:
        taken = Taken.by_trials(board.winner, raced.traits, raced.race.n_folds // repeats)
        left = TimeLeft(max(budget - (time.perf_counter() - start), 0.0), taken, raced.whole)
    winner = documents.fit(board.winner.option.recipe, model, "compare", left)
    trained = time.perf_counter()
    measured = None if winner.classifier is None else documents.measure(winner.classifier, wanted, expected)
    ended = time.perf_counter()
    seconds = {"race": after_race - start, "train": trained - after_race, "test": ended - trained, "all": ended - start}
    return Comparison(
        documents.name, wanted, counts, raced.labels, raced.how, raced.compared, len(documents.train), budget, seed,
        repeats, raced.race, board, expected, measured, None if winner.classifier is None else model, winner.documents,
        winner.why_not_all, seconds, [], _hash_of(documents.train),
        None if documents.held_out is None else _hash_of(documents.held_out),
    )  # fmt: skip


def _hash_of(corpus: Corpus) -> str:
    return fingerprint(corpus.ids, corpus.label_sets)


@dataclass(frozen=True, slots=True, eq=False)
class _Raced:
    """A race and what is known of its documents; their matrices are not kept."""

    race: Race
    traits: Traits
    whole: Traits
    """The traits of all documents in memory."""
    labels: list[str]
    compared: int
    how: str
    """How the documents were divided."""
    differ: bool
    """Whether the folds differ in kind."""


def _race(
    documents: DocumentsInMemory,
    metric: TargetMetric,
    methods: Sequence[str] | None,
    folds: int,
    repeats: int,
    budget: float | None,
    start: float,
    encoder: str | None,
) -> _Raced:
    with warnings.catch_warnings():
        # A method warns in every inner fold; training the winner repeats its warnings once.
        warnings.simplefilter("ignore", ManylabelWarning)
        work, traits, whole, how, differ = _divide(documents, folds, repeats, budget)
        work.memory, traits = documents.memory, replace(traits, encoder=encoder)
        field, left_out = entrants(methods, traits, metric)
        share = FOR_RACE if budget is None else share_for_race(documents.all_of(whole), budget)
        deadline = Deadline(None if budget is None else share * budget - (time.perf_counter() - start))
        planned = None if budget is None else share / FOR_RACE * budget
        race = RaceRunner(work, traits, metric, planned, deadline, repeats).run(field, named=methods is not None)
    race.left_out |= left_out
    if not race.runners:
        longer = f"a longer {setting_name('budget')}, or fewer documents or methods"
        more = longer if race.clock_ended_it else "more documents"
        raise DataError(_nothing_ran(race), remedy=f"Give {more}.")
    return _Raced(race, traits, whole, work.label_names, int(work.Y.shape[0]), how, differ)


def check_comparison(
    metric: str = DEFAULT_METRIC, folds: int = FOLDS, repeats: int = 1, methods: Sequence[str] | None = None
) -> TargetMetric:
    """The metric by its name, after checking the arguments before any data is read."""
    if repeats < 1:
        raise ParameterError(f"The cross-validation is made at least once, not {repeats} times.")
    if folds < 2:
        raise ParameterError(f"Cross-validation takes at least 2 folds, not {folds}.")
    for name in methods or ():
        find_method(name)
    return find_target_metric(metric)


def _train_and_test(corpus: Corpus, test: Corpus | None) -> tuple[Corpus, Corpus | None]:
    train = split_of(corpus, None, "train")
    if test is not None:
        return train, split_of(test, None, "test")
    return train, corpus.split("test") if {"train", "test"} <= set(corpus.splits) else None


def _divide(
    documents: DocumentsInMemory, folds: int, repeats: int, budget: float | None
) -> tuple[FoldWork, Traits, Traits, str, bool]:
    """The documents in folds, their traits and those of all documents, how they were divided, and whether the folds
    differ in kind.
    """
    train, test, seed, n_jobs = documents.train, documents.held_out, documents.seed, documents.n_jobs
    if repeats > 1:
        # Time-ordered folds are the same in every repetition; with repetitions folds are drawn at random.
        if time_column(train):
            raise ParameterError(
                f"Time-ordered folds cannot be repeated. Leave out {setting_name('repeats')}, or "
                f"{settings_text(split_by='time:…')}."
            )
        test = None
    corpus = in_order_of_time(train, test)
    whole = Traits.of(FoldWork.of(corpus, [], n_jobs=n_jobs), corpus.fields)
    size = _sample_size(whole, folds * repeats, budget)
    how = ""
    if size < len(corpus):
        corpus = stratified_sample(corpus, size, seed)
        how = f"a stratified sample of {len(corpus):,} of {counted(len(train), 'document')} in "
    splits, made = folds_of(corpus, folds, seed)
    for number in range(1, repeats):
        splits = [*splits, *folds_of(corpus, folds, seed + number)[0]]
    made = made if repeats == 1 else f"{repeats} × {made} and following"
    work = FoldWork.of(corpus, splits, seed=seed, n_jobs=n_jobs)
    return work, Traits.of(work, corpus.fields), whole, how + made, bool(corpus.split_by) and not ignores_labels(corpus)


def _sample_size(traits: Traits, folds: int, budget: float | None) -> int:
    """How many documents the budget is enough for: those on which a sound method takes its share of it."""
    if budget is None:
        return traits.documents
    cost = find_method(REFERENCE).cost
    seconds = folds * cost.seconds(traits.documents, traits.nonzeros, traits.labels)
    share = FOR_REFERENCE * budget / max(seconds, 1e-9)
    return traits.documents if share >= 1 else min(traits.documents, max(FEWEST, int(share * traits.documents)))


def _nothing_ran(race: Race) -> str:
    reasons = "; ".join(f"{name}: {reason}" for name, reason in list(race.left_out.items())[:3])
    return f"No method finished a fold ({reasons})."


def _expected(board: Leaderboard, race: Race, documents: int, differ: bool, seed: int) -> Expected:
    winner = board.winner
    others = [one.pooled() for one in race.finishers if one is not winner]
    per_fold = [winner.folds[number] for number in sorted(winner.folds)]
    return expectation(per_fold, [winner.pooled(), *others], board.metric, documents, folds_differ=differ, seed=seed)
