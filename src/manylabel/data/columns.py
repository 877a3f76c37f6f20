"""Tables with named columns (CSV, JSON lines, Parquet, Excel) as a corpus: which column is what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

from manylabel.data.corpus import Corpus, split_name
from manylabel.data.formats import name_without_suffix
from manylabel.data.label_columns import LABELS, named_label_columns, read_label_columns
from manylabel.data.layout import Layout, listed
from manylabel.data.table import ColumnOptions, Table, columns_of_training
from manylabel.exceptions import DataError
from manylabel.wording import counted, setting_name, settings_text

# Names in English come first, then those in German, French, Spanish, Finnish and Dutch. Words that mean a topic as
# often as a title, such as the French `sujet` and the Finnish `aihe`, are left out.
TITLES = (
    "title", "headline", "subject", "titel", "betreff", "überschrift", "titre", "objet", "título", "asunto", "otsikko",
    "onderwerp",
)  # fmt: skip
SUMMARIES = ("zusammenfassung", "résumé", "resumen", "tiivistelmä", "samenvatting")
DESCRIPTIONS = ("beschreibung", "descripción", "kuvaus", "beschrijving", "omschrijving")
TEXTS = (
    "text", "body", "abstract", "content", "description", "document", "comment_text", "comment", "message",
    "sentence", "review", "tweet", "summary",
    "texte", "texto", "teksti", "tekst", "inhalt", "contenu", "contenido", "sisältö", "inhoud",
    *DESCRIPTIONS, "nachricht", "mensaje", "viesti", "bericht", *SUMMARIES,
)  # fmt: skip
IDS = ("id", "document_id", "doc_id", "_id", "docid")
_OTHER_ID = re.compile(
    r"(?i:[\w ]+[ _-]id)|\w*[a-z]I[Dd]"
    r"|(?i:(ticket|case|incident|issue|request|order|record|document|doc)[ _-]?(no\.?|nr\.?|num|number|key|#))"
)
"""Names such as ``Ticket-ID``, ``case_id``, ``orderId`` and ``Ticket No``: ids where no two rows share one."""
_NUMBER = re.compile(
    r"(?i)(ticket|vorgangs?|fall|auftrags?|bestell|antrags?|akten|beleg|dokument(en)?|meldungs?|zaak|dossier|document"
    r"|meldings?|tiketti|asia)[ _-]?(nummer|nr\.?|numero)"
    r"|(numéro|número) (de|du) (ticket|dossier|demande|document|caso|expediente|documento|solicitud)"
)
"""Names such as ``Vorgangsnummer`` and ``numéro de ticket``: ids in the same way, where no name above is found. ``Nr.``
alone may be a number of something else."""
_NAME = re.compile(r"[^\W\d][\w.#-]*([ ][\w.#-]+)?")
"""A name of a column: one or two words."""
SPLITS = ("split", "part", "fold")
MOST_ABOVE = 10
"""How many lines are looked at for the header where the first one is none."""
KNOWN = frozenset(TITLES + TEXTS + LABELS + IDS + SPLITS)
# Only these become fields beside the main text; another column, such as `comment`, stays metadata.
SIDE_FIELDS = ("title", "headline", "abstract", "body", "description", "summary", *DESCRIPTIONS, *SUMMARIES)


def has_header(cells: Sequence[str]) -> bool:
    """Whether a first row is a header: one of its cells is a usual column name such as ``text``."""
    return any(cell.strip().strip('"').lower() in KNOWN for cell in cells)


def check_first_line(path: Path, lines: Sequence[str], delimiters: Sequence[str]) -> None:
    """Raise `DataError` where a line below the first one is the header, with one of the delimiters."""
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    for delimiter in delimiters:
        check_titles(path, [(number, line.split(delimiter)) for number, line in filled], "line")


def check_titles(path: Path, rows: Sequence[tuple[int, Sequence[str]]], kind: str) -> None:
    """Raise `DataError` where a row below the first one is the header: the first one is a title, say.

    The first row then has one cell with a text, and the other one several, all of which look like names.
    """
    first, *below = rows[:MOST_ABOVE] or [(1, [])]
    top = [cell.strip() for cell in first[1] if cell.strip()]
    if len(top) != 1 or has_header(top):
        return
    for number, cells in below:
        if len(cells) > 1 and names_columns(cells):
            raise DataError(
                f"{kind.capitalize()} {first[0]} has 1 cell, {top[0][:60]!r}; {kind} {number}, which looks like the "
                f"header, has {len(cells)}.",
                path=path,
                remedy=f"Delete the {kind}s above the header.",
            )


def names_columns(cells: Sequence[str], texts: Sequence[str] = ()) -> bool:
    """Whether a line is the header of a table: all cells look like names, and one is usual for texts or in `texts`.

    >>> names_columns(["id", "text"]), names_columns(["Subject", "Nachricht"], ["Nachricht"])
    (True, True)
    >>> names_columns(["The text", " the body and the summary"]), names_columns(["review"]), names_columns(["text"])
    (False, False, True)
    """
    names = [cell.strip().strip('"') for cell in cells]
    if len(names) == 1:
        return names[0].lower() == "text"
    known = {*TEXTS, *TITLES, *(name.lower() for name in texts)}
    return all(map(_NAME.fullmatch, names)) and any(name.lower() in known for name in names)


def check_first_row(path: Path, texts: Sequence[str], labels: Sequence[str]) -> None:
    """Raise `DataError` where the first row of a table without a usual column name may be a header all the same.

    Its text has at most two words where half of the others have four or more, and its label occurs nowhere else.
    """
    if len(texts) < 5 or not labels[0].strip() or labels[0].strip().startswith("<"):
        return
    lengths = sorted(len(text.split()) for text in texts[1:])
    rest = {name for cell in labels[1:] for name in re.split(r"[;|,\s]+", cell)} | {cell.strip() for cell in labels[1:]}
    is_short = len(texts[0].split()) <= 2 and lengths[len(lengths) // 2] >= 4
    if is_short and labels[0].strip() not in rest and len(labels[0].split()) == 1:
        named = settings_text(format="tsv", text_column=texts[0].strip(), label_column=labels[0].strip())
        raise DataError(
            f"The first row may be a header or a document: {texts[0]!r}, {labels[0]!r}.",
            path=path,
            remedy=f"If it is a header, use {named}; if it is a document, use "
            f"{settings_text(format='tsv', header=False)} (texts, then labels) or "
            f"{settings_text(format='libmultilabel')} (labels, then texts).",
        )


def corpus_of_table(
    table: Table, options: ColumnOptions, *, delimiter: str | None = None, header: bool = True
) -> Corpus:
    """The corpus in a table.

    The main text is the first of the usual names (``text``, ``body``, ``abstract``, …) that occurs;
    ``title``, ``abstract`` and a few more become fields of their own. A title that every text begins with is metadata,
    so that its words are not counted twice. Where columns of texts are given, no other one is a text. All
    other columns are metadata.
    """
    if not table.lines:
        return Corpus(ids=[], source=str(table.path))  # `read` reports why nothing is left
    hint = f", or {settings_text(header=False)} if the first row is a document"
    hint = hint if header and delimiter is not None else ""
    named_labels = _columns_of_labels(table, options)
    texts = _text_columns(table, options, named_labels, hint)
    table = _only_texts(table, texts.text)
    fields = _fields(table, texts)
    split = table.find(_of_training(table, options, "split_column"), SPLITS, "split_column")
    identity = table.find(_of_training(table, options, "id_column"), IDS, "id_column")
    identity, no_ids = _other_id(table, {*texts.columns, *named_labels}) if identity is None else (identity, "")
    table, labels = read_label_columns(table, options, {texts.text, split, identity, *texts.sides})
    if labels.sets is not None and len(table.lines) != len(next(iter(fields.values()))):
        fields = _fields(table, texts)
    columns = [column for column, name in zip(texts.columns, texts.names, strict=True) if name in fields]
    kept = {*columns, split, identity, *labels.columns}
    unused = [name for name in table.columns if name not in kept]
    reasons = {"text": texts.reason, "labels": labels.reason, "separator": labels.separator_reason, "ids": no_ids}
    layout = Layout(
        texts.text,
        sides=tuple(columns[:-1]),
        fields=tuple(fields),
        as_trained=texts.as_trained,
        labels=labels.columns,
        marks=labels.marks,
        separator=labels.separator,
        cells=labels.cells,
        identity=identity,
        split=split,
        unused=tuple(unused),
        delimiter=delimiter,
        header=header,
        reasons={key: reason for key, reason in reasons.items() if reason},
    )
    return Corpus(
        ids=_ids(table, identity),
        fields=fields,
        labels=labels.sets,
        split_names=None if split is None else [split_name(value) for value in table.columns[split]],
        metadata={name: table.columns[name] for name in unused},
        layout=layout,
        columns=table.columns,
        lines=table.lines,
        name=name_without_suffix(table.path),
        source=str(table.path),
    )


@dataclass(frozen=True, slots=True)
class _Texts:
    """The columns of texts (the main text last), the names of their fields, and why they were chosen."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    exact: bool = False
    """Whether every column was named, so that none is left out."""
    as_trained: bool = False
    reason: str = ""

    @property
    def text(self) -> str:
        return self.columns[-1]

    @property
    def sides(self) -> tuple[str, ...]:
        return self.columns[:-1]


