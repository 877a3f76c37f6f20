"""Sparse counts as lines of ``labels index:value index:value``: multi-label libsvm and the XMC repository's files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from manylabel.data.corpus import Corpus, numbered_terms
from manylabel.data.label_files import side_names, written_with_names
from manylabel.data.limits import Limits
from manylabel.data.problems import Problems
from manylabel.data.textfile import Lines, numbered_lines
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.wording import counted, settings_text


class SparseLine(NamedTuple):
    """The labels, columns and values of one line."""

    labels: list[int]
    columns: list[int]
    values: list[float]


@dataclass(slots=True)
class SparseRows:
    """Rows collected one by one and turned into a matrix."""

    indices: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    indptr: list[int] = field(default_factory=lambda: [0])

    def append(self, columns: Sequence[int], values: Sequence[float]) -> None:
        """Add a row."""
        self.indices.extend(columns)
        self.values.extend(values)
        self.indptr.append(len(self.indices))

    def matrix(self, width: int) -> Csr:
        """The rows as CSR with sorted columns, without explicit zeros."""
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
    """The line's labels, columns (counted from `first`) and values, or a sentence about what is wrong.

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
        return f"{head[:40]!r} is not a list of label numbers such as 1,3,5."
    pieces = ":".join(words).split(":")
    try:
        columns = [int(piece) - first for piece in pieces[::2]] if words else []
        values = [float(piece) for piece in pieces[1::2]]
    except ValueError:
        columns, values = [], [math.nan]
    sound = len(columns) == len(values) and len(pieces) in (2 * len(words), 1)
    if not sound or not all(map(math.isfinite, values)):
        bad = next((word for word in words if not _is_pair(word)), words[0] if words else "")
        return f"{bad[:40]!r} is not a pair index:value."
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


_LIBSVM_LINE = re.compile(r"(\d++(,\d++)*+)?(\s++\d++:[-+.\deE]++)++\s*+(#.*)?$")
_XMC_HEADER = re.compile(r"\s*+([0-9]{1,15})\s++([0-9]{1,15})\s++([0-9]{1,15})\s*+")


def is_libsvm(lines: list[str]) -> bool:
    """Whether the first lines are label numbers and ``index:value`` pairs."""
    return all(_LIBSVM_LINE.match(line) for line in lines[:20])


