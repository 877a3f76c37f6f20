"""Comparison and tuning on corpora that do not fit in memory: on a random sample, the winner trained from disk."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.choosing.candidates import Traits
from manylabel.classifier import TextClassifier
from manylabel.evaluation.result import SplitCounts
from manylabel.exceptions import UnsupportedError
from manylabel.metrics.targets import DEFAULT_METRIC, TargetMetric
from manylabel.progress import remark
from manylabel.recipe import Recipe
from manylabel.reports.choosing_records import Expected, TestFigure, TuningRecord
from manylabel.scale.in_memory import text_in_memory
from manylabel.scale.memory_guard import limited_memory
from manylabel.scale.sample import Sample, draw_sample
from manylabel.scale.shards import ShardedCorpus, shard_files
from manylabel.scale.training import ShardedTraining, check_recipe
from manylabel.tasks import compare as in_memory
from manylabel.tasks import tune as search
from manylabel.tasks.compare import Comparison
from manylabel.tasks.corpora import Source
from manylabel.tasks.large import planned_engine, sharded, work_folder
from manylabel.tasks.large_evaluation import LabelledShards, read_splits, test_documents
from manylabel.tasks.models import Overrides
from manylabel.tasks.planning import fits_in_memory, most_memory, plan_training
from manylabel.tasks.winner import DocumentsInMemory, TimeLeft, Winner, measured_figure
from manylabel.wording import counted, setting_name

TRAININGS_KEPT = 2
"""How many trainings `compare` and `tune` keep in memory: the best one beside the one that runs."""
LEAST_SAMPLED = 50
"""A sample of fewer documents is refused: nothing can be compared on it."""


@dataclass(frozen=True, slots=True, eq=False)
class SampledDocuments(DocumentsInMemory):
    """A random sample of the training documents in memory, and all documents on disk."""

    corpus: ShardedCorpus = None  # type: ignore[assignment]
    """All training documents."""
    sample: Sample = None  # type: ignore[assignment]
    tested: LabelledShards | None = None

    @property
    def counts(self) -> SplitCounts:
        """See `DocumentsInMemory.counts`: those of all training documents on disk."""
        return self.sample.counts

    @property
    def n_tested(self) -> int | None:
        """See `DocumentsInMemory.n_tested`."""
        return None if self.tested is None else len(self.tested.ids)

    def all_of(self, traits: Traits) -> Traits:
        """See `DocumentsInMemory.all_of`."""
        share = self.sample.counts.documents / len(self.train)
        return replace(traits, documents=round(share * traits.documents), nonzeros=round(share * traits.nonzeros))

    def fit(self, recipe: Recipe, model: Path | None, command: str, left: TimeLeft | None = None) -> Winner:
        """See `DocumentsInMemory.fit`; from disk where the method and the time that is left allow it."""
        if self.sample.is_all or model is None:
            return super(SampledDocuments, self).fit(recipe, model, command, left)
        began = time.perf_counter()
        try:
            return self._fit_from_disk(recipe, model, command, left)
        except UnsupportedError as error:
            why = f"because it cannot be trained on all of them: {str(error).rstrip('.')}"
        except _TooLongError as error:
            why = f"because of the budget: {error}"
        shutil.rmtree(work_folder(model), ignore_errors=True)
        remark(f"{recipe.method} is trained on the sample, {why}.")
        if left is not None:
            left = replace(left, seconds=left.seconds - (time.perf_counter() - began))
        found = super(SampledDocuments, self).fit(recipe, model, command, left)
        return replace(found, why_not_all=found.why_not_all if found.classifier is None else why)

    def _fit_from_disk(self, recipe: Recipe, model: Path, command: str, left: TimeLeft | None) -> Winner:
        check_recipe(recipe)
        planned = plan_training(self.corpus, recipe, self.n_jobs, self.memory)
        if left is not None and planned.seconds > left.seconds:
            raise _TooLongError(
                f"training from disk takes about {planned.seconds:,.0f} s, and {left.seconds:,.0f} s were left"
            )
        folder = work_folder(model)
        remedy = f"Raise {setting_name('memory')}."
        with limited_memory(self.memory, remedy), planned_engine(planned) as engine:
            training = ShardedTraining(
                self.corpus, recipe, folder.absolute(), engine, None, self.seed, self.n_jobs, self.memory
            )
            classifier = training.run()
        facts = {"data": self.name, "documents": classifier.n_documents_, "unlabelled": training.unlabelled()}
        classifier.save(model, {**facts, "written_by": command})
        shutil.rmtree(folder)
        return Winner(classifier, classifier.n_documents_)

    def measure(self, classifier: TextClassifier, metric: TargetMetric, expected: Expected) -> TestFigure | None:
        """See `DocumentsInMemory.measure`; the test documents come as a stream."""
        if self.tested is None:
            return None
        return measured_figure(classifier, self.tested.texts, self.tested.label_sets, metric, expected)


class _TooLongError(Exception):
    """Training from disk would take longer than the budget leaves."""


def compare(
    source: Source, model: Path, *, test: Source | None = None, memory: str | int | None = None, **options: Any
) -> Comparison:
    """Compare methods as `manylabel.tasks.compare.compare` does, with its `options`; on a sample where all documents
    would take more memory than they may.
    """
    if fits_in_memory(source, memory, TRAININGS_KEPT):
        return in_memory.compare(source, model, test=test, memory=memory, **options)
    began = time.perf_counter()
    checked = {name: options[name] for name in ("metric", "folds", "repeats", "methods") if name in options}
    in_memory.check_comparison(**checked)
    training = {name: options.pop(name) for name in ("seed", "n_jobs") if name in options}
    documents = sampled_documents(source, memory=memory, **training)
    documents = replace(documents, tested=_tested(source, test, documents.corpus))
    found = in_memory.compare_documents(documents, model, began=began, **options)
    return replace(found, skipped=documents.sample.skipped)


def tune(
    source: Source,
    model: Path,
    *,
    method: str = DEFAULT_METHOD,
    metric: str = DEFAULT_METRIC,
    trials: int = search.TRIALS,
    folds: int = search.FOLDS,
    budget: float | None = None,
    overrides: Overrides | None = None,
    split: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
) -> TuningRecord:
    """Search settings as `manylabel.tasks.tune.tune` does; on a sample where all documents would take more memory than
    they may.
    """
    settings: dict[str, Any] = {"method": method, "metric": metric, "trials": trials, "folds": folds}
    settings |= {"budget": budget, "overrides": overrides}
    if fits_in_memory(source, memory, TRAININGS_KEPT):
        return search.tune(source, model, split=split, seed=seed, n_jobs=n_jobs, memory=memory, **settings)
    began = time.perf_counter()
    search.check_search(method, metric, trials, folds, overrides)
    documents = sampled_documents(source, split, seed=seed, n_jobs=n_jobs, memory=memory)
    found = search.tune_documents(documents, model, began=began, **settings)
    return replace(found, skipped=[str(problem) for problem in documents.sample.skipped])


def sampled_documents(
    source: Source,
    split: str | None = None,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
) -> SampledDocuments:
    """A random sample of the training documents, as large as memory allows; all where they fit."""
    corpus = sharded(source, split=split)
    sample = draw_sample(corpus, text_in_memory(most_memory(memory), TRAININGS_KEPT), seed)
    drawn, every = len(sample.corpus), sample.counts.documents
    if not sample.is_all:
        limit = setting_name("memory")
        if drawn < LEAST_SAMPLED:
            raise UnsupportedError(
                f"All {every:,} documents of {source.data} would take more memory than {limit} allows, and only "
                f"{drawn:,} of them fit, too few to compare anything on. Raise {limit}."
            )
        remark(
            f"{source.data}: all {counted(every, 'document')} would take more memory than {limit} allows; "
            f"a random sample of {drawn:,} is in memory."
        )
    name = sample.corpus.name if len(shard_files(source.data, format=source.format)) == 1 else source.data
    return SampledDocuments(sample.corpus, None, name, seed, n_jobs, memory, corpus, sample)


def _tested(source: Source, test: Source | None, corpus: ShardedCorpus) -> LabelledShards | None:
    """The test documents on disk, those of `test` or of the test split of the data; None where there are none."""
    if test is not None:
        return test_documents(test, corpus.reading)
    to_learn, to_test = (shard_files(source.data, split, source.format) for split in ("train", "test"))
    has_splits = corpus.split is not None or to_learn != to_test
    return read_splits(source, corpus.reading).get("test") if has_splits else None
