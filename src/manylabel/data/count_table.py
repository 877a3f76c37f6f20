"""Tables of numbers without a header: a row a document, a column a term, the class last (CNAE-9)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from manylabel.data.corpus import Corpus
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines
from manylabel.estimator import Csr
from manylabel.exceptions import DataError


def read(path: Path, problems: Problems, delimiter: str | None, encoding: str) -> Corpus:
    """Counts and classes; a row of another length, or with a cell that is no number, is a problem.

    Whole-number classes are named without a decimal point, and label names are in the order of the numbers.
    """
    indices: list[np.ndarray] = []
    values: list[np.ndarray] = []
    classes: list[float] = []
    lines: list[int] = []
    width = 0
    for number, line in numbered_lines(path, problems, encoding):
        row = _numbers(path, problems, number, line.split(delimiter))
        if row is None:
            continue
        width = width or len(row)
        if len(row) != width:
            problem = f"The row has {len(row)} cells where the first row has {width}."
            problems.report(problem, path=path, line=number, remedy="Complete or remove the row.")
            continue
        filled = np.flatnonzero(row[:-1])
        indices.append(filled)
        values.append(row[filled])
        classes.append(float(row[-1]))
        lines.append(number)
    if not lines:
        raise DataError("The file holds no documents.", path=path, remedy="Give a file with at least one document.")
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in indices])])
    counts = Csr((np.concatenate(values), np.concatenate(indices), indptr), shape=(len(lines), width - 1))
    return Corpus(
        ids=[str(line) for line in lines],
        labels=[[f"{value:g}"] for value in classes],
        label_names=[f"{value:g}" for value in sorted(set(classes))],
        counts=counts,
        terms=[f"t{column}" for column in range(width - 1)],
        name=path.name.split(".")[0],
        source=str(path),
    )


def _numbers(path: Path, problems: Problems, number: int, cells: list[str]) -> np.ndarray | None:
    try:
        row = np.array(cells, dtype=np.float64)
    except ValueError:
        row = np.array([np.nan])
    if np.isfinite(row).all():
        return row
    bad = next((cell for cell in cells if not _is_finite(cell)), "")
    problems.report(f"{bad!r} is not a number.", path=path, line=number, remedy="Correct the value or remove the row.")
    return None


def _is_finite(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False
