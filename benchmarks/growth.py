"""How our time grows with documents (their non-zeros), labels and terms: an exponent fitted on synthetic corpora.

Each axis is walked alone from one common centre. The exponent is the slope of the least-squares line through
(log size, log seconds); seconds are of CPU on one thread, the least of several calls, which others on the machine
disturb least. Fixed costs flatten that line at small sizes, so the slope of the line through the three largest sizes is
given too, and must keep the goal as well. (Two points would not do: a single disturbed call moves their slope by 0.2.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.measure import Worker, WorkerError
from benchmarks.paths.contract import OURS, HotPath
from benchmarks.paths.knn import GROWTH_QUERIES
from benchmarks.synthetic import Size, write_synthetic

AT_MOST = 1.1
CENTRE = Size(documents=6_000, labels=60, terms=20_000)
FULL_SIZES: dict[str, tuple[int, ...]] = {
    "documents": (2_000, 6_000, 20_000, 63_000, 200_000),
    "labels": (10, 60, 360, 1_400, 5_000),
    "terms": (5_000, 20_000, 80_000, 320_000),
}
QUICK_SIZES: dict[str, tuple[int, ...]] = {
    "documents": (2_000, 6_000, 20_000),
    "labels": (10, 60, 360),
    "terms": (20_000, 80_000),
}
CALLS = 3
LONG_ENOUGH = 5.0  # seconds; a call as long as this is repeated once only
TAIL = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One corpus and one path: its sizes, and the CPU seconds of the least disturbed call on one thread."""

    path: str
    documents: int
    labels: int
    terms: int
    non_zeros: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of one path along one axis: sizes, seconds, the fitted exponent and that of the largest sizes."""

    path: str
    axis: str
    sizes: list[int]
    seconds: list[float]
    exponent: float
    tail: float

    @property
    def within_goal(self) -> bool:
        """Whether time grows no faster than linearly, to a tenth."""
        return max(self.exponent, self.tail) <= AT_MOST


def fit_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope b of log seconds = a + b log size, by least squares.

    >>> round(fit_exponent([1, 10, 100], [2.0, 20.0, 200.0]), 6), round(fit_exponent([1, 2, 4], [1, 4, 16]), 6)
    (1.0, 2.0)
    """
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(seconds, dtype=float))
    x = x - x.mean()
    return float(x @ (y - y.mean()) / (x @ x))


def corpus_sizes(sizes: dict[str, tuple[int, ...]]) -> list[Size]:
    """The corpora of all axes, the common centre once, small ones first."""
    found = {replace(CENTRE, **{axis: value}) for axis, values in sizes.items() for value in values}
    return sorted(found, key=lambda size: (size.documents, size.labels, size.terms))


def grow(paths: Sequence[HotPath], sizes: dict[str, tuple[int, ...]], scratch: Path) -> Iterator[Point]:
    """Measure every path on every corpus; paths that are not there yet are left out."""
    for size in corpus_sizes(sizes):
        wanted = [path for path in paths if any(_lies_on(size, axis) for axis in path.growth)]
        if not wanted:
            continue
        with TemporaryDirectory(dir=scratch) as folder:
            write_synthetic(Path(folder), size, texts=any(path.name == "text" for path in wanted))
            inputs = Inputs(Path(folder))
            facts = inputs.facts | {"queries": GROWTH_QUERIES}
            (Path(folder) / "facts.json").write_text(json.dumps(facts))
            for path, seconds in _measure(wanted, inputs, scratch):
                yield Point(path.name, size.documents, size.labels, size.terms, facts["non-zeros"], seconds)


def _measure(paths: Sequence[HotPath], inputs: Inputs, scratch: Path) -> Iterator[tuple[HotPath, float]]:
    """Each path's seconds: the workers make ready side by side, then work one after the other."""
    with ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(path, path.candidate(OURS), 1, inputs, scratch / f"growth-{path.name}.log"))
            for path in paths
        ]
        ready = [worker.hear_if_alive() for worker in workers]
        for path, worker, report in zip(paths, workers, ready):
            with suppress(WorkerError, BrokenPipeError):  # such a path is left out, as one that is absent
                if "absent" not in report:
                    first = worker.run().cpu
                    yield path, min(first, *(worker.run().cpu for _ in range(1 if first > LONG_ENOUGH else CALLS)))


def _lies_on(size: Size, axis: str) -> bool:
    return all(axis == other or getattr(size, other) == getattr(CENTRE, other) for other in FULL_SIZES)


def fit_growth(points: Sequence[Point], paths: Sequence[HotPath]) -> list[Growth]:
    """The exponents of every path along its axes. Along "documents" the size is the number of non-zeros."""
    fitted = []
    for path in paths:
        for axis in path.growth:
            column = "non_zeros" if axis == "documents" else axis
            on_axis = [p for p in points if p.path == path.name and _on_axis(p, axis)]
            pairs = sorted((getattr(p, column), p.seconds) for p in on_axis)
            if len(pairs) >= 2:
                x, y = [size for size, _ in pairs], [seconds for _, seconds in pairs]
                fitted.append(Growth(path.name, axis, x, y, fit_exponent(x, y), fit_exponent(x[-TAIL:], y[-TAIL:])))
    return fitted


def _on_axis(point: Point, axis: str) -> bool:
    return _lies_on(Size(point.documents, point.labels, point.terms), axis)
