"""What commands take, before they start: the plan of a training from disk, and checks of the memory it takes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from manylabel.data.recognition import guess_format, suffix_of
from manylabel.data.textfile import is_packed
from manylabel.exceptions import DataError, UnsupportedError
from manylabel.features.pipeline import PRUNING
from manylabel.kernels.threads import available_threads
from manylabel.memory import bytes_of, free_bytes, megabytes
from manylabel.progress import remark
from manylabel.recipe import Recipe
from manylabel.scale.costs import Estimate, estimate, slowness
from manylabel.scale.extents import UNPACKED, Extent
from manylabel.scale.in_memory import FIXED_MEMORY, memory_of_all
from manylabel.scale.shards import FORMATS, SHARD_BYTES, NoHeaderError, ShardedCorpus, is_pattern, shard_files
from manylabel.tasks.corpora import Source
from manylabel.wording import counted, is_worded_for, setting_name, settings_text

MODEL_IN_MEMORY = 3
"""Bytes of memory for each byte of a model file."""


def plan(
    data: str | None,
    documents: int | None,
    labels: int | None,
    methods: Sequence[str],
    workers: int | None = None,
    memory: str | int | None = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """What training from disk takes by each method, for a corpus or for a number of documents and labels.

    Of a corpus with a training split, the documents are those of it, as in `train`; where no `workers` are given, there
    are as many processes as `train` starts with this `memory` and `n_jobs`. A method `fits` if it takes no more memory.
    """
    split: str | None = None
    if data is not None:
        try:
            corpus = ShardedCorpus.of(data)
            split, extent = corpus.split, Extent.of_corpus(corpus)
        except NoHeaderError as error:
            size = "--documents N --labels N" if is_worded_for("command line") else "documents and labels"
            remedy = f"{error.remedy} Or give the size of the corpus instead of the file: {size}"
            raise DataError(error.problem, path=error.path, remedy=remedy) from None
        extent = extent if labels is None else replace(extent, labels=labels)
    else:
        extent = Extent.of_size(documents or 1, labels or 1000)
    slow = slowness()

    def estimated(recipe: Recipe) -> Estimate:
        if workers is None:
            return divided(extent, recipe, available_threads(n_jobs), slow, memory)
        return estimate(extent, recipe, workers, slow, memory)

    most = most_memory(memory)
    estimates = {name: estimated(Recipe.of(name)) for name in methods}
    found = [{"method": name, **asdict(one), "fits": one.memory <= most} for name, one in estimates.items()]
    return {"extent": asdict(extent), "split": split, "slowness": slow, "methods": found}


def is_large(source: Source, memory: str | int | None) -> bool:
    """Whether a corpus is read in shards: a pattern names its files, or it would take more memory than it may."""
    if not os.path.exists(source.data) and not is_pattern(source.data):
        return False
    files = shard_files(source.data, format=source.format)
    # The memory of the program itself is not among what is free.
    limit = free_bytes() // 2 + FIXED_MEMORY if memory is None else bytes_of(memory)
    if not files or (not is_pattern(source.data) and memory_of_all(text_bytes(files)) <= limit):
        return False  # whatever its format, which a model may know better than a guess
    return (source.format or guess_format(files[0])) in FORMATS


def text_bytes(files: Sequence[Path]) -> int:
    """About how many bytes of text files hold."""
    return sum(file.stat().st_size * (UNPACKED if _is_dense(file) else 1) for file in files)


def _is_dense(file: Path) -> bool:
    return is_packed(file) or suffix_of(file) in (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class PlannedTraining:
    """How long a training from disk takes, and how it is divided."""

    seconds: float
    """Of one core."""
    processes: int
    """This one alone, or so many workers."""
    threads: int
    """Of each process."""


def plan_training(
    corpus: ShardedCorpus,
    recipe: Recipe,
    n_jobs: int | None,
    memory: str | int | None,
    what: str | None = None,
    remedy: str | None = None,
    *,
    times: tuple[float, float] = (1.0, 1.0),
) -> PlannedTraining:
    """Divide a training from disk among as many processes as its memory allows, and report what it takes.

    One process that would take more memory than it may is an error. `what` takes the memory (default: training the
    method), `remedy` is what to do instead (default: have fewer terms), and `times` how many times the time and the
    memory of the training it takes.
    """
    terms = {name: value for name, value in recipe.vectorizer_settings.items() if name not in (*PRUNING, "fields")}
    cores = available_threads(n_jobs)
    found = divided(Extent.of_corpus(corpus, terms), recipe, cores, slowness(), memory, times[1])
    seconds, needed = times[0] * found.workers * found.seconds, times[1] * found.memory
    remark(
        f"It takes about {seconds:,.0f} seconds of one core, and with {counted(found.workers, 'process', 'processes')} "
        f"{megabytes(needed)} of memory and {megabytes(found.disk)} of disk."
    )
    if remedy is None:
        settings = settings_text(**{"features.min_df": 5})
        remedy = f"raise {setting_name('memory')}, or have fewer terms: single words, not pairs; {settings}."
    check_memory(needed, memory, what or f"Training {recipe.method} from disk", remedy)
    return PlannedTraining(seconds, found.workers, max(1, cores // found.workers))


def divided(
    extent: Extent, recipe: Recipe, cores: int, slow: float, memory: str | int | None, times: float = 1.0
) -> Estimate:
    """What a training from disk takes with as many processes as there are cores and its memory allows; at least one.

    It takes `times` as much memory as is estimated.
    """
    allowed = free_bytes() // 2 if memory is None else bytes_of(memory)
    together = (estimate(extent, recipe, workers, slow, memory) for workers in range(cores, 1, -1))
    alone = estimate(extent, recipe, 1, slow, memory)
    return next((one for one in together if times * one.memory <= allowed), alone)


def check_all_in_memory(source: Source, memory: str | int | None, command: str) -> None:
    """Raise an error where a command that reads all documents would take more memory than it may.

    What a corpus takes is known for files of the formats that are read in shards.
    """
    if is_large(source, memory):
        what, remedy = "This task", f"raise {setting_name('memory')}, or give fewer documents."
        if is_worded_for("request"):
            what, remedy = "The job", "give fewer documents."
        elif is_worded_for("command line"):
            what, remedy = f"manylabel {command}", f"{remedy} `train`, `predict` and `evaluate` read from disk."
        check_memory(
            memory_of_all(text_bytes(shard_files(source.data, format=source.format))),
            memory,
            f"{what} reads all documents into memory. With {source.data} it",
            remedy,
        )


def fits_in_memory(source: Source, memory: str | int | None, kept: float = 1.0) -> bool:
    """Whether a command reads all documents into memory: they fit, and are no list of files.

    `kept` is how many trainings keep their documents and tables at a time.
    """
    if not is_large(source, memory):
        return True
    files = shard_files(source.data, format=source.format)
    is_list = len(files) > 1 and files == shard_files(source.data, "test", source.format)
    return not is_list and memory_of_all(text_bytes(files), kept) <= most_memory(memory)


def check_prediction(model: Path, memory: str | int | None) -> None:
    """Raise an error where predicting with a model takes more memory than it may, whatever the documents."""
    needed = FIXED_MEMORY + MODEL_IN_MEMORY * model.stat().st_size + 4 * SHARD_BYTES
    check_memory(needed, memory, f"Predicting with {model}", f"raise {setting_name('memory')}.")


def most_memory(memory: str | int | None) -> float:
    """The bytes that a command may take: what `memory` allows, or all that is free where it is not given."""
    return free_bytes() + FIXED_MEMORY if memory is None else bytes_of(memory)


def check_memory(needed: float, memory: str | int | None, what: str, remedy: str) -> None:
    """Raise an error where more is needed than `memory` allows, or than is free where it is not given."""
    limit = most_memory(memory)
    if needed > limit:
        allowed = "is free" if memory is None else f"{setting_name('memory')} allows"
        raise UnsupportedError(
            f"{what} would take about {megabytes(needed)} of memory, more than the {megabytes(limit)} that "
            f"{allowed}. Instead, {remedy}"
        )
