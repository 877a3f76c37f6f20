"""A page as one HTML file that needs nothing but a browser; its tables can be read without scripts."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import cycle
from string import Template
from typing import Any

from manylabel.data.strict_json import dumps
from manylabel.evaluation.threshold_curves import ThresholdCurve
from manylabel.notebook import MARK_STYLE, marked_html
from manylabel.reports.charts import Chart
from manylabel.reports.page import DRAWN, Block, Cell, Column, Heading, Items, Marked, Note, Table, cell_text
from manylabel.web import FOLDER, MODULES


@dataclass(frozen=True, slots=True)
class Drawing:
    """A finished drawing, as SVG."""

    svg: str


@dataclass(frozen=True, slots=True)
class Shaded:
    """A table whose figures are shaded by shares, such as the counts of predicted by true numbers of labels."""

    title: str
    across: str
    """What the columns are, above their names."""
    columns: Sequence[str]
    rows: Sequence[str]
    texts: Sequence[Sequence[str]]
    shares: Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Curves over thresholds that a slider moves along: one common to all labels, and those of labels."""

    common: ThresholdCurve | None
    labels: Sequence[ThresholdCurve]
    probabilities: bool


HtmlBlock = Block | Chart | Drawing | Shaded | Thresholds

COMPONENTS = {
    "table.js": ("<ml-table>",),
    "chart.js": ("<ml-chart>", "<ml-thresholds>"),
    "thresholds.js": ("<ml-thresholds>",),
}
"""Our scripts, and the elements that need them; those that use others come after these."""
CONTENTS_FROM = 6
"""Pages of at least so many headings begin with links to them."""
LONG = 30
"""Tables of at least so many rows scroll under their head."""
NAME, WORDS = 24, 60
"""Columns of texts up to the first length stay on one line; those longer than the second are given room."""
DIGITS = 5
"""Significant digits of the numbers that are drawn."""

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:"
"""What browsers allow the page: its own styles and scripts, and no request."""

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>$styles</style>
$scripts
</head>
<body><main>
<h1>$title</h1>
$body
</main></body></html>
""")


def page_html(title: str, blocks: Sequence[HtmlBlock]) -> str:
    """The page of some blocks; a first heading that repeats the title is left out."""
    shown = blocks[1:] if blocks and blocks[0] == Heading(title) else blocks
    headings = [block for block in shown if isinstance(block, Heading)]
    numbers = {id(heading): number for number, heading in enumerate(headings, 1)}
    parts: list[str] = []
    for block in shown:
        if isinstance(block, Heading):
            if numbers[id(block)] == 1 and len(headings) >= CONTENTS_FROM:
                parts.append(_contents(headings))
            parts.append(f'<h2 id="part-{numbers[id(block)]}">{escape(block.text)}</h2>')
        else:
            parts.append(block_html(block))
    return html_file(title, "\n".join(parts))


def _contents(headings: Sequence[Heading]) -> str:
    names = [one.text.partition(" (")[0] for one in headings]
    links = "".join(f'<li><a href="#part-{number}">{escape(name)}</a></li>' for number, name in enumerate(names, 1))
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def html_file(title: str, body: str, styles: str = "") -> str:
    """An HTML file whose body may hold what `block_html` returns; `styles` are added to those of all pages."""
    return _PAGE.substitute(
        title=escape(title),
        policy=POLICY,
        styles=_file("page.css") + MARK_STYLE + styles,
        scripts=_scripts(body),
        body=body,
    )


def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _scripts(body: str) -> str:
    """The scripts that a page needs: our components and what they import; Observable Plot only where there are charts.

    Modules are imported by name from addresses that hold their text, since a file has no others to import from.
    """
    imports = {name: _address(_file(path).replace('"./css-tag.js"', '"css-tag"')) for name, path in MODULES.items()}
    needed = [path for path, elements in COMPONENTS.items() if any(element in body for element in elements)]
    classic = ("vendor/d3.min.js", "vendor/plot.umd.min.js") if "chart.js" in needed else ()
    return "\n".join(
        [
            f'<script type="importmap">{dumps({"imports": imports})}</script>',
            *(f"<script>{_file(path)}</script>" for path in classic),
            *(f'<script type="module">{_file(path)}</script>' for path in needed),
        ]
    )


def _address(script: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(script.encode()).decode()


def block_html(block: HtmlBlock) -> str:
    """One block; everything in it is escaped."""
    if isinstance(block, Heading):
        return f"<h2>{escape(block.text)}</h2>"
    if isinstance(block, Note):
        inside = escape(block.text)
        return f'<pre tabindex="0">{inside}</pre>' if block.tone == "code" else f'<p class="{block.tone}">{inside}</p>'
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in block.texts)}</ul>"
    if isinstance(block, Marked):
        return marked_html(block.stretches)
    if isinstance(block, Drawing):
        return f'<div class="wide" tabindex="0">{block.svg}</div>'
    if isinstance(block, Chart):
        return f"<ml-chart>{_data(block.as_dict())}</ml-chart>"
    if isinstance(block, Thresholds):
        return f"<ml-thresholds>{_data(asdict(block))}</ml-thresholds>"
    return _shaded(block) if isinstance(block, Shaded) else _table(block)


def _data(plain: Mapping[str, Any]) -> str:
    """Plain data for a component; "</" and "<!--" have a meaning inside scripts."""
    return f'<script type="application/json">{dumps(_rounded(plain)).replace("<", chr(92) + "u003c")}</script>'


def _rounded(value: Any) -> Any:
    """Plain data with numbers of as many digits as can be seen.

    >>> _rounded({"x": [0.123456789, 3, "a"]})
    {'x': [0.12346, 3, 'a']}
    """
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, (list, tuple)) else value


def _table(table: Table) -> str:
    classes = [_class(column, [row[place] for row in table.rows]) for place, column in enumerate(table.columns)]
    rows = "".join(f"<tr>{''.join(map(_cell, row, table.columns, classes))}</tr>" for row in table.rows)
    head = "".join(
        f'<th scope="col" class="{name}">{escape(column.title)}</th>'
        for name, column in zip(classes, table.columns, strict=True)
    )
    shape = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    if "words" in classes:
        shape = _as_cards(shape, table.columns)
    size = "wide long" if len(table.rows) >= LONG and "words" not in classes else "wide"
    return f'<ml-table><div class="{size}" tabindex="0">{shape}</div></ml-table>'


def _class(column: Column, cells: Sequence[Cell]) -> str:
    """How a column is drawn: figures, drawings, names on one line, or words that need room."""
    if column.kind != "text":
        return column.kind if column.kind in DRAWN else "figure"
    longest = max((len(cell) for cell in cells if isinstance(cell, str)), default=0)
    return "name" if longest <= NAME else "words" if longest > WORDS else "text"


def _as_cards(table: str, columns: Sequence[Column]) -> str:
    """A table that phones show as cards, one per row: roles keep it a table, each cell has the title of its column."""
    roles = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row"}
    for element, role in roles.items():
        table = table.replace(f"<{element}>", f'<{element} role="{role}">')
    table = table.replace("<th ", '<th role="columnheader" ')
    titles = cycle([escape(column.title) for column in columns])
    table = re.sub("<td", lambda _: f'<td role="cell" data-title="{next(titles)}"', table)
    return table.replace('<table role="table">', '<table class="cards" role="table">')


def _cell(cell: Cell, column: Column, name: str) -> str:
    number = _number(cell)
    inside = escape(cell_text(cell, column.kind))
    if number is not None and name in ("bar", "balance"):
        side = ' class="minus"' if number < 0 else ""
        text = f"{100 * number:.0f} %".replace("-", "\N{MINUS SIGN}")
        inside = f'<span{side} style="width: {100 * min(abs(number), 1):.1f}%" role="img" aria-label="{text}"></span>'
        inside = f"<div>{inside}</div>" if name == "balance" else inside
    if name == "name":
        inside = inside.replace("/", "/<wbr>")  # where names such as streets/parking may be broken
    value = "" if number is None or isinstance(cell, int) else f' data-value="{number:.6g}"'
    return f'<td class="{name}"{value}>{inside}</td>'


def _number(cell: Cell) -> float | None:
    """The number by which a cell is sorted; also that of texts such as ``12.5 %``."""
    if cell is None or isinstance(cell, (int, float)):
        return cell
    try:
        return float(cell.removesuffix("%").replace(",", "").replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return None


def _shaded(table: Shaded) -> str:
    head = "".join(f'<th scope="col" class="figure">{escape(name)}</th>' for name in table.columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(
            f'<td class="figure shaded" style="--share: {share:.3f}">{escape(text)}</td>'
            for text, share in zip(texts, shares, strict=True)
        )
        + "</tr>"
        for name, texts, shares in zip(table.rows, table.texts, table.shares, strict=True)
    )
    across = f'<th class="quiet" scope="colgroup" colspan="{len(table.columns)}">{escape(table.across)}</th>'
    return (
        f'<div class="wide" tabindex="0"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr><th></th>{across}</tr><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
