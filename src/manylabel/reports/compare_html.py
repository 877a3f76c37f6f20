"""A comparison as a page for the browser: the leaderboard with its intervals drawn, what it costs, label by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from manylabel.reports.compare_page import COSTS, compare_page, over_data_sets_page
from manylabel.reports.page import Block, Heading, Table
from manylabel.reports.page_html import Chart, page_html

Facts = Mapping[str, Any]
MOST_ROWS = 14
MOST_LABELS = 40
COLOURS = ("#1f5fa8", "#c4342c", "#1b7f4d")


def compare_html(comparisons: Sequence[Facts]) -> str:
    """One page of one or several comparisons that needs nothing but a browser."""
    blocks: list[Block | Chart] = []
    for facts in comparisons:
        blocks += _with_charts(compare_page(facts), facts)
    if len(comparisons) > 1:
        blocks += over_data_sets_page(comparisons)
    return page_html("Methods compared", blocks)


def _with_charts(page: Sequence[Block], facts: Facts) -> list[Block | Chart]:
    """The page with the leaderboard and the costs drawn above their tables, and the labels at the end."""
    blocks: list[Block | Chart] = []
    drawn = False
    for block in page:
        if isinstance(block, Table) and not drawn:
            blocks.append(_intervals(facts))
            drawn = True
        blocks.append(block)
        if isinstance(block, Heading) and block.text == COSTS:
            blocks.append(_front(facts))
    return [*blocks, Heading("Label by label"), _labels(facts)]


def _intervals(facts: Facts) -> Chart:
    """The leaderboard drawn: figures with their intervals, the winner on top."""
    rows = list(reversed(facts["leaderboard"][:MOST_ROWS]))
    names = [escape(f"{row['method']} · {row['features']} · {row['rule']}") for row in rows]
    data = {
        "type": "scatter",
        "mode": "markers",
        "x": [100 * row["value"] for row in rows],
        "y": names,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [100 * (row["high"] - row["value"]) for row in rows],
            "arrayminus": [100 * (row["value"] - row["low"]) for row in rows],
        },
        "marker": {"size": 9, "color": [COLOURS[0] if row["no_difference_shown"] else "#8a97a5" for row in rows]},
    }
    layout = {
        "xaxis": {"title": {"text": f"{escape(facts['metric']['title'])}, percent; 95 % intervals over documents"}},
        "yaxis": {"automargin": True},
        "title": {"text": "Blue: no difference from the winner shown", "font": {"size": 14}},
    }
    return Chart([data], layout)


def _front(facts: Facts) -> Chart:
    """Quality against training time; the size of a mark is the size of the model."""
    costs = facts["costs"]
    largest = max(max(one["bytes"] for one in costs), 1)
    data = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [one["train_seconds"] for one in costs],
        "y": [100 * one["value"] for one in costs],
        "text": [escape(one["name"].partition(" · ")[0]) if one["on_front"] else "" for one in costs],
        "textposition": "top center",
        "hovertext": [
            f"{escape(one['name'])}<br>{1000 * one['seconds_a_document']:.3f} ms a document"
            f"<br>{one['bytes'] / 1e6:.2f} MB"
            for one in costs
        ],
        "marker": {
            "size": [10 + 24 * (one["bytes"] / largest) ** 0.5 for one in costs],
            "color": [COLOURS[0] if one["on_front"] else "#c3ccd5" for one in costs],
        },
    }
    layout = {
        "xaxis": {"type": "log", "title": {"text": "seconds to train in a fold (logarithmic)"}},
        "yaxis": {"title": {"text": f"{escape(facts['metric']['title'])}, percent"}},
        "title": {"text": "Blue: on the front; larger marks are larger models", "font": {"size": 14}},
    }
    return Chart([data], layout)


def _labels(facts: Facts) -> Chart:
    """The F1 of the labels with most documents by the leaders."""
    found = facts["by_label"]
    order = sorted(range(len(found["labels"])), key=lambda place: -found["documents"][place])[:MOST_LABELS]
    names = [escape(f"{found['labels'][place]} ({found['documents'][place]})") for place in order]
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": escape(name),
            "x": names,
            "y": [values[place] for place in order],
            "marker": {"color": colour, "size": 9, "opacity": 0.8},
        }
        for (name, values), colour in zip(found["f1"].items(), COLOURS, strict=False)
    ]
    rest = len(found["labels"]) - len(order)
    more = f"; {rest} more labels are not drawn" if rest > 0 else ""
    layout = {
        "xaxis": {"automargin": True, "tickangle": -50},
        "yaxis": {"title": {"text": "F1"}, "range": [0, 1.02]},
        "legend": {"orientation": "h", "y": 1.12},
        "title": {"text": f"F1 by label (documents in brackets){more}", "font": {"size": 14}, "y": 0.99},
    }
    return Chart(data, layout)
