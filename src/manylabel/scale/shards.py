"""A corpus as shards: parts of files that are read one after the other, in batches of documents."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.delimited import dialect_of, read_rows, table_of_rows
from manylabel.data.jsonl import corpus_of_records, read_lines
from manylabel.data.limits import Limits
from manylabel.data.parquet import load_pyarrow
from manylabel.data.problems import Problem, Problems, read_by_others
from manylabel.data.reading import find_files
from manylabel.data.reading_options import ReadingOptions
from manylabel.data.recognition import guess_format, suffix_of
from manylabel.data.table import ColumnOptions, Table
from manylabel.data.textfile import Span, is_packed
from manylabel.exceptions import DataError, MissingDataError, UnknownFormatError

SHARD_BYTES = 1 << 24
"""The size of a shard that is cut from a larger file, and of a batch of documents. It does not depend on the memory at
hand, so that nothing else depends on it either."""
FORMATS = ("jsonl", "csv", "tsv", "parquet")
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".parquet", ".pq")


class NoHeaderError(DataError):
    """A table without a header, whose columns are not known in every shard."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A file, or a part of it: bytes between two lines of a text file, or row groups of a Parquet file."""

    path: str
    format: str
    start: int = 0
    stop: int | None = None
    lines_before: int = 0
    """How many lines of the file, or rows, come before."""

    @property
    def span(self) -> Span:
        """The part of a text file."""
        return Span(self.start, self.stop, self.lines_before)


@dataclass(frozen=True, slots=True)
class ShardedCorpus:
    """The shards of a corpus and how they are read: which columns hold texts and labels, and which split is meant."""

    shards: tuple[Shard, ...]
    reading: ReadingOptions
    split: str | None = None
    """The split whose documents are read; None for all."""
    on_error: str = "raise"
    keep_blank: bool = False
    """Whether a row without a text is a document with the text "", so that every row has its prediction."""
    labels: bool = True
    """Whether to read labels."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Limits on what a file may hold that differ from the defaults of `manylabel.data.limits`."""
    skipped: list[Problem] = field(default_factory=list, compare=False)
    """The lines that were skipped so far."""

    @classmethod
    def of(
        cls,
        data: str | Path | Sequence[str | Path],
        *,
        format: str | None = None,
        split: str | None = None,
        on_error: str = "raise",
        labels: bool = True,
        keep_blank: bool = False,
        like: ReadingOptions | None = None,
        limits: Mapping[str, int] | None = None,
        **options: Any,
    ) -> Self:
        """The shards of a file, a folder, a pattern such as ``archive/*.parquet``, or a list of files.

        Columns are recognised by the first documents, as `manylabel.data.read` does by all; `options` are its options.
        `like` are the options with which the documents of a model were read. `split` is None for the training split
        where the documents name one, ``all`` for all documents.
        """
        paths = shard_files(data, format=format)
        if not paths:
            raise MissingDataError(f"{data} holds no file of Parquet, JSON lines or CSV.")
        found = {path: format or guess_format(path) for path in paths}
        if other := next((path for path in paths if found[path] not in FORMATS), None):
            raise UnknownFormatError(
                f"The file has the format {found[other]}, which cannot be read in shards.",
                path=other,
                remedy="Convert it to Parquet, JSON lines or CSV (manylabel convert).",
            )
        whole = tuple(Shard(str(path), found[path]) for path in paths)
        given = {name: value for name, value in options.items() if value is not None}
        opened = cls(whole, like or ReadingOptions(whole[0].format, suffix_of(paths[0]), given), on_error=on_error)
        opened = replace(opened, labels=labels, keep_blank=keep_blank, limits=dict(limits or {}))
        first = next(
            opened._unsplit(whole[0], ColumnOptions(**_columns(given), labels=labels, like=like), SHARD_BYTES), None
        )
        if first is None or first.layout is None:
            raise DataError("There are no documents.", path=paths[0], remedy="Give a file with at least one document.")
        reading = ReadingOptions.of(whole[0].format, suffix_of(paths[0]), given, first.layout)
        chosen = ("train" if "train" in first.splits else None) if split is None else None if split == "all" else split
        shards = tuple(part for shard in whole for part in _cut(shard, given))
        return replace(opened, shards=shards, reading=reading, split=chosen)

    def batches(self, shard: Shard, size: int | None = None) -> Iterator[Corpus]:
        """The documents of a shard, some at a time; memory does not grow with the size of the shard.

        `size` is about how many bytes a batch has, at most and by default `SHARD_BYTES`.
        """
        most = SHARD_BYTES if size is None else min(size, SHARD_BYTES)
        for batch in self._unsplit(shard, ColumnOptions(labels=self.labels, like=self.reading), most):
            if self.split is None:
                yield batch
            elif self.split in batch.splits:
                yield batch.split(self.split)

    def _unsplit(self, shard: Shard, columns: ColumnOptions, size: int) -> Iterator[Corpus]:
        limits = Limits.of(self.limits)
        problems = Problems(self.on_error, keep_blank=self.keep_blank, limits=limits)  # type: ignore[arg-type]
        batches = {"jsonl": _json_batches, "parquet": _parquet_batches}.get(shard.format, _delimited_batches)
        yield from batches(shard, problems, columns, self.reading.given, size)
        self.skipped.extend(problems.skipped)

    def as_dict(self) -> dict[str, Any]:
        """The corpus as plain data, for a task of an engine, which may work in another folder."""
        plain = {"split": self.split, "on_error": self.on_error, "keep_blank": self.keep_blank, "labels": self.labels}
        shards = [{**asdict(shard), "path": str(Path(shard.path).absolute())} for shard in self.shards]
        return {"shards": shards, "reading": self.reading.as_dict(), "limits": dict(self.limits), **plain}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The corpus that `as_dict` described."""
        shards = tuple(Shard(**one) for one in plain["shards"])
        reading = ReadingOptions.from_dict(plain["reading"])
        names = ("split", "on_error", "keep_blank", "labels", "limits")
        return cls(shards, reading, **{name: plain[name] for name in names})

    def files(self) -> list[list[Any]]:
        """The files with their sizes and times of change: what results of work on the corpus depend on."""
        paths = sorted({shard.path for shard in self.shards})
        return [[path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns] for path in paths]

    def of_shard(self, shard: Shard) -> Self:
        """The same with one shard only."""
        return replace(self, shards=(shard,))


def _columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that name columns."""
    names = ("text_column", "title_column", "label_column", "label_separator", "id_column", "split_column")
    return {name: given[name] for name in names if name in given}


