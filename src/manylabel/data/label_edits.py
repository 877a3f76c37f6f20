"""Which cells of a table change when its documents get other labels; columns are added only where they are needed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from manylabel.data.columns import corpus_of_table
from manylabel.data.corpus import Corpus
from manylabel.data.label_cells import NO, YES, cell_pieces, mark_text
from manylabel.data.label_columns import NUMBERED
from manylabel.data.label_vocabulary import bare_address, corpus_addresses, is_address, made_address
from manylabel.data.layout import ANY_SEPARATOR, JOINING, NO_SEPARATOR, Layout
from manylabel.data.problems import Problems
from manylabel.data.spellings import plain_spelling
from manylabel.data.table import ColumnOptions, Table
from manylabel.exceptions import DataError
from manylabel.progress import remark, remarks_to
from manylabel.wording import Setting, settings_text

LABELS = "labels"
"""The column that is added to a table without labels."""


class OtherShapeError(DataError):
    """Labels that the columns of a table cannot hold."""


@dataclass(frozen=True, slots=True)
class LabelEdits:
    """The changes of a table's cells."""

    cells: dict[int, dict[str, Any]]
    """By document, the new content of its changed cells, by column."""
    added: dict[str, Any]
    """New columns at the end of the table, each with the content of the cells that `cells` does not name."""
    reading: str = ""
    """Options without which the changed table is not read as it should be; empty where none is needed."""

    def applied(self, columns: Mapping[str, Sequence[Any]], documents: int) -> dict[str, list[Any]]:
        """The columns of a table of so many documents with the changes."""
        changed = {name: list(cells) for name, cells in columns.items()}
        changed |= {name: [rest] * documents for name, rest in self.added.items()}
        for row, cells in self.cells.items():
            for name, content in cells.items():
                changed[name][row] = content
        return changed


def plan_edits(
    corpus: Corpus, labels: Sequence[Collection[str]], addresses: Mapping[str, str] | None = None
) -> LabelEdits:
    """The changes that give the documents of a table other labels, one collection per document in their order.

    `addresses` are those of labels that the corpus does not have, or has under another name.

    Columns of marks get other marks, and a label without a column gets a new one. In numbered columns, each with one
    label, labels move up to where others were removed, and more columns are added if needed. In other columns, labels
    are joined as in the other cells. `OtherShapeError` where that cannot be read again.
    """
    layout, columns = corpus.layout, corpus.columns
    assert layout is not None
    assert columns is not None
    spelled = _Spelled.of(corpus, layout, columns, addresses or {})
    labels = [[spelled.former.get(label, label) for label in one] for one in labels]
    marks = _Marks(layout, columns, spelled)
    names = _Names(layout, columns, spelled, corpus)
    cells: dict[int, dict[str, Any]] = {}
    for row, (old, new) in enumerate(zip(corpus.labels or [()] * len(corpus), labels, strict=True)):
        gone, more = set(old) - set(new), sorted(set(new) - set(old))
        if gone or more:
            cells[row] = marks.changed(row, gone, more)
            more = [label for label in more if label not in marks.columns_of]
            if names.columns or not marks.columns_of:
                cells[row] |= names.changed(row, gone, more)
            else:
                cells[row] |= {marks.new_column(label): marks.yes_anywhere for label in more}
    edits = LabelEdits({row: changed for row, changed in cells.items() if changed}, {**marks.added, **names.added})
    return replace(edits, reading=_options_to_read(corpus, edits, labels, spelled))


