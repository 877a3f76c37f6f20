"""The page of an evaluation report: the answer first, then labels, thresholds, calibration, confusions and mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from manylabel.evaluation.analyses import Analysis
from manylabel.evaluation.mistakes import Confusion
from manylabel.evaluation.result import Result
from manylabel.evaluation.threshold_curves import MOST_CURVES
from manylabel.notebook import signed
from manylabel.reports.analysis_page import (
    curves_section,
    of_method,
    ranking_section,
    sweep_section,
    weights_section,
)
from manylabel.reports.charts import Axis, Chart, Series
from manylabel.reports.evaluation_records import EvaluationReport, MeasuredLabel, ShownMistake
from manylabel.reports.html_page import Drawing, HtmlBlock, Shaded, Thresholds
from manylabel.reports.labels_page import graph_svg
from manylabel.reports.page import Block, Cell, Column, Heading, Items, Marked, Note, Table
from manylabel.reports.result_page import foot_notes, frequency_blocks
from manylabel.wording import counted

Measured = tuple[Result, Analysis, EvaluationReport]
MOST_CONFUSIONS = 100
"""Confused pairs that a page lists."""


def evaluation_title(found: Sequence[Measured]) -> str:
    """The methods and the data sets."""
    methods, data = (dict.fromkeys(values) for values in zip(*((one.method, one.data) for one, _, _ in found)))
    return f"{', '.join(methods)} on {', '.join(data)}"


def data_set_blocks(page: Sequence[Block], found: Sequence[Measured]) -> list[HtmlBlock]:
    """The blocks of the methods on one data set: the answers, the figures, then everything behind them."""
    several = len(found) > 1
    pairs = [(result, analysis) for result, analysis, _ in found]
    blocks: list[HtmlBlock] = [block for *_, report in found for block in answer_blocks(report)]
    blocks += page
    for result, analysis, report in found:
        by_frequency = of_method("Labels by number of training documents", report.method, several)
        blocks += [*labels_section(report, analysis, several), *frequency_blocks(result, by_frequency)]
        blocks += _thresholds_section(report, several)
    blocks += curves_section(pairs)
    for *_, report in found:
        blocks += _calibration_section(report, several)
        blocks += _confusions_section(report, several)
    blocks += _graph_section(found[0][2])
    blocks += _sizes_section([report for *_, report in found])
    for *_, report in found:
        blocks += mistakes_section(report, several)
    blocks += sweep_section(pairs)
    for result, analysis in pairs:
        blocks += ranking_section(result, analysis, several)
    blocks += weights_section(pairs)
    return [*blocks, *_foot(found)]


def answer_blocks(report: EvaluationReport) -> list[Block]:
    """How good, how sure, and what to do next."""
    first, *others = report.answer
    return [
        Note(first, "answer"),
        *(Note(text) for text in others),
        Note("What to do next:"),
        Items([one.text for one in report.advice]),
    ]


def labels_section(report: EvaluationReport, analysis: Analysis, several: bool) -> list[HtmlBlock]:
    """The table of all labels: figures, interval, areas, threshold and contingency table."""
    counts = analysis.counts
    negatives = dict(zip(analysis.label_names, counts.tn.tolist(), strict=True))
    titles = [
        Column("label"), Column("test", "count"), Column("precision", "share"), Column("recall", "share"),
        Column("F1", "share"), Column("", "bar"), Column("F1 interval", "number"), Column("train", "count"),
        Column("predicted", "count"), Column("threshold", "number"), Column("avg. precision", "share"),
        Column("ROC area", "share"), *(Column(name, "count") for name in ("tp", "fp", "fn", "tn")),
        Column("accuracy", "share"),
    ]  # fmt: skip
    return [
        Heading(of_method("Labels", report.method, several)),
        Table(titles, [_label_row(one, negatives[one.label]) for one in report.labels]),
        Note(
            "Documents by label: in the test, in training, and predicted; rightly predicted (tp), wrongly predicted "
            "(fp), missed (fn), rightly not predicted (tn). Accuracy is (tp + tn) / documents; for a rare label it is "
            "high even if the label is never predicted. 95 % intervals of F1 follow Goutte & Gaussier 2005. Average "
            "precision and ROC area are those under the curves. An empty cell is undefined.",
            "quiet",
        ),
    ]


def _label_row(one: MeasuredLabel, negatives: int) -> list[Cell]:
    wrong, missed = one.predicted - one.right, one.true - one.right
    documents = negatives + one.right + wrong + missed
    return [
        one.label, one.true, one.precision, one.recall, one.f1, one.f1,
        f"{100 * one.f1_low:.0f} to {100 * one.f1_high:.0f} %", one.trained, one.predicted, one.threshold,
        one.average_precision, one.roc_auc, one.right, wrong, missed, negatives,
        (one.right + negatives) / max(documents, 1),
    ]  # fmt: skip


def _thresholds_section(report: EvaluationReport, several: bool) -> list[HtmlBlock]:
    if report.common is None and not report.thresholds:
        return []
    with_documents = sum(one.true > 0 for one in report.labels)
    left = with_documents - len(report.thresholds)
    rest = f" {counted(left, 'label is', 'labels are')} left out: rare, or never seen in training." if left else ""
    limit = (
        f" At most {MOST_CURVES} labels, the most frequent, have curves."
        if len(report.thresholds) == MOST_CURVES
        else ""
    )
    return [
        Heading(of_method("Thresholds", report.method, several)),
        Note("Move the slider, also with the arrow keys, to see what another threshold would predict."),
        Thresholds(report.common, report.thresholds, report.probabilities),
        Note(
            "A label is predicted where its score reaches the threshold. These figures are those of the test "
            "documents: a threshold chosen by them must be confirmed on others before its figures are believed. To "
            f"change thresholds: manylabel thresholds MODEL --set LABEL=X.{rest}{limit}",
            "quiet",
        ),
    ]


def _calibration_section(report: EvaluationReport, several: bool) -> list[HtmlBlock]:
    if not report.calibration or report.calibration_error is None:
        return []
    bins = report.calibration
    most = max(one.pairs for one in bins)
    measured = Series(
        "share of true labels, 95 % interval",
        [one.mean for one in bins],
        [one.share for one in bins],
        mark="both",
        low=[one.share_low for one in bins],
        high=[one.share_high for one in bins],
        size=[3 + 6 * (one.pairs / most) ** 0.25 for one in bins],
        text=[f"{one.pairs:,} pairs of a document and a label" for one in bins],
    )
    ideal = Series("probabilities that are right", [0, 1], [0, 1], colour=None, dash="dashed", width=1.2)
    share = Axis("mean probability", percent=True, low=0, high=1)
    rows: list[list[Cell]] = [
        [f"{100 * one.low:g} to {100 * one.high:g} %", one.pairs, one.mean, one.share,
         f"{100 * one.share_low:.1f} to {100 * one.share_high:.1f} %"]
        for one in bins
    ]  # fmt: skip
    columns = [
        Column("probability"), Column("pairs", "count"), Column("mean probability", "share"),
        Column("true", "share"), Column("95 % interval", "number"),
    ]  # fmt: skip
    return [
        Heading(of_method("Calibration: are probabilities right?", report.method, several)),
        Chart("", share, Axis("share of true labels", percent=True, low=0, high=1), [measured, ideal], height=360),
        Table(columns, rows),
        Note(
            f"Pairs of a document and a label by their probability; larger dots are more pairs. Below the dashed line "
            f"probabilities are too high. The mean distance from it over all pairs (expected calibration error) is "
            f"{100 * report.calibration_error:.2f} points.",
            "quiet",
        ),
    ]


def _confusions_section(report: EvaluationReport, several: bool) -> list[HtmlBlock]:
    if not report.confusions:
        return []
    shown: Sequence[Confusion] = report.confusions[:MOST_CONFUSIONS]
    rows: list[list[Cell]] = [[one.missed, one.wrong, one.documents] for one in shown]
    columns = [Column("missed label"), Column("predicted wrongly instead"), Column("documents", "count")]
    return [
        Heading(of_method("Confusions", report.method, several)),
        Table(columns, rows),
        Note("Documents that miss the first label and wrongly get the second; the most frequent pairs.", "quiet"),
    ]


def _graph_section(report: EvaluationReport) -> list[HtmlBlock]:
    if not report.together:
        return []
    return [
        Heading("Labels that occur together"),
        Drawing(graph_svg(report.together)),
        Note(
            "Pairs of true labels that occur together more often than by chance; wider lines are more documents. "
            "manylabel labels lists them all.",
            "quiet",
        ),
    ]


def _sizes_section(reports: Sequence[EvaluationReport]) -> list[HtmlBlock]:
    blocks: list[HtmlBlock] = [Heading("Predicted against true number of labels")]
    for report in reports:
        names, table = report.set_sizes.names, report.set_sizes.documents
        totals = [sum(row) for row in table]
        shares = [[count / total if total else 0.0 for count in row] for row, total in zip(table, totals, strict=True)]
        texts = [
            [f"{count:,} ({100 * share:.0f} %)" if count else "" for count, share in zip(row, parts, strict=True)]
            for row, parts in zip(table, shares, strict=True)
        ]
        documents = [f"{name} true ({counted(total, 'document')})" for name, total in zip(names, totals, strict=True)]
        title = report.method if len(reports) > 1 else ""
        blocks.append(Shaded(title, "predicted labels", names, documents, texts, shares))
    meaning = (
        "Documents, and their share of those with that number of true labels. On the diagonal the number of predicted "
        "labels is right, though not always the labels. Source: Godbole & Sarawagi 2004, Fig. 4."
    )
    return [*blocks, Note(meaning, "quiet")]


def mistakes_section(report: EvaluationReport, several: bool) -> list[HtmlBlock]:
    """The worst mistakes, each with its evidence in the text."""
    blocks: list[HtmlBlock] = []
    kinds = (
        (False, "Worst mistakes: wrong labels with high scores", "wrongly predicted"),
        (True, "Worst mistakes: missed labels with low scores", "missed"),
    )
    for missed, title, what in kinds:
        found = [one for one in report.mistakes if one.missed is missed]
        if found:
            blocks.append(Heading(of_method(title, report.method, several)))
            blocks += [block for one in found for block in _mistake(one, what, report.probabilities)]
    if blocks:
        meaning = (
            "Highlighted terms add to the score of the label, underlined ones take from it. A mistake may also be a "
            "wrong label in the data. At most two mistakes of the same label are shown."
        )
        blocks.append(Note(meaning, "quiet"))
    return blocks


def _mistake(one: ShownMistake, what: str, probabilities: bool) -> list[Block]:
    kind = "probability" if probabilities else "score"
    threshold = "" if one.threshold is None else f", threshold {one.threshold:.3g}"
    labels = f"True: {', '.join(one.true) or 'none'}. Predicted: {', '.join(one.predicted) or 'none'}."
    terms = ", ".join(f"{term} {signed(value)}" for term, value in one.terms)
    blocks: list[Block] = [
        Note(f"Document {one.document}: {one.label} {what} ({kind} {one.score:.4g}{threshold}). {labels}")
    ]
    return [*blocks, Marked(one.stretches) if one.stretches else Note(f"Terms: {terms}.", "quiet")]


def _foot(found: Sequence[Measured]) -> list[HtmlBlock]:
    blocks: list[HtmlBlock] = [Heading("Conventions and recipe"), *foot_notes([result for result, *_ in found])]
    return [*blocks, *(Note(report.toml.rstrip(), "code") for *_, report in found)]
