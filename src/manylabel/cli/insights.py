"""``manylabel labels``: what labels look like, with a model or without."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json, write_page

KnownModel = Annotated[
    Path | None,
    typer.Option("--model", "-m", help="A model file, to add how well it predicts each label.", show_default=False),
]


@o.takes_data_options("split_by")
def labels(
    data: o.Data,
    model: KnownModel = None,
    split: o.SplitName = None,
    labels: o.LabelRows = "10",
    report: o.HtmlReport = None,
    *,
    reading: o.DataOptions,
    json: o.Json = False,
) -> None:
    """Report on labels: sizes and imbalance, pairs that occur together, imply or avoid each other, names, hierarchy.

    With --model also precision, recall and F1 with intervals, confusions, and the terms of labels.
    """
    from manylabel.reports.html_page import page_html
    from manylabel.reports.labels_page import labels_page, labels_report
    from manylabel.reports.page import skipped_notes
    from manylabel.tasks.labels import report as task

    limit = o.label_limit(labels)
    with progress():
        found = task(reading.source(data), model, split=split, terms_for=10 if limit is None else limit)
    if report is not None:
        write_page(report, page_html(f"Labels of {found.report.data}", labels_report(found.report, found.model)))
    if json:
        show_json(found.as_dict())
    elif report is None:
        show([*labels_page(found.report, found.model, limit), *skipped_notes(found.skipped)])
