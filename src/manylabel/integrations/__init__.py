"""Prediction where the data are: one function on batches of Arrow, and the engines that call it.

On Arrow
    ArrowPredictor  batches or tables of Arrow in, the same with labels out

On engines
    predict_dask     a Dask dataframe with predicted labels
    predict_polars   a Polars expression of predicted labels
    predict_ray      a dataset of Ray Data with predicted labels
    predict_spark    a Spark dataframe with predicted labels
    register_duckdb  a function of DuckDB that predicts labels
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__all__ = ["ArrowPredictor", "predict_dask", "predict_polars", "predict_ray", "predict_spark", "register_duckdb"]

if TYPE_CHECKING:
    from manylabel.integrations.arrow import ArrowPredictor
    from manylabel.integrations.engines import (
        predict_dask,
        predict_polars,
        predict_ray,
        predict_spark,
        register_duckdb,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "arrow": "ArrowPredictor",
            "engines": "predict_dask, predict_polars, predict_ray, predict_spark, register_duckdb",
        },
    )
