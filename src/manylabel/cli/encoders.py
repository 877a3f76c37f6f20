"""``manylabel encoder list``, ``info`` and ``distil``, and the options of other commands about encoders."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli.display import progress, remark, show, show_json
from manylabel.cli.options import Json
from manylabel.reports.page import Column, Note, Table

Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME_OR_FOLDER",
        help="Add the vector of each text by this encoder, a folder on your disk or a name that `manylabel encoder "
        "list` prints. The default method uses it where it improves the metric.",
        show_default=False,
    ),
]
SameEncoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME_OR_FOLDER",
        help="Where the encoder is that the model was trained with; by default where it was then.",
        show_default=False,
    ),
]
Vectors = Annotated[
    str | None,
    typer.Option(
        "--vectors",
        metavar="FILE",
        help="Ready vectors instead of an encoder, one row per document: file.npy or file.parquet:column.",
        show_default=False,
    ),
]
FolderOrName = Annotated[
    str,
    typer.Argument(metavar="NAME_OR_FOLDER", help="An installed encoder, or the folder of one.", show_default=False),
]


def list_encoders(json: Json = False) -> None:
    """List the encoders that can be named: those of installed packages, and those in the cache of manylabel."""
    from manylabel.tasks.encoders import list_encoders as task

    found = task()
    if json:
        show_json(found)
    elif found:
        show([Table([Column("name"), Column("folder")], [[name, folder] for name, folder in found.items()])])
    else:
        show([Note("No encoder is installed. For static vectors: pip install wordllama 'manylabel[static]'", "plain")])


def info(encoder: FolderOrName, json: Json = False) -> None:
    """Show what an encoder is: its kind, dimensions and checksum, and how fast it is here."""
    from manylabel.tasks.encoders import describe_encoder

    found = describe_encoder(encoder)
    if json:
        show_json(found)
    else:
        show([Table([Column(""), Column("")], [[name, str(value)] for name, value in found.items()])])


def distil(
    folder: Annotated[
        Path, typer.Argument(help="A folder that sentence-transformers or transformers wrote.", show_default=False)
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.", show_default=False)],
    dimensions: Annotated[int, typer.Option("--dimensions", min=1, help="The number of dimensions.")] = 256,
    json: Json = False,
) -> None:
    """Make static vectors from a sentence encoder: a table that encodes thousands of documents a second.

    model2vec encodes every token of the vocabulary once. It needs `pip install 'manylabel[encoders]'`.
    """
    from manylabel.tasks.encoders import distil as task

    with progress():
        found = task(folder, output, dimensions)
    if json:
        show_json(found)
    else:
        remark(f"Written: {output}. Use it: manylabel train DATA --encoder {output}")
