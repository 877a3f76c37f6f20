"""The page of saved results side by side, and average ranks over several data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manylabel.evaluation.paired_tests import holm, sign_test
from manylabel.evaluation.rank_tests import LEVEL, Friedman, critical_difference, friedman, undivided_groups, wilcoxon
from manylabel.evaluation.result import Result, check_same_conventions
from manylabel.exceptions import ComparisonError
from manylabel.metrics import METRICS
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


RANKED = ("hamming-loss", "zero-one-loss", "jaccard", "micro-f1", "macro-f1-present", "sample-f1")


def ranks_page(evaluations: Sequence[Sequence[Result]]) -> list[Block]:
    """The methods' average ranks over data sets, 1 the best, ties sharing the mean rank; all test documents.

    With a test beside them: Friedman's for three methods and more, followed by Nemenyi's groups; Wilcoxon's for two.
    """
    methods = [result.method for result in evaluations[0]]
    for results in evaluations[1:]:
        if (others := [result.method for result in results]) != methods:
            raise ComparisonError(
                f"Ranks over data sets need the same methods on each, but {evaluations[0][0].data} has "
                f"{', '.join(methods)} and {results[0].data} has {', '.join(others)}."
            )
    check_same_conventions([results[0] for results in evaluations])
    for result in (result for results in evaluations for result in results):
        if lacking := [name for name in RANKED if name not in result.metrics["all"]]:
            raise ComparisonError(
                f"The result of {result.method} on {result.data} lacks {lacking[0]}, which is ranked."
            )
    two = len(methods) == 2
    found, rows = {}, []
    for name in RANKED:
        values = [[result.metrics["all"][name] for result in results] for results in evaluations]
        found[name] = friedman(values, greater_is_better=bool(METRICS[name].greater_is_better))
        p = wilcoxon(*np.transpose(values)).p if two else found[name].p
        row: list[Cell] = [METRICS[name].title, *(f"{rank:.2f}" for rank in found[name].average_ranks), p_text(p)]
        rows.append(row)
    test = "p (Wilcoxon)" if two else "p (Friedman)"
    columns = [Column("metric"), *(Column(method, "number") for method in methods), Column(test, "number")]
    title = Heading(f"Average ranks over {len(evaluations)} data sets (1 is best)")
    return [title, Table(columns, rows), *([] if two else _nemenyi(methods, found))]


def _nemenyi(methods: Sequence[str], found: dict[str, Friedman]) -> list[Block]:
    """Notes on the groups of methods whose average ranks show no significant difference."""
    difference = critical_difference(len(methods), next(iter(found.values())).n_sets)
    percent = f"{100 * LEVEL:g} %"
    notes: list[Block] = [
        Note(f"Two methods differ where their average ranks are {difference:.2f} apart (Nemenyi, {percent}).", "quiet")
    ]
    for name, test in found.items():
        groups = undivided_groups(test.average_ranks, difference)
        listed = "; nor between ".join(_listed([methods[method] for method in group]) for group in groups)
        if listed:
            notes.append(Note(f"{METRICS[name].title}: no difference shown between {listed}."))
    return notes


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]])
