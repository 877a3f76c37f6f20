"""JSON lines: one object per line, ours, Annif's, or anything with a text and labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_text
from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.problems import Problems
from manylabel.data.strict_json import dumps
from manylabel.data.table import ColumnOptions, Table
from manylabel.data.textfile import numbered_lines


def read(path: Path, problems: Problems, *, encoding: str = "utf-8", **columns: Any) -> Corpus:
    """The documents of a JSON lines file; `columns` are the fields of `ColumnOptions`.

    Keys are recognised by name (``text``, ``title``, ``labels``, ``id``, ``split`` and their usual variants) or given
    by the options. Labels are a list of strings, of Annif's ``{"uri", "label"}`` objects (the label, else the address),
    or one string. The keys of Annif's nested ``metadata`` count as keys of the document; all other keys become
    metadata.
    """
    options = ColumnOptions(**columns)
    records = list(_records(path, problems, encoding))
    names = dict.fromkeys(name for _, record in records for name in record)
    values = {name: [record.get(name) for _, record in records] for name in names}
    return corpus_of_table(Table(values, [line for line, _ in records], path, problems), options)


def _records(path: Path, problems: Problems, encoding: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in numbered_lines(path, problems, encoding):
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            place = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
            problems.report(
                f"The line is not JSON ({place}).",
                path=path,
                line=number,
                remedy="Each line must be one JSON object.",
            )
            continue
        if not isinstance(record, dict):
            problems.report(
                f"The line holds a JSON {type(record).__name__}, not an object.",
                path=path,
                line=number,
                remedy='Write each document as {"text": "…", "labels": ["…"]}.',
            )
            continue
        if "\\ud" in line.lower() and not _is_text(record):
            problems.report(
                "The line holds half of a surrogate pair (\\ud…), which is not a character.",
                path=path,
                line=number,
                remedy="Write both halves, or the character itself.",
            )
            continue
        inner = record.get("metadata")
        if isinstance(inner, dict):
            del record["metadata"]
            record = {**inner, **record}
        yield number, record


def _is_text(record: dict[str, Any]) -> bool:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def write(corpus: Corpus, path: Path) -> None:
    """Write one object per document: id, the fields, labels, split, then the metadata."""
    with atomic_text(path) as stream:
        for row, identity in enumerate(corpus.ids):
            record: dict[str, Any] = {"id": identity}
            record |= {name: values[row] for name, values in corpus.fields.items()}
            if corpus.labels is not None:
                record["labels"] = list(corpus.labels[row])
            if corpus.split_names is not None:
                record["split"] = corpus.split_names[row]
            for name, values in corpus.metadata.items():
                record.setdefault(name, values[row])
            stream.write(dumps(record) + "\n")
