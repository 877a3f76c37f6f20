"""Reproductions of papers as text for a terminal, as Markdown, and as one self-contained HTML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from manylabel.evaluation.findings import Claim, Curves, Entry, Experiment, Reproduction, Sheet, Verdict
from manylabel.reports.charts import Axis, Chart, Series
from manylabel.reports.html_page import block_html, html_file
from manylabel.reports.page import Block, Column, Heading, Note, Table

SIGNS = {
    Verdict.REPRODUCED: "yes",
    Verdict.IN_PART: "in part",
    Verdict.NOT_REPRODUCED: "no",
    Verdict.NOT_TESTED: "not tested",
    Verdict.QUICK: "no verdict: quick settings",
}


def shown_verdicts(found: Sequence[Reproduction]) -> list[Verdict]:
    """The columns of the summary: all verdicts, but the quick one only where a claim has it."""
    quick = any(claim.verdict is Verdict.QUICK for one in found for claim in one.claims)
    return [verdict for verdict in Verdict if quick or verdict is not Verdict.QUICK]


def summary_rows(found: Sequence[Reproduction]) -> list[tuple[str, *tuple[int, ...]]]:
    """The number of claims of each paper that hold, hold in part, do not hold, or could not be tested."""
    tallies = {one.paper: Counter(claim.verdict for claim in one.claims) for one in found}
    shown = shown_verdicts(found)
    return [(paper, *(tally[verdict] for verdict in shown)) for paper, tally in tallies.items()]


def entry_text(entry: Entry, digits: int) -> str:
    """Ours with its spread, and the paper's figure in brackets.

    >>> entry_text(Entry(50.62, 1.04, 50.6, 1.0), 1)
    '50.6 ±1.0 [50.6]'
    >>> entry_text(Entry(None, paper=8.0), 0), entry_text(Entry(3.0, low=2.0, high=4.5), 1)
    ('[8]', '3.0 (2.0 to 4.5)')
    """
    pieces = []
    if entry.ours is not None:
        pieces.append(f"{entry.ours:.{digits}f}")
        if entry.sd is not None:
            pieces.append(f"±{entry.sd:.{digits}f}")
        if entry.low is not None and entry.high is not None:
            pieces.append(f"({entry.low:.{digits}f} to {entry.high:.{digits}f})")
    if entry.paper is not None:
        pieces.append(f"[{entry.paper:.{digits}f}]")
    return " ".join(pieces)


def sheet_rows(sheet: Sheet) -> list[list[str]]:
    """The rows of a sheet as text."""
    return [[name, *(entry_text(entry, sheet.digits) for entry in entries)] for name, entries in sheet.rows.items()]


def sheet_title(sheet: Sheet) -> str:
    """What is in a sheet, in which unit, and where the paper prints it."""
    title = f"{sheet.title} ({sheet.unit})"
    return f"{title}; paper: {sheet.source}" if sheet.source else title


def reproduction_page(found: Sequence[Reproduction]) -> list[Block]:
    """Verdicts up front, then each paper's experiments; in tables the paper's figure stands in brackets."""
    blocks: list[Block] = [Heading("Claims"), _summary(found)]
    for one in found:
        repeats = ", quick: fewer repeats" if one.quick else ""
        blocks += [Heading(one.citation), Note(f"{one.paper}, {one.seconds:.0f} s of work{repeats}", "quiet")]
        blocks += [Note(note, "warning") for note in one.notes]
        for experiment in one.experiments:
            blocks += _experiment_blocks(experiment)
    blocks.append(Note("In tables: ours ± standard deviation over repeats, and the paper's figure in [ ].", "quiet"))
    return blocks


def _summary(found: Sequence[Reproduction]) -> Table:
    columns = [Column("paper"), *(Column(str(verdict), "count") for verdict in shown_verdicts(found))]
    return Table(columns, [list(row) for row in summary_rows(found)])


def _experiment_blocks(experiment: Experiment) -> list[Block]:
    blocks: list[Block] = [Heading(f"{experiment.key} {experiment.title}"), Note(experiment.setting)]
    blocks += [Note(choice, "quiet") for choice in experiment.chosen]
    for sheet in experiment.sheets:
        blocks.append(Note(sheet_title(sheet) + (f". {sheet.note}" if sheet.note else "")))
        blocks.append(Table([Column(""), *(Column(name) for name in sheet.columns)], sheet_rows(sheet)))
    if experiment.claims:
        rows = [[SIGNS[claim.verdict], claim.text, claim.found_text] for claim in experiment.claims]
        blocks.append(Table([Column("holds"), Column("claim"), Column("found")], rows))
    return blocks


def reproduction_markdown(found: Sequence[Reproduction], command: str) -> str:
    """The reproductions as one Markdown document; `command` is what made it."""
    lines = ["# The papers, reproduced", "", *_introduction(command), "", *summary_markdown(found), ""]
    for one in found:
        lines += [f"## {one.citation}", ""]
        lines += [f"> {note}" for note in one.notes]
        for experiment in one.experiments:
            lines += _experiment_lines(experiment)
    return "\n".join(lines)


def _introduction(command: str) -> list[str]:
    """The first paragraphs of the Markdown document: what it shows, how to read its tables, and what made it."""
    return [
        "manylabel follows several papers. This page repeats their experiments, shows our figures beside theirs, and",
        "gives a verdict on each of their claims. [How claims are decided](reproduction.md) explains the verdicts.",
        "",
        "In tables, the first number is ours, with ± its standard deviation over repeats, and the number in [ ] is the",
        "paper's. Numbers in ( ) are 95 % intervals. X-1 and so on number the experiments. "
        f"The page is made by `{command}`.",
    ]


def summary_markdown(found: Sequence[Reproduction]) -> list[str]:
    """How many claims of each paper hold, as the lines of a Markdown table."""
    head = ["paper", *map(str, shown_verdicts(found))]
    return _markdown_table(head, [list(map(str, row)) for row in summary_rows(found)])


def _experiment_lines(experiment: Experiment) -> list[str]:
    lines = [f"### {experiment.key}: {experiment.title}", "", experiment.setting, ""]
    lines += [f"- {choice}" for choice in experiment.chosen]
    for sheet in experiment.sheets:
        lines += ["", f"**{sheet_title(sheet)}**", ""]
        lines += _markdown_table(["", *sheet.columns], sheet_rows(sheet))
        lines += [f"\n{sheet.note}"] if sheet.note else []
    if experiment.claims:
        rows = [[str(claim.verdict), claim.text, claim.found_text] for claim in experiment.claims]
        lines += ["", *_markdown_table(["verdict", "claim", "found"], rows)]
    return [*lines, ""]


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


FULL_COLOUR = 5.0
"""Points of deviation from the paper at which a cell has its full colour."""

CLASSES = {
    Verdict.REPRODUCED: "yes",
    Verdict.IN_PART: "part",
    Verdict.NOT_REPRODUCED: "no",
    Verdict.NOT_TESTED: "open",
    Verdict.QUICK: "open",
}

_STYLES = """
h2 { border-top: 2px solid var(--line); padding-top: .9rem; } h4 { margin: 1.4rem 0 .4rem; }
td.figure small { color: var(--quiet); display: block; } nav a { margin-right: 1.1rem; }
.verdict { font-weight: 600; font-size: .75rem; padding: .05rem .5rem; border-radius: .7rem; white-space: nowrap;
           color: var(--paper); }
