"""Descriptions of labels: names, definitions and alternative names, from a table, JSON lines or SKOS."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from manylabel.data.jsonl import read_lines
from manylabel.data.label_vocabulary import (
    SKOS_ENDINGS,
    LabelVocabulary,
    bare_address,
    is_name_column,
    plain_name,
    whole_rows,
)
from manylabel.data.problems import Problems
from manylabel.data.textfile import Lines
from manylabel.data.vocabulary_files import lists_names
from manylabel.exceptions import DataError, ParameterError

LABEL, NAME, ADDRESS = "label", "name", "uri"
Described: TypeAlias = tuple[str, str, list[str]]
"""A label, its name if there is one, and further texts."""
OTHER = "(another language)"
"""A column of names that are not read."""


def read_label_descriptions(
    path: str | Path, problems: Problems | None = None, *, labels: Sequence[str] = (), language: str | None = None
) -> dict[str, str]:
    """The text that describes each label of a file.

    A table (CSV, TSV) has a header with ``label``; all other columns describe it: ``name``, ``description`` and so on.
    Without a header the first column is the label, so a list of labels, one per line, is a table too. In a vocabulary
    with the columns ``uri`` and ``label_en``, ``label_fi`` …, the address is the label. JSON lines are
    objects with the key ``label``; the texts and lists of texts under other keys describe it. SKOS (Turtle, N-Triples,
    RDF/XML) gives the names, alternative names, definitions and notes of concepts in one `language`; `labels` are those
    of the data, so that concepts are named as they are there. Addresses are read with and without angle brackets.

    The words of a label describe it too, unless there is a name.
    """
    path, problems = Path(path), problems or Problems()
    ending = path.name.lower().removesuffix(".gz")
    if not path.is_file():
        raise DataError("There is no such file of label descriptions.", path=path, remedy="Give a file that exists.")
    if ending.endswith((*SKOS_ENDINGS, ".xml")):
        from manylabel.data.skos import read_concept_texts

        concepts = read_concept_texts(path, problems.limits, labels, language)
        rows: Iterable[Described] = ((label, "", texts) for label, texts in concepts.items())
    elif ending.endswith((".jsonl", ".ndjson", ".json")):
        rows = _records(path, problems)
    else:
        rows = _table(path, problems, "," if ending.endswith(".csv") else "\t", language)
    found: dict[str, list[str]] = {}
    for label, name, texts in rows:
        found.setdefault(bare_address(label), []).extend([name or _words(label), *texts])
    if not found:
        raise DataError(
            "The file describes no label.", path=path, remedy="Write one row per label: label, description."
        )
    return {label: _joined(texts) for label, texts in found.items()}


def is_vocabulary(path: Path) -> bool:
    """Whether a file of descriptions has the addresses of labels with their names, so that it is a vocabulary too."""
    ending = path.name.lower().removesuffix(".gz")
    return ending.endswith(SKOS_ENDINGS) or (ending.endswith((".csv", ".tsv")) and lists_names(path))


def named_descriptions(texts: Mapping[str, str], vocabulary: LabelVocabulary) -> dict[str, str]:
    """The descriptions under the names that a vocabulary has for their labels, which may be addresses or other names.

    A name describes its label too.

    >>> named_descriptions({"http://x/1": "a pet", "dog": "barks"}, LabelVocabulary({"": {"http://x/1": "cat"}}))
    {'cat': 'cat a pet', 'dog': 'barks'}
    """
    known, shown = vocabulary.addresses_by_name(), vocabulary.display_names()
    found: dict[str, list[str]] = {}
    for label, text in texts.items():
        address = known.get(label)
        name = label if address is None else shown[address]
        plain = [] if address is None or plain_name(name, address) in text else [plain_name(name, address)]
        found.setdefault(name, []).extend([*plain, text])
    return {name: _joined(parts) for name, parts in found.items()}


def checked_descriptions(given: Any) -> dict[str, str]:
    """Descriptions passed in Python: a mapping from each label to its text or to a list of texts.

    >>> checked_descriptions({"roads": ["potholes", "road surface"], "street_lights": ""})
    {'roads': 'roads potholes road surface', 'street_lights': 'street lights'}
    """
    if not isinstance(given, Mapping) or not given:
        found = "an empty one" if isinstance(given, Mapping) else type(given).__name__
        raise ParameterError(
            "descriptions is a mapping from labels to texts, for example {'roads': 'holes in the road'}, not "
            f"{found}. dict(zip(labels, texts)) makes one of two columns; manylabel.data.read_label_descriptions reads "
            "a file."
        )
    for label, texts in given.items():
        if not isinstance(texts, (str, list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise ParameterError(f"The description of {label!r} must be a text or a list of texts, not {texts!r}.")
    return {str(label): _joined([_words(str(label)), *_texts(texts)]) for label, texts in given.items()}


def _joined(texts: Sequence[str]) -> str:
    """All different texts in one."""
    return " ".join(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _words(label: str) -> str:
    """The words in a label such as ``streets/school-places``; none in an address."""
    return "" if "://" in label else re.sub(r"[\W_]+", " ", label).strip()


def _texts(value: Any) -> list[str]:
    """The texts in the cell or under the key of a description."""
    if isinstance(value, str):
        return [value.strip()]
    return [text for one in value for text in _texts(one)] if isinstance(value, (list, tuple)) else []


def _records(path: Path, problems: Problems) -> Iterator[Described]:
    for number, record in read_lines(path, problems):
        label, name = record.pop(LABEL, None), record.pop(NAME, None)
        if isinstance(label, str) and label.strip():
            yield label.strip(), name if isinstance(name, str) else "", _texts(list(record.values()))
        else:
            problems.report(
                "The object names no label.",
                path=path,
                line=number,
                remedy='Write {"label": "roads", "description": "holes in the road"}.',
            )


def _table(path: Path, problems: Problems, delimiter: str, language: str | None) -> Iterator[Described]:
    lines = Lines(path, problems)
    header: list[str] | None = None
    for row in whole_rows(csv.reader(lines, delimiter=delimiter), path, problems, lines):
        cells = [cell.strip() for cell in row]
        if header is None and (named := _header(cells, language)):
            header = named
            continue
        header = header or [LABEL]
        named_cells = dict(zip(header, cells, strict=False))
        if named_cells.get(LABEL):
            others = [cell for at, cell in enumerate(cells) if header[at : at + 1] not in ([LABEL], [NAME], [OTHER])]
            yield named_cells[LABEL], named_cells.get(NAME, ""), others
        else:
            problems.report("The row names no label.", path=path, line=lines.number, remedy="Complete or remove it.")


def _header(cells: Sequence[str], language: str | None) -> list[str] | None:
    """What the columns of a table hold; None for a row that is no header.

    >>> _header(["uri", "label_en", "label_fi", "definition"], "fi")
    ['label', '(another language)', 'label_fi', 'definition']
    """
    named = [cell.lower() for cell in cells]
    if ADDRESS in named and any(map(is_name_column, named)):
        left_out = [cell for cell in named if language and cell.startswith("label_") and cell != f"label_{language}"]
        kinds = {ADDRESS: LABEL, LABEL: NAME, **dict.fromkeys(left_out, OTHER)}
        return [kinds.get(cell, cell) for cell in named]
    return named if LABEL in named else None
