"""Reproductions as text for a terminal and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from manylabel.evaluation.findings import Claim, Entry, Experiment, Reproduction, Sheet, Verdict
from manylabel.reports.page import Block, Column, Heading, Note, Table

SIGNS = {
    Verdict.REPRODUCED: "yes",
    Verdict.IN_PART: "in part",
    Verdict.NOT_REPRODUCED: "no",
    Verdict.NOT_TESTED: "not tested",
}


def summary_rows(found: Sequence[Reproduction]) -> list[tuple[str, *tuple[int, ...]]]:
    """Of each paper how many claims hold, hold in part, do not hold, could not be tested."""
    tallies = {one.paper: Counter(claim.verdict for claim in one.claims) for one in found}
    return [(paper, *(tally[verdict] for verdict in Verdict)) for paper, tally in tallies.items()]


def entry_text(entry: Entry, digits: int) -> str:
    """Ours with its spread, and the paper's figure in brackets.

    >>> entry_text(Entry(50.62, 1.04, 50.6, 1.0), 1)
    '50.6 ±1.0 [50.6]'
    >>> entry_text(Entry(None, paper=8.0), 0), entry_text(Entry(3.0, low=2.0, high=4.5), 1)
    ('[8]', '3.0 (2.0 to 4.5)')
    """
    parts = []
    if entry.ours is not None:
        parts.append(f"{entry.ours:.{digits}f}")
        if entry.sd is not None:
            parts.append(f"±{entry.sd:.{digits}f}")
        if entry.low is not None and entry.high is not None:
            parts.append(f"({entry.low:.{digits}f} to {entry.high:.{digits}f})")
    if entry.paper is not None:
        parts.append(f"[{entry.paper:.{digits}f}]")
    return " ".join(parts)


def sheet_rows(sheet: Sheet) -> list[list[str]]:
    """The rows of a sheet as they are written."""
    return [[name, *(entry_text(entry, sheet.digits) for entry in entries)] for name, entries in sheet.rows.items()]


def sheet_title(sheet: Sheet) -> str:
    """What is in a sheet, in which unit, and where the paper prints it."""
    title = f"{sheet.title} ({sheet.unit})"
    return f"{title}; paper: {sheet.source}" if sheet.source else title


def reproduction_page(found: Sequence[Reproduction], *, tables: bool = True) -> list[Block]:
    """Verdicts up front, then each paper's experiments; in tables the paper's figure stands in brackets."""
    blocks: list[Block] = [Heading("Claims"), _summary(found)]
    for one in found:
        repeats = ", quick: fewer repeats" if one.quick else ""
        blocks += [Heading(one.citation), Note(f"{one.paper}, {one.seconds:.0f} s of work{repeats}", "quiet")]
        blocks += [Note(note, "warning") for note in one.notes]
        for experiment in one.experiments:
            blocks += _experiment_blocks(experiment, tables)
    blocks.append(Note("In tables: ours ± standard deviation over repeats, and the paper's figure in [ ].", "quiet"))
    return blocks


def _summary(found: Sequence[Reproduction]) -> Table:
    columns = [Column("paper"), *(Column(str(verdict), "count") for verdict in Verdict)]
    return Table(columns, [list(row) for row in summary_rows(found)])


def _experiment_blocks(experiment: Experiment, tables: bool) -> list[Block]:
    blocks: list[Block] = [Heading(f"{experiment.key} {experiment.title}"), Note(experiment.setting)]
    blocks += [Note(f"Chosen: {choice}", "quiet") for choice in experiment.chosen]
    for sheet in experiment.sheets if tables else ():
        blocks.append(Note(sheet_title(sheet) + (f". {sheet.note}" if sheet.note else "")))
        blocks.append(Table([Column(""), *(Column(name) for name in sheet.columns)], sheet_rows(sheet)))
    if experiment.claims:
        rows = [[SIGNS[claim.verdict], claim.text, _found(claim)] for claim in experiment.claims]
        blocks.append(Table([Column("holds"), Column("claim"), Column("found")], rows))
    return blocks


def _found(claim: Claim) -> str:
    return f"{claim.found} {claim.reason}" if claim.reason else claim.found


def reproduction_markdown(found: Sequence[Reproduction], command: str) -> str:
    """The reproductions as one Markdown document; `command` is what made it."""
    lines = ["# The papers, reproduced", "", f"Made by `{command}`.", "", *summary_markdown(found), ""]
    for one in found:
        lines += [f"## {one.citation}", ""]
        lines += [f"> {note}" for note in one.notes]
        for experiment in one.experiments:
            lines += _experiment_lines(experiment)
    lines += ["In tables: ours ± standard deviation over repeats, and the paper's figure in [ ].", ""]
    return "\n".join(lines)


def summary_markdown(found: Sequence[Reproduction]) -> list[str]:
    """How many claims of each paper hold, as the lines of a Markdown table."""
    head = ["paper", *map(str, Verdict)]
    return _markdown_table(head, [list(map(str, row)) for row in summary_rows(found)])


def _experiment_lines(experiment: Experiment) -> list[str]:
    lines = [f"### {experiment.key}: {experiment.title}", "", experiment.setting, ""]
    lines += [f"- {choice}" for choice in experiment.chosen]
    for sheet in experiment.sheets:
        lines += ["", f"**{sheet_title(sheet)}**", ""]
        lines += _markdown_table(["", *sheet.columns], sheet_rows(sheet))
        lines += [f"\n{sheet.note}"] if sheet.note else []
    if experiment.claims:
        rows = [[str(claim.verdict), claim.text, _found(claim)] for claim in experiment.claims]
        lines += ["", *_markdown_table(["verdict", "claim", "found"], rows)]
    return [*lines, ""]


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]
