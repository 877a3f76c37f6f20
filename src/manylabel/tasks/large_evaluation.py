"""Evaluation of corpora that do not fit in memory: training from shards, measuring on documents that come as a stream.

In memory are ids and label sets, true and predicted; texts are read twice, once for their labels.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from manylabel.classifier import TextClassifier
from manylabel.data.corpus import Text, distinct_ids
from manylabel.data.documents import DocumentStream
from manylabel.data.reading_options import ReadingOptions
from manylabel.evaluation.experiment import evaluate as measure
from manylabel.evaluation.result import Result, SplitCounts, fingerprint
from manylabel.evaluation.training_documents import Hashes, SeenDocuments, count_seen
from manylabel.exceptions import DataError, UnsupportedError
from manylabel.modelfile import open_model
from manylabel.progress import remark, stage
from manylabel.recipe import Recipe
from manylabel.scale.shards import ShardedCorpus, shard_files
from manylabel.scale.training import ShardedTraining
from manylabel.tasks import evaluate
from manylabel.tasks.corpora import Source
from manylabel.tasks.dividing import report_unused_share
from manylabel.tasks.evaluate import Evaluated, check_known
from manylabel.tasks.large import planned_engine, sharded
from manylabel.tasks.model_facts import stored_facts
from manylabel.tasks.models import Overrides
from manylabel.tasks.planning import PlannedTraining, is_large, plan_training
from manylabel.wording import setting_name

SPLITS = ("train", "test")


@dataclass(frozen=True, slots=True)
class LabelledShards:
    """Documents on disk whose ids and label sets are in memory."""

    corpus: ShardedCorpus
    ids: list[str] = field(default_factory=list)
    label_sets: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def texts(self) -> DocumentStream:
        """The texts, read anew each time."""

        def batches() -> Iterator[Sequence[Text]]:
            for shard in self.corpus.shards:
                for batch in self.corpus.batches(shard):
                    yield batch.texts

        return DocumentStream(batches)


def read_splits(source: Source, like: ReadingOptions | None = None) -> dict[str, LabelledShards]:
    """The documents of each split by its name, and those of all under ``all``.

    Splits are files (``train.jsonl`` and ``test.jsonl`` in a folder) or a column.
    """
    by_file = {split: shard_files(source.data, split, source.format) for split in SPLITS}
    if by_file["train"] == by_file["test"] or not all(by_file.values()):
        return _read(sharded(source, split="all", like=like))
    found: dict[str, LabelledShards] = {}
    for split, files in by_file.items():
        found[split] = _read(sharded(source, files, split="all", like=like))["all"]
        like = like or found[split].corpus.reading
    ids = distinct_ids({split: one.ids for split, one in found.items()})
    found = {split: replace(one, ids=ids[split]) for split, one in found.items()}
    train, test = found.values()
    corpus = replace(train.corpus, shards=train.corpus.shards + test.corpus.shards)
    return {**found, "all": LabelledShards(corpus, train.ids + test.ids, train.label_sets + test.label_sets)}


def test_documents(test: Source, like: ReadingOptions | None) -> LabelledShards:
    """The documents of the test split of `test`, or all where it names none, read like others."""
    found = read_splits(test, like)
    return found.get("test", found["all"])


def _read(corpus: ShardedCorpus) -> dict[str, LabelledShards]:
    found = {"all": LabelledShards(corpus)}
    with stage("Reading labels", len(corpus.shards)) as advance:
        for shard in corpus.shards:
            for batch in corpus.batches(shard):
                _add(found, corpus, batch.ids, batch.label_sets, batch.split_names)
            advance(1)
    return found


def _add(
    found: dict[str, LabelledShards],
    corpus: ShardedCorpus,
    ids: Sequence[str],
    label_sets: Sequence[Sequence[str]],
    split_names: Sequence[str] | None,
) -> None:
    """Note the ids and label sets of a batch under ``all`` and under the splits of its documents."""
    for row, (identifier, names) in enumerate(zip(ids, label_sets, strict=True)):
        labels = tuple(map(sys.intern, names))
        for split in ("all",) if split_names is None else ("all", split_names[row]):
            if split not in found:
                found[split] = LabelledShards(replace(corpus, split=split))
            found[split].ids.append(identifier)
            found[split].label_sets.append(labels)


def evaluate_model(
    source: Source,
    model: Path,
    *,
    split: str | None = None,
    analyse: bool = False,
    memory: str | int | None = None,
    encoder: str | None = None,
    vectors: str | None = None,
) -> Evaluated:
    """Measure a saved model as `evaluate.evaluate_model` does; documents come as a stream where they are many."""
    if not is_large(source, memory):
        read: dict[str, Any] = {"encoder": encoder, "vectors": vectors}
        return evaluate.evaluate_model(source, model, split=split, analyse=analyse, memory=memory, **read)
    _refuse(source, {setting_name("analyse"): analyse, setting_name("vectors"): vectors is not None})
    classifier = TextClassifier.load(model, encoder=encoder).set_params(memory=memory)
    splits = read_splits(source, classifier.reading)
    wanted = split or ("test" if "test" in splits else "all")
    measured = of_split(splits, wanted, source)
    check_known(measured.label_sets, classifier, model, source.data)
    skipped = list(measured.corpus.skipped)
    facts = stored_facts(open_model(model))
    result = _measured(classifier, measured, source.data, wanted, facts.get("train_sha256"))
    chosen = "all documents" if wanted == "all" else f"the {wanted} split"
    hashes = facts.get("training_hashes")
    seen = None if hashes is None else _seen(measured, hashes)
    return Evaluated([result], chosen, skipped, seen=seen, expected=classifier.expected_)


def _seen(documents: LabelledShards, hashes: Hashes) -> SeenDocuments:
    found = [count_seen(texts, hashes) for texts in documents.texts.batches()]
    return SeenDocuments(*(sum(counts) for counts in zip(*map(astuple, found), strict=True)))


def evaluate_methods(
    source: Source,
    methods: Sequence[str],
    *,
    overrides: Overrides | None = None,
    test: Source | None = None,
    test_share: float | None = None,
    drop_duplicates: bool = False,
    analyse: bool = False,
    single_label: bool | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
    vectors: str | None = None,
) -> Evaluated:
    """The results of methods as of `evaluate.evaluate_methods`; from disk where documents are many.

    From disk, the splits are those that the data name, unless the test documents are those of `test`.
    """
    if not is_large(source, memory):
        settings: dict[str, Any] = {"overrides": overrides, "test_share": test_share, "seed": seed, "n_jobs": n_jobs}
        settings |= {"drop_duplicates": drop_duplicates, "analyse": analyse, "single_label": single_label}
        settings |= {"test": test}
        return evaluate.evaluate_methods(source, methods, memory=memory, vectors=vectors, **settings)
    encodes = vectors is not None or (overrides or {}).get("features", {}).get("encoder") is not None
    options = {setting_name("analyse"): analyse, setting_name("drop_duplicates"): drop_duplicates}
    _refuse(source, {**options, f"{setting_name('encoder')} and {setting_name('vectors')}": encodes})
    recipes = [Recipe.of(method, overrides) for method in methods]
    splits = read_splits(source)
    if test is None:
        report_unused_share(test_share)
        train, tested = (of_split(splits, split, source) for split in SPLITS)
        how = "the split of the data"
    else:
        train = splits.get("train", splits["all"])
        tested, how = test_documents(test, train.corpus.reading), f"measured on {test.data}"
    remark(f"{source.data} is trained and measured from disk; near-duplicates are not looked for.")
    skipped, trained_on = list(tested.corpus.skipped), fingerprint(train.ids, train.label_sets)
    results = []
    for recipe in recipes:
        planned = plan_training(train.corpus, recipe, n_jobs, memory)
        began = time.perf_counter()
        classifier = _trained(planned, train.corpus, recipe, single_label, seed, n_jobs, memory)
        seconds = time.perf_counter() - began
        results.append(_measured(classifier, tested, source.data, "test", trained_on, train, seconds))
    return Evaluated(results, how, skipped)


def _trained(
    planned: PlannedTraining,
    corpus: ShardedCorpus,
    recipe: Recipe,
    single_label: bool | None,
    seed: int,
    n_jobs: int | None,
    memory: str | int | None,
) -> TextClassifier:
    with planned_engine(planned) as engine, TemporaryDirectory(prefix="manylabel-") as folder:
        work = Path(folder) / "work"
        return ShardedTraining(corpus, recipe, work, engine, single_label, seed, n_jobs, memory).run()


def _measured(
    classifier: TextClassifier,
    documents: LabelledShards,
    data: str,
    split: str,
    train_sha256: str | None,
    train: LabelledShards | None = None,
    seconds: float | None = None,
) -> Result:
    return measure(
        classifier,
        documents.texts,
        documents.label_sets,
        ids=documents.ids,
        data=data,
        split=split,
        train=None if train is None else SplitCounts.of(train.label_sets),
        train_sha256=train_sha256,
        fit_seconds=seconds,
        hierarchy=classifier.hierarchy,
    )


def _refuse(source: Source, options: Mapping[str, bool]) -> None:
    """Raise an error for options that need all documents in memory."""
    for name, is_set in options.items():
        if is_set:
            raise UnsupportedError(
                f"{name}: all documents must be in memory, and {source.data} is read from disk. Leave it out, or raise "
                f"{setting_name('memory')}."
            )


def of_split(splits: Mapping[str, LabelledShards], wanted: str, source: Source) -> LabelledShards:
    """The documents of a split; an error that names the splits there are where it is none of them."""
    if wanted not in splits:
        named = ", ".join(sorted(splits.keys() - {"all"})) or "none"
        raise DataError(
            f"There are no documents of the split {wanted!r}. Splits that the data name: {named}.",
            path=source.data,
            remedy="A corpus that is read from disk names its splits in a column (split) or by its files "
            f"(train.jsonl, test.jsonl). Add them, or raise {setting_name('memory')}.",
        )
    return splits[wanted]
