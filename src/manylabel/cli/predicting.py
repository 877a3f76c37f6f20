"""``manylabel predict``."""

from __future__ import annotations

import csv
import io
import json as json_module
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

import typer

from manylabel.cli import encoders as e
from manylabel.cli import options as o
from manylabel.cli.display import progress, progress_or_prompt, remark

if TYPE_CHECKING:
    from io import BufferedReader

    from manylabel.classifier import TextClassifier
    from manylabel.data.corpus import Text
    from manylabel.data.problems import Problems
    from manylabel.data.reading_options import ReadingOptions
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


@o.takes_data_options(
    "hierarchy", "vocabulary", "label_language", "split_by", "label_column", "label_separator", "merge_labels"
)
def predict(
    model: o.ModelFile,
    data: Annotated[
        str,
        typer.Argument(
            help="A file, a folder, a data set's name, or - for standard input. Standard input and .txt files "
            "hold a text or a JSON object per line."
        ),
    ] = "-",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            help="Write to this file instead of standard output, in the format of its name (.csv, .tsv, .xlsx, "
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
        int,
        typer.Option("--runners-up", min=0, help="With --scores: how many labels to add that were not predicted."),
    ] = 3,
    encoder: e.SameEncoder = None,
    vectors: e.Vectors = None,
    jobs: o.Jobs = None,
    memory: o.Memory = None,
    workers: o.Workers = None,
    cluster: o.Cluster = None,
    json: o.Json = False,
    *,
    reading: o.DataOptions,
) -> None:
    """Label documents with a model: one prediction per line, in the order of the documents."""
    from manylabel.classifier import TextClassifier
    from manylabel.data.atomic import check_target
    from manylabel.exceptions import MissingDataError, ParameterError
    from manylabel.scale.predictions import Asked
    from manylabel.tasks.large import Piece, check_prediction, predict_pieces
    from manylabel.tasks.models import predict_batches
    from manylabel.wording import counted

    if output is not None:
        check_target(output, [model, data])
    wanted = Output.JSONL if json else to or output_format(output)
    if output is None and wanted in (Output.XLSX, Output.PARQUET):
        raise ParameterError(f"{wanted.value} is not text. Write it to a file: --output NAME.{wanted.value}")
    if model.exists():
        check_prediction(model, memory)
    if (workers or cluster) and (encoder or vectors):
        raise ParameterError("--workers and --cluster do not take --encoder or --vectors. Leave one of them out.")
    classifier = TextClassifier.load(model, encoder=encoder).set_params(memory=memory).use_threads(jobs)
    asked = Asked(threshold, top, raw_scores, runners_up if scores or raw_scores else 0)
    if workers is not None or cluster is not None:
        _predict_by_engine(model, classifier, reading.source(data), asked, output, wanted, workers, cluster)
        return
    scores = scores or raw_scores or output is not None
    batches: Iterable[list[LabelledDocument]]
    pieces: Iterable[Piece] | None = None
    if vectors is None and (data == "-" or (reading.format is None and is_plain_text(Path(data)))):
        problems = reading.source(data).problems()
        name = "standard input" if data == "-" else data
        lines = LineDocuments(problems, name, reading.encoding or "utf-8", reading.text_column, classifier.reading)
        batches, skipped = predict_batches(classifier, lines.read(data), asked), problems.skipped
    else:
        source = replace(reading.source(data), keep_blank=True)
        try:
            pieces, skipped = predict_pieces(classifier, source, asked, memory, vectors)
        except MissingDataError as error:
            if " " not in data:
                raise
            hint = f"A text comes from standard input: echo {shlex.quote(data)} | manylabel predict {model}"
            raise MissingDataError(f"{error} {hint}") from None
        batches = (piece.predicted for piece in pieces)
    if output is not None and (data != "-" or wanted is not Output.JSONL):
        with progress_or_prompt(data):
            written = write_file(output, wanted, pieces or (Piece(batch) for batch in batches))
        remark(f"{counted(written, 'prediction')} written to {output}.")
    else:
        with progress_or_prompt(data), _open(output) as stream:
            for text in write_predictions(batches, wanted, scores):
                stream.write(text)
                if data == "-":
                    stream.flush()  # a program that waits for its answer gets it at once
    for problem in skipped:
        remark(f"manylabel: skipped: {problem}")
    if only := classifier.described_only:
        from manylabel.reports.provenance import described_text

        remark(described_text(only, len(classifier.labels_)))


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
    """The format of an output file by its name; JSON lines where the name does not tell."""
    suffix = "" if path is None else path.suffix.lower().removeprefix(".")
    return Output(suffix) if suffix in list(Output) else Output.JSONL


