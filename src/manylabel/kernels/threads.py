"""Blocks of work on several threads. Kernels release Python's lock, and no result depends on how many threads ran."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from manylabel.exceptions import ParameterError

THREADS_VARIABLE = "MANYLABEL_THREADS"
"""The environment variable that says how many threads to use where nothing else does."""
Block = TypeVar("Block")
Outcome = TypeVar("Outcome")


def usable_cores() -> int:
    """The number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_threads(n_jobs: int | None) -> int:
    """The number of threads to use: `n_jobs`; where it is None or -1, what the variable says, or one for each core."""
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    given = os.environ.get(THREADS_VARIABLE, "")
    if given and (not given.isdecimal() or not int(given)):
        raise ParameterError(f"{THREADS_VARIABLE} is a number of threads, 1 or more, not {given!r}.")
    return int(given) if given else usable_cores()


def in_threads(work: Callable[[Block], Outcome], blocks: Iterable[Block], n_jobs: int | None = None) -> list[Outcome]:
    """The results of `work` for each block, in the order of the blocks.

    >>> in_threads(lambda block: block[1] - block[0], [(0, 3), (3, 4)], 2)
    [3, 1]
    """
    todo = list(blocks)
    n_threads = min(available_threads(n_jobs), len(todo))
    if n_threads <= 1:
        return [work(block) for block in todo]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, todo))


def blocks_of(costs: npt.NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Split 0 .. len(costs) into blocks (begin, end) of about `most` in cost each, none of them empty.

    The blocks depend on the costs only, so that sums taken block by block are the same for any number of threads.

    >>> blocks_of(np.array([5, 1, 1, 9, 1]), 6)
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    blocks: list[tuple[int, int]] = []
    ends = np.cumsum(costs, dtype=np.int64)
    begin, done = 0, 0
    while begin < len(ends):
        end = max(int(np.searchsorted(ends, done + most, side="right")), begin + 1)
        blocks.append((begin, end))
        begin, done = end, int(ends[end - 1])
    return blocks
