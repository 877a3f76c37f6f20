"""A fuzz target: a function of bytes that returns, or raises one of manylabel's own errors, whatever the bytes are."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutation import mutated

CORPUS = Path(__file__).parents[1] / "corpus"
BOUNDARY = b"\n=====\n"
"""What divides an input that stands for several files."""
MEMORY = Path("/dev/shm")


def no_seeds() -> list[bytes]:
    """No seeds besides the files in fuzz/corpus."""
    return []


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads bytes of strangers, with seeds to start from and words of its format."""

    name: str
    run: Callable[[bytes], Any]
    """Reads the bytes; what it returns is ignored."""
    make_seeds: Callable[[], list[bytes]] = no_seeds
    """Seeds that are made, in addition to the files in fuzz/corpus/NAME."""
    tokens: tuple[bytes, ...] = ()
    change: Callable[[Random, bytes, Sequence[bytes], Sequence[bytes]], bytes] = mutated
    share: float = 1.0
    """How many inputs it gets, compared with others; fewer where one takes many milliseconds."""

    def seeds(self) -> list[bytes]:
        """The inputs that others are made from."""
        written = [path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))]
        return written + self.make_seeds()

    def input(self, seeds: Sequence[bytes], seed: int, index: int) -> bytes:
        """The input of that number: the seeds themselves first, then changed ones."""
        if index < len(seeds):
            return seeds[index]
        rng = Random(f"{self.name} {seed} {index}")
        return self.change(rng, rng.choice(seeds), seeds, self.tokens)


@cache
def scratch() -> Path:
    """A folder for the files of this run and its workers, in memory where there is such a place; removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="manylabel-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def file(target: str, name: str, data: bytes) -> Path:
    """The path of a file with these bytes, in a folder of this process and target."""
    path = scratch() / str(os.getpid()) / target / name
    try:
        path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    return path


def files(target: str, names: Sequence[str], data: bytes) -> list[Path]:
    """The paths of several files; their bytes are divided by `BOUNDARY`, those of the last ones may be missing."""
    pieces = data.split(BOUNDARY, len(names) - 1)
    paths = [file(target, name, piece) for name, piece in zip(names, pieces, strict=False)]
    for name in names[len(pieces) :]:
        (scratch() / str(os.getpid()) / target / name).unlink(missing_ok=True)
    return paths
