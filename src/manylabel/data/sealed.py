"""Copies of files that nobody can change, so that processes can map and share them safely."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from io import BufferedRandom
from pathlib import Path
from typing import BinaryIO, cast

CAN_SEAL = sys.platform == "linux"
"""Whether this system has files in memory that can be sealed."""
COPIES = Path("/proc/self/fd")
"""Where a sealed copy can be opened again, by its descriptor."""


def sealed_copy(stream: BinaryIO) -> BufferedRandom:
    """A copy of an open file that has no name: in memory and sealed where the system can, else a temporary file."""
    if sys.platform != "linux":
        copy = cast(BufferedRandom, tempfile.TemporaryFile())  # noqa: SIM115 -- the caller closes it
        shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        return copy
    import fcntl

    copy = os.fdopen(os.memfd_create("manylabel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING), "w+b")
    shutil.copyfileobj(stream, copy, 1 << 20)
    copy.flush()
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
    fcntl.fcntl(copy, fcntl.F_ADD_SEALS, seals)
    return copy


def is_sealed(stream: BinaryIO) -> bool:
    """Whether an open file can neither be truncated nor written to by anyone."""
    if sys.platform != "linux":
        return False
    import fcntl

    wanted = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE
    try:
        return fcntl.fcntl(stream, fcntl.F_GET_SEALS) & wanted == wanted
    except OSError:  # an ordinary file
        return False
