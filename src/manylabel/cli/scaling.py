"""``manylabel synthesize`` and ``plan``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress, remark


def synthesize(
    output: Annotated[Path, typer.Argument(help="The file to write: .jsonl, .csv, .tsv or .parquet.")],
    documents: Annotated[int, typer.Option("--documents", min=1, help="The number of documents.")] = 100_000,
    labels: Annotated[int, typer.Option("--labels", min=1, help="The number of labels.")] = 1000,
    terms: Annotated[int, typer.Option("--terms", min=1, help="The number of different words.")] = 50_000,
    words: Annotated[int, typer.Option("--words", min=1, help="The mean number of words of a document.")] = 110,
    seed: o.Seed = 0,
) -> None:
    """Write a made-up corpus to try speed and memory: power laws of words and labels, labels that depend."""
    from manylabel.data.atomic import check_target
    from manylabel.scale.synthesize import Size
    from manylabel.scale.synthesize import synthesize as write
    from manylabel.wording import counted

    check_target(output)
    with progress():
        write(output, Size(documents, labels, terms, words), seed)
    remark(f"{counted(documents, 'document')} with {counted(labels, 'label')} written to {output}.")
