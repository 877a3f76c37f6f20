"""JSON lines, one object per line (ours, Annif's, or anything with a text and labels), and JSON arrays of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from manylabel.data.atomic import atomic_text
from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.label_vocabulary import LabelVocabulary, bare_address, with_named_concepts
from manylabel.data.nested_text import NotJsonError, parse_json
from manylabel.data.problems import Problems
from manylabel.data.strict_json import dumps
from manylabel.data.table import ColumnOptions, Table
from manylabel.data.textfile import WHOLE_FILE, Span, checked_encoding, numbered_lines, read_bytes
from manylabel.exceptions import DataError
from manylabel.wording import setting_name


def read(path: Path, problems: Problems, *, encoding: str = "utf-8", **columns: Any) -> Corpus:
    """The documents of a JSON lines file; `columns` are the fields of `ColumnOptions`.

    Keys are recognised by name (``text``, ``title``, ``labels``, ``id``, ``split`` and their usual variants) or given
    by the options. Labels are a list of strings, of Annif's ``{"uri", "label"}`` objects (the label, else the address;
    both are the vocabulary of the corpus), or one string. The keys of Annif's nested ``metadata`` count as keys of the
    document; all other keys become metadata.
    """
    return corpus_of_records(list(read_lines(path, problems, encoding)), path, problems, columns)


def is_records(lines: list[str]) -> bool:
    """Whether a file begins like a JSON array of objects.

    >>> is_records(['[{"text": "a"}]']), is_records(["[", "  {"]), is_records(["[1, 2]"])
    (True, True, False)
    """
    return re.match(r"\s*+\[\s*+[{\]]", "\n".join(lines)) is not None


def read_records(path: Path, problems: Problems, *, encoding: str = "utf-8", **columns: Any) -> Corpus:
    """The documents of a JSON array of objects, as pandas writes with ``to_json(orient="records")``.

    Keys are read as in JSON lines. Problems give the number of the object, from 1, as the line.
    """
    encoding = checked_encoding(encoding)
    try:
        text = read_bytes(path, limits=problems.limits).decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeError as error:
        raise DataError(
            f"The file is not {encoding} text ({error}).",
            path=path,
            remedy=f"Give its encoding ({setting_name('encoding')}).",
        ) from None
    try:
        plain = parse_json(text, problems.limits.nesting)
    except NotJsonError as error:
        raise DataError(
            f"The file is not JSON ({error}).", path=path, line=error.line, remedy="Write it again."
        ) from None
    if not isinstance(plain, list):
        raise DataError(
            f"The file holds a JSON {type(plain).__name__}, not an array of objects.",
            path=path,
            remedy='Write it with to_json(orient="records").',
        )
    odd = "\\ud" in text.lower()
    found = [(number, _record(one, "array", number, path, problems, odd)) for number, one in enumerate(plain, start=1)]
    return corpus_of_records([(number, one) for number, one in found if one is not None], path, problems, columns)


def corpus_of_records(
    records: list[tuple[int, dict[str, Any]]], path: Path, problems: Problems, columns: Mapping[str, Any]
) -> Corpus:
    """The corpus of numbered objects; `columns` are the fields of `ColumnOptions`."""
    options = ColumnOptions(**columns)
    names = dict.fromkeys(name for _, record in records for name in record)
    problems.limits.check("columns", len(names), "different keys", path)
    empty = len(names) * len(records) - sum(len(record) for _, record in records)
    problems.limits.check("empty_cells", empty, "empty cells, because objects have different keys", path)
    values = {name: [record.get(name) for _, record in records] for name in names}
    corpus = corpus_of_table(Table(values, [line for line, _ in records], path, problems), options)
    concepts = _concepts(corpus, values)
    return with_named_concepts(corpus, LabelVocabulary({"": concepts}, source=str(path))) if concepts else corpus


def _concepts(corpus: Corpus, values: Mapping[str, list[Any]]) -> dict[str, str]:
    """The names of the addresses in Annif's ``{"uri", "label"}`` objects."""
    columns = () if corpus.layout is None else corpus.layout.labels
    items = (item for name in columns for cell in values[name] if isinstance(cell, list) for item in cell)
    pairs = ((item.get("uri"), item.get("label")) for item in items if isinstance(item, dict))
    return {
        bare_address(uri.strip()): label.strip()
        for uri, label in pairs
        if isinstance(uri, str) and isinstance(label, str) and uri.strip() and label.strip()
    }


def read_lines(
    path: Path, problems: Problems, encoding: str = "utf-8", span: Span = WHOLE_FILE
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object of each line, with the number of the line."""
    for number, line in numbered_lines(path, problems, encoding, span):
        try:
            record = parse_json(line, problems.limits.nesting)
        except NotJsonError as error:
            problems.report(
                f"The line is not JSON ({error}).",
                path=path,
                line=number,
                remedy="Each line must be one JSON object.",
            )
            continue
        found = _record(record, "line", number, path, problems, "\\ud" in line.lower())
        if found is not None:
            yield number, found


def _record(
    record: Any, what: str, number: int, path: Path, problems: Problems, has_surrogates: bool
) -> dict[str, Any] | None:
    """The object of one document, with the keys of Annif's nested metadata; None after a problem was reported."""
    if not isinstance(record, dict):
        problems.report(
            f"The {what} holds a JSON {type(record).__name__}, not an object.",
            path=path,
            line=number,
            remedy='Write each document as {"text": "…", "labels": ["…"]}.',
        )
        return None
    if record and all(isinstance(column, dict) for column in record.values()):
        problems.report(
            f"The {what} holds a table by columns, as pandas writes it: {', '.join(record)[:80]}.",
            path=path,
            line=number,
            remedy="Write one object per document: frame.to_json(path, orient='records', lines=True).",
        )
        return None
    if has_surrogates and not _is_text(record):
        problems.report(
            f"The {what} holds half of a surrogate pair (\\ud…), which is not a character.",
            path=path,
            line=number,
            remedy="Write both halves, or the character itself.",
        )
        return None
    inner = record.get("metadata")
    if isinstance(inner, dict):
        return {**inner, **{key: value for key, value in record.items() if key != "metadata"}}
    return dict(record)


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