class _Spelled:
    """Labels, and how the file spells them: other spellings of merged labels, addresses and numbers of named ones.

    `former` has the name in the corpus of labels that were renamed, where the file has their addresses: its cells stay.
    """

    def __init__(self, label_of: dict[str, str], in_file: dict[str, str], former: dict[str, str], addresses: bool):
        self.label_of, self._in_file, self.former, self.in_addresses = label_of, in_file, former, addresses

    @classmethod
    def of(
        cls, corpus: Corpus, layout: Layout, columns: Mapping[str, Sequence[Any]], addresses: Mapping[str, str]
    ) -> _Spelled:
        found: Counter[str] = Counter()
        for name in layout.labels:
            found.update([name.strip()] if name in layout.marks else _pieces(columns[name], layout.separator))
        known = set(corpus.label_names)
        own = corpus_addresses(corpus)
        by_address = {address: label for label, address in own.items()}
        by_spelling = {plain_spelling(label): label for label in corpus.label_names}
        label_of: dict[str, str] = {}
        are_numbers = all(map(str.isdecimal, found)) and not known & found.keys()  # which a file beside the data names
        for name in found:
            label = name if name in known else by_address.get(bare_address(name), by_spelling.get(plain_spelling(name)))
            if label is None and are_numbers and int(name) < len(corpus.label_names):
                label = corpus.label_names[int(name)]
            label_of[name] = name if label is None else label
        in_file = {label_of[name]: name for name, _ in reversed(found.most_common())}
        former: dict[str, str] = {}
        in_addresses = layout.cells.startswith("addresses")
        if in_addresses or any(is_address(name) for name in found):
            in_file = {**addresses, **own, **in_file}
            owner = {address: label for label, address in in_file.items() if label in known}
            former = {name: owner[address] for name, address in addresses.items() if address in owner}
        return cls(label_of, in_file, former, in_addresses)

    def in_file(self, label: str) -> str:
        """The label as the file spells it."""
        name = self._in_file.get(label, label)
        if self.in_addresses and label not in self._in_file and not is_address(name):
            name = self._in_file[label] = made_address(label)
            remark(f"The label {label!r} has no address (URI). It is written as <{name}>.")
        self.label_of.setdefault(name, label)
        return name


def _pieces(cells: Iterable[Any], separator: str | None) -> list[str]:
    return [name for cell in cells if cell is not None for name in cell_pieces(str(cell), separator)]


class _Marks:
    """The columns whose name is a label and whose cells are marks."""

    def __init__(self, layout: Layout, columns: Mapping[str, Sequence[Any]], spelled: _Spelled) -> None:
        self.columns_of: dict[str, list[str]] = {}
        for name in layout.marks:
            self.columns_of.setdefault(spelled.label_of[name.strip()], []).append(name)
        self.added: dict[str, Any] = {}
        self._columns, self._header = columns, layout.header
        counts = {name: Counter(map(_Mark, columns[name])) for name in layout.marks}
        whole: Counter[_Mark] = sum(counts.values(), Counter())
        self.yes_anywhere, self._no_anywhere = _usual(whole, True, "1"), _usual(whole, False, "0")
        self._yes = {name: _usual(one, True, self.yes_anywhere) for name, one in counts.items()}
        self._no = {name: _usual(one, False, self._no_anywhere) for name, one in counts.items()}

    def changed(self, row: int, gone: Collection[str], more: Sequence[str]) -> dict[str, Any]:
        """The changed marks of a document."""
        cells = {name: self._no[name] for label in gone for name in self.columns_of.get(label, [])}
        cells = {name: mark for name, mark in cells.items() if mark_text(self._columns[name][row]) in YES}
        first = [self.columns_of[label][0] for label in more if label in self.columns_of]
        return cells | {name: self._yes[name] for name in first}

    def new_column(self, label: str) -> str:
        """The name of the column that a label without one gets."""
        if not self._header or label in self._columns:
            why = "the table has no header" if not self._header else "there is one of that name, which is not a label"
            raise OtherShapeError(f"The label {label!r} cannot have a column of its own, because {why}.")
        self.added[label] = self._no_anywhere
        return label


class _Mark:
    """The content of a cell of marks, equal where it is written alike (True and 1 are not)."""

    def __init__(self, value: Any) -> None:
        self.value, self.key = value, (type(value), value)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Mark) and self.key == other.key


