"""Run the benchmark: ``python -m benchmarks.run [--quick] [--only PATH …] [--output FOLDER]``."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import growth as growing
from benchmarks import many_labels, trees
from benchmarks.inputs import Inputs, write_reuters
from benchmarks.measure import FULL, QUICK, measure
from benchmarks.paths import NAMES, hot_path
from benchmarks.peers import find_all
from benchmarks.report import Row, rows_of, write
from benchmarks.synthetic import Size, write_synthetic

LIKE_REUTERS = Size(documents=9_603, labels=90, terms=27_000)
GROWTH = "growth"
TREES = "trees"
"""Takes hours, so it is run only when asked for."""


def arguments() -> argparse.Namespace:
    """What to run and where to put it."""
    parser = argparse.ArgumentParser(description="manylabel against its peers.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, peers and sizes: under 3 minutes")
    special = (GROWTH, TREES, many_labels.NAME)
    parser.add_argument("--only", nargs="+", choices=(*NAMES, *special), help="only these")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def main() -> None:
    """Prepare inputs, measure path after path, print and keep the report."""
    asked = arguments()
    plan, began = (QUICK if asked.quick else FULL), time.perf_counter()
    wanted = asked.only or [*NAMES, GROWTH]
    if many_labels.NAME in wanted:
        most = many_labels.FEW if asked.quick else None
        keep(asked.output, many_labels.NAME, lambda: many_labels.measure(threads=1, most=most))
    if TREES in wanted:
        with TemporaryDirectory(prefix="manylabel-bench-") as folder:
            keep(asked.output, TREES, lambda: trees.report(Path(folder), asked.quick))
    if set(wanted) <= {TREES, many_labels.NAME}:
        return
    presence = find_all()
    rows: list[Row] = []
    with TemporaryDirectory(prefix="manylabel-bench-") as folder:
        scratch = Path(folder)
        inputs = prepare(scratch / "inputs")
        facts = {**machine(), "data": inputs.facts["name"], "run": "quick" if asked.quick else "full"}
        facts |= {"rounds": plan.rounds, "later calls a round": plan.later}
        for name in (name for name in NAMES if name in wanted):
            say(f"{name}: {hot_path(name).title}")
            path = hot_path(name)
            records, agreements = measure(path, inputs, plan, presence, scratch)
            rows += rows_of(path, records, agreements)
        points: list[growing.Point] = []
        paths = [hot_path(name) for name in NAMES]
        if GROWTH in wanted:
            for point in growing.grow(paths, growing.QUICK_SIZES if asked.quick else growing.FULL_SIZES, scratch):
                say(f"growth: {point}")
                points.append(point)
    facts["load at the end"] = load()
    facts["minutes"] = round((time.perf_counter() - began) / 60, 1)
    facts["peers"] = {name: str(found) for name, found in presence.items()}
    print(write(asked.output, rows, growing.fit_growth(points, paths), facts))
    print(f"Kept in {asked.output}: bench.txt, bench.json, bench.png")


def keep(folder: Path, name: str, measured: Callable[[], str]) -> None:
    """Measure, print the tables, and keep them with the facts of the machine in a text file of that name."""
    facts = machine()
    facts["peers"] = ", ".join(f"{peer} {found}" for peer, found in find_all().items())
    tables = measured()
    facts["load at the end"] = load()
    folder.mkdir(exist_ok=True)
    said = "\n".join(f"{key}: {value}" for key, value in facts.items())
    (folder / f"{name}.txt").write_text(f"{tables}\n\n{said}\n")
    print(tables)


def prepare(folder: Path) -> Inputs:
    """Reuters-21578 where it is at hand; made-up texts of its size otherwise, and the report says so."""
    folder.mkdir()
    say("preparing inputs")
    if not write_reuters(folder):
        write_synthetic(folder, LIKE_REUTERS)
    return Inputs(folder)


def machine() -> dict[str, Any]:
    """Where and when; a machine that was busy before the run says so."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    info = Path("/proc/cpuinfo")
    models = [
        line.partition(":")[2].strip()
        for line in (info.read_text().splitlines() if info.exists() else ())
        if line.startswith("model name")
    ]
    return {
        "when": datetime.now(UTC).isoformat(timespec="minutes"),
        "machine": f"{models[0] if models else platform.processor()}, {cores} cores, {platform.system()}",
        "Python": platform.python_version(),
        "load at the start": load(),
    }


def load() -> str:
    """The load of the last minute, which tells whether others were using the machine."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def say(what: str) -> None:
    """Tell how far we are."""
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
