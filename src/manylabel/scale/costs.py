"""What a training from disk takes, computed before it: time, memory, disk and the size of the model.

Each figure is a sum of unit costs times how much there is of something. The unit costs were measured on one core
(docs/scale.md gives the measurements); other computers are faster or slower by a common factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from manylabel.decisions.auto import MANY_SCORES, SEARCHED_LABELS, AutoModel
from manylabel.models.linear_svm import MANY_WEIGHTS
from manylabel.models.out_of_fold import MOST_SCORES
from manylabel.recipe import Recipe
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.svm_blocks import MOST_LABELS, MOST_POSITIVES
from manylabel.strategies.weighted_member import WeightedMember

START = 1.8
"""Seconds to start, and to recognise the columns."""
COUNT = 3.3e-8
"""Seconds to read, tokenise and count a byte of text."""
TABLE = 1.4e-7
"""Seconds to read a value of X from disk, weigh it and add it to the table of its labels, in each fit."""
SOLVE = 1.65e-8
"""Seconds for each value of X and each label in which an SVM is solved, in each fit."""
FIXED_MEMORY, MEMORY_A_DOCUMENT, MEMORY_A_CELL = 200e6, 120, 62
"""Bytes: of the program, of each document (its labels, fold, row), and of each value in a table of labels × terms."""
DISK_A_CELL = 8
TERMS_A_DOCUMENT, BYTES_A_DOCUMENT = 84, 730
"""Different terms of a document, and bytes, where no documents are at hand."""
HEAPS = (30, 0.55)
"""A corpus of z values has about K · z^β terms, at most `MOST_TERMS` (Heaps)."""
MOST_TERMS = 5_000_000
FOLDS = 5
TRIED_COSTS = 2
"""How many costs the default usually tries."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is of a corpus."""

    documents: int
    labels: int
    text_bytes: int
    cells: int
    """Different terms of each document, added up."""
    terms: int

    @classmethod
    def of_size(cls, documents: int, labels: int, words: float = TERMS_A_DOCUMENT) -> Self:
        """A corpus of usual documents."""
        cells = int(documents * words)
        scale, power = HEAPS
        terms = int(min(scale * cells**power, MOST_TERMS))
        return cls(documents, labels, documents * BYTES_A_DOCUMENT, cells, terms)

    @classmethod
    def of_corpus(cls, corpus: ShardedCorpus) -> Self:
        """The extent of a corpus, by its first documents and the sizes of its files."""
        batch = next(corpus.batches(corpus.shards[0]))
        texts = batch.joined_texts[:2000]
        read = sum(len(text.encode()) for text in texts)
        size = sum(Path(path).stat().st_size for path in {shard.path for shard in corpus.shards})
        documents = max(len(texts), int(size * len(texts) / max(read * 1.15, 1)))
        words = sum(len(set(text.split())) for text in texts) / max(len(texts), 1)
        found = cls.of_size(documents, len(batch.label_names), words)
        return cls(documents, found.labels, size, found.cells, found.terms)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a training takes: seconds on all workers together, and bytes."""

    seconds: float
    memory: float
    disk: float
    model: float


def fold_fits(documents: int, scored: int) -> float:
    """The work of scoring so many documents out of fold, in fits to all documents; see `scored_folds`.

    >>> fold_fits(1000, 1000), fold_fits(1000, 100)
    (4.0, 0.9)
    """
    return FOLDS - 1.0 if scored * FOLDS > documents else 1 - scored / documents


def estimate(extent: Extent, recipe: Recipe, workers: int = 1) -> Estimate:
    """What the training of a method takes on a corpus of some extent."""
    decided = recipe.build()
    model = decided.model.model if isinstance(decided.model, WeightedMember) else decided.model
    labels = min(extent.labels, extent.documents)
    fits = 1.0
    if decided.learns_out_of_fold:
        fits += fold_fits(extent.documents, MOST_SCORES // labels)
    if isinstance(decided, AutoModel) and decided.searches and extent.documents * labels > MANY_SCORES:
        some = min(labels, SEARCHED_LABELS)
        scored = max(MANY_SCORES, MOST_SCORES * some // labels) // some
        fits += TRIED_COSTS * fold_fits(extent.documents, scored) * some / labels
    room = float(extent.terms) * labels
    # Terms of the same label repeat; the exponent is that of made-up corpora of 20,000 to 2,000,000 documents.
    filled = -room * float(np.expm1(-0.235 * (extent.cells / room) ** 0.72))
    seconds = START + COUNT * extent.text_bytes
    if model.is_additive:
        seconds += TABLE * extent.cells * fits
        table, weights = filled, 16 * filled
    else:
        seconds += SOLVE * extent.cells * labels * fits
        kept = 0.1 if float(extent.terms) * labels >= MANY_WEIGHTS else 1.0
        block = min(extent.documents, 3 * MOST_POSITIVES) * extent.cells / extent.documents
        in_block = min(float(extent.terms) * min(labels, MOST_LABELS), 10 * block)
        table, weights = block + in_block / 4, 8 * kept * filled
    memory = FIXED_MEMORY * (1 + workers * (workers > 1)) + MEMORY_A_DOCUMENT * extent.documents + MEMORY_A_CELL * table
    disk = DISK_A_CELL * extent.cells + 12 * table * (fits if model.is_additive else 0)
    return Estimate(seconds / workers, memory, disk, weights)
