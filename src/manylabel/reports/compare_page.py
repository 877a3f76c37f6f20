"""The page of a comparison, as text and as HTML: leaderboard, costs, and the winner on new documents."""

from __future__ import annotations

from collections.abc import Sequence

from manylabel.decisions.auto import LEAST_DOCUMENTS
from manylabel.evaluation.bootstrap import Difference
from manylabel.metrics.targets import measured_documents
from manylabel.reports.charts import Axis, Chart, Series
from manylabel.reports.choosing_records import ComparisonRecord, Expected, LeaderboardRow, RunnerUp, TestFigure
from manylabel.reports.html_page import Drawing, HtmlBlock
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table, p_text
from manylabel.reports.rank_diagram import diagram_of, ranking_over_data_sets
from manylabel.wording import counted

MOST_STOPPED = 15
MOST_ABSENT = 8
LEVEL_SIGN = "≈"
COSTS = "What it costs"
UNMEASURED = " auto was compared without further views of the texts, which the trained model may use beside its words."


def compare_page(facts: ComparisonRecord) -> list[Block]:
    """The page: leaderboard, tests, costs, the value to expect on new documents, and the recipe."""
    title = facts.metric.title
    seed = "" if "seed" in facts.folds else f"; seed {facts.seed}"
    sampled = "" if facts.compared == facts.documents else f"; {facts.compared:,} of them compared"
    return [
        Heading(f"Comparing methods on {facts.data} for {title}"),
        Note(group_text(facts), "answer"),
        Note(
            f"On new documents expect {figure(facts.expected.value, facts)} % {between(facts.expected, facts)} (95 % "
            "prediction interval)."
        ),
        Note(
            f"{counted(facts.documents, 'document')} ({facts.unlabelled:,} without a label), "
            f"{counted(facts.labels, 'label')}{sampled}; {facts.folds}{seed}."
        ),
        *sample_notes(facts.in_memory, facts.documents),
        *_clock(facts),
        leaderboard_table(facts),
        *([Note(against_text(facts.against, facts.repeats))] if facts.against else []),
        Note(legend_text(facts), "quiet"),
        *_stopped(facts),
        Heading(COSTS),
        costs_table(facts),
        Note(
            "front: no other method is better in quality, both times and size at once. Times vary between runs.",
            "quiet",
        ),
        Heading("The winner on new documents"),
        Note(expected_text(facts)),
        *([Note(measured_text(facts.test, facts), "plain" if facts.test.within else "warning")] if facts.test else []),
        Heading("The recipe"),
        Note(facts.toml.rstrip(), "code"),
        *_model(facts),
    ]


def leaderboard_table(facts: ComparisonRecord) -> Table:
    """Every method that ran in all folds, best first."""
    columns = [Column(""), Column("method"), Column("features"), Column("rule")]
    names = (facts.metric.name, "95 %", "to the winner", "95 %", "p")
    columns += [Column(name, "number") for name in names]
    columns += [Column("p repeated", "number")] if facts.repeats > 1 else []
    return Table(columns, [_row(row, place, facts) for place, row in enumerate(facts.leaderboard)])


def _row(row: LeaderboardRow, place: int, facts: ComparisonRecord) -> list[Cell]:
    mark = "1" if place == 0 else LEVEL_SIGN if row.no_difference_shown else ""
    p = "" if row.p is None else p_text(row.p)
    named = [row.method, row.features, row.rule, figure(row.value, facts), between(row, facts)]
    repeated: list[Cell] = ["" if row.p_repeated is None else p_text(row.p_repeated)] if facts.repeats > 1 else []
    return [mark, *named, *_gap(row, facts), p, *repeated]


def group_text(facts: ComparisonRecord) -> str:
    """The winner, and the methods that show no significant difference from it."""
    rows = facts.leaderboard
    same = [f"{row.method} ({row.features})" for row in rows[1:] if row.no_difference_shown]
    open_ = [f"{row.method} ({row.features})" for row in facts.stopped if _reaches(row.difference, facts)]
    outcome = f"no difference shown from {_some(same)}" if same else "it is ahead of all others that ran in all folds"
    if len(rows) == 1:
        outcome = "no other method ran in all folds"
    more = f" Stopped early, but not shown to be worse on the folds they ran: {_some(open_)}." if open_ else ""
    return f"The winner is {rows[0].method} ({rows[0].features}, {rows[0].rule}); {outcome}.{more}"


