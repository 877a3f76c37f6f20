"""A page of headings, notes and tables, independent of how it is rendered.

The command line draws a page in colour on a terminal and as plain text in a pipe; `manylabel.reports.html_page` writes
it as one self-contained HTML file, `manylabel.reports.files` also as Markdown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from manylabel.notebook import signed, strengths
from manylabel.wording import counted

Cell = str | int | float | None
Kind = Literal["text", "count", "share", "margin", "number", "bar", "balance"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A title above what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph; `tone` distinguishes the main answer, warnings, remarks, and code that keeps its line ends."""

    text: str
    tone: Literal["plain", "answer", "quiet", "warning", "code"] = "plain"


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short texts."""

    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column's title and what its cells are.

    A share is shown in percent, a bar as a small drawing of a share, a balance as one of a number from −1 to 1.
    """

    title: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A text in stretches, each with what it adds to a score: above 0 it speaks for a label, below 0 against it."""

    stretches: Sequence[tuple[str, float]]


Block = Heading | Note | Items | Table | Marked

DRAWN = ("text", "bar", "balance")
"""The kinds of columns that begin at the left."""
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


def balance(value: float, width: int = BAR_WIDTH) -> str:
    """A number from −1 to 1 drawn from the middle: to the right above 0, hatched and to the left below.

    What is less than half a cell to the left is a thin line, as it is to the right.

    >>> balance(0.5, 8), balance(-1, 8), balance(0.05, 8), balance(-0.05, 8), balance(-0.01, 8)
    ('    │██  ', '▒▒▒▒│    ', '    │▎   ', '   ▕│    ', '    │    ')
    """
    half = width // 2
    cells = max(0.0, min(1.0, -value)) * half
    left = "▒" * round(cells) or ("▕" if round(8 * cells) else "")
    return f"{left.rjust(half)}│{bar(value, half)}"


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
    if kind == "balance":
        return balance(float(cell))
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
    if isinstance(block, Items):
        return "\n".join(f"- {text}" for text in block.texts)
    if isinstance(block, Marked):
        return marked_plain(block)
    return _table_text(block)


def marked_plain(block: Marked) -> str:
    """The text with its evidence in brackets.

    >>> marked_plain(Marked([("the ", 0.0), ("bus", 0.52), (" was ", 0.01), ("fast", -0.4)]))
    'the [bus +0.52] was [fast −0.40]'
    """
    return "".join(
        f"[{text} {signed(value)}]" if strength else text for text, value, strength in strengths(block.stretches)
    )


def _table_text(table: Table) -> str:
    columns = table.columns
    cells = [[cell_text(cell, column.kind) for cell, column in zip(row, columns, strict=True)] for row in table.rows]
    widths = [
        max(len(column.title), *(len(row[index]) for row in cells)) if cells else len(column.title)
        for index, column in enumerate(columns)
    ]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.ljust(width) if column.kind in DRAWN else text.rjust(width)
            for text, width, column in zip(texts, widths, columns, strict=True)
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line([column.title for column in columns]), rule, *(line(row) for row in cells)])
