"""A page as one self-contained HTML file: headings, notes, tables, and charts that can be read off with the mouse."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from string import Template
from typing import Any

from manylabel.exceptions import MissingExtraError
from manylabel.reports.page import Block, Heading, Note, Table, cell_text


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing by Plotly: its traces and its layout."""

    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)


_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { margin: 0; background: #fbfaf7; color: #1d2733; font: 16px/1.55 Georgia, 'Times New Roman', serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.5rem 5rem; }
h1 { font-size: 1.9rem; } h2 { margin: 2.4rem 0 .4rem; font-size: 1.25rem; }
p { white-space: pre-line; } p.quiet { color: #5c6b7a; } p.warning { color: #a96a00; }
table { border-collapse: collapse; font: 14px/1.45 system-ui, sans-serif; margin: .4rem 0 1rem; }
th, td { padding: .32rem .7rem; border-bottom: 1px solid #d9e0e7; text-align: left; }
td.figure, th.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bar span { display: inline-block; height: .7rem; background: #1b7f4d; } td.bar { min-width: 7rem; }
.wide { overflow-x: auto; } .chart { height: 26rem; margin: .8rem 0; }
</style>
<script>$plotly</script>
</head>
<body><main>
<h1>$title</h1>
$body
</main>
<script>
for (const drawing of $drawings)
  Plotly.newPlot(drawing.id, drawing.data, drawing.layout, {responsive: true, displayModeBar: false});
</script>
</body></html>
""")
_LAYOUT = {"margin": {"t": 48, "r": 20}, "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "#ffffff"}


def page_html(title: str, blocks: Sequence[Block | Chart]) -> str:
    """The page; it needs nothing but a browser."""
    drawings: list[dict[str, Any]] = []
    body = []
    for block in blocks:
        if isinstance(block, Chart):
            name = f"chart{len(drawings)}"
            drawings.append({"id": name, "data": list(block.traces), "layout": {**_LAYOUT, **block.layout}})
            body.append(f'<div class="chart" id="{name}"></div>')
        else:
            body.append(_block(block))
    return _PAGE.substitute(
        title=escape(title),
        plotly=plotly_script() if drawings else "",
        body="\n".join(body),
        # "</" inside a script would end it
        drawings=json.dumps(drawings).replace("</", "<\\/"),
    )


def plotly_script() -> str:
    """Plotly's own script, to be put into a page."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtraError("A page with figures", "report") from error
    script: str = get_plotlyjs()
    return script


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h2>{escape(block.text)}</h2>"
    if isinstance(block, Note):
        return f'<p class="{block.tone}">{escape(block.text)}</p>'
    return _table(block)


def _table(table: Table) -> str:
    classes = ["" if column.kind == "text" else "bar" if column.kind == "bar" else "figure" for column in table.columns]
    head = "".join(
        f'<th class="{name}">{escape(column.title)}</th>' for name, column in zip(classes, table.columns, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = []
        for cell, column, name in zip(row, table.columns, classes, strict=True):
            inside = escape(cell_text(cell, column.kind))
            if name == "bar" and isinstance(cell, (int, float)):
                inside = f'<span style="width: {100 * cell:.1f}%"></span>'
            cells.append(f'<td class="{name}">{inside}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
