"""``manylabel reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json, write_page


def reproduce(
    papers: Annotated[
        list[str],
        typer.Argument(help="vilar2004, godbole2004, ueda2002, lee2018, lecture, beyond, or all.", show_default=False),
    ],
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write one self-contained HTML page to this file.", show_default=False),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the same as Markdown to this file.", show_default=False)
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repeats and smaller grids: minutes, not an hour.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, also what is kept.")] = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Compute the founding papers' tables and figures, beside their own numbers, with a verdict on each claim.

    What is done is kept: after an interruption the same command goes on where it stopped.
    """
    from manylabel.data.atomic import check_target
    from manylabel.reports.reproduction_page import reproduction_html, reproduction_markdown, reproduction_page
    from manylabel.tasks.built_in import reproduce as task

    for target in (report, markdown):
        if target is not None:
            check_target(target)
    with progress():
        found = task(papers, quick=quick, seed=seed, n_jobs=jobs, fresh=fresh)
    command = " ".join(["manylabel reproduce", *papers, *(["--quick"] if quick else [])])
    if report is not None:
        write_page(report, reproduction_html(found))
    if markdown is not None:
        write_page(markdown, reproduction_markdown(found, command))
    if json:
        show_json([one.as_dict() for one in found])
    else:
        show(reproduction_page(found))
