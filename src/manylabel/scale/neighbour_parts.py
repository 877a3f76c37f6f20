"""Neighbours among documents on disk: the nearest ones of each part, merged into the nearest of all.

A part is weighted and indexed when it is read. An inner product does not depend on the other documents of an index, if
the terms that are added first are chosen by all documents. So neighbours and similarities are those of one index in
memory, and ties go to the lowest document there as well. The fitted model holds all documents, as in memory; what is
bounded is the memory to learn its decision rule, and to count the neighbours of the training documents (ML-kNN).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Ints
from manylabel.kernels.nearest import Neighbours, frequent_terms, merged, nearest, nearest_index
from manylabel.models.inputs import canonical
from manylabel.models.ml_knn import MLkNN
from manylabel.models.neighbour_model import NeighbourModel, unit_vectors
from manylabel.scale.engine import Engine, Task
from manylabel.scale.selected import PARTS_A_TASK, Selected, csr_arrays, load_csr
from manylabel.scale.tables import digest, replace_array, replace_arrays, save_arrays

# ---- tasks -----------------------------------------------------------------------------------------------------------


def find_nearest(output: Path, documents: Mapping[str, Any], frequent: str, queries: str, k: int, start: int) -> None:
    """Write the nearest documents of some queries among the documents of some parts from `start` on; a task."""
    selected, asked = Selected.from_dict(documents), load_csr(Path(queries))
    found = _nearest(selected, start, PARTS_A_TASK, np.load(frequent, allow_pickle=False), asked, k, None)
    save_arrays(output, {"ids": found.ids, "similarities": found.similarities, "counts": found.counts})


def count_neighbours(output: Path, documents: Mapping[str, Any], frequent: str, k: int, start: int) -> None:
    """Write the tables that `MLkNN` learns from, of the training documents of the part `start`; a task."""
    selected, model = Selected.from_dict(documents), MLkNN(k, n_jobs=1)
    learned, first_terms = _labels(selected, selected.Y()), np.load(frequent, allow_pickle=False)
    model.keep_labels(learned)
    tables = [np.zeros((learned.shape[1], model.k + 1), dtype=np.int64) for _ in range(2)]
    for numbers, X in _blocks(selected, start, 1):
        found = _nearest(selected, 0, len(selected.matrix.parts), first_terms, X, model.k, numbers)
        tables = [total + more for total, more in zip(tables, model.tables(found, Csr(learned[numbers])), strict=True)]
    save_arrays(output, {"with_label": tables[0], "without": tables[1]})


def _nearest(
    selected: Selected, start: int, parts: int, frequent: Ints, asked: Csr, k: int, skip: Ints | None
) -> Neighbours:
    """The nearest of the documents of some parts; numbers as those of `_blocks`."""
    best = _none(asked)
    for numbers, X in _blocks(selected, start, parts):
        own = None if skip is None else np.maximum(skip - numbers[0], -1)
        found = nearest(nearest_index(X, frequent), asked, k, skip=own, n_jobs=1)
        ids = np.where(found.ids < 0, -1, found.ids + numbers[0]).astype(np.int32)
        best = merged([best, replace(found, ids=ids)], k)
    return best


def _none(asked: Csr) -> Neighbours:
    """No neighbours of some queries."""
    none = np.zeros((asked.shape[0], 0))
    return Neighbours(none.astype(np.int32), none, np.zeros(asked.shape[0], dtype=np.int32))


def _blocks(selected: Selected, start: int, parts: int) -> Iterator[tuple[Ints, Csr]]:
    """The documents that are meant in some parts from `start` on, as unit vectors, and their numbers among all of them.

    Numbers count the documents that are meant, as the rows of a matrix in memory would.
    """
    first, wanted = int(selected.matrix.starts[start]), selected.wanted()
    some = replace(selected.matrix, parts=selected.matrix.parts[start : start + parts])
    number = first if wanted is None else int(np.count_nonzero(wanted[:first]))
    weigh = selected.weigh
    for rows, counts in some.blocks(None if wanted is None else wanted[first : first + some.shape[0]]):
        if len(rows):  # a guarantee may hold out all documents of a part
            yield np.arange(number, number + len(rows)), unit_vectors(canonical(weigh(counts)))
            number += len(rows)


def _labels(selected: Selected, Y: Csr) -> Csr:
    """The labels of the documents that are meant."""
    wanted = selected.wanted()
    return Y if wanted is None else Csr(Y[wanted])


# ---- fitting ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexOnDisk:
    """Training documents on disk, in which tasks find the nearest ones."""

    documents: Mapping[str, Any]
    """The documents as plain data, see `Selected.as_dict`."""
    n_parts: int
    frequent: Path
    """The terms that are added first."""
    engine: Engine
    folder: Path

    def find(self, queries: Csr, k: int, *, skip: npt.ArrayLike | None = None, n_jobs: int | None = None) -> Neighbours:
        """See `manylabel.kernels.nearest.nearest`; the queries are other documents, so none is skipped."""
        assert skip is None
        pieces = queries.indptr, queries.indices, queries.data
        asked = self.folder / f"queries-{digest(*(piece.tobytes() for piece in pieces))}"
        if not asked.exists():
            replace_arrays(asked, csr_arrays("Y", queries))
        common = {"documents": self.documents, "frequent": str(self.frequent), "queries": str(asked.absolute()), "k": k}
        tasks = [
            Task(
                "neighbour_parts:find_nearest",
                self.folder / f"{asked.name}-{start:05d}",
                {**common, "start": start},
            )
            for start in range(0, self.n_parts, PARTS_A_TASK)
        ]
        self.engine.run(tasks, "Finding neighbours")
        best = _none(queries)
        for task in tasks:
            with np.load(task.output, allow_pickle=False) as stored:
                found = Neighbours(stored["ids"], stored["similarities"], stored["counts"])
            best = merged([best, found], k)
        return best


def fit_neighbours(
    model: NeighbourModel, selected: Selected, Y: Csr, frequency: Ints, engine: Engine, place: Path
) -> NeighbourModel:
    """The model fitted to documents on disk with labels Y; `frequency` is how many of them have each term.

    A model of some documents, as of a fold, leaves them on disk. One of all documents holds them.
    """
    place.mkdir(parents=True, exist_ok=True)
    model.check_parameters()
    model.note_shape(selected.matrix.n_terms, Y.shape[1])
    model.keep_labels(_labels(selected, Y))
    n_documents = model.label_sets_.shape[0]
    frequent = place.absolute() / "frequent.npy"
    replace_array(frequent, frequent_terms(frequency, n_documents))
    if isinstance(model, MLkNN):
        _count(model, selected, frequent, engine, place)
    if selected.rows is None:
        model.documents_ = _unit_vectors(selected, int(frequency.sum()))
    else:
        model.documents_ = Csr((n_documents, selected.matrix.n_terms))
        parts = len(selected.matrix.parts)
        model.search_in(IndexOnDisk(selected.as_dict(), parts, frequent, engine, place))
    return model


def _count(model: MLkNN, selected: Selected, frequent: Path, engine: Engine, place: Path) -> None:
    """Have ML-kNN learn from the neighbours of all training documents: one task per part."""
    common = {"documents": selected.as_dict(), "frequent": str(frequent), "k": model.k}
    tasks = [
        Task("neighbour_parts:count_neighbours", place / f"counts-{start:05d}", {**common, "start": start})
        for start in range(len(selected.matrix.parts))
    ]
    engine.run(tasks, "Counting neighbours")
    tables = []
    for task in tasks:
        with np.load(task.output, allow_pickle=False) as stored:
            tables.append((stored["with_label"], stored["without"]))
    model.learn_tables(*(np.sum(column, axis=0) for column in zip(*tables, strict=True)))


def _unit_vectors(selected: Selected, cells: int) -> Csr:
    """All documents as unit vectors in memory; X holds at most `cells` values."""
    data, indices = np.empty(cells), np.empty(cells, dtype=np.int32)
    sizes, end = [np.zeros(1, dtype=np.int64)], 0
    for _, X in _blocks(selected, 0, len(selected.matrix.parts)):
        own = slice(end, end + X.nnz)
        data[own], indices[own], end = X.data, X.indices, own.stop
        sizes.append(np.diff(X.indptr))
    indptr = np.cumsum(np.concatenate(sizes))
    if end <= np.iinfo(np.int32).max:  # as in memory
        indptr = indptr.astype(np.int32)
    return Csr((data[:end], indices[:end], indptr), shape=(len(indptr) - 1, selected.matrix.n_terms))
