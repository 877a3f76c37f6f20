"""A report as a file: HTML, Markdown, plain text or JSON, all from the same blocks and the same record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from manylabel.data.strict_json import dumps
from manylabel.reports.charts import Chart
from manylabel.reports.html_page import Drawing, HtmlBlock, Shaded, Thresholds, page_html
from manylabel.reports.page import (
    Block,
    Column,
    Heading,
    Items,
    Marked,
    Note,
    Table,
    cell_text,
    marked_plain,
    render_text,
)


def report_text(ending: str, title: str, blocks: Sequence[HtmlBlock], plain: Any) -> str:
    """The contents of a file by the ending of its name: ``.md``, ``.txt``, ``.json`` (of `plain`), otherwise HTML.

    Markdown and text have no drawings; the tables beside these are kept.
    """
    if ending == ".json":
        return dumps(plain, indent=2) + "\n"
    if ending in (".md", ".markdown"):
        return markdown(title, without_drawings(blocks))
    if ending == ".txt":
        return render_text([Heading(title), *without_drawings(blocks)])
    return page_html(title, blocks)


def without_drawings(blocks: Sequence[HtmlBlock]) -> list[Block]:
    """The blocks that are text; shaded tables become plain ones."""
    kept: list[Block] = []
    for block in blocks:
        if isinstance(block, Shaded):
            columns = [Column(block.title), *(Column(f"{name} {block.across}") for name in block.columns)]
            rows = [[name, *texts] for name, texts in zip(block.rows, block.texts, strict=True)]
            kept.append(Table(columns, rows))
        elif not isinstance(block, (Chart, Drawing, Thresholds)):
            kept.append(block)
    return kept


def markdown(title: str, blocks: Sequence[Block]) -> str:
    r"""A page as Markdown; a first heading that repeats the title is left out.

    >>> table = Table([Column("label"), Column("F1", "share")], [["a|b", 0.5]])
    >>> print(markdown("Labels", [Note("Two *labels*"), table]))
    # Labels
    <BLANKLINE>
    Two \*labels\*
    <BLANKLINE>
    | label | F1 |
    |---|--:|
    | a\|b | 50.0 % |
    <BLANKLINE>
    """
    shown = blocks[1:] if blocks and blocks[0] == Heading(title) else blocks
    return "\n\n".join([f"# {_escaped(title)}", *map(_block, shown)]) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"## {_escaped(block.text)}"
    if isinstance(block, Note):
        if block.tone == "code":
            return f"```\n{block.text}\n```"
        text = _escaped(block.text).replace("\n", "  \n")
        return (
            f"> **Warning:** {text}" if block.tone == "warning" else f"**{text}**" if block.tone == "answer" else text
        )
    if isinstance(block, Items):
        return "\n".join(f"- {_escaped(text)}" for text in block.texts)
    if isinstance(block, Marked):
        return "> " + " ".join(_escaped(marked_plain(block)).split())
    shown = [place for place, column in enumerate(block.columns) if column.kind not in ("bar", "balance")]
    columns = [block.columns[place] for place in shown]
    rule = "".join("---|" if column.kind == "text" else "--:|" for column in columns)
    rows = [[cell_text(row[place], block.columns[place].kind) for place in shown] for row in block.rows]
    return "\n".join([_line([column.title for column in columns]), f"|{rule}", *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(' '.join(cell.split())) for cell in cells)} |"


def _escaped(text: str) -> str:
    """A text in which no character has a meaning in Markdown."""
    return re.sub(r"([\\`*_<|])", r"\\\1", text)
