"""Label sets as lists of names and as a 0/1 CSR matrix."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ManylabelWarning, ParameterError
from manylabel.wording import COUNTED, counted, shown

LabelSets = Sequence[Sequence[str]]
NAMED = 5
"""How many labels a warning names."""
_LABELS = (str, bytes, bool, int, float, np.generic)
"""The types of a label, where each document has one."""


def label_names(label_sets: Iterable[Iterable[str]]) -> list[str]:
    """The names in use, sorted.

    >>> label_names([["b", "a"], [], ["a"]])
    ['a', 'b']
    """
    return sorted({name for names in label_sets for name in names})


def label_matrix(
    label_sets: LabelSets | Sequence[str], names: Sequence[str], *, others: Literal["warn", "omit"] = "warn"
) -> Csr:
    """Y: documents × labels, 1 where the document has the label. A list of strings is one label per document.

    Labels that are not among `names` are left out, with a warning unless `others` is "omit".

    >>> label_matrix([["b"], [], ["a", "b"]], ["a", "b"]).toarray().tolist()
    [[0, 1], [0, 0], [1, 1]]
    >>> label_matrix(["b", "other"], ["a", "b"], others="omit").toarray().tolist()
    [[0, 1], [0, 0]]
    """
    column = _columns(names)
    sets = as_label_sets(label_sets)
    sizes = np.fromiter(map(len, sets), dtype=np.int64, count=len(sets))
    columns = np.fromiter((column.get(name, -1) for name in chain.from_iterable(sets)), dtype=np.int64)
    if others == "warn" and (columns < 0).any():
        _warn_of_others([name for name in chain.from_iterable(sets) if name not in column])
    rows = np.repeat(np.arange(len(sizes)), sizes)
    cells = np.unique((rows * max(len(names), 1) + columns)[columns >= 0])  # sorted, a label named twice counted once
    indptr = np.searchsorted(cells, np.arange(len(sizes) + 1) * max(len(names), 1))
    data = np.ones(len(cells), dtype=np.int8)
    return Csr((data, cells % max(len(names), 1), indptr), shape=(len(sizes), len(names)))


def as_label_sets(labels: LabelSets | Sequence[str]) -> LabelSets:
    """The label set of each document, where labels are lists of names, or one label per document.

    >>> as_label_sets(["buses", "roads"]), as_label_sets([["buses"], []])
    ([['buses'], ['roads']], [['buses'], []])
    """
    given: Any = labels
    is_matrix = sparse.issparse(given) or (isinstance(given, np.ndarray) and given.ndim != 1)
    if is_matrix or given is None or isinstance(given, (str, bytes, Mapping)):
        what = "a matrix" if is_matrix else shown(given, 80)
        raise DataError(
            f"A list with the labels of each document is expected, not {what}.",
            remedy="Give for example [['buses'], ['roads', 'buses'], []], or one label per document.",
        )
    sets: list[Any] = list(given)
    kinds = set(map(type, sets))
    if kinds and all(issubclass(kind, _LABELS) for kind in kinds):
        return [[label] for label in sets]
    no_labels = {kind for kind in kinds if issubclass(kind, Mapping) or not issubclass(kind, (*_LABELS, Collection))}
    if wrong := no_labels or {kind for kind in kinds if issubclass(kind, _LABELS)}:
        row = next(row for row, names in enumerate(sets) if type(names) in wrong)
        raise DataError(
            f"Labels must be lists of names; document {row} has {shown(sets[row], 80)} {COUNTED}.",
            remedy="For a document without labels, give [].",
        )
    return sets


def _columns(names: Sequence[str]) -> dict[str, int]:
    """The column of each name."""
    if names is None or isinstance(names, (str, bytes)):
        raise ParameterError(f"names must be a list of all labels, not {shown(names, 80)}.")
    column = {name: index for index, name in enumerate(names)}
    if len(column) < len(names):
        twice = next(name for index, name in enumerate(names) if column[name] != index)
        raise ParameterError(f"names holds {twice!r} more than once. Every label needs a name of its own.")
    return column


def _warn_of_others(left_out: Sequence[str]) -> None:
    """Warn of labels that are not among the names of the columns; `left_out` holds each as often as it occurs."""
    found = list(dict.fromkeys(left_out))
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    warnings.warn(
        f"{counted(len(found), 'label is', 'labels are')} left out, because names lacks "
        f"{'it' if len(found) == 1 else 'them'}: "
        f"{', '.join(map(repr, found[:NAMED]))}{more} ({counted(len(left_out), 'time')}). Metrics of the matrix do not "
        "count them. Add them to names, or pass others='omit'.",
        ManylabelWarning,
        stacklevel=3,
    )


def label_sets(Y: Csr, names: Sequence[str]) -> list[list[str]]:
    """The names of each row's non-zero columns, in label order.

    >>> label_sets(label_matrix([["b"], [], ["a", "b"]], ["a", "b"]), ["a", "b"])
    [['b'], [], ['a', 'b']]
    """
    starts = Y.indptr.tolist()
    columns = Y.indices.tolist()
    return [[names[column] for column in sorted(columns[a:b])] for a, b in pairwise(starts)]


def stack(batches: Sequence[Csr], n_labels: int) -> Csr:
    """One matrix of several batches of rows, widened with empty columns to `n_labels`.

    >>> stack([label_matrix([["a"]], ["a"]), label_matrix([[]], ["a"])], n_labels=2).toarray().tolist()
    [[1, 0], [0, 0]]
    """
    if not batches:
        return Csr(np.zeros((0, n_labels), dtype=np.int8))
    below: Any = sparse.vstack(batches, format="csr")
    return Csr((below.data, below.indices, below.indptr), shape=(below.shape[0], n_labels))
