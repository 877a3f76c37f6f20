"""Training from shards on a Dask cluster of one and of two worker processes, beside one process without a cluster.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --documents 50000 --labels 500 --methods svm

Every model must be the same file, byte for byte; so must that of a third training, during which a worker is killed.
Printed are wall seconds, and CPU seconds of this process, of all workers together, and of the busiest worker. `by CPU`
is the speed-up over one worker that the division of the work admits on an idle computer: the CPU seconds of this
process and of all workers, over those of this process and the busiest worker. Needs ``manylabel[dask]``.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed

from manylabel.recipe import Recipe
from manylabel.scale.dask_engine import DaskEngine
from manylabel.scale.engine import Engine, SerialEngine
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.synthesize import Size, synthesize
from manylabel.scale.training import ShardedTraining

FILES = 16
RECIPES = {
    "nb": Recipe.of("nb-binary"),
    "svm": Recipe.of("svm", {"decision": {"rule": "natural"}}),
}
"""Methods whose decision rule learns nothing: one fit, as each of the folds of others is."""


def write_corpus(folder: Path, size: Size) -> ShardedCorpus:
    """A made-up corpus in several files, each of them a shard."""
    whole = folder / "whole.jsonl"
    synthesize(whole, size)
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "corpus").mkdir()
    step = -(-len(lines) // FILES)
    for number in range(FILES):
        part = lines[number * step : (number + 1) * step]
        (folder / "corpus" / f"{number:02d}.jsonl").write_text("".join(part), encoding="utf-8")
    return ShardedCorpus.of(folder / "corpus")


def train(corpus: ShardedCorpus, method: str, engine: Engine, folder: Path) -> bytes:
    """The model file of a training."""
    path = folder.with_suffix(".manylabel")
    ShardedTraining(corpus, RECIPES[method], folder, engine, n_jobs=1).run().save(path)
    return path.read_bytes()


def measured(corpus: ShardedCorpus, method: str, client: Any, folder: Path) -> tuple[bytes, dict[str, float]]:
    """The model file of a training on a cluster, and what it took."""
    before, own, began = client.run(time.process_time), time.process_time(), time.perf_counter()
    found = train(corpus, method, DaskEngine(client), folder)
    seconds, here = time.perf_counter() - began, time.process_time() - own
    workers = [after - before[name] for name, after in client.run(time.process_time).items()]
    return found, {"wall": seconds, "here": here, "workers": sum(workers), "busiest": max(workers)}


def killed(corpus: ShardedCorpus, method: str, client: Any, folder: Path) -> bytes:
    """The model file of a training during which a worker is killed: while shards are counted, or SVMs are solved."""
    process = min(client.run(os.getpid).values())
    begun = {"nb": "counts/shard-*", "svm": "fits/fit-*/labels-*"}[method]

    def kill() -> None:
        while not list(folder.glob(begun)):
            time.sleep(0.01)
        os.kill(process, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        return train(corpus, method, DaskEngine(client), folder)
    finally:
        killer.join()


def cluster(workers: int) -> Any:
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--labels", type=int, default=256)
    parser.add_argument("--methods", nargs="+", choices=RECIPES, default=list(RECIPES))
    given = parser.parse_args()
    different = 0
    with TemporaryDirectory() as place:
        folder = Path(place)
        corpus = write_corpus(folder, Size(given.documents, given.labels, terms=20_000))
        print(f"{given.documents:,} documents × {given.labels:,} labels in {len(corpus.shards)} shards; seconds\n")
        print(f"{'':6}{'workers':>8}{'wall':>8}{'here':>8}{'workers':>9}{'busiest':>9}{'by CPU':>8}  model")
        for method in given.methods:
            expected = train(corpus, method, SerialEngine(), folder / f"{method}-alone")
            for workers in (1, 2):
                with cluster(workers) as started, distributed.Client(started) as client:
                    found, took = measured(corpus, method, client, folder / f"{method}-{workers}")
                    by_cpu = (took["here"] + took["workers"]) / (took["here"] + took["busiest"])
                    times = f"{took['wall']:8.1f}{took['here']:8.1f}{took['workers']:9.1f}{took['busiest']:9.1f}"
                    same = [("", found == expected)]
                    if workers == 2:
                        again = killed(corpus, method, client, folder / f"{method}-killed")
                        same.append(("worker killed: ", again == expected))
                    words = ", ".join(what + ("equal" if equal else "DIFFERENT") for what, equal in same)
                    different += not all(equal for _, equal in same)
                    print(f"{method:6}{workers:8}{times}{by_cpu:8.2f}  {words}", flush=True)
    return different


if __name__ == "__main__":
    sys.exit(main())
