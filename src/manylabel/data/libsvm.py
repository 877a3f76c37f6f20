"""Multi-label libsvm files: ``1,3,5 12:0.5 40:1``."""

from __future__ import annotations

from pathlib import Path

from manylabel.data.atomic import atomic_text
from manylabel.data.corpus import Corpus
from manylabel.data.label_files import side_names
from manylabel.data.problems import Problems
from manylabel.data.sparse_lines import SparseRows, parse_line, rows_of, side_path, write_names
from manylabel.data.textfile import numbered_lines


def read(
    path: Path,
    problems: Problems,
    *,
    zero_based: bool = False,
    features: int | None = None,
    encoding: str = "utf-8",
) -> Corpus:
    """One document a line: label numbers joined by commas (or none), then ``index:value`` pairs.

    Columns count from 1, or from 0 with `zero_based`; `features` sets their number. A label's name is its
    number, unless ``X.labels.txt`` or ``labels.txt`` beside the file names the labels 0, 1, 2 …; terms are
    named likewise, or ``t0``, ``t1`` …
    """
    rows, labels, ids = _rows(path, problems, zero_based, features, encoding)
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
        terms=terms[:width] if terms else [f"t{column}" for column in range(width)],
        name=path.name.split(".")[0],
        source=str(path),
    )


def _rows(
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
            remedy = "Read it with --zero-based." if "lies before" in parsed else "Correct or remove the line."
            problems.report(parsed, path=path, line=number, remedy=remedy)
            continue
        if features is not None and parsed.columns and max(parsed.columns) >= features:
            found = max(parsed.columns) + (not zero_based)
            problems.report(f"Column {found} lies beyond the {features} features.", path=path, line=number)
            continue
        rows.append(parsed.columns, parsed.values)
        labels.append(parsed.labels)
        ids.append(str(number))
    return rows, labels, ids


def write(corpus: Corpus, path: Path) -> None:
    """Label numbers from 0 and columns from 1; the names of labels and terms go to files beside.

    A document with neither labels nor counts is written ``1:0``, for readers skip blank lines.
    """
    with atomic_text(path) as stream:
        for labels, pairs in rows_of(corpus):
            words = [labels] + [f"{column + 1}:{value}" for column, value in pairs or [(0, "0")]]
            stream.write(" ".join(words) + "\n")
    with atomic_text(side_path(path, "labels")) as stream:
        write_names(stream, corpus.label_names)
    if corpus.terms is not None:
        with atomic_text(side_path(path, "terms")) as stream:
            write_names(stream, corpus.terms)
