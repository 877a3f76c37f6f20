"""``manylabel compare`` and ``manylabel tune``: find the best method, or the best settings of one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli import encoders as e
from manylabel.cli import options as o
from manylabel.cli.display import progress, remark, show, show_json, show_records, write_page, write_report
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.cli.settings import make_overrides
from manylabel.reports.page import skipped_notes

if TYPE_CHECKING:
    from manylabel.reports.choosing_records import ComparisonRecord


@takes_data_options()
def compare(
    data: o.DataSets,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            "--method",
            callback=o.several_names,
            help="The methods to compare, separated by commas or by repeating the option; default: all.",
            show_default=False,
        ),
    ] = None,
    metric: o.Metric = "micro-f1",
    folds: o.Folds = 5,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            help="How often to cross-validate, each time with other folds: --repeats 5 --folds 2 is 5×2 "
            "cross-validation with its F test.",
        ),
    ] = 1,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            help="Documents to measure the winner on at the end; by default the test split of the data, if any.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[str, typer.Option("--budget", help="The time budget per data set: 90s, 2m, 1h.")] = "2m",
    report: o.HtmlReport = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Write the leaderboard to this CSV file.", show_default=False)
    ] = None,
    latex: Annotated[
        Path | None,
        typer.Option(
            "--latex",
            help="Write the leaderboard as a LaTeX table; of several data sets, also the average ranks.",
            show_default=False,
        ),
    ] = None,
    diagram: Annotated[
        Path | None,
        typer.Option("--diagram", help="Write the critical-difference diagram to this SVG file.", show_default=False),
    ] = None,
    model: o.NewModel = None,
    encoder: e.Encoder = None,
    *,
    reading: DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    json: o.Json = False,
) -> None:
    """Find the best method for some documents within a time budget, and test whether its lead is significant.

    Methods, features and decision rules are cross-validated on the training split. The winner is trained on all of it,
    saved, and measured once on the test split, if there is one. `manylabel train --recipe` takes the recipe that is
    printed. Where all documents would take more than --memory, methods are compared on a random sample, and the winner
    is trained from disk on all documents if its method and the budget allow it.
    """
    from manylabel.data.atomic import check_targets
    from manylabel.deadline import seconds_of
    from manylabel.reports.compare_page import compare_page, over_data_sets_page
    from manylabel.tasks.large import check_data
    from manylabel.tasks.large_choosing import compare as task
    from manylabel.tasks.model_facts import check_own_model

    seconds = seconds_of(budget)
    targets = _model_files(data, model, test)
    check_targets([*targets, report, csv, latex, diagram], [*data, test])
    for target in targets:
        check_own_model(target, "compare", one_of_several=len(targets) > 1)
    sources = [reading.source(name) for name in data]
    check_data(sources)
    found = []
    for source, target in zip(sources, targets, strict=True):
        with progress():
            one = task(
                source,
                target,
                methods=methods,
                metric=metric,
                folds=folds,
                repeats=repeats,
                test=None if test is None else reading.source(str(test)),
                budget=seconds,
                seed=seed,
                n_jobs=jobs,
                memory=memory,
                encoder=encoder,
            ).record
        found.append(one)
        if not json:
            show([*compare_page(one), *skipped_notes(one.skipped)])
    if json:
        show_records(found)
    elif len(found) > 1:
        show(over_data_sets_page(found))
    _write_comparison(found, report, csv, latex, diagram)


def _model_files(data: Sequence[str], model: Path | None, test: Path | None) -> list[Path]:
    """The model file of each data set, all different."""
    from manylabel.exceptions import ParameterError

    if len(data) > 1 and (model is not None or test is not None):
        raise ParameterError("--model and --test are for one data set; several were given.")
    targets = [model or o.default_model_path(name) for name in data]
    if len(set(targets)) < len(targets):
        raise ParameterError(
            f"The models of {' and '.join(data)} would be written to the same file. Compare them one at a time, with "
            "--model."
        )
    return targets


def _write_comparison(
    found: Sequence[ComparisonRecord], report: Path | None, csv: Path | None, latex: Path | None, diagram: Path | None
) -> None:
    from manylabel.reports.compare_page import compare_report
    from manylabel.reports.rank_diagram import diagram_of
    from manylabel.reports.tables import compare_csv, compare_latex

    if report is not None:
        write_report(report, "Methods compared", compare_report(found), [one.as_dict() for one in found])
    if csv is not None:
        write_page(csv, compare_csv(found))
    if latex is not None:
        write_page(latex, compare_latex(found))
    if diagram is not None:
        drawn = diagram_of(found)
        if drawn is None:
            remark("There is no diagram: fewer than two methods ran on all data sets or in all folds.")
        else:
            write_page(diagram, drawn)


@takes_data_options()
def tune(
    data: o.Data,
    method: o.Method = None,
    metric: o.Metric = "micro-f1",
    trials: Annotated[
        int, typer.Option("--trials", help="How many settings to try, the method's own settings included.")
    ] = 27,
    folds: o.Folds = 3,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="Stop after this time, for example 90s, 2m or 1h.", show_default=False),
    ] = None,
    model: o.NewModel = None,
    setting: o.Setting = None,
    split: o.SplitName = None,
    *,
    reading: DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    json: o.Json = False,
) -> None:
    """Search the settings of a method, and train with the best where they are significantly better than its own.

    Many settings are tried on few documents, the best third of them on more, the last ones on all folds. Settings made
    by --set are not searched. Only the training split is used; measure the model with `manylabel evaluate`. Where all
    documents would take more than --memory, settings are searched on a random sample.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.deadline import seconds_of
    from manylabel.reports.tune_page import tune_page
    from manylabel.tasks.large_choosing import tune as task
    from manylabel.tasks.model_facts import check_own_model

    source = reading.source(data)
    seconds = None if budget is None else seconds_of(budget)
    target = model or o.default_model_path(data)
    check_target(target, [data])
    check_own_model(target, "tune")
    with progress():
        tuned = task(
            source,
            target,
            method=method or DEFAULT_METHOD,
            metric=metric,
            trials=trials,
            folds=folds,
            budget=seconds,
            overrides=make_overrides(setting, None),
            split=split,
            seed=seed,
            n_jobs=jobs,
            memory=memory,
        )
    if json:
        show_json(tuned.as_dict())
    else:
        show([*tune_page(tuned), *skipped_notes(tuned.skipped)])
