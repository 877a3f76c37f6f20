"""Explain the predictions of a model for a text, for the documents of a file, or for lines of standard input."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from manylabel.classifier import TextClassifier
from manylabel.data import KNOWN
from manylabel.data.corpus import Text
from manylabel.exceptions import UnknownNameError
from manylabel.explanation import Explanation
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.wording import settings_text

LONGEST_NAME = 255
"""The largest number of bytes in a file's name on common systems."""


def names_data(text: str) -> bool:
    """Whether an argument names data and is not a text itself: a path, or something that looks like one, or a data set.

    >>> [names_data(text) for text in ("townhall", "letters.csv", "The bus was late.", "late")]
    [True, True, False, False]
    """
    if "\n" in text:
        return False
    if text in [row.name for row in KNOWN] or os.path.exists(text):
        return True
    looks_so = not any(map(str.isspace, text)) and ("/" in text or Path(text).suffix[1:].isalnum())
    return looks_so and all(len(os.fsencode(name)) <= LONGEST_NAME for name in text.split("/"))


@dataclass(frozen=True, slots=True)
class Question:
    """What to explain: some labels, or the predicted ones and so many that nearly are; and of which documents."""

    labels: Sequence[str] | None = None
    runners_up: int = 2
    documents: int | None = None
    """How many documents to explain; None for all."""
    id: str | None = None
    """The id of the only document to explain."""


def explain_source(classifier: TextClassifier, source: Source, question: Question) -> Iterator[tuple[str, Explanation]]:
    """The id and the explanation of documents of a file or a named data set."""
    corpus = load_source(replace(source, labels=False), classifier, names_labels=False).corpus
    ids, documents = list(corpus.ids), documents_of(corpus)
    rows = range(len(ids))
    if question.id is not None:
        if question.id not in ids:
            known = corpus.layout is None or corpus.layout.identity is not None
            column = settings_text(id_column="NAME")
            hint = "" if known else f"No column of ids was recognised, so ids are line numbers. Use {column}."
            raise UnknownNameError("document", question.id, ids, hint)
        rows = range(ids.index(question.id), ids.index(question.id) + 1)
    for row in islice(rows, question.documents):
        yield ids[row], _explained(classifier, documents[row : row + 1], question)


def explain_texts(
    classifier: TextClassifier, texts: Iterable[tuple[str, Text]], question: Question
) -> Iterator[tuple[str, Explanation]]:
    """The id and the explanation of (id, text) pairs, as they come."""
    chosen = (pair for pair in texts if question.id is None or pair[0] == question.id)
    for identifier, text in islice(chosen, question.documents):
        yield identifier, _explained(classifier, text, question)


def _explained(classifier: TextClassifier, document: Any, question: Question) -> Explanation:
    return classifier.explain(document, labels=question.labels, runners_up=question.runners_up)
