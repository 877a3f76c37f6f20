"""Pairs of SciPy sparse matrices: X.npz holds the counts, Y.npz the labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scipy import sparse

from manylabel.data.atomic import atomic_files
from manylabel.data.corpus import Corpus, numbered_terms
from manylabel.data.label_files import names_path, side_names
from manylabel.data.labels import label_sets
from manylabel.data.npz_matrices import read_matrix
from manylabel.data.problems import Problems
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.wording import counted

_NAME = re.compile(r"(|.*[-_.])([xXyY])\.npz")


def read(path: Path, problems: Problems, *, labels_file: str | Path | None = None) -> Corpus:
    """The counts of ``X.npz`` and the labels of ``Y.npz`` beside it; either may be named.

    Without Y the documents have no labels. Terms are named ``t0``, ``t1`` … and labels ``l0``, ``l1`` …
    unless ``terms.txt`` or ``labels.txt`` lies beside. Pickled objects are never loaded.
    """
    counts_path, labels_path = pair(path) if labels_file is None else (path, Path(labels_file))
    if not counts_path.is_file():
        raise DataError("The file of counts is missing.", path=counts_path, remedy="Put X.npz beside Y.npz.")
    X = read_matrix(counts_path, problems.limits, "features")
    labels: list[list[str]] | None = None
    names: list[str] = []
    if labels_path.is_file():
        Y = read_matrix(labels_path, problems.limits, "labels")
        _check_labels(X, Y, counts_path, labels_path)
        names = side_names(labels_path, "labels", Y.shape[1]) or [f"l{column}" for column in range(Y.shape[1])]
        labels = label_sets(Y, names)
    return Corpus(
        ids=[str(row + 1) for row in range(X.shape[0])],
        labels=labels,
        label_names=names,
        counts=X,
        terms=side_names(counts_path, "terms", X.shape[1]) or numbered_terms(X.shape[1]),
        name=path.absolute().parent.name,
        source=str(path),
    )


def pair(path: Path) -> tuple[Path, Path]:
    """The files of X and Y, given either of them."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        return path, path.with_name(path.name.removesuffix(".npz") + "_Y.npz")
    lower = match[2].islower()
    return tuple(path.with_name(f"{match[1]}{sign.lower() if lower else sign}.npz") for sign in "XY")  # type: ignore[return-value]


def _check_labels(X: Csr, Y: Csr, counts_path: Path, labels_path: Path) -> None:
    Y.eliminate_zeros()
    if X.shape[0] != Y.shape[0]:
        raise DataError(
            f"The labels are of {counted(Y.shape[0], 'document')}, but {counts_path.name} holds {X.shape[0]}.",
            path=labels_path,
        )
    if not (Y.data == 1).all():
        bad = Y.data[Y.data != 1][0]
        raise DataError(f"The matrix of labels holds {bad} where only 0 and 1 are allowed.", path=labels_path)


def write(corpus: Corpus, path: Path) -> None:
    """Write X and Y as a pair of files, with the names of terms and labels beside them."""
    match = _NAME.fullmatch(path.name)
    if match is None or match[2] not in "xX":
        raise ParameterError(f"The file of counts must be named X.npz or something_X.npz, not {path.name!r}.")
    counts_path, labels_path = pair(path)
    matrices: dict[Path, Any] = {counts_path: corpus.counts}
    names = {} if corpus.terms is None else {names_path(counts_path, "terms"): corpus.terms}
    if corpus.labels is not None:
        matrices[labels_path] = corpus.label_matrix()
        names[names_path(labels_path, "labels")] = corpus.label_names
    with atomic_files([*matrices, *names]) as streams:
        for stream, matrix in zip(streams, matrices.values(), strict=False):
            sparse.save_npz(stream, matrix)
        for stream, listed in zip(streams[len(matrices) :], names.values(), strict=True):
            stream.writelines(f"{name}\n".encode() for name in listed)
