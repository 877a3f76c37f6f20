"""Engines that predict with `ArrowPredictor`: Spark, Ray Data, Dask dataframes, DuckDB and Polars.

None of them is imported before it is used. Where predictions run in other processes, manylabel must be installed there
too; each process reads the model file once. The options `columns`, `labels` and `scores` are those of `ArrowPredictor`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from manylabel.exceptions import ParameterError
from manylabel.integrations.arrow import ArrowPredictor, ModelSource, import_arrow, import_engine
from manylabel.modelfile import open_model

ModelPath = str | os.PathLike[str]
Columns = str | Sequence[str] | None


def predict_spark(
    frame: Any,
    model: ModelPath,
    columns: Columns = None,
    *,
    labels: str = "labels",
    scores: str | None = None,
    ship: bool = True,
) -> Any:
    """A Spark dataframe with the predicted labels of its documents, by `mapInArrow`.

    The model file is sent to the executors (`SparkContext.addFile`). With ``ship=False`` they read it at its path,
    which must then be the same on all of them. A Python worker that is used again keeps the model.
    """
    types = import_engine("pyspark.sql.types", "Predicting in Spark", "spark")
    added = {labels: types.StringType(), **({} if scores is None else {scores: types.DoubleType()})}
    for name in added:
        if name in frame.columns:
            raise _column_exists(name)
    schema = types.StructType(list(frame.schema.fields))
    for name, kind in added.items():
        schema = schema.add(name, types.ArrayType(kind))
    path = str(model)
    if ship:
        open_model(path)  # a missing or damaged file is an error here rather than on every executor
        frame.sparkSession.sparkContext.addFile(path)
        path = Path(path).name
    return frame.mapInArrow(partial(_predict_in_executor, path, ship, columns, labels, scores), schema)


def _predict_in_executor(
    path: str, shipped: bool, columns: Columns, labels: str, scores: str | None, batches: Iterator[Any]
) -> Iterator[Any]:
    if shipped:
        from pyspark import SparkFiles

        path = SparkFiles.get(path)
    return ArrowPredictor(path, columns, labels, scores).predict_stream(batches)


def predict_ray(
    dataset: Any,
    model: ModelPath,
    columns: Columns = None,
    *,
    labels: str = "labels",
    scores: str | None = None,
    **options: Any,
) -> Any:
    """A dataset of Ray Data with the predicted labels of its documents, by `map_batches` on actors.

    Each actor reads the model file at its path once. `options` go to `map_batches`, such as ``concurrency=4``, the
    number of actors.
    """
    predictor = ArrowPredictor(str(model), columns, labels, scores)
    settings = {"batch_format": "pyarrow", "concurrency": 1, "fn_constructor_args": (predictor,), **options}
    return dataset.map_batches(RayActor, **settings)


class RayActor:
    """What an actor of Ray Data calls for each batch."""

    def __init__(self, predictor: ArrowPredictor) -> None:
        predictor.classifier()  # read while the actor starts, not with the first batch
        self.predict = predictor.predict

    def __call__(self, batch: Any) -> Any:
        """The table with the predicted labels of its documents."""
        return self.predict(batch)


def predict_dask(
    frame: Any, model: ModelPath, columns: Columns = None, *, labels: str = "labels", scores: str | None = None
) -> Any:
    """A Dask dataframe with the predicted labels of its documents, partition by partition.

    Workers read the model file at its path, which must be the same on all of them.
    """
    predictor = ArrowPredictor(str(model), columns, labels, scores)
    empty = frame._meta
    pandas, arrow = import_engine("pandas", "Predicting in Dask", "dask"), import_arrow()
    added = {labels: arrow.string(), **({} if scores is None else {scores: arrow.float64()})}
    for name in added:
        if name in empty.columns:
            raise _column_exists(name)
    meta = empty.assign(
        **{name: pandas.Series([], dtype=pandas.ArrowDtype(arrow.list_(kind))) for name, kind in added.items()}
    )
    return frame.map_partitions(partial(_predict_partition, predictor), meta=meta)


def _predict_partition(predictor: ArrowPredictor, part: Any) -> Any:
    """A DataFrame of pandas with the predicted labels of its documents."""
    pandas, arrow = import_engine("pandas", "Predicting in Dask", "dask"), import_arrow()
    texts = list(part.columns) if predictor.columns is None else predictor.columns
    texts = [texts] if isinstance(texts, str) else list(texts)
    given = arrow.Table.from_pandas(part[[name for name in texts if name in part.columns]], preserve_index=False)
    found = predictor.predict(given)
    new = [name for name in (predictor.labels, predictor.scores) if name is not None]
    return part.assign(
        **{name: pandas.Series(pandas.arrays.ArrowExtensionArray(found[name]), index=part.index) for name in new}
    )


def register_duckdb(
    connection: Any,
    model: ModelSource,
    name: str = "predict_labels",
    *,
    fields: Sequence[str] = ("text",),
    scores: bool = False,
    n_jobs: int | None = None,
) -> None:
    """Add a function to a connection of DuckDB: ``predict_labels(text)`` is a list of labels; NULL gives NULL.

    With several `fields`, the function has as many parameters: ``fields=("title", "body")`` makes it
    ``predict_labels(title, body)``. With `scores` it returns a struct: ``predict_labels(text).labels`` and ``.scores``.
    """
    duckdb = import_engine("duckdb", "A function of DuckDB", "duckdb")
    arrow = import_arrow()
    predictor = ArrowPredictor(model, tuple(fields), "labels", "scores" if scores else None, n_jobs)
    predictor.classifier()

    class Function:
        # DuckDB counts the parameters of the signature.
        __signature__ = Signature([Parameter(f"text_{n}", Parameter.POSITIONAL_ONLY) for n in range(len(fields))])

        def __call__(self, *texts: Any) -> Any:
            return _labels_column(predictor, arrow.table(dict(zip(fields, texts, strict=True))))

    kind = "STRUCT(labels VARCHAR[], scores DOUBLE[])" if scores else "VARCHAR[]"
    parameters = [duckdb.type("VARCHAR")] * len(fields)
    connection.create_function(name, Function(), parameters, duckdb.type(kind), type="arrow", null_handling="special")


def predict_polars(
    columns: str | Sequence[str], model: ModelSource, *, scores: bool = False, n_jobs: int | None = None
) -> Any:
    """A Polars expression: the predicted labels of the documents in a column of texts, or in columns that are fields.

    The expression is a list of labels, or with `scores` a struct of ``labels`` and ``scores``.
    """
    polars = import_engine("polars", "An expression of Polars", "polars")
    arrow = import_arrow()
    names = [columns] if isinstance(columns, str) else list(columns)
    predictor = ArrowPredictor(model, names, "labels", "scores" if scores else None, n_jobs)

    def function(series: Sequence[Any]) -> Any:
        texts = dict(zip(names, (one.to_arrow() for one in series), strict=True))
        return polars.from_arrow(_labels_column(predictor, arrow.table(texts)))

    kind = polars.List(polars.String)
    if scores:
        kind = polars.Struct({"labels": kind, "scores": polars.List(polars.Float64)})
    return polars.map_batches(names, function, return_dtype=kind, is_elementwise=True).alias("labels")


def _labels_column(predictor: ArrowPredictor, texts: Any) -> Any:
    """The predicted labels of a table of texts as one column: lists, or structs of labels and scores."""
    found = predictor.predict(texts)
    if predictor.scores is None:
        return found["labels"]
    return found.select(["labels", "scores"]).to_struct_array()


def _column_exists(name: str) -> ParameterError:
    return ParameterError(
        f"The data have a column {name!r} already. Give another name for the predictions: labels='predicted_labels', "
        "scores='predicted_scores'."
    )
