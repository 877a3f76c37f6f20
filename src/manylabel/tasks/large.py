"""Training and prediction of corpora of any size: in memory where they fit, from shards on disk where they do not."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data.corpus import Corpus
from manylabel.data.known import KNOWN, check_exists
from manylabel.data.problems import Problem
from manylabel.exceptions import ParameterError, UnsupportedError
from manylabel.progress import remark
from manylabel.recipe import Recipe
from manylabel.reports.records import LabelledDocument
from manylabel.scale.dask_engine import DaskEngine
from manylabel.scale.engine import Engine, LocalEngine, SerialEngine, begin_work
from manylabel.scale.memory_guard import limited_memory
from manylabel.scale.predictions import BY_RULE, Asked, label_document, predict_shards, read_predictions
from manylabel.scale.shards import ShardedCorpus, is_pattern, shard_files
from manylabel.scale.training import ShardedTraining, check_recipe
from manylabel.tasks import models
from manylabel.tasks.corpora import Source
from manylabel.tasks.models import Overrides, Trained, training_record
from manylabel.tasks.planning import PlannedTraining, check_all_in_memory, is_large, plan_training
from manylabel.wording import counted, setting_name

PIECE = 1000
"""Documents of a piece of predictions where all documents are in memory."""


def check_data(sources: Sequence[Source]) -> None:
    """Raise `MissingDataError` where one of several data sets is not there, before the work on the first one begins."""
    for source in sources:
        if is_pattern(source.data):
            shard_files(source.data)
        else:
            check_exists(source.data, source.format)


@contextmanager
def planned_engine(planned: PlannedTraining) -> Iterator[Engine]:
    """The engine of this computer for a training, which ends with the block."""
    if planned.processes == 1:
        yield SerialEngine(planned.threads)
    else:
        with LocalEngine(planned.processes, planned.threads) as engine:
            yield engine


@contextmanager
def chosen_engine(workers: int | None, cluster: str | None) -> Iterator[Engine | None]:
    """The engine of some worker processes of this computer, or of a Dask cluster by its address; None for neither."""
    if workers is not None and cluster is not None:
        raise ParameterError(
            f"{setting_name('workers')} starts processes on this computer, {setting_name('cluster')} uses those of "
            "Dask. Give one."
        )
    if cluster is not None:
        with DaskEngine.connect(cluster) as engine:
            yield engine
    elif workers is not None:
        with LocalEngine(workers) as processes:
            yield processes
    else:
        yield None


def train(
    source: Source,
    model: Path,
    *,
    method: str = DEFAULT_METHOD,
    overrides: Overrides | None = None,
    split: str | None = None,
    single_label: bool | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
    engine: Engine | None = None,
    vectors: str | None = None,
    descriptions: Path | None = None,
    order_by: str | None = None,
) -> Trained:
    """Load the documents, fit the method, save the model; from shards on disk where the corpus is large.

    `descriptions` is a file that describes the labels; with it the corpus is read at once, and `source` may have
    no data.

    With an `engine` it is trained from shards, whatever its size. What is computed on the way is kept in a folder
    beside the model. After an interruption the same call goes on with it; when the model is written, it is removed.
    """
    in_memory = not source.data or descriptions is not None or order_by is not None
    if in_memory and engine is not None:
        raise UnsupportedError(
            f"{setting_name('descriptions')} and {setting_name('order_by')} need all documents in memory. Leave "
            f"{setting_name('engine')} out."
        )
    if source.data and in_memory:
        option = setting_name("order_by" if descriptions is None else "descriptions")
        check_all_in_memory(source, memory, f"train {option}")
    if in_memory or (engine is None and not is_large(source, memory)):
        settings: dict[str, Any] = {"method": method, "overrides": overrides, "split": split, "seed": seed}
        settings |= {"single_label": single_label, "n_jobs": n_jobs, "memory": memory, "descriptions": descriptions}
        settings |= {"order_by": order_by, "vectors": vectors}
        return models.train(source, model, **settings)
    if vectors is not None or (overrides or {}).get("features", {}).get("encoder") is not None:
        raise UnsupportedError(
            "An encoder reads all documents in memory, and this corpus is trained from shards on disk. Leave the "
            f"encoder out, or raise {setting_name('memory')} and leave {setting_name('engine')} out."
        )
    recipe = Recipe.of(method, overrides)
    return _train_from_disk(source, model, recipe, split, engine, single_label, seed, n_jobs, memory)


def _train_from_disk(
    source: Source,
    model: Path,
    recipe: Recipe,
    split: str | None,
    engine: Engine | None,
    single_label: bool | None,
    seed: int,
    n_jobs: int | None,
    memory: str | int | None,
) -> Trained:
    began = time.perf_counter()
    corpus = sharded(source, split=split)
    check_recipe(recipe)
    folder = work_folder(model)
    remark(
        f"{source.data} is trained from disk, in {counted(len(corpus.shards), 'shard')}; what is computed is kept in "
        f"{folder} until the model is written."
    )
    planned = plan_training(corpus, recipe, n_jobs, memory)
    remedy = (
        f"Raise {setting_name('memory')}: the same command then goes on with what was computed, which is in {folder}."
    )
    running_engine = planned_engine(planned) if engine is None else nullcontext(engine)
    with limited_memory(memory, remedy), running_engine as running:
        training = ShardedTraining(corpus, recipe, folder.absolute(), running, single_label, seed, n_jobs, memory)
        classifier = training.run()
    facts: dict[str, Any] = {
        "data": Path(source.data).name,
        "documents": classifier.n_documents_,
        "unlabelled": training.unlabelled(),
    }
    seconds, has_test_split = time.perf_counter() - began, corpus.split == "train"
    record = training_record(
        classifier, model, **facts, seconds=seconds, has_test_split=has_test_split, skipped=training.skipped()
    )
    classifier.save(model, {**facts, "written_by": "train"})
    shutil.rmtree(folder)
    return Trained(classifier, record)


def work_folder(model: Path) -> Path:
    """The folder beside a model file in which the results of its training from disk are kept until it is written."""
    return model.with_name(model.name + ".work")


def sharded(source: Source, files: Sequence[Path] | None = None, **reading: Any) -> ShardedCorpus:
    """The shards of a source, or of some of its files.

    Options that need all documents at once, and data sets by name, are an error.
    """
    if source.data in {row.name for row in KNOWN} and not os.path.exists(source.data):
        raise UnsupportedError(
            f"Worker processes and clusters read files, and {source.data} is the name of a data set. Leave "
            f"{setting_name('engine')} out, or write it to a file first: "
            f"manylabel convert {source.data} {source.data}.jsonl"
        )
    given = {
        "hierarchy": source.hierarchy,
        "vocabulary": source.vocabulary,
        "label_language": source.label_language,
        "split_by": source.split_by,
        "merge_labels": source.merge_labels or None,
        "drop_unlabelled": source.drop_unlabelled or None,
    }
    if wrong := [setting_name(name) for name, value in given.items() if value is not None]:
        raise UnsupportedError(
            f"{wrong[0]} needs all documents in memory, and this corpus is read in shards. Leave it out, or raise "
            f"{setting_name('memory')}."
        )
    reading |= {"format": source.format, "on_error": source.on_error, "limits": source.limits}
    return ShardedCorpus.of(files or source.data, **reading, **(source.options or {}))


@dataclass(frozen=True, slots=True)
class Piece:
    """Predictions of some documents, and the columns that these documents have in the user's file."""

    predicted: list[LabelledDocument]
    columns: Mapping[str, Sequence[Any]] | None = None
    delimiter: str | None = None
    """What separates the cells of the user's file, if it is a table of text."""