def _usual(counts: Counter[_Mark], yes: bool, default: Any) -> Any:
    """The most frequent way to mark yes, or no: empty cells are a no."""
    wanted = YES if yes else NO | {""}
    return next((mark.value for mark, _ in counts.most_common() if mark_text(mark.value) in wanted), default)


class _Names:
    """The columns whose cells hold names of labels."""

    def __init__(self, layout: Layout, columns: Mapping[str, Sequence[Any]], spelled: _Spelled, corpus: Corpus) -> None:
        self.columns = [name for name in layout.labels if name not in layout.marks]
        self.added: dict[str, Any] = {}
        self._all, self._spelled, self._separator = columns, spelled, layout.separator
        matches = [NUMBERED.fullmatch(name.strip().lower()) for name in self.columns]
        stems = {None if match is None else match[1] for match in matches}
        self._numbered = layout.separator is None and len(stems) == 1 and None not in stems
        given = {} if corpus.reading is None else corpus.reading.given
        self._join = _joiner(layout, columns, self.columns, given.get("label_separator"))
        self._as_list = _list_form(layout, [str(cell) for name in self.columns for cell in columns[name] if cell])
        self._homes: dict[str, Counter[str]] | None = None

    def changed(self, row: int, gone: Collection[str], more: Sequence[str]) -> dict[str, Any]:
        """The changed cells of a document."""
        before = {name: self._cell(name, row) for name in [*self.columns, *self.added]}
        label_of = self._spelled.label_of
        after = {name: [one for one in pieces if label_of[one] not in gone] for name, pieces in before.items()}
        if self._numbered and any(len(after[name]) < len(before[name]) for name in before):
            filled = [pieces for pieces in after.values() if pieces]
            after = dict(zip(after, [*filled, *[[] for _ in range(len(after) - len(filled))]], strict=True))
        for label in more:
            after[self._place(label, after)].append(self._spelled.in_file(label))
        return {name: self._text(name, row, pieces) for name, pieces in after.items() if pieces != before.get(name)}

    def _cell(self, name: str, row: int) -> list[str]:
        return [] if name in self.added else _pieces([self._all[name][row]], self._separator)

    def _place(self, label: str, after: dict[str, list[str]]) -> str:
        """The column that a new label of a document goes to."""
        if not after:
            return self._new_column(LABELS, after)
        homes = list(after) if self._numbered else self._columns_with(label) or list(after)
        empty = [name for name in homes if not after[name]]
        if empty or not self._numbered:
            return [*empty, *homes][0]
        last = list(after)[-1]
        stem, number = re.fullmatch(r"(.*?)(\d+)\s*", last).groups()  # type: ignore[union-attr]
        return self._new_column(f"{stem}{int(number) + 1}", after)

    def _columns_with(self, label: str) -> list[str]:
        """The columns that have a label in other documents, the one with the most documents first."""
        if self._homes is None:
            self._homes = {}
            for name in self.columns:
                for piece in _pieces(self._all[name], self._separator):
                    self._homes.setdefault(self._spelled.label_of[piece], Counter())[name] += 1
        return [name for name, _ in self._homes.get(label, Counter()).most_common()]

    def _new_column(self, name: str, after: dict[str, list[str]]) -> str:
        if name in self._all:
            raise OtherShapeError(f"A new column {name!r} is needed, but there is one of that name.")
        self.added[name] = ""
        after[name] = []
        return name

    def _text(self, name: str, row: int, pieces: list[str]) -> Any:
        """The content of a cell with these labels, in the form of its former content or else of the other cells."""
        old = "" if name in self.added or self._all[name][row] is None else str(self._all[name][row]).strip()
        if old.startswith(("[", "{")) or (not old and self._as_list.is_usual):
            return self._as_list.text(pieces)
        if self._spelled.in_addresses:
            return " ".join(f"<{piece}>" for piece in pieces)
        text = self._join.join(pieces)
        is_alone = len(pieces) < 2 or self._separator == ANY_SEPARATOR
        separator = self._separator if is_alone else self._join.strip() or " "
        is_plain = cell_pieces(text, separator) == pieces
        if self._separator is None and len(pieces) == 1 and self._join == ";":
            is_plain = is_plain and not set(";|,") & set(text)  # a sign that no other cell holds would divide it
        return text if is_plain else self._as_list.text(pieces)


