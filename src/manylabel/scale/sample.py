"""A random sample of the documents of a corpus on disk, of a size that fits into memory, drawn in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from manylabel.data.corpus import Corpus
from manylabel.data.labels import label_names
from manylabel.data.problems import Problem
from manylabel.estimator import Floats, Ints
from manylabel.evaluation.result import SplitCounts
from manylabel.exceptions import DataError
from manylabel.progress import stage
from manylabel.scale.shards import ShardedCorpus

SLACK = 1.5
"""How many times its size a sample may have before documents are dropped from it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Some documents of a corpus, in their order, and how many it has."""

    corpus: Corpus
    counts: SplitCounts
    """How many documents the whole corpus has."""
    skipped: list[Problem]

    @property
    def is_all(self) -> bool:
        """Whether no document was left out."""
        return len(self.corpus) == self.counts.documents


@dataclass(slots=True, eq=False)
class _Drawn:
    """The documents drawn so far, in pieces, with the random key and the size of each."""

    most: int
    pieces: list[Corpus] = field(default_factory=list)
    keys: list[Floats] = field(default_factory=list)
    sizes: list[Ints] = field(default_factory=list)
    limit: float = 1.0
    """Documents with this key or a larger one are left out."""

    def add(self, batch: Corpus, keys: Floats) -> None:
        """Offer the documents of a batch."""
        rows = np.flatnonzero(keys < self.limit)
        if len(rows):
            piece = batch.subset(rows)
            self.pieces.append(piece)
            self.keys.append(keys[rows])
            self.sizes.append(_sizes(piece))
        if sum(int(sizes.sum()) for sizes in self.sizes) > SLACK * self.most:
            self.shrink()

    def shrink(self) -> None:
        """Leave out the documents with the largest keys, until the others have at most the size allowed."""
        keys, sizes = np.concatenate([*self.keys, []]), np.concatenate([*self.sizes, []])
        order = np.argsort(keys, kind="stable")
        beyond = np.flatnonzero(np.cumsum(sizes[order]) > self.most)
        if not len(beyond):
            return
        self.limit = float(keys[order[beyond[0]]])
        kept = [np.flatnonzero(own < self.limit) for own in self.keys]
        self.pieces = [piece.subset(rows) for piece, rows in zip(self.pieces, kept, strict=True)]
        self.keys = [own[rows] for own, rows in zip(self.keys, kept, strict=True)]
        self.sizes = [own[rows] for own, rows in zip(self.sizes, kept, strict=True)]


def draw_sample(corpus: ShardedCorpus, most_bytes: int, seed: int = 0) -> Sample:
    """A random sample of the documents of a corpus whose texts and labels have at most `most_bytes` bytes.

    Every document gets a random key. The sample are the documents with the smallest keys, as many as fit: documents in
    a random order, whatever their size, their shard or their place in it.
    """
    random, drawn = np.random.default_rng(seed), _Drawn(most_bytes)
    counts = Counter[int]()
    skipped_before = len(corpus.skipped)
    with stage("Drawing a sample", len(corpus.shards)) as advance:
        for shard in corpus.shards:
            for batch in filter(len, corpus.batches(shard)):
                counts.update(min(len(names), 2) for names in batch.label_sets)
                drawn.add(replace(batch, columns=None, lines=None, metadata={}), random.random(len(batch)))
            advance(1)
    if not counts:
        raise DataError("There are no documents to learn from.", remedy="Give at least one document.")
    drawn.shrink()
    whole = SplitCounts(counts.total(), counts[0], counts[1], counts[2])
    return Sample(_joined(drawn.pieces, corpus), whole, corpus.skipped[skipped_before:])


def _sizes(corpus: Corpus) -> Ints:
    """The bytes of each document: its texts and its labels."""
    texts: Sequence[Sequence[Any]] = [*corpus.fields.values(), *([] if corpus.labels is None else [corpus.labels])]
    return np.array([sum(len("".join(part).encode()) for part in one) for one in zip(*texts, strict=True)], np.int64)


def _joined(pieces: Sequence[Corpus], corpus: ShardedCorpus) -> Corpus:
    """One corpus of the documents of all pieces, which have the same fields."""
    labels = [list(names) for piece in pieces for names in piece.label_sets]
    return replace(
        pieces[0],
        ids=[identifier for piece in pieces for identifier in piece.ids],
        fields={name: list(chain.from_iterable(piece.fields[name] for piece in pieces)) for name in pieces[0].fields},
        labels=labels,
        label_names=label_names(labels),
        split_names=None,
        reading=corpus.reading,
    )
