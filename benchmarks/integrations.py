"""Each engine of `manylabel.integrations` beside ``manylabel predict``: equal labels, and documents per CPU second.

    python -m benchmarks.integrations --documents 200000
    python -m benchmarks.integrations --documents 20000 --only duckdb polars

The documents are sentences of the letters that come with manylabel, two letters mixed in each, as Parquet in eight
files; the model is the default, trained on the letters. Every engine runs in a process of its own, which reads the
files, predicts and writes Parquet. Counted is the CPU time of that process and of all that it started, after a first
prediction of a few documents, which counts as start; of ``manylabel predict`` that of the whole command on one thread.
A throughput per core of at least half that of the command is met. Linux alone: CPU times are read from /proc. On a busy
computer engines with processes of their own take more CPU time, because those look for work as long as they wait.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from manylabel import TextClassifier, load_corpus
from manylabel import integrations as engines

FILES = 8
FEW = 100
CORES = 2
GOAL = 2.0
"""How many times as much CPU time as the command an engine may take."""
TICKS = os.sysconf("SC_CLK_TCK")


# ---- the documents ---------------------------------------------------------------------------------------------------


def write_documents(folder: Path, documents: int) -> None:
    """Write the model, all documents in one file, and the same in a folder of several files."""
    import pyarrow
    from pyarrow import parquet

    letters = load_corpus("townhall").corpus.split("train")
    bodies = letters.fields["body"]
    TextClassifier().fit(bodies, letters.label_sets).save(folder / "model.manylabel")
    sentences = [[one for one in body.split(". ") if one] for body in bodies]
    draw = random.Random(0)
    texts = []
    for _ in range(documents):
        mixed = [*draw.choice(sentences), *draw.choice(sentences)]
        draw.shuffle(mixed)
        texts.append(". ".join(mixed[: draw.randint(1, len(mixed))]))
    table = pyarrow.table({"id": list(range(documents)), "text": texts})
    parquet.write_table(table, folder / "documents.parquet")
    (folder / "few").mkdir()
    parquet.write_table(table.slice(0, FEW), folder / "few" / "0.parquet")
    (folder / "documents").mkdir()
    step = -(-documents // FILES)
    for number in range(FILES):
        parquet.write_table(table.slice(number * step, step), folder / "documents" / f"{number}.parquet")


# ---- the engines -----------------------------------------------------------------------------------------------------

Work = Callable[[Path, Path], None]
"""Predicts the documents of a folder and writes ids and labels to another."""


def start_arrow(model: Path) -> Work:
    import pyarrow
    from pyarrow import dataset, parquet

    predictor = engines.ArrowPredictor(model)
    schema = pyarrow.schema([("id", pyarrow.int64()), ("labels", pyarrow.list_(pyarrow.string()))])

    def work(source: Path, target: Path) -> None:
        batches = dataset.dataset(source, format="parquet").to_batches()
        target.mkdir()
        with parquet.ParquetWriter(target / "found.parquet", schema) as writer:
            for batch in predictor.predict_stream(batches):
                writer.write_batch(batch.select(["id", "labels"]))

    return work


def start_spark(model: Path) -> Work:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "2g"}
    session = SparkSession.builder.master(f"local[{CORES}]").config(map=settings).getOrCreate()

    def work(source: Path, target: Path) -> None:
        found = engines.predict_spark(session.read.parquet(str(source)), model)
        found.select("id", "labels").write.parquet(str(target))

    return work


def start_ray(model: Path) -> Work:
    # No token in the user's folder; time to start on a busy computer; workers of the priority of other engines' ones.
    os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_raylet_start_wait_time_s": "300", "RAY_worker_niceness": "0"}
    import ray

    ray.init(num_cpus=CORES, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False

    def work(source: Path, target: Path) -> None:
        found = engines.predict_ray(ray.data.read_parquet(str(source)), model)
        found.select_columns(["id", "labels"]).write_parquet(str(target))

    return work


def start_dask(model: Path) -> Work:
    import dask
    from dask import dataframe

    dask.config.set(scheduler="threads", num_workers=CORES)

    def work(source: Path, target: Path) -> None:
        engines.predict_dask(dataframe.read_parquet(str(source)), model)[["id", "labels"]].to_parquet(str(target))

    return work


def start_duckdb(model: Path) -> Work:
    import duckdb

    connection = duckdb.connect(config={"threads": CORES})
    engines.register_duckdb(connection, model, n_jobs=1)

    def work(source: Path, target: Path) -> None:
        target.mkdir()
        query = f"SELECT id, predict_labels(text) AS labels FROM '{source}/*.parquet'"
        connection.execute(f"COPY ({query}) TO '{target}/found.parquet' (FORMAT parquet)")

    return work


def start_polars(model: Path) -> Work:
    import polars

    def work(source: Path, target: Path) -> None:
        target.mkdir()
        frame = polars.scan_parquet(f"{source}/*.parquet")
        frame.select("id", engines.predict_polars("text", model, n_jobs=1)).sink_parquet(target / "found.parquet")

    return work


ENGINES = {
    "arrow": ("pyarrow", start_arrow),
    "spark": ("pyspark", start_spark),
    "ray": ("ray", start_ray),
    "dask": ("dask", start_dask),
    "duckdb": ("duckdb", start_duckdb),
    "polars": ("polars", start_polars),
}
"""Each engine with its package and the function that starts it."""


# ---- measuring -------------------------------------------------------------------------------------------------------


def cpu_seconds() -> float:
    """The CPU time of this process and of all that it started, ended ones included."""
    times, parents = {}, {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
        except OSError:
            continue  # it has ended
        if words:
            parents[int(entry.name)], times[int(entry.name)] = int(words[1]), sum(map(int, words[11:15]))
    found = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return sum(times.get(one, 0) for one in found) / TICKS


def run_command(folder: Path) -> float:
    """Run ``manylabel predict``; its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["predict", folder / "model.manylabel", folder / "documents.parquet", "-j", "1"]
    command = [sys.executable, "-m", "manylabel", *map(str, words), "--output", str(folder / "expected.parquet")]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run_engine(name: str, folder: Path) -> dict[str, Any]:
    """Run an engine in a process of its own: its CPU seconds until it was up, and for the work."""
    command = [sys.executable, "-m", "benchmarks.integrations", "--engine", name, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip()[-2000:]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def labels_by_id(path: Path) -> list[list[str]]:
    from pyarrow import parquet

    return parquet.read_table(path, columns=["id", "labels"]).sort_by("id")["labels"].to_pylist()


def compare(documents: int, only: list[str]) -> int:
    """Run the command and the engines, and print the table; the number of engines that missed their goal."""
    missed = 0
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_documents(folder, documents)
        seconds = run_command(folder)
        expected = labels_by_id(folder / "expected.parquet")
        print(f"{documents:,} documents; CPU seconds, and documents per CPU second\n")
        print(f"{'':18}{'start':>8}{'work':>8}{'per second':>12}{'share':>8}  labels")
        print(f"{'manylabel predict':18}{'':8}{seconds:8.1f}{documents / seconds:12,.0f}{1:8.2f}", flush=True)
        for name in only:
            if importlib.util.find_spec(ENGINES[name][0]) is None:
                print(f"{name:18}not installed")
                continue
            found = run_engine(name, folder)
            if "error" in found:
                print(f"{name:18}failed: {found['error']}", flush=True)
                missed += 1
                continue
            equal = labels_by_id(folder / name) == expected
            share = seconds / found["work"]
            met = equal and share >= 1 / GOAL
            missed += not met
            figures = f"{found['start']:8.1f}{found['work']:8.1f}{documents / found['work']:12,.0f}{share:8.2f}"
            print(f"{name:18}{figures}  {'equal' if equal else 'DIFFERENT'}, {'met' if met else 'missed'}", flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.engine is None:
        return compare(given.documents, given.only)
    work = ENGINES[given.engine][1](given.folder / "model.manylabel")
    work(given.folder / "few", given.folder / f"{given.engine}-few")
    began = cpu_seconds()
    work(given.folder / "documents", given.folder / given.engine)
    print("\n" + json.dumps({"start": began, "work": cpu_seconds() - began}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
