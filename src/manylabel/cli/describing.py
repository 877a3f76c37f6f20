"""``manylabel describe``."""

from __future__ import annotations

from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, show, show_json
from manylabel.cli.training import skipped_notes


def describe(
    data: o.Data,
    split: o.SplitName = None,
    labels: Annotated[
        int, typer.Option("--labels", min=1, help="How many of the most frequent and of the rarest labels to list.")
    ] = 10,
    format: o.Format = None,
    text_column: o.TextColumn = None,
    label_column: o.LabelColumn = None,
    label_separator: o.LabelSeparator = None,
    encoding: o.Encoding = None,
    on_error: o.OnError = o.OnErrorChoice.RAISE,
    option: o.ReaderOption = None,
    json: o.Json = False,
) -> None:
    """Say what is in data: documents, words and labels, which labels are frequent, which rare, how unequal they are.

    The JSON lists every label that is in use.
    """
    from manylabel.reports.data_page import describe_page
    from manylabel.tasks.data_sets import describe as task

    source = o.make_source(data, format, text_column, label_column, label_separator, encoding, on_error, option)
    with progress():
        found = task(source, split=split)
    if json:
        show_json(found.as_dict())
        return
    show([*describe_page(found.facts, labels), *skipped_notes([str(problem) for problem in found.skipped])])
