"""The forms in which users pass labels: lists, arrays, matrices, Series and DataFrames.

They become a checked `Labels`, and predictions are returned in the same form. Input that can be read in two ways is
refused with a sentence that names both.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.corpus import Corpus, Text
from manylabel.data.documents import frame_columns, is_frame, is_missing, is_series, length_of, read_documents
from manylabel.data.labels import LabelSets, label_matrix, label_sets
from manylabel.data.layout import JOINING
from manylabel.estimator import Csr, check_sparse
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels.canonical import canonical
from manylabel.wording import COUNTED, counted, there_are

LabelForm: TypeAlias = Literal["sets", "names", "classes", "matrix", "array"]
"""How labels were passed: lists of labels, a list or an array of one label per document, a sparse or a dense matrix."""
Value: TypeAlias = str | bool | int | float

SINGLE_FORMS = ("names", "classes")
"""The forms with exactly one label per document."""
MATRIX_FORMS = ("matrix", "array")
"""The forms with one column per label."""
KINDS: dict[str, type] = {"str": str, "bool": bool, "int": int, "float": float}
"""The types a label may have; labels of one classifier all have the same type."""

MOST_COMPARED = 1000
"""How many documents are compared with their labels to find a column that holds them."""
NEARLY_ALL = 0.95
"""The share of documents whose labels a column holds from which on it is a column of labels."""
AROUND = " \t\r\n\"'[](){}"
"""What may stand around labels in a cell, as in ['roads', 'buses']."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels as they were passed to `fit`: names of the columns, Y, the form, and the type of a label."""

    names: list[str]
    Y: Csr
    form: LabelForm
    kind: str = "str"


def read_labels(
    labels: Any,
    known: Sequence[str] | None = None,
    *,
    others: Literal["refuse", "omit"] = "refuse",
    at_least: int = 1,
) -> Labels:
    """The labels of documents, checked. `known` names all labels, in the order of the columns of Y.

    `others` is what happens to labels that are not among `known`: an error, or they are left out. `at_least` is how
    many labels there must be in lists of labels.

    >>> read_labels([["b"], ["a", "b"], []]).names
    ['a', 'b']
    >>> read_labels(np.array([2, 10, 2])).names
    ['2', '10']
    >>> read_labels(np.array([[0.9, 0.2]]))
    Traceback (most recent call last):
    ...
    manylabel.exceptions.DataError: A label matrix may hold only 0 and 1; row 0, column 0 holds 0.9. Apply a threshold \
to scores first, for example (scores >= 0.5).
    """
    if labels is None:
        raise DataError(
            "TextClassifier requires y to be passed, but the target y is None.",
            remedy="Pass one label set per document, for example fit(corpus.texts, corpus.label_sets).",
        )
    _check_names(known)
    if sparse.issparse(labels):
        return _matrix_labels(labels, None, known, "matrix")
    table = labels if isinstance(labels, Iterable) else np.asarray(labels)  # what is no list may become an array
    if isinstance(labels, (str, bytes, Mapping, Set, Corpus)) or (isinstance(table, np.ndarray) and table.ndim == 0):
        raise DataError(
            f"The labels are one {type(labels).__name__}, not one label set per document.",
            remedy="Pass a list with the labels of each document, for example [['buses'], ['roads', 'buses'], []].",
        )
    labels = table
    if is_frame(labels):
        return _labels_of_frame(labels, known, others)
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        return _labels_of_array(labels, known, others)
    is_list = isinstance(labels, (list, tuple))
    is_array = not is_list and (isinstance(labels, Sequence | np.ndarray) or is_series(labels))
    rows = list(labels)
    if not at_least and known is None and all(isinstance(row, Sized) and not len(row) for row in rows):
        return Labels([], Csr((len(rows), 0)), "sets")
    return _labels_of_list(rows, known, "classes" if is_array else "names", others)


def _labels_of_frame(frame: Any, known: Sequence[str] | None, others: str) -> Labels:
    """A one-hot DataFrame as a matrix whose labels are the columns; one other column as a list of labels."""
    columns = frame_columns(frame)
    if len(columns) > 1 and _has_blank(columns):
        raise DataError(
            "The DataFrame of labels has a column without a name.",
            remedy="Name it, or leave it out: pandas' str.get_dummies makes one of empty texts, and drop(columns='') "
            "removes it.",
        )
    numeric = bool(columns) and all(values.dtype.kind in "fiub" for values in columns.values())
    if numeric and (len(columns) > 1 or np.isin(next(iter(columns.values())), (0, 1)).all()):
        if known is not None and not set(columns).isdisjoint(known):
            columns = _in_order(columns, known, others)
        return _matrix_labels(np.column_stack(list(columns.values())), list(columns), known, "array")
    if len(columns) == 1:
        return _labels_of_list(next(iter(columns.values())).tolist(), known, "classes", others)
    raise DataError(
        f"The labels are a DataFrame of {len(columns)} columns that do not all hold 0 and 1: {', '.join(columns)}.",
        remedy="Pass a one-hot DataFrame (pandas.get_dummies), or one column with a list of labels per document.",
    )