def write_file(path: Path, to: Output, pieces: Iterable[Piece]) -> int:
    """Write predictions beside the user's own columns, in their order; a column of the same name is kept.

    Added are the labels, their addresses where a vocabulary named them, and the scores. Pieces are written as they
    come, except to a workbook. Returns the number of predictions.
    """
    from manylabel.data.labelled_table import table_stream, write_table

    names: dict[str, str] = {}
    written = 0
    if to is Output.XLSX:
        whole: dict[str, list[Any]] = {}
        for piece in pieces:
            written += len(piece.predicted)
            for name, values in _columns(path, to, piece, names).items():
                whole.setdefault(name, []).extend(values)
        write_table(path, to.value, whole)
        return written
    iterator = iter(pieces)
    first = next(iterator, None)
    delimiter = "," if first is None or first.delimiter not in (";", "|") else first.delimiter
    with ExitStack() as opened:
        if to is Output.JSONL:
            stream = opened.enter_context(_open(path))
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


@contextmanager
def _open(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    from manylabel.data.atomic import atomic_text

    with atomic_text(path) as stream:
        yield stream


def is_plain_text(path: Path) -> bool:
    """Whether a file is read as standard input is: a ``.txt`` file that does not begin like another format."""
    from manylabel.data.formats import format_named
    from manylabel.data.recognition import guess_format, suffix_of
    from manylabel.exceptions import UnknownFormatError

    if suffix_of(path) != ".txt" or not path.is_file() or not path.stat().st_size:
        return False
    try:
        found = format_named(guess_format(path))
    except UnknownFormatError:
        return True
    # Prose with commas has the shape of a table; only a first line or signature of a format is a proof.
    return found.kind == "text" and not found.first_line and not found.signature


class LineDocuments:
    """Documents of lines: a line that starts with ``{`` is a JSON object, any other the text itself."""

    def __init__(
        self,
        problems: Problems,
        name: str,
        encoding: str,
        text_keys: Sequence[str] | None = None,
        like: ReadingOptions | None = None,
    ) -> None:
        self.problems, self.name, self.encoding = problems, name, encoding
        self.text_keys, self.like = text_keys, like

    def read(self, data: str) -> Iterator[list[tuple[str, Text]]]:
        """(id, text) pairs of a file, or of standard input for ``-``, in batches of the lines that are there."""
        from manylabel.data.textfile import open_bytes

        with ExitStack() as open_files:
            stream = (
                sys.stdin.buffer
                if data == "-"
                else open_files.enter_context(open_bytes(Path(data), self.problems.limits))
            )
            for numbered in _lines_as_they_come(stream):
                pairs = [self.document(number, raw) for number, raw in numbered]
                yield [pair for pair in pairs if pair is not None]

    def document(self, number: int, raw: bytes) -> tuple[str, Text] | None:
        """The id and text of one line; None where it cannot be read and is skipped."""
        try:
            line = raw.decode("utf-8-sig" if number == 1 and self.encoding == "utf-8" else self.encoding).rstrip("\r\n")
        except UnicodeDecodeError:
            encoding = "UTF-8" if self.encoding == "utf-8" else self.encoding
            self._report(number, f"These bytes are not {encoding}.", "Convert the text, or give --encoding.")
            return None
        if not line.startswith("{"):
            return str(number), line
        try:
            record = json_module.loads(line)
        except (ValueError, RecursionError) as error:
            self._report(number, f"This line is not JSON: {error}.", None)
            return None
        fields = self._fields({key: value for key, value in record.items() if isinstance(value, str)})
        if not fields:
            found = ", ".join(map(repr, record)) or "none"
            wanted = self.text_keys or (self.like.texts if self.like is not None else ()) or ("text",)
            keys = ", ".join(map(repr, wanted))
            self._report(number, f"This record has no text under {keys}. Keys: {found}.", "Use --text-column KEY.")
            return None
        text = next(iter(fields.values())) if len(fields) == 1 else fields
        identity = str(next((record[key] for key in ("id", "document_id") if record.get(key) is not None), number))
        try:
            "".join([identity, *fields.values()]).encode()
        except UnicodeEncodeError:
            problem = "This record holds half of a surrogate pair (\\ud…), which is not a character."
            self._report(number, problem, "Write both halves, or the character itself.")
            return None
        return identity, text

    def _fields(self, record: dict[str, str]) -> dict[str, str]:
        """The texts of a record: under the keys that were given, those of the training, or the usual ones."""
        if self.text_keys:
            return {key: record[key] for key in self.text_keys if key in record}
        if self.like is not None and self.like.texts:
            names = dict(zip(self.like.texts, self.like.fields, strict=True))
            if self.like.texts[-1] in record or self.like.gave("text_column"):
                return {names[key]: record[key] for key in names if key in record}
        return {key: value for key, value in record.items() if key in ("title", "text", "body")}

    def _report(self, number: int, problem: str, remedy: str | None) -> None:
        self.problems.report(problem, path=self.name, line=number, remedy=remedy)


def _lines_as_they_come(stream: IO[bytes]) -> Iterator[list[tuple[int, bytes]]]:
    """Numbered lines: all that one read of the stream returns, so that a pipe is answered before it is closed."""
    number, rest = 0, b""
    while piece := cast("BufferedReader", stream).read1(1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            yield [(number + place, line) for place, line in enumerate(lines, start=1)]
            number += len(lines)
    if rest:
        yield [(number + 1, rest)]


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
