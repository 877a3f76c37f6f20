"""`ArrowPredictor`: batches of Arrow in, the same batches with predicted labels out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data.corpus import Text
from manylabel.estimator import Floats, Ints
from manylabel.exceptions import DataError, MissingDataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    import pyarrow

ROWS = 8192
TEXT_BYTES = 16 << 20
"""The rows and the bytes of texts that are Python objects at a time, however large a batch is."""
TEXT_TYPES = ("string", "large_string", "string_view", "null")
KEPT_MODELS = 4
"""How many models a process keeps in memory."""

ModelSource = str | os.PathLike[str] | TextClassifier


@dataclass(frozen=True, slots=True)
class ArrowPredictor:
    """The predictions of a model for record batches and tables of Arrow.

    `model` is the path of a model file or a classifier. A path makes the predictor small enough to be sent to other
    processes: each of them reads the file on first use and keeps the model. `columns` names the column of texts, or
    the columns that are the fields of a document; by default these are the columns of the training, or ``text``.

    The predicted labels are added in the column `labels` as lists of strings, the label with the highest score first,
    and with `scores` their scores in a column of that name. Labels and order are those of ``manylabel predict``. A
    document whose text is null, or all of whose fields are, gets null; an empty text is a document.

    `n_jobs` limits the threads of a model that is read from a file. It is 1 by default because engines run one
    predictor per core.

    >>> import pyarrow
    >>> texts = ["the bus was late again", "a hole in the road", "no bus, and holes in the road", "late bus"]
    >>> model = TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], ["buses", "roads"], ["buses"]])
    >>> batch = pyarrow.record_batch({"text": ["a late bus", None, ""]})
    >>> ArrowPredictor(model).predict(batch).column("labels").to_pylist()
    [['buses'], None, []]
    """

    model: ModelSource
    columns: str | Sequence[str] | None = None
    labels: str = "labels"
    scores: str | None = None
    n_jobs: int | None = 1

    def predict(self, batch: Any) -> Any:
        """The record batch or table with the predicted labels of its documents added."""
        arrow = import_arrow()
        schema = self.schema(batch.schema)
        if isinstance(batch, arrow.Table):
            return arrow.Table.from_batches([self.predict(one) for one in batch.to_batches()], schema=schema)
        classifier = self.classifier()
        names, fields = self._text_columns(classifier, batch.schema)
        columns = [batch.column(batch.schema.get_field_index(name)) for name in names]
        found = [_predict_documents(classifier, *rows) for rows in _documents(columns, fields)]
        added = [arrow.concat_arrays(arrays) for arrays in zip(*found, strict=True)] or [
            arrow.array([], field.type) for field in _added_fields("labels", "scores")
        ]
        new = added if self.scores is not None else added[:1]
        return arrow.RecordBatch.from_arrays([*batch.columns, *new], schema=schema)

    def predict_stream(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield each batch with its predicted labels, as they come."""
        for batch in batches:
            yield self.predict(batch)

    def schema(self, given: Any) -> Any:
        """The schema of the predictions for batches of the schema `given`."""
        for field in _added_fields(self.labels, self.scores):
            if field.name in given.names:
                raise ParameterError(
                    f"The data have a column {field.name!r} already. Give another name for the predictions: "
                    "labels='predicted_labels', scores='predicted_scores'."
                )
            given = given.append(field)
        return given

    def classifier(self) -> TextClassifier:
        """The model: a file is read once per process, and again when it has changed."""
        if isinstance(self.model, TextClassifier):
            return self.model
        path = Path(self.model)
        if not path.is_file():
            raise MissingDataError(
                f"{path}: there is no such model file in this process. Put it where all can read it."
            )
        state = path.stat()
        return _load(str(path), self.n_jobs, state.st_mtime_ns, state.st_size)

    def _text_columns(self, classifier: TextClassifier, schema: Any) -> tuple[Sequence[str], Sequence[str]]:
        """The columns of texts and the fields of a document that they are."""
        reading, names = classifier.reading, self.columns
        trained, fields = ((), ()) if reading is None else (reading.texts, reading.fields)
        if names is None:
            names = trained or ("text",)
        elif isinstance(names, str):
            names = (names,)
        for name in names:
            if name not in schema.names:
                raise DataError(
                    f"The data have no column {name!r}. Columns: {', '.join(map(repr, schema.names)) or 'none'}.",
                    remedy="Name the columns of texts: columns='body', or columns=['title', 'body'].",
                )
        return names, fields if len(fields) == len(names) else names


