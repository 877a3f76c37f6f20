"""``manylabel compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json, write_page
from manylabel.cli.training import default_model_path, skipped_notes


def compare(
    data: Annotated[
        list[str], typer.Argument(help="A file, a folder or the name of a data set; or several.", show_default=False)
    ],
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="A method to compare; may be given several times.", show_default=False),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", help="The methods to compare, with commas between; all by default.", show_default=False
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric", help="What matters: micro-f1, macro-f1, sample-f1, exact-match, hamming-loss, recall@5."
        ),
    ] = "micro-f1",
    cv: Annotated[int, typer.Option("--cv", help="The folds of the cross-validation.")] = 5,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            help="Documents to measure the winner on at the end; by default the test split of the data, if any.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[str, typer.Option("--budget", help="How long it may take (per data set): 90s, 2m, 1h.")] = "2m",
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write one self-contained HTML page to this file.", show_default=False),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="The model file to write; DATA.manylabel by default.", show_default=False),
    ] = None,
    hierarchy: o.Hierarchy = None,
    split_by: o.SplitBy = None,
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
    """Find the best method for some documents within a time budget, and say whether its lead is real.

    Methods, features and decision rules are cross-validated on the training split; the winner is trained on all of it,
    saved, and measured once on the test split, where there is one. The recipe it prints can be given to `manylabel
    train --recipe`.
    """
    from manylabel.data.atomic import check_target
    from manylabel.deadline import seconds_of
    from manylabel.exceptions import ParameterError
    from manylabel.reports.compare_page import compare_html, compare_page, over_data_sets_page
    from manylabel.tasks.compare import compare as task
    from manylabel.tasks.corpora import Source

    named = [*(method or []), *(name.strip() for name in (methods or "").split(",") if name.strip())]
    seconds = seconds_of(budget)
    if len(data) > 1 and (model is not None or test is not None):
        raise ParameterError("--model and --test are for one data set; several were given.")

    if methods is not None and not named:
        raise ParameterError("--methods names no method. Separate names by commas, or leave it out to try all.")
    targets = [model or default_model_path(name) for name in data]
    if len(set(targets)) < len(targets):
        raise ParameterError(
            f"The models of {' and '.join(data)} would be written to the same file. Compare them one at a time, with "
            "--model."
        )
    for target in (*targets, *([] if report is None else [report])):
        check_target(target, [*data, test])

    def source(name: str) -> Source:
        return o.make_source(
            name, format, text_column, label_column, label_separator, encoding, on_error, option, hierarchy, split_by
        )

    found = []
    for name, target in zip(data, targets, strict=True):
        with progress():
            one = task(
                source(name),
                target,
                methods=named or None,
                metric=metric,
                folds=cv,
                test=None if test is None else source(str(test)),
                budget=seconds,
                seed=seed,
                n_jobs=jobs,
            )
        found.append(one.as_dict())
        if not json:
            show([*compare_page(found[-1]), *skipped_notes(found[-1]["skipped"])])
    if json:
        show_json(found[0] if len(found) == 1 else found)
    elif len(found) > 1:
        show(over_data_sets_page(found))
    if report is not None:
        write_page(report, compare_html(found))
