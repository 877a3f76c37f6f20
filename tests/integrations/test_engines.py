"""Each engine predicts the labels of `ArrowPredictor`; an engine that is not installed is skipped.

`make integrations` installs all of them.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from manylabel import TextClassifier  # noqa: E402
from manylabel import integrations as engines  # noqa: E402
from manylabel.exceptions import MissingDataError, MissingExtraError, ParameterError  # noqa: E402

TEXTS = ["Is the bus late?", "", None, "late bus, bad road", "litter"]
TITLES = ["road", "road", None, None, ""]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "letters.manylabel"
    texts = ["the bus was late", "a hole in the road", "late bus, bad road", "no bin, and litter"] * 5
    labels = [["buses"], ["roads"], ["buses", "roads"], ["waste"]] * 5
    TextClassifier("svm", model={"C": 1.0}).fit(texts, labels).save(path)
    return path


@pytest.fixture(scope="module")
def table() -> Any:
    """A table of 40 documents with an id, a title and a text."""
    return pyarrow.table({"id": list(range(40)), "title": TITLES * 8, "text": TEXTS * 8})


@pytest.fixture(scope="module")
def expected(model: Path, table: Any) -> dict[str, list[Any]]:
    """The labels by text, their scores, and the labels by title and text."""
    alone = engines.ArrowPredictor(model, scores="scores").predict(table)
    both = engines.ArrowPredictor(model, ["title", "text"]).predict(table)
    found = {"labels": alone["labels"], "scores": alone["scores"], "fields": both["labels"]}
    assert found["labels"].to_pylist() != found["fields"].to_pylist()
    return {name: column.to_pylist() for name, column in found.items()}


def test_duckdb(model: Path, table: Any, expected: dict[str, list[Any]]) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        connection.register("letters", table)
        engines.register_duckdb(connection, model)
        rows = connection.execute("SELECT predict_labels(text) FROM letters ORDER BY id").fetchall()
        assert [labels for (labels,) in rows] == expected["labels"]
        engines.register_duckdb(connection, model, "scored", scores=True)
        rows = connection.execute("SELECT unnest(scored(text)) FROM letters ORDER BY id").fetchall()
        assert [list(row) for row in rows if row[0] is not None] == [
            [labels, scores]
            for labels, scores in zip(expected["labels"], expected["scores"], strict=True)
            if labels is not None
        ]
        engines.register_duckdb(connection, TextClassifier.load(model), "by_field", fields=("title", "text"))
        rows = connection.execute("SELECT by_field(title, text) FROM letters ORDER BY id").fetchall()
        assert [labels for (labels,) in rows] == expected["fields"]
        assert connection.execute("SELECT predict_labels(NULL)").fetchall() == [(None,)]


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_polars(engine: str, model: Path, table: Any, expected: dict[str, list[Any]]) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.from_arrow(table).lazy()
    found = frame.with_columns(engines.predict_polars("text", model)).collect(engine=engine)
    assert found["labels"].to_list() == expected["labels"]
    scored = frame.select(engines.predict_polars("text", model, scores=True)).collect(engine=engine).unnest("labels")
    assert scored["labels"].to_list() == expected["labels"]
    assert scored["scores"].to_list() == expected["scores"]
    both = frame.select(engines.predict_polars(["title", "text"], TextClassifier.load(model)))
    assert both.collect(engine=engine)["labels"].to_list() == expected["fields"]


def test_dask(model: Path, table: Any, expected: dict[str, list[Any]]) -> None:
    dataframe = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    frame = dataframe.from_pandas(table.to_pandas().set_index("id"), npartitions=3)
    found = engines.predict_dask(frame, model, scores="scores")
    computed = found.compute(scheduler="sync")
    assert pyarrow.array(computed["labels"]).to_pylist() == expected["labels"]
    assert pyarrow.array(computed["scores"]).to_pylist() == expected["scores"]
    assert computed.dtypes.equals(found.dtypes)
    assert computed.index.tolist() == list(range(40))
    both = engines.predict_dask(frame, model, ["title", "text"], labels="predicted").compute(scheduler="sync")
    assert pyarrow.array(both["predicted"]).to_pylist() == expected["fields"]
    with pytest.raises(ParameterError, match="a column 'text' already"):
        engines.predict_dask(frame, model, labels="text")


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    # Otherwise it writes a token into the user's folder, and a busy computer does not start it in time.
    os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_raylet_start_wait_time_s": "300"}
    module = pytest.importorskip("ray", reason="ray is not installed")
    module.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield module
    module.shutdown()


@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray(model: Path, table: Any, expected: dict[str, list[Any]], ray: Any) -> None:
    found = engines.predict_ray(ray.data.from_arrow(table), model, scores="scores")
    rows = sorted(found.take_all(), key=lambda row: row["id"])
    assert [None if row["labels"] is None else list(row["labels"]) for row in rows] == expected["labels"]
    assert [None if row["scores"] is None else list(row["scores"]) for row in rows] == expected["scores"]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
    session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()


@pytest.mark.filterwarnings("ignore")  # Spark's own
def test_spark(model: Path, table: Any, expected: dict[str, list[Any]], spark: Any) -> None:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    frame = spark.createDataFrame(rows, "id long, title string, text string").repartition(2)
    found = engines.predict_spark(frame, model, scores="scores").orderBy("id").collect()
    assert [row["labels"] for row in found] == expected["labels"]
    assert [row["scores"] for row in found] == expected["scores"]
    both = engines.predict_spark(frame, model, ["title", "text"], ship=False).orderBy("id").collect()
    assert [row["labels"] for row in both] == expected["fields"]
    with pytest.raises(ParameterError, match="a column 'text' already"):
        engines.predict_spark(frame, model, labels="text")
    with pytest.raises(MissingDataError, match="no such model file"):
        engines.predict_spark(frame, "none.manylabel")


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("duckdb", "duckdb", lambda model: engines.register_duckdb(None, model)),
        ("polars", "polars", lambda model: engines.predict_polars("text", model)),
        ("pyspark.sql.types", "spark", lambda model: engines.predict_spark(None, model)),
    ],
)
def test_a_missing_engine_is_named_with_its_remedy(
    package: str, extra: str, call: Any, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'manylabel\[{extra}\]'"):
        call(model)
