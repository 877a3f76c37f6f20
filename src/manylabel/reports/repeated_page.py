"""The page of methods on repeated random splits: means, standard deviations and t-tests, as text, HTML and tables."""

from __future__ import annotations

from collections.abc import Sequence

from manylabel.evaluation.repeated_splits import LEVEL, TESTED, RepeatedSplits, SplitTest
from manylabel.metrics.table import METRICS
from manylabel.reports.charts import Axis, Chart, Series
from manylabel.reports.html_page import HtmlBlock
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table, p_text
from manylabel.reports.tables import Row
from manylabel.wording import counted


def repeated_page(found: RepeatedSplits) -> list[Block]:
    """Means over splits and, with several methods, the tests of the first against the others."""
    rows: list[list[Cell]] = []
    for metric in TESTED:
        means = (found.mean_and_deviation(method, metric) for method in found.methods)
        rows.append([METRICS[metric].title, *(f"{100 * mean:.2f} ± {100 * spread:.2f}" for mean, spread in means)])
    blocks: list[Block] = [
        Heading(f"{found.data}: {found.split}"),
        Note(
            f"{counted(found.documents, 'document')}: {found.train:,} for training and {found.test:,} for testing in "
            "each split. Percent, mean ± standard deviation over splits, measured on all test documents."
        ),
        Table([Column("metric"), *(Column(method, "number") for method in found.methods)], rows),
    ]
    for other, tests in found.tests().items():
        blocks += [Heading(f"{found.methods[0]} minus {other}"), _test_table(found, tests)]
    if len(found.methods) > 1:
        blocks.append(
            Note(
                f"Differences are in points; both tests are two-sided with {found.repeats - 1} degrees of freedom. "
                "Random splits share documents, so that the paired t-test finds too many differences: the corrected "
                "one (Nadeau & Bengio 2003) allows for that, and so does the interval.",
                "quiet",
            )
        )
    return [*blocks, Note(f"{found.seconds:.1f} s.", "quiet")]


def _test_table(found: RepeatedSplits, tests: dict[str, SplitTest]) -> Table:
    rows: list[list[Cell]] = [
        [
            METRICS[metric].title,
            f"{100 * test.difference:+.2f}",
            f"[{100 * test.low:+.2f}, {100 * test.high:+.2f}]",
            f"{test.higher} of {found.repeats}",
            _t_text(test.t), p_text(test.p), _t_text(test.corrected_t), p_text(test.corrected_p),
        ]
        for metric, test in tests.items()
    ]  # fmt: skip
    titles = (
        "difference", f"{100 * LEVEL:.0f} % interval", "higher in", "paired t", "p", "corrected t", "p",
    )  # fmt: skip
    return Table([Column("metric"), *(Column(title, "number") for title in titles)], rows)


def _t_text(t: float) -> str:
    return "none" if t != t else f"{t:.2f}"


def repeated_report(pages: Sequence[RepeatedSplits]) -> list[HtmlBlock]:
    """The report of one or several data sets, with every split drawn as a point."""
    blocks: list[HtmlBlock] = []
    for found in pages:
        heading, note, *rest = repeated_page(found)
        blocks += [heading, note, _boxes(found), *rest]
    return blocks


def _boxes(found: RepeatedSplits) -> Chart:
    """A box per metric and method, with a point per split."""
    shown = [metric for metric in TESTED if METRICS[metric].greater_is_better]
    titles = [METRICS[metric].title for metric in shown]
    series = [
        Series(
            method,
            [title for title in titles for _ in range(found.repeats)],
            [value for metric in shown for value in found.values[method][metric]],
            mark="boxes",
            colour=number,
        )
        for number, method in enumerate(found.methods)
    ]
    return Chart("", Axis(kind="category", categories=titles), Axis(percent=True), series)


def repeated_tables(pages: Sequence[RepeatedSplits]) -> dict[str, list[Row]]:
    """File name → the rows of a table, its head first: every value, and every test."""
    values: list[Row] = [["data", "method", "split", "metric", "value"]]
    tests: list[Row] = [
        [
            "data", "method", "against", "metric", "difference", "low", "high", "splits", "higher_in", "df", "t", "p",
            "corrected_t", "corrected_p",
        ]
    ]  # fmt: skip
    for found in pages:
        for method, measured in found.values.items():
            for metric in TESTED:
                values += [[found.data, method, n, metric, value] for n, value in enumerate(measured[metric], 1)]
        for other, by_metric in found.tests().items():
            tests += [
                [
                    found.data, found.methods[0], other, metric, one.difference, one.low, one.high, found.repeats,
                    one.higher, one.df, one.t, one.p, one.corrected_t, one.corrected_p,
                ]
                for metric, one in by_metric.items()
            ]  # fmt: skip
    return {"splits.csv": values, **({"t_tests.csv": tests} if len(tests) > 1 else {})}
