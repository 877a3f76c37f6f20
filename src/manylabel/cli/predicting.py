"""``manylabel predict``."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import encoders as e
from manylabel.cli import options as o
from manylabel.cli.display import progress, progress_or_prompt, remark
from manylabel.cli.reading import DataOptions, takes_data_options

if TYPE_CHECKING:
    from manylabel.classifier import TextClassifier
    from manylabel.data.problems import Problem
    from manylabel.reports.records import LabelledDocument
    from manylabel.scale.predictions import Asked
    from manylabel.tasks.corpora import Source
    from manylabel.tasks.large import Piece


class Output(StrEnum):
    """The formats of predictions."""

    JSONL = "jsonl"
    TSV = "tsv"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"


BINARY = (Output.XLSX, Output.PARQUET)
LONGEST_EXAMPLE = 60
"""The length of a text that is repeated in a message."""
AS_LINES = ("", "json", "ndjson", "txt")
"""Endings of files that JSON lines are written to, beside their own."""


@takes_data_options(
    "hierarchy", "vocabulary", "label_language", "split_by", "label_column", "label_separator", "merge_labels",
    "drop_unlabelled",
)  # fmt: skip
def predict(
    model: o.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="A file, a folder, a data set's name, or - for standard input. Standard input and .txt files "
            "hold a text or a JSON object per line; with --format csv, a table."
        ),
    ] = "-",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Write to this file instead of standard output (-), in the format of its name (.csv, .tsv, .xlsx, "
            ".parquet, .jsonl): all columns of the data, with labels and scores added.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Output | None,
        typer.Option(
            "--to", help="The format of the predictions; by default that of --output, or jsonl.", show_default=False
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add the score of each label (a probability where known) and its threshold."),
    ] = False,
    raw_scores: Annotated[
        bool,
        typer.Option("--raw-scores", help="As --scores, but the method's own scores, for example margins."),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="Predict the labels whose score is at least this, instead of by the model's rule. "
            "`manylabel thresholds` changes the model itself.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            min=1,
            help="Predict this many labels, the best ones; with --threshold, up to this many that reach it.",
            show_default=False,
        ),
    ] = None,
    runners_up: Annotated[
        int | None,
        typer.Option(
            "--runners-up",
            min=0,
            help="With --scores: how many labels to add that were not predicted; by default 3, and none with --top.",
            show_default=False,
        ),
    ] = None,
    label_language: Annotated[
        str | None,
        typer.Option(
            "--label-language",
            help="Name the labels in this language of the model's vocabulary, such as en; by default that of training.",
            show_default=False,
        ),
    ] = None,
    encoder: e.SameEncoder = None,
    vectors: e.Vectors = None,
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    workers: o.Workers = None,
    cluster: o.Cluster = None,
    json: o.Json = False,
    *,
    reading: DataOptions,
) -> None:
    """Label documents with a model: one prediction per line, in the order of the documents."""
    from manylabel.classifier import TextClassifier
    from manylabel.cli.line_documents import STANDARD_INPUT, standard_input_as_file
    from manylabel.data.atomic import STANDARD_OUTPUT, check_target
    from manylabel.data.earlier_predictions import check_overwritten
    from manylabel.data.labelled_table import check_table_format
    from manylabel.exceptions import MissingDataError, ParameterError
    from manylabel.scale.predictions import Asked
    from manylabel.tasks.models import name_labels_in
    from manylabel.tasks.planning import check_prediction
    from manylabel.wording import counted

    if output == Path(STANDARD_OUTPUT):
        output = None
    if output is not None:
        check_target(output, [model, data])
    wanted = Output.JSONL if json else to or output_format(output)
    if output is None and wanted in BINARY:
        raise ParameterError(f"{wanted.value} is not text. Write it to a file: --output NAME.{wanted.value}")
    check_table_format(wanted.value)
    if output is not None:
        check_overwritten(output, wanted.value)
    if model.exists():
        check_prediction(model, memory)
    if (workers or cluster) and (encoder or vectors or label_language):
        refused = "--encoder, --vectors or --label-language"
        raise ParameterError(f"--workers and --cluster do not take {refused}. Leave one of them out.")
    classifier = TextClassifier.load(model, encoder=encoder).set_params(memory=memory).use_threads(jobs)
    only = classifier.described_only
    if label_language is not None:
        name_labels_in(classifier, label_language, model)
    if runners_up is None:
        runners_up = 3 if top is None else 0
    asked = Asked(threshold, top, raw_scores, runners_up if scores or raw_scores else 0)
    with standard_input_as_file(data, reading.format) as place:
        if workers is not None or cluster is not None:
            _predict_by_engine(model, classifier, reading.source(place), asked, output, wanted, workers, cluster)
            return
        try:
            pieces, skipped = _pieces(classifier, place, reading, asked, memory, vectors)
        except MissingDataError as error:
            if " " not in data:
                raise
            text = data if len(data) <= LONGEST_EXAMPLE else "A text"
            hint = f"A text comes from standard input: echo {shlex.quote(text)} | manylabel predict {model}"
            raise MissingDataError(f"{error} {hint}") from None
        with progress_or_prompt(data):
            if output is not None:
                written = write_file(output, wanted, pieces)
            else:
                for text in write_predictions((piece.predicted for piece in pieces), wanted, scores or raw_scores):
                    sys.stdout.write(text)
                    if data == "-":
                        sys.stdout.flush()  # a program that waits for its answer gets it at once
    if output is not None:
        remark(f"{counted(written, 'prediction')} written to {output}.")
    for problem in skipped:
        named = problem if place == data else replace(problem, path=STANDARD_INPUT)
        remark(f"manylabel: skipped: {named}")
    if only:
        from manylabel.reports.provenance import described_text

        remark(described_text(only, len(classifier.labels_)))


def _pieces(
    classifier: TextClassifier,
    data: str,
    reading: DataOptions,
    asked: Asked,
    memory: str | None,
    vectors: str | None,
) -> tuple[Iterable[Piece], list[Problem]]:
    """The predictions of the lines of standard input or of a text file, or of all documents of other data, as they are
    made, and the lines that were skipped so far.
    """
    from manylabel.cli.line_documents import LineDocuments, is_plain_text
    from manylabel.tasks.large import Piece, predict_pieces
    from manylabel.tasks.models import predict_batches

    if vectors is None and (data == "-" or (reading.format is None and is_plain_text(Path(data)))):
        lines = LineDocuments.of(data, reading, classifier.reading)
        batches = predict_batches(classifier, lines.read(data), asked)
        return (Piece(batch) for batch in batches), lines.problems.skipped
    return predict_pieces(classifier, replace(reading.source(data), keep_blank=True), asked, memory, vectors)


def _predict_by_engine(
    model: Path,
    classifier: TextClassifier,
    source: Source,
    asked: Asked,
    output: Path | None,
    wanted: Output,
    workers: int | None,
    cluster: str | None,
) -> None:
    """Write the predictions of worker processes or of a cluster to a file."""
    from manylabel.exceptions import ParameterError
    from manylabel.tasks.large import chosen_engine, pieces_of_engine
    from manylabel.wording import counted

    if output is None:
        raise ParameterError("Predictions of --workers and --cluster are written to a file. Give --output.")
    with progress(), chosen_engine(workers, cluster) as engine:
        assert engine is not None
        prepared = pieces_of_engine(model, classifier, replace(source, keep_blank=True), asked, engine, output)
        with prepared as (pieces, skipped):
            written = write_file(output, wanted, pieces)
    remark(f"{counted(written, 'prediction')} written to {output}.")
    for problem in skipped:
        remark(f"manylabel: skipped: {problem}")


def output_format(path: Path | None) -> Output:
    """The format of an output file by its name; JSON lines where it has no ending or one that leaves it open.

    A text that ends in ``.gz`` too is compressed. An ending that names another format is refused.
    """
    from manylabel.exceptions import ParameterError

    if path is None:
        return Output.JSONL
    named = path.with_suffix("") if path.suffix == ".gz" else path
    ending = named.suffix.lower().removeprefix(".")
    if ending in AS_LINES:
        return Output.JSONL
    if ending not in list(Output) or (named != path and ending in BINARY):
        raise ParameterError(
            f"Predictions cannot be written as {path.suffix}: {path}. Name the file "
            f"{', '.join(f'.{one.value}' for one in Output)}, or name its format with --to."
        )
    return Output(ending)


def write_file(path: Path, to: Output, pieces: Iterable[Piece]) -> int:
    """Write predictions beside the user's own columns, in their order; a column of the same name is kept.

    Added are the labels, their addresses where a vocabulary named them, and the scores. Returns the number of
    predictions.
    """
    from manylabel.data.atomic import atomic_text
    from manylabel.data.labelled_table import table_stream

    names: dict[str, str] = {}
    written = 0
    iterator = iter(pieces)
    first = next(iterator, None)
    delimiter = "," if first is None or first.delimiter not in (";", "|") else first.delimiter
    with ExitStack() as opened:
        if to is Output.JSONL:
            stream = opened.enter_context(atomic_text(path))
        else:
            append = opened.enter_context(table_stream(path, to.value, delimiter))
        for piece in [] if first is None else chain([first], iterator):
            written += len(piece.predicted)
            columns = _columns(path, to, piece, names)
            if to is Output.JSONL:
                stream.writelines(_lines_of(piece, columns, names))
            else:
                append(columns)
    return written


def _columns(path: Path, to: Output, piece: Piece, names: dict[str, str]) -> dict[str, Sequence[Any]]:
    """The columns of a piece of a table; the first piece chooses the names of the added ones."""
    from manylabel.data.labelled_table import free_name

    predicted = piece.predicted
    columns: dict[str, Sequence[Any]] = {"id": [one.id for one in predicted]}
    if piece.columns is not None:
        columns = dict(piece.columns)
    addresses = next((one.addresses for one in predicted), {})
    if not names:
        for name in ("labels", *(["uris"] if addresses else []), "scores"):
            names[name] = free_name(name, list(columns))
            if names[name] != name:
                remark(f"{path}: the data have a column {name!r}, so predictions are in {names[name]!r}.")
    if to is Output.JSONL:
        return columns
    columns[names["labels"]] = [one.labels for one in predicted]
    if addresses:
        columns[names["uris"]] = [[addresses.get(label, "") for label in one.labels] for one in predicted]
    if to is Output.PARQUET:
        columns[names["scores"]] = [list(one.scores.values()) for one in predicted]
    else:
        columns[names["scores"]] = [
            "; ".join(f"{name} {score:.3f}" for name, score in one.scores.items()) for one in predicted
        ]
    return columns


def _lines_of(piece: Piece, columns: Mapping[str, Sequence[Any]], names: Mapping[str, str]) -> Iterator[str]:
    """One JSON object per document: the user's own keys and values, an id, and the prediction."""
    from manylabel.data.strict_json import dumps

    for row, one in zip(zip(*columns.values(), strict=True), piece.predicted, strict=True):
        found = one.as_dict(with_scores=True)
        added = {names.get(key, key): value for key, value in found.items() if key != "id" or "id" not in columns}
        yield dumps({**dict(zip(columns, row, strict=True)), **added}) + "\n"


def write_predictions(batches: Iterable[Sequence[LabelledDocument]], to: Output, scores: bool) -> Iterator[str]:
    """The predictions in the chosen format, batch by batch."""
    from manylabel.data.strict_json import dumps

    if to is Output.JSONL:
        for batch in batches:
            yield "".join(dumps(prediction.as_dict(with_scores=scores)) + "\n" for prediction in batch)
        return
    separator = "\t" if to is Output.TSV else ","
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=separator, lineterminator="\n")
    writer.writerow(["id", "labels", *(["scores"] if scores else [])])
    for batch in batches:
        for prediction in batch:
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