def _columns_of_labels(table: Table, options: ColumnOptions) -> frozenset[str]:
    """The columns that are named as labels: a label that were text too would be learned from itself.

    A column that is given both as text and as labels is an error.
    """
    labels = named_label_columns(table, options)
    if both := [name for name in (*_given_texts(options), options.title_column) if name in labels]:
        raise DataError(
            f"Column {both[0]!r} is given both as text and as labels.",
            path=table.path,
            remedy="Give it as one of the two.",
        )
    return labels


def _given_texts(options: ColumnOptions) -> tuple[str, ...]:
    given = options.text_column
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _other_id(table: Table, taken: set[str]) -> tuple[str | None, str]:
    """A column with a name such as ``Ticket-ID`` in which every row has a value of its own; None if there is none.

    Then also a sentence on the first such column in which most rows have one. Rows without any value do not count.
    """
    why = ""
    filled = [any(value not in (None, "") for value in row) for row in zip(*table.columns.values(), strict=True)]
    for pattern in (_OTHER_ID, _NUMBER):
        for name, column in table.columns.items():
            if name not in taken and pattern.fullmatch(name.strip()):
                values = list(compress(column, filled))
                times = Counter(str(value) for value in values if value not in (None, ""))
                if len(times) == len(values):
                    return name, ""
                if not why and 2 * len(times) > len(values):
                    why = _not_ids(name, times, len(values))
    return None, why


