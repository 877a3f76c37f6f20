"""The documents a user brings: texts in fields or ready-made counts, their label sets and splits, and their origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from manylabel.data.hierarchy import Hierarchy
from manylabel.data.labels import LabelSets, label_matrix
from manylabel.data.labels import label_names as sorted_names
from manylabel.data.layout import Layout, listed
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.notebook import html_table, shortened, some_names
from manylabel.wording import counted, settings_text

if TYPE_CHECKING:
    from manylabel.data.label_vocabulary import LabelVocabulary
    from manylabel.data.reading_options import ReadingOptions

Text = str | Mapping[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class Corpus:
    """Documents with label sets, as the readers of `manylabel.data` return them; estimators never see one.

    Either `fields` holds the texts (one list per field, for example title and body; a corpus without fields has the one
    field ``text``), or `counts` holds a ready-made documents × terms matrix and `terms` the names of its columns.
    """

    ids: Sequence[str]
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: LabelSets | None = None
    label_names: Sequence[str] = ()
    split_names: Sequence[str] | None = None
    """The split of each document: train, test, dev, unused, or a name of its own."""
    counts: Csr | None = None
    terms: Sequence[str] | None = None
    metadata: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    hierarchy: Hierarchy | None = None
    vocabulary: LabelVocabulary | None = None
    """The addresses (URIs) of the labels and their names in other languages, where a vocabulary gave them."""
    split_by: str = ""
    """The metadata column (author, thread, source) whose equal values stay in one split."""
    name: str = ""
    source: str = ""
    licence: str = ""
    columns: Mapping[str, Sequence[Any]] | None = field(default=None, compare=False)
    """All columns of the table that was read, in their order; None for formats without columns."""
    lines: Sequence[int] | None = field(default=None, compare=False)
    """The line of the file, or the row of the sheet, that each document begins on; None for formats without columns."""
    layout: Layout | None = None
    """Which columns of a table the documents were read from; None for other formats."""
    labels_from: str = field(default="", compare=False)
    """How the labels of a format without a column of labels were found, in words; empty where there is one way."""
    reading: ReadingOptions | None = None
    """The options with which a file was read; None for documents that were not read from a file."""

    def __post_init__(self) -> None:
        columns: dict[str, int] = {f"field {key!r}": len(values) for key, values in self.fields.items()}
        columns |= {f"metadata {key!r}": len(values) for key, values in self.metadata.items()}
        if self.labels is not None:
            columns["labels"] = len(self.labels)
        if self.split_names is not None:
            columns["split"] = len(self.split_names)
        if self.counts is not None:
            columns["counts"] = self.counts.shape[0]
        for what, length in columns.items():
            if length != len(self.ids):
                raise DataError(
                    f"The corpus has {counted(len(self.ids), 'id')} but {counted(length, 'row')} of {what}."
                )
        if self.labels is not None and not self.label_names:
            object.__setattr__(self, "label_names", sorted_names(self.labels))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        """The corpus in one line: its name and how much it holds.

        >>> Corpus(ids=["1", "2"], fields={"text": ["late bus", "bad road"]}, labels=[["buses"], ["roads"]])
        <Corpus: 2 documents, 2 labels>
        """
        name = self.name or self.source or ""
        sizes = [counted(len(self), "document")]
        sizes += [] if self.labels is None else [counted(len(self.label_names), "label")]
        sizes += [f"{split} {size:,}" for split, size in self.splits.items()]
        return f"<Corpus{name and ' '}{name}: {', '.join(sizes)}>"

    def _repr_html_(self) -> str:
        """A short table for notebooks: how much the corpus holds, and its first document."""
        rows = {"documents": f"{len(self):,}"}
        if self.labels is not None:
            rows["labels"] = some_names(self.label_names)
            rows["labels per document"] = f"{sum(map(len, self.labels)) / max(len(self), 1):.2f}"
        if self.splits:
            rows["splits"] = ", ".join(f"{split} {size:,}" for split, size in self.splits.items())
        if self.counts is not None:
            rows["terms"] = f"{self.counts.shape[1]:,}"
        if len(self.fields) > 1:
            rows["fields"] = ", ".join(self.fields)
        if self.fields and len(self):
            rows["first document"] = shortened(self.subset([0]).joined_texts[0])
            rows |= {} if self.labels is None else {"its labels": ", ".join(self.labels[0]) or "none"}
        return html_table(f"Corpus {self.name or self.source}".rstrip(), rows)

    @property
    def is_bag_of_words(self) -> bool:
        """Whether the documents came as counts, so that nothing is left to vectorise."""
        return self.counts is not None

    @property
    def texts(self) -> list[Text]:
        """Each document as a string, or as a mapping from field to string when there is more than one field."""
        if len(self.fields) == 1:
            return list(next(iter(self.fields.values())))
        names = list(self.fields)
        return [dict(zip(names, values, strict=True)) for values in zip(*self.fields.values(), strict=True)]

    @property
    def joined_texts(self) -> list[str]:
        """Each document as one string: its fields that are not empty, with an empty line between them.

        >>> Corpus(ids=["1", "2"], fields={"title": ["A", ""], "body": ["b", "c"]}).joined_texts
        ['A\\n\\nb', 'c']
        """
        return ["\n\n".join(filter(None, values)) for values in zip(*self.fields.values(), strict=True)]

    @property
    def label_sets(self) -> LabelSets:
        """The label sets; an error where the corpus has none."""
        if self.labels is None:
            unused = () if self.layout is None else self.layout.unused
            reason = "" if self.layout is None else self.layout.reasons.get("labels", "")
            columns = f"Columns not used: {listed(unused, most=20)}." if unused else ""
            raise DataError(
                " ".join(filter(None, ["The documents have no labels.", reason, columns])),
                path=self.source or self.name or None,
                remedy=f"Give the column of labels ({settings_text(label_column='NAME')}; several are joined), or a "
                "file with labels.",
            )
        return self.labels

    def label_matrix(self, names: Sequence[str] | None = None, *, others: Literal["warn", "omit"] = "warn") -> Csr:
        """Y for the given names (default: all of the corpus); `others` is as in `manylabel.data.label_matrix`."""
        return label_matrix(self.label_sets, self.label_names if names is None else names, others=others)

    def subset(self, rows: Sequence[int] | np.ndarray[Any, Any]) -> Corpus:
        """The documents of the given rows, in that order, or of a mask of booleans; label names are kept.

        >>> Corpus(["a", "b", "c"]).subset([2, 0]).ids, Corpus(["a", "b", "c"]).subset([False, True, True]).ids
        (['c', 'a'], ['b', 'c'])
        """
        index, n = np.asarray(rows), len(self.ids)
        if index.dtype.kind == "b" and len(index) != n:
            raise DataError(f"The mask has {counted(len(index), 'value')}, but the corpus {counted(n, 'document')}.")
        index = np.flatnonzero(index) if index.dtype.kind == "b" else index.astype(np.intp)
        if len(outside := index[(index < -n) | (index >= n)]):
            raise DataError(f"There is no row {outside[0]}: the corpus has {counted(n, 'document')}, counted from 0.")
        positions = index.tolist()

        def pick(values: Sequence[Any]) -> list[Any]:
            return [values[i] for i in positions]

        return replace(
            self,
            ids=pick(self.ids),
            fields={key: pick(values) for key, values in self.fields.items()},
            labels=None if self.labels is None else pick(self.labels),
            split_names=None if self.split_names is None else pick(self.split_names),
            counts=None if self.counts is None else self.counts[index],
            metadata={key: pick(values) for key, values in self.metadata.items()},
            columns=None if self.columns is None else {key: pick(values) for key, values in self.columns.items()},
            lines=None if self.lines is None else pick(self.lines),
        )

    def split(self, name: str) -> Corpus:
        """The documents of one split: train, test …"""
        splits = self.splits
        if self.split_names is None or name not in splits:
            raise UnknownNameError(f"split in {self.name or self.source or 'the corpus'}", name, splits)
        return self.subset([row for row, own in enumerate(self.split_names) if own == name])

    @property
    def splits(self) -> dict[str, int]:
        """How many documents each split has; empty where the corpus has no splits."""
        return dict(Counter(self.split_names)) if self.split_names is not None else {}


SPLIT_NAMES: dict[str, str] = {
    "train": "train", "training": "train", "first": "train", "learn": "train",
    "dev": "dev", "valid": "dev", "validation": "dev", "val": "dev", "development": "dev",
    "test": "test", "testing": "test", "second": "test", "eval": "test",
}  # fmt: skip


def numbered_terms(width: int) -> list[str]:
    """The names of the columns of counts that have none: t0, t1, t2 …"""
    return [f"t{column}" for column in range(width)]


def split_name(given: object) -> str:
    """train, dev, test or unused for their usual spellings; other names stay as they are.

    >>> split_name("Validation"), split_name(None), split_name("fold 3")
    ('dev', 'unused', 'fold 3')
    """
    name = "" if given is None else str(given).strip()
    return SPLIT_NAMES.get(name.lower(), name) or "unused"


def distinct_ids(ids: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The ids of the documents of each split; with the name of the split before them where an id occurs twice.

    >>> distinct_ids({"train": ["1", "2"], "test": ["1"]}), distinct_ids({"train": ["a"], "test": ["b"]})
    ({'train': ['train/1', 'train/2'], 'test': ['test/1']}, {'train': ['a'], 'test': ['b']})
    """
    every = list(chain.from_iterable(ids.values()))
    is_distinct = len(set(every)) == len(every)
    return {split: [one if is_distinct else f"{split}/{one}" for one in own] for split, own in ids.items()}


