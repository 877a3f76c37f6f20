"""What commands take, before they start: the plan of a training from disk, and checks against --memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from manylabel.data.recognition import guess_format, suffix_of
from manylabel.data.textfile import is_packed
from manylabel.exceptions import UnsupportedError
from manylabel.features.pipeline import PRUNING
from manylabel.memory import bytes_of, free_bytes
from manylabel.progress import remark
from manylabel.recipe import Recipe
from manylabel.scale.costs import Estimate, estimate, slowness
from manylabel.scale.extents import UNPACKED, Extent
from manylabel.scale.in_memory import FIXED_MEMORY, memory_of_all
from manylabel.scale.shards import FORMATS, SHARD_BYTES, ShardedCorpus, is_pattern, shard_files
from manylabel.tasks.corpora import Source
from manylabel.wording import is_worded_for

MODEL_IN_MEMORY = 3
"""Bytes of memory for each byte of a model file."""
FEWER_TERMS = "raise --memory, or have fewer terms: single words, not pairs; --set features.min_df=5."
"""What to do where a training from disk takes too much memory."""


def plan(
    data: str | None,
    documents: int | None,
    labels: int | None,
    methods: Sequence[str],
    workers: int = 1,
    memory: str | int | None = None,
) -> dict[str, Any]:
    """What training from disk takes by each method, for a corpus or for a number of documents and labels.

    Of a corpus with a training split, the documents are those of it, as in `train`.
    """
    split: str | None = None
    if data is not None:
        corpus = ShardedCorpus.of(data)
        split, extent = corpus.split, Extent.of_corpus(corpus)
        extent = extent if labels is None else replace(extent, labels=labels)
    else:
        extent = Extent.of_size(documents or 1, labels or 1000)
    slow = slowness()
    found = [{"method": name, **asdict(estimate(extent, Recipe.of(name), workers, slow, memory))} for name in methods]
    return {"extent": asdict(extent), "split": split, "workers": workers, "slowness": slow, "methods": found}


def is_large(source: Source, memory: str | int | None) -> bool:
    """Whether a corpus is read in shards: it has several files, or would take more memory than it may."""
    if not Path(source.data).exists() and not is_pattern(source.data):
        return False
    files = shard_files(source.data, format=source.format)
    # The memory of the program itself is not among what is free.
    limit = free_bytes() // 2 + FIXED_MEMORY if memory is None else bytes_of(memory)
    if not files or (len(files) == 1 and memory_of_all(text_bytes(files)) <= limit):
        return False  # whatever its format, which a model may know better than a guess
    return (source.format or guess_format(files[0])) in FORMATS


def text_bytes(files: Sequence[Path]) -> int:
    """About how many bytes of text files hold."""
    return sum(file.stat().st_size * (UNPACKED if _is_dense(file) else 1) for file in files)


def _is_dense(file: Path) -> bool:
    return is_packed(file) or suffix_of(file) in (".parquet", ".pq")


def check_training(
    corpus: ShardedCorpus,
    recipe: Recipe,
    memory: str | int | None,
    what: str | None = None,
    remedy: str = FEWER_TERMS,
    *,
    times: tuple[float, float] = (1.0, 1.0),
) -> Estimate:
    """Report what a training from disk takes; raise an error where that is more than the memory it may take.

    `what` takes the memory (default: training the method), `remedy` is what to do instead, and `times` how many times
    the time and the memory of the training it takes.
    """
    terms = {name: value for name, value in recipe.vectorizer_settings.items() if name not in (*PRUNING, "fields")}
    training = estimate(Extent.of_corpus(corpus, terms), recipe, slow=slowness(), memory=memory)
    needed = replace(training, seconds=times[0] * training.seconds, memory=times[1] * training.memory)
    remark(
        f"It takes about {needed.seconds:,.0f} seconds on one core, {needed.memory / 1e6:,.0f} MB of memory and "
        f"{needed.disk / 1e6:,.0f} MB of disk."
    )
    check_memory(needed.memory, memory, what or f"Training {recipe.method} from disk", remedy)
    return needed


def check_all_in_memory(source: Source, memory: str | int | None, command: str) -> None:
    """Raise an error where a command that reads all documents would take more memory than it may.

    What a corpus takes is known for files of the formats that are read in shards.
    """
    if is_large(source, memory):
        what, remedy = f"manylabel {command}", "raise --memory, or give fewer documents. `train`, `predict` and "
        remedy += "`evaluate` read from disk."
        if is_worded_for("request"):
            what, remedy = "The job", "give fewer documents."
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
    check_memory(needed, memory, f"Predicting with {model}", "raise --memory.")


def most_memory(memory: str | int | None) -> float:
    """The bytes that a command may take: what --memory allows, or all that is free where it is not given."""
    return free_bytes() + FIXED_MEMORY if memory is None else bytes_of(memory)


def check_memory(needed: float, memory: str | int | None, what: str, remedy: str) -> None:
    """Raise an error where more is needed than --memory allows, or than is free where it is not given."""
    limit = most_memory(memory)
    if needed > limit:
        allowed = "is free" if memory is None else "--memory allows"
        raise UnsupportedError(
            f"{what} would take about {needed / 2**20:,.0f} MB of memory, more than the {limit / 2**20:,.0f} MB that "
            f"{allowed}. Instead, {remedy}"
        )
