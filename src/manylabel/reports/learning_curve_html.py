"""A learning curve as a page for the browser: the curve with what it foretells, and the labels' own curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from manylabel.reports.learning_curve_page import labels_of, learning_curve_page
from manylabel.reports.page import Block, Heading, Note
from manylabel.reports.page_html import Chart, page_html

Facts = Mapping[str, Any]
MOST_LINES = 15


def learning_curve_html(facts: Facts) -> str:
    """The page, with all labels in its tables."""
    page = learning_curve_page(facts, None)
    heading, where, table, _, *rest = page  # the drawing in characters gives way to the chart
    blocks: list[Block | Chart] = [where, _curve(facts), table, *rest]
    rising = labels_of(facts["labels"], "rising")[:MOST_LINES]
    if rising:
        blocks += [Heading("The labels that rise most"), _label_curves(facts, rising)]
    blocks.append(Note(f"{facts['seconds']:.0f} seconds of work.", "quiet"))
    return page_html(heading.text if isinstance(heading, Heading) else "Learning curve", blocks)


def _curve(facts: Facts) -> Chart:
    steps, ahead = facts["steps"], facts["outlook"]
    sizes = [step["documents"] for step in steps]
    means = [step["mean"] for step in steps]
    measured = {
        "name": "measured (least and most of the repeats)",
        "x": sizes,
        "y": means,
        "mode": "markers",
        "marker": {"size": 9},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [step["high"] - step["mean"] for step in steps],
            "arrayminus": [step["mean"] - step["low"] for step in steps],
        },
    }
    grid = np.geomspace(sizes[0], ahead["documents"], 60)
    fitted = {
        "name": "fitted curve",
        "x": grid.tolist(),
        "y": (ahead["a"] - ahead["b"] * grid ** -ahead["c"]).tolist(),
        "mode": "lines",
        "line": {"dash": "dot"},
    }
    foretold = {
        "name": "twice the documents (95 % interval)",
        "x": [ahead["documents"]],
        "y": [ahead["value"]],
        "mode": "markers",
        "marker": {"size": 10, "symbol": "circle-open"},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(ahead["high"] - ahead["value"], 0.0)],
            "arrayminus": [max(ahead["value"] - ahead["low"], 0.0)],
        },
    }
    return Chart([measured, fitted, foretold], _axes(facts["title"], [*sizes, ahead["documents"]]))


def _label_curves(facts: Facts, rows: list[Facts]) -> Chart:
    sizes = [step["documents"] for step in facts["steps"]]
    lines = [{"name": escape(row["label"]), "x": sizes, "y": row["f1"], "mode": "lines+markers"} for row in rows]
    return Chart(lines, _axes("F1", sizes))


def _axes(title: str, sizes: Sequence[int]) -> dict[str, Any]:
    documents = {"title": {"text": "training documents (logarithmic)"}, "type": "log", "tickvals": list(sizes)}
    return {
        "xaxis": documents | {"ticktext": [f"{size:,}" for size in sizes]},
        "yaxis": {"title": {"text": escape(title)}, "tickformat": ".0%"},
    }