def import_arrow() -> Any:
    """The package pyarrow; an error with the remedy where it is not installed."""
    return import_engine("pyarrow", "Predicting on batches of Arrow", "arrow")


def import_engine(module: str, what: str, extra: str) -> Any:
    """An optional package; an error with the remedy where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra) from None


@lru_cache(maxsize=KEPT_MODELS)
def _load(path: str, n_jobs: int | None, changed: int, size: int) -> TextClassifier:
    """The model of a file, whose time of change and size are part of the key."""
    return TextClassifier.load(path).use_threads(n_jobs)


def _added_fields(labels: str, scores: str | None) -> list[pyarrow.Field]:
    arrow = import_arrow()
    added = [arrow.field(labels, arrow.list_(arrow.string()))]
    return added if scores is None else [*added, arrow.field(scores, arrow.list_(arrow.float64()))]


def _documents(columns: Sequence[Any], fields: Sequence[str]) -> Iterator[tuple[list[Text], list[bool]]]:
    """Yield the documents of some rows after the other, and for each row whether it has one.

    Few rows at a time become Python objects: those of a whole shard take many times its memory.
    """
    for column, name in zip(columns, fields, strict=True):
        kind = str(column.type).removeprefix("dictionary<values=").partition(",")[0]
        if kind not in TEXT_TYPES:
            raise DataError(
                f"The column of {name!r} holds {column.type}, not texts.", remedy="Name a column of strings."
            )
    total, size = len(columns[0]), sum(column.nbytes for column in columns)
    step = max(1, min(ROWS, total * TEXT_BYTES // max(size, 1)))
    for start in range(0, total, step):
        values = [column.slice(start, step).to_pylist() for column in columns]
        if len(values) == 1:
            known = [text is not None for text in values[0]]
            yield list(compress(values[0], known)), known
            continue
        rows = list(zip(*values, strict=True))
        known = [any(text is not None for text in row) for row in rows]
        yield [dict(zip(fields, (text or "" for text in row), strict=True)) for row in compress(rows, known)], known


def _predict_documents(classifier: TextClassifier, documents: list[Text], known: list[bool]) -> tuple[Any, Any]:
    """The predicted labels of each row, best first, and their scores, as arrays of lists; null where nothing is known.

    `documents` are those of the rows that have one.
    """
    arrow = import_arrow()
    is_known = np.array(known, dtype=bool)
    sizes: Ints = np.zeros(len(known), dtype=np.int64)
    counts: list[Ints] = [np.zeros(0, dtype=np.int64)]
    columns: list[Ints] = [np.zeros(0, dtype=np.int64)]
    values: list[Floats] = [np.zeros(0)]
    for chosen, scores in classifier.iter_decisions(documents):
        counts.append(np.diff(chosen.indptr).astype(np.int64))
        rows = np.repeat(np.arange(chosen.shape[0]), counts[-1])
        found = classifier.decided_.shown(scores())[rows, chosen.indices]
        order = np.lexsort((chosen.indices, -found, rows))
        columns.append(chosen.indices[order].astype(np.int64))
        values.append(found[order])
    sizes[is_known] = np.concatenate(counts)
    starts = arrow.array(np.append(0, np.cumsum(sizes)).astype(np.int32), mask=np.append(~is_known, False))
    names = arrow.array(classifier.labels_, arrow.string()).take(arrow.array(np.concatenate(columns)))
    return (
        arrow.ListArray.from_arrays(starts, names),
        arrow.ListArray.from_arrays(starts, arrow.array(np.concatenate(values))),
    )
