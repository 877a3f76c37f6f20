"""Documents as lines of ``labels index:value index:value``, which libsvm and XMC files share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from manylabel.data.corpus import Corpus
from manylabel.estimator import Csr


class SparseLine(NamedTuple):
    """The labels, columns and values of one line."""

    labels: list[int]
    columns: list[int]
    values: list[float]


@dataclass(slots=True)
class SparseRows:
    """Rows gathered one by one, then made a matrix."""

    indices: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    indptr: list[int] = field(default_factory=lambda: [0])

    def append(self, columns: Sequence[int], values: Sequence[float]) -> None:
        """Add a row."""
        self.indices.extend(columns)
        self.values.extend(values)
        self.indptr.append(len(self.indices))

    def matrix(self, width: int) -> Csr:
        """The rows as CSR with sorted columns; zeros that were written out are left out."""
        arrays = (
            np.array(self.values, dtype=np.float64),
            np.array(self.indices, dtype=np.int64),
            self.indptr,
        )
        matrix = Csr(arrays, shape=(len(self.indptr) - 1, width))
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return matrix


def parse_line(line: str, first: int) -> SparseLine | str:
    """The line's labels, columns (counted from `first`) and values, or a sentence saying what is wrong.

    >>> parse_line("1,3 2:0.5 7:1", first=1)
    SparseLine(labels=[1, 3], columns=[1, 6], values=[0.5, 1.0])
    >>> parse_line("1 2:x", first=1)
    "'2:x' is not a pair index:value."
    """
    line = line.partition("#")[0]
    words = line.split()
    head = words.pop(0) if words and ":" not in words[0] else ""
    try:
        labels = [int(float(label)) if "." in label else int(label) for label in head.split(",") if label]
    except (ValueError, OverflowError):
        return f"{head!r} is not a list of label numbers such as 1,3,5."
    pieces = ":".join(words).split(":")
    try:
        columns = [int(piece) - first for piece in pieces[::2]] if words else []
        values = [float(piece) for piece in pieces[1::2]]
    except ValueError:
        columns, values = [], [math.nan]
    sound = len(columns) == len(values) and len(pieces) in (2 * len(words), 1)
    if not sound or not all(map(math.isfinite, values)):
        bad = next((word for word in words if not _is_pair(word)), words[0] if words else "")
        return f"{bad!r} is not a pair index:value."
    if columns and min(columns) < 0:
        return f"Column {min(columns) + first} lies before the first column, which is {first}."
    if len(set(columns)) < len(columns):
        return "A column is given twice."
    return SparseLine(sorted(set(labels)), columns, values)


def _is_pair(word: str) -> bool:
    index, _, value = word.partition(":")
    try:
        return index.isdecimal() and math.isfinite(float(value))
    except ValueError:
        return False


def rows_of(corpus: Corpus) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Each document's label numbers joined by commas, and its columns with their values, written shortest."""
    assert corpus.counts is not None  # `write` checked the kind
    counts = corpus.counts.copy()
    counts.sum_duplicates()
    Y = None if corpus.labels is None else corpus.label_matrix()
    for row in range(len(corpus)):
        labels = "" if Y is None else ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        values = [_short(value) for value in counts.data[span].tolist()]
        yield labels, list(zip(counts.indices[span].tolist(), values, strict=True))


def _short(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def write_names(stream: IO[str], names: Sequence[str]) -> None:
    """One name a line."""
    stream.writelines(f"{name}\n" for name in names)


def side_path(path: Path, what: str) -> Path:
    """Where the names of labels or terms of a file are kept: ``train.svm.gz`` has ``train.labels.txt``."""
    return path.with_name(f"{path.name.split('.')[0]}.{what}.txt")
