"""A limit of time for work that was planned without looking at the clock.

A deadline is passed to whoever does the work, who calls `check` between two steps. Models that take long take it as the
fact ``deadline`` (`manylabel.features.facts.Facts`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from manylabel.exceptions import ParameterError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class OutOfTime(Exception):  # noqa: N818 - not an error: whoever set the limit catches it
    """The time is over: the work at hand is given up."""


def seconds_of(duration: str) -> float:
    """A duration in seconds; written 90, 90s, 2m, 1.5h or 1m30s.

    >>> seconds_of("2m"), seconds_of("90"), seconds_of("1m30s"), seconds_of("1.5h")
    (120.0, 90.0, 90.0, 5400.0)
    """
    text = duration.strip().lower()
    parts = re.findall(r"(\d+(?:\.\d+)?)([smh]?)", text)
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text or seconds <= 0:
        raise ParameterError(f"A time is written 90s, 2m, 1m30s or 1.5h, and is above 0; not {duration!r}.")
    return seconds


class Deadline:
    """A moment after which `check` raises `OutOfTime`; without `seconds` there is no limit.

    >>> Deadline(None).check()
    >>> Deadline(1.0, clock=iter([0.0, 2.0]).__next__).check()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    manylabel.deadline.OutOfTime
    """

    def __init__(self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds

    def check(self) -> None:
        """Raise `OutOfTime` if the time is over."""
        if self._end is not None and self._clock() > self._end:
            raise OutOfTime
