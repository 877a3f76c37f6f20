"""Side files of a data set: names of labels or terms, one per line, and groups of labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from manylabel.data.atomic import atomic_texts
from manylabel.data.corpus import Corpus
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.limits import LIMITS
from manylabel.data.nested_text import parse_json
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines, read_bytes
from manylabel.exceptions import DataError
from manylabel.wording import settings_text


def read_names(path: str | Path) -> list[str]:
    """The names in a file, one per line."""
    return [line.strip() for _, line in numbered_lines(Path(path), Problems())]


def side_names(path: Path, what: str, at_least: int) -> list[str] | None:
    """The names in ``X.labels.txt`` or ``labels.txt`` beside a file (``terms`` likewise); None if there are too few.

    `X` is the file's name without its suffixes.
    """
    stem = path.name.split(".")[0]
    for name in (f"{stem}.{what}.txt", f"{what}.txt"):
        beside = path.with_name(name)
        if beside.is_file():
            names = read_names(beside)
            if len(names) >= at_least:
                return names
    return None


def names_path(path: Path, what: str) -> Path:
    """The side file where `side_names` finds the names of labels or terms: ``X.labels.txt``."""
    return path.with_name(f"{path.name.split('.')[0]}.{what}.txt")


@contextmanager
def written_with_names(path: Path, names: Mapping[str, Sequence[str] | None]) -> Iterator[IO[str]]:
    """A text stream of a file that appears together with the side files of its names, or not at all."""
    given = {names_path(path, what): listed for what, listed in names.items() if listed is not None}
    with atomic_texts([path, *given]) as (stream, *others):
        for other, listed in zip(others, given.values(), strict=True):
            other.writelines(f"{name}\n" for name in listed)
        yield stream


def with_named_labels(
    corpus: Corpus, path: Path, names_file: str | Path | None, groups_file: str | Path | None
) -> Corpus:
    """The corpus with label ids 0, 1, 2 … replaced by the names in one file, grouped by another file.

    If no file is given, ids are replaced when exactly one ``.txt`` file beside the data has a line for each of them; a
    ``.json`` file beside it whose lists hold only these names gives the groups.
    """
    found = False
    if names_file is None and corpus.label_names and all(map(_is_number, corpus.label_names)):
        names_file = _find_names(path, max(int(name) for name in corpus.label_names))
        found = names_file is not None
    if names_file is not None:
        corpus = _rename(corpus, read_names(names_file), names_file)
    if groups_file is None and found:
        groups_file = _find_groups(path, set(corpus.label_names))
    if groups_file is not None:
        corpus = replace(corpus, hierarchy=hierarchy_of_groups(_groups(groups_file)))
    return corpus


def hierarchy_of_groups(groups: Mapping[str, list[str]]) -> Hierarchy:
    """The hierarchy with each group as the parent of its labels. A group named like one of its labels is that label.

    >>> hierarchy_of_groups({"anger": ["anger", "annoyance"]}).parents
    {'annoyance': 'anger'}
    """
    return Hierarchy({label: group for group, labels in groups.items() for label in labels if label != group})


def _is_number(label: str) -> bool:
    return label.isdecimal() and len(label) < 19


def _find_names(path: Path, highest: int) -> Path | None:
    beside = [
        file
        for file in sorted(path.absolute().parent.glob("*.txt"))
        if file != path.absolute() and file.is_file() and not file.name.lower().startswith(("readme", "licen", "terms"))
    ]
    fitting = [file for file in beside if len(read_bytes(file).split(b"\n")) > highest]
    return fitting[0] if len(fitting) == 1 else None


def _find_groups(path: Path, names: set[str]) -> Path | None:
    for file in sorted(path.absolute().parent.glob("*.json")):
        if not file.is_file():
            continue
        try:
            groups = _groups(file)
        except DataError:
            continue
        if all(set(labels) <= names for labels in groups.values()):
            return file
    return None


def _groups(file: str | Path) -> dict[str, list[str]]:
    try:
        groups: dict[str, list[str]] = parse_json(read_bytes(Path(file)).decode("utf-8-sig"), LIMITS.nesting)
    except ValueError as error:
        raise DataError(f"The file is not JSON ({error}).", path=file) from None
    lists = list(groups.values()) if isinstance(groups, dict) else [None]
    if not all(isinstance(labels, list) and all(isinstance(one, str) for one in labels) for labels in lists):
        raise DataError("The file does not map groups to lists of labels.", path=file)
    return groups


def _rename(corpus: Corpus, names: list[str], file: str | Path) -> Corpus:
    def name(label: str) -> str:
        if not _is_number(label) or int(label) >= len(names):
            raise DataError(
                f"Label {label!r} has no name: the file names the labels 0 to {len(names) - 1}.",
                path=file,
                remedy="Give a file with one name per line for each label id "
                f"({settings_text(label_names_file='FILE')}).",
            )
        return names[int(label)]

    labels = [sorted(name(label) for label in document) for document in corpus.label_sets]
    return replace(corpus, labels=labels, label_names=names)