def _in_order(
    columns: Mapping[str, npt.NDArray[Any]], known: Sequence[str], others: str
) -> dict[str, npt.NDArray[Any]]:
    """The columns of a one-hot DataFrame in the order of the known labels; a label without a column is nowhere."""
    if others == "refuse" and (unknown := sorted(set(columns) - set(known))):
        raise ParameterError(
            f"label_names lacks {unknown[0]!r}, a column of the DataFrame of labels. Name every label, or leave the "
            "column out."
        )
    nowhere = np.zeros(len(next(iter(columns.values()))), dtype=np.int8)
    return {name: columns.get(name, nowhere) for name in known}


def _labels_of_array(table: npt.NDArray[Any], known: Sequence[str] | None, others: str) -> Labels:
    if table.ndim != 2:
        raise DataError(f"Labels must be lists or a matrix of 2 dimensions, not an array of {table.ndim}.")
    if table.shape[1] == 1 and not (table.dtype.kind in "fiub" and np.isin(table, (0, 1)).all()):
        from sklearn.utils.validation import column_or_1d

        return _labels_of_list(column_or_1d(table, warn=True).tolist(), known, "classes", others)
    return _matrix_labels(table, None, known, "array")


def _matrix_labels(table: Any, own: Sequence[str] | None, known: Sequence[str] | None, form: LabelForm) -> Labels:
    """The labels of a documents × labels matrix; its values are checked before they are cast."""
    if table.ndim != 2 or table.dtype.kind not in "fiubO":
        raise DataError(f"A label matrix must hold 0 and 1 in rows and columns, not {table.dtype}.")
    if sparse.issparse(table):
        check_sparse(table, "The label matrix")
    if table.dtype.kind == "O":
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError("A label matrix may hold only 0 and 1; this one holds other objects.") from None
    given = Csr(table)
    wrong = np.flatnonzero(~((given.data == 0) | (given.data == 1)))
    if len(wrong):
        row = int(np.searchsorted(given.indptr, wrong[0], side="right")) - 1
        raise DataError(
            f"A label matrix may hold only 0 and 1; row {row}, column {given.indices[wrong[0]]} holds "
            f"{given.data[wrong[0]].item()}.",
            remedy="Apply a threshold to scores first, for example (scores >= 0.5).",
        )
    Y = canonical(given, np.int8, keep_zeros=False)
    Y = Csr((np.ones(Y.nnz, dtype=np.int8), Y.indices, Y.indptr), shape=Y.shape)
    names = list(known if known is not None else own if own is not None else map(str, range(Y.shape[1])))
    if len(names) != Y.shape[1]:
        raise ParameterError(
            f"label_names has {_number(len(names), 'name')}, but the label matrix has {_number(Y.shape[1], 'column')}. "
            "Give one name per column."
        )
    if not names:
        raise DataError("The label matrix has no columns, so there is nothing to learn.")
    return Labels(names, Y, form, "int" if known is None and own is None else "str")


def _labels_of_list(given: list[Any], known: Sequence[str] | None, single: LabelForm, others: str) -> Labels:
    """The labels of a list: one label per document, or a list, tuple, set or array of labels per document."""
    rows = [row.tolist() if isinstance(row, np.ndarray | np.generic) else row for row in given]
    kinds = set(map(type, rows))
    if kinds and all(issubclass(kind, (str, bool, int, float)) for kind in kinds):
        kind, sets = _kind_of(kinds, rows), [[row] for row in rows]
        form = single if kind == "str" else "classes"  # numbers come back as an array, as in scikit-learn
        if kind == "str":
            _check_not_joined(set(rows), known or ())
    else:
        sets, form = [_label_set(row, number) for number, row in enumerate(rows)], "sets"
        kind = _kind_of({type(value) for values in sets for value in values}, sets)
        if kind in ("bool", "int") and {value for values in sets for value in values} <= {0, 1}:
            raise DataError(
                "Lists of 0 and 1 can be rows of a label matrix or lists of label numbers.",
                remedy="Pass a matrix as numpy.array(labels), or write label numbers as strings.",
            )
    used = sorted({value for values in sets for value in values})
    if not used and known is None:
        raise DataError(
            "No document has a label, so there is nothing to learn." if given else "There are no documents.",
            remedy="Give at least one document with a label.",
        )
    named = sets if kind == "str" else [[str(value) for value in values] for values in sets]
    _check_spellings(map(str, used), known or ())
    if known is None:
        _check_no_blanks(rows, named)
    names = [str(value) for value in used] if known is None else list(known)
    unknown = sorted({name for values in named for name in values} - set(names))
    if unknown and others == "refuse":
        row = next(row for row, values in enumerate(named) if unknown[0] in values)
        raise ParameterError(
            f"label_names lacks {unknown[0]!r}, a label of document {row} {COUNTED}. Name every label, or remove the "
            "label from the documents."
        )
    return Labels(names, label_matrix(cast(LabelSets, named), names, others="omit"), form, kind)


