"""Run the fuzzers: ``python -m fuzz.run [--seconds S | --inputs N] [--only NAME …] [--seed N] [--jobs N]``."""

from __future__ import annotations

import os

# Before any library starts threads or reserves memory of its own.
os.environ |= {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
}

import argparse
import importlib
import math
import shutil
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.judging import FINDS, Verdict, save_find, say, short_hash
from fuzz.targets import TARGETS
from fuzz.targets.base import Target, scratch
from fuzz.worker import RESTART, Tally, Work, fork, in_child

CHUNK = 1000
"""Inputs per worker process; a new one is forked for the next ones."""
FOREVER = 10**12
HANGS = (signal.SIGPROF, signal.SIGALRM)
MANY = 200
"""Signals and hangs after which a target is given up."""


@dataclass(slots=True)
class Row:
    """The figures of one target."""

    target: str
    seconds: float = 0.0
    counts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))

    @property
    def inputs(self) -> int:
        """How many inputs were run."""
        return sum(self.counts.values())

    @property
    def finds(self) -> int:
        """How many of them are finds."""
        return sum(self.counts[verdict] for verdict in FINDS)

    def line(self) -> str:
        """The row as text."""
        cells = "".join(f"{self.counts[verdict]:>12,}" for verdict in Verdict)
        rate = self.inputs / self.seconds if self.seconds else 0.0
        return f"{self.target:<16}{self.inputs:>11,}{cells}{rate:>10,.0f}"


HEAD = f"{'target':<16}{'inputs':>11}" + "".join(f"{verdict.value:>12}" for verdict in Verdict) + f"{'per s':>10}"


def arguments() -> argparse.Namespace:
    """How long to run, what, and how."""
    parser = argparse.ArgumentParser(description="Fuzz everything that manylabel reads.")
    parser.add_argument("--seconds", type=float, default=600.0, help="the time for all targets together")
    parser.add_argument("--inputs", type=int, help="this many inputs for all targets together, however long it takes")
    parser.add_argument("--only", nargs="+", choices=sorted(TARGETS), help="only these targets")
    parser.add_argument("--seed", type=int, default=0, help="another number makes other inputs")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where seeds, logs and finds are kept")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    return parser.parse_args()


def main() -> int:
    """Run every target in turn, print a table; 1 if there is any find."""
    asked = arguments()
    names = asked.only or list(TARGETS)
    for made in ("finds", "seeds", "logs"):
        shutil.rmtree(asked.folder / made, ignore_errors=True)
        (asked.folder / made).mkdir(parents=True)
    scratch()
    say(HEAD)
    rows: list[Row] = []
    for name in names:
        part = TARGETS[name].share / sum(TARGETS[one].share for one in names)
        inputs = FOREVER if asked.inputs is None else math.ceil(asked.inputs * part)
        seconds = asked.seconds / len(names) if asked.inputs is None else float("inf")
        rows.append(fuzz(TARGETS[name], inputs, seconds, asked))
        say(rows[-1].line())
    total = Row("all", sum(row.seconds for row in rows))
    for row in rows:
        total.counts = {verdict: total.counts[verdict] + row.counts[verdict] for verdict in Verdict}
    say(total.line())
    for path in sorted((asked.folder / "finds").glob("*/*.txt")):
        say(f"{path.parent.name}: {last_line(path)}\n    {path.read_text(encoding='utf-8').partition(chr(10))[0]}")
    return 1 if total.finds else 0


def last_line(path: Path) -> str:
    """The last line of a report: the error."""
    return (path.read_text(encoding="utf-8").strip().splitlines() or [""])[-1][:200]


def fuzz(target: Target, inputs: int, seconds: float, asked: argparse.Namespace) -> Row:
    """Run one target in several worker processes at a time."""
    seeds = prepare(target, asked.folder)
    row, began, start = Row(target.name), time.monotonic(), 0
    work = Work(target, seeds, asked.seed, asked.folder / "finds", began + seconds)
    idle = [(Tally(), asked.folder / "logs" / f"{job}.txt") for job in range(asked.jobs)]
    busy: dict[int, tuple[Tally, Path, range]] = {}
    todo: list[range] = []
    tallies = [tally for tally, _ in idle]
    while True:
        stop = time.monotonic() >= work.deadline or row.counts[Verdict.SIGNAL] + row.counts[Verdict.HANG] >= MANY
        while idle and not stop and (todo or start < inputs):
            if not todo:
                todo.append(range(start, min(start + CHUNK, inputs)))
                start = todo[0].stop
            (tally, log), indices = idle.pop(), todo.pop()
            busy[fork(work, indices, tally, log)] = (tally, log, indices)
        if not busy:
            break
        pid, status = os.wait()
        tally, log, indices = busy.pop(pid)
        idle.append((tally, log))
        if os.WIFSIGNALED(status):
            note_death(work, row, tally.current, os.WTERMSIG(status), log)
        elif os.WEXITSTATUS(status) not in (0, RESTART):
            sys.exit(f"{target.name}: a worker failed at input {tally.current}:\n{log.read_text()[-2000:]}")
        if (os.WIFSIGNALED(status) or os.WEXITSTATUS(status)) and tally.current + 1 < indices.stop:
            todo.append(range(tally.current + 1, indices.stop))
    for tally in tallies:
        for verdict in Verdict:
            row.counts[verdict] += tally.of(verdict)
    row.seconds = time.monotonic() - began
    return row


def note_death(work: Work, row: Row, index: int, number: int, log: Path) -> None:
    """Count and keep the input that ended a worker by a signal."""
    verdict = Verdict.HANG if number in HANGS else Verdict.SIGNAL
    row.counts[verdict] += 1
    data = work.target.input(work.seeds, work.seed, index)
    report = (
        f"input {index} of seed {work.seed}\n{log.read_text(errors='replace')[-3000:]}\n{signal.Signals(number).name}"
    )
    save_find(work.finds, work.target.name, verdict.value, short_hash(data), data, report)


def prepare(target: Target, base: Path) -> list[bytes]:
    """The seeds of a target, made in a process of their own, so that this one has no threads when it forks workers.

    All seeds are run there as well; the modules that this imports are then imported here, once for all workers.
    """
    folder, log = base / "seeds" / target.name, base / "logs" / f"seeds-{target.name}.txt"
    folder.mkdir(parents=True, exist_ok=True)
    before = set(sys.modules)

    def make() -> None:
        for number, seed in enumerate(target.seeds()):
            (folder / f"{number:03}").write_bytes(seed)
            target.input([seed], 0, 1)
            try:
                target.run(seed)
            except Exception as error:
                say(f"seed {number}: {type(error).__name__}: {error}")
        (folder.parent / f"{target.name}.modules").write_text("\n".join(sorted(set(sys.modules) - before)))

    _, status = os.waitpid(in_child(make, log), 0)
    if status:
        sys.exit(f"{target.name}: the seeds cannot be made:\n{log.read_text()[-2000:]}")
    for name in (folder.parent / f"{target.name}.modules").read_text().split():
        if not name.startswith(("__", "pyximport")):
            try:
                importlib.import_module(name)
            except ImportError:
                continue  # a part of a package that is not a module of its own
    return [path.read_bytes() for path in sorted(folder.iterdir())]


if __name__ == "__main__":
    sys.exit(main())
