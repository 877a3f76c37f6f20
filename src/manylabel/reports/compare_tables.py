"""The tables of a comparison as CSV and LaTeX, for spreadsheets and papers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from manylabel.reports.choosing_records import ComparisonRecord, LeaderboardRow

COLUMNS = (
    "data", "metric", "method", "features", "rule", "folds", "value", "low", "high", "difference", "difference_low",
    "difference_high", "p", "p_repeated", "no_difference_shown", "stopped",
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
            shown = int(row.no_difference_shown), row.reason or ""
            writer.writerow([*named, row.value, row.low, row.high, *differences, *tests, *shown])
    return stream.getvalue()


def compare_latex(comparisons: Sequence[ComparisonRecord]) -> str:
    """One table (booktabs) per data set: the leaderboard in percent, the best and what is level with it in bold."""
    return "\n".join(_latex(facts) for facts in comparisons)


def latex_text(text: str) -> str:
    """Text with the characters that LaTeX reserves escaped.

    >>> print(latex_text("recall@5 & 100 %_x"))
    recall@5 \\& 100 \\%\\_x
    """
    return "".join(_ESCAPES.get(character, character) for character in text)


def _latex(facts: ComparisonRecord) -> str:
    rows = "\n".join(_latex_row(row) for row in facts.leaderboard)
    size = f"{facts.documents} documents, {facts.labels} labels"
    how = latex_text(f"{facts.metric.title} in percent on {facts.data} ({size}), {facts.folds}")
    return (
        "% needs \\usepackage{booktabs}\n"
        "\\begin{table}\n\\centering\n"
        f"\\caption{{{how}. 95\\,\\% percentile intervals over documents; $p$ of a permutation test against the "
        "best, corrected by Holm; bold: no difference from the best shown.}\n"
        "\\begin{tabular}{lllrcrr}\n\\toprule\n"
        f"method & terms & rule & {latex_text(facts.metric.name)} & 95\\,\\% & difference & $p$ \\\\\n\\midrule\n"
        f"{rows}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _latex_row(row: LeaderboardRow) -> str:
    value = f"{100 * row.value:.2f}"
    shown = f"\\textbf{{{value}}}" if row.no_difference_shown else value
    difference = "" if row.difference is None else f"${100 * row.difference.value:+.2f}$"
    p = "" if row.p is None else "$<$0.001" if row.p < 0.001 else f"{row.p:.3f}"
    between = f"[{100 * row.low:.2f}, {100 * row.high:.2f}]"
    named = " & ".join(latex_text(text) for text in (row.method, row.features, row.rule))
    return f"{named} & {shown} & {between} & {difference} & {p} \\\\"
