"""``manylabel distil``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show_beside, show_json, write_report
from manylabel.cli.reading import DataOptions, takes_data_options
from manylabel.cli.settings import make_overrides


@takes_data_options("split_by")
def distil(
    program: Annotated[
        Path,
        typer.Argument(
            metavar="LABELLED",
            help="JSON lines with text, labels and perhaps scores, made by a language model or another program.",
            show_default=False,
        ),
    ],
    to: Annotated[Path, typer.Option("--to", metavar="MODEL", help="The model file to write.", show_default=False)],
    human: Annotated[
        str | None,
        typer.Option(
            "--human",
            help="Documents with labels of people: the only ones that the quality is measured on.",
            show_default=False,
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            help="The file of `suggest --for-llm` with the texts of documents that the program names by id.",
            show_default=False,
        ),
    ] = None,
    least_score: Annotated[
        float, typer.Option("--least-score", min=0.0, max=1.0, help="Leave out labels with a lower score.")
    ] = 0.0,
    method: o.Method = None,
    setting: o.Setting = None,
    metric: o.OptionalMetric = None,
    labels: o.LabelRows = "20",
    report: o.HtmlReport = None,
    *,
    reading: DataOptions,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Train on labels made by a language model or another system, and measure on labels of people.

    A document that both labelled counts as labelled by people.
    """
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.data.atomic import check_targets
    from manylabel.reports.distil_page import distil_page
    from manylabel.tasks.distil import distil as task

    check_targets([to, report], [program, human, prompts])
    limit = o.label_limit(labels)
    with progress():
        found = task(
            program,
            None if human is None else reading.source(human),
            to,
            prompts=prompts,
            least_score=least_score,
            method=method or DEFAULT_METHOD,
            overrides=make_overrides(setting, None, metric),
            seed=seed,
            n_jobs=jobs,
        )
    if report is not None:
        write_report(report, f"Distilled from {found.program}", distil_page(found, None), found.as_dict())
    if json:
        show_json(found.as_dict())
    else:
        show_beside(report, distil_page(found, limit))
