"""Documents as users pass them: lists, arrays, matrices, Series, DataFrames and generators; and as strings.

Documents become a list of texts or a checked CSR matrix. Input that can be read in two ways is refused with a sentence
that names both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.corpus import Corpus, Text, numbered_terms
from manylabel.estimator import Csr, Ints, as_csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels.canonical import canonical
from manylabel.wording import COUNTED, counted

WHOLE = "*"
"""The name of the field that is the whole document, all its fields joined."""


@dataclass(frozen=True, slots=True)
class DocumentStream:
    """Documents that do not fit in memory: `batches` reads them some at a time, each call from the beginning."""

    batches: Callable[[], Iterable[Sequence[Text]]]


def read_documents(documents: Any) -> list[Text] | Csr:
    """The documents as a list of texts, or as canonical CSR of finite numbers where they are a matrix.

    >>> read_documents(text for text in ["late bus", "bad road"])
    ['late bus', 'bad road']
    >>> read_documents([[2, 0], [0, 1]]).toarray().tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    >>> read_documents("late bus")
    Traceback (most recent call last):
    ...
    manylabel.exceptions.DataError: One string was given where a list of documents is expected. For one document, put \
it in a list: ['late bus'].
    """
    if type(documents) is list and set(map(type, documents)) <= {str}:
        return cast("list[Text]", documents)
    if sparse.issparse(documents):  # first, because a sparse matrix by keys is a mapping
        return checked_matrix(documents)
    if documents is None or isinstance(documents, (str, bytes, Mapping, Set, Corpus)):
        raise _no_list_of_documents(documents)
    if is_frame(documents):
        return _documents_of_frame(documents)
    if isinstance(documents, np.ndarray) and documents.ndim != 1:
        return _documents_of_array(documents)
    if isinstance(documents, np.ndarray) and documents.dtype.kind in "fiubc":
        return checked_matrix(documents)
    if not isinstance(documents, Iterable):
        table = np.asarray(documents)  # an object that can become an array, or a single value
        if table.ndim == 0:
            raise _no_list_of_documents(documents)
        return read_documents(table)
    given = documents if isinstance(documents, list) else list(documents)
    if given and all(isinstance(row, (list, tuple, np.ndarray)) for row in given):
        return _documents_of_array(_as_table(given))
    return _checked_texts(given)


def checked_matrix(X: Any) -> Csr:
    """A documents × terms matrix as canonical CSR: finite numbers, no stored zeros, no cell stored twice."""
    if X.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {X.ndim}D array instead: a matrix of documents has one row per document.",
            remedy="Reshape your data with X.reshape(1, -1) if it is one document.",
        )
    if X.dtype.kind not in "fiub":
        what = "Complex data not supported" if X.dtype.kind == "c" else "A matrix of documents must hold numbers"
        raise DataError(f"{what}: this one holds {X.dtype}.")
    matrix = canonical(Csr(as_csr(X, "The matrix of documents")), np.float64, keep_zeros=False)
    if not np.isfinite(matrix.data.sum()) and not np.isfinite(matrix.data).all():
        bad = np.flatnonzero(~np.isfinite(matrix.data))[0]
        row = int(np.searchsorted(matrix.indptr, bad, side="right")) - 1
        what = "NaN" if np.isnan(matrix.data[bad]) else "infinity (inf)"
        raise DataError(
            f"The matrix of documents holds {what} in row {row}, column {matrix.indices[bad]} {COUNTED}.",
            remedy="Every value must be a finite number.",
        )
    return matrix


def _no_list_of_documents(documents: Any) -> DataError:
    if isinstance(documents, (str, bytes)):
        kind = "string" if isinstance(documents, str) else "bytes object"
        return DataError(
            f"One {kind} was given where a list of documents is expected.",
            remedy=f"For one document, put it in a list: [{documents[:40]!r}].",
        )
    if isinstance(documents, Mapping):
        remedy = "For one document with several fields, put it in a list; for a table of columns, use a DataFrame."
        return DataError("A mapping was given where a list of documents is expected.", remedy=remedy)
    if isinstance(documents, Set):
        return DataError("A set has no order, so its documents cannot be matched with labels.", remedy="Use a list.")
    if isinstance(documents, Corpus):
        remedy = "Pass corpus.texts as documents and corpus.label_sets as labels."
        return DataError("A Corpus was given where a list of documents is expected.", remedy=remedy)
    what = "None" if documents is None else f"a value of type {type(documents).__name__}"
    return DataError(f"A list of documents is expected, not {what}.", remedy="Pass a list of strings.")


def _checked_texts(given: list[Any]) -> list[Text]:
    """The documents, each checked to be a string or a mapping from field to string; NumPy's strings become str."""
    for row, document in enumerate(given):
        fields = document.items() if isinstance(document, Mapping) else [(None, document)]
        for field, text in fields:
            if not isinstance(text, str):
                raise _not_a_text(text, row, field)
    return [str(document) if isinstance(document, str) else document for document in given]