def _has_blank(names: Iterable[str]) -> bool:
    """Whether a name is empty or blank."""
    return not all(name.strip() for name in names)


def _check_no_blanks(rows: list[Any], named: list[list[str]]) -> None:
    """Raise `DataError` for a document with an empty or blank label."""
    row = next((row for row, names in enumerate(named) if _has_blank(names)), None)
    if row is not None:
        raise DataError(
            f"Document {row} has a label without a name: {rows[row]!r} {COUNTED}.",
            remedy="For a document without labels, give []; leave out what splitting an empty text returns: [name for "
            "name in text.split(';') if name].",
        )


def _check_not_joined(found: set[str], known: Iterable[str]) -> None:
    """Raise `DataError` for a name such as ``a;b`` where ``a`` and ``b`` are names of their own."""
    names = found.union(known)
    for sign in (";", "|", ","):
        for name in sorted(name for name in found.difference(known) if sign in name):
            if all(piece.strip() in names for piece in name.split(sign)):
                raise DataError(
                    f"The label {name!r} can be one label or several that are joined by {sign!r}.",
                    remedy=f"For several, pass [[one.strip() for one in label.split({sign!r}) if one.strip()] for "
                    "label in labels]; for one, pass [[label] for label in labels].",
                )


def _check_spellings(found: Iterable[str], known: Iterable[str]) -> None:
    """Raise `DataError` for a printed list of labels, and for a label with blanks around the name of another one."""
    new = set(found).difference(known)
    if printed := sorted(name for name in new if name.startswith(("['", '["'))):
        raise DataError(
            f"The label {printed[0]!r} is a list that was written as text, as pandas does in CSV.",
            remedy="Make lists of such texts first: [ast.literal_eval(text) for text in labels].",
        )
    if padded := sorted(name for name in new if name != name.strip() and name.strip() in new.union(known)):
        raise DataError(
            f"The labels {padded[0]!r} and {padded[0].strip()!r} differ in blanks only.",
            remedy="Remove blanks around labels first, for example with label.strip().",
        )


def _label_set(row: Any, number: int) -> list[Any]:
    """The labels of one document as a list."""
    if not isinstance(row, Iterable) or isinstance(row, (str, bytes, Mapping)):
        remedy = (
            "For a document without labels, give []."
            if is_missing(row)
            else "Give a list for each document, for example [['buses'], ['roads', 'buses'], []]."
        )
        raise DataError(f"Labels must be lists of names; document {number} has {row!r} {COUNTED}.", remedy=remedy)
    values = [value.item() if isinstance(value, np.generic) else value for value in row]
    if wrong := [value for value in values if not isinstance(value, (str, bool, int, float))]:
        raise DataError(
            f"Labels must be lists of names; document {number} has {wrong[0]!r} among its labels {COUNTED}."
        )
    return values


def _kind_of(kinds: set[type], rows: list[Any]) -> str:
    """The one type of all labels, as a word."""
    found = {next(word for word, base in KINDS.items() if issubclass(kind, base)) for kind in kinds}
    if len(found) > 1:
        examples = {type(value).__name__: value for row in rows for value in (row if isinstance(row, list) else [row])}
        shown = ", ".join(f"{value!r} ({word})" for word, value in examples.items())
        raise DataError(
            f"The labels are of different types: {shown}.",
            remedy="Give all labels as strings. For a document without a label, use lists of labels and give [].",
        )
    kind = found.pop() if found else "str"
    if kind == "float":
        flat = np.array([value for row in rows for value in (row if isinstance(row, list) else [row])])
        if not np.isfinite(flat).all():
            raise DataError("Input y contains NaN or infinity among the labels.", remedy="Leave these documents out.")
        if (flat != np.floor(flat)).any():
            raise DataError(
                f"Unknown label type: continuous. {flat[flat != np.floor(flat)][0]} is a quantity, not a label.",
                remedy="Give labels as strings or whole numbers.",
            )
    return kind


