"""Run one input again: ``python -m fuzz.replay build/fuzz/finds/TARGET/FILE``; the folder names the target."""

from __future__ import annotations

import signal
import sys
import time
import traceback
from pathlib import Path

from fuzz.judging import FINDS, PATIENCE, judge, limit_memory, say
from fuzz.targets import TARGETS


def main() -> int:
    """Print the verdict on every file given, with the traceback of a find; 1 if there is one."""
    limit_memory()
    found = False
    for path in map(Path, sys.argv[1:]):
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        began = time.perf_counter()
        verdict, error = judge(TARGETS[path.parent.name], path.read_bytes())
        say(f"{path}: {verdict.value} in {time.perf_counter() - began:.2f} s{'' if error is None else f': {error}'}")
        if verdict in FINDS and error is not None:
            traceback.print_exception(error)
        found = found or verdict in FINDS
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
