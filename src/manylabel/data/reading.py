"""`read` and `write`: any file, folder or group of files to a corpus, and back."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from manylabel.data.corpus import SPLIT_NAMES, Corpus, combine_splits, split_name
from manylabel.data.formats import FORMATS, Format, format_named
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.label_edits import OtherShapeError, plan_edits
from manylabel.data.label_vocabulary import corpus_addresses
from manylabel.data.layout import listed
from manylabel.data.limits import LIMITS, Limits
from manylabel.data.problems import OnError, Problem, Problems
from manylabel.data.reading_options import ReadingOptions
from manylabel.data.recognition import format_of_suffix, guess_format, suffix_of
from manylabel.data.spellings import merge_corpus_spellings
from manylabel.data.textfile import check_is_file
from manylabel.data.vocabulary_files import check_holds_documents, looks_like_vocabulary
from manylabel.exceptions import DataError, MissingDataError, UnknownFormatError
from manylabel.progress import remark, track
from manylabel.wording import counted, is_worded_for

__all__ = ["Problem", "Problems", "Reading", "read", "write", "write_corrected"]


TABLES = frozenset({"csv", "tsv", "excel", "jsonl", "parquet"})
"""Formats of which several files in a folder are one corpus."""
WITH_ADDRESSES = frozenset({"annif", "directory"})
"""Formats whose files hold the addresses (URIs) of labels that have names."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A corpus, the name of its format, and the lines that were skipped."""

    corpus: Corpus
    format: str
    skipped: list[Problem] = field(default_factory=list)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    on_error: OnError = "raise",
    keep_blank: bool = False,
    labels: bool = True,
    merge_labels: bool = False,
    drop_unlabelled: bool = False,
    hierarchy_separator: str | None = None,
    like: ReadingOptions | None = None,
    limits: Mapping[str, int] | None = None,
    **options: Any,
) -> Reading:
    """The documents of a file, of a folder, or of the files a prefix stands for.

    A folder may hold ``train.*``, ``dev.*`` and ``test.*`` of one format, several tables of the same columns, a pair
    ``X.npz`` and ``Y.npz``, the texts and label files of Annif, the Reuters-21578 files, or one data file beside side
    files. A prefix such as ``mulan/enron`` stands for ``enron-train.arff`` and ``enron-test.arff``. `options` are those
    of the format (see `FORMATS`); `hierarchy_separator` reads a label hierarchy off names such as ``area/topic``. With
    ``on_error="skip"`` bad lines are left out and listed in `skipped`. Without `labels` no labels are looked for. With
    `merge_labels`, labels that differ only in case, blanks or Unicode form become one, in the most frequent spelling;
    with `drop_unlabelled`, documents without a label are left out. `like` are the options with which the documents of a
    model were read (`TextClassifier.reading`): they are used where no option is given. `limits` raises or lowers limits
    on what a file may hold (docs/limits.md), for example ``{"features": 10**7}``.
    """
    path = Path(path)
    problems = Problems(on_error, keep_blank=keep_blank, limits=Limits.of(limits))
    given = {**options, **({} if format is None else {"format": format})}
    if format is None and like is not None:
        format = like.format_of(suffix_of(path))
        if format is None and path.is_file() and suffix_of(path) == like.suffix:
            format = guess_format(path, like.format, problems.limits)
    if format is None and like is None and options.get("text_column") is None and path.is_file():
        check_holds_documents(path)
    files = find_files(path, format, problems.limits)
    row = format_named(files[0].format)
    if not labels and row.takes("labels"):
        options["labels"] = False
    parts: dict[str, Corpus] = {}
    for file in track("Reading", files):
        parts[file.split or file.path.name] = found = row.read(file.path, problems, options, like)
        if like is None:  # the others are read as the first one
            like = ReadingOptions.of(row.name, suffix_of(file.path), given, found.layout)
    if len(parts) == 1:
        [corpus] = parts.values()
    else:
        corpus = combine_splits(parts) if files[0].split else _joined(parts)
    if len(corpus) == 0:
        _raise_empty(path, problems)
    if not labels:
        corpus = replace(corpus, labels=None, label_names=(), vocabulary=None, labels_from="")
    corpus = replace(
        corpus,
        source=str(path),
        name=corpus.name if len(parts) == 1 else path.name,
        reading=ReadingOptions.of(row.name, suffix_of(files[0].path), given, corpus.layout),
    )
    if merge_labels and corpus.labels is not None:
        corpus = merge_corpus_spellings(corpus)
    if drop_unlabelled and corpus.labels is not None:
        corpus = without_unlabelled(corpus)
    if hierarchy_separator is not None:
        corpus = replace(
            corpus, hierarchy=Hierarchy.from_paths(corpus.label_names, hierarchy_separator, problems.limits)
        )
    return Reading(corpus, row.name, problems.skipped)