def is_pattern(data: str | Path) -> bool:
    """Whether a name with ``*``, ``?`` or ``[`` stands for several files."""
    return bool(set("*?[") & set(str(data))) and not os.path.exists(data)


def shard_files(data: str | Path | Sequence[str | Path], split: str = "train", format: str | None = None) -> list[Path]:
    """The files of a corpus, in order: a file, a pattern, those of a list, or of a folder those of a split or all.

    Empty where a folder is a corpus of another kind, such as one of text files. `format` is the one that was given.
    """
    if not isinstance(data, (str, Path)):
        return [path for one in data for path in shard_files(one, split, format)]
    path = Path(data)
    if os.path.isfile(path):
        return [path]
    if is_pattern(data):
        if not (matching := [Path(name) for name in sorted(glob.glob(str(data))) if os.path.isfile(name)]):
            raise MissingDataError(f"No file matches {data}.")
        return matching
    try:
        found = [file for file in find_files(path, format) if file.split in ("", split)]
        return [file.path for file in found if file.path.is_file()]
    except UnknownFormatError:
        if not path.is_dir():
            raise
    files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith((".", "_"))]
    return [file for file in files if suffix_of(file) in SUFFIXES]


# ---- parts of files --------------------------------------------------------------------------------------------------


def _cut(shard: Shard, given: Mapping[str, Any]) -> Iterator[Shard]:
    """The parts of a file of about `SHARD_BYTES` each; a compressed file is one part."""
    path = Path(shard.path)
    if shard.format == "parquet":
        yield from _cut_parquet(shard)
    elif is_packed(path) or str(given.get("encoding", "utf-8")).lower().startswith(("utf-16", "utf-32")):
        yield shard
    else:
        is_quoted = shard.format != "jsonl" and dialect_of(path, ColumnOptions(), **_dialect(given)).quoting
        for (start, line), (stop, _) in pairwise(_line_ends(path, is_quoted)):
            yield replace(shard, start=start, stop=stop, lines_before=line)


def _line_ends(path: Path, is_quoted: bool) -> Iterator[tuple[int, int]]:
    """Places between two rows of a text file, with the numbers of lines before them; the first is 0, the last the end.

    A line break between an odd and an even quotation mark belongs to a cell: there is no place after it.
    """
    yield 0, 0
    start = at = lines = quotes = 0
    with path.open("rb") as stream:
        while line := stream.readline():
            at += len(line)
            lines += 1
            quotes += line.count(b'"') if is_quoted else 0
            if at - start >= SHARD_BYTES and quotes % 2 == 0:
                start = at
                yield at, lines
    if at > start:
        yield at, lines


