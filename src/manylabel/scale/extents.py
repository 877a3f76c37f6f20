"""How much there is of a corpus, estimated from the documents of some of its shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from manylabel.data.parquet import load_pyarrow
from manylabel.data.textfile import is_packed
from manylabel.features.vectorize import Vectorizer
from manylabel.scale.shards import Shard, ShardedCorpus

T = TypeVar("T")
TERMS_A_DOCUMENT, BYTES_A_DOCUMENT = 84, 730
"""Different terms of a document, and bytes, where no documents are at hand."""
HEAPS = (30, 0.55)
"""A corpus of z values has about K · z^β terms, at most `MOST_TERMS` (Heaps), where no documents are at hand."""
MOST_TERMS = 5_000_000
UNPACKED = 4
"""How many times as large as a compressed file its texts are."""
SAMPLED_SHARDS, SAMPLED_BYTES = 8, 1 << 22
"""Documents are read from up to so many shards, about so many bytes of all together."""
COUNTED_BYTES = 1 << 20
"""Bytes at the beginning of a file whose lines are counted."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is of a corpus."""

    documents: int
    labels: int
    text_bytes: int
    """Bytes that are read, those of other splits among them."""
    cells: int
    """Different terms of each document, added up."""
    terms: int

    @classmethod
    def of_size(cls, documents: int, labels: int) -> Self:
        """The extent of a corpus whose documents have the usual lengths."""
        cells = documents * TERMS_A_DOCUMENT
        scale, power = HEAPS
        terms = int(min(scale * cells**power, MOST_TERMS))
        return cls(documents, labels, documents * BYTES_A_DOCUMENT, cells, terms)

    @classmethod
    def of_corpus(cls, corpus: ShardedCorpus, counting: Mapping[str, Any] | None = None) -> Self:
        """The extent of the split of a corpus, by the sizes of its files and documents of some of its shards.

        `counting` are settings of the `Vectorizer` that counts terms, none of which removes some of them.

        The number of terms is that of the sample, continued as it grew from a quarter to a half and from a half to the
        whole of it (`continued`); labels are a closed set (`all_labels`).
        """
        step = -(-len(corpus.shards) // SAMPLED_SHARDS)
        chosen, every_split = corpus.shards[::step], replace(corpus, split=None)
        sampled = [next(every_split.batches(shard, SAMPLED_BYTES // len(chosen)), None) for shard in chosen]
        batches = [batch for batch in sampled if batch is not None and len(batch)]
        n_sampled = sum(map(len, batches))
        if corpus.split is not None:
            batches = [batch.split(corpus.split) for batch in batches if corpus.split in batch.splits]
        texts = _interleaved([batch.joined_texts for batch in batches])
        read = sum(len(text.encode()) for text in texts)
        files = {shard.path: shard for shard in corpus.shards}
        is_quoted = corpus.reading.given.get("quoting", True)
        rows = [_rows(shard, len(texts) / max(read, 1), is_quoted) for shard in files.values()]
        share = len(texts) / max(n_sampled, 1)
        documents = max(len(texts), round(sum(rows) * share), 1)
        X = Vectorizer(**{**(counting or {}), "n_jobs": 1}).count(texts)
        factor = documents / max(len(texts), 1)
        is_plain = all(shard.format != "parquet" and not is_packed(Path(path)) for path, shard in files.items())
        size = sum(Path(path).stat().st_size for path in files) if is_plain else int(read * factor / (share or 1))
        quarters = [len(texts) * quarter // 4 for quarter in (1, 2, 4)]
        terms = continued([len(np.unique(X.indices[: X.indptr[stop]])) for stop in quarters], factor)
        labels = all_labels(names for batch in batches for names in batch.label_sets)
        return cls(documents, labels, size, int(X.nnz * factor), terms)


def continued(found: Sequence[int], factor: float) -> int:
    """How many different things there are in a whole that is `factor` times a sample.

    `found` are those of a quarter, a half and all of the sample. Each doubling multiplies them by a power of two whose
    exponent shrinks as it did within the sample: a law of Heaps whose exponent is not constant, so that a vocabulary
    that is nearly complete stays so.

    >>> continued([100, 200, 400], 4), continued([100, 100, 100], 4), continued([100, 180, 240], 1e6)
    (1600, 100, 316)
    """
    quarter, half, whole = (max(one, 1) for one in found)
    before, last = log2(half / quarter), log2(whole / half)
    if last <= 0 or factor <= 1:
        return whole
    ratio, doublings = min(last / before, 1.0) if before > 0 else 1.0, log2(factor)
    grown = last * doublings if ratio == 1 else last * ratio * (1 - ratio**doublings) / (1 - ratio)
    return round(whole * 2**grown)


def all_labels(label_sets: Iterable[Sequence[str]]) -> int:
    """How many labels a corpus has, by those of a sample: those that occur, and those missing by how many occur once.

    Source: Chao 1987, with the correction for bias.

    >>> all_labels([["a"], ["a", "b"], ["a"]]), all_labels([["a"], ["b"], ["c"], ["c"]])
    (2, 3)
    """
    times = Counter(Counter(name for names in label_sets for name in names).values())
    return sum(times.values()) + times[1] * (times[1] - 1) // (2 * (times[2] + 1))


def _interleaved(lists: Sequence[Sequence[T]]) -> list[T]:
    """The items of all lists, in turn: every part of the result has some of each."""
    order = sorted((place / len(one), number, place) for number, one in enumerate(lists) for place in range(len(one)))
    return [lists[number][place] for _, number, place in order]


def _rows(shard: Shard, a_byte: float, is_quoted: bool) -> int:
    """About how many documents the file of a shard holds; `a_byte` are the documents per byte of text elsewhere."""
    path = Path(shard.path)
    if shard.format == "parquet":
        return int(load_pyarrow().parquet.ParquetFile(shard.path).metadata.num_rows)
    if is_packed(path):
        return int(UNPACKED * path.stat().st_size * a_byte)
    is_table = shard.format != "jsonl"
    with path.open("rb") as stream:
        start = stream.read(COUNTED_BYTES)
    rows = _text_rows(start, is_table and is_quoted)
    return round(rows / max(len(start), 1) * path.stat().st_size) - is_table  # the header is no document


def _text_rows(start: bytes, is_quoted: bool) -> int:
    """How many rows these bytes hold, blank lines left out; a line break within quotation marks belongs to a cell.

    >>> _text_rows(b'text\\n"two\\nlines"\\none\\n', True), _text_rows(b"one\\ntwo", True)
    (3, 2)
    """
    lines = [line for line in start.splitlines() if line.strip()]
    quotes = np.cumsum([line.count(b'"') for line in lines]) if is_quoted else np.zeros(len(lines), dtype=np.int64)
    return int((quotes % 2 == 0).sum())
