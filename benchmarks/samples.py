"""What was measured, and the figures made of it: medians, ratios, their spread. Pure functions."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One call: seconds on the wall, seconds of CPU, the most memory meanwhile in bytes."""

    wall: float
    cpu: float
    peak: int


@dataclass(slots=True)
class Record:
    """All calls of one candidate with one number of threads; a `missing` one says why it has none."""

    path: str
    name: str
    threads: int
    first: list[Sample] = field(default_factory=list)
    later: list[Sample] = field(default_factory=list)
    imports: list[float] = field(default_factory=list)
    missing: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Ratio:
    """The peer's median over ours, and the least and largest ratio of the single rounds."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{figure(self.value)}×"


def median(samples: Sequence[Sample], what: str) -> float | None:
    """The median of one column ("wall", "cpu", "peak"); None without samples.

    >>> median([Sample(3, 0, 0), Sample(1, 0, 0), Sample(2, 0, 0)], "wall")
    2
    """
    values: list[Any] = [getattr(sample, what) for sample in samples]
    return statistics.median(values) if values else None


def ratio(ours: Sequence[Sample], theirs: Sequence[Sample], what: str = "wall") -> Ratio | None:
    """How many times our figure goes into the peer's; rounds are paired, for their calls took turns.

    >>> ratio([Sample(1, 0, 0), Sample(2, 0, 0)], [Sample(4, 0, 0), Sample(6, 0, 0)])
    Ratio(value=3.3333333333333335, low=3.0, high=4.0)
    """
    mine, other = median(ours, what), median(theirs, what)
    if mine is None or other is None or mine <= 0:
        return None
    each = [getattr(b, what) / getattr(a, what) for a, b in zip(ours, theirs) if getattr(a, what) > 0]
    return Ratio(other / mine, min(each), max(each))


def figure(value: float) -> str:
    """Three digits that count, and no more.

    >>> figure(0.01234), figure(4.567), figure(45.67), figure(456.7)
    ('0.0123', '4.57', '45.7', '457')
    """
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time in the unit that reads best.

    >>> seconds(0.0000456), seconds(0.0321), seconds(2.5), seconds(None)
    ('45.6 µs', '32.1 ms', '2.5 s', '')
    """
    if value is None:
        return ""
    if value < 1e-3:
        return f"{figure(value * 1e6)} µs"
    return f"{figure(value * 1e3)} ms" if value < 1 else f"{figure(value)} s"
