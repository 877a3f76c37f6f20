"""``manylabel predict``."""

from __future__ import annotations

import csv
import io
import json as json_module
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from manylabel.cli import options as o
from manylabel.cli.display import progress

if TYPE_CHECKING:
    from manylabel.data.corpus import Text
    from manylabel.reports.records import LabelledDocument


class Output(StrEnum):
    """The formats of predictions."""

    JSONL = "jsonl"
    TSV = "tsv"
    CSV = "csv"


@o.takes_data_options("hierarchy", "vocabulary", "label_language", "split_by", "label_column", "label_separator")
def predict(
    model: o.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="A file, a folder, a data set's name, or - for standard input: a text or a JSON object per line."
        ),
    ] = "-",
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Write to this file instead of standard output.", show_default=False),
    ] = None,
    to: Annotated[Output, typer.Option("--to", help="The format of the predictions.")] = Output.JSONL,
    scores: Annotated[
        bool, typer.Option("--scores", help="Show the score of each label and the threshold it must reach.")
    ] = False,
    runners_up: Annotated[
        int,
        typer.Option("--runners-up", min=0, help="With --scores: how many labels to add that were not predicted."),
    ] = 3,
    json: o.Json = False,
    *,
    reading: o.DataOptions,
) -> None:
    """Label documents with a model: one prediction per line, in the order of the documents."""
    from manylabel.classifier import TextClassifier
    from manylabel.data.atomic import check_target
    from manylabel.tasks.models import predict_source, predict_stream

    if output is not None:
        check_target(output, [model, data])
    classifier = TextClassifier.load(model)
    extra = runners_up if scores else 0
    if data == "-":
        batch = 1 if sys.stdin.isatty() else 256
        predictions = predict_stream(classifier, stdin_texts(sys.stdin.buffer), runners_up=extra, batch=batch)
    else:
        predictions = predict_source(classifier, reading.source(data), runners_up=extra)
    with progress(), _open(output) as stream:
        for line in write_predictions(predictions, Output.JSONL if json else to, scores):
            stream.write(line)


@contextmanager
def _open(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    from manylabel.data.atomic import atomic_text

    with atomic_text(path) as stream:
        yield stream


def stdin_texts(stream: Iterable[bytes]) -> Iterator[tuple[str, Text]]:
    """(id, text) pairs: a line that starts with ``{`` is a JSON object, any other the text itself."""
    from manylabel.exceptions import DataError

    for number, raw in enumerate(stream, start=1):
        try:
            line = raw.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise DataError(
                "These bytes are not UTF-8.",
                path="standard input",
                line=number,
                remedy="Convert the text to UTF-8 first.",
            ) from None
        if not line.startswith("{"):
            yield str(number), line
            continue
        try:
            record = json_module.loads(line)
        except ValueError as error:
            raise DataError(f"This line is not JSON: {error}.", path="standard input", line=number) from None
        fields = {
            key: value for key, value in record.items() if key in ("title", "text", "body") and isinstance(value, str)
        }
        if not fields:
            raise DataError(
                "This record has no text.",
                path="standard input",
                line=number,
                remedy="Give it a key 'text' (or 'title' and 'body').",
            )
        text = next(iter(fields.values())) if len(fields) == 1 else fields
        yield str(record.get("id", record.get("document_id", number))), text


def write_predictions(predictions: Iterable[LabelledDocument], to: Output, scores: bool) -> Iterator[str]:
    """The predictions as lines of the chosen format."""
    from manylabel.data.strict_json import dumps

    if to is Output.JSONL:
        for prediction in predictions:
            yield dumps(prediction.as_dict(with_scores=scores)) + "\n"
        return
    separator = "\t" if to is Output.TSV else ","
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerow(["id", "labels", *(["scores"] if scores else [])])
    for prediction in predictions:
        shown = "; ".join(
            f"{name} {score:.3f}"
            + (f" (threshold {prediction.thresholds[name]:.3f})" if name in prediction.thresholds else "")
            for name, score in prediction.scores.items()
        )
        writer.writerow([prediction.id, ";".join(prediction.labels), *([shown] if scores else [])])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    if buffer.getvalue():
        yield buffer.getvalue()
