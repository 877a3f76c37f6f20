"""What a corpus holds, counted: the sizes of its splits, its words and its labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from manylabel.data.corpus import Corpus
from manylabel.data.labels import LabelSets


@dataclass(frozen=True, slots=True)
class SplitSizes:
    """How many documents there are, and how many have no, one and several labels (None without labels)."""

    documents: int
    no_label: int | None = None
    one_label: int | None = None
    several_labels: int | None = None


@dataclass(frozen=True, slots=True)
class LabelSizes:
    """How many labels a corpus has."""

    names: int
    """Label names, also those that no document has."""
    used: int
    """Labels that at least one document has."""
    assignments: int
    """Pairs of a document and one of its labels."""
    per_labelled_document: float | None
    """Assignments over the documents with at least one label; None where there is no such document."""


@dataclass(frozen=True, slots=True)
class CorpusSizes:
    """The sizes of a corpus. `terms` and `nonzero_counts` are None for texts, `labels` is None without labels."""

    name: str
    licence: str
    documents: int
    fields: list[str]
    terms: int | None
    nonzero_counts: int | None
    labels: LabelSizes | None
    labels_with_parent: int | None
    """Labels that have a parent in the hierarchy; None without a hierarchy."""
    splits: dict[str, SplitSizes]
    """The sizes of all documents (``all``) and of each split."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The smallest, the middle, the mean and the largest of some numbers."""

    least: float
    median: float
    mean: float
    most: float


@dataclass(frozen=True, slots=True)
class WordFacts:
    """How many different words there are and how many a document has; `per_document` is None without documents."""

    different: int
    per_document: Spread | None
    empty_documents: int


@dataclass(frozen=True, slots=True)
class DuplicateFacts:
    """How many pairs of documents are near-duplicates, and how many documents are in such a pair."""

    pairs: int
    documents: int


@dataclass(frozen=True, slots=True)
class LabelFrequency:
    """One label: its documents, their share of all documents, and how many times rarer it is than the most frequent."""

    label: str
    documents: int
    share: float
    ratio: float


@dataclass(frozen=True, slots=True)
class ImbalanceFacts:
    """How unequal the labels are: see `manylabel.resampling.imbalance`."""

    mean_ratio: float
    variation_of_ratios: float
    scumble: float
    gini: float


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """How many labels there are, how many a document has, which are frequent and which are rare."""

    names: int
    used: int
    assignments: int
    per_document: float
    per_labelled_document: float | None
    most_per_document: int
    density: float
    unlabelled_share: float
    different_sets: int
    sets_on_one_document: int
    documents_per_label: Spread | None
    """None where no label is in use."""
    labels_with_at_most: Mapping[int, int]
    """For a few numbers of documents, how many labels have at least one document and at most that many."""
    imbalance: ImbalanceFacts
    by_frequency: list[LabelFrequency]
    """Every label in use, the most frequent first, ties by name."""
    spellings: list[dict[str, int]]
    """Labels that differ only in case, blanks or Unicode form: the documents of each spelling."""


@dataclass(frozen=True, slots=True)
class ReadingChoice:
    """One choice in reading data: what it is about, what was chosen and why, and the options that change it."""

    what: str
    chosen: str
    options: str = ""


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Everything that ``manylabel describe`` reports of some data; `split` is None where all documents are meant."""

    data: str
    format: str
    split: str | None
    documents: int
    fields: list[str]
    splits: dict[str, SplitSizes]
    words: WordFacts
    near_duplicates: DuplicateFacts
    labels: LabelFacts | None
    reading: list[ReadingChoice]


def describe(corpus: Corpus) -> CorpusSizes:
    """The numbers of documents, labels and terms of a corpus and of each of its splits.

    >>> corpus = Corpus(ids=["1", "2", "3"], fields={"text": ["a", "b", "c"]}, labels=[["x", "y"], ["x"], []])
    >>> sizes = describe(corpus)
    >>> sizes.labels
    LabelSizes(names=2, used=2, assignments=3, per_labelled_document=1.5)
    >>> sizes.splits["all"]
    SplitSizes(documents=3, no_label=1, one_label=1, several_labels=1)
    """
    splits = {"all": split_sizes(corpus.labels, len(corpus))}
    for name in corpus.splits:
        split = corpus.split(name)
        splits[name] = split_sizes(split.labels, len(split))
    return CorpusSizes(
        name=corpus.name,
        licence=corpus.licence,
        documents=len(corpus),
        fields=list(corpus.fields),
        terms=None if corpus.counts is None else int(corpus.counts.shape[1]),
        nonzero_counts=None if corpus.counts is None else int(corpus.counts.nnz),
        labels=None if corpus.labels is None else _label_sizes(corpus.labels, len(corpus.label_names)),
        labels_with_parent=None if corpus.hierarchy is None else len(corpus.hierarchy.parents),
        splits=splits,
    )


def split_sizes(labels: LabelSets | None, documents: int) -> SplitSizes:
    """How many documents there are and, with labels, how many have none, one and several."""
    if labels is None:
        return SplitSizes(documents)
    sizes = [len(names) for names in labels]
    return SplitSizes(
        documents,
        no_label=sum(size == 0 for size in sizes),
        one_label=sum(size == 1 for size in sizes),
        several_labels=sum(size > 1 for size in sizes),
    )


def _label_sizes(labels: LabelSets, names: int) -> LabelSizes:
    assignments = sum(len(document) for document in labels)
    labelled = sum(len(document) > 0 for document in labels)
    return LabelSizes(
        names=names,
        used=len({name for document in labels for name in document}),
        assignments=assignments,
        per_labelled_document=assignments / labelled if labelled else None,
    )