def _check_names(names: Sequence[str] | None) -> None:
    """Raise an error unless `label_names` are distinct strings."""
    if names is None:
        return
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"label_names must be a list of strings, not {names!r:.80}.")
    if twice := sorted({name for name in names if list(names).count(name) > 1}) if len(set(names)) < len(names) else []:
        raise ParameterError(f"label_names holds {twice[0]!r} more than once. Every label needs a name of its own.")


def class_values(names: Sequence[str], kind: str) -> npt.NDArray[Any]:
    """The labels as values of their type, from their names.

    >>> class_values(["2", "10"], "int").tolist(), class_values(["False", "True"], "bool").tolist()
    ([2, 10], [False, True])
    """
    if kind == "bool":
        return np.array([name == "True" for name in names])
    return np.array([KINDS[kind](name) for name in names], dtype=None if names else object)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def read_labelled(
    documents: Any, labels: Any, known: Sequence[str] | None = None, *, at_least: int = 1
) -> tuple[Sequence[Text] | Csr, Labels]:
    """Documents and their labels, checked: as many of one as of the other, and no column in both.

    `known` is as in `read_labels`; `at_least` is how many documents and labels there must be.
    """
    _check_labels_apart(documents, labels)
    read, found = read_documents(documents), read_labels(labels, known, at_least=at_least)
    check_same_length(read, found.Y, at_least)
    if is_frame(documents) and not isinstance(read, Csr):
        _check_no_joined_labels(frame_columns(documents), found)
    return read, found


def _check_labels_apart(documents: Any, labels: Any) -> None:
    """Raise an error where a column of labels is a column of the documents too: a model would learn to read it."""
    if not is_frame(documents) or not (is_frame(labels) or is_series(labels)):
        return
    own = list(labels.columns) if is_frame(labels) else [labels.name]
    if both := [str(name) for name in own if name in list(documents.columns)]:
        raise DataError(
            f"The column {both[0]!r} holds labels, and is a column of the documents too.",
            remedy=f"Leave it out of the documents: documents.drop(columns={both!r:.60}).",
        )


def _check_no_joined_labels(columns: Mapping[str, npt.NDArray[Any]], labels: Labels) -> None:
    """Raise an error where the cells of one of several columns, split into labels, are the labels of the documents."""
    rows = np.flatnonzero(np.diff(labels.Y.indptr))[:MOST_COMPARED]
    if len(columns) < 2 or not len(rows):
        return
    sets = [{name.strip(AROUND) for name in names} for names in label_sets(Csr(labels.Y[rows]), labels.names)]
    for name, values in columns.items():
        cells = [str(cell) for cell in values[rows].tolist()]
        for sign in (*JOINING, "\n", " "):
            found = ({part.strip(AROUND) for part in cell.split(sign)} - {""} for cell in cells)
            if sum(map(operator.eq, found, sets)) >= NEARLY_ALL * len(sets):
                raise DataError(
                    f"The column {name!r} of the documents holds their labels, so a model would learn to read it.",
                    remedy=f"Leave it out of the documents: documents.drop(columns=[{name!r}]).",
                )


def with_further_labels(wanted: Iterable[str], names: list[str], Y: Csr) -> tuple[list[str], Csr]:
    """The label names and Y, with the wanted labels that it lacks added as empty last columns.

    >>> with_further_labels(["b", "a"], ["a"], Csr([[1]]))[1].shape
    (1, 2)
    """
    further = [label for label in wanted if label not in set(names)]
    return [*names, *further], Csr((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], len(names) + len(further)))


def check_same_length(documents: Sequence[Text] | Csr, Y: Csr, at_least: int = 1) -> None:
    """Raise an error unless there is one label set per document, and at least one document."""
    count = length_of(documents)
    if not count and Y.shape[0]:
        raise ParameterError(
            f"The list of documents is empty, but there are labels for {counted(Y.shape[0], 'document')}. A corpus "
            "that holds counts has no texts: pass corpus.counts instead of corpus.texts."
        )
    if count != Y.shape[0]:
        raise ParameterError(f"{there_are(count, 'document').capitalize()} but labels for {Y.shape[0]}.")
    if count < at_least:
        raise DataError("There are no documents to learn from.")
