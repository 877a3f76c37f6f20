"""``manylabel update``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show_beside, show_json, write_report
from manylabel.cli.reading import DataOptions, takes_data_options


@takes_data_options("hierarchy", "split_by")
def update(
    model: o.ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(help="New labelled documents: a file, a folder or the name of a data set.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="The model file to write; by default the model is replaced.", show_default=False),
    ] = None,
    former: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="DATA",
            help="The documents of the training, which methods other than those of counts learn from again.",
            show_default=False,
        ),
    ] = None,
    only_new_labels: Annotated[
        bool, typer.Option("--only-new-labels", help="Learn new labels alone; all others keep their scores.")
    ] = False,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            "--rename",
            metavar="OLD=NEW",
            help="Give a label a name that no other label has. Repeatable.",
            show_default=False,
        ),
    ] = None,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            "--merge",
            metavar="OLD=NEW",
            help="Make one label of two: OLD becomes NEW, which may be a label already. Repeatable.",
            show_default=False,
        ),
    ] = None,
    split_label: Annotated[
        list[str] | None,
        typer.Option(
            "--split-label",
            metavar="OLD=NEW",
            help="Replace a label by narrower ones, which the documents have as labels. Repeatable.",
            show_default=False,
        ),
    ] = None,
    retire: Annotated[
        list[str] | None,
        typer.Option("--retire", metavar="LABEL", help="Remove a label. Repeatable.", show_default=False),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add",
            metavar="LABEL",
            help="Make a label again that an earlier update renamed, merged or retired. Repeatable.",
            show_default=False,
        ),
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option(
            "--changes",
            help="A file of changes, one per line, with tabs: rename, merge or split, old, new; or retire, old.",
            show_default=False,
        ),
    ] = None,
    split: o.SplitName = None,
    *,
    reading: DataOptions,
    jobs: o.Jobs = None,
    report: o.HtmlReport = None,
    json: o.Json = False,
) -> None:
    """Add documents and labels to a model, rename, merge, split and retire labels, without training again.

    The report lists the labels that changed, and the quality on the new documents before and after.
    """
    from manylabel.data.atomic import check_targets
    from manylabel.reports.update_page import update_page
    from manylabel.tasks.update import LabelOptions
    from manylabel.tasks.update import update as task

    target = model if output is None else output
    check_targets([target, report], [data, former, changes])
    given = {"rename": rename, "merge": merge, "split": split_label, "retire": retire}
    pairs = [(kind, one) for kind, texts in given.items() for one in texts or []]
    with progress():
        found = task(
            model,
            None if data is None else reading.source(data),
            target,
            former=None if former is None else reading.source(former),
            labels=LabelOptions(pairs, changes, add or []),
            only_new_labels=only_new_labels,
            split=split,
            n_jobs=jobs,
        )
    if report is not None:
        write_report(report, f"Update of {found.model}", update_page(found), found.as_dict())
    if json:
        show_json(found.as_dict())
    else:
        show_beside(report, update_page(found))