@dataclass(frozen=True, slots=True)
class _ListForm:
    """How lists of labels are written: in the notation of JSON or Python, or as Label Studio's choices."""

    is_usual: bool
    """Whether the label cells of the table hold lists."""
    python: bool = False
    choices: bool = False

    def text(self, names: list[str]) -> str:
        """A list of labels."""
        listed = repr(names) if self.python else json.dumps(names, ensure_ascii=False)
        return f'{{"choices": {listed}}}' if self.choices else listed


def _list_form(layout: Layout, cells: list[str]) -> _ListForm:
    lists = [cell.strip() for cell in cells if cell.strip().startswith(("[", "{")) and cell.strip() != "[]"]
    first = lists[0] if lists else ""
    return _ListForm(layout.cells == "lists", python=first.startswith("['"), choices=first.startswith("{"))


def _joiner(layout: Layout, columns: Mapping[str, Sequence[Any]], names: Sequence[str], given: str | None) -> str:
    """What joins the labels of a cell: the separator, with a blank after it where most cells have one.

    Where cells have several separators, it is the most frequent one.
    """
    separator = layout.separator
    cells = [cell for name in names for cell in columns[name] if isinstance(cell, str)]
    if separator is None:
        return "\n" if given == NO_SEPARATOR else ";"  # no label holds a line break, so that a list is written
    if separator == ANY_SEPARATOR:
        times = {sign: sum(sign in cell for cell in cells) for sign in JOINING}
        separator = max(times, key=times.__getitem__)
        if not times[separator]:
            return "; "
    if separator in (" ", " / "):
        return separator
    divided = [cell for cell in cells if separator in cell]
    return f"{separator} " if 2 * sum(f"{separator} " in cell for cell in divided) > len(divided) else separator


def _options_to_read(corpus: Corpus, edits: LabelEdits, labels: Sequence[Collection[str]], spelled: _Spelled) -> str:
    """The options with which the changed table is read as it should be, beyond those that the original needs.

    `OtherShapeError` where there are none.
    """
    layout, columns = corpus.layout, corpus.columns
    assert layout is not None
    assert columns is not None
    changed = edits.applied(columns, len(corpus))
    given = {} if corpus.reading is None else corpus.reading.given
    known = {one.name for one in fields(ColumnOptions)}
    options = ColumnOptions(**{name: value for name, value in given.items() if name in known})
    by_name = replace(options, label_column=[*layout.labels, *edits.added])
    separator = layout.separator or ";"
    quoted: dict[str, Setting] = {"label_separator": separator}
    named: dict[str, Setting] = {"label_column": (*layout.labels, *edits.added)}
    ways = [
        (options, {}),
        (replace(options, label_separator=separator), quoted),
        (by_name, named),
        (replace(by_name, label_separator=separator), {**named, **quoted}),
    ]
    wanted = [set(one) for one in labels]
    for way, more in ways:
        try:
            with remarks_to(None):
                table = Table(changed, list(corpus.lines or []), Path(corpus.source), Problems())
                read = corpus_of_table(table, way)
        except DataError:
            continue
        found = [{spelled.label_of.get(name, name) for name in one} for one in read.labels or [()] * len(read)]
        if found == wanted and list(read.fields.values()) == list(corpus.fields.values()):
            return settings_text(**more) if more else ""
    raise OtherShapeError("The table would not be read with these labels.")
