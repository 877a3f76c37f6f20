"""The page of methods over several data sets: average ranks, and whether they differ by more than luck."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from manylabel.evaluation.comparability import check_same_conventions
from manylabel.evaluation.rank_tests import LEVEL, Friedman, critical_difference, friedman, undivided_groups, wilcoxon
from manylabel.evaluation.result import Result
from manylabel.exceptions import ComparisonError
from manylabel.metrics import METRICS
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table, p_text

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
    """What the ranks do not show: the methods of each group cannot be told apart."""
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
