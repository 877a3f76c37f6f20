"""Print pages, results and progress: in colour on a terminal, as plain text in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from manylabel.notebook import strengths
from manylabel.progress import reporting_to
from manylabel.reports.page import DRAWN, Block, Heading, Items, Marked, Note, Table, cell_text, render_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    from manylabel.reports.html_page import HtmlBlock

TONES = {"plain": "", "answer": "bold", "quiet": "dim", "warning": "yellow", "code": ""}


def show(blocks: Sequence[Block]) -> None:
    """Print a page."""
    if not sys.stdout.isatty():
        sys.stdout.write(render_text(blocks))
        return
    from rich.console import Console

    draw(Console(highlight=False), blocks)


def show_beside(report: Path | None, blocks: Sequence[Block]) -> None:
    """Print a page; of one that is written to a report only its answer, warnings and other sentences."""
    if report is not None:
        blocks = [block for block in blocks if isinstance(block, Note) and block.tone not in ("quiet", "code")]
    if blocks:
        show(blocks)


def draw(console: Console, blocks: Sequence[Block]) -> None:
    """Draw a page in colour on a console."""
    from rich.padding import Padding
    from rich.text import Text

    for block in blocks:
        if isinstance(block, Heading):
            console.print(Padding(Text(block.text, style="bold cyan"), (1, 0, 0, 0)))
        elif isinstance(block, Note):
            console.print(Text(block.text, style=TONES[block.tone]))
        elif isinstance(block, Items):
            console.print(Text("\n".join(f"• {text}" for text in block.texts)))
        elif isinstance(block, Marked):
            console.print(_marked(block))
        else:
            console.print(_rich_table(block))


def _marked(block: Marked) -> RichText:
    """The text with its evidence highlighted: words for the label green, words against it red and underlined."""
    from rich.text import Text

    drawn = Text()
    for text, _, strength in strengths(block.stretches):
        colour = "green" if strength > 0 else "red"
        strong = "bold " if abs(strength) > 0.5 else ""
        line = " underline" if strength < 0 else ""
        drawn.append(text, style=f"{strong}black on {colour}{line}" if strength else "")
    return drawn


def _rich_table(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in table.columns:
        justify: Any = "left" if column.kind in DRAWN else "right"
        drawn.add_column(
            column.title,
            justify=justify,
            style="green" if column.kind in ("bar", "balance") else "",
            no_wrap=column.kind != "text",
        )
    for row in table.rows:
        drawn.add_row(*(Text(cell_text(cell, column.kind)) for cell, column in zip(row, table.columns, strict=True)))
    return drawn


def show_json(value: Any) -> None:
    """Print a value as JSON; NaN and infinities, which JSON lacks, become null."""
    from manylabel.data.strict_json import dumps

    sys.stdout.write(dumps(value, indent=2) + "\n")


class PlainRecord(Protocol):
    """A record that becomes plain data."""

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data."""


def show_records(records: Sequence[PlainRecord]) -> None:
    """Print one record as a JSON object, several as a JSON array."""
    plain = [one.as_dict() for one in records]
    show_json(plain[0] if len(plain) == 1 else plain)


def remark(text: str) -> None:
    """Print a remark on standard error, apart from the results."""
    sys.stderr.write(text + "\n")


def write_page(path: Path, page: str) -> None:
    """Write a page or table, whole or not at all, and print where it is."""
    from manylabel.data.atomic import atomic_text

    with atomic_text(path) as stream:
        stream.write(page)
    remark(f"Written: {path}.")


def write_report(path: Path, title: str, blocks: Sequence[HtmlBlock], plain: Any) -> None:
    """Write a report in the form that the ending of the file asks for, and print where it is."""
    from manylabel.reports.files import report_text

    write_page(path, report_text(path.suffix, title, blocks, plain))


@contextmanager
def progress() -> Iterator[None]:
    """Show progress of the enclosed work on standard error, where that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("passed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars, reporting_to(_Bars(bars)):
        yield


@contextmanager
def progress_or_prompt(data: str) -> Iterator[None]:
    """Show progress; where texts are typed at the terminal, print how to type them, since bars would hide the words."""
    if data == "-" and sys.stdin.isatty():
        remark("Type one text per line. Ctrl-D ends the input.")
        yield
        return
    with progress():
        yield


class _Bars:
    """Rich's progress bars behind manylabel's progress hook."""

    def __init__(self, bars: Progress) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    def started(self, what: str, total: int | None) -> None:
        self.tasks[what] = self.bars.add_task(what, total=total)

    def advanced(self, what: str, by: int) -> None:
        self.bars.advance(self.tasks[what], by)

    def finished(self, what: str) -> None:
        self.bars.remove_task(self.tasks.pop(what))