def _joined(parts: Mapping[str, Corpus]) -> Corpus:
    """One corpus of the documents of several files, by name, that have the splits of their files, or none."""
    names = [corpus.split_names or ["train"] * len(corpus) for corpus in parts.values()]
    has_splits = any(corpus.split_names for corpus in parts.values())
    return replace(combine_splits(parts), split_names=[one for own in names for one in own] if has_splits else None)


def without_unlabelled(corpus: Corpus) -> Corpus:
    """The documents that have a label, which remember how they were read; an error where there are none."""
    rows = [row for row, names in enumerate(corpus.label_sets) if len(names)]
    if not rows:
        raise DataError("No document has a label.", path=corpus.source)
    if left_out := len(corpus) - len(rows):
        is_left_out = counted(left_out, "document without a label is", "documents without a label are")
        remark(f"{corpus.source}: {is_left_out} left out.")
    reading = None if corpus.reading is None else corpus.reading.also(drop_unlabelled=True)
    return replace(corpus.subset(rows), reading=reading)


def _raise_empty(path: Path, problems: Problems) -> None:
    if problems.skipped:
        raise DataError(
            f"None of the documents could be read; {len(problems.skipped)} were skipped, the first because: "
            f"{problems.skipped[0]}",
            path=path,
        )
    raise DataError("The file holds no documents.", path=path, remedy="Give a file with at least one document.")


def write(corpus: Corpus, path: str | Path, *, format: str | None = None) -> None:
    """Write a corpus in the given format, or in that of the suffix; ``.gz`` compresses it.

    The file is written completely or not at all. Formats of texts take a corpus of texts, formats of counts one of
    counts.
    """
    path = Path(path)
    row = _format_to_write(path, format)
    _check_kind(corpus, path, row)
    row.write(corpus, path)
    named = [label for label, uri in corpus_addresses(corpus).items() if label != uri]
    if named and row.name not in WITH_ADDRESSES:
        are = counted(len(named), "label is", "labels are")
        also = " (convert: --to annif)" if is_worded_for("command line") else " (annif)"
        remark(
            f"{path}: {are} written by name, without the URI that the data or the vocabulary have. To keep URIs, write "
            f"a folder, or Annif's TSV{also}."
        )


def write_corrected(
    corpus: Corpus,
    labels: Sequence[Sequence[str]],
    label_names: Sequence[str],
    path: str | Path,
    *,
    format: str,
    addresses: Mapping[str, str] | None = None,
) -> None:
    """Write a corpus with other labels, one list per document; `addresses` as in `plan_edits`.

    In the format of its own file that is a copy in which only cells of labels differ, where the format has columns
    (CSV, TSV, Excel); in another one of these, a table of the same columns. A remark reports why if that is not
    possible.
    """
    made = replace(corpus, labels=[list(one) for one in labels], label_names=list(label_names))
    row, own = format_named(format), None if corpus.reading is None else format_named(corpus.reading.format)
    if own is None or not (own.copier and row.copier) or corpus.lines is None:
        write(made, path, format=format)
        return
    try:
        edits = plan_edits(corpus, labels, addresses)
        copy = row.write_copy if row is own else row.write_table
        copy(corpus, edits, Path(path))
    except OtherShapeError as error:
        if row is own and format == "excel":  # a workbook has more than its table: formulas, other sheets
            raise DataError(error.problem, path=path, remedy="Write another format, such as .csv.") from None
        write(made, path, format=format)
        remark(
            f"{path}: the columns of {Path(corpus.source).name} are not kept. {error.problem} Labels are in one column."
        )
        return
    if edits.added:
        remark(f"{path}: new at the end: {listed(list(edits.added))}.")
    if edits.reading:
        remark(f"{path}: to read it, add {edits.reading}.")


