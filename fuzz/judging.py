"""One input judged: refused, read, or a find."""

from __future__ import annotations

import hashlib
import os
import sys
import traceback
from enum import StrEnum
from pathlib import Path

from fuzz.targets.base import Target
from manylabel.exceptions import ManylabelError

MEMORY = 1 << 30
"""The most bytes that reading one input may allocate."""
SECONDS = 5.0
"""The most seconds of CPU time that one input may take."""
PATIENCE = 60.0
"""The most seconds by the clock: an input that waits for something uses no CPU time."""
SHOWN = 2000


class Verdict(StrEnum):
    """What became of an input. All but the first two are finds."""

    REFUSED = "refused"
    READ = "read"
    SIGNAL = "signals"
    HANG = "hangs"
    ALLOCATION = "allocations"
    FOREIGN = "foreign"


FINDS = (Verdict.SIGNAL, Verdict.HANG, Verdict.ALLOCATION, Verdict.FOREIGN)


def judge(target: Target, data: bytes) -> tuple[Verdict, BaseException | None]:
    """The verdict on an input, and the error behind it; a crash or a hang ends the process instead."""
    try:
        target.run(data)
    except ManylabelError as error:
        return (Verdict.ALLOCATION, error) if _ran_out_of_memory(error) else (Verdict.REFUSED, error)
    except BaseException as error:
        return (Verdict.ALLOCATION, error) if _ran_out_of_memory(error) else (Verdict.FOREIGN, error)
    return Verdict.READ, None


def _ran_out_of_memory(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def limit_memory() -> None:
    """Let this process allocate no more than `MEMORY` bytes beyond what it has."""
    import resource  # Windows has no such module, and tests import this one there

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def signature(error: BaseException) -> str:
    """The type of an error and the line of manylabel that raised it: finds with the same one are shown once."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "manylabel" in frame.filename] or list(frames[-1:])
    place = f"{Path(ours[-1].filename).name}-{ours[-1].lineno}" if ours else "nowhere"
    return f"{type(error).__name__}-{place}"


def save_find(folder: Path, target: str, kind: str, name: str, data: bytes, report: str) -> None:
    """Keep an input that is a find, unless one like it is there, with a report and the command that runs it again."""
    path = folder / target / f"{kind}-{name}"
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    again = f"python -m fuzz.replay {os.path.relpath(path)}"
    path.with_name(path.name + ".txt").write_text(f"{again}\n\n{report}\n", encoding="utf-8", errors="replace")


def report_of(error: BaseException) -> str:
    """The traceback of an error, its beginning and end."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) < 4 * SHOWN else f"{text[:SHOWN]}\n…\n{text[-SHOWN:]}"


def short_hash(data: bytes) -> str:
    """A name for an input."""
    return hashlib.sha256(data).hexdigest()[:12]


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
