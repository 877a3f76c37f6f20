"""``manylabel demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json


def demo(
    model: Annotated[Path, typer.Option("--model", "-m", help="Where to leave the model.")] = Path("demo.manylabel"),
    method: Annotated[
        str | None,
        typer.Option("--method", help="A method; `manylabel methods` lists them.", show_default=False),
    ] = None,
    seed: o.Seed = 0,
    json: o.Json = False,
) -> None:
    """Train on the letters that come with manylabel, measure, and label three new letters."""
    from manylabel.catalog import DEFAULT_METHOD
    from manylabel.reports.result_page import demo_page
    from manylabel.tasks.built_in import demo as task

    with progress():
        shown = task(model, method=method or DEFAULT_METHOD, seed=seed)
    if json:
        show_json(shown.as_dict())
    else:
        show(demo_page(shown.result, shown.split, shown.letters, str(model), probabilities=shown.probabilities))
