"""A page of headings, notes, tables and charts, independent of how it is rendered.

The command line draws a page in colour on a terminal and as plain text in a pipe; `page_html` writes it as one
self-contained HTML file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from string import Template
from typing import Any, Literal

from manylabel.data.strict_json import dumps
from manylabel.exceptions import MissingExtraError
from manylabel.wording import counted

Cell = str | int | float | None
Kind = Literal["text", "count", "share", "margin", "number", "bar"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title above what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; `tone` distinguishes warnings and remarks."""

    text: str
    tone: Literal["plain", "quiet", "warning"] = "plain"


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title and what its cells are: a share is shown in percent, a bar as a small drawing of a share."""

    title: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


Block = Heading | Note | Table

_EIGHTHS = " ▏▎▍▌▋▊▉█"
BAR_WIDTH = 12


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """A share drawn with block characters, to an eighth of a character.

    >>> bar(0.5, 4)
    '██  '
    """
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    drawn = "█" * full + (_EIGHTHS[rest] if rest else "")
    return drawn.ljust(width)


def cell_text(cell: Cell, kind: Kind) -> str:
    """The text of a cell.

    >>> cell_text(0.5, "share"), cell_text(12345, "count"), cell_text(None, "share")
    ('50.0 %', '12,345', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if kind == "share":
        return f"{100 * cell:.1f} %"
    if kind == "margin":
        return f"{cell:+.2f}"
    if kind == "count":
        return f"{cell:,}"
    if kind == "bar":
        return bar(float(cell))
    return f"{cell:.4g}"


def p_text(p: float) -> str:
    """A p-value as text; it is never shown as 0.

    >>> p_text(0.03456), p_text(0.0002)
    ('0.035', '< 0.001')
    """
    return f"{p:.3f}" if p >= 0.001 or p != p else "< 0.001"


def skipped_notes(skipped: Sequence[str], shown: int = 10) -> list[Block]:
    """A warning that lists the lines that were skipped in reading; nothing where there were none."""
    if not skipped:
        return []
    more = f"\n… and {len(skipped) - shown:,} more" if len(skipped) > shown else ""
    were = counted(len(skipped), "bad line was", "bad lines were")
    return [Note(f"{were} skipped:\n" + "\n".join(skipped[:shown]) + more, "warning")]


def render_text(blocks: Sequence[Block]) -> str:
    """The page as plain text."""
    return "\n\n".join(_block_text(block) for block in blocks) + "\n"


def _block_text(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{block.text}\n{'=' * len(block.text)}"
    if isinstance(block, Note):
        return f"Warning: {block.text}" if block.tone == "warning" else block.text
    return _table_text(block)


def _table_text(table: Table) -> str:
    columns = table.columns
    cells = [[cell_text(cell, column.kind) for cell, column in zip(row, columns, strict=True)] for row in table.rows]
    widths = [
        max(len(column.title), *(len(row[index]) for row in cells)) if cells else len(column.title)
        for index, column in enumerate(columns)
    ]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.ljust(width) if column.kind in ("text", "bar") else text.rjust(width)
            for text, width, column in zip(texts, widths, columns, strict=True)
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line([column.title for column in columns]), rule, *(line(row) for row in cells)])


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing by Plotly: its traces and its layout."""

    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing, as SVG."""

    svg: str


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


def page_html(title: str, blocks: Sequence[Block | Chart | Drawing]) -> str:
    """The page; it needs nothing but a browser."""
    drawings: list[dict[str, Any]] = []
    body = []
    for block in blocks:
        if isinstance(block, Chart):
            name = f"chart{len(drawings)}"
            drawings.append({"id": name, "data": list(block.traces), "layout": {**_LAYOUT, **block.layout}})
            body.append(f'<div class="chart" id="{name}"></div>')
        elif isinstance(block, Drawing):
            body.append(f'<div class="wide">{block.svg}</div>')
        else:
            body.append(_block(block))
    return _PAGE.substitute(
        title=escape(title),
        plotly=plotly_script() if drawings else "",
        body="\n".join(body),
        # "</" inside a script would end it
        drawings=dumps(drawings).replace("</", "<\\/"),
    )


def check_charts() -> None:
    """Raise an error where pages cannot have charts: before the work that a page is made of."""
    if find_spec("plotly") is None:
        raise MissingExtraError("A page with figures", "report")


def plotly_script() -> str:
    """Plotly's own script, to be put into a page."""
    check_charts()
    from plotly.offline import get_plotlyjs

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
