"""What was guessed in reading some data, with their figures and first documents, before anything is done with them."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from manylabel.data import Corpus
from manylabel.data.description import DataFacts
from manylabel.data.excel import sheet_names
from manylabel.data.formats import BY_NAME, FORMATS
from manylabel.data.label_vocabulary import SKOS_ENDINGS, read_label_vocabulary
from manylabel.data.layout import NO_SEPARATOR, Layout
from manylabel.data.recognition import suffix_of
from manylabel.data.vocabulary_files import is_vocabulary_file
from manylabel.exceptions import ManylabelWarning
from manylabel.features.languages import guess_language
from manylabel.progress import remarks_to
from manylabel.reports.data_page import warning_sentences
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.data_sets import facts_of
from manylabel.tasks.reviewing import terms_as_texts

MOST_DOCUMENTS, MOST_CHARACTERS = 20, 500
"""Documents that are shown, and characters of each of their fields."""
MOST_LABELS, MOST_COLUMNS, MOST_WARNINGS = 50, 1_000, 100


def preview(source: Source) -> dict[str, Any]:
    """How the documents of a source are read: format, columns, separators, language, labels, and the first documents.

    `choices` are sentences on what was chosen and why, `warnings` on what may go wrong. What a format does not have
    (columns, sheets, a delimiter) is None. Of a vocabulary, which holds no documents, its concepts and languages.
    """
    if not source.options and is_vocabulary_data(source.data):
        return {"vocabulary": _vocabulary_facts(source)}
    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as warned, remarks_to(remarks.append):
        warnings.simplefilter("always", ManylabelWarning)
        reading = load_source(source)
        facts = facts_of(reading, source.data)
    corpus = reading.corpus
    warned_of = [
        *(text.removeprefix(f"{source.data}: ") for text in remarks[:-1]),  # the last one sums up the choices
        *(str(one.message) for one in warned),
        *warning_sentences(facts),
        *(str(problem) for problem in reading.skipped),
    ]
    return {
        "format": reading.format,
        "choices": [f"{choice.what.capitalize()}: {choice.chosen}" for choice in facts.reading],
        **_table_facts(source, corpus, reading.format),
        "language": None if corpus.is_bag_of_words else guess_language(corpus.joined_texts),
        **_label_facts(facts),
        "splits": {name: sizes.documents for name, sizes in facts.splits.items() if name != "all"},
        "warnings": warned_of[:MOST_WARNINGS],
        "sample": _sample(corpus),
    }


def is_vocabulary_data(data: str) -> bool:
    """Whether a file that is given as data is a vocabulary, which names labels and holds no documents."""
    return os.path.isfile(data) and is_vocabulary_file(Path(data))


def _vocabulary_facts(source: Source) -> dict[str, Any]:
    found = read_label_vocabulary(source.data, source.problems())
    return {"concepts": len(found.addresses), "languages": found.languages}


def file_formats() -> list[str]:
    """The names of the formats of single files."""
    return [row.name for row in FORMATS if row.suffixes or not row.folder]


def readable_endings() -> list[str]:
    """The endings of files that can be read: data, texts, archives, and thesauri that name labels."""
    others = (".tar.gz", ".txt", ".zip", ".xml", *SKOS_ENDINGS)
    return sorted({*others, *(suffix for row in FORMATS for suffix in row.suffixes)})


def has_readable_ending(file: str) -> bool:
    """Whether the ending of a name shows how to read the file; it may be compressed.

    >>> [has_readable_ending(name) for name in ("a.csv", "a.JSONL.gz", "a.tgz", "a.exe", "a.gz", "a")]
    [True, True, True, False, False, False]
    """
    return suffix_of(Path(file)) in readable_endings()


def _table_facts(source: Source, corpus: Corpus, format: str) -> dict[str, Any]:
    """Columns, delimiter, encoding and sheets, as far as the format has them."""
    options, layout, row = source.options or {}, corpus.layout, BY_NAME.get(format)
    sheets = sheet_names(Path(source.data)) if format == "excel" else None
    has_encoding = row is not None and row.takes("encoding")
    return {
        "columns": None if layout is None else _columns(layout),
        "available_columns": None if corpus.columns is None else list(corpus.columns)[:MOST_COLUMNS],
        "delimiter": None if layout is None else layout.delimiter,
        "header": None if layout is None else layout.header,
        "label_separator": _separator(layout),
        "encoding": options.get("encoding", "utf-8") if has_encoding else None,
        "sheet": None if sheets is None else options.get("sheet", sheets[0]),
        "sheets": sheets,
    }


def _columns(layout: Layout) -> dict[str, Any]:
    """What each column became; `text` lists all columns of texts, the main one last."""
    texts = [*layout.sides, layout.text]
    named = dict(zip(layout.fields, texts, strict=False))
    return {
        "text": texts,
        "title": named.get("title"),
        "label": list(layout.labels)[:MOST_COLUMNS] or None,
        "id": layout.identity,
        "split": layout.split,
        "unused": list(layout.unused)[:MOST_COLUMNS],
    }


def _separator(layout: Layout | None) -> str | None:
    """What divides the labels of a cell: None where there are no such cells."""
    if layout is None or not layout.labels or len(layout.marks) == len(layout.labels):
        return None
    return layout.separator or (NO_SEPARATOR if layout.cells == "names" else None)


def _label_facts(facts: DataFacts) -> dict[str, Any]:
    labels = facts.labels
    return {
        "documents": facts.documents,
        "fields": facts.fields,
        "labels": 0 if labels is None else labels.used,
        "cardinality": 0.0 if labels is None else labels.per_document,
        "documents_without_labels": facts.documents if labels is None else facts.splits["all"].no_label,
        "top_labels": []
        if labels is None
        else [{"label": one.label, "documents": one.documents} for one in labels.by_frequency[:MOST_LABELS]],
    }


def _sample(corpus: Corpus) -> list[dict[str, Any]]:
    """The first documents, each field shortened."""
    first = corpus.subset(range(min(MOST_DOCUMENTS, len(corpus))))
    fields = {"text": terms_as_texts(first)} if first.is_bag_of_words else first.fields
    return [
        {
            "id": identifier,
            "fields": {name: values[row][:MOST_CHARACTERS] for name, values in fields.items()},
            "labels": [] if first.labels is None else list(first.labels[row]),
            "split": None if first.split_names is None else first.split_names[row],
        }
        for row, identifier in enumerate(first.ids)
    ]
