"""``manylabel results``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import show, show_json


def results(
    files: Annotated[
        list[Path],
        typer.Argument(help="Files that `manylabel evaluate … --json` wrote.", show_default=False),
    ],
    labels: Annotated[
        str, typer.Option("--labels", help="How many labels are listed where there is one result: a number or 'all'.")
    ] = "30",
    json: o.Json = False,
) -> None:
    """Put saved results side by side, where they were measured alike.

    Results of other documents, other true labels, another part or under other conventions are refused. Over several
    data sets average ranks are shown at the end.
    """
    from manylabel.reports.saved_results_page import ranks_page, saved_results_page
    from manylabel.tasks.evaluate import saved_results

    limit = o.label_limit(labels)
    found = saved_results(files)
    if json:
        plain = [one.as_dict() for one in found]
        show_json(plain[0] if len(plain) == 1 else plain)
        return
    for one in found:
        show(saved_results_page(one.results, one.split, labels=limit))
    if len(found) > 1 and len(found[0].results) > 1:
        show(ranks_page([one.results for one in found]))
