"""A model of manylabel as functions of DuckDB, over batches of Arrow. Written by `manylabel export`.

import duckdb
from manylabel_duckdb import register

connection = duckdb.connect()
register(connection)
connection.sql("SELECT text, predict_labels(text), predict_scores(text)['roads'] FROM letters")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
from manylabel_model import Model  # type: ignore[import-not-found]

LISTS, SCORES = "VARCHAR[]", "MAP(VARCHAR, DOUBLE)"


def register(connection: Any, path: str | Path | None = None, prefix: str = "") -> None:
    """Add ``predict_labels(text)``, a list of names, and ``predict_scores(text)``, a map from name to score.

    `path` is the file of the model, by default model.json beside this one; `prefix` begins the names of the functions,
    so that several models can be registered. NULL gives NULL.
    """
    model = Model.read(Path(__file__).with_name("model.json") if path is None else path)
    names = pyarrow.array(model.labels, pyarrow.string())

    def labels(texts: Any) -> Any:
        given = texts.to_pylist()
        found = iter(model.predict(text for text in given if text is not None))
        rows = [None if text is None else next(found) for text in given]
        return pyarrow.array(rows, pyarrow.list_(pyarrow.string()))

    def scores(texts: Any) -> Any:
        given = texts.to_pylist()
        known = np.array([text is not None for text in given], dtype=bool)
        found = model.predict_scores(text for text in given if text is not None)
        starts = np.concatenate([[0], np.cumsum(known * len(names))]).astype(np.int32)
        columns = np.tile(np.arange(len(names)), len(found))
        offsets = pyarrow.array(starts, mask=np.append(~known, False))
        return pyarrow.MapArray.from_arrays(offsets, names.take(columns), pyarrow.array(found.ravel()))

    text = [duckdb.type("VARCHAR")]
    for name, function, result in (("labels", labels, LISTS), ("scores", scores, SCORES)):
        connection.create_function(
            f"{prefix}predict_{name}", function, text, duckdb.type(result), type="arrow", null_handling="special"
        )
