"""The tables behind the pages of evaluations and comparisons, as CSV for spreadsheets and LaTeX for papers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from manylabel.data.atomic import atomic_texts
from manylabel.evaluation.analyses import Analysis
from manylabel.evaluation.result import Result
from manylabel.metrics.curves import CurveRecord
from manylabel.metrics.label_metrics import accuracy
from manylabel.reports.choosing_records import ComparisonRecord, LeaderboardRow
from manylabel.reports.compare_page import repeated_text
from manylabel.reports.rank_diagram import ranking_over_data_sets

Value = str | int | float | None
Row = Sequence[Value]


def analysis_tables(found: Sequence[tuple[Result, Analysis]]) -> dict[str, list[Row]]:
    """File name → the rows of a table, its head first; every row begins with the data set and the method."""
    tables = {
        "metrics.csv": (("documents", "metric", "value"), _metric_rows),
        "labels.csv": (
            (
                "label", "train", "test", "predicted", "tp", "fp", "fn", "tn", "accuracy", "precision", "recall", "f1",
                "threshold", "average_precision", "roc_auc", "r_precision", "precision_at_10",
            ),
            _label_rows,
        ),
        "set_sizes.csv": (("true_labels", "predicted_labels", "documents", "share"), _size_rows),
        "threshold_sweep.csv": (
            (
                "swept", "documents", "threshold", "precision", "recall", "f1", "zero_one_loss",
                "predicted_labels_per_document",
            ),
            _sweep_rows,
        ),
        "precision_recall_curves.csv": (("label", "threshold", "precision", "recall"), _precision_recall_rows),
        "roc_curves.csv": (("label", "threshold", "false_positive_rate", "true_positive_rate"), _roc_rows),
        "document_ranking.csv": (("label", "rank", "id", "score", "true", "predicted"), _ranking_rows),
        "bin_weights.csv": (("bin", "terms", "mean_weight", "mean_weight_over_all_terms"), _bin_rows),
    }  # fmt: skip
    filled: dict[str, list[Row]] = {}
    for name, (head, rows_of) in tables.items():
        rows = [[result.data, result.method, *row] for result, analysis in found for row in rows_of(result, analysis)]
        if rows:
            filled[name] = [["data", "method", *head], *rows]
    return filled


def write_tables(folder: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write each table as a CSV file into a folder, which is made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_texts([folder / name for name in tables]) as streams:
        for stream, rows in zip(streams, tables.values(), strict=True):
            stream.write(csv_text(rows))


def csv_text(rows: Sequence[Row]) -> str:
    """Rows as CSV; numbers in full precision, an empty cell for what is undefined.

    >>> csv_text([["label", "f1"], ["roads, paths", 0.5], ["noise", float("nan")]])
    'label,f1\\n"roads, paths",0.5\\nnoise,\\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow(["" if isinstance(cell, float) and not np.isfinite(cell) else cell for cell in row])
    return stream.getvalue()


def _metric_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    for view, metrics in result.metrics.items():
        for name, value in metrics.items():
            yield view, name, value


def _label_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    counts, areas = analysis.counts, analysis.areas
    rankings = {ranking.label: ranking for ranking in analysis.rankings}
    right = accuracy(counts).tolist()
    for column, row in enumerate(result.labels):
        cells = [int(numbers[column]) for numbers in (counts.tp, counts.fp, counts.fn, counts.tn)]
        area, ranking = areas.get(row.label), rankings.get(row.label)
        yield (
            row.label, row.trained, row.true, row.predicted, *cells, right[column], row.precision, row.recall, row.f1,
            row.threshold,
            None if area is None else area.average_precision,
            None if area is None else area.roc_auc,
            None if ranking is None else ranking.r_precision,
            None if ranking is None else ranking.precision_at_10,
        )  # fmt: skip


def size_names(analysis: Analysis) -> list[str]:
    """The names of the set sizes: 0, 1 … k and, where there are such documents, "more than k"."""
    table = analysis.set_sizes
    k = len(table) - 2
    names = [str(size) for size in range(k + 1)]
    return [*names, f"more than {k}"] if table[-1].any() or table[:, -1].any() else names


def _size_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    names = size_names(analysis)
    for true, row in zip(names, analysis.set_sizes.tolist(), strict=False):
        for predicted, documents in zip(names, row, strict=False):
            yield true, predicted, documents, documents / sum(row) if sum(row) else None


def _sweep_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    for view, sweep in analysis.sweeps.items():
        columns = (
            sweep.thresholds, sweep.precision, sweep.recall, sweep.f1, sweep.zero_one_loss, sweep.predicted_cardinality,
        )  # fmt: skip
        for row in zip(*(column.tolist() for column in columns), strict=True):
            yield analysis.swept, view, *row


def _curves(analysis: Analysis) -> list[CurveRecord]:
    return [analysis.curves.micro, analysis.curves.macro, *analysis.curves.labels]


def _name(curve: CurveRecord, analysis: Analysis) -> str:
    """The name of a curve; the averages in parentheses, so that no label can have the same name."""
    return f"({curve.name})" if curve is analysis.curves.micro or curve is analysis.curves.macro else curve.name


def _precision_recall_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    for curve in _curves(analysis):
        for row in zip(curve.thresholds, curve.precision, curve.recall, strict=True):
            yield _name(curve, analysis), *row


def _roc_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    for curve in _curves(analysis):
        for row in zip(curve.roc_thresholds, curve.false_positive_rate, curve.true_positive_rate, strict=True):
            yield _name(curve, analysis), *row