def _not_ids(name: str, times: Mapping[str, int], rows: int) -> str:
    """The sentence on a column that is not used as ids: which value it repeats, or how many rows have none."""
    value, most = max(times.items(), key=lambda pair: pair[1])
    empty = rows - sum(times.values())
    found = f"{value!r:.60} occurs {'twice' if most == 2 else f'{most:,} times'}"
    found = found if most > 1 else f"{counted(empty, 'document has', 'documents have')} none"
    return f"{name!r} is not used as ids: {found}."


def _text_columns(table: Table, options: ColumnOptions, labels: frozenset[str], hint: str) -> _Texts:
    """The columns of texts: those given, those of the training, or those with usual names that are not `labels`."""
    given, like = options.text_column, options.like
    if isinstance(given, str) and options.title_column is None and like is not None and like.texts:
        # Another main text; of the titles and other fields beside it, those of the training.
        main = str(table.find(given, (), "text_column"))
        beside = zip(like.texts[:-1], like.fields[:-1], strict=True)
        kept = [(column, name) for column, name in beside if column in table.columns and column != main]
        columns, names = (tuple(part) for part in zip(*kept, (main, like.fields[-1]), strict=True))
        return _Texts(columns, names, exact=True)
    if given is not None:
        columns = tuple(str(table.find(name, (), "text_column")) for name in _given_texts(options))
        title = table.find(options.title_column, (), "title_column")
        columns = columns if title is None or title in columns else (title, *columns)
        same = like is not None and len(like.fields) == len(columns)
        return _Texts(columns, like.fields if like is not None and same else _field_names(columns), exact=True)
    if options.title_column is None and like is not None and like.texts:
        found = columns_of_training(table, like.texts, like.gave("text_column"), "text_column", main=like.texts[-1])
        if found:
            names = tuple(like.fields[like.texts.index(name)] for name in found)
            return _Texts(tuple(found.values()), names, exact=True, as_trained=True)
    text = table.find(None, TEXTS, "text_column", labels)
    title = table.find(options.title_column, TITLES, "title_column", labels)
    if text is None and title is not None:
        text, title = title, None
    if text is None:
        lengths = {name: sum(len(str(cell)) for cell in cells) for name, cells in table.columns.items()}
        longest = f" (the longest cells are in {max(lengths, key=lengths.__getitem__)!r})" if lengths else ""
        option = f"{settings_text(text_column='NAME')}{longest}{hint}"
        raise table.missing("There is no column of texts", option)
    sides, not_sides = [] if title is None else [title], {text, title, *labels}
    sides += [name for name in table.columns if name.strip().lower() in SIDE_FIELDS and name not in not_sides]
    columns = (*sides, text)
    return _Texts(columns, _field_names(columns), reason=_text_reason(table, text))