def _documents_of_array(table: npt.NDArray[Any]) -> list[Text] | Csr:
    """The documents of an array that is not 1-D: numbers are a matrix, one column of strings is a list of texts."""
    if table.ndim == 2 and table.dtype.kind in "OUST":
        if all(isinstance(value, (int, float, complex, np.number)) for value in table.flat):
            kind = complex if any(isinstance(value, (complex, np.complexfloating)) for value in table.flat) else float
            return checked_matrix(table.astype(kind))
        if table.shape[1] == 1:
            return _checked_texts(table[:, 0].tolist())
        raise DataError(
            f"Document 0 is a row of {table.shape[1]} strings, not one text {COUNTED}.",
            remedy="Join words with ' '.join(words), or pass a DataFrame whose columns are the fields of a document.",
        )
    return checked_matrix(table)


def _as_table(rows: list[Any]) -> npt.NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise DataError(
            "The documents are lists of different lengths, so they are neither texts nor rows of a matrix.",
            remedy="Join the words of each document to one string, or give every row the same number of values.",
        ) from None


def is_frame(given: Any) -> bool:
    """Whether the object is a DataFrame of pandas or Polars; neither is imported for the question."""
    frames = [module.DataFrame for name in ("pandas", "polars") if (module := sys.modules.get(name)) is not None]
    return isinstance(given, tuple(frames))


