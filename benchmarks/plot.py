"""One picture: ratios with their goals on the left, growth on the right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.growth import Growth
from benchmarks.report import Row

STYLES = {"documents": "-", "labels": "--", "terms": ":"}


def draw(path: Path, rows: Sequence[Row], growth: Sequence[Growth]) -> None:
    """Draw it with matplotlib, which only the benchmark's environment has."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    shown = [row for row in rows if row.ratio("first") is not None]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(15, 2 + 0.42 * max(8, len(shown))))
    draw_ratios(left, shown)
    draw_growth(right, growth)
    figure.tight_layout(w_pad=3)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def draw_ratios(axes: Any, rows: Sequence[Row]) -> None:
    """One bar per comparison: first calls, later calls as a ring, the goal as a line."""
    from matplotlib.ticker import NullFormatter

    for place, row in enumerate(reversed(rows)):
        first, later = row.ratio("first"), row.ratio("later")
        if first is None:
            continue
        colour = "tab:red" if row.equal is False else "tab:gray" if row.equal is None else "tab:blue"
        spread = [[max(0.0, first.value - first.low)], [max(0.0, first.high - first.value)]]
        axes.barh(place, first.value, color=colour, height=0.6, xerr=spread, ecolor="black", capsize=2)
        if later is not None:
            axes.plot(later.value, place, "o", markerfacecolor="white", markeredgecolor="black")
        far = max(first.high, later.value if later is not None else 0.0)
        axes.text(far * 1.25, place, f"{first.value:.3g}×", va="center", fontsize="small")
        if row.goal is not None:
            axes.plot([row.goal.ratio] * 2, [place - 0.4, place + 0.4], color="tab:green", linewidth=3)
    names = [f"{row.path}: {row.against} ({row.our_threads} : {row.peer_threads} threads)" for row in reversed(rows)]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 2)
    axes.set_xticks([1, 3, 10, 30, 100, 300], ["1", "3", "10", "30", "100", "300"])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("bar: first call · ring: later calls · green: goal · grey: another method")
    axes.set_title("How many times as long the peer takes (threads ours : theirs)")


def draw_growth(axes: Any, growth: Sequence[Growth]) -> None:
    """A line a path and axis, seconds over size relative to the smallest, both logarithmic; grey is linear."""
    paths = list(dict.fromkeys(line.path for line in growth))
    for line in growth:
        sizes = [size / line.sizes[0] for size in line.sizes]
        look = {"color": f"C{paths.index(line.path)}", "linestyle": STYLES[line.axis], "marker": "o"}
        axes.plot(sizes, line.seconds, **look, label=f"{line.path}, {line.axis}: {line.exponent:.2f}")
    if growth:
        low, high = min(min(line.seconds) for line in growth), max(max(line.seconds) for line in growth)
        axes.plot([1, high / low], [low, high], color="lightgray", linewidth=6, zorder=0, label="linear: 1")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title("How our time grows (number: exponent)")
    axes.set_xlabel("size, in multiples of the smallest (documents: non-zeros)")
    axes.set_ylabel("CPU seconds, one thread")
    if growth:
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
