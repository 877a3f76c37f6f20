"""``manylabel tune``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.training import default_model_path, skipped_notes


def tune(
    data: o.Data,
    method: Annotated[
        str | None,
        typer.Option("--method", help="A method; `manylabel methods` lists them.", show_default=False),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            help="The metric to optimise for: micro-f1, macro-f1, sample-f1, exact-match, hamming-loss, recall@5.",
        ),
    ] = "micro-f1",
    trials: Annotated[
        int, typer.Option("--trials", help="How many settings to try, the method's own among them.")
    ] = 27,
    cv: Annotated[int, typer.Option("--cv", help="The folds of the cross-validation.")] = 3,
    budget: Annotated[
        str | None,
        typer.Option("--budget", help="Stop after this time, for example 90s, 2m or 1h.", show_default=False),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="The model file to write; DATA.manylabel by default.", show_default=False),
    ] = None,
    setting: o.Setting = None,
    hierarchy: o.Hierarchy = None,
    split_by: o.SplitBy = None,
    part: o.SplitName = None,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Search the settings of a method, and train with the best where it is shown to be better than the method's own.

    Many settings are tried on few documents, the best third of them on more, the last ones on all folds. Settings given
    by --set are not searched. Only the training split is used; measure the model with `manylabel evaluate`.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.deadline import seconds_of
    from manylabel.reports.tune_page import tune_page
    from manylabel.tasks.tune import tune as task

    source = o.make_source(
        data, format, text_column, label_column, label_separator, encoding, on_error, option, hierarchy, split_by
    )
    seconds = None if budget is None else seconds_of(budget)
    target = model or default_model_path(data)
    check_target(target, [data])
    with progress():
        tuned = task(
            source,
            target,
            method=method or DEFAULT_METHOD,
            metric=metric,
            trials=trials,
            folds=cv,
            budget=seconds,
            overrides=o.make_overrides(setting, None),
            part=part,
            seed=seed,
            n_jobs=jobs,
        )
    facts = tuned.as_dict()
    if json:
        show_json(facts)
    else:
        show([*tune_page(facts), *skipped_notes(facts["skipped"])])