def _some(names: list[str], most: int = 4) -> str:
    """The first names of a list, and how many more there are.

    >>> _some(["a", "b", "c"], 2), _some(["a"])
    ('a, b and 1 more', 'a')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _reaches(difference: Difference | None, facts: ComparisonRecord) -> bool:
    """Whether a difference from the winner may be one for the better."""
    if difference is None:
        return True
    return difference.high >= 0 if facts.metric.greater_is_better else difference.low <= 0


def against_text(against: RunnerUp, repeats: int = 1) -> str:
    """The winner against the runner-up, whole sets and labels; with repetitions, in the first."""
    where = "" if repeats == 1 else ", in the first repetition"
    sets, signs = against.sets, against.signs
    labels = ", ".join(f"{one.label} ({one.winner_only} : {one.other_only})" for one in against.labels[:8])
    more = len(against.labels) - 8
    tail = f" and {more} more" if more > 0 else ""
    differing = (
        f"Labels decided differently (McNemar, Holm): {labels}{tail}."
        if labels
        else "No single label differs significantly."
    )
    return (
        f"Against {against.other}{where}: whole label sets right only by the winner {sets.winner_only:,}, only by the "
        f"other {sets.other_only:,} (McNemar p {p_text(sets.p)}); F1 better on "
        f"{counted(signs.wins, 'label')}, worse on {signs.losses} (sign test p {p_text(signs.p)}). {differing}"
    )


def legend_text(facts: ComparisonRecord) -> str:
    """What the figures of the leaderboard are."""
    return (
        f"{facts.metric.title} in percent over the {measured_documents(facts.metric.name)} of all folds together; 95 % "
        "percentile intervals "
        "over documents; differences on the same documents; p of a permutation test, corrected by Holm over the rows; "
        f"{LEVEL_SIGN} no difference from the winner shown at 5 %. {repeated_text(facts)}Each method with its best "
        "rule, for each kind of terms. Macro averages run over all labels of these documents."
    )


def repeated_text(facts: ComparisonRecord) -> str:
    """What the p over repeated folds is; empty where folds were not repeated."""
    if facts.repeats == 1:
        return ""
    shape = facts.repeats, facts.n_folds // facts.repeats
    test = "5×2 F test (Alpaydın 1999)" if shape == (5, 2) else "corrected t-test (Nadeau & Bengio 2003)"
    return f"p repeated: {test} over the folds of all repetitions, corrected by Holm. "


def costs_table(facts: ComparisonRecord) -> Table:
    """Quality, training time, time per document and size of the finishers."""
    columns = [Column("front"), Column("pipeline"), Column(facts.metric.name, "number"), Column("train s", "number")]
    columns += [Column("ms per document", "number"), Column("MB", "number")]
    rows: list[list[Cell]] = [
        [
            "*" if one.on_front else "",
            one.name,
            figure(one.value, facts),
            f"{one.train_seconds:.2f}",
            f"{1000 * one.seconds_per_document:.3f}",
            f"{one.bytes / 1e6:.2f}",
        ]
        for one in facts.costs
    ]
    return Table(columns, rows)


def expected_text(facts: ComparisonRecord) -> str:
    """The prediction interval in words."""
    one = facts.expected
    drift = f", between folds {figure(one.of_folds, facts)}" if one.of_folds else ""
    winner = facts.leaderboard[0]
    of_words = winner.features in ("words", "stems", "title again")
    tries_views = winner.method == "auto" and of_words and facts.trained >= LEAST_DOCUMENTS
    return (
        f"On {counted(one.documents, 'new document')} expect {figure(one.value, facts)}; 95 % prediction interval "
        f"{figure(one.low, facts)} to {figure(one.high, facts)}. It is the mean over random samples of as many of the "
        f"compared documents. Subtracted because the winner was chosen by this value: "
        f"{figure(one.optimism, facts)}; standard deviations: of the estimate {figure(one.of_estimate, facts)}, "
        f"of a test of this size {figure(one.of_test, facts)}{drift}."
        f"{UNMEASURED if tries_views else ''}"
    )


def measured_text(test: TestFigure, facts: ComparisonRecord) -> str:
    """What the trained winner scored on the test split."""
    where = "within" if test.within else "outside"
    return (
        f"On the test split ({counted(test.documents, 'document')}, used only here) it scores "
        f"{figure(test.value, facts)}: {where} the interval."
    )


def _clock(facts: ComparisonRecord) -> list[Block]:
    took = f"{facts.seconds['all']:.0f} s"
    if facts.budget is not None:
        took += f" of {facts.budget:.0f} s"
    if not facts.clock_ended_it:
        return [Note(f"{took}, training the winner included.", "quiet")]
    return [
        Note(
            f"The time budget ended the comparison early ({took}), so another run may end elsewhere. "
            "A longer --budget or fewer --methods make it repeatable.",
            "warning",
        )
    ]


def _stopped(facts: ComparisonRecord) -> list[Block]:
    rows = facts.stopped
    blocks: list[Block] = []
    if rows:
        columns = [Column("stopped early"), Column("features"), Column("rule"), Column("folds", "count")]
        columns.append(Column(facts.metric.name, "number"))
        shown: list[list[Cell]] = [
            [row.method, row.features, row.rule, row.folds, figure(row.value, facts), *_gap(row, facts)]
            for row in rows[:MOST_STOPPED]
        ]
        blocks.append(Table([*columns, Column("to the winner, same folds", "number"), Column("95 %", "number")], shown))
        if len(rows) > MOST_STOPPED:
            blocks.append(Note(f"{len(rows) - MOST_STOPPED} more were stopped early; --json lists them.", "quiet"))
    absent = [f"{name} ({reason})" for name, reason in facts.left_out.items()]
    if absent:
        rest = f"; {len(absent) - MOST_ABSENT} more, which --json lists" if len(absent) > MOST_ABSENT else ""
        blocks.append(Note(f"Not run: {'; '.join(absent[:MOST_ABSENT])}{rest}.", "quiet"))
    return blocks


def _gap(row: LeaderboardRow, facts: ComparisonRecord) -> list[Cell]:
    if row.difference is None:
        return ["", ""]
    return [figure(row.difference.value, facts, "+"), between(row.difference, facts, "+")]


def _model(facts: ComparisonRecord) -> list[Block]:
    again = "manylabel train DATA --recipe FILE"
    if facts.trained == 0:
        longer = f"Give a longer --budget, or save the recipe to a file and run: {again}"
        return [
            Note(f"The budget ended before the winner was trained, so that there is no model. {longer}.", "warning")
        ]
    if facts.model is None:
        return []
    if facts.trained == facts.documents:
        return [Note(f"The model, trained on {counted(facts.documents, 'document')}, is in {facts.model}.")]
    return [
        trained_note(facts.model, facts.trained, facts.documents, facts.why_not_all),
        Note(f"More documents make it better: save the recipe to a file and run: {again}"),
    ]


def sample_notes(in_memory: int, documents: int) -> list[Block]:
    """The note that figures are those of a random sample; empty where all documents were in memory."""
    if in_memory == documents:
        return []
    some = f"a random sample of {in_memory:,} of {counted(documents, 'document')}"
    return [Note(f"The figures are those of {some}, because all would take more than --memory.", "warning")]


def trained_note(model: str, trained: int, documents: int, why: str) -> Note:
    """The note that a model was not trained on all documents."""
    some = f"{trained:,} of {counted(documents, 'document')}"
    return Note(f"The model is in {model}. It was trained on {some} {why}.", "warning")


def over_data_sets_page(comparisons: Sequence[ComparisonRecord]) -> list[Block]:
    """Average ranks of the methods that all data sets have, with Friedman's and Nemenyi's tests."""
    title = Heading(f"Over {len(comparisons)} data sets")
    found = ranking_over_data_sets(comparisons)
    if found is None:
        return [title, Note("Fewer than two methods ran on all data sets, so that there are no ranks.", "quiet")]
    order = sorted(range(len(found.names)), key=lambda place: found.average_ranks[place])
    rows: list[list[Cell]] = [[found.names[place], f"{found.average_ranks[place]:.2f}"] for place in order]
    same = "; ".join(", ".join(found.names[place] for place in group) for group in found.groups if len(group) > 1)
    return [
        title,
        Table([Column("method"), Column("average rank", "number")], rows),
        Note(
            f"Friedman p {p_text(found.p)} (Iman-Davenport); average ranks that differ by less than "
            f"{found.critical_difference:.2f} show no "
            f"difference (Nemenyi, 5 %). {'No difference shown within: ' + same + '.' if same else ''}"
        ),
        Note("Ranks of each method's best rule in the first fold, which all methods ran; 1 is best.", "quiet"),
    ]


def figure(value: float, facts: ComparisonRecord, sign: str = "") -> str:
    """A figure in percent."""
    digits = 2 if facts.metric.greater_is_better else 3
    return f"{100 * value:{sign}.{digits}f}"


def between(one: LeaderboardRow | Difference | Expected, facts: ComparisonRecord, sign: str = "") -> str:
    """An interval in percent."""
    return f"[{figure(one.low, facts, sign)}, {figure(one.high, facts, sign)}]"


MOST_ROWS = 14
MOST_LABELS = 40
LEADERS = 3
"""How many pipelines are drawn label by label."""


def compare_report(comparisons: Sequence[ComparisonRecord]) -> list[HtmlBlock]:
    """The report of one or several comparisons, with charts."""
    blocks: list[HtmlBlock] = []
    for facts in comparisons:
        blocks += _with_charts(compare_page(facts), facts)
    if len(comparisons) > 1:
        blocks += over_data_sets_page(comparisons)
    if (diagram := diagram_of(comparisons)) is not None:
        blocks += [Heading("Critical-difference diagram"), Drawing(diagram)]
    return blocks


def _with_charts(page: Sequence[Block], facts: ComparisonRecord) -> list[HtmlBlock]:
    """The page with the leaderboard and the costs drawn above their tables, and the labels at the end."""
    blocks: list[HtmlBlock] = []
    drawn = False
    for block in page:
        if isinstance(block, Table) and not drawn:
            blocks.append(_intervals(facts))
            drawn = True
        blocks.append(block)
        if isinstance(block, Heading) and block.text == COSTS:
            blocks.append(_front(facts))
    return [*blocks, Heading("Label by label"), _labels(facts)]


def _intervals(facts: ComparisonRecord) -> Chart:
    """The leaderboard drawn: figures with their intervals, the winner on top."""
    rows = facts.leaderboard[:MOST_ROWS]
    series = [
        Series(
            name,
            [row.value for row in shown],
            [_pipeline(row) for row in shown],
            mark="dots",
            colour=colour,
            low=[row.low for row in shown],
            high=[row.high for row in shown],
        )
        for name, colour, alike in (
            ("no difference from the winner shown", 0, True),
            ("a difference from the winner is shown", None, False),
        )
        if (shown := [row for row in rows if row.no_difference_shown is alike])
    ]
    figures = Axis(f"{facts.metric.title}; 95 % intervals over documents", percent=True)
    return Chart("Leaderboard", figures, Axis(kind="category", categories=[_pipeline(row) for row in rows]), series)


def _pipeline(row: LeaderboardRow) -> str:
    return f"{row.method} · {row.features} · {row.rule}"


def _front(facts: ComparisonRecord) -> Chart:
    """Quality against training time; the size of a mark is the size of the model."""
    largest = max(max(one.bytes for one in facts.costs), 1)
    series = [
        Series(
            name,
            [one.train_seconds for one in shown],
            [one.value for one in shown],
            mark="dots",
            colour=colour,
            text=[one.name.partition(" · ")[0] for one in shown],
            labelled=front,
            size=[5 + 12 * (one.bytes / largest) ** 0.5 for one in shown],
        )
        for name, colour, front in (
            ("none is better and faster", 0, True),
            ("another is better and faster", None, False),
        )
        if (shown := [one for one in facts.costs if one.on_front is front])
    ]
    seconds = Axis("seconds to train in a fold (logarithmic)", kind="log")
    return Chart(
        "Quality by training time; larger marks are larger models",
        seconds,
        Axis(facts.metric.title, percent=True),
        series,
    )


def _labels(facts: ComparisonRecord) -> Chart:
    """The F1 of the labels with most documents by the leaders."""
    found = facts.by_label
    order = sorted(range(len(found.labels)), key=lambda place: -found.documents[place])[:MOST_LABELS]
    names = [f"{found.labels[place]} ({found.documents[place]})" for place in order]
    series = [
        Series(name, names, [values[place] for place in order], mark="dots", colour=number)
        for number, (name, values) in enumerate(list(found.f1.items())[:LEADERS])
    ]
    rest = len(found.labels) - len(order)
    more = f"; {counted(rest, 'more label is', 'more labels are')} not drawn" if rest > 0 else ""
    return Chart(
        f"F1 by label (documents in brackets){more}",
        Axis(kind="category", categories=names),
        Axis("F1", percent=True, low=0, high=1),
        series,
    )
