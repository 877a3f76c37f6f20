"""The critical-difference diagram: methods on an axis of average ranks, joined where no difference is shown.

Source: Demšar 2006, section 3.2.4 and figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from manylabel.evaluation.rank_tests import critical_difference, friedman, undivided_groups
from manylabel.reports.choosing_records import ComparisonRecord

WIDTH, SIDE, AXIS, LINE = 760, 210, 62, 22
"""Pixels: the whole width, the margin for names on either side, the height of the axis, and the distance of lines."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Average ranks of methods over data sets or folds, with Friedman's p and Nemenyi's critical difference."""

    names: list[str]
    average_ranks: list[float]
    rounds: int
    """The number of data sets or folds."""
    p: float
    critical_difference: float
    groups: list[tuple[int, ...]]
    """The methods, as indices, between which no difference is shown."""


def ranking(values: Sequence[Sequence[float]], names: Sequence[str], *, greater_is_better: bool) -> Ranking | None:
    """The ranking of a table of data sets or folds × methods; None for fewer than two of either."""
    if len(values) < 2 or len(names) < 2:
        return None
    found = friedman(values, greater_is_better=greater_is_better)
    gap = critical_difference(len(names), len(values))
    ranks = list(found.average_ranks)
    return Ranking(list(names), ranks, len(values), found.p, gap, undivided_groups(ranks, gap))


def ranking_over_data_sets(comparisons: Sequence[ComparisonRecord]) -> Ranking | None:
    """The methods that ran on all data sets, ranked by their best rule in the first fold, which all ran."""
    common = [name for name in comparisons[0].first_fold if all(name in one.first_fold for one in comparisons[1:])]
    values = [[one.first_fold[name] for name in common] for one in comparisons]
    return ranking(values, common, greater_is_better=comparisons[0].metric.greater_is_better)


def ranking_over_folds(facts: ComparisonRecord) -> Ranking | None:
    """The pipelines that ran in all folds of one data set, ranked in each fold."""
    names = list(facts.fold_values)
    values = [list(row) for row in zip(*facts.fold_values.values(), strict=True)]
    return ranking(values, names, greater_is_better=facts.metric.greater_is_better)


def diagram_of(comparisons: Sequence[ComparisonRecord]) -> str | None:
    """The diagram over several data sets, or over the folds of one, with a caption; None where nothing can be ranked.

    Folds of one data set share most of their training documents. Their ranks are no independent observations, so that
    the test over them finds differences too often, and the caption says so.
    """
    if len(comparisons) > 1:
        found = ranking_over_data_sets(comparisons)
        caption = f"Average ranks over {len(comparisons)} data sets; 1 is best. Bars join methods without a difference."
    else:
        found = ranking_over_folds(comparisons[0])
        rounds = 0 if found is None else found.rounds
        caption = (
            f"Average ranks over {rounds} folds of one data set; 1 is best. Folds share training documents: this shows "
            "how stable the order is, and is no test. See the p of the leaderboard."
        )
    return None if found is None else draw_ranks(found, caption)


def draw_ranks(found: Ranking, caption: str = "") -> str:
    """The diagram as SVG.

    >>> drawn = draw_ranks(Ranking(["svm", "nb", "knn"], [1.2, 2.1, 2.7], 5, 0.03, 1.48, [(0, 1), (1, 2)]))
    >>> drawn.count("<text"), drawn.count('stroke-width="4"')
    (7, 2)
    """
    k = len(found.names)
    order = sorted(range(k), key=lambda index: found.average_ranks[index])
    half = (k + 1) // 2

    def x(rank: float) -> float:
        return SIDE + (rank - 1) / max(k - 1, 1) * (WIDTH - 2 * SIDE)

    parts = [_line(x(1), AXIS, x(k), AXIS)]
    for rank in range(1, k + 1):
        parts += [_line(x(rank), AXIS - 6, x(rank), AXIS), _text(x(rank), AXIS - 11, str(rank), "middle")]
    width = min(found.critical_difference, k - 1)
    parts += [_line(x(1), 22, x(1 + width), 22), _text(x(1), 14, f"CD {found.critical_difference:.2f}", "start")]
    first = AXIS + 14
    for level, group in enumerate(found.groups):
        ranks = [found.average_ranks[index] for index in group]
        parts.append(_line(x(min(ranks)) - 3, first + 7 * level, x(max(ranks)) + 3, first + 7 * level, 4))
    below = first + 7 * len(found.groups) + LINE
    for place, index in enumerate(order):
        left = place < half
        y = below + LINE * (place if left else k - 1 - place)
        position, end = x(found.average_ranks[index]), SIDE - 12 if left else WIDTH - SIDE + 12
        parts += [_line(position, AXIS, position, y), _line(position, y, end, y)]
        label = f"{found.names[index]} {found.average_ranks[index]:.2f}"
        parts.append(_text(end - 5 if left else end + 5, y + 4, label, "end" if left else "start"))
    height = below + LINE * half
    words, lines = caption.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 105:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    parts += [_text(12, height + 17 * number, line, "start") for number, line in enumerate(lines) if line]
    height += 17 * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif" font-size="13" role="img">\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _line(x1: float, y1: float, x2: float, y2: float, width: int = 1) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#1d2733" stroke-width="{width}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
