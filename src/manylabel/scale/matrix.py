"""X and Y of a corpus on disk: memory-mapped CSR matrices of its parts, each with terms and labels of its own.

Texts are read once. The columns of a part are its own terms, in alphabetical order; the columns of the whole follow
from the merged tables, and a part is renumbered when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse

from manylabel.data.labels import label_matrix, label_names
from manylabel.estimator import Csr, Ints
from manylabel.features.vectorize import Vectorizer
from manylabel.models.score_kinds import Bools
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.tables import Tables, places


def count_shard(output: Path, corpus: Mapping[str, Any], features: Mapping[str, Any]) -> None:
    """Count the terms of a shard: one part per batch of documents, as folders in the folder `output`; a task.

    `corpus` describes a `ShardedCorpus` of one shard, `features` are the settings of a `Vectorizer` that keeps all
    terms, none of them left to the texts.
    """
    output.mkdir()
    opened = ShardedCorpus.from_dict(corpus)
    for number, batch in enumerate(opened.batches(opened.shards[0])):
        vectorizer = Vectorizer(**{**features, "n_jobs": 1})
        X = vectorizer.count(batch.texts)
        names = label_names(batch.label_sets)
        terms = vectorizer.terms_ if X.shape[1] else []
        Part(output / f"part-{number:05d}").write(terms, X, names, label_matrix(batch.label_sets, names))
    if opened.skipped:
        skipped = json.dumps([str(problem) for problem in opened.skipped])
        (output / "skipped.json").write_text(skipped, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Part:
    """The documents of one batch: a folder with counts of terms and labels."""

    folder: Path

    def write(self, terms: Sequence[str], X: Csr, labels: Sequence[str], Y: Csr) -> None:
        """Write the counts of sorted terms and the labels of some documents."""
        self.folder.mkdir()
        for name, table in (("X", X), ("Y", Y)):
            # A whole corpus may have more than 2³¹ values; the columns of one part are always fewer.
            np.save(self.folder / f"{name}-indptr.npy", table.indptr.astype(np.int64))
            np.save(self.folder / f"{name}-indices.npy", table.indices.astype(np.int32))
        np.save(self.folder / "X-data.npy", X.data.astype(np.int32))
        Tables.of(terms, X, labels, Y).save(self.folder / "tables")

    @property
    def tables(self) -> Tables:
        """How often the terms and labels of the part occur, those of all its documents."""
        return Tables.load(self.folder / "tables")

    def keep(self, rows: Ints | None) -> None:
        """Leave all documents but some out of X and Y from now on; None for all."""
        if rows is not None:
            np.save(self.folder / "kept.npy", rows)
        else:
            (self.folder / "kept.npy").unlink(missing_ok=True)

    @property
    def _kept(self) -> Ints | None:
        return np.asarray(self._read("kept")) if (self.folder / "kept.npy").exists() else None

    @property
    def n_documents(self) -> int:
        """The number of rows of X and Y."""
        kept = self._kept
        return len(self._read("X-indptr")) - 1 if kept is None else len(kept)

    def number(self, terms: Mapping[str, int], labels: Mapping[str, int]) -> None:
        """Write the columns that the terms and labels of the part have in the whole; −1 leaves a term out."""
        own = self.tables
        np.save(self.folder / "columns.npy", places(terms, own.terms).astype(np.int32))
        np.save(self.folder / "labels.npy", places(labels, own.labels).astype(np.int32))

    def X(self, n_terms: int, rows: Ints | None = None, selected: Ints | None = None) -> Csr:
        """The counts of the terms of the whole corpus, documents × terms; those of some documents for `rows`.

        `selected` is the column of each of these terms after a selection, −1 for one that is left out; one −1 more
        follows.
        """
        data, (indices, indptr), columns = self._read("X-data"), self._table("X"), self._read("columns")
        if selected is not None:
            columns = selected[columns]  # a term that has no column, −1, finds the last one
        if (kept := self._kept) is not None:
            rows = kept if rows is None else kept[rows]
        if rows is not None:
            picked = Csr((data, indices, indptr), shape=(len(indptr) - 1, len(columns)))[rows]
            data, indices, indptr = picked.data, picked.indices, picked.indptr
        return _renumbered(data, indices, indptr, columns, n_terms)

    def Y(self, n_labels: int) -> Csr:
        """The labels of the documents, documents × labels of the whole corpus."""
        indices, indptr = self._table("Y")
        ones = np.ones(len(indices), dtype=np.int8)
        found = _renumbered(ones, indices, indptr, self._read("labels"), n_labels)
        return found if (kept := self._kept) is None else Csr(found[kept])

    def _table(self, name: str) -> tuple[Any, Any]:
        return self._read(f"{name}-indices"), self._read(f"{name}-indptr")

    def _read(self, name: str) -> Any:
        return np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)


def _renumbered(data: Any, indices: Any, indptr: Any, columns: Any, width: int) -> Csr:
    """A CSR matrix with other columns, which are in the same order; cells of columns that became −1 are left out."""
    new = np.asarray(columns)[indices]
    inside = new >= 0
    if inside.all():
        starts = np.asarray(indptr)
    else:
        before = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])
        starts, new, data = before[indptr], new[inside], np.asarray(data)[inside]
    return Csr((np.asarray(data), new, starts), shape=(len(indptr) - 1, width))


@dataclass(frozen=True)
class Matrix:
    """X and Y of a whole corpus, part after part."""

    parts: tuple[Part, ...]
    n_terms: int
    n_labels: int
    selection: Path | None = None
    """A file with the column of each numbered term after a selection, −1 for one that is left out; None for all."""

    @property
    def kept(self) -> Ints:
        """The numbered terms that the selection keeps."""
        return np.arange(self.n_terms) if self._selected is None else np.flatnonzero(self._selected >= 0)

    @cached_property
    def _selected(self) -> Ints | None:
        return None if self.selection is None else np.append(np.load(self.selection, allow_pickle=False), -1)

    @cached_property
    def starts(self) -> Ints:
        """The number of the first document of each part, and the number of documents."""
        sizes = [part.n_documents for part in self.parts]
        return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and terms."""
        return int(self.starts[-1]), self.n_terms

    def number(self, terms: Sequence[str], labels: Sequence[str]) -> None:
        """Write the columns that terms and labels have in every part, see `Part.number`."""
        columns = [dict(zip(names, range(len(names)), strict=True)) for names in (terms, labels)]
        for part in self.parts:
            part.number(*columns)

    def keep(self, numbers: Ints) -> None:
        """Leave all documents but some, whose numbers ascend, out of the parts; see `Part.keep`."""
        ends = np.searchsorted(numbers, self.starts)
        for place, part in enumerate(self.parts):
            part.keep(numbers[ends[place] : ends[place + 1]] - self.starts[place])

    def Y(self) -> Csr:
        """The labels of all documents; they fit in memory where documents have few labels each."""
        tables = [part.Y(self.n_labels) for part in self.parts]
        sizes = np.concatenate([np.diff(table.indptr) for table in tables])
        indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        indices = np.concatenate([table.indices for table in tables])
        return Csr((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(self.shape[0], self.n_labels))

    def blocks(self, wanted: Bools | None = None) -> Iterator[tuple[Ints, Csr]]:
        """The numbers of the documents of each part, and their counts of terms; only documents that are `wanted`."""
        for part, start, stop in zip(self.parts, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            if wanted is None:
                yield np.arange(start, stop), part.X(self.n_terms, None, self._selected)
            elif (rows := np.flatnonzero(wanted[start:stop])).size:
                yield start + rows, part.X(self.n_terms, rows, self._selected)

    def rows(self, numbers: Ints) -> Csr:
        """The counts of terms of some documents, whose numbers ascend."""
        wanted = np.zeros(self.shape[0], dtype=np.bool_)
        wanted[numbers] = True
        none = Csr(np.zeros((0, self.n_terms), dtype=np.int32))
        return Csr(sparse.vstack([none, *(X for _, X in self.blocks(wanted))], format="csr"))

    def as_dict(self) -> dict[str, Any]:
        """The matrix as plain data, for a task of an engine."""
        plain: dict[str, Any] = {"n_terms": self.n_terms, "n_labels": self.n_labels}
        if self.selection is not None:
            plain["selection"] = str(self.selection)
        return {"parts": [str(part.folder) for part in self.parts], **plain}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The matrix that `as_dict` described."""
        parts = tuple(Part(Path(name)) for name in plain["parts"])
        selection = Path(plain["selection"]) if "selection" in plain else None
        return cls(parts, plain["n_terms"], plain["n_labels"], selection)
