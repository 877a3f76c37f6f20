"""Side files of a data set: names of labels or terms, one per line, and groups of labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from manylabel.data.atomic import atomic_text
from manylabel.data.corpus import Corpus
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines, read_bytes
from manylabel.exceptions import DataError


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


def write_names(path: Path, what: str, names: Sequence[str]) -> None:
    """Write names, one per line, to the side file where `side_names` finds them: ``X.labels.txt``."""
    with atomic_text(path.with_name(f"{path.name.split('.')[0]}.{what}.txt")) as stream:
        stream.writelines(f"{name}\n" for name in names)


def with_named_labels(
    corpus: Corpus, path: Path, names_file: str | Path | None, groups_file: str | Path | None
) -> Corpus:
    """The corpus with label ids 0, 1, 2 … replaced by the names in one file, grouped by another file.

    If no file is given, ids are replaced when exactly one ``.txt`` file beside the data has a line for each of them; a
    ``.json`` file beside it whose lists hold only these names gives the groups.
    """
    found = False
    if names_file is None and corpus.label_names and all(name.isdecimal() for name in corpus.label_names):
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


def _find_names(path: Path, highest: int) -> Path | None:
    beside = [
        file
        for file in sorted(path.absolute().parent.glob("*.txt"))
        if file != path.absolute() and not file.name.lower().startswith(("readme", "licen", "terms"))
    ]
    fitting = [file for file in beside if len(read_bytes(file).split(b"\n")) > highest]
    return fitting[0] if len(fitting) == 1 else None


def _find_groups(path: Path, names: set[str]) -> Path | None:
    for file in sorted(path.absolute().parent.glob("*.json")):
        try:
            groups = _groups(file)
        except DataError:
            continue
        if all(set(labels) <= names for labels in groups.values()):
            return file
    return None


def _groups(file: str | Path) -> dict[str, list[str]]:
    try:
        groups: dict[str, list[str]] = json.loads(read_bytes(Path(file)))
    except (ValueError, RecursionError) as error:
        raise DataError(f"The file is not JSON ({error}).", path=file) from None
    lists = list(groups.values()) if isinstance(groups, dict) else [None]
    if not all(isinstance(labels, list) and all(isinstance(label, str) for label in labels) for labels in lists):
        raise DataError("The file does not map groups to lists of labels.", path=file)
    return groups


def _rename(corpus: Corpus, names: list[str], file: str | Path) -> Corpus:
    def name(label: str) -> str:
        if not label.isdecimal() or int(label) >= len(names):
            raise DataError(
                f"Label {label!r} has no name: the file names the labels 0 to {len(names) - 1}.",
                path=file,
                remedy="Give a file with one name per line for each label id (-o label_names_file=FILE).",
            )
        return names[int(label)]

    labels = [sorted(name(label) for label in document) for document in corpus.label_sets]
    return replace(corpus, labels=labels, label_names=names)
