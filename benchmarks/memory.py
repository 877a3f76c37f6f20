"""CPU and wall seconds and peak memory of whole commands on corpora with many documents and labels.

    python -m benchmarks.memory
    python -m benchmarks.memory --quick
    python -m benchmarks.memory --only auto-2000,compare --keep FOLDER

Each case runs in a process of its own, which reads the file, does its work and writes a model or a report. The corpora
are those of `benchmarks.synthetic`, and debtags (in the folder `MANYLABEL_DATA`). `--keep` names a folder in which
corpora stay for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.synthetic import Size, draw
from manylabel.scale.memory_guard import resident_bytes
from manylabel.scale.synthesize import spelling

MEGABYTE = 2**20
INTERVAL = 0.05
"""Seconds between two looks at the memory."""
QUICK_SHARE = 20
"""By how much a quick run has fewer documents."""


@dataclass(frozen=True, slots=True)
class Case:
    """A command on a corpus, and what it may take."""

    name: str
    size: Size | None
    """The size of a made-up corpus; None for a command on real data."""
    command: tuple[str, ...]
    most_megabytes: int | None = None
    most_seconds: float | None = None


def train(*options: str) -> tuple[str, ...]:
    return ("train", "{data}", "--model", "{written}", *options)


def labels(data: str = "{data}") -> tuple[str, ...]:
    return ("labels", data, "--report", "{written}.html")


CASES = (
    Case("auto-50", Size(10_000, 50, 50_000), train()),
    Case("auto-2000-small", Size(10_000, 2_000, 50_000), train()),
    Case(
        "compare",
        Size(10_000, 2_000, 50_000),
        ("compare", "{data}", "--budget", "60s", "--model", "{written}"),
        None,
        66,
    ),
    Case("nb-2000", Size(50_000, 2_000, 50_000), train("--method", "nb"), 800),
    Case("auto-2000", Size(50_000, 2_000, 50_000), train(), 1536),
    Case("auto-20000", Size(20_000, 20_000, 50_000), train(), 3072),
    Case("labels-debtags", None, labels("debtags"), None, 30),
    Case("labels-5000", Size(50_000, 5_000, 50_000), labels(), 4096, 180),
    Case("labels-5000-each-10", Size(50_000, 5_000, 50_000, further_labels=9.0), labels(), 4096, 180),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a process took."""

    cpu: float
    wall: float
    megabytes: float
    written_megabytes: float
    status: int


def write_corpus(path: Path, size: Size) -> None:
    """Write the training documents of a made-up corpus as JSON lines; a label that no document has gets one."""
    drawn = draw(size)
    spelled = [spelling(term) for term in range(size.terms)]
    Y = drawn.Y[: size.documents]
    rows = [Y.indices[start:end].tolist() for start, end in pairwise(Y.indptr.tolist())]
    for label in np.flatnonzero(np.bincount(Y.indices, minlength=size.labels) == 0).tolist():
        rows[label % size.documents].append(label)
    with path.open("w") as file:
        for labels, (start, end) in zip(rows, pairwise(drawn.starts[: size.documents + 1].tolist()), strict=True):
            text = " ".join([spelled[term] for term in drawn.words[start:end].tolist()])
            file.write(json.dumps({"text": text, "labels": [f"label{k:05d}" for k in labels]}) + "\n")


def run(command: list[str], folder: Path) -> Measured:
    """Run manylabel in a process of its own and measure it, with the size of what it wrote to a folder.

    The time and the memory are those of all its processes together.
    """
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "manylabel", *command], stdout=subprocess.DEVNULL)
    peak = 0
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        peak = max(peak, resident_bytes(process.pid))
        time.sleep(INTERVAL)
    _, status, used = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    written = sum(file.stat().st_size for file in folder.iterdir())
    cpu = used.ru_utime + used.ru_stime
    most = max(peak / MEGABYTE, used.ru_maxrss / 1024)  # one process may peak between two looks
    return Measured(cpu, wall, most, written / MEGABYTE, process.returncode)


def measure(case: Case, folder: Path) -> Measured:
    """Write the corpus of a case, where it is not there yet, and run its command."""
    size = case.size
    data = folder
    if size is not None:
        data = folder / f"{size.documents}x{size.labels}x{1 + size.further_labels:g}.jsonl"
        if not data.exists():
            write_corpus(data, size)
    with TemporaryDirectory(dir=folder) as written:
        return run([part.format(data=data, written=Path(written) / "written") for part in case.command], Path(written))


def shown(case: Case, found: Measured) -> str:
    limits = []
    if case.most_megabytes is not None:
        limits.append(f"{case.most_megabytes:,} MB")
    if case.most_seconds is not None:
        limits.append(f"{case.most_seconds:g} s")
    size = "its own" if case.size is None else f"{case.size.documents:,} × {case.size.labels:,}"
    failed = "" if found.status == 0 else f" (exit code {found.status})"
    return (
        f"| {case.name}{failed} | {size} | {found.cpu:.0f} | {found.wall:.0f} "
        f"| {found.megabytes:,.0f} | {found.written_megabytes:,.0f} | {', '.join(limits) or '–'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the documents, a tenth of the labels")
    parser.add_argument("--only", help="names of cases, separated by commas: " + ", ".join(c.name for c in CASES))
    parser.add_argument("--keep", type=Path, help="a folder in which the corpora are kept")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else [case.name for case in CASES]
    print("| case | documents × labels | CPU s | wall s | peak MB | written MB | goal |\n|---|---|---|---|---|---|---|")
    with TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for case in CASES:
            if case.name not in wanted:
                continue
            size = case.size
            if options.quick and size is not None:
                smaller = replace(size, documents=size.documents // QUICK_SHARE, labels=max(size.labels // 10, 20))
                case = replace(case, size=smaller)
            print(shown(case, measure(case, folder)), flush=True)


if __name__ == "__main__":
    main()
