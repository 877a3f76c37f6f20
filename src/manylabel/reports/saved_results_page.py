"""The page of saved results: side by side, and label by label against the first."""

from __future__ import annotations

from collections.abc import Sequence

from manylabel.evaluation.paired_tests import holm, sign_test
from manylabel.evaluation.result import Result
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table, p_text
from manylabel.reports.result_page import result_page


def saved_results_page(results: Sequence[Result], split: str, *, labels: int | None = 30) -> list[Block]:
    """The figures of results on one data set; with several, on how many labels each is better than the first."""
    page = result_page(results, split, labels=labels)
    made = {
        result.method: f"seed {result.seed}, manylabel {result.versions.get('manylabel', '?')}" for result in results
    }
    if len(set(made.values())) > 1:
        page.append(Note("; ".join(f"{method}: {how}" for method, how in made.items()) + ".", "quiet"))
    return [*page, *(label_votes(results) if len(results) > 1 else [])]


def label_votes(results: Sequence[Result]) -> list[Block]:
    """The sign test over labels' F1 of each result against the first, corrected after Holm."""
    first = {row.label: row.f1 for row in results[0].labels}
    tests = [
        sign_test([row.f1 for row in result.labels], [first[row.label] for row in result.labels])
        for result in results[1:]
    ]
    rows: list[list[Cell]] = [
        [result.method, test.wins, test.losses, test.ties, p_text(p)]
        for result, test, p in zip(results[1:], tests, holm([test.p for test in tests]).tolist(), strict=True)
    ]
    counts = (Column(title, "count") for title in ("better on", "worse on", "equal on"))
    return [
        Heading(f"F1 of the labels, against {results[0].method}"),
        Table([Column("method"), *counts, Column("p", "number")], rows),
        Note("p: two-sided sign test over labels, ties left out, corrected for several methods after Holm.", "quiet"),
    ]
