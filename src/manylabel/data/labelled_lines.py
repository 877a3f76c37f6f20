"""Texts with one document per line: the formats of fastText, of LibMultiLabel, and Annif's of short texts."""

from __future__ import annotations

import re
from pathlib import Path

from manylabel.data import delimited
from manylabel.data.atomic import atomic_text
from manylabel.data.columns import has_header
from manylabel.data.corpus import Corpus
from manylabel.data.formats import name_without_suffix
from manylabel.data.label_cells import begin_as_addresses, is_addresses, is_bare_addresses
from manylabel.data.label_vocabulary import label_addresses
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines
from manylabel.exceptions import DataError, ParameterError
from manylabel.wording import counted, setting_name, settings_text

_LINE_ENDS = re.compile(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


def on_one_line(text: str) -> str:
    """The text with every run of tabs and line ends replaced by one blank."""
    return _LINE_ENDS.sub(" ", text)


def check_labels_without_blanks(corpus: Corpus, format: str) -> None:
    """Raise `DataError` for a label with a blank, which the format would read as two labels."""
    for name in sorted({name for names in corpus.labels or () for name in names}):
        if not name or re.search(r"\s", name):
            raise DataError(
                f"The label {name!r} has a blank in it, which the {format} format cannot hold.",
                remedy="Write jsonl or csv, or rename the label.",
            )


PREFIX = "__label__"


def read_fasttext(path: Path, problems: Problems, *, label_prefix: str = PREFIX, encoding: str = "utf-8") -> Corpus:
    """The documents of fastText lines: words that begin with the prefix are labels, the others are the text."""
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
                remedy="Write the name directly after the prefix.",
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
        name=name_without_suffix(path),
        source=str(path),
    )


def _leading_labels(line: str, prefix: str) -> tuple[str, list[str]]:
    """What follows the labels at the start of a line, its blanks unchanged, and these labels."""
    names: list[str] = []
    at = 0
    while line.startswith(prefix, at):
        end = line.find(" ", at)
        end = len(line) if end < 0 else end
        names.append(line[at:end])
        at = end + 1
    return line[at:], names


def write_fasttext(corpus: Corpus, path: Path) -> None:
    """Write one document per line, line ends in texts replaced by blanks; ids, splits and metadata are lost."""
    check_labels_without_blanks(corpus, "fasttext")
    with atomic_text(path) as stream:
        for row, text in enumerate(corpus.joined_texts):
            labels = corpus.labels[row] if corpus.labels is not None else ()
            words = [PREFIX + name for name in labels] + [on_one_line(text)]
            stream.write(" ".join(words) + "\n")


CLEARLY_LONGER = 2
"""How many times longer than the labels the texts of a table without a header must be to be recognised."""


def is_libmultilabel(lines: list[str]) -> bool:
    """Whether lines are two or three columns without a header, the last the longest and none of addresses."""
    lengths = _column_lengths(lines)
    return bool(lengths) and lengths[-1] == max(lengths)


def may_begin_with_texts(lines: list[str]) -> bool:
    r"""Whether the first and the last of two or three columns without a header may both be the texts, by their lengths.

    >>> may_begin_with_texts(["cats\tpets"]), may_begin_with_texts(["pets\tA long text about cats and dogs."])
    (True, False)
    """
    lengths = _column_lengths(lines)
    return bool(lengths) and max(lengths[0], lengths[-1]) < CLEARLY_LONGER * min(lengths[0], lengths[-1])


def _column_lengths(lines: list[str]) -> list[int]:
    """The lengths of two or three columns without a header; empty for other lines, and where one holds addresses."""
    rows = [line.split("\t") for line in lines[:200]]
    if len(rows[0]) not in (2, 3) or has_header(rows[0]) or len({len(row) for row in rows}) > 1:
        return []
    columns = list(zip(*rows, strict=True))
    if (
        any(map(begin_as_addresses, columns))
        or any(map(is_addresses, columns))
        or (len(columns) == 2 and any(map(is_bare_addresses, columns)))
    ):
        return []  # Annif's layout: text and addresses
    return [sum(map(len, column)) for column in columns]


def read_libmultilabel(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Corpus:
    """The documents of LibMultiLabel lines: an optional id, the labels separated by blanks, the text."""
    ids: list[str] = []
    texts: list[str] = []
    labels: list[list[str]] = []
    for number, line in numbered_lines(path, problems, encoding):
        cells = line.split("\t")
        if len(cells) not in (2, 3):
            problems.report(
                f"The line has {counted(len(cells), 'column')}, not 2 (labels, text) or 3 (id, labels, text).",
                path=path,
                line=number,
                remedy=f"Remove tabs from the text, or give another format ({settings_text(format='tsv')}).",
            )
            continue
        ids.append(cells[0].strip() if len(cells) == 3 else str(number))
        labels.append(sorted(set(cells[-2].split())))
        texts.append(cells[-1])
        if other := next((sign for sign in ";|" if sign in cells[-2]), None):
            place = len(cells) - 1
            tsv = settings_text(format="tsv", header=False, text_column=str(place + 1), label_column=str(place))
            raise DataError(
                f"The labels {cells[-2].strip()!r} hold {other!r}; labels of the format libmultilabel are separated by "
                "blanks.",
                path=path,
                line=number,
                remedy=f"To separate them by {other!r}, use {tsv}; otherwise replace the {other!r}.",
            )
    return Corpus(ids=ids, fields={"text": texts}, labels=labels, name=name_without_suffix(path), source=str(path))


def write_libmultilabel(corpus: Corpus, path: Path) -> None:
    """Write id, labels and text; tabs and line ends become blanks, splits and metadata are lost."""
    check_labels_without_blanks(corpus, "libmultilabel")
    with atomic_text(path) as stream:
        for row, text in enumerate(corpus.joined_texts):
            labels = corpus.labels[row] if corpus.labels is not None else ()
            stream.write(f"{on_one_line(corpus.ids[row])}\t{' '.join(labels)}\t{on_one_line(text)}\n")


def read_annif(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Corpus:
    """The documents of Annif's TSV: a text, a tab, and addresses in angle brackets; without a header."""
    return delimited.read(path, problems, delimiter="\t", header=False, encoding=encoding)


def write_annif(corpus: Corpus, path: Path) -> None:
    """Write Annif's TSV: a text, a tab, and the addresses of its labels; ids, splits and metadata are lost."""
    addresses = label_addresses(corpus)
    if without := [name for name in corpus.label_names if name not in addresses]:
        none = counted(len(without), "label has", "labels have")
        raise DataError(
            f"{none} no URI, first {without[0]!r:.200}, and Annif's TSV holds URIs alone.",
            path=path,
            remedy=f"Name URIs ({setting_name('vocabulary')}), or write a folder, which holds names too.",
        )
    with atomic_text(path) as stream:
        for text, labels in zip(corpus.joined_texts, corpus.label_sets, strict=True):
            subjects = " ".join(f"<{addresses[label]}>" for label in labels)
            stream.write(f"{on_one_line(text)}\t{subjects}\n")
