"""One candidate in a process of its own: imports, reads its inputs, then works when told to, and reports each time.

Started by `benchmarks.measure` with the interpreter of the candidate's environment. Speaks JSON lines: commands on
standard input, reports on what was standard output; whatever libraries print goes to standard error.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths import hot_path
from benchmarks.paths.contract import Job, NotThereYetError


def main() -> None:
    """Make ready, then serve commands until the input ends."""
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    path_name, candidate_name, threads, folder = sys.argv[1:]
    candidate = hot_path(path_name).candidate(candidate_name)
    try:
        start = time.perf_counter()
        for module in candidate.modules:
            importlib.import_module(module)
        imports = time.perf_counter() - start
        job = candidate.make(Inputs(Path(folder)), int(threads))
    except (ImportError, NotThereYetError) as error:
        # Of our own, a module that is missing is one that nobody has written yet.
        _say(reports, {"absent": f"not there yet ({error})" if candidate.peer == "manylabel" else str(error)})
        return
    _say(reports, {"imports": imports, "at rest": memory("VmRSS")})
    serve(job, reports)


def serve(job: Job, reports: TextIO) -> None:
    """Run the job at each "run"; keep its last answer in a file at "answer <path>"."""
    result: Any = None
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "run":
            result = None  # what the last call made must not count for this one
            gc.collect()
            result, report = timed(job)
            _say(reports, report)
        else:
            np.savez(argument, **job.answer(result))
            _say(reports, {"answer": argument})


def timed(job: Job) -> tuple[Any, dict[str, float]]:
    """Run once: seconds on the wall, seconds of CPU, and the most memory (bytes) the process had meanwhile."""
    forget_peak()
    cpu, wall = cpu_seconds(), time.perf_counter()
    result = job.run()
    wall = time.perf_counter() - wall
    return result, {"wall": wall, "cpu": cpu_seconds() - cpu, "peak": memory("VmHWM")}


def cpu_seconds() -> float:
    """CPU time of this process, of children that ended, and (to 10 ms) of those that still run, as joblib's do."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return own + sum(_ticks(pid) for pid in descendants()) / os.sysconf("SC_CLK_TCK")


def memory(which: str) -> int:
    """Resident memory (VmRSS) or its peak since `forget_peak` (VmHWM) of this process and all below it, in bytes."""
    if not Path("/proc/self/status").exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return sum(_status(pid, which) for pid in (os.getpid(), *descendants()))


def forget_peak() -> None:
    """Start the peak of resident memory anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def descendants() -> list[int]:
    """The processes started by this one, by those, and so on."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # ended just now
    found, layer = [], [os.getpid()]
    while layer:
        layer = [pid for pid, parent in parents.items() if parent in layer]
        found += layer
    return found


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _status(pid: int, which: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{which}:")), 0)


def _say(reports: TextIO, report: dict[str, Any]) -> None:
    reports.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