def combine_splits(splits: Mapping[str, Corpus]) -> Corpus:
    """One corpus of the documents of all splits, each with the name of its split.

    Fields and metadata that a split lacks are empty there. Label names (and terms) keep their order when one split's
    list begins with all the others; otherwise label names are merged and sorted, and terms are an error, since columns
    cannot be matched.
    """
    corpora = list(splits.values())
    first = corpora[0]
    ids = distinct_ids({split: corpus.ids for split, corpus in splits.items()})
    counts, terms = _combined_counts(splits)
    labelled = any(corpus.labels is not None for corpus in corpora)
    lengths = [len(corpus) for corpus in corpora]
    columns = [corpus.columns for corpus in corpora if corpus.columns is not None]
    return replace(
        first,
        ids=list(chain.from_iterable(ids.values())),
        fields=_stacked([corpus.fields for corpus in corpora], lengths, ""),
        labels=[names for corpus in corpora for names in (corpus.labels or [[]] * len(corpus))] if labelled else None,
        label_names=_merged_names([corpus.label_names for corpus in corpora]),
        split_names=[split for split, corpus in splits.items() for _ in range(len(corpus))],
        counts=counts,
        terms=terms,
        metadata=_stacked([corpus.metadata for corpus in corpora], lengths, None),
        columns=_stacked(columns, lengths, None) if len(columns) == len(corpora) else None,
        lines=None,
    )


