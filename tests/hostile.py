"""Run a command on a file from a stranger in a process of its own, within limits of time and memory."""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SECONDS = 5
MEGABYTES = 500
CPU_SECONDS = 40
"""What a process may take at most, for several files."""
PATIENCE = 120
"""Seconds by the clock after which a process that waits for something is ended."""


@dataclass(frozen=True)
class Answer:
    """What a command printed, its exit code, and what it took."""

    code: int
    output: str
    errors: str
    cpu_seconds: float
    megabytes: float

    def check(self) -> "Answer":
        """Fail unless the command kept the limits, and ended with success or with one sentence."""
        assert self.code in (0, 2), self
        assert "Traceback" not in self.errors, self.errors
        assert self.cpu_seconds < SECONDS, self
        assert self.megabytes < MEGABYTES, self
        return self

    def refuse(self, *words: str) -> "Answer":
        """Fail unless the command kept the limits and ended with a sentence that has these words."""
        self.check()
        assert self.code == 2, self
        assert all(word in self.errors for word in words), self.errors
        return self


def run(
    *command: str | Path,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    program: tuple[str, ...] = ("-m", "manylabel"),
) -> Answer:
    """Run a command of manylabel (or another program of Python); `before` runs in the new process, before it."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        if before is not None:
            before()

    variables = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
    out, err = folder / "output.captured", folder / "errors.captured"
    with out.open("wb") as output, err.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, *program, *map(str, command)],
            stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env=variables, preexec_fn=limited,
        )  # fmt: skip
        usage, megabytes = _wait(process.pid)
    process.returncode = os.waitstatus_to_exitcode(usage[1])
    answer = Answer(
        process.returncode,
        out.read_text(errors="replace"),
        err.read_text(errors="replace"),
        usage[2].ru_utime + usage[2].ru_stime,
        megabytes,
    )
    out.unlink()
    err.unlink()
    return answer


def _wait(pid: int) -> tuple[tuple[int, int, resource.struct_rusage], float]:
    """Wait for a process, which is ended when it takes too long; return what it used, and its peak of memory in MB.

    The peak is read while it runs: the one that the system reports at the end is at least that of the process that
    started it.
    """
    end, megabytes = time.monotonic() + PATIENCE, 0.0
    while True:
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            megabytes = int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
        found = os.wait4(pid, os.WNOHANG)
        if found[0]:
            return found, megabytes
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            return os.wait4(pid, 0), megabytes
        time.sleep(0.02)


def without_privileges() -> None:
    """Give up, in a new process, what lets root read and write files whatever their permissions."""
    if os.getuid() == 0:
        library = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
            assert library.prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


READER = """
import json, sys, time
from pathlib import Path
from manylabel.data import load
from manylabel.exceptions import ManylabelError
for path in sys.argv[1:]:
    began, found = time.process_time(), None
    try:
        load(path)
    except ManylabelError as error:
        found = str(error)
    print(json.dumps([Path(path).name, found, time.process_time() - began]), flush=True)
"""


def read_all(paths: Iterable[Path], folder: Path) -> dict[str, str | None]:
    """Read files in one process within the limits: for each the sentence of the error, or None where it was read.

    Anything but an error of manylabel ends the process and fails.
    """
    answer = run(*paths, folder=folder, program=("-c", READER))
    assert answer.code == 0, answer
    assert answer.megabytes < MEGABYTES, answer
    rows = [json.loads(line) for line in answer.output.splitlines()]
    assert not [row for row in rows if row[2] > SECONDS]
    return {name: found for name, found, _ in rows}
