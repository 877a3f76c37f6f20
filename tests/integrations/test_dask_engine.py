"""`DaskEngine` on real worker processes: the files of `SerialEngine` byte for byte, also when a worker is lost."""

import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="distributed is not installed; make integrations installs it")

from manylabel import load_corpus, write_corpus  # noqa: E402
from manylabel.cli.run import run  # noqa: E402
from manylabel.exceptions import DataError, ParameterError  # noqa: E402
from manylabel.recipe import Recipe  # noqa: E402
from manylabel.scale.dask_engine import DaskEngine  # noqa: E402
from manylabel.scale.engine import Engine, SerialEngine, Task  # noqa: E402
from manylabel.scale.shards import ShardedCorpus  # noqa: E402
from manylabel.scale.training import ShardedTraining  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own
FEATURES = {"min_df": 1, "stop_words": None, "stemmer": None}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes, which are started again when they end."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> ShardedCorpus:
    """Some shards of 2,000 documents each."""
    folder = tmp_path_factory.mktemp("corpus")
    draw = random.Random(0)
    words = [f"word{number}" for number in range(5000)]
    for number in range(6):
        with (folder / f"{number}.jsonl").open("w", encoding="utf-8") as stream:
            for _ in range(2000):
                labels = draw.sample(["a", "b", "c", "d"], draw.randint(0, 3))
                stream.write(json.dumps({"text": " ".join(draw.choices(words, k=60)), "labels": labels}) + "\n")
    return ShardedCorpus.of(folder)


def count(corpus: ShardedCorpus, engine: Engine, folder: Path) -> dict[str, bytes]:
    """Count all shards and merge their tables; the files of complete results, without what a lost worker had begun."""
    tasks = counting(corpus, folder)
    engine.run(tasks, "Counting")
    parts = [task.output / "part-00000" for task in tasks]
    engine.reduce("tables:merge_files", parts, folder / "merged", "Merging")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".part/" not in str(path)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def counting(corpus: ShardedCorpus, folder: Path) -> list[Task]:
    return [
        Task(
            "matrix:count_shard",
            folder / f"{number:05d}",
            {"corpus": corpus.of_shard(shard).as_dict(), "features": FEATURES},
        )
        for number, shard in enumerate(corpus.shards)
    ]


@pytest.fixture(scope="module")
def expected(corpus: ShardedCorpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return count(corpus, SerialEngine(), tmp_path_factory.mktemp("serial"))


def test_the_files_are_those_of_one_process(
    corpus: ShardedCorpus, expected: dict[str, bytes], cluster: Any, tmp_path: Path
) -> None:
    with DaskEngine.connect(cluster.scheduler_address) as engine:
        assert count(corpus, engine, tmp_path) == expected
        names = engine.client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"count_shard", "merge_files"} <= set(names)


def test_a_worker_that_is_killed_changes_nothing(
    corpus: ShardedCorpus, expected: dict[str, bytes], cluster: Any, tmp_path: Path
) -> None:
    with distributed.Client(cluster, set_as_default=False) as client:
        process = min(client.run(os.getpid).values())

        def kill() -> None:
            while not list(tmp_path.glob("0*")):
                time.sleep(0.01)
            os.kill(process, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        found = count(corpus, DaskEngine(client), tmp_path)
        killer.join()
        assert found == expected
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


@pytest.mark.parametrize("method", ["nb", "svm"])
def test_a_model_is_that_of_one_process(method: str, cluster: Any, tmp_path: Path) -> None:
    letters = load_corpus("townhall").corpus.split("train")
    (tmp_path / "letters").mkdir()
    for start in range(0, len(letters), 100):
        write_corpus(letters.subset(range(start, min(start + 100, len(letters)))), tmp_path / f"letters/{start}.jsonl")
    corpus, recipe = ShardedCorpus.of(tmp_path / "letters"), Recipe.of(method)
    with DaskEngine.connect(cluster.scheduler_address) as engine:
        found = ShardedTraining(corpus, recipe, tmp_path / "cluster", engine).run()
    alone = ShardedTraining(corpus, recipe, tmp_path / "alone", SerialEngine()).run()
    for name, model in (("found.manylabel", found), ("alone.manylabel", alone)):
        model.save(tmp_path / name)
    assert (tmp_path / "found.manylabel").read_bytes() == (tmp_path / "alone.manylabel").read_bytes()
    assert len(corpus.shards) == 5


def test_the_commands_train_and_predict_on_a_cluster(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(load_corpus("townhall").corpus.split("train").subset(range(60)), tmp_path / "letters.csv")
    monkeypatch.chdir(tmp_path)  # workers are in another folder
    common = ["train", "letters.csv", "--split", "all", "--method", "nb-binary", "--model"]
    assert run([*common, "cluster.manylabel", "--cluster", cluster.scheduler_address]) == 0
    assert run([*common, "disk.manylabel", "--workers", "1"]) == 0
    assert Path("cluster.manylabel").read_bytes() == Path("disk.manylabel").read_bytes()
    predict = ["predict", "disk.manylabel", "letters.csv", "--output"]
    assert run([*predict, "cluster.csv", "--cluster", cluster.scheduler_address]) == 0
    assert run([*predict, "alone.csv"]) == 0
    assert Path("cluster.csv").read_text() == Path("alone.csv").read_text()


def test_errors_of_tasks_are_raised_and_what_is_done_stays(corpus: ShardedCorpus, cluster: Any, tmp_path: Path) -> None:
    good, bad = counting(corpus, tmp_path)[:2]
    missing = Task("tables:merge_files", tmp_path / "merged", {"inputs": [str(tmp_path / "none")]})
    with DaskEngine.connect(cluster.scheduler_address) as engine:
        engine.run([good], "Counting")
        with pytest.raises(RuntimeError, match="FileNotFoundError"):
            engine.run([good, missing], "Merging")
        lines = tmp_path / "wrong.jsonl"
        lines.write_text('{"text": 1}\n')
        arguments = json.loads(json.dumps(bad.arguments))
        arguments["corpus"]["shards"][0] |= {"path": str(lines), "start": 0, "stop": None}
        with pytest.raises(DataError, match=r"wrong\.jsonl"):
            engine.run([Task(bad.function, tmp_path / "bad", arguments)], "Counting")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000", "wrong.jsonl"]


def test_an_address_without_a_scheduler_is_refused() -> None:
    import dask

    message = r"no Dask scheduler at 'tcp://127\.0\.0\.1:1'"
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}), pytest.raises(ParameterError, match=message):
        DaskEngine.connect("tcp://127.0.0.1:1")
    with pytest.raises(ParameterError, match="no Dask scheduler at 'nowhere'"):
        DaskEngine.connect("nowhere")