def _stacked(
    tables: Sequence[Mapping[str, Sequence[Any]]], lengths: Sequence[int], absent: Any
) -> dict[str, list[Any]]:
    names = list(dict.fromkeys(name for table in tables for name in table))
    return {
        name: [
            value
            for table, length in zip(tables, lengths, strict=True)
            for value in (table[name] if name in table else [absent] * length)
        ]
        for name in names
    }


def _longest(lists: Sequence[Sequence[str]]) -> list[str] | None:
    """The longest list if it begins with every other list; None otherwise."""
    longest: list[str] = []
    for names in lists:
        longest = list(names) if len(names) > len(longest) else longest
    return longest if all(longest[: len(names)] == list(names) for names in lists) else None


def _merged_names(lists: Sequence[Sequence[str]]) -> list[str]:
    longest = _longest(lists)
    return longest if longest is not None else sorted(set(chain.from_iterable(lists)))


def _combined_counts(splits: Mapping[str, Corpus]) -> tuple[Csr | None, list[str] | None]:
    matrices = {name: corpus.counts for name, corpus in splits.items() if corpus.counts is not None}
    if not matrices:
        return None, None
    if len(matrices) < len(splits):
        raise DataError(
            f"Only {', '.join(matrices)} hold counts, the other splits hold texts. Give splits of one kind."
        )
    lists = [list(corpus.terms or numbered_terms(matrices[name].shape[1])) for name, corpus in splits.items()]
    terms = _longest(lists)
    if terms is None:
        raise DataError(
            f"The splits {', '.join(splits)} do not have the same terms in the same order.",
            path=next(iter(splits.values())).source,
            remedy="Give files made with one vocabulary.",
        )
    wide = [Csr((m.data, m.indices, m.indptr), shape=(m.shape[0], len(terms))) for m in matrices.values()]
    return Csr(sparse.vstack(wide, format="csr")), terms


def with_width(corpus: Corpus, width: int) -> Corpus:
    """The corpus with that number of columns of counts: missing ones are 0, further ones are left out."""
    assert corpus.counts is not None  # only files of counts have a width
    known = corpus.counts[:, :width]
    counts = Csr((known.data, known.indices, known.indptr), shape=(len(corpus), width))
    return replace(corpus, counts=counts, terms=numbered_terms(width))


def check_columns_of(corpus: Corpus, trained: Corpus) -> None:
    """Raise an error where the columns of the corpus are not those of the training documents."""
    if (corpus.counts is None) != (trained.counts is None):
        kinds = ("texts", "counts") if corpus.counts is None else ("counts", "texts")
        raise DataError(
            f"The file holds {kinds[0]}, but the training documents are {kinds[1]}.",
            path=corpus.source or None,
            remedy="Give documents of one kind.",
        )
    if corpus.counts is not None:
        given, wanted = (_column_names(one.counts, one.terms) for one in (corpus, trained))
        check_same_columns(given, wanted, corpus.source or None)


def check_same_columns(given: Sequence[str], trained: Sequence[str], path: str | Path | None = None) -> None:
    """Raise an error where columns have other names than in training, or another order."""
    if list(given) == list(trained):
        return
    pairs = enumerate(zip_longest(given, trained, fillvalue="nothing"), start=1)
    number, own, known = next((number, *pair) for number, pair in pairs if pair[0] != pair[1])
    raise DataError(
        f"The columns are not those that the model was trained on: column {number} is {own!r}, in training it was "
        f"{known!r}.",
        path=path,
        remedy="Give the same columns in the same order; feature_names_in_ of a model lists them.",
    )


def _column_names(counts: Csr | None, terms: Sequence[str] | None) -> list[str]:
    return list(terms) if terms is not None else numbered_terms(0 if counts is None else counts.shape[1])
