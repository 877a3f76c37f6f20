"""``manylabel demo`` and ``manylabel reproduce``: experiments that come with manylabel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json, write_page


def demo(
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file to write.")] = Path("demo.manylabel"),
    method: o.Method = None,
    seed: o.Seed = 0,
    json: o.Json = False,
) -> None:
    """Train on the letters that come with manylabel, measure the model, and label three new letters."""
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.reports.result_page import demo_page
    from manylabel.tasks.built_in import demo as task

    with progress():
        shown = task(model, method=method or DEFAULT_METHOD, seed=seed)
    if json:
        show_json(shown.as_dict())
    else:
        show(demo_page(shown.result, shown.split, shown.letters, str(model), probabilities=shown.probabilities))


def reproduce(
    papers: Annotated[
        list[str],
        typer.Argument(help="vilar2004, godbole2004, ueda2002, lee2018, lecture, beyond, or all.", show_default=False),
    ],
    report: o.HtmlReport = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write the same as Markdown to this file.", show_default=False)
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repeats and smaller grids: minutes, not an hour.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything anew, also what is cached.")] = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Compute the papers' tables and figures, beside their own numbers, with a verdict on each claim.

    Finished work is cached: after an interruption the same command continues where it stopped.
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
