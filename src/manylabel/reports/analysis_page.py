"""The HTML page of an evaluation: metrics, curves, threshold sweep, set sizes, labels and document rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from manylabel.evaluation.analyses import Analysis, LabelRanking
from manylabel.evaluation.result import LabelRow, Result
from manylabel.metrics.curves import CurveRecord
from manylabel.metrics.label_metrics import accuracy
from manylabel.reports.charts import Axis, Chart, Series
from manylabel.reports.html_page import HtmlBlock, Shaded, page_html
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.reports.tables import size_names
from manylabel.wording import counted

Analysed = Sequence[tuple[Result, Analysis]]

Dash = Literal["solid", "dashed", "dotted"]

DRAWN_LABELS, HIDDEN_LABELS = 4, 20
"""How many labels have visible curves, and how many more can be shown by a press on the legend."""
LISTED_LABELS = 200
FIRST_DOCUMENTS = 5
VIEWS = {"all": "all documents", "labelled": "documents with a label"}
DASHES: dict[str, Dash] = {"all": "solid", "labelled": "dotted"}


def evaluation_html(pages: Sequence[tuple[Sequence[Block], Analysed]]) -> str:
    """One page of one or several data sets that needs nothing but a browser.

    Each data set comes with the blocks of its text page and with its results and analyses.
    """
    blocks: list[HtmlBlock] = []
    for page, found in pages:
        blocks += page
        blocks += analysis_blocks(found)
    methods = list(dict.fromkeys(result.method for _, found in pages for result, _ in found))
    data = list(dict.fromkeys(result.data for _, found in pages for result, _ in found))
    return page_html(f"{', '.join(methods)} on {', '.join(data)}", blocks)


def analysis_blocks(found: Analysed) -> list[HtmlBlock]:
    """The analyses of the methods on one data set."""
    several = len(found) > 1
    blocks = [*_curves_section(found), *_sweep_section(found), *_sizes_section(found, several)]
    for result, analysis in found:
        blocks += _labels_section(result, analysis, several)
        blocks += _ranking_section(result, analysis, several)
    return [*blocks, *_weights_section(found)]


# ---- precision–recall and ROC curves ---------------------------------------------------------------------------------


def _curves_section(found: Analysed) -> list[HtmlBlock]:
    rows: list[list[Cell]] = []
    for result, analysis in found:
        micro, macro = analysis.curves.micro, analysis.curves.macro
        areas = (micro.average_precision, macro.average_precision, micro.roc_auc, macro.roc_auc)
        rows.append([result.method, *("undefined" if area is None else f"{100 * area:.2f} %" for area in areas)])
    titles = ("precision–recall, micro", "precision–recall, macro", "ROC, micro", "ROC, macro")
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
            [replace(line, x=curve.recall, y=curve.precision) for line, curve in drawn],
        ),
        Chart(
            "ROC: true by false positive rate",
            replace(share, title="false positive rate"),
            replace(share, title="true positive rate"),
            [replace(line, x=curve.false_positive_rate, y=curve.true_positive_rate) for line, curve in drawn],
        ),
        Note(meaning, "quiet"),
    ]


Curves = list[tuple[Series, CurveRecord]]
"""Series without points, and the curve each of them shows."""


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
        (Series(curve.name, (), (), colour=number + 2, width=1.3, hidden=number >= DRAWN_LABELS), curve)
        for number, curve in enumerate(curves.labels[: DRAWN_LABELS + HIDDEN_LABELS])
    ]


# ---- threshold sweep -------------------------------------------------------------------------------------------------


def _sweep_section(found: Analysed) -> list[HtmlBlock]:
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


# ---- set sizes, labels, rankings, weights ----------------------------------------------------------------------------


def _sizes_section(found: Analysed, several: bool) -> list[HtmlBlock]:
    blocks: list[HtmlBlock] = [Heading("Predicted against true number of labels")]
    for result, analysis in found:
        names = size_names(analysis)
        table = analysis.set_sizes[: len(names), : len(names)]
        totals = table.sum(axis=1)
        shares = [
            [count / total if total else 0.0 for count in row]
            for row, total in zip(table.tolist(), totals.tolist(), strict=True)
        ]
        texts = [
            [f"{count:,} ({100 * count / total:.0f} %)" if count else "" for count in row]
            for row, total in zip(table.tolist(), totals.tolist(), strict=True)
        ]
        documents = [
            f"{name} true ({counted(total, 'document')})" for name, total in zip(names, totals.tolist(), strict=True)
        ]
        title = result.method if several else ""
        blocks.append(Shaded(title, "predicted labels", names, documents, texts, shares))
    blocks.append(
        Note(
            "Documents, and their share of those with that number of true labels. On the diagonal the number of "
            "predicted labels is right, though not always the labels. Source: Godbole & Sarawagi 2004, Fig. 4.",
            "quiet",
        )
    )
    return blocks


def _labels_section(result: Result, analysis: Analysis, several: bool) -> list[HtmlBlock]:
    counts, areas = analysis.counts, analysis.areas
    right = accuracy(counts).tolist()
    order = sorted(range(len(result.labels)), key=lambda label: _frequent_first(result.labels[label]))
    rows: list[list[Cell]] = []
    for label in order[:LISTED_LABELS]:
        row, area = result.labels[label], areas.get(result.labels[label].label)
        rows.append(
            [
                row.label,
                *(int(numbers[label]) for numbers in (counts.tp, counts.fp, counts.fn, counts.tn)),
                right[label], row.precision, row.recall, row.f1,
                None if area is None else area.average_precision,
                None if area is None else area.roc_auc,
            ]
        )  # fmt: skip
    titles = ("tp", "fp", "fn", "tn")
    shares = ("accuracy", "precision", "recall", "F1", "avg. precision", "ROC area")
    columns = [Column("label"), *(Column(t, "count") for t in titles), *(Column(t, "share") for t in shares)]
    blocks: list[HtmlBlock] = [Heading(_of("Contingency table of each label", result, several))]
    blocks.append(Table(columns, rows))
    meaning = (
        "Documents by label: rightly predicted (tp), wrongly predicted (fp), missed (fn), rightly not predicted (tn). "
        "Accuracy is (tp + tn) / documents; for a rare label it is high even if the label is never predicted. Average "
        "precision and ROC area are those under the curves. An empty cell is undefined."
    )
    return [*blocks, Note(meaning + _more(len(order)), "quiet")]


def _ranking_section(result: Result, analysis: Analysis, several: bool) -> list[HtmlBlock]:
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
    heading = Heading(_of("Document ranking of each label", result, several))
    return [heading, Table(columns, rows[:LISTED_LABELS]), Note(meaning + _more(len(rows)), "quiet")]


def _first(ranking: LabelRanking) -> str:
    """The first documents, each with its mark, joined by a space at which no line ends."""
    if not ranking.documents:
        return "never seen in training"
    return ", ".join(
        f"{one.id}\N{NO-BREAK SPACE}{'✓' if one.true else '✗'}" for one in ranking.documents[:FIRST_DOCUMENTS]
    )


def _weights_section(found: Analysed) -> list[HtmlBlock]:
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


def _frequent_first(row: LabelRow) -> tuple[int, int, str]:
    return (-row.true, -row.predicted, row.label)


def _of(title: str, result: Result, several: bool) -> str:
    return f"{title}: {result.method}" if several else title


def _more(labels: int) -> str:
    return f" {counted(labels - LISTED_LABELS, 'more label')}: --tables FOLDER." if labels > LISTED_LABELS else ""
