"""``manylabel convert`` and ``manylabel fetch``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.training import skipped_notes
from manylabel.reports.page import Note


def convert(
    data: o.Data,
    target: Annotated[
        Path | None,
        typer.Argument(help="The file to write; without it the data are read and described.", show_default=False),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="The format to write, where the file's ending does not tell.", show_default=False),
    ] = None,
    split: o.SplitName = None,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    json: o.Json = False,
) -> None:
    """Read data of any known format, say what is in them, and write them in another."""
    from manylabel.reports.data_page import sizes_page
    from manylabel.tasks.data_sets import convert as task

    source = o.make_source(data, format, text_column, label_column, label_separator, encoding, on_error, option)
    with progress():
        found = task(source, target, to=to, split=split)
    if json:
        show_json(found.as_dict())
        return
    blocks = sizes_page(found.sizes, found.format)
    blocks.extend(skipped_notes([str(problem) for problem in found.skipped]))
    if target is not None:
        blocks.append(Note(f"Written to {target}."))
    show(blocks)


def fetch(
    name: Annotated[
        str, typer.Argument(help="The data set to download, for example reuters21578.", show_default=False)
    ],
    source: Annotated[
        str | None,
        typer.Option("--from", help="A file you downloaded yourself, or another address.", show_default=False),
    ] = None,
    json: o.Json = False,
) -> None:
    """Download a data set into the cache, checked by the sums of the files inside it."""
    from manylabel.tasks.data_sets import fetch as task

    with progress():
        path = task(name, source)
    if json:
        show_json({"name": name, "path": str(path)})
    else:
        show([Note(f"{name} is in {path}."), Note(f"Next: manylabel evaluate {name}", "quiet")])