def text_fields(columns: Mapping[str, Sequence[Any]], trained: Mapping[str, str]) -> dict[str, str]:
    """The columns of texts of a table that is no file, and the fields that they are; empty where there are none.

    They are the only column; or those of the training, with the fields that they became (`trained`); or those with a
    usual name for texts or titles; or all of strings, but for ids, labels and splits.

    >>> text_fields({"id": [7, 8], "review": ["good", None], "author": ["A", "B"]}, {})
    {'review': 'review'}
    """
    if len(columns) == 1:
        return dict(zip(columns, columns, strict=True))
    if trained and trained.keys() <= columns.keys():
        return dict(trained)
    named = {name: name.strip().lower() for name in columns}
    if usual := {name: name for name, spelled in named.items() if spelled in TEXTS + TITLES}:
        return usual
    kinds = {name: {type(cell) for cell in cells} - {type(None)} for name, cells in columns.items()}
    others = IDS + SPLITS + tuple(LABELS)
    return {name: name for name, spelled in named.items() if kinds[name] == {str} and spelled not in others}


def _field_names(columns: Sequence[str]) -> tuple[str, ...]:
    """The field names of columns: their own; ``text`` for a main text with an unusual name."""
    *sides, text = columns
    return (*sides, text if text.lower() in TEXTS + TITLES or "text" in sides else "text")


def _of_training(table: Table, options: ColumnOptions, option: str) -> str | None:
    """The column of ids or splits that is given, or that was given in training and is in this table too.

    A column of ids need not have been given in training: one that was recognised there is one here, too.
    """
    given: str | None = options.id_column if option == "id_column" else options.split_column
    former = None if options.like is None else options.like.given.get(option)
    if former is None and options.like is not None and option == "id_column":
        former = options.like.identity
    return str(former) if given is None and former in table.columns else given


def _text_reason(table: Table, text: str) -> str:
    others = [name for name in table.columns if name != text and name.strip().lower() in TEXTS]
    also = f" {listed(others)} could be the text too: use {setting_name('text_column')} to choose." if others else ""
    return f"{text!r} is a usual name for texts.{also}"


def _only_texts(table: Table, text: str) -> Table:
    """Leave out, after reporting them, the rows whose text is not a string."""
    bad: set[int] = set()
    if table.problems.keep_blank:
        texts = ["" if value is None else value for value in table.columns[text]]
        table = replace(table, columns={**table.columns, text: texts})
    for row, value in enumerate(table.columns[text]):
        if not isinstance(value, str):
            given = "nothing" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"
            there = listed([name for name, values in table.columns.items() if values[row] is not None])
            table.problems.report(
                f"The document has no text: {text!r} holds {given} (the document has {there or 'nothing'}).",
                path=table.path,
                line=table.lines[row],
                remedy=f"Give it a text, or give the column of texts ({setting_name('text_column')}).",
            )
            bad.add(row)
    return table.without(bad) if bad else table


def _fields(table: Table, texts: _Texts) -> dict[str, list[str]]:
    main = table.columns[texts.text]
    fields: dict[str, list[str]] = {}
    for column, name in zip(texts.sides, texts.names[:-1], strict=True):
        values = [value if isinstance(value, str) else "" for value in table.columns[column]]
        repeated = all(whole.startswith(value) for whole, value in zip(main, values, strict=True))
        if texts.exact or not repeated:
            fields[name] = values
    return {**fields, texts.names[-1]: main}


def _ids(table: Table, identity: str | None) -> list[str]:
    if identity is None:
        return [str(line) for line in table.lines]
    values = table.columns[identity]
    return [str(line) if value in (None, "") else str(value) for value, line in zip(values, table.lines, strict=True)]
