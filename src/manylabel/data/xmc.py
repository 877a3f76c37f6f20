"""Files of the extreme classification repository: a header ``N V L``, then ``label,label column:value …``."""

from __future__ import annotations

import re
from pathlib import Path

from manylabel.data.atomic import atomic_text
from manylabel.data.corpus import Corpus
from manylabel.data.label_files import side_names
from manylabel.data.problems import Problems
from manylabel.data.sparse_lines import SparseLine, SparseRows, parse_line, rows_of, side_path, write_names
from manylabel.data.textfile import Lines
from manylabel.exceptions import DataError


def read(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Corpus:
    """One document a line below the header, an empty line too; labels and columns count from 0.

    Names come from ``X.labels.txt`` or ``labels.txt`` and ``terms.txt`` beside the file; else ``l0``,
    ``l1`` … and ``t0``, ``t1`` …
    """
    lines = Lines(path, problems, encoding)
    reader = iter(lines)
    documents, width, height = _header(path, next(reader, ""))
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
        problem = f"The header announces {documents} documents, but the file has {seen}."
        raise DataError(problem, path=path, line=1, remedy="Correct the header, or copy the whole file again.")
    names = side_names(path, "labels", height) or [f"l{label}" for label in range(height)]
    return Corpus(
        ids=ids,
        labels=[[names[label] for label in document] for document in labels],
        label_names=names,
        counts=rows.matrix(width),
        terms=(side_names(path, "terms", width) or [f"t{column}" for column in range(width)])[:width],
        name=path.name.split(".")[0],
        source=str(path),
    )


def _header(path: Path, line: str) -> tuple[int, int, int]:
    match = re.fullmatch(r"\s*(\d+)\s+(\d+)\s+(\d+)\s*", line)
    if match is None:
        raise DataError(
            f"The first line {line.strip()[:40]!r} is no header of three numbers (N, V, L).",
            path=path,
            line=1,
            remedy="Add the header, or name another format (--format libsvm).",
        )
    return int(match[1]), int(match[2]), int(match[3])


def _beyond(parsed: SparseLine, width: int, height: int) -> str | None:
    if parsed.columns and max(parsed.columns) >= width:
        return f"Column {max(parsed.columns)} lies beyond the {width} features of the header."
    if parsed.labels and not 0 <= parsed.labels[0] <= parsed.labels[-1] < height:
        wrong = parsed.labels[0] if parsed.labels[0] < 0 else parsed.labels[-1]
        return f"Label {wrong} is not one of the {height} labels of the header, which count from 0."
    return None


def write(corpus: Corpus, path: Path) -> None:
    """The header, then a line a document; the names of labels and terms go to files beside."""
    assert corpus.counts is not None  # `write` of reading.py checked the kind
    with atomic_text(path) as stream:
        stream.write(f"{len(corpus)} {corpus.counts.shape[1]} {len(corpus.label_names)}\n")
        for labels, pairs in rows_of(corpus):
            stream.write(" ".join([labels, *(f"{column}:{value}" for column, value in pairs)]) + "\n")
    with atomic_text(side_path(path, "labels")) as stream:
        write_names(stream, corpus.label_names)
    if corpus.terms is not None:
        with atomic_text(side_path(path, "terms")) as stream:
            write_names(stream, corpus.terms)