def _format_to_write(path: Path, name: str | None) -> Format:
    writable = ", ".join(row.name for row in FORMATS if row.writes)
    row = format_named(name) if name is not None else format_of_suffix(path)
    if row is None and (path.is_dir() or not path.suffix):
        row = next((row for row in FORMATS if row.folder and row.writes), None)
    if row is None:
        option = " (convert: --to)" if is_worded_for("command line") else ""
        raise UnknownFormatError(
            f"No format has the suffix {path.suffix!r}.",
            path=path,
            remedy=f"Give the format{option}, one of: {writable}.",
        )
    if not row.writes:
        raise UnknownFormatError(
            f"The {row.name} format can only be read.", path=path, remedy=f"Write one of: {writable}."
        )
    return row


def _check_kind(corpus: Corpus, path: Path, row: Format) -> None:
    if corpus.is_bag_of_words == (row.kind == "counts"):
        return
    has, needs = ("counts", "texts") if corpus.is_bag_of_words else ("texts", "counts")
    kind = "counts" if corpus.is_bag_of_words else "text"
    fitting = ", ".join(other.name for other in FORMATS if other.kind == kind and other.writes)
    raise DataError(
        f"The corpus holds {has}, but the {row.name} format needs {needs}.",
        path=path,
        remedy=f"Write one of: {fitting}.",
    )