def _ranking_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    for ranking in analysis.rankings:
        for rank, one in enumerate(ranking.documents, 1):
            yield ranking.label, rank, one.id, one.score, int(one.true), int(one.predicted)


def _bin_rows(result: Result, analysis: Analysis) -> Iterator[Row]:
    weights = result.remarks.get("bin_weights")
    if weights is None:
        return
    bins = zip(weights["terms"], weights["occurring"], weights["all_terms"], strict=True)
    for number, (terms, occurring, every) in enumerate(bins, 1):
        yield number, int(terms), occurring if terms else None, every if terms else None


# ---- comparisons -----------------------------------------------------------------------------------------------------

COLUMNS = (
    "data", "metric", "method", "features", "rule", "folds", "value", "low", "high", "difference", "difference_low",
    "difference_high", "p", "p_repeated", "no_difference_shown", "stopped", "documents", "compared",
)  # fmt: skip
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def compare_csv(comparisons: Sequence[ComparisonRecord]) -> str:
    """All rows of the leaderboards, also of methods that were stopped; values are fractions in full precision."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for facts in comparisons:
        for row in (*facts.leaderboard, *facts.stopped):
            gap = row.difference
            differences = ["", "", ""] if gap is None else [gap.value, gap.low, gap.high]
            tests = ["" if p is None else p for p in (row.p, row.p_repeated)]
            named = facts.data, facts.metric.name, row.method, row.features, row.rule, row.folds
            shown = int(row.no_difference_shown), row.reason or "", facts.documents, facts.compared
            writer.writerow([*named, row.value, row.low, row.high, *differences, *tests, *shown])
    return stream.getvalue()


def compare_latex(comparisons: Sequence[ComparisonRecord]) -> str:
    """One table (booktabs) per data set, and one of average ranks where there are several data sets.

    A leaderboard is in percent. What shows no difference from the best is in bold, in both kinds of tables.
    """
    ranks = [_latex_ranks(comparisons)] if len(comparisons) > 1 else []
    return "\n".join([*(_latex(facts) for facts in comparisons), *ranks])


def latex_text(text: str) -> str:
    """Text with the characters that LaTeX reserves escaped.

    >>> print(latex_text("recall@5 & 100 %_x"))
    recall@5 \\& 100 \\%\\_x
    """
    return "".join(_ESCAPES.get(character, character) for character in text)


def _latex(facts: ComparisonRecord) -> str:
    is_repeated = facts.repeats > 1
    rows = "\n".join(_latex_row(row, is_repeated) for row in facts.leaderboard)
    sample = "" if facts.in_memory == facts.documents else f"a random sample of {facts.in_memory} of "
    size = f"{sample}{facts.documents} documents, {facts.labels} labels"
    how = latex_text(f"{facts.metric.title} in percent on {facts.data} ({size}), {facts.folds}")
    of_folds = f" {latex_text(repeated_text(facts).strip())}"
    names = "method", "features", "rule", latex_text(facts.metric.name), "95\\,\\%", "difference", "$p$"
    head = " & ".join([*names, *(["$p$ repeated"] if is_repeated else [])])
    caption = (
        f"{how}. 95\\,\\% percentile intervals over documents; $p$ of a permutation test against the best, corrected "
        f"by Holm; bold: no difference from the best shown.{of_folds if is_repeated else ''}"
    )
    return _latex_table(caption, f"lllrcrr{'r' if is_repeated else ''}", head, rows)


def _latex_ranks(comparisons: Sequence[ComparisonRecord]) -> str:
    """The average ranks of the methods that ran on all data sets; a comment where there are no two of them."""
    found = ranking_over_data_sets(comparisons)
    if found is None:
        return "% There are no ranks: fewer than two methods ran on all data sets.\n"
    order = sorted(range(len(found.names)), key=lambda place: found.average_ranks[place])
    level = {order[0], *(place for group in found.groups if order[0] in group for place in group)}
    rows = []
    for place in order:
        rank = f"{found.average_ranks[place]:.2f}"
        shown = f"\\textbf{{{rank}}}" if place in level else rank
        rows.append(f"{latex_text(found.names[place])} & {shown} \\\\")
    data = latex_text(", ".join(one.data for one in comparisons))
    p = "$p < 0.001$" if found.p < 0.001 else f"$p = {found.p:.3f}$"
    caption = (
        f"Average ranks by {latex_text(comparisons[0].metric.title)} in the first fold over {found.rounds} data sets "
        f"({data}); 1 is best. Friedman's test (Iman and Davenport): {p}. Critical difference (Nemenyi, 5\\,\\%): "
        f"{found.critical_difference:.2f}; bold: no difference from the best shown."
    )
    return _latex_table(caption, "lr", "method & average rank", "\n".join(rows))


def _latex_table(caption: str, columns: str, head: str, rows: str) -> str:
    return (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{caption}}}\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        f"{head} \\\\\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _latex_row(row: LeaderboardRow, is_repeated: bool) -> str:
    value = f"{100 * row.value:.2f}"
    shown = f"\\textbf{{{value}}}" if row.no_difference_shown else value
    difference = "" if row.difference is None else f"${100 * row.difference.value:+.2f}$"
    between = f"[{100 * row.low:.2f}, {100 * row.high:.2f}]"
    named = [latex_text(text) for text in (row.method, row.features, row.rule)]
    tests = [_latex_p(row.p), *([_latex_p(row.p_repeated)] if is_repeated else [])]
    return " & ".join([*named, shown, between, difference, *tests]) + " \\\\"


def _latex_p(p: float | None) -> str:
    return "" if p is None else "$<$0.001" if p < 0.001 else f"{p:.3f}"
