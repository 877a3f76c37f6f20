"""Sizes of memory such as 2GB, and a limit for tables of scores: half of the free memory by default."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from manylabel.exceptions import ParameterError

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
LEAST_WITHOUT_UNIT = 10**6
"""A text that is a smaller number without a unit is refused: ``--memory 250`` does not mean 250 bytes."""
COPIES = 16
"""How many tables as large as one of scores a limit leaves room for: rules and calibrations hold some of them at a
time, beside the documents and the model."""


NO_MEMORY_WORDS = ("failed to map segment", "cannot allocate memory", "can't start new thread")
"""Words of errors that come from loading a library or starting a thread."""


def lacks_memory(error: BaseException) -> bool:
    """Whether an error means that the process got no more memory.

    >>> lacks_memory(MemoryError()), lacks_memory(RuntimeError("can't start new thread")), lacks_memory(KeyError())
    (True, True, False)
    """
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    words = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, (ImportError, RuntimeError)) and any(one in words for one in NO_MEMORY_WORDS)
    )


def bytes_of(size: str | int) -> int:
    """A size in bytes: a number, or a text such as 2GB, 500MB or 1.5g; a text without a unit is from a million on.

    >>> bytes_of("2GB"), bytes_of("1.5g"), bytes_of("500 MB"), bytes_of(4096)
    (2147483648, 1610612736, 524288000, 4096)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", str(size).strip().lower())
    number = 0 if found is None else int(float(found[1]) * _UNITS[found[2]])
    bare = isinstance(size, str) and size.strip().replace(".", "").isdecimal()
    if number <= 0 or (bare and number < LEAST_WITHOUT_UNIT):
        raise ParameterError(f"A size of memory is written 500MB, 2GB or 1.5GB, and is above 0; not {size!r}.")
    return number


def megabytes(size: float) -> str:
    """A size as it is printed, in the megabytes of ``--memory``: of 2²⁰ bytes.

    >>> megabytes(bytes_of("1.5GB")), megabytes(300_000)
    ('1,536 MB', '1 MB')
    """
    return f"{max(1, round(size / 2**20)):,} MB"


def free_bytes() -> int:
    """The free memory of the machine, or of the container where that has less."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    table = Path("/proc/meminfo")
    if table.exists() and (found := re.search(r"^MemAvailable:\s+(\d+) kB", table.read_text(), re.MULTILINE)):
        free = 1024 * int(found[1])
    limit, used = (Path(f"/sys/fs/cgroup/memory.{name}") for name in ("max", "current"))
    if limit.exists() and used.exists() and (most := limit.read_text().strip()).isdigit():
        free = min(free, max(0, int(most) - int(used.read_text())))
    return free


def table_bytes(memory: str | int | None, most: int) -> int:
    """The bytes that one table of scores may take within a limit of memory, at most `most`.

    >>> table_bytes("1MB", 10**9), table_bytes("64GB", 10**9)
    (65536, 1000000000)
    """
    limit = free_bytes() // 2 if memory is None else bytes_of(memory)
    return max(1, min(most, limit // COPIES))
