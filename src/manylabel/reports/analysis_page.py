"""The HTML page of an evaluation: metrics, curves, threshold sweep, set sizes, labels and document rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from manylabel.evaluation.analyses import Analysis, LabelRanking
from manylabel.evaluation.result import LabelRow, Result
from manylabel.metrics.curves import CurveRecord
from manylabel.metrics.label_metrics import accuracy
from manylabel.reports.analysis_tables import size_names
from manylabel.reports.page import Block, Cell, Chart, Column, Heading, Note, Table, page_html
from manylabel.wording import counted

Analysed = Sequence[tuple[Result, Analysis]]

COLOURS = (
    "#1f5fa8", "#c4342c", "#1b7f4d", "#a96a00", "#6b4fa0", "#0f7c8a", "#a3456f", "#5c6b7a", "#7a8b00", "#3d3d8f",
    "#b0562b", "#2f8f6b",
)  # fmt: skip
DRAWN_LABELS, HIDDEN_LABELS = 8, 24
"""How many labels have visible curves, and how many more can be shown by a click on the legend."""
LONGEST_NAME = 26
LISTED_LABELS = 200
FIRST_DOCUMENTS = 5
VIEWS = {"all": "all documents", "labelled": "documents with a label"}
DASHES = {"all": "solid", "labelled": "dot"}


def evaluation_html(pages: Sequence[tuple[Sequence[Block], Analysed]]) -> str:
    """One page of one or several data sets that needs nothing but a browser.

    Each data set comes with the blocks of its text page and with its results and analyses.
    """
    blocks: list[Block | Chart] = []
    for page, found in pages:
        blocks += page
        blocks += analysis_blocks(found)
    methods = list(dict.fromkeys(result.method for _, found in pages for result, _ in found))
    data = list(dict.fromkeys(result.data for _, found in pages for result, _ in found))
    return page_html(f"{', '.join(methods)} on {', '.join(data)}", blocks)


def analysis_blocks(found: Analysed) -> list[Block | Chart]:
    """The analyses of the methods on one data set."""
    several = len(found) > 1
    blocks = [*_curves_section(found), *_sweep_section(found), *_sizes_section(found, several)]
    for result, analysis in found:
        blocks += _labels_section(result, analysis, several)
        blocks += _ranking_section(result, analysis, several)
    return [*blocks, *_weights_section(found)]


# ---- precision–recall and ROC curves ---------------------------------------------------------------------------------


def _curves_section(found: Analysed) -> list[Block | Chart]:
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
        "no part here: only the order of the scores does. A click on the legend shows or hides a curve."
    )
    if left_out:
        rare = counted(left_out, "label with the fewest documents is", "labels with the fewest documents are")
        meaning += f" {rare} left out, to save memory."
    drawn = _label_lines(analysis) if len(found) == 1 else _method_lines(found)
    return [
        Heading("Precision–recall and ROC curves"),
        Table([Column("area under the curve"), *(Column(title, "number") for title in titles)], rows),
        Chart(drawn, _CURVE_LAYOUT),
        Note(meaning, "quiet"),
    ]


_CURVE_LAYOUT: Mapping[str, Any] = {
    "xaxis": {"title": {"text": "recall"}, "range": [-0.01, 1.01], "domain": [0, 0.45], "zeroline": False},
    "yaxis": {"title": {"text": "precision"}, "range": [0, 1.02]},
    "xaxis2": {
        "title": {"text": "false positive rate"}, "range": [-0.01, 1.01], "domain": [0.57, 1], "anchor": "y2",
        "zeroline": False,
    },
    "yaxis2": {"title": {"text": "true positive rate"}, "range": [0, 1.02], "anchor": "x2"},
    "legend": {"font": {"size": 11}},
    "margin": {"t": 16, "r": 10, "b": 56},
}  # fmt: skip
_BELOW: Mapping[str, Any] = {"legend": {"orientation": "h", "y": -0.18}, "margin": {"t": 16, "r": 20}}


def _method_lines(found: Analysed) -> list[dict[str, Any]]:
    lines = []
    for number, (result, analysis) in enumerate(found):
        for curve, dash in ((analysis.curves.micro, "solid"), (analysis.curves.macro, "dash")):
            lines += _pair(curve, f"{result.method}, {curve.name}", number, dash=dash)
    return lines


def _label_lines(analysis: Analysis) -> list[dict[str, Any]]:
    lines = _pair(analysis.curves.micro, "all labels, micro", 0, width=3.5)
    lines += _pair(analysis.curves.macro, "all labels, macro", 1, width=3.5, dash="dash")
    for number, curve in enumerate(analysis.curves.labels[: DRAWN_LABELS + HIDDEN_LABELS]):
        lines += _pair(curve, curve.name, number + 2, width=1.2, shown=number < DRAWN_LABELS)
    return lines


def _pair(
    curve: CurveRecord, name: str, number: int, *, width: float = 2, dash: str = "solid", shown: bool = True
) -> list[dict[str, Any]]:
    """The two curves under one entry of the legend; precision–recall curves have no line between points left out."""
    line = {"color": COLOURS[number % len(COLOURS)], "width": width, "dash": dash}
    shared = {"mode": "lines", "line": line, "legendgroup": name, "visible": True if shown else "legendonly"}
    title = escape(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")
    return [
        {**shared, "name": title, "x": curve.recall, "y": curve.precision},
        {
            **shared,
            "name": title,
            "x": curve.false_positive_rate,
            "y": curve.true_positive_rate,
            "xaxis": "x2",
            "yaxis": "y2",
            "showlegend": False,
        },
    ]


# ---- threshold sweep -------------------------------------------------------------------------------------------------


def _sweep_section(found: Analysed) -> list[Block | Chart]:
    blocks: list[Block | Chart] = [
        Heading("Threshold sweep: precision and recall"),
        Chart(
            [line for number, one in enumerate(found) for line in _precision_recall_lines(*one, number)],
            {
                "xaxis": {"title": {"text": "micro recall"}, "tickformat": ".0%", "zeroline": False},
                "yaxis": {"title": {"text": "micro precision"}, "tickformat": ".0%", "zeroline": False},
                **_BELOW,
            },
        ),
        Note(
            "One threshold for all labels, raised step by step; hover over a point to read it. The star is what the "
            "method's own decision rule reaches. The threshold is compared with the "
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
                    [line for number, one in alike for line in _error_lines(*one, number)],
                    {
                        "xaxis": {"title": {"text": title}, "zeroline": False},
                        "yaxis": {"title": {"text": "0/1 loss"}, "tickformat": ".0%", "zeroline": False},
                        **_BELOW,
                    },
                )
            )
    source = "A document is wrong unless all its labels and no others are predicted. Source: the same, Fig. 2."
    return [*blocks, Note(f"{source} The level line is the loss of the method's own decision rule.", "quiet")]


def _on_unit_scale(analysis: Analysis) -> bool:
    thresholds = analysis.sweeps["all"].thresholds
    return bool(thresholds.min() >= 0 and thresholds.max() <= 1)


def _title(result: Result, analysis: Analysis, view: str) -> str:
    return result.method if len(analysis.sweeps) == 1 else f"{result.method}, {VIEWS[view]}"


def _precision_recall_lines(result: Result, analysis: Analysis, number: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    colour = COLOURS[number % len(COLOURS)]
    for view, sweep in analysis.sweeps.items():
        some = sweep.predicted > 0  # without a prediction there is no precision
        group = f"{number}{view}"
        lines.append(
            {
                "name": escape(_title(result, analysis, view)),
                "legendgroup": group,
                "x": sweep.recall[some].tolist(),
                "y": sweep.precision[some].tolist(),
                "text": [f"threshold {threshold:g}" for threshold in sweep.thresholds[some].tolist()],
                "mode": "lines+markers",
                "marker": {"size": 5},
                "line": {"color": colour, "dash": DASHES[view]},
            }
        )
        metrics = result.metrics[view]
        lines.append(
            {
                "name": "its own decision rule",
                "legendgroup": group,
                "showlegend": False,
                "x": [metrics["micro-recall"]],
                "y": [metrics["micro-precision"]],
                "mode": "markers",
                "marker": {"size": 14, "symbol": "star" if view == "all" else "star-open", "color": colour},
            }
        )
    return lines


def _error_lines(result: Result, analysis: Analysis, number: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    colour = COLOURS[number % len(COLOURS)]
    for view, sweep in analysis.sweeps.items():
        thresholds = sweep.thresholds.tolist()
        shared = {"legendgroup": f"{number}{view}"}
        lines.append(
            {
                **shared,
                "name": escape(_title(result, analysis, view)),
                "x": thresholds,
                "y": sweep.zero_one_loss.tolist(),
                "mode": "lines+markers",
                "marker": {"size": 5},
                "line": {"color": colour, "dash": DASHES[view]},
            }
        )
        lines.append(
            {
                **shared,
                "name": "its own decision rule",
                "showlegend": False,
                "x": [thresholds[0], thresholds[-1]],
                "y": [result.metrics[view]["zero-one-loss"]] * 2,
                "mode": "lines",
                "opacity": 0.45,
                "line": {"color": colour, "width": 1, "dash": DASHES[view]},
            }
        )
    return lines


# ---- set sizes, labels, rankings, weights ----------------------------------------------------------------------------


def _sizes_section(found: Analysed, several: bool) -> list[Block | Chart]:
    blocks: list[Block | Chart] = [Heading("Predicted against true number of labels")]
    for result, analysis in found:
        names = size_names(analysis)
        table = analysis.set_sizes[: len(names), : len(names)]
        totals = table.sum(axis=1)
        shares = [
            [count / total if total else None for count in row]
            for row, total in zip(table.tolist(), totals.tolist(), strict=True)
        ]
        texts = [
            [f"{count:,}<br>{100 * count / total:.0f} %" if count else "" for count in row]
            for row, total in zip(table.tolist(), totals.tolist(), strict=True)
        ]
        documents = [
            f"{name} ({counted(total, 'document')})" for name, total in zip(names, totals.tolist(), strict=True)
        ]
        heat = {
            "type": "heatmap", "x": names, "y": documents, "z": shares, "text": texts, "texttemplate": "%{text}",
            "hoverinfo": "skip", "zmin": 0, "zmax": 1, "xgap": 2, "ygap": 2, "showscale": False,
            "colorscale": [[0, "#f2f5f8"], [1, "#8db7e3"]], "textfont": {"color": "#1d2733"},
        }  # fmt: skip
        layout = {
            "xaxis": {"title": {"text": "predicted labels |S|"}, "type": "category", "side": "bottom"},
            "yaxis": {
                "title": {"text": "true labels |T|", "standoff": 12}, "type": "category", "autorange": "reversed",
                "automargin": True,
            },
            "margin": {"t": 40 if several else 16, "r": 20},
        }  # fmt: skip
        if several:
            layout["title"] = {"text": escape(result.method), "font": {"size": 15}}
        blocks.append(Chart([heat], layout))
    blocks.append(
        Note(
            "Documents, and their share of those with that number of true labels. On the diagonal the number of "
            "predicted labels is right, though not always the labels. Source: Godbole & Sarawagi 2004, Fig. 4.",
            "quiet",
        )
    )
    return blocks


def _labels_section(result: Result, analysis: Analysis, several: bool) -> list[Block | Chart]:
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
    blocks: list[Block | Chart] = [Heading(_of("Contingency table of each label", result, several))]
    blocks.append(Table(columns, rows))
    meaning = (
        "Documents by label: rightly predicted (tp), wrongly predicted (fp), missed (fn), rightly not predicted (tn). "
        "Accuracy is (tp + tn) / documents; for a rare label it is high even if the label is never predicted. Average "
        "precision and ROC area are those under the curves. An empty cell is undefined."
    )
    return [*blocks, Note(meaning + _more(len(order)), "quiet")]


def _ranking_section(result: Result, analysis: Analysis, several: bool) -> list[Block | Chart]:
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


def _weights_section(found: Analysed) -> list[Block | Chart]:
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
        lines.append(
            {
                "type": "bar", "name": escape(result.method), "x": [n for n, _ in bins], "y": [w for _, w in bins],
                "marker": {"color": COLOURS[number % len(COLOURS)]}, "showlegend": len(found) > 1,
            }
        )  # fmt: skip
    if not lines:
        return []
    layout = {
        "xaxis": {"title": {"text": "frequency bin (1: absent)"}, "dtick": 1},
        "yaxis": {"title": {"text": "mean weight, highest = 1"}, "range": [0, 1.05]},
    }
    return [Heading("Mean weight per frequency bin, drawn"), Chart(lines, layout)]


def _frequent_first(row: LabelRow) -> tuple[int, int, str]:
    return (-row.true, -row.predicted, row.label)


def _of(title: str, result: Result, several: bool) -> str:
    return f"{title}: {result.method}" if several else title


def _more(labels: int) -> str:
    return f" {counted(labels - LISTED_LABELS, 'more label')}: --tables FOLDER." if labels > LISTED_LABELS else ""
