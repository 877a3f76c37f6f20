"""fastText lines: ``__label__a __label__b text``."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from manylabel.data.corpus import Corpus
from manylabel.data.one_line import check_labels_without_blanks, joined_texts, on_one_line
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines
from manylabel.exceptions import ParameterError

PREFIX = "__label__"


def read(path: Path, problems: Problems, *, label_prefix: str = PREFIX, encoding: str = "utf-8") -> Corpus:
    """One document a line; every word that begins with the prefix is a label, the others are the text."""
    if not label_prefix.strip():
        raise ParameterError(f"label_prefix must be a word such as {PREFIX!r}, not {label_prefix!r}.")
    ids: list[str] = []
    texts: list[str] = []
    labels: list[list[str]] = []
    for number, line in numbered_lines(path, problems, encoding):
        rest, names = _leading_labels(line.strip(), label_prefix)
        if label_prefix in rest:
            words = rest.split()
            names += [word for word in words if word.startswith(label_prefix)]
            rest = " ".join(word for word in words if not word.startswith(label_prefix))
        found = {name.removeprefix(label_prefix) for name in names}
        if "" in found:
            problems.report(
                f"{label_prefix} is followed by no label.",
                path=path,
                line=number,
                remedy="Write the name directly behind the prefix.",
            )
            continue
        ids.append(str(number))
        texts.append(rest)
        labels.append(sorted(found))
    labelled = any(labels)
    return Corpus(
        ids=ids,
        fields={"text": texts},
        labels=labels if labelled else None,
        name=path.name.split(".")[0],
        source=str(path),
    )


def _leading_labels(line: str, prefix: str) -> tuple[str, list[str]]:
    """What follows the labels at the start of a line, with its blanks as they are; and the labels."""
    names: list[str] = []
    while line.startswith(prefix):
        name, _, line = line.partition(" ")
        names.append(name)
    return line, names


def write(corpus: Corpus, stream: IO[str]) -> None:
    """One document a line, line ends in texts made blanks; ids, split and metadata are not kept."""
    check_labels_without_blanks(corpus, "fasttext")
    for row, text in enumerate(joined_texts(corpus)):
        labels = corpus.labels[row] if corpus.labels is not None else ()
        words = [PREFIX + name for name in labels] + [on_one_line(text)]
        stream.write(" ".join(words) + "\n")
