"""Describe labelled data, convert them to another format, and download data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.data import Corpus, write
from manylabel.data import describe as sizes_of
from manylabel.data.atomic import check_is_named
from manylabel.data.description import (
    CorpusSizes,
    DataFacts,
    ImbalanceFacts,
    LabelFacts,
    LabelFrequency,
    Spread,
    WordFacts,
)
from manylabel.data.documents import is_measured
from manylabel.data.known import fetch as download
from manylabel.data.problems import Problem
from manylabel.data.reading import Reading
from manylabel.data.spellings import label_spellings
from manylabel.estimator import Floats
from manylabel.features import Vectorizer
from manylabel.features.reading import CHOSEN_BY_TEXTS
from manylabel.resampling.imbalance import LabelImbalance, label_imbalance
from manylabel.tasks.choices import explain_choices
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.dividing import duplicate_facts

FEW_DOCUMENTS = (1, 5, 10, 50)


@dataclass(frozen=True, slots=True)
class Described:
    """What was found, and the lines that were skipped in reading."""

    facts: DataFacts
    skipped: list[Problem]

    def as_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {**asdict(self.facts), "skipped": [str(problem) for problem in self.skipped]}


def describe(source: Source, *, split: str | None = None) -> Described:
    """The numbers of documents, words and labels of a source, or of one split of it."""
    reading = load_source(source)
    return Described(facts_of(reading, source.data, split), list(reading.skipped))


def facts_of(reading: Reading, data: str, split: str | None = None) -> DataFacts:
    """What ``describe`` reports of documents that were read from `data`, or of one split of them."""
    corpus = reading.corpus if split in (None, "all") else reading.corpus.split(str(split))
    sizes = sizes_of(corpus)
    return DataFacts(
        data=corpus.name or data,
        format=reading.format,
        split=split,
        documents=len(corpus),
        fields=sizes.fields,
        splits=sizes.splits,
        words=word_facts(corpus),
        near_duplicates=duplicate_facts(corpus),
        labels=None if corpus.labels is None else label_facts(corpus),
        reading=explain_choices(reading.corpus, reading.format),
    )


def word_facts(corpus: Corpus) -> WordFacts:
    """Words per document and different words, as a model would read them; of ready-made counts, their sums.

    Of measurements it is the number of columns alone.
    """
    if corpus.counts is not None and is_measured(corpus.counts):
        return WordFacts(different=corpus.counts.shape[1], per_document=None, empty_documents=0)
    counts = corpus.counts if corpus.counts is not None else Vectorizer(**CHOSEN_BY_TEXTS).count(corpus.texts)
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    return WordFacts(
        different=int(np.count_nonzero(np.bincount(counts.indices, minlength=counts.shape[1]))),
        per_document=_spread(lengths),
        empty_documents=int(np.count_nonzero(np.diff(counts.indptr) == 0)),
    )


def label_facts(corpus: Corpus) -> LabelFacts:
    """How many labels there are, how many a document has, which are frequent and which are rare."""
    names, found = list(corpus.label_names), label_imbalance(corpus.label_matrix())
    used = np.flatnonzero(found.label_documents)
    labelled = round(len(corpus) * (1 - found.unlabelled_share)) if len(corpus) else 0
    assignments = int(found.label_documents.sum())
    return LabelFacts(
        names=len(names),
        used=len(used),
        assignments=assignments,
        per_document=found.cardinality,
        per_labelled_document=assignments / labelled if labelled else None,
        most_per_document=max((len(labels) for labels in corpus.label_sets), default=0),
        density=found.density,
        unlabelled_share=found.unlabelled_share,
        different_sets=found.label_sets,
        sets_on_one_document=found.label_sets_once,
        documents_per_label=_spread(found.label_documents[used].astype(np.float64)),
        labels_with_at_most={
            limit: int(np.count_nonzero(found.label_documents[used] <= limit)) for limit in FEW_DOCUMENTS
        },
        imbalance=ImbalanceFacts(
            mean_ratio=found.mean_ratio,
            variation_of_ratios=found.ratio_variation,
            scumble=found.scumble,
            gini=found.gini,
        ),
        by_frequency=_by_frequency(names, found, len(corpus)),
        spellings=label_spellings(corpus.label_sets),
    )


def _by_frequency(names: Sequence[str], found: LabelImbalance, n_documents: int) -> list[LabelFrequency]:
    """Every label in use, the most frequent first, ties by name."""
    used = np.flatnonzero(found.label_documents).tolist()
    order = sorted(used, key=lambda label: (-found.label_documents[label], names[label]))
    return [
        LabelFrequency(
            label=names[label],
            documents=int(found.label_documents[label]),
            share=float(found.label_documents[label] / n_documents),
            ratio=float(found.imbalance_ratios[label]),
        )
        for label in order
    ]


def _spread(values: Floats) -> Spread | None:
    """Least, median, mean and most of some numbers; None of none."""
    if not len(values):
        return None
    return Spread(
        least=float(values.min()),
        median=float(np.median(values)),
        mean=float(values.mean()),
        most=float(values.max()),
    )


@dataclass(frozen=True, slots=True)
class Converted:
    """What was read, where it was written, and the lines that were skipped."""

    sizes: CorpusSizes
    format: str
    target: Path | None
    skipped: list[Problem]

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain data."""
        target = None if self.target is None else str(self.target)
        skipped = [str(problem) for problem in self.skipped]
        return {**asdict(self.sizes), "format": self.format, "target": target, "skipped": skipped}


def convert(source: Source, target: Path | None, *, to: str | None = None, split: str | None = None) -> Converted:
    """Read the source, or one split of it, and write it to `target` unless that is None."""
    if target is not None:
        check_is_named(target)
    reading = load_source(source, names_labels=source.vocabulary is not None)
    corpus = reading.corpus if split in (None, "all") else reading.corpus.split(str(split))
    if target is not None:
        write(corpus, target, format=to)
    return Converted(sizes_of(corpus), reading.format, target, reading.skipped)


def fetch(name: str, source: str | None = None) -> Path:
    """Download a data set, or take it from a local file or another address; the path it has in the cache."""
    if source is None:
        return download(name)
    if "://" in source:
        return download(name, urls=[source], again=True)
    return download(name, file=source)
