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


def plan(
    data: Annotated[
        str | None, typer.Argument(help="The corpus: a file, a folder or a pattern.", show_default=False)
    ] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", min=1, help="The number of documents.", show_default=False)
    ] = None,
    labels: Annotated[
        int | None, typer.Option("--labels", min=1, help="The number of labels.", show_default=False)
    ] = None,
    method: o.Methods = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            help="The number of worker processes. By default as many as `train` starts with --memory and --jobs.",
            show_default=False,
        ),
    ] = None,
    memory: o.Memory = None,
    jobs: o.Jobs = None,
    json: o.Json = False,
) -> None:
    """Estimate what training from disk takes: time, memory, disk, the size of the model and what is read from files.

    By default for the methods nb, svm and auto.

    Where the data have a training split, only its documents are counted, as `train` uses them.

    Times hold for this computer, whose speed is measured first. Memory is that of all processes together.
    """
    from manylabel.cli.display import show, show_json
    from manylabel.exceptions import ParameterError
    from manylabel.memory import megabytes
    from manylabel.reports.page import Column, Note, Table
    from manylabel.tasks.planning import plan as task
    from manylabel.wording import counted

    if (data is None) == (documents is None):
        raise ParameterError("Give the corpus, or --documents and --labels.")
    found = task(data, documents, labels, method or ["nb", "svm", "auto"], workers, memory, jobs)
    if json:
        show_json(found)
        return
    extent = found["extent"]
    sizes = ("memory", "disk", "model", "read")
    rows = [
        [
            one["method"],
            f"{one['workers']:,}",
            f"{one['seconds']:,.0f} s",
            *(megabytes(one[key]) for key in sizes),
        ]
        for one in found["methods"]
    ]
    columns = [Column("method"), *(Column(name) for name in ("processes", "time", *sizes))]
    split = "" if found["split"] is None else f" of the {found['split']} split"
    about = f"{counted(extent['documents'], 'document')}{split}, {counted(extent['labels'], 'label')}, about "
    about += counted(extent["terms"], "term")
    units = Note(
        "With several threads a process takes less time. docs/scale.md explains how these figures are computed.",
        "quiet",
    )
    allowed = "is free" if memory is None else f"--memory {memory} allows"
    refused = [
        Note(f"{one['method']} would take more memory than {allowed}: train refuses it.", "warning")
        for one in found["methods"]
        if not one["fits"]
    ]
    show([Note(f"{about}."), Table(columns, rows), *refused, units])
