"""LibMultiLabel's text format: ``[ID<TAB>]label label<TAB>text``, one document a line."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from manylabel.data.corpus import Corpus
from manylabel.data.one_line import check_labels_without_blanks, joined_texts, on_one_line
from manylabel.data.problems import Problems
from manylabel.data.textfile import numbered_lines


def read(path: Path, problems: Problems, *, encoding: str = "utf-8") -> Corpus:
    """One document a line: an id or none, the labels with blanks between them, the text."""
    ids: list[str] = []
    texts: list[str] = []
    labels: list[list[str]] = []
    for number, line in numbered_lines(path, problems, encoding):
        cells = line.split("\t")
        if len(cells) not in (2, 3):
            problems.report(
                f"The line has {len(cells)} columns, not 2 (labels, text) or 3 (id, labels, text).",
                path=path,
                line=number,
                remedy="Remove tabs from the text, or name another format (--format tsv).",
            )
            continue
        ids.append(cells[0].strip() if len(cells) == 3 else str(number))
        labels.append(sorted(set(cells[-2].split())))
        texts.append(cells[-1])
    return Corpus(ids=ids, fields={"text": texts}, labels=labels, name=path.name.split(".")[0], source=str(path))


def write(corpus: Corpus, stream: IO[str]) -> None:
    """Id, labels, text; tabs and line ends in texts are made blanks, split and metadata are not kept."""
    check_labels_without_blanks(corpus, "libmultilabel")
    for row, text in enumerate(joined_texts(corpus)):
        labels = corpus.labels[row] if corpus.labels is not None else ()
        stream.write(f"{on_one_line(corpus.ids[row])}\t{' '.join(labels)}\t{on_one_line(text)}\n")
