"""A curve drawn with characters, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 60, 12


@dataclass(frozen=True, slots=True)
class Point:
    """A value with a range, over a size; `sign` is drawn at the value."""

    x: float
    y: float
    low: float
    high: float
    sign: str = "●"


def text_plot(points: Sequence[Point], width: int = WIDTH, height: int = HEIGHT) -> str:
    """The points over a logarithmic axis; ranges as vertical lines, values in percent on the left.

    >>> print(text_plot([Point(1, 0.2, 0.1, 0.3), Point(10, 0.4, 0.4, 0.4)], width=20, height=4))
     40.0 % │                   ●
     30.0 % ││
     20.0 % │●
     10.0 % ││
            └────────────────────
             1                 10
    """
    low, high = min(point.low for point in points), max(point.high for point in points)
    span = high - low or 1.0
    first, last = math.log(points[0].x), math.log(max(point.x for point in points))
    grid = [[" "] * width for _ in range(height)]

    def line(value: float) -> int:
        return round((high - value) / span * (height - 1))

    places = [round((math.log(point.x) - first) / (last - first or 1.0) * (width - 1)) for point in points]
    for point, place in zip(points, places, strict=True):
        for row in range(line(point.high), line(point.low) + 1):
            grid[row][place] = "│"
        grid[line(point.y)][place] = point.sign
    rows = [
        f"{100 * (high - span * row / (height - 1)):5.1f} % │{''.join(cells).rstrip()}"
        for row, cells in enumerate(grid)
    ]
    return "\n".join([*rows, f"        └{'─' * width}", f"         {_axis(points, places, width)}"])


def _axis(points: Sequence[Point], places: Sequence[int], width: int) -> str:
    """The sizes under their points; one that would run into another is left out, the last never."""
    axis = [" "] * width
    taken = width + 1
    for point, place in sorted(zip(points, places, strict=True), key=lambda pair: -pair[1]):
        text = f"{point.x:,.0f}"
        start = max(0, min(place - len(text) // 2, width - len(text)))
        if start + len(text) < taken:
            axis[start : start + len(text)] = text
            taken = start
    return "".join(axis).rstrip()
