"""Counts of terms and labels of a part of a corpus, which add up exactly to those of the whole."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Ints
from manylabel.features.vocabulary import TermTable

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """How often terms and labels occur in some documents; names are in alphabetical order.

    >>> first = Tables.of(["bus", "late"], Csr([[1, 2], [0, 1]]), ["buses"], Csr([[1], [0]]))
    >>> whole = merge([first, Tables.of(["road"], Csr([[3]]), ["roads"], Csr([[1]]))])
    >>> whole.terms, whole.document_frequency.tolist(), whole.frequency.tolist()
    (['bus', 'late', 'road'], [1, 2, 1], [1, 3, 3])
    >>> whole.labels, whole.label_documents.tolist(), whole.documents, whole.unlabelled, whole.cells
    (['buses', 'roads'], [1, 1], 3, 1, 4)
    """

    terms: list[str]
    document_frequency: Ints
    """The number of documents with each term."""
    frequency: Ints
    """How often each term occurs."""
    labels: list[str]
    label_documents: Ints
    """The number of documents with each label."""
    documents: int
    unlabelled: int
    """Documents without a label."""
    single: int
    """Documents with exactly one label."""
    cells: int
    """Different terms of each document, added up: the values that X holds."""

    @classmethod
    def of(cls, terms: Sequence[str], X: Csr, labels: Sequence[str], Y: Csr) -> Self:
        """The tables of documents with counts X of sorted terms and labels Y."""
        table = TermTable()
        table.add(list(terms), X, is_sorted=True)
        sizes = np.diff(Y.indptr)
        return cls(
            list(terms),
            table.document_frequency,
            table.frequency,
            list(labels),
            np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64),
            int(X.shape[0]),
            int(np.count_nonzero(sizes == 0)),
            int(np.count_nonzero(sizes == 1)),
            int(X.nnz),
        )

    def without(self, counts: Csr) -> Tables:
        """The tables without the terms of some documents, which have these counts; labels are those of all."""
        frequency = np.bincount(counts.indices, weights=counts.data, minlength=len(self.terms)).astype(np.int64)
        document_frequency = self.document_frequency - np.bincount(counts.indices, minlength=len(self.terms))
        left = np.flatnonzero(document_frequency)
        return replace(
            self,
            terms=[self.terms[term] for term in left.tolist()],
            document_frequency=document_frequency[left],
            frequency=(self.frequency - frequency)[left],
            documents=self.documents - counts.shape[0],
            cells=self.cells - counts.nnz,
        )

    def save(self, path: Path) -> None:
        """Write the tables to a file."""
        plain: Arrays = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, list):
                plain |= {f"{item.name}.{key}": array for key, array in packed(value).items()}
            else:
                plain[item.name] = np.asarray(value)
        save_arrays(path, plain)

    @classmethod
    def load(cls, path: Path) -> Self:
        """The tables that `save` wrote."""
        with np.load(path, allow_pickle=False) as stored:
            found: dict[str, Any] = {}
            for item in fields(cls):
                if f"{item.name}.bytes" in stored:
                    found[item.name] = unpacked(stored[f"{item.name}.bytes"], stored[f"{item.name}.ends"])
                else:
                    array = stored[item.name]
                    found[item.name] = array if array.ndim else int(array)
        return cls(**found)


def save_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name to a file of exactly this name."""
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


def replace_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name to a file that is there when it is complete."""
    part = path.with_name(f".{path.name}.part")
    save_arrays(part, arrays)
    part.replace(path)


def replace_array(path: Path, array: npt.NDArray[Any]) -> None:
    """Write one array, which can be mapped, to a file ``*.npy`` that is there when it is complete."""
    part = path.with_name(f".{path.name}")
    np.save(part, array)
    part.replace(path)


def digest(*pieces: bytes | memoryview) -> str:
    """A name for what is computed from some bytes."""
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()[:16]


def merge(tables: Sequence[Tables]) -> Tables:
    """The tables of all parts together: whole numbers, so that the order does not matter."""
    terms, term_rows = _merged_names([one.terms for one in tables])
    labels, label_rows = _merged_names([one.labels for one in tables])
    return Tables(
        terms,
        _added(len(terms), term_rows, [one.document_frequency for one in tables]),
        _added(len(terms), term_rows, [one.frequency for one in tables]),
        labels,
        _added(len(labels), label_rows, [one.label_documents for one in tables]),
        sum(one.documents for one in tables),
        sum(one.unlabelled for one in tables),
        sum(one.single for one in tables),
        sum(one.cells for one in tables),
    )


def merge_files(output: Path, inputs: Sequence[str]) -> None:
    """Merge files of tables, or those of the parts whose folders are given, into one; a task of an engine."""
    paths = [Path(name) for name in inputs]
    merge([Tables.load(path / "tables" if path.is_dir() else path) for path in paths]).save(output)


def _merged_names(lists: Sequence[list[str]]) -> tuple[list[str], list[Ints]]:
    """All names in order, and where those of each list are among them."""
    names = sorted({name for one in lists for name in one})
    place = dict(zip(names, range(len(names)), strict=True))
    return names, [places(place, one) for one in lists]


def places(place: Mapping[str, int], names: Sequence[str]) -> Ints:
    """The number of each name; −1 for one that has none."""
    return np.fromiter((place.get(name, -1) for name in names), dtype=np.int64, count=len(names))


def _added(size: int, rows: Sequence[Ints], values: Sequence[Ints]) -> Ints:
    total = np.zeros(size, dtype=np.int64)
    for own, one in zip(rows, values, strict=True):
        total[own] += one
    return total


def packed(names: Sequence[str]) -> Arrays:
    """Names as one array of bytes and one of the places where they end.

    >>> {name: array.tolist() for name, array in packed(["a", "bc"]).items()}
    {'bytes': [97, 98, 99], 'ends': [1, 3]}
    """
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    return {"bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), "ends": ends}


def unpacked(data: npt.NDArray[np.uint8], ends: Ints) -> list[str]:
    """The names that `packed` made an array of."""
    whole, starts = data.tobytes(), [0, *ends.tolist()]
    return [whole[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(starts)]
