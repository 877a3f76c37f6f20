"""``manylabel learning-curve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json, write_page
from manylabel.cli.training import skipped_notes


def learning_curve(
    data: o.Data,
    method: Annotated[
        str | None,
        typer.Option("--method", help="A method; `manylabel methods` lists them.", show_default=False),
    ] = None,
    setting: o.Setting = None,
    metric: Annotated[
        str,
        typer.Option("--metric", help="micro-f1, macro-f1, sample-f1, exact-match, hamming-loss or recall@k."),
    ] = "micro-f1",
    steps: Annotated[int, typer.Option("--steps", help="How many sizes, each at most twice the one before.")] = 6,
    repeats: Annotated[int, typer.Option("--repeats", help="How often smaller sizes are drawn anew.")] = 3,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write a page with interactive figures to this HTML file.", show_default=False),
    ] = None,
    labels: Annotated[
        str, typer.Option("--labels", help="How many labels each table shows: a number or 'all'.")
    ] = "10",
    test_share: o.TestShare = 0.25,
    split_by: o.SplitBy = None,
    hierarchy: o.Hierarchy = None,
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
    """Would more documents help, and on which labels? Train on growing shares of the training split.

    Every step is measured on the same test documents. A curve fitted to the steps says what twice the documents would
    give; labels are told apart into those still rising, those that are level, and those too rare to tell.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_target
    from manylabel.reports.learning_curve_page import learning_curve_page
    from manylabel.tasks.learning_curve import learning_curve as task

    source = o.make_source(
        data, format, text_column, label_column, label_separator, encoding, on_error, option, hierarchy, split_by
    )
    limit = o.label_limit(labels)
    if report is not None:
        check_target(report, [data])
    with progress():
        found = task(
            source,
            method=method or DEFAULT_METHOD,
            overrides=o.make_overrides(setting, None),
            metric=metric,
            steps=steps,
            repeats=repeats,
            test_share=test_share,
            seed=seed,
            n_jobs=jobs,
        ).as_dict()
    if report is not None:
        from manylabel.reports.learning_curve_page import learning_curve_html

        write_page(report, learning_curve_html(found))
    if json:
        show_json(found)
    else:
        show([*learning_curve_page(found, limit), *skipped_notes(found["skipped"])])