.yes { background: var(--good); } .part { background: var(--warning); }
.no { background: var(--bad); } .open { background: var(--quiet); }
"""
_INTRODUCTION = (
    "Every figure below was computed by manylabel. In tables ours stands first, with its standard deviation over "
    "repeats; the paper's figure is below it. A cell is coloured by how far ours lies above (blue) or below (red) the "
    "paper's."
)


def reproduction_html(found: Sequence[Reproduction]) -> str:
    """One page that needs nothing but a browser."""
    links = "".join(f'<a href="#{escape(one.paper)}">{escape(one.paper)}</a>' for one in found)
    head = f'<p class="quiet">{_INTRODUCTION}</p>{_summary_html(found)}<nav>{links}</nav>'
    return html_file("The papers, reproduced", "\n".join([head, *map(_paper, found)]), _STYLES)


def _chart(curves: Curves) -> str:
    lines = [
        Series(name, [x for x, _ in points], [y for _, y in points], mark="both", colour=number)
        for number, (name, points) in enumerate(curves.lines.items())
    ]
    note = block_html(Note(curves.note, "quiet")) if curves.note else ""
    return block_html(Chart(curves.title, Axis(curves.x), Axis(curves.y), lines)) + note


def _summary_html(found: Sequence[Reproduction]) -> str:
    head = "".join(f"<th>{escape(str(verdict))}</th>" for verdict in shown_verdicts(found))
    rows = "".join(
        f'<tr><th><a href="#{escape(name)}">{escape(name)}</a></th>'
        + "".join(f'<td class="figure">{count or ""}</td>' for count in counts)
        + "</tr>"
        for name, *counts in summary_rows(found)
    )
    return f"<table><tr><th>claims</th>{head}</tr>{rows}</table>"


def _paper(one: Reproduction) -> str:
    repeats = " A quick run: fewer repeats than the paper." if one.quick else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in one.notes)
    body = "".join(_experiment(experiment) for experiment in one.experiments)
    return (
        f'<h2 id="{escape(one.paper)}">{escape(one.citation)}</h2>'
        f'<p class="quiet">{one.seconds:.0f} seconds of work.{repeats}</p>{notes}{body}'
    )


def _experiment(experiment: Experiment) -> str:
    chosen = "".join(f"<li>{escape(choice)}</li>" for choice in experiment.chosen)
    claims = "".join(_claim(claim) for claim in experiment.claims)
    return "".join(
        [
            f"<h3>{escape(experiment.key)}: {escape(experiment.title)}</h3><p>{escape(experiment.setting)}</p>",
            f"<ul>{chosen}</ul>" if chosen else "",
            f"<table>{claims}</table>" if claims else "",
            *(_sheet(sheet) for sheet in experiment.sheets),
            *map(_chart, experiment.curves),
        ]
    )


def _claim(claim: Claim) -> str:
    source = f' <span class="quiet">({escape(claim.source)})</span>' if claim.source else ""
    notes = [claim.reason, *(reading.text for reading in claim.readings)]
    reason = "".join(f'<br><span class="quiet">{escape(note)}</span>' for note in notes if note)
    return (
        f'<tr><td><span class="verdict {CLASSES[claim.verdict]}">{escape(str(claim.verdict))}</span></td>'
        f"<td>{escape(claim.text)}{source}</td><td>{escape(claim.found)}{reason}</td></tr>"
    )


def _sheet(sheet: Sheet) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in sheet.columns)
    rows = "".join(
        f"<tr><th>{escape(name)}</th>{''.join(_cell(entry, sheet) for entry in entries)}</tr>"
        for name, entries in sheet.rows.items()
    )
    note = f'<p class="quiet">{escape(sheet.note)}</p>' if sheet.note else ""
    return (
        f"<h4>{escape(sheet_title(sheet))}</h4>"
        f'<div class="wide"><table><tr><th></th>{head}</tr>{rows}</table></div>{note}'
    )


def _cell(entry: Entry, sheet: Sheet) -> str:
    ours = entry_text(Entry(entry.ours, entry.sd, low=entry.low, high=entry.high), sheet.digits)
    paper = "" if entry.paper is None else entry_text(Entry(entry.paper, entry.paper_sd), sheet.digits)
    below = f"<small>{escape(paper)}</small>" if paper else ""
    return f'<td class="figure" style="{_colour(entry)}">{escape(ours)}{below}</td>'


def _colour(entry: Entry) -> str:
    """The colour of a cell: blue above the paper's value, red below, stronger the larger the difference."""
    if entry.deviation is None:
        return ""
    strength = min(abs(entry.deviation) / FULL_COLOUR, 1.0) * 0.45
    colour = "41, 98, 180" if entry.deviation > 0 else "196, 52, 44"
    return f"background: rgba({colour}, {strength:.2f})"
