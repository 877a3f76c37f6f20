"""What users hand in: documents as texts or counts, labels as sets of names, one name each, or a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from scipy import sparse

from manylabel.data.labels import LabelSets, label_matrix, label_names
from manylabel.estimator import Csr, Ints
from manylabel.exceptions import DataError, ParameterError


def as_matrix(documents: Any) -> Csr | None:
    """The documents as CSR where they came as a matrix of counts, None where they are texts."""
    if sparse.issparse(documents) or (isinstance(documents, np.ndarray) and documents.ndim == 2):
        return Csr(cast(Any, documents))
    return None


def length_of(documents: Any) -> int:
    """How many documents there are."""
    return int(documents.shape[0]) if hasattr(documents, "shape") else len(documents)


def rows_of(documents: Any, rows: Ints) -> Any:
    """Some of the documents, in the form they came in."""
    return documents[rows] if hasattr(documents, "shape") else [documents[row] for row in rows.tolist()]


def read_labels(labels: Any, known: Sequence[str] | None) -> tuple[list[str], Csr, str]:
    """Label names, Y, and the form the labels came in: sets of names, one name each, or a matrix."""
    matrix = as_matrix(labels)
    if matrix is not None:
        Y = matrix.astype(np.int8)
        if Y.nnz and not np.all((Y.data == 0) | (Y.data == 1)):
            raise DataError("A label matrix may hold only 0 and 1.")
        Y.eliminate_zeros()
        return list(known) if known else [str(column) for column in range(Y.shape[1])], Y, "matrix"
    sets: LabelSets
    given = list(labels)
    if given and all(isinstance(name, str) for name in given):
        form, sets = "names", [[name] for name in given]
    else:
        form, sets = "sets", given
        if str in set(map(type, given)) or {type(name) for names in given for name in names} - {str}:
            _complain_of_labels(given)
    names_used = list(known) if known is not None else label_names(sets)
    if not names_used:
        raise DataError("No document has a label, so there is nothing to learn.")
    return names_used, label_matrix(sets, names_used), form


def _complain_of_labels(given: list[Any]) -> None:
    for row, names in enumerate(given):
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise DataError(f"Labels must be lists of names; document {row} has {names!r}.")


def check_same_length(documents: Any, Y: Csr) -> None:
    """Refuse documents and labels that do not belong together."""
    count = length_of(documents)
    if count != Y.shape[0]:
        raise ParameterError(f"There are {count} documents but labels for {Y.shape[0]}.")
    if count == 0:
        raise DataError("There are no documents to learn from.")
