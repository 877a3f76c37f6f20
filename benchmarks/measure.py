"""Alternating measurement: every candidate in a fresh process of its own, all of a path asked in turn, round by round.

In a round each candidate gets a new process, which imports and reads its inputs off the clock. Then they work one after
another: first calls of all, later calls of all. So a slow minute of the machine hits all of them alike, nothing is warm
on a first call, and no candidate sees another's memory. The order is turned round from round to round.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Agreement, Candidate, HotPath
from benchmarks.peers import BY_NAME, ROOT, Presence, last_line
from benchmarks.samples import Record, Sample

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """How often to measure: fresh processes, later calls in each, and whether some candidates are left out.

    A path that has already taken `patience` seconds goes on with its rounds of first calls, without later ones.
    """

    rounds: int
    later: int
    patience: float
    quick: bool

    def threads(self, candidate: Candidate) -> tuple[int, ...]:
        """The numbers of threads a candidate is measured with."""
        return candidate.quick if self.quick else candidate.threads


FULL = Plan(rounds=5, later=3, patience=600, quick=False)
QUICK = Plan(rounds=2, later=1, patience=10, quick=True)


class WorkerError(Exception):
    """A worker ended without an answer."""


class Worker:
    """The process of one candidate; see `benchmarks.worker`."""

    def __init__(self, path: HotPath, candidate: Candidate, threads: int, inputs: Inputs, log: Path) -> None:
        self.log = log
        names = ("OMP", "OPENBLAS", "MKL", "RAYON")
        limits = {f"{name}_NUM_THREADS": str(threads) for name in names}
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [
                    BY_NAME[candidate.peer].python,
                    *("-W", "ignore", "-m", "benchmarks.worker"),
                    *(path.name, candidate.name, str(threads), str(inputs.folder)),
                ],
                cwd=ROOT,
                env={**os.environ, **limits, "OMP_WAIT_POLICY": "passive"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()  # the worker reads to the end of its input, then ends
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def hear(self) -> dict[str, Any]:
        """The worker's next report."""
        line = self.process.stdout.readline() if self.process.stdout is not None else ""
        if not line:
            self.process.wait()
            raise WorkerError(f"failed: {last_line(self.log.read_text(errors='replace')) or 'no word'}")
        report: dict[str, Any] = json.loads(line)
        return report

    def hear_if_alive(self) -> dict[str, Any]:
        """The worker's next report, or what it died of as the reason of its absence."""
        try:
            return self.hear()
        except WorkerError as error:
            return {"absent": str(error)}

    def tell(self, command: str) -> dict[str, Any]:
        """Give a command and hear the report."""
        if self.process.stdin is not None:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        return self.hear()

    def run(self) -> Sample:
        """One timed call."""
        report = self.tell("run")
        return Sample(report["wall"], report["cpu"], report["peak"])


def measure(
    path: HotPath, inputs: Inputs, plan: Plan, presence: dict[str, Presence], scratch: Path
) -> tuple[dict[Key, Record], dict[tuple[Key, Key], Agreement]]:
    """All records of a path, and whether our answers are those of each peer."""
    records: dict[Key, Record] = {}
    for candidate in path.candidates:
        for threads in candidate.threads:
            record = Record(path.name, candidate.name, threads)
            if presence[candidate.peer].version is None:
                record.missing = f"absent: {presence[candidate.peer].reason}"
            elif threads not in plan.threads(candidate):
                record.missing = "left out of a quick run"
            records[candidate.name, threads] = record
    deadline = time.monotonic() + plan.patience
    for number in range(plan.rounds):
        present = [record for record in records.values() if not record.missing]
        if any(record.name == OURS for record in present):
            measure_round(path, inputs, present, plan.later, deadline, scratch, number)
    return records, compare(path, inputs, records, scratch)


def measure_round(
    path: HotPath,
    inputs: Inputs,
    records: Sequence[Record],
    later: int,
    deadline: float,
    scratch: Path,
    number: int,
) -> None:
    """One round: a fresh process for each record, then calls in turn; answers are kept in the first round."""
    workers: dict[Key, Worker] = {}
    try:
        for record in records:  # they make ready side by side, for that is not timed
            log = scratch / f"{path.name}-{record.name}-{record.threads}.log"
            workers[record.name, record.threads] = Worker(
                path, path.candidate(record.name), record.threads, inputs, log
            )
        for record in records:
            _make_ready(record, workers[record.name, record.threads])
        if all(record.missing for record in records if record.name == OURS):
            return  # nothing to compare the others with
        order = list(records) if number % 2 == 0 else list(reversed(records))
        for turn in range(1 + later):
            if turn > 0 and time.monotonic() > deadline:
                break
            for record in order:
                if not record.missing:
                    _call(record, workers[record.name, record.threads], turn == 0)
        for record in records if number == 0 else ():
            if not record.missing:
                _keep_answer(record, workers[record.name, record.threads], scratch)
    finally:
        for worker in workers.values():
            worker.__exit__(None, None, None)


def _make_ready(record: Record, worker: Worker) -> None:
    report = worker.hear_if_alive()
    record.missing = report.get("absent", "")
    if not record.missing:
        record.imports.append(report["imports"])


def _call(record: Record, worker: Worker, first: bool) -> None:
    try:
        (record.first if first else record.later).append(worker.run())
    except (WorkerError, BrokenPipeError) as failure:
        record.missing = str(failure)


def _keep_answer(record: Record, worker: Worker, scratch: Path) -> None:
    try:
        worker.tell(f"answer {_answer_file(scratch, record)}")
    except (WorkerError, BrokenPipeError) as failure:
        record.missing = str(failure)


def _answer_file(scratch: Path, record: Record) -> Path:
    return scratch / f"{record.path}-{record.name}-{record.threads}.npz".replace(" ", "_")


def compare(
    path: HotPath, inputs: Inputs, records: dict[Key, Record], scratch: Path
) -> dict[tuple[Key, Key], Agreement]:
    """Whether each of our answers is each peer's, before any ratio is made of their times."""
    answers = {}
    for key, record in records.items():
        if record.first and not record.missing:
            with np.load(_answer_file(scratch, record)) as arrays:
                answers[key] = dict(arrays)
            record.remark = path.extra(answers[key], inputs)
    found = {}
    for ours, theirs in ((a, b) for a in answers for b in answers if a[0] == OURS != b[0]):
        if path.candidate(theirs[0]).same_method:
            found[ours, theirs] = path.agree(answers[ours], answers[theirs], inputs)
        else:
            found[ours, theirs] = Agreement(None, "another method")
    return found
