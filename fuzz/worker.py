"""Worker processes: each is forked, runs a range of inputs, and may die of any of them."""

from __future__ import annotations

import faulthandler
import gc
import mmap
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.judging import (
    PATIENCE,
    SECONDS,
    Verdict,
    judge,
    limit_memory,
    report_of,
    save_find,
    short_hash,
    signature,
)
from fuzz.targets.base import Target

RESTART = 3
"""The exit code of a worker that used up its memory."""
ORDER = tuple(Verdict)


@dataclass(slots=True)
class Tally:
    """Numbers that a worker writes and its parent reads: the current input, and how many had each verdict."""

    cells: memoryview = field(default_factory=lambda: memoryview(mmap.mmap(-1, 4096)).cast("q"))

    @property
    def current(self) -> int:
        """The number of the input that is being read."""
        return self.cells[0]

    def begin(self, index: int) -> None:
        """Note that an input is about to be read."""
        self.cells[0] = index

    def count(self, verdict: Verdict) -> None:
        """Count an input."""
        self.cells[1 + ORDER.index(verdict)] += 1

    def of(self, verdict: Verdict) -> int:
        """How many inputs had a verdict."""
        return self.cells[1 + ORDER.index(verdict)]


@dataclass(frozen=True, slots=True)
class Work:
    """A target with its seeds, and where finds are kept."""

    target: Target
    seeds: list[bytes]
    seed: int
    finds: Path
    deadline: float
    """When to stop, by the monotonic clock."""


def fork(work: Work, indices: range, tally: Tally, log: Path) -> int:
    """Start a worker on some inputs; returns its process id."""
    gc.freeze()
    return in_child(lambda: _run(work, indices, tally), log)


def in_child(action: Callable[[], None], log: Path) -> int:
    """Fork a process that does something, with its output in a file, and then ends; returns its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        warnings.simplefilter("ignore")
        action()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _run(work: Work, indices: range, tally: Tally) -> None:
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)
    faulthandler.register(signal.SIGALRM, chain=True)
    limit_memory()
    for index in indices:
        if time.monotonic() > work.deadline:
            return
        tally.begin(index)
        data = work.target.input(work.seeds, work.seed, index)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        verdict, error = judge(work.target, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        tally.count(verdict)
        if error is not None and verdict is not Verdict.REFUSED:
            name = signature(error) if verdict is Verdict.FOREIGN else short_hash(data)
            save_find(work.finds, work.target.name, verdict.value, name, data, report_of(error))
            if verdict is Verdict.ALLOCATION:
                sys.exit(RESTART)