def predict_pieces(
    classifier: TextClassifier,
    source: Source,
    asked: Asked = BY_RULE,
    memory: str | int | None = None,
    vectors: str | None = None,
) -> tuple[Iterator[Piece], list[Problem]]:
    """The predictions of all documents of a source, piece by piece, and the lines that were skipped so far."""
    if vectors is None and is_large(source, memory):
        corpus = _to_predict(classifier, source)
        return _of_shards(classifier, corpus, asked), corpus.skipped
    predictions, skipped, whole = models.predict_source(classifier, source, asked, vectors)
    delimiter = None if whole.layout is None else whole.layout.delimiter

    def pieces() -> Iterator[Piece]:
        start = 0
        while predicted := list(islice(predictions, PIECE)):
            rows = slice(start, start + len(predicted))
            own = whole.columns
            yield Piece(predicted, own and {name: values[rows] for name, values in own.items()}, delimiter)
            start = rows.stop

    return pieces(), skipped


def _to_predict(classifier: TextClassifier, source: Source) -> ShardedCorpus:
    return sharded(source, split="all", labels=False, keep_blank=source.keep_blank, like=classifier.reading)


def _of_shards(classifier: TextClassifier, corpus: ShardedCorpus, asked: Asked) -> Iterator[Piece]:
    addresses = classifier.label_addresses
    for shard in corpus.shards:
        for batch in corpus.batches(shard):
            predictions = asked.predict(classifier, batch.texts)
            predicted = [
                label_document(classifier, identifier, prediction, asked.runners_up, addresses)
                for identifier, prediction in zip(batch.ids, predictions, strict=True)
            ]
            yield _piece(predicted, batch)


def _piece(predicted: list[LabelledDocument], batch: Corpus) -> Piece:
    return Piece(predicted, batch.columns, None if batch.layout is None else batch.layout.delimiter)


@contextmanager
def pieces_of_engine(
    model: Path, classifier: TextClassifier, source: Source, asked: Asked, engine: Engine, output: Path
) -> Iterator[tuple[Iterator[Piece], list[Problem]]]:
    """The predictions of all documents of a source, computed by an engine, as of `predict_pieces`.

    They are kept in a folder beside the file `output` until that is written. After an interruption the same call goes
    on with them.
    """
    corpus = _to_predict(classifier, source)
    folder = output.absolute().with_name(output.name + ".work")
    description = {"files": corpus.files(), "corpus": corpus.as_dict(), "asked": asdict(asked)}
    begin_work(folder, "prediction.json", {**description, "model": sha256(model.read_bytes()).hexdigest()})
    results = predict_shards(corpus, model, asked, engine, folder)

    def pieces() -> Iterator[Piece]:
        for shard, result in zip(corpus.shards, results, strict=True):
            predicted = read_predictions(result, classifier.label_addresses)
            for batch in corpus.batches(shard):
                yield _piece(list(islice(predicted, len(batch))), batch)

    yield pieces(), corpus.skipped
    shutil.rmtree(folder)