def read_libsvm(
    path: Path,
    problems: Problems,
    *,
    zero_based: bool = False,
    features: int | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """The documents of libsvm lines: label numbers joined by commas (or none), then ``index:value`` pairs.

    Columns are numbered from 1, or from 0 with `zero_based`; `features` sets how many there are. A label's name is its
    number, unless ``X.labels.txt`` or ``labels.txt`` beside the file names the labels 0, 1, 2 …; terms are named
    likewise, or ``t0``, ``t1`` …
    """
    problems.limits.check("features", features or 0, "columns", path)
    rows, labels, ids = _libsvm_rows(path, problems, zero_based, features, encoding)
    width = features if features is not None else max(rows.indices, default=-1) + 1
    used = sorted({label for names in labels for label in names})
    names = side_names(path, "labels", used[-1] + 1) if used and used[0] >= 0 else None
    terms = side_names(path, "terms", width)
    width = len(terms) if terms and features is None else width
    return Corpus(
        ids=ids,
        labels=[[names[label] if names else str(label) for label in document] for document in labels],
        label_names=names or [str(label) for label in used],
        counts=rows.matrix(width),
        terms=terms[:width] if terms else numbered_terms(width),
        name=path.name.split(".")[0],
        source=str(path),
    )


def _libsvm_rows(
    path: Path, problems: Problems, zero_based: bool, features: int | None, encoding: str
) -> tuple[SparseRows, list[list[int]], list[str]]:
    rows = SparseRows()
    labels: list[list[int]] = []
    ids: list[str] = []
    for number, line in numbered_lines(path, problems, encoding):
        if line.lstrip().startswith("#"):
            continue
        parsed = parse_line(line, 0 if zero_based else 1)
        if isinstance(parsed, str):
            remedy = (
                f"If columns are numbered from 0, read it with {settings_text(zero_based=True)}."
                if "lies before" in parsed
                else "Correct or remove the line."
            )
            problems.report(parsed, path=path, line=number, remedy=remedy)
            continue
        problems.limits.check("features", max(parsed.columns, default=0) + 1, "columns", path, line=number)
        if features is not None and parsed.columns and max(parsed.columns) >= features:
            found = max(parsed.columns) + (not zero_based)
            problems.report(f"Column {found} lies beyond the {counted(features, 'feature')}.", path=path, line=number)
            continue
        rows.append(parsed.columns, parsed.values)
        labels.append(parsed.labels)
        ids.append(str(number))
    return rows, labels, ids


def write_libsvm(corpus: Corpus, path: Path) -> None:
    """Write label numbers from 0 and columns from 1; names of labels and terms go to side files.

    A document with neither labels nor counts is written ``1:0``, since readers skip blank lines.
    """
    with written_with_names(path, {"labels": corpus.label_names, "terms": corpus.terms}) as stream:
        for labels, pairs in rows_of(corpus):
            words = [labels] + [f"{column + 1}:{value}" for column, value in pairs or [(0, "0")]]
            stream.write(" ".join(words) + "\n")


def is_xmc(lines: list[str]) -> bool:
    """Whether the first line is a header of three numbers."""
    return bool(lines) and _XMC_HEADER.fullmatch(lines[0]) is not None


def read_xmc(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Corpus:
    """The documents of XMC lines: one per line below the header, also an empty one; numbers start at 0.

    Names come from ``X.labels.txt`` or ``labels.txt`` and ``terms.txt`` beside the file; else ``l0``,
    ``l1`` … and ``t0``, ``t1`` …
    """
    lines = Lines(path, problems, encoding)
    reader = iter(lines)
    documents, width, height = _xmc_header(path, next(reader, ""), problems.limits)
    rows = SparseRows()
    labels: list[list[int]] = []
    ids: list[str] = []
    seen = 0
    for line in reader:
        if seen == documents and not line.strip():
            continue
        seen += 1
        parsed = parse_line(line, 0)
        wrong = parsed if isinstance(parsed, str) else _beyond(parsed, width, height)
        if wrong is not None or isinstance(parsed, str):
            problems.report(str(wrong), path=path, line=lines.number, remedy="Correct or remove the line.")
            continue
        rows.append(parsed.columns, parsed.values)
        labels.append(parsed.labels)
        ids.append(str(seen))
    if seen != documents and problems.on_error == "raise":
        problem = f"The header announces {counted(documents, 'document')}, but the file has {seen}."
        raise DataError(problem, path=path, line=1, remedy="Correct the header, or copy the whole file again.")
    names = side_names(path, "labels", height) or [f"l{label}" for label in range(height)]
    return Corpus(
        ids=ids,
        labels=[[names[label] for label in document] for document in labels],
        label_names=names,
        counts=rows.matrix(width),
        terms=(side_names(path, "terms", width) or numbered_terms(width))[:width],
        name=path.name.split(".")[0],
        source=str(path),
    )


def _xmc_header(path: Path, line: str, limits: Limits) -> tuple[int, int, int]:
    match = _XMC_HEADER.fullmatch(line)
    if match is None:
        raise DataError(
            f"The first line {line.strip()[:40]!r} is not a header of three numbers (N, V, L).",
            path=path,
            line=1,
            remedy=f"Add the header, or give another format ({settings_text(format='libsvm')}).",
        )
    documents, width, height = map(int, match.groups())
    limits.check("documents", documents, "documents in the header", path, line=1)
    limits.check("features", width, "features in the header", path, line=1)
    limits.check("labels", height, "labels in the header", path, line=1)
    return documents, width, height


def _beyond(parsed: SparseLine, width: int, height: int) -> str | None:
    if parsed.columns and max(parsed.columns) >= width:
        return f"Column {max(parsed.columns)} lies beyond the {counted(width, 'feature')} of the header."
    if parsed.labels and not 0 <= parsed.labels[0] <= parsed.labels[-1] < height:
        wrong = parsed.labels[0] if parsed.labels[0] < 0 else parsed.labels[-1]
        return f"Label {wrong} is not one of the {counted(height, 'label')} of the header, which are numbered from 0."
    return None


def write_xmc(corpus: Corpus, path: Path) -> None:
    """Write the header, then one line per document; names of labels and terms go to side files."""
    assert corpus.counts is not None  # `write` of reading.py checked the kind
    with written_with_names(path, {"labels": corpus.label_names, "terms": corpus.terms}) as stream:
        stream.write(f"{len(corpus)} {corpus.counts.shape[1]} {len(corpus.label_names)}\n")
        for labels, pairs in rows_of(corpus):
            stream.write(" ".join([labels, *(f"{column}:{value}" for column, value in pairs)]) + "\n")
