"""The documents a task works on: loaded by name or path, and the part that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manylabel.classifier import Documents
from manylabel.data import Corpus, load
from manylabel.data.hierarchy_files import find_hierarchy
from manylabel.data.problems import OnError, Problems
from manylabel.data.reading import Reading
from manylabel.data.splits import group_split, iterative_split
from manylabel.exceptions import DataError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Source:
    """Where documents come from and how to read them: what every command that takes data takes."""

    data: str
    format: str | None = None
    on_error: OnError = "raise"
    options: Mapping[str, Any] | None = None
    hierarchy: str | None = None
    """Where the label hierarchy comes from, see `find_hierarchy`; None for that of the data, if it has one."""
    split_by: str | None = None
    """A column whose values are not divided between training and test; None for what the data set says."""


def load_source(source: Source) -> Reading:
    """Read the documents of a source; only what was asked for is handed on, so that defaults stay the reader's."""
    wishes: dict[str, Any] = dict(source.options or {})
    if source.format is not None:
        wishes["format"] = source.format
    if source.on_error != "raise":
        wishes["on_error"] = source.on_error
    reading = load(source.data, **wishes)
    corpus = reading.corpus
    if source.split_by is not None:
        if source.split_by not in corpus.metadata:
            raise UnknownNameError("column to split by", source.split_by, corpus.metadata)
        corpus = replace(corpus, split_by=source.split_by)
    problems = Problems(source.on_error)
    if source.hierarchy is not None:
        corpus = replace(corpus, hierarchy=find_hierarchy(source.hierarchy, corpus.label_names, problems))
    return replace(reading, corpus=corpus, skipped=[*reading.skipped, *problems.skipped])


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

    A corpus without a train and a test part is divided at random by iterative stratification; one that names a column
    to split by (`split_by`), by whole groups of documents.
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
    if corpus.split_by:
        groups = np.array([str(value) for value in corpus.metadata[corpus.split_by]])
        train, test = group_split(groups, (1 - test_share, test_share), seed=seed)
        how = f"a random split by {corpus.split_by}, {100 * test_share:.0f} % for testing, seed {seed}"
        return corpus.subset(np.sort(train)), corpus.subset(np.sort(test)), how
    Y = corpus.label_matrix()
    train, test = iterative_split(Y, (1 - test_share, test_share), seed=seed)
    how = f"a random stratified split, {100 * test_share:.0f} % for testing, seed {seed}"
    return corpus.subset(np.sort(train)), corpus.subset(np.sort(test)), how
