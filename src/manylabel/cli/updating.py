"""``manylabel update``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json, write_report

OUTPUT = typer.Option("--output", help="The model file to write.", show_default=False)


def update(
    model: o.ModelFile,
    output: Annotated[Path, OUTPUT],
    rename: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="OLD=NEW", help="Rename a label; repeatable.", show_default=False),
    ] = None,
    retire: Annotated[
        list[str] | None,
        typer.Option("--retire", metavar="LABEL", help="Drop a label; repeatable.", show_default=False),
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option(
            "--changes",
            help="A file with one change per line: rename, tab, old, tab, new; or retire, tab, old.",
            show_default=False,
        ),
    ] = None,
    report: o.HtmlReport = None,
    json: o.Json = False,
) -> None:
    """Change the labels of a model without training again; all other labels keep their scores."""
    from manylabel.data.atomic import check_target
    from manylabel.reports.update_page import update_page
    from manylabel.tasks.update import update as task

    check_target(output, [changes])
    assignments = [*(("rename", one) for one in rename or []), *(("retire", one) for one in retire or [])]
    with progress():
        found = task(model, assignments=assignments, changes=changes, output=output)
    if report is not None:
        write_report(report, f"Update of {found.model}", update_page(found), found.as_dict())
    if json:
        show_json(found.as_dict())
    elif report is None:
        show(update_page(found))
