"""Ready vectors: one row per document, from a NumPy file or a column of a Parquet file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.exceptions import DataError, MissingDataError, MissingExtraError, ParameterError
from manylabel.features.encoders import Encoder, Vectors
from manylabel.wording import counted, is_worded_for, setting_name, there_are


class ReadyVectors(Encoder):
    """The vectors of known documents, looked up by their text; others are refused.

    >>> ReadyVectors(["late bus", "bad road"], np.eye(2)).encode(["bad road"]).tolist()
    [[0.0, 1.0]]
    """

    name = "ready vectors"
    kind = "ready vectors"
    encodes_any_text = False

    def __init__(self, texts: Sequence[str], vectors: Any, name: str = "ready vectors") -> None:
        self.name = name
        self.rows = np.asarray(vectors, dtype=np.float32)
        if self.rows.ndim != 2 or len(self.rows) != len(texts):
            raise DataError(
                f"{name} holds {counted(len(self.rows), 'vector')}, but {there_are(len(texts), 'document')}.",
                remedy="Give one row per document, in the order of the documents, those of all splits.",
            )
        self.places = {text: row for row, text in enumerate(texts)}

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The rows of the texts."""
        unknown = next((text for text in texts if text not in self.places), None)
        if unknown is not None:
            option = ": --vectors FILE" if is_worded_for("command line") else ""
            raise DataError(
                f"There is no vector for the document {unknown[:60]!r}.",
                remedy=f"A model with ready vectors needs those of each document that it predicts{option}.",
            )
        return self.rows[[self.places[text] for text in texts]]


def read_vectors(given: str) -> Any:
    """The vectors in ``file.npy`` or in ``file.parquet:column``."""
    if ".parquet:" in given or ".pq:" in given:
        name, _, column = given.rpartition(":")
        return _parquet_column(_existing(name), column)
    path = _existing(given)
    if path.suffix != ".npy":
        raise ParameterError(f"{setting_name('vectors')} takes file.npy or file.parquet:column, not {given!r}.")
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"This is no NumPy file of numbers: {error}.", path=path) from None


def _existing(name: str) -> Path:
    if not os.path.isfile(name):
        raise MissingDataError(f"{name}: there is no such file of vectors.")
    return Path(name)


def _parquet_column(path: Path, column: str) -> Any:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtraError("Reading vectors from Parquet", "parquet") from None
    try:
        names = parquet.read_schema(path).names
        if column not in names:
            raise DataError(f"There is no column {column!r}.", path=path, remedy=f"Found: {', '.join(names)}.")
        return np.array(parquet.read_table(path, columns=[column])[column].to_pylist(), dtype=np.float32)
    except (ArrowException, OSError, TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"The column {column!r} holds no vectors of one length: {error}.",
            path=path,
            remedy="Give a column of lists of numbers.",
        ) from None
