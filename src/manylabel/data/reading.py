"""`read` and `write`: any file, folder or pair of files to a corpus, and back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_text
from manylabel.data.corpus import Corpus
from manylabel.data.formats import FORMATS, Format, format_named, format_of_extension
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.layout import DataFile, find_files
from manylabel.data.problems import OnError, Problem, Problems
from manylabel.data.split_names import combine_splits
from manylabel.exceptions import DataError, UnknownFormatError
from manylabel.progress import track

__all__ = ["Problem", "Problems", "Reading", "read", "write"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A corpus, the format it was in, and the lines that were skipped on the way."""

    corpus: Corpus
    format: str
    skipped: list[Problem] = field(default_factory=list)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    on_error: OnError = "raise",
    hierarchy_separator: str | None = None,
    **options: Any,
) -> Reading:
    """The documents of a file, of a folder, or of the files a prefix stands for.

    A folder may hold ``train.*``, ``dev.*`` and ``test.*`` of one format, a pair ``X.npz`` and ``Y.npz``,
    the texts and label files of Annif, the Reuters-21578 files, or one data file beside side files. A
    prefix such as ``mulan/enron`` stands for ``enron-train.arff`` and ``enron-test.arff``. `options` go to
    the format's reader; `hierarchy_separator` reads a label hierarchy off names such as ``area/topic``.
    With ``on_error="skip"`` bad lines are left out and listed in `skipped`.
    """
    path = Path(path)
    problems = Problems(on_error)
    files = find_files(path, format)
    row = format_named(files[0].format)
    row.check_options(options)
    parts = {file.part: _read_file(file, row, problems, options) for file in track("Reading", files)}
    corpus = combine_splits(parts) if len(parts) > 1 else next(iter(parts.values()))
    if len(corpus) == 0:
        _raise_empty(path, problems)
    corpus = replace(corpus, source=str(path), name=corpus.name if len(parts) == 1 else path.name)
    if hierarchy_separator is not None:
        corpus = replace(corpus, hierarchy=Hierarchy.from_paths(corpus.label_names, hierarchy_separator))
    return Reading(corpus, row.name, problems.skipped)


def _read_file(file: DataFile, row: Format, problems: Problems, options: dict[str, Any]) -> Corpus:
    corpus: Corpus = row.load().read(file.path, problems, **options)
    return corpus


def _raise_empty(path: Path, problems: Problems) -> None:
    if problems.skipped:
        raise DataError(
            f"None of the documents could be read; {len(problems.skipped)} were skipped, the first because: "
            f"{problems.skipped[0]}",
            path=path,
        )
    raise DataError("There are no documents in it.", path=path, remedy="Give a file with at least one document.")


def write(corpus: Corpus, path: str | Path, *, format: str | None = None) -> None:
    """Write a corpus in the format given or told by the extension; ``.gz`` packs it.

    The file appears whole or not at all. Formats of texts take a corpus of texts, formats of counts one of
    counts.
    """
    path = Path(path)
    row = _format_to_write(path, format)
    _check_kind(corpus, path, row)
    module = row.load()
    if row.name in ("directory", "npz", "parquet", "libsvm", "xmc"):
        module.write(corpus, path)
        return
    with atomic_text(path) as stream:
        if row.name == "tsv":
            module.write(corpus, stream, delimiter="\t")
        else:
            module.write(corpus, stream)


def _format_to_write(path: Path, name: str | None) -> Format:
    writable = ", ".join(row.name for row in FORMATS if row.writes)
    row = format_named(name) if name is not None else format_of_extension(path)
    if row is None and (path.is_dir() or not path.suffix):
        row = format_named("directory")
    if row is None:
        raise UnknownFormatError(
            f"The extension {path.suffix!r} does not tell a format.",
            path=path,
            remedy=f"Name the format (--format), one of: {writable}.",
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
