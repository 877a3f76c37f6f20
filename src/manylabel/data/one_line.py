"""What formats with one line a document need: texts without line ends, labels without blanks."""

from __future__ import annotations

import re

from manylabel.data.corpus import Corpus
from manylabel.exceptions import DataError

_LINE_ENDS = re.compile(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


def joined_texts(corpus: Corpus) -> list[str]:
    """Each document's fields, those that are not empty, with an empty line between them.

    >>> joined_texts(Corpus(ids=["1", "2"], fields={"title": ["A", ""], "body": ["b", "c"]}))
    ['A\\n\\nb', 'c']
    """
    columns = list(corpus.fields.values())
    return ["\n\n".join(filter(None, values)) for values in zip(*columns, strict=True)]


def on_one_line(text: str) -> str:
    """The text with every run of tabs and line ends made one blank."""
    return _LINE_ENDS.sub(" ", text)


def check_labels_without_blanks(corpus: Corpus, format: str) -> None:
    """Raise `DataError` for a label the format would tear apart."""
    for name in sorted({name for names in corpus.labels or () for name in names}):
        if not name or re.search(r"\s", name):
            raise DataError(
                f"The label {name!r} has a blank in it, which the {format} format cannot hold.",
                remedy="Write jsonl or csv, or rename the label.",
            )
