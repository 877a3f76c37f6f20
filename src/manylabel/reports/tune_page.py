"""The page of a search: rung by rung, the last ones beside the method's own settings, and what mattered."""

from __future__ import annotations

from manylabel.metrics.targets import measured_documents
from manylabel.parameters import value_text
from manylabel.reports.choosing_records import TrialRow, TuningRecord
from manylabel.reports.compare_page import sample_notes, trained_note
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.wording import counted

OWN = "preset"


def tune_page(facts: TuningRecord) -> list[Block]:
    """The page; rungs, finalists, verdict, effects of settings, and the recipe."""
    title = facts.metric.title
    tried = min(facts.trials, facts.rungs[0].trials)
    blocks: list[Block] = [
        Heading(f"Tuning {facts.method} on {facts.data} for {title}"),
        Note(
            f"{counted(facts.documents, 'document')}, {counted(facts.labels, 'label')}; {facts.folds}; "
            f"{counted(tried, 'setting')} tried, the {OWN} among them; {facts.seconds:.0f} s."
        ),
        *sample_notes(facts.in_memory, facts.documents),
        _rungs(facts),
    ]
    if facts.stopped:
        blocks.append(Note(_stopped(facts), "warning"))
    blocks += [Heading("The last ones" if not facts.stopped else "The best of the last finished rung"), _last(facts)]
    blocks.append(Note(_verdict(facts)))
    blocks += [Heading("What mattered"), _importance(facts), Note(_legend(facts), "quiet")]
    blocks += [Heading("The recipe"), Note(facts.toml.rstrip())]
    if facts.model is not None and facts.trained == facts.documents:
        blocks.append(Note(f"The model, trained on {counted(facts.documents, 'document')}, is in {facts.model}."))
    elif facts.model is not None:
        blocks.append(trained_note(facts.model, facts.trained, facts.documents, facts.why_not_all))
    return blocks


def _rungs(facts: TuningRecord) -> Table:
    columns = [Column("rung"), Column("settings", "count"), Column("learn from", "count"), Column("folds", "count")]
    columns += [Column("tested on", "count"), Column("best"), Column("value", "number"), Column("95 %"), Column(OWN)]
    columns.append(Column("left", "count"))
    rows: list[list[Cell]] = []
    rungs = facts.rungs
    for place, rung in enumerate(rungs):
        best = rung.best
        left = len(rungs[place + 1].values) if place + 1 < len(rungs) else 1
        rows.append(
            [
                f"{place + 1} of {facts.planned_rungs}",
                rung.trials,
                rung.learned_from,
                rung.folds,
                rung.tested,
                _name(best.trial),
                _share(best.value, facts),
                _between(best, facts),
                _share(rung.preset, facts),
                left,
            ]
        )
    return Table(columns, rows)


def _last(facts: TuningRecord) -> Table:
    shown = [one for one in facts.finalists if one.trial == 0 or one in facts.finalists[:5]]
    columns = [Column("settings"), Column("value", "number"), Column("95 %")]
    columns += [Column(setting.partition(".")[2]) for setting in facts.ranges]
    rows: list[list[Cell]] = [
        [
            _name(one.trial),
            _share(one.value, facts),
            _between(one, facts),
            *(value_text(value) for value in one.settings.values()),
        ]
        for one in shown
    ]
    return Table(columns, rows)


def _importance(facts: TuningRecord) -> Table:
    rows: list[list[Cell]] = []
    for one in facts.importance:
        name, effect = one.setting, _share(one.effect, facts)
        for group in one.values:
            rows.append([name, effect, group.text, group.trials, _share(group.mean, facts), _share(group.best, facts)])
            name = effect = ""
    columns = [Column("setting"), Column("effect", "number"), Column("values"), Column("trials", "count")]
    return Table([*columns, Column("mean", "number"), Column("best", "number")], rows)


def _verdict(facts: TuningRecord) -> str:
    verdict, best = facts.verdict, facts.finalists[0].trial
    if verdict is None:
        return f"No setting was better than the {OWN}; it is kept."
    difference = verdict.difference
    found = (
        f"{_name(best)} minus {OWN}: {_share(difference.value, facts, '+')} "
        f"[{_share(difference.low, facts, '+')}, {_share(difference.high, facts, '+')}] on the same documents, "
        f"p = {verdict.p:.2g} (permutation test, times {facts.trials} trials)."
    )
    return f"{found} {_name(best)} is taken." if verdict.shown else f"{found} No gain shown: the {OWN} is kept."


def _stopped(facts: TuningRecord) -> str:
    done = len(facts.rungs)
    missing = facts.trials - facts.rungs[0].trials
    untried = f" {counted(missing, 'setting was', 'settings were')} not tried." if missing else ""
    return (
        f"The time budget ended the search early: {done} of {facts.planned_rungs} rungs were run.{untried} "
        "Another run may end elsewhere; a longer --budget or fewer --trials make it repeatable."
    )


def _legend(facts: TuningRecord) -> str:
    return (
        f"Values: {facts.metric.title} in percent over the {measured_documents(facts.metric.name)} that all folds of a "
        "rung held out; "
        "95 % percentile interval over documents. "
        "Rungs learn from different numbers of documents: compare values within one. "
        "What mattered: mean and best of the first rung's trials with each choice or third of the numbers; "
        "effect: from the worst mean to the best. "
        "The best settings were chosen by their value, which makes it slightly too good. "
        "The test split was not used; `manylabel evaluate` measures the model on it."
    )


def _name(trial: int) -> str:
    return OWN if trial == 0 else f"#{trial}"


def _share(value: float, facts: TuningRecord, sign: str = "") -> str:
    digits = 2 if facts.metric.greater_is_better else 3
    return f"{100 * value:{sign}.{digits}f}"


def _between(one: TrialRow, facts: TuningRecord) -> str:
    return f"[{_share(one.low, facts)}, {_share(one.high, facts)}]"
