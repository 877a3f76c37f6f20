"""Training and prediction of corpora of any size: in memory where they fit, from shards on disk where they do not."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data.known import KNOWN
from manylabel.data.problems import Problem
from manylabel.data.recognition import guess_format, suffix_of
from manylabel.data.textfile import is_packed
from manylabel.exceptions import ParameterError, UnsupportedError
from manylabel.kernels.threads import available_threads
from manylabel.memory import bytes_of, free_bytes
from manylabel.progress import remark
from manylabel.recipe import Recipe
from manylabel.reports.records import LabelledDocument, TrainingRecord
from manylabel.scale.costs import Extent, estimate
from manylabel.scale.dask_engine import DaskEngine
from manylabel.scale.engine import Engine, LocalEngine, SerialEngine
from manylabel.scale.shards import FORMATS, ShardedCorpus, shard_files
from manylabel.scale.training import ShardedTraining
from manylabel.tasks import models
from manylabel.tasks.corpora import Source
from manylabel.tasks.models import BY_RULE, Asked, Overrides, Trained, label_document, terms_of
from manylabel.wording import counted

BYTES_IN_MEMORY = 6
"""Bytes of memory for each byte of text: the texts, their table, the counts of terms and what is computed from them."""
UNPACKED = 4
"""How many times as large as a compressed file or a Parquet file its texts are."""
WORKER_BYTES = 1 << 29
"""Memory that a worker process needs, whatever the corpus; the process that starts them needs as much."""
PIECE = 1000
"""Documents of a piece of predictions where all documents are in memory."""


def is_large(source: Source, memory: str | int | None) -> bool:
    """Whether a corpus is read in shards: it has several files, or would take more memory than it may."""
    if not Path(source.data).exists() and not set("*?[") & set(source.data):
        return False
    files = shard_files(source.data)
    if not files or (source.format or guess_format(files[0])) not in FORMATS:
        return False
    limit = free_bytes() // 2 if memory is None else bytes_of(memory)
    return len(files) > 1 or BYTES_IN_MEMORY * text_bytes(files) > limit


def text_bytes(files: Sequence[Path]) -> int:
    """About how many bytes of text files hold."""
    return sum(file.stat().st_size * (UNPACKED if _is_dense(file) else 1) for file in files)


def _is_dense(file: Path) -> bool:
    return is_packed(file) or suffix_of(file) in (".parquet", ".pq")


def local_engine(n_jobs: int | None, memory: str | int | None) -> Engine:
    """Worker processes for the cores at hand, as many as the memory allows; none beside this one for a single core."""
    limit = free_bytes() // 2 if memory is None else bytes_of(memory)
    workers = max(1, min(available_threads(n_jobs), limit // WORKER_BYTES - 1))
    return SerialEngine() if workers == 1 else LocalEngine(workers)


@contextmanager
def chosen_engine(workers: int | None, cluster: str | None) -> Iterator[Engine | None]:
    """The engine of some worker processes of this computer, or of a Dask cluster by its address; None for neither."""
    if workers is not None and cluster is not None:
        raise ParameterError("--workers starts processes on this computer, --cluster uses those of Dask. Give one.")
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
) -> Trained:
    """Load the documents, fit the method, save the model; from shards on disk where the corpus is large.

    With an `engine` it is trained from shards, whatever its size. What is computed on the way is kept in a folder
    beside the model. After an interruption the same call goes on with it; when the model is written, it is removed.
    """
    if engine is None and not is_large(source, memory):
        settings: dict[str, Any] = {"method": method, "overrides": overrides, "split": split, "seed": seed}
        return models.train(
            source, model, **settings, single_label=single_label, n_jobs=n_jobs, memory=memory, vectors=vectors
        )
    if vectors is not None or (overrides or {}).get("features", {}).get("encoder") is not None:
        raise UnsupportedError(
            "An encoder reads all documents in memory, and this corpus is trained from shards on disk. Leave the "
            "encoder out, or raise --memory and leave --workers and --cluster out."
        )
    began = time.perf_counter()
    corpus = _sharded(source, split=split)
    folder = model.with_name(model.name + ".work")
    remark(
        f"{source.data} is trained from disk, in {counted(len(corpus.shards), 'shard')}; what is computed is kept in "
        f"{folder} until the model is written."
    )
    needed = estimate(Extent.of_corpus(corpus), Recipe.of(method, overrides))
    remark(
        f"It takes about {needed.seconds:,.0f} seconds on one core, {needed.memory / 1e6:,.0f} MB of memory and "
        f"{needed.disk / 1e6:,.0f} MB of disk."
    )
    running = local_engine(n_jobs, memory) if engine is None else engine
    try:
        training = ShardedTraining(
            corpus, Recipe.of(method, overrides), folder.absolute(), running, single_label, seed, n_jobs, memory
        )
        classifier = training.run()
    finally:
        if engine is None and isinstance(running, LocalEngine):
            running.close()
    record = _record(classifier, model, source, training, time.perf_counter() - began)
    facts = {"data": Path(source.data).name, "documents": classifier.n_documents_, "unlabelled": record.unlabelled}
    classifier.save(model, {**facts, "written_by": "train"})
    shutil.rmtree(folder)
    return Trained(classifier, record)


def _record(
    classifier: TextClassifier, model: Path, source: Source, training: ShardedTraining, seconds: float
) -> TrainingRecord:
    vectorizer = classifier.features_.vectorizer_
    return TrainingRecord(
        model=str(model),
        data=Path(source.data).name,
        documents=classifier.n_documents_,
        unlabelled=training.unlabelled(),
        labels=len(classifier.labels_),
        terms=terms_of(classifier),
        reading=[] if vectorizer is None else vectorizer.reading_,
        seconds=seconds,
        recipe=classifier.recipe.as_dict(),
        chosen=classifier.decided_.choice_,
        guarantee=None,
        expected=classifier.expected_,
        has_test_split=training.corpus.split == "train",
        skipped=training.skipped(),
        single_label=classifier.predicts_one_label,
    )


def _sharded(source: Source, **reading: Any) -> ShardedCorpus:
    """The shards of a source; an error for options that need all documents at once, and for data sets by name."""
    if source.data in {row.name for row in KNOWN} and not Path(source.data).exists():
        raise UnsupportedError(
            f"Worker processes and clusters read files, and {source.data} is the name of a data set. Leave --workers "
            f"and --cluster out, or write it to a file first: manylabel convert {source.data} {source.data}.jsonl"
        )
    given = {
        "--hierarchy": source.hierarchy,
        "--vocabulary": source.vocabulary,
        "--label-language": source.label_language,
        "--split-by": source.split_by,
        "--merge-labels": source.merge_labels or None,
    }
    if wrong := [name for name, value in given.items() if value is not None]:
        raise UnsupportedError(
            f"{wrong[0]} needs all documents in memory, and this corpus is read in shards. Leave it out, or raise "
            "--memory."
        )
    options = dict(source.options or {})
    return ShardedCorpus.of(source.data, format=source.format, on_error=source.on_error, **reading, **options)


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
        corpus = _sharded(source, split="all", labels=False, keep_blank=source.keep_blank, like=classifier.reading)
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


def _of_shards(classifier: TextClassifier, corpus: ShardedCorpus, asked: Asked) -> Iterator[Piece]:
    addresses = classifier.label_addresses
    for shard in corpus.shards:
        for batch in corpus.batches(shard):
            predictions = asked.predict(classifier, batch.texts)
            predicted = [
                label_document(classifier, identifier, prediction, asked.runners_up, addresses)
                for identifier, prediction in zip(batch.ids, predictions, strict=True)
            ]
            yield Piece(predicted, batch.columns, None if batch.layout is None else batch.layout.delimiter)


def plan(
    data: str | None, documents: int | None, labels: int | None, methods: Sequence[str], workers: int = 1
) -> dict[str, Any]:
    """What training from disk takes by each method, for a corpus or for a number of documents and labels."""
    if data is not None:
        extent = Extent.of_corpus(ShardedCorpus.of(data))
        extent = extent if labels is None else replace(extent, labels=labels)
    else:
        extent = Extent.of_size(documents or 1, labels or 1000)
    found = [{"method": name, **asdict(estimate(extent, Recipe.of(name), workers))} for name in methods]
    return {"extent": asdict(extent), "workers": workers, "methods": found}
