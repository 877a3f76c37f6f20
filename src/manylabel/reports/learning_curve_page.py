"""The page of a learning curve, as text with a plot of characters and as HTML with charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manylabel.metrics.targets import measured_documents
from manylabel.reports.charts import Axis, Chart, Series
from manylabel.reports.html_page import HtmlBlock
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.reports.records import LabelCurve, LearningCurve, Outlook
from manylabel.wording import counted

HELPS, HARDLY = 0.02, 0.05
"""Shares of the distance to a perfect score: more documents help from the first on, hardly below the second."""
VERDICTS = {
    "rising": ("Still rising", "More documents with these labels would help."),
    "open": ("No clear trend", "There are too few test documents to distinguish a rise from chance."),
    "level": ("Level", "The last doubling of the documents moved their F1 by less than two points."),
    "rare": ("Too rare to judge", "They have fewer than 10 test documents"),
}


def learning_curve_page(facts: LearningCurve, labels: int | None = 10) -> list[Block]:
    """The whole page; `labels` limits each table of labels (None: all of them)."""
    repeats = f", {facts.repeats} repeats" if facts.repeats > 1 else ""
    verdict, *others = outlook_sentences(facts)
    return [
        Heading(learning_curve_title(facts)),
        Note(verdict, "answer"),
        *(Note(text) for text in others),
        Note(f"{facts.split}; {counted(facts.tested, 'test document')}{repeats}, seed {facts.seed}."),
        _steps_table(facts),
        Note(_plot(facts)),
        *_label_blocks(facts, labels),
        Note(_small_print(facts), "quiet"),
    ]


def learning_curve_title(facts: LearningCurve) -> str:
    """The title of the page."""
    return f"{facts.data}, {facts.method}: {facts.title} by number of training documents"


def _steps_table(facts: LearningCurve) -> Table:
    rows: list[list[Cell]] = [
        [step.documents, _percent(step.mean), _percent(step.low), _percent(step.high), step.mean]
        for step in facts.steps
    ]
    columns = [Column("documents", "count"), Column(facts.title, "number")]
    columns += [Column("least", "number"), Column("most", "number"), Column("", "bar")]
    return Table(columns, rows)


def _plot(facts: LearningCurve) -> str:
    points = [Point(step.documents, step.mean, step.low, step.high) for step in facts.steps]
    ahead = facts.outlook
    drawn = text_plot([*points, Point(ahead.documents, ahead.value, ahead.low, ahead.high, "○")])
    return f"{drawn}\n         ● measured   ○ predicted for twice the documents, with its 95 % interval"


def outlook_sentences(facts: LearningCurve) -> list[str]:
    """Whether more documents would help, and how far to trust the estimate."""
    ahead, last = facts.outlook, facts.steps[-1]
    change = 100 * abs(ahead.gain)
    direction = "better" if ahead.gain > 0 else "different"
    estimate = (
        f"Twice the documents ({ahead.documents:,}) would give about {_percent(ahead.value)} (95 % interval "
        f"{_percent(ahead.low)} to {_percent(ahead.high)}), {_points(change)} {direction} than now"
    )
    sentences = [f"Would more documents help? {_verdict(ahead)} {estimate}."]
    if ahead.foretold is not None:
        sentences.append(
            f"How far to trust this: the same fit without the last step would have predicted "
            f"{_percent(ahead.foretold)} for {counted(last.documents, 'document')}; {_percent(last.mean)} was measured."
        )
    return sentences


def _verdict(ahead: Outlook) -> str:
    """Yes, hardly or unclear, by the share of the distance to a perfect score that twice the documents close."""
    if ahead.closed_low >= HELPS:
        return "Yes."
    return "Hardly." if ahead.closed_high < HARDLY else "This is unclear."


def _label_blocks(facts: LearningCurve, limit: int | None) -> list[Block]:
    blocks: list[Block] = []
    for verdict, (title, meaning) in VERDICTS.items():
        rows = labels_of(facts.labels, verdict)
        if not rows:
            continue
        blocks.append(Heading(f"{title}: {counted(len(rows), 'label')}"))
        if verdict == "rare":
            names = [row.label for row in rows]
            more = f" and {len(names) - 12:,} more" if len(names) > 12 else ""
            blocks.append(Note(f"{meaning}: {', '.join(names[:12])}{more}."))
            continue
        blocks += [Note(meaning), _label_table(rows if limit is None else rows[:limit])]
    return blocks


def labels_of(labels: Sequence[LabelCurve], verdict: str) -> list[LabelCurve]:
    """The labels of one verdict, the steepest first."""
    chosen = [row for row in labels if row.verdict == verdict]
    return sorted(chosen, key=lambda row: (-row.slope, row.label))


def _label_table(rows: Sequence[LabelCurve]) -> Table:
    columns = [Column("label"), Column("train", "count"), Column("test", "count"), Column("F1 now", "share")]
    columns += [Column("added per doubling", "number"), Column("from", "number"), Column("to", "number")]
    cells: list[list[Cell]] = [
        [row.label, row.trained, row.tested, row.f1[-1], *(_signed(slope) for slope in (row.slope, row.low, row.high))]
        for row in rows
    ]
    return Table(columns, cells)


def _small_print(facts: LearningCurve) -> str:
    ahead = facts.outlook
    sign = "−" if ahead.b >= 0 else "+"
    return (
        f"The curve is {ahead.a:.3f} {sign} {abs(ahead.b):.3g} · n^−{ahead.c:.2f}, fitted to the means; "
        "intervals resample test documents and repeats, and hold for documents of the same kind. Labels: slope of F1 "
        "over the last three steps, 90 % interval; of the labels without a trend one in twenty is listed as rising. "
        "Least and most are over repeats, which all end with the same documents. "
        f"{facts.title}: over the test {measured_documents(facts.metric)}."
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    return f"{value:.1f} point{'s' * (f'{value:.1f}' != '1.0')}"


def _signed(value: float) -> str:
    return f"{100 * value:+.1f}"


WIDTH, HEIGHT = 60, 12


@dataclass(frozen=True, slots=True)
class Point:
    """A value with a range, over a size; `sign` is drawn at the value."""

    x: float
    y: float
    low: float
    high: float
    sign: str = "●"


def text_plot(points: Sequence[Point], width: int = WIDTH, height: int = HEIGHT) -> str:
    """The points over a logarithmic axis; ranges as vertical lines, values in percent on the left.

    >>> print(text_plot([Point(1, 0.2, 0.1, 0.3), Point(10, 0.4, 0.4, 0.4)], width=20, height=4))
     40.0 % │                   ●
     30.0 % ││
     20.0 % │●
     10.0 % ││
            └────────────────────
             1                 10
    """
    low, high = min(point.low for point in points), max(point.high for point in points)
    span = high - low or 1.0
    first, last = math.log(points[0].x), math.log(max(point.x for point in points))
    grid = [[" "] * width for _ in range(height)]

    def line(value: float) -> int:
        return round((high - value) / span * (height - 1))

    places = [round((math.log(point.x) - first) / (last - first or 1.0) * (width - 1)) for point in points]
    for point, place in zip(points, places, strict=True):
        for row in range(line(point.high), line(point.low) + 1):
            grid[row][place] = "│"
        grid[line(point.y)][place] = point.sign
    rows = [
        f"{100 * (high - span * row / (height - 1)):5.1f} % │{''.join(cells).rstrip()}"
        for row, cells in enumerate(grid)
    ]
    return "\n".join([*rows, f"        └{'─' * width}", f"         {_axis(points, places, width)}"])


def _axis(points: Sequence[Point], places: Sequence[int], width: int) -> str:
    """The sizes under their points; one that would run into another is left out, the last never."""
    axis = [" "] * width
    taken = width + 1
    for point, place in sorted(zip(points, places, strict=True), key=lambda pair: -pair[1]):
        text = f"{point.x:,.0f}"
        start = max(0, min(place - len(text) // 2, width - len(text)))
        if start + len(text) < taken:
            axis[start : start + len(text)] = text
            taken = start
    return "".join(axis).rstrip()


MOST_LINES = 15


def learning_curve_report(facts: LearningCurve) -> list[HtmlBlock]:
    """The report, with all labels in its tables; the drawing in characters gives way to a chart."""
    drawing = Note(_plot(facts))
    blocks: list[HtmlBlock] = [
        _curve(facts) if block == drawing else block for block in learning_curve_page(facts, None)
    ]
    rising = labels_of(facts.labels, "rising")[:MOST_LINES]
    if rising:
        blocks += [Heading("The labels that rise most"), _label_curves(facts, rising)]
    return [*blocks, Note(f"{facts.seconds:.0f} seconds of work.", "quiet")]


def _curve(facts: LearningCurve) -> Chart:
    steps, ahead = facts.steps, facts.outlook
    sizes = [step.documents for step in steps]
    grid = np.geomspace(sizes[0], ahead.documents, 60)
    series = [
        Series(
            "measured (least and most of the repeats)",
            sizes,
            [step.mean for step in steps],
            mark="dots",
            low=[step.low for step in steps],
            high=[step.high for step in steps],
        ),
        Series(
            "fitted curve", grid.tolist(), (ahead.a - ahead.b * grid**-ahead.c).tolist(), colour=None, dash="dotted"
        ),
        Series(
            "twice the documents (95 % interval)",
            [ahead.documents],
            [ahead.value],
            mark="dots",
            colour=1,
            low=[min(ahead.low, ahead.value)],
            high=[max(ahead.high, ahead.value)],
        ),
    ]
    return Chart("", _documents_axis([*sizes, ahead.documents]), Axis(facts.title, percent=True), series)


def _label_curves(facts: LearningCurve, rows: Sequence[LabelCurve]) -> Chart:
    sizes = [step.documents for step in facts.steps]
    lines = [Series(row.label, sizes, row.f1, mark="both", colour=number) for number, row in enumerate(rows)]
    return Chart("", _documents_axis(sizes), Axis("F1", percent=True), lines)


def _documents_axis(sizes: Sequence[int]) -> Axis:
    return Axis("training documents (logarithmic)", kind="log", ticks=sizes)
