"""The documents a task works on: loaded by name or path, and the part that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.classifier import Documents
from manylabel.data import Corpus, load
from manylabel.data.problems import OnError
from manylabel.data.reading import Reading
from manylabel.data.splits import iterative_split
from manylabel.exceptions import DataError


@dataclass(frozen=True, slots=True)
class Source:
    """Where documents come from and how to read them: what every command that takes data takes."""

    data: str
    format: str | None = None
    on_error: OnError = "raise"
    options: Mapping[str, Any] | None = None


def load_source(source: Source) -> Reading:
    """Read the documents of a source; only what was asked for is handed on, so that defaults stay the reader's."""
    wishes: dict[str, Any] = dict(source.options or {})
    if source.format is not None:
        wishes["format"] = source.format
    if source.on_error != "raise":
        wishes["on_error"] = source.on_error
    return load(source.data, **wishes)


def documents_of(corpus: Corpus) -> Documents:
    """What a classifier reads: the count matrix of a bag-of-words corpus, the texts of any other."""
    return corpus.counts if corpus.counts is not None else corpus.texts


def part_of(corpus: Corpus, part: str | None, default: str) -> Corpus:
    """The part asked for; without a wish the default part where the corpus has one, and all of it where it has not."""
    if part == "all":
        return corpus
    if part is not None:
        return corpus.part(part)
    return corpus.part(default) if default in corpus.parts else corpus


def train_and_test(corpus: Corpus, test_share: float, seed: int) -> tuple[Corpus, Corpus, str]:
    """The two parts of a corpus and a phrase that says how they came about.

    A corpus without a train and a test part is divided at random by iterative stratification.
    """
    parts = corpus.parts
    if "train" in parts and "test" in parts:
        return corpus.part("train"), corpus.part("test"), "the split of the data"
    if parts and set(parts) != {"unused"} and len(parts) > 1:
        raise DataError(
            f"The data have the parts {', '.join(sorted(parts))} but not both train and test.",
            path=corpus.name or corpus.source,
            remedy="Name the parts train and test.",
        )
    Y = corpus.label_matrix()
    train, test = iterative_split(Y, (1 - test_share, test_share), seed=seed)
    how = f"a random stratified split, {100 * test_share:.0f} % for testing, seed {seed}"
    return corpus.subset(np.sort(train)), corpus.subset(np.sort(test)), how
