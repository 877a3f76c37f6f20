"""A guard that ends work once this process and its workers hold much more memory than they may (on Linux)."""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from manylabel.exceptions import UnsupportedError
from manylabel.memory import bytes_of, megabytes
from manylabel.scale.in_memory import FIXED_MEMORY
from manylabel.wording import setting_name

INTERVAL = 0.2
"""Seconds between two looks at the memory."""
TOLERANCE = 1.1
"""How many times the limit may be held: estimates and limits are not that exact."""
PROCESSES = Path("/proc")


def resident_bytes(process: int | str = "self") -> int:
    """The resident memory of a process and of all that it started; 0 where the system does not tell."""
    place, total = PROCESSES / str(process), 0
    with suppress(OSError, ValueError, IndexError):  # the process may end meanwhile
        total = int((place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for thread in (place / "task").iterdir():
            total += sum(resident_bytes(child) for child in (thread / "children").read_text().split())
    return total


@contextmanager
def limited_memory(memory: str | int | None, remedy: str) -> Iterator[None]:
    """Interrupt the enclosed block and raise an error once more memory than `memory`, by more than 10 %, is held.

    What the process held before, beyond the program itself, does not count. None is no limit. Only the main thread of a
    process can be interrupted; in others, and where the system does not tell what is held, nothing happens.
    """
    if memory is None or threading.current_thread() is not threading.main_thread() or not resident_bytes():
        yield
        return
    guard = _Guard(bytes_of(memory))
    try:
        try:
            guard.thread.start()
            yield
        finally:
            guard.end()
    except KeyboardInterrupt:
        if not guard.held:
            raise
    if guard.held:
        raise UnsupportedError(
            f"The work took {megabytes(guard.held)} of memory, more than the {megabytes(guard.limit)} that "
            f"{setting_name('memory')} allows, and was ended. {remedy}"
        )


class _Guard:
    """Looks at the memory from a thread of its own; `held` is what was found once that is too much."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0.0
        self.thread = threading.Thread(target=self._watch, daemon=True, name="memory guard")
        self._before = max(resident_bytes() - FIXED_MEMORY, 0)
        self._ended = threading.Event()

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            held = resident_bytes() - self._before
            if held > TOLERANCE * self.limit:
                self.held = held
                _thread.interrupt_main()
                return

    def end(self) -> None:
        """End the thread; an interruption that is still to come comes here."""
        self._ended.set()
        self.thread.join()
        time.sleep(0.05 if self.held else 0)
