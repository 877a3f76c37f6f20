"""The figures of the papers on the page of an evaluation: curves, threshold sweep, document rankings, weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from manylabel.evaluation.analyses import Analysis, LabelRanking
from manylabel.evaluation.result import Result
from manylabel.metrics.curves import CurveRecord
from manylabel.reports.charts import Axis, Chart, Dash, Series
from manylabel.reports.html_page import HtmlBlock
from manylabel.reports.page import Cell, Column, Heading, Note, Table
from manylabel.wording import counted

Analysed = Sequence[tuple[Result, Analysis]]

DRAWN_LABELS, HIDDEN_LABELS = 4, 8
"""How many labels have visible curves, and how many more can be shown by a press on the legend."""
NEAREST = 0.004
"""How far apart points of a curve are drawn: about two pixels."""
LISTED_LABELS = 200
FIRST_DOCUMENTS = 5
VIEWS = {"all": "all documents", "labelled": "documents with a label"}
DASHES: dict[str, Dash] = {"all": "solid", "labelled": "dotted"}
LABEL_DASHES: tuple[Dash, ...] = ("dotted", "dashdot", "long", "solid")
"""By these, labels can be told apart without colour; averages are drawn wider."""


# ---- precision–recall and ROC curves ---------------------------------------------------------------------------------


def curves_section(found: Analysed) -> list[HtmlBlock]:
    """The areas under the curves, and the curves of the averages and the largest labels."""
    rows: list[list[Cell]] = []
    for result, analysis in found:
        micro, macro = analysis.curves.micro, analysis.curves.macro
        areas = (micro.average_precision, macro.average_precision, micro.roc_auc, macro.roc_auc)
        rows.append([result.method, *("undefined" if area is None else f"{100 * area:.2f} %" for area in areas)])
    titles = ["precision–recall, micro", "precision–recall, macro", "ROC, micro", "ROC, macro"]
    if len(rows) == 1:  # two columns are enough, also on a phone
        titles, rows = ["micro", "macro"], [["precision–recall", *rows[0][1:3]], ["ROC", *rows[0][3:]]]
    analysis = found[0][1]
    left_out = len(analysis.label_names) - len(analysis.curves.labels)
    meaning = (
        "Micro pools all pairs of a document and a label; macro is the mean over labels that have both documents with "
        "and without them. The area under the precision–recall curve is the average precision. The decision rule plays "
        "no part here: only the order of the scores does. A press on a name shows or hides its curve."
    )
    if left_out:
        rare = counted(left_out, "label with the fewest documents is", "labels with the fewest documents are")
        meaning += f" {rare} left out, to save memory."
    drawn = _labels_curves(analysis) if len(found) == 1 else _methods_curves(found)
    share = Axis(percent=True, low=0, high=1)
    return [
        Heading("Precision–recall and ROC curves"),
        Table([Column("area under the curve"), *(Column(title, "number") for title in titles)], rows),
        Chart(
            "Precision by recall",
            replace(share, title="recall"),
            replace(share, title="precision"),
            [_through(line, curve.recall, curve.precision) for line, curve in drawn],
        ),
        Chart(
            "ROC: true by false positive rate",
            replace(share, title="false positive rate"),
            replace(share, title="true positive rate"),
            [_through(line, curve.false_positive_rate, curve.true_positive_rate) for line, curve in drawn],
        ),
        Note(meaning, "quiet"),
    ]


Curves = list[tuple[Series, CurveRecord]]
"""Series without points, and the curve each of them shows."""


def _through(line: Series, x: Sequence[float | None], y: Sequence[float | None]) -> Series:
    """The series through points of a curve of shares, without those that cannot be told from the one before."""
    kept: list[tuple[float, float]] = []
    points = [(a, b) for a, b in zip(x, y, strict=True) if a is not None and b is not None]
    for number, (a, b) in enumerate(points):
        if not kept or number == len(points) - 1 or max(abs(a - kept[-1][0]), abs(b - kept[-1][1])) >= NEAREST:
            kept.append((a, b))
    return replace(line, x=[a for a, _ in kept], y=[b for _, b in kept])


def _methods_curves(found: Analysed) -> Curves:
    drawn: Curves = []
    for number, (result, analysis) in enumerate(found):
        micro = Series(f"{result.method}, micro", (), (), colour=number)
        macro = Series(f"{result.method}, macro", (), (), colour=number, dash="dashed")
        drawn += [(micro, analysis.curves.micro), (macro, analysis.curves.macro)]
    return drawn


def _labels_curves(analysis: Analysis) -> Curves:
    curves = analysis.curves
    averages: Curves = [
        (Series("all labels, micro", (), (), colour=0, width=3.5), curves.micro),
        (Series("all labels, macro", (), (), colour=1, width=3.5, dash="dashed"), curves.macro),
    ]
    return averages + [
        (
            Series(
                curve.name,
                (),
                (),
                colour=number + 2,
                width=1.6,
                dash=LABEL_DASHES[number % len(LABEL_DASHES)],
                hidden=number >= DRAWN_LABELS,
            ),
            curve,
        )
        for number, curve in enumerate(curves.labels[: DRAWN_LABELS + HIDDEN_LABELS])
    ]


# ---- threshold sweep -------------------------------------------------------------------------------------------------


def sweep_section(found: Analysed) -> list[HtmlBlock]:
    """Precision, recall and 0/1 loss by one common threshold."""
    blocks: list[HtmlBlock] = [
        Heading("Threshold sweep: precision and recall"),
        Chart(
            "",
            Axis("micro recall", percent=True),
            Axis("micro precision", percent=True),
            [line for number, one in enumerate(found) for line in _precision_recall_lines(*one, number)],
        ),
        Note(
            "One threshold for all labels, raised step by step; hover over a point to read it. The large dot is what "
            "the method's own decision rule reaches. The threshold is compared with the "
            + "; ".join(f"{analysis.swept} ({result.method})" for result, analysis in found)
            + ". It was swept over these very documents: choose no threshold by it and then report the figures found "
            "here. Source: Vilar, Castro & Sanchis 2004, Fig. 1.",
            "quiet",
        ),
        Heading("Threshold sweep: documents with a wrong label set"),
    ]
    for probabilities in (True, False):
        alike = [(n, one) for n, one in enumerate(found) if _on_unit_scale(one[1]) is probabilities]
        if alike:
            title = "threshold" if probabilities else "threshold (score)"
            blocks.append(
                Chart(
                    "",
                    Axis(title),
                    Axis("0/1 loss", percent=True),
                    [line for number, one in alike for line in _error_lines(*one, number)],
                )
            )
    source = "A document is wrong unless all its labels and no others are predicted. Source: the same, Fig. 2."
    return [*blocks, Note(f"{source} The level line is the loss of the method's own decision rule.", "quiet")]


def _on_unit_scale(analysis: Analysis) -> bool:
    thresholds = analysis.sweeps["all"].thresholds
    return bool(thresholds.min() >= 0 and thresholds.max() <= 1)


def _title(result: Result, analysis: Analysis, view: str) -> str:
    return result.method if len(analysis.sweeps) == 1 else f"{result.method}, {VIEWS[view]}"


def _precision_recall_lines(result: Result, analysis: Analysis, number: int) -> list[Series]:
    lines: list[Series] = []
    for view, sweep in analysis.sweeps.items():
        some = sweep.predicted > 0  # without a prediction there is no precision
        title, metrics = _title(result, analysis, view), result.metrics[view]
        lines += [
            Series(
                title,
                sweep.recall[some].tolist(),
                sweep.precision[some].tolist(),
                colour=number,
                dash=DASHES[view],
                text=[f"threshold {threshold:g}" for threshold in sweep.thresholds[some].tolist()],
            ),
            Series(
                f"{title}: its own decision rule",
                [metrics["micro-recall"]],
                [metrics["micro-precision"]],
                mark="dots",
                colour=number,
                size=[8],
            ),
        ]
    return lines


def _error_lines(result: Result, analysis: Analysis, number: int) -> list[Series]:
    lines: list[Series] = []
    for view, sweep in analysis.sweeps.items():
        thresholds, title = sweep.thresholds.tolist(), _title(result, analysis, view)
        own = [result.metrics[view]["zero-one-loss"]] * 2
        ends = [thresholds[0], thresholds[-1]]
        lines += [
            Series(title, thresholds, sweep.zero_one_loss.tolist(), colour=number, dash=DASHES[view]),
            Series(f"{title}: its own decision rule", ends, own, colour=number, dash=DASHES[view], width=1),
        ]
    return lines


# ---- rankings, weights -----------------------------------------------------------------------------------------------


def ranking_section(result: Result, analysis: Analysis, several: bool) -> list[HtmlBlock]:
    """The first documents of each label."""
    rows: list[list[Cell]] = [
        [ranking.label, curve.positives, ranking.precision_at_10, ranking.r_precision, _first(ranking)]
        for ranking, curve in zip(analysis.rankings, analysis.curves.labels, strict=True)
    ]
    columns = [Column("label"), Column("documents", "count"), Column("precision at 10", "share")]
    columns += [Column("R-precision", "share"), Column("first documents")]
    meaning = (
        "The documents of each label, best score first: ✓ has the label, ✗ has not. R-precision is the precision among "
        "as many documents as have the label. --tables writes the whole ranking."
    )
    heading = Heading(of_method("Document ranking of each label", result.method, several))
    return [heading, Table(columns, rows[:LISTED_LABELS]), Note(meaning + _more(len(rows)), "quiet")]


def _first(ranking: LabelRanking) -> str:
    """The first documents, each with its mark, joined by a space at which no line ends."""
    if not ranking.documents:
        return "never seen in training"
    return ", ".join(
        f"{one.id}\N{NO-BREAK SPACE}{'✓' if one.true else '✗'}" for one in ranking.documents[:FIRST_DOCUMENTS]
    )


def weights_section(found: Analysed) -> list[HtmlBlock]:
    """A drawing of the mean weight of each frequency bin, scaled so that the highest is 1."""
    lines = []
    for number, (result, _) in enumerate(found):
        weights = result.remarks.get("bin_weights")
        if weights is None or not any(weights["occurring"]):
            continue
        highest = max(weights["occurring"])
        bins = [
            (n, w / highest)
            for n, (w, t) in enumerate(zip(weights["occurring"], weights["terms"], strict=True), 1)
            if t
        ]
        lines.append(Series(result.method, [n for n, _ in bins], [w for _, w in bins], mark="both", colour=number))
    if not lines:
        return []
    absent_first, highest_first = Axis("frequency bin (1: absent)"), Axis("mean weight, highest = 1", low=0, high=1)
    return [Heading("Mean weight per frequency bin, drawn"), Chart("", absent_first, highest_first, lines)]


def of_method(title: str, method: str, several: bool) -> str:
    """A title, with the method where there are several."""
    return f"{title}: {method}" if several else title


def _more(labels: int) -> str:
    return f" {counted(labels - LISTED_LABELS, 'more label')}: --tables FOLDER." if labels > LISTED_LABELS else ""
