"""Charts, described by what they show: series of points on two axes. ``web/chart.js`` draws them.

>>> line = Series("measured", [100, 200, 400], [0.5, 0.6, 0.65], mark="both", colour=0)
>>> chart = Chart("Learning curve", Axis("training documents", kind="log"), Axis("micro F1", percent=True), [line])
>>> chart.as_dict()["series"][0]["y"]
[0.5, 0.6, 0.65]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Value = float | int | str | None
Dash = Literal["solid", "dashed", "dotted", "dashdot", "long"]


@dataclass(frozen=True, slots=True)
class Axis:
    """What one direction of a chart means."""

    title: str = ""
    kind: Literal["linear", "log", "category"] = "linear"
    percent: bool = False
    """Whether shares are written in percent."""
    low: float | None = None
    high: float | None = None
    """The ends of the axis; by default those of the points."""
    ticks: Sequence[float] | None = None
    categories: Sequence[str] | None = None
    """The values of a category axis, in order; from the top for the y axis."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together; a point whose y is None is left out."""

    name: str
    x: Sequence[Value]
    y: Sequence[Value]
    mark: Literal["line", "dots", "both", "boxes"] = "line"
    """What is drawn; ``boxes`` are those of the y of each x, for all series of a chart or none."""
    colour: int | None = 0
    """A number of the palette, which also selects the symbol of dots; None for grey."""
    dash: Dash = "solid"
    width: float = 2
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    """The ends of an interval around each point, along the y axis, or along x where y is a category."""
    text: Sequence[str] | None = None
    """More about each point, shown beside it on hover, and above it where `labelled`."""
    labelled: bool = False
    size: Sequence[float] | None = None
    """The radius of each dot in pixels."""
    in_legend: bool = True
    hidden: bool = False
    """Whether it is shown only after a press on its name in the legend."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing of series on two axes."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    height: int | None = None
    """In pixels; by default as the kind of the chart needs."""

    def as_dict(self) -> Mapping[str, Any]:
        """The chart as plain data."""
        return asdict(self)