def is_series(given: Any) -> bool:
    """Whether the object is a Series of pandas, which is not imported for the question."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(given, pandas.Series)


def frame_columns(frame: Any) -> dict[str, npt.NDArray[Any]]:
    """The columns of a DataFrame by name; a name that occurs twice is an error."""
    names = [str(name) for name in frame.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DataError(f"The DataFrame has several columns named {twice[0]!r}.", remedy="Rename or drop one of them.")
    return {name: np.asarray(frame[column]) for name, column in zip(names, frame.columns, strict=True)}


def column_names(documents: Any) -> list[str] | None:
    """The names of the columns of a DataFrame of numbers; None for documents of any other form."""
    if not is_frame(documents):
        return None
    columns = frame_columns(documents)
    return list(columns) if all(values.dtype.kind in "fiub" for values in columns.values()) else None


def text_columns(documents: Any) -> list[str] | None:
    """The names of the columns of a DataFrame of texts; None for documents of any other form."""
    return list(frame_columns(documents)) if is_frame(documents) and column_names(documents) is None else None


def stored_names(terms: Sequence[str] | None, width: int) -> list[str] | None:
    """The names of the columns that a model keeps; None where they are numbers only, or where two are equal."""
    if terms is not None and len(terms) != width:
        raise ParameterError(
            f"terms has {counted(len(terms), 'name')}, but the matrix has {counted(width, 'column')}. Give one name "
            "per column."
        )
    if terms is None or len(set(terms)) < width or list(terms) == numbered_terms(width):
        return None
    return [str(term) for term in terms]


def _documents_of_frame(frame: Any) -> list[Text] | Csr:
    """Numeric columns as a matrix; one text column as texts, several as the fields of each document."""
    columns = frame_columns(frame)
    numeric = [name for name, values in columns.items() if values.dtype.kind in "fiub"]
    if columns and len(numeric) == len(columns):
        return checked_matrix(np.column_stack(list(columns.values())))
    if numeric or not columns:
        texts = [name for name in columns if name not in numeric]
        raise DataError(
            f"The DataFrame has columns of numbers ({', '.join(numeric)}) beside columns of texts ({', '.join(texts)})."
            if columns
            else "The DataFrame has no columns.",
            remedy=f"Select the columns to learn from, for example documents[{texts!r}]." if columns else None,
        )
    if len(columns) == 1:
        return _checked_texts(next(iter(columns.values())).tolist())
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return _checked_texts([dict(zip(columns, row, strict=True)) for row in rows])


def strings(texts: Iterable[Text], fields: Sequence[str] | None = None) -> list[str]:
    r"""The documents as strings: one per document, or with `fields` one per document and field in turn.

    Without `fields`, the fields of a document are joined by line breaks. With `fields`, a missing field is empty, and
    a document that is one string counts as the last field. The field "*" is the whole document.

    >>> strings(["one", {"title": "A", "body": "b"}])
    ['one', 'A\nb']
    >>> strings(["one", {"title": "A", "body": "b"}], ["title", "body"])
    ['', 'one', 'A', 'b']
    >>> strings(["one", {"title": "A", "body": "b"}], ["title", "*"])
    ['', 'one', 'A', 'A\nb']
    """
    if isinstance(texts, (str, bytes, Mapping)):
        raise DataError(
            f"A sequence of documents was expected, not a single {type(texts).__name__}.",
            remedy="Put the document in a list.",
        )
    documents = texts if isinstance(texts, list) else list(texts)
    if fields is None:
        if all(issubclass(kind, str) for kind in set(map(type, documents))):
            return cast("list[str]", documents)
        return [_joined(document, position) for position, document in enumerate(documents)]
    return [text for position, document in enumerate(documents) for text in _by_field(document, position, fields)]


def check_fields(documents: Sequence[Text], fields: Sequence[str]) -> None:
    """Raise an error for a field that none of the documents has; documents that are one string have no named fields."""
    known = dict.fromkeys(name for document in documents if isinstance(document, Mapping) for name in document)
    missing = [name for name in fields if name != WHOLE and name not in known]
    if known and missing:
        found = ", ".join(map(str, known))
        problem = f"No document has the field {missing[0]!r}. Found: {found}."
        raise DataError(problem, remedy="Choose the fields (features.fields) among them.")


def _joined(document: object, position: int) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        return "\n".join(_checked(document[name], position, name) for name in document)
    raise _not_a_text(document, position)


def _by_field(document: object, position: int, fields: Sequence[str]) -> list[str]:
    if isinstance(document, str):
        return [""] * (len(fields) - 1) + [document]
    if isinstance(document, Mapping):
        return [
            _joined(document, position) if name == WHOLE else _checked(document.get(name, ""), position, name)
            for name in fields
        ]
    raise _not_a_text(document, position)


def _checked(value: object, position: int, field: str) -> str:
    if isinstance(value, str):
        return value
    raise _not_a_text(value, position, field)


def _not_a_text(value: object, position: int, field: str | None = None) -> DataError:
    what = f"Document {position}" if field is None else f"Field {field!r} of document {position}"
    remedy = "A document is a string, or a mapping from field names to strings."
    if is_missing(value):
        remedy = "Replace missing texts by '' (in pandas: fillna('')), or leave these documents out."
    elif isinstance(value, (list, tuple, Set)):
        remedy += " If it holds labels, pass it as labels and leave it out of the documents."
    elif isinstance(value, (int, float, np.number)):
        remedy += " One document of numbers is a matrix of one row, in pandas frame.iloc[[0]]."
    elif isinstance(value, bytes):
        remedy = "Decode it first, for example document.decode('utf-8')."
    return DataError(f"{what} is {type(value).__name__} {value!r:.40}, not a text {COUNTED}.", remedy=remedy)


def is_missing(value: object) -> bool:
    """Whether a value stands for a missing one: None, NaN, or NA and NaT of pandas."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and (value is pandas.NA or value is pandas.NaT):
        return True
    return value is None or (isinstance(value, float) and np.isnan(value))


def is_measured(matrix: Csr) -> bool:
    """Whether a matrix holds measurements rather than counts: a negative value, or fractions in most cells.

    >>> is_measured(Csr([[2, 0, 0], [0, 0, 1]])), is_measured(Csr([[0.5, 1.2], [0.4, 1.1]]))
    (False, True)
    """
    is_dense = 2 * matrix.nnz > matrix.shape[0] * matrix.shape[1]
    return bool(matrix.data.min(initial=0) < 0) or (is_dense and bool((matrix.data % 1).any()))


def as_matrix(documents: Any) -> Csr | None:
    """The documents as CSR where they came as a matrix of counts, None where they are texts."""
    if sparse.issparse(documents) or (isinstance(documents, np.ndarray) and documents.ndim == 2):
        return Csr(cast(Any, documents))
    return None


def length_of(documents: Any) -> int:
    """The number of documents of a matrix or a sequence."""
    return int(cast(Any, documents).shape[0]) if sparse.issparse(documents) else len(documents)


def rows_of(documents: Any, rows: Ints) -> Any:
    """The documents of some rows, in the form they came in."""
    if sparse.issparse(documents) or isinstance(documents, np.ndarray):
        return cast(Any, documents)[rows]
    return [documents[row] for row in rows.tolist()]
