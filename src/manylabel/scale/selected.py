"""Some documents of a matrix on disk as a model reads them, described by plain data so that tasks can open them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from manylabel import modelfile
from manylabel.estimator import Csr, Ints
from manylabel.features.weighting import Weighting
from manylabel.models.score_kinds import Bools
from manylabel.scale.matrix import Matrix

PARTS_A_TASK = 8
"""How many parts of the matrix one task reads."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Some documents of a matrix as a model reads them: weighted, with labels; as plain data for tasks."""

    matrix: Matrix
    labels: Path
    """Y of all documents, all labels or some."""
    rows: Path | None = None
    """Which documents are meant, a file of truth values; None for all."""
    weighting: Path | None = None
    """A fitted `Weighting`; None for counts."""
    stored: Path | None = None
    """The folder of what `store_parts` wrote; None to weigh counts whenever they are read."""

    def blocks(self, only: Bools | None = None) -> Iterator[tuple[Ints, Csr]]:
        """The numbers of the documents of each part, and X as the model reads it; `only` some of those meant."""
        if self.stored is not None:
            yield from self._stored_blocks(self.stored, only)
            return
        wanted = self.wanted() if only is None else only
        weigh = self.weigh
        for numbers, counts in self.matrix.blocks(wanted):
            yield numbers, weigh(counts)

    def _stored_blocks(self, folder: Path, only: Bools | None) -> Iterator[tuple[Ints, Csr]]:
        for number in range(len(self.matrix.parts)):
            path = folder / f"{number - number % PARTS_A_TASK:05d}" / f"{number:05d}"
            if not path.exists():  # no document of the part is meant
                continue
            names = ("numbers", "data", "indices", "indptr")
            numbers, *arrays = (np.load(path / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names)
            X = Csr(tuple(arrays), shape=(len(numbers), self.matrix.n_terms))
            if only is not None and not (inside := only[numbers]).all():
                numbers, X = numbers[inside], Csr(X[inside])
            if len(numbers):
                yield np.asarray(numbers), Csr(X.astype(np.float64))

    @property
    def weigh(self) -> Callable[[Csr], Csr]:
        """The function that turns counts into X."""
        if self.weighting is None:
            return lambda counts: Csr((counts.data.astype(np.float64), counts.indices, counts.indptr), counts.shape)
        return cast(Weighting, modelfile.load(self.weighting)).transform

    def wanted(self) -> Bools | None:
        """Which documents are meant; None for all."""
        if self.rows is None:
            return None
        with np.load(self.rows, allow_pickle=False) as stored:
            return np.asarray(stored["rows"], dtype=np.bool_)

    def Y(self) -> Csr:
        """The labels of all documents."""
        return load_csr(self.labels)

    def as_dict(self) -> dict[str, Any]:
        """The selection as plain data."""
        named = {"labels": self.labels, "rows": self.rows, "weighting": self.weighting, "stored": self.stored}
        return {"matrix": self.matrix.as_dict(), **{key: str(path) for key, path in named.items() if path is not None}}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The selection that `as_dict` described."""
        paths = {key: Path(plain[key]) for key in ("labels", "rows", "weighting", "stored") if key in plain}
        return cls(Matrix.from_dict(plain["matrix"]), **paths)

    def in_parts(self, start: int) -> tuple[Matrix, int, Bools | None]:
        """`PARTS_A_TASK` parts of the matrix from `start` on, their first document, and which of theirs are meant."""
        part, first = (
            replace(self.matrix, parts=self.matrix.parts[start : start + PARTS_A_TASK]),
            self.matrix.starts[start],
        )
        wanted = self.wanted()
        return part, int(first), None if wanted is None else wanted[first : first + part.shape[0]]


def store_parts(output: Path, documents: Mapping[str, Any], start: int, dtype: str) -> None:
    """Write X as the model reads it, of the documents meant in some parts from `start` on, to a folder; a task.

    Whoever reads all documents again and again need not weigh them each time. `dtype` is the precision of the values.
    """
    selected = Selected.from_dict(documents)
    matrix, first, wanted = selected.in_parts(start)
    weigh = selected.weigh
    output.mkdir()
    for numbers, counts in matrix.blocks(wanted):
        X = weigh(counts)
        folder = output / f"{start + np.searchsorted(matrix.starts, numbers[0], side='right') - 1:05d}"
        folder.mkdir()
        for name, array in (("data", X.data), ("indices", X.indices), ("indptr", X.indptr)):
            np.save(folder / f"{name}.npy", array.astype(dtype if name == "data" else np.int32))
        np.save(folder / "numbers.npy", first + numbers)


def csr_arrays(name: str, table: Csr) -> dict[str, npt.NDArray[Any]]:
    """A sparse matrix as arrays by name."""
    parts = {"data": table.data, "indices": table.indices, "indptr": table.indptr, "shape": np.array(table.shape)}
    return {f"{name}.{key}": array for key, array in parts.items()}


def csr_of(name: str, stored: Mapping[str, npt.NDArray[Any]]) -> Csr:
    """The sparse matrix that `csr_arrays` took apart."""
    data, indices, indptr, shape = (stored[f"{name}.{key}"] for key in ("data", "indices", "indptr", "shape"))
    return Csr((data, indices, indptr), shape=tuple(shape.tolist()))


def load_csr(path: Path) -> Csr:
    """A sparse matrix in a file of its own."""
    with np.load(path, allow_pickle=False) as stored:
        return csr_of("Y", stored)