def _cut_parquet(shard: Shard) -> Iterator[Shard]:
    pyarrow = load_pyarrow()
    with read_by_others("The Parquet file", Path(shard.path), "Copy or write it again."):
        metadata = pyarrow.parquet.ParquetFile(shard.path).metadata
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        sizes = [(int(group.num_rows), int(group.total_byte_size)) for group in groups]
    start = rows = size = before = 0
    for number, (n_rows, n_bytes) in enumerate(sizes):
        rows, size = rows + n_rows, size + n_bytes
        if size >= SHARD_BYTES or number == len(sizes) - 1:
            yield replace(shard, start=start, stop=number + 1, lines_before=before)
            start, before, size = number + 1, rows, 0


# ---- batches ---------------------------------------------------------------------------------------------------------


def _json_batches(
    shard: Shard, problems: Problems, columns: ColumnOptions, given: Mapping[str, Any], most: int
) -> Iterator[Corpus]:
    path = Path(shard.path)
    batch: list[tuple[int, dict[str, Any]]] = []
    size = 0
    for number, record in read_lines(path, problems, given.get("encoding", "utf-8"), shard.span):
        batch.append((number, record))
        size += sum(len(value) for value in record.values() if isinstance(value, str))
        if size >= most:
            yield _json_corpus(batch, path, problems, columns)
            batch, size = [], 0
    if batch:
        yield _json_corpus(batch, path, problems, columns)


def _json_corpus(
    batch: list[tuple[int, dict[str, Any]]], path: Path, problems: Problems, columns: ColumnOptions
) -> Corpus:
    for name in _expected(columns):  # no object of this batch may have the key
        batch[0][1].setdefault(name, None)
    options = asdict(columns) | {"like": columns.like}
    return corpus_of_records(batch, path, problems, options)


def _expected(columns: ColumnOptions) -> tuple[str, ...]:
    """The columns of the texts and labels of earlier batches."""
    return () if columns.like is None else (*columns.like.texts, *columns.like.labels)


def _dialect(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("delimiter", "header", "quoting") if name in given}


def _delimited_batches(
    shard: Shard, problems: Problems, columns: ColumnOptions, given: Mapping[str, Any], most: int
) -> Iterator[Corpus]:
    path = Path(shard.path)
    dialect = dialect_of(path, columns, **_dialect(given))
    if not dialect.header:
        raise NoHeaderError(
            "The table has no header, so its columns are not known in every shard.",
            path=path,
            remedy="Add a first row with the names of the columns, for example text and labels.",
        )
    rows = read_rows(path, problems, dialect, given.get("encoding", "utf-8"), shard.span)
    names = [cell.strip() for cell in dialect.top]
    if shard.start == 0:
        next(rows, None)
    batch: list[tuple[int, list[str]]] = []
    size = 0

    def corpus() -> Corpus:
        table = table_of_rows(path, problems, batch, header=True, names=names)
        return corpus_of_table(table, columns, delimiter=dialect.delimiter)

    for number, row in rows:
        batch.append((number, row))
        size += sum(map(len, row))
        if size >= most:
            yield corpus()
            batch, size = [], 0
    if batch:
        yield corpus()


def _parquet_batches(
    shard: Shard, problems: Problems, columns: ColumnOptions, given: Mapping[str, Any], most: int
) -> Iterator[Corpus]:
    pyarrow, path = load_pyarrow(), Path(shard.path)
    with read_by_others("The Parquet file", path, "Copy or write it again."):
        file = pyarrow.parquet.ParquetFile(shard.path)
        groups = list(range(file.metadata.num_row_groups))[shard.start : shard.stop]
        totals = [file.metadata.row_group(number) for number in groups]
        rows, size = sum(group.num_rows for group in totals), sum(group.total_byte_size for group in totals)
        batches = file.iter_batches(batch_size=max(128, rows * most // max(size, 1)), row_groups=groups)
    first = shard.lines_before + 1
    while True:
        with read_by_others("The Parquet file", path, "Copy or write it again."):
            batch = next(batches, None)
            if batch is None:
                return
            values = {name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        lines = list(range(first, first + batch.num_rows))
        first += batch.num_rows
        yield corpus_of_table(Table(values, lines, path, problems), columns)
