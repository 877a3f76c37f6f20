"""The documents a user brings: texts in fields or ready-made counts, their label sets, and where they came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from manylabel.data.hierarchy import Hierarchy
from manylabel.data.labels import LabelSets, label_matrix
from manylabel.data.labels import label_names as sorted_names
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, UnknownNameError

Text = str | Mapping[str, str]
SplitName = Literal["train", "test", "dev", "unused"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents with label sets. Made by the readers of `manylabel.data`; estimators never see one.

    Either `fields` holds the texts (one list a field, for example title and body; a corpus without fields has the one
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
    split_by: str = ""
    """The metadata whose values (author, thread, source) are not to be divided between training and test."""
    name: str = ""
    source: str = ""
    licence: str = ""

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
                raise DataError(f"The corpus has {len(self.ids)} ids but {length} rows of {what}.")
        if self.labels is not None and not self.label_names:
            object.__setattr__(self, "label_names", sorted_names(self.labels))

    def __len__(self) -> int:
        return len(self.ids)

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
    def label_sets(self) -> LabelSets:
        """The label sets; an error where the corpus has none."""
        if self.labels is None:
            raise DataError(
                "The documents carry no labels.",
                path=self.source or self.name or None,
                remedy="Name the label column (--label-column), or give a file with labels.",
            )
        return self.labels

    def label_matrix(self, names: Sequence[str] | None = None) -> Csr:
        """Y for the given names (default: all label names of the corpus)."""
        return label_matrix(self.label_sets, self.label_names if names is None else names)

    def subset(self, rows: Sequence[int] | np.ndarray[Any, Any]) -> Corpus:
        """The documents of the given rows, in that order; label names are kept."""
        index = np.asarray(rows, dtype=np.intp)
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
        )

    def split(self, name: str) -> Corpus:
        """The documents of one split: train, test …"""
        splits = self.splits
        if self.split_names is None or name not in splits:
            raise UnknownNameError(f"split in {self.name or self.source or 'the corpus'}", name, splits)
        return self.subset([row for row, own in enumerate(self.split_names) if own == name])

    @property
    def splits(self) -> dict[str, int]:
        """How many documents each split has; empty where the corpus is not divided."""
        return dict(Counter(self.split_names)) if self.split_names is not None else {}
