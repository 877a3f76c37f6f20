"""A limit of memory while work runs: too much ends it with an error, memory of other processes counts too."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from manylabel.exceptions import UnsupportedError
from manylabel.scale import memory_guard
from manylabel.scale.in_memory import FIXED_MEMORY
from manylabel.scale.memory_guard import limited_memory, resident_bytes

pytestmark = pytest.mark.skipif(not resident_bytes(), reason="the system does not tell what memory is held")
MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_guard, "INTERVAL", 0.01)


def limit_of(megabytes: int) -> int:
    """A limit that leaves so much beyond what this process holds now."""
    return int((min(resident_bytes(), FIXED_MEMORY) + megabytes * MEGABYTE) / memory_guard.TOLERANCE)


def hold(megabytes: int, seconds: float) -> int:
    """Hold memory, all of it written to, for some seconds."""
    held = np.ones(megabytes * MEGABYTE // 8)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)
    return len(held)


def test_too_much_memory_ends_the_work() -> None:
    message = r"more than the [\d,]+ MB that memory allows.*Do this\."
    with pytest.raises(UnsupportedError, match=message), limited_memory(limit_of(50), "Do this."):
        hold(150, 20)
    assert not [thread for thread in threading.enumerate() if thread.name == "memory guard"]


def test_work_within_the_limit_is_not_ended() -> None:
    with limited_memory(limit_of(300), "Do this."):
        assert hold(100, 0.1)
    with limited_memory(None, "Do this."):
        assert hold(20, 0.05)


def test_an_interruption_by_the_user_stays_one() -> None:
    with pytest.raises(KeyboardInterrupt), limited_memory(limit_of(300), "Do this."):
        raise KeyboardInterrupt


def test_the_memory_of_other_processes_counts() -> None:
    before = resident_bytes()
    code = f"held = bytearray(b'x') * {100 * MEGABYTE}; print(len(held), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert resident_bytes() - before > 95 * MEGABYTE
        process.kill()