_SPLITS = "|".join(sorted(SPLIT_NAMES, key=len, reverse=True))
_SPLIT_FILE = re.compile(rf"({_SPLITS})(_x)?\.(.+)", re.IGNORECASE)
_PREFIXED = re.compile(rf"(.+?)[-_.]({_SPLITS})(_x)?\.(.+)", re.IGNORECASE)
# Files beside the data that are not data.
_SIDE = re.compile(
    r"(readme|licen[cs]e|notice|labels|terms|classes|vocab).*|.*\.(md|xml|dtd|labels\.txt|terms\.txt)",
    re.IGNORECASE,
)
_HIDDEN = (".", "_")


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file to read: its format, and its split (empty: the whole corpus)."""

    path: Path
    format: str
    split: str = ""


def find_files(path: Path, format: str | None = None, limits: Limits = LIMITS) -> list[DataFile]:
    """The files a path stands for, train before dev before test."""
    try:
        if path.is_file():
            return [DataFile(path, format or guess_format(path, limits=limits))]
        if path.is_dir():
            return _in_folder(path, format, limits)
        if path.exists():
            check_is_file(path)
        files = _with_prefix(path, format, limits)
        if files:
            return files
    except PermissionError as error:
        raise MissingDataError(f"{error.filename} cannot be read: {error.strerror}.") from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise MissingDataError(f"There is no file or folder {str(path)[:60]}…: a name cannot be so long.") from None
    raise MissingDataError(f"There is no file or folder {path}{_near(path)}")


def _near(path: Path) -> str:
    """What the folder holds, for the message about a missing file."""
    if not path.parent.is_dir():
        return f"; the folder {path.parent} does not exist either."
    there = sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith("."))
    near = get_close_matches(path.name, there, n=1)
    shown = ", ".join(there[:12]) + (", …" if len(there) > 12 else "")
    folder = "this folder" if path.parent == Path() else str(path.parent)
    offer = f" Did you mean {path.with_name(near[0])}?" if near else ""
    return f"; {folder} holds {shown}.{offer}" if there else f"; {folder} is empty."


def _split_files(found: list[tuple[str, Path]], format: str | None, limits: Limits) -> list[DataFile]:
    order = ["train", "dev", "test"]
    found.sort(key=lambda pair: order.index(pair[0]))
    files = [DataFile(path, format or guess_format(path, limits=limits), split) for split, path in found]
    formats = {file.format for file in files}
    if len(formats) > 1 or len({file.split for file in files}) < len(files):
        listed = ", ".join(f"{file.path.name} ({file.format})" for file in files)
        raise DataError(
            f"The folder holds more than one file for a split, or splits in several formats: {listed}.",
            path=found[0][1].parent,
            remedy="Give the file to read, or leave one format only.",
        )
    return files


def _with_prefix(prefix: Path, format: str | None, limits: Limits) -> list[DataFile]:
    if not prefix.parent.is_dir():
        return []
    found: list[tuple[str, Path]] = []
    for file in sorted(prefix.parent.iterdir()):
        match = _PREFIXED.fullmatch(file.name)
        if match and match[1] == prefix.name and file.is_file() and _is_data(file):
            found.append((split_name(match[2]), file))
    return _split_files(found, format, limits)


def _is_data(file: Path) -> bool:
    """Whether the file may hold documents, judged by its name."""
    if _SIDE.fullmatch(file.name) or file.name.startswith(_HIDDEN):
        return False
    row = format_of_suffix(file)
    if row is None:
        return suffix_of(file) == ".txt"
    return not (row.not_data and re.fullmatch(row.not_data, file.name, re.IGNORECASE))


def _in_folder(folder: Path, format: str | None, limits: Limits) -> list[DataFile]:
    if format is not None and format_named(format).folder:
        return [DataFile(folder, format)]
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and _is_data(file)]
    splits = [(split_name(match[1]), file) for file in files if (match := _SPLIT_FILE.fullmatch(file.name))]
    if splits:
        return _split_files(splits, format, limits)
    whole = next((row for row in FORMATS if row.is_folder(folder, files)), None)
    if whole is not None:
        return [DataFile(folder, whole.name)]
    tables = [file for file in files if suffix_of(file) != ".txt"]
    if len(tables) > 1:
        tables = [file for file in tables if not looks_like_vocabulary(file)]
    kinds = {"" if (row := format_of_suffix(file)) is None else row.name for file in tables}
    if len(tables) == 1 or (len(kinds) == 1 and kinds <= TABLES and not _prefixes(tables)):
        own = format or guess_format(tables[0], limits=limits)
        return [DataFile(file, own) for file in tables]
    raise _unclear(folder, files)


def _prefixes(files: Sequence[Path]) -> list[str]:
    """What stands before ``-train`` or ``-test`` in the names of files."""
    return sorted({match[1] for file in files if (match := _PREFIXED.fullmatch(file.name))})


def _unclear(folder: Path, files: list[Path]) -> DataError:
    if prefixes := _prefixes(files):
        several = "several data sets" if len(prefixes) > 1 else "the splits of one data set"
        return UnknownFormatError(
            f"The folder holds {several}: {', '.join(prefixes)}.",
            path=folder,
            remedy=f"Name {'one, for example' if len(prefixes) > 1 else 'it:'} {folder / prefixes[0]}.",
        )
    if files:
        return UnknownFormatError(
            f"The folder holds several data files: {', '.join(file.name for file in files[:12])}.",
            path=folder,
            remedy="Name the one to read.",
        )
    entries = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in folder.iterdir())
    return UnknownFormatError(
        f"The folder holds no data file that is recognised; it holds {', '.join(entries[:12]) or 'nothing'}.",
        path=folder,
        remedy="Give a file, or a folder with train.* and test.*, with .txt files, or with X.npz and Y.npz.",
    )
