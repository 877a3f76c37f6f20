"""The labels in the cells of a table: what separates them, lists, addresses, and columns of marks such as 0 and 1."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from manylabel.data.layout import ANY_OF, ANY_SEPARATOR, JOINING, NO_SEPARATOR
from manylabel.data.spellings import plain_spelling
from manylabel.exceptions import DataError
from manylabel.wording import counted, setting_name, settings_text

if TYPE_CHECKING:
    from manylabel.data.table import Table

_ADDRESSES = re.compile(r"<[^<>\s]*+>(\s++<[^<>\s]*+>)*+$")
_BEGIN_OF_ADDRESS = re.compile(r"<[a-z][a-z0-9+.-]*+://", re.IGNORECASE)
_OPEN_ADDRESS = re.compile(r"<[a-z][a-z0-9+.-]*+://[^<>\s]*+(?!>)", re.IGNORECASE)
_BARE_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*+://[^\s<>]*[^\s<>;,|]", re.IGNORECASE)
_PIECE = re.compile(
    r"""\s*+('[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?[0-9]{1,18}+)\s*+(,|\Z)""", re.DOTALL
)
"""One item of a list in Python's notation, a string or a number, and the comma after it."""
_CHOICES = re.compile(r'\{\s*+"choices"\s*+:\s*+(\[.*\])\s*+\}', re.DOTALL)
"""Several labels of a document as Label Studio exports them to CSV."""
_LISTS = ("[", '{"choices"')
"""How cells begin that hold a list of labels."""
_JOINING = re.compile("|".join(map(re.escape, JOINING)))
YES = frozenset({"1", "1.0", "true", "yes", "y", "x", "ja", "oui", "wahr", "vrai"})
NO = frozenset({"0", "0.0", "false", "no", "n", "nein", "non", "falsch", "faux"})
MARKS = YES | NO
NUMBERS_AND_TRUTH = frozenset({"1", "1.0", "true", "0", "0.0", "false", "wahr", "falsch", "vrai", "faux"})
"""Marks that are no words of a label; spreadsheets write true and false in their own language."""


class AmbiguousSeparatorError(DataError):
    """Cells with commas or blanks (`sign`) that may hold one label or several."""

    def __init__(self, sign: str, cells: Iterable[str]) -> None:
        self.sign = sign
        super().__init__(f"Is {min(cell for cell in cells if sign in cell)!r} one label or several?")


def is_addresses(cells: Iterable[str]) -> bool:
    """Whether the cells that are not empty hold only addresses in angle brackets, and at least one does.

    >>> is_addresses(["<http://example.org/1> <http://example.org/2>", ""]), is_addresses(["a < b"]), is_addresses([""])
    (True, False, False)
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(_ADDRESSES.match(cell) for cell in filled)


def open_address(cell: str) -> str | None:
    """The first address of a cell of addresses whose angle bracket is not closed; None where there is none.

    >>> open_address("<http://x.org/1> <http://x.org/2"), open_address("<http://x.org/1>"), open_address("a <http://x")
    ('<http://x.org/2', None, None)
    """
    found = _OPEN_ADDRESS.search(cell) if cell.lstrip().startswith("<") else None
    return None if found is None else found[0]


def begin_as_addresses(cells: Iterable[str]) -> bool:
    """Whether the cells that are not empty begin with an address in an angle bracket, which may not be closed.

    >>> begin_as_addresses(["<http://x.org/1>", "<http://x.org/2", ""]), begin_as_addresses(["<b>"])
    (True, False)
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and all(_BEGIN_OF_ADDRESS.match(cell) for cell in filled)


def is_bare_addresses(cells: Iterable[str]) -> bool:
    """Whether the cells that are not empty hold only addresses without angle brackets, with blanks between them.

    >>> is_bare_addresses(["http://x.org/1 http://x.org/2", "http://x.org/3"]), is_bare_addresses(["a http://x.org/1"])
    (True, False)
    >>> is_bare_addresses(["http://x.org/1;http://x.org/2"]), is_bare_addresses(["http://x.org/1, http://x.org/2"])
    (False, False)
    """
    words = [word for cell in cells for word in cell.split()]
    return bool(words) and all(word.count("://") == 1 and _BARE_ADDRESS.fullmatch(word) for word in words)


def label_separator(cells: Iterable[str]) -> str | None:
    """The separator of the labels of a cell; None: each cell is one label.

    It is ``;`` or ``|`` if one occurs in any cell. It is a comma if most cells with commas share a name with a cell
    that has another number of names, or if no comma is followed by a blank. Other commas may belong to a name such as
    "Smith, John" and raise `AmbiguousSeparatorError`. Where none of these occurs, it is a blank if splitting at blanks
    leaves fewer distinct names than there are distinct cells and every name of most cells with blanks also occurs in a
    cell with another number of names: "real estate" stays one label while "acq earn", "earn", "acq" become two. With
    fewer names alone, as of "new request", "new issue", "old request", "old issue" and "new", it is ambiguous too.

    >>> label_separator(["sport; politics", "art, music"])
    ';'
    >>> label_separator(["sport, politics", "sport", "politics"])
    ','
    >>> label_separator(["real estate", "sport"]) is None
    True
    >>> label_separator(["acq earn", "earn", "acq"])
    ' '
    """
    distinct = {cell.strip() for cell in cells if cell.strip()}
    for candidate in (";", "|"):
        if any(candidate in cell for cell in distinct):
            return candidate
    if any("," in cell for cell in distinct):
        return _comma(distinct)
    return _blank(distinct)


def _blank(distinct: set[str]) -> str | None:
    """The blank, where it separates labels beyond doubt; None where every cell is one label."""
    pieces = {cell: cell.split() for cell in distinct}
    if len({name for names in pieces.values() for name in names}) >= len(distinct):
        return None
    sizes = _sizes(pieces.values())
    several = [names for names in pieces.values() if len(names) > 1]
    if 2 * sum(all(len(sizes[name]) > 1 for name in names) for names in several) > len(several):
        return " "
    raise AmbiguousSeparatorError(" ", distinct)


def _sizes(cells: Iterable[list[str]]) -> dict[str, set[int]]:
    """The numbers of names of the cells that each name occurs in."""
    sizes: dict[str, set[int]] = {}
    for names in cells:
        for name in names:
            sizes.setdefault(name, set()).add(len(names))
    return sizes


def _comma(distinct: set[str]) -> str:
    """The comma, where it separates labels beyond doubt."""
    if not any(re.search(r",\s", cell) for cell in distinct):
        return ","
    pieces = {cell: [piece.strip() for piece in cell.split(",") if piece.strip()] for cell in distinct}
    sizes = _sizes(pieces.values())
    several = [names for names in pieces.values() if len(names) > 1]
    shared = sum(any(len(sizes[name]) > 1 for name in names) for names in several)
    if 2 * shared > len(several):
        return ","
    raise AmbiguousSeparatorError(",", distinct)


def split_cell(cell: str, separator: str | None) -> list[str]:
    """The labels of one cell, sorted, each once; a list in JSON or Python notation is read as one.

    >>> split_cell("b; a;b;", ";"), split_cell('["a, b"]', ","), split_cell("", ";")
    (['a', 'b'], ['a, b'], [])
    >>> split_cell('{"choices": ["a, b", "c"]}', ",")
    ['a, b', 'c']
    """
    return sorted(cell_pieces(cell, separator))


def cell_pieces(cell: str, separator: str | None) -> list[str]:
    """The labels of one cell in their order, each once.

    >>> cell_pieces("b; a;b;", ";"), cell_pieces("it/mail, vpn / print|vpn", "any")
    (['b', 'a'], ['it/mail', 'vpn', 'print'])
    """
    cell = cell.strip()
    if (choices := _CHOICES.fullmatch(cell)) is not None:
        cell = choices[1]
    if cell.startswith("[") and cell.endswith("]"):
        names = _listed(cell)
        if names is not None:
            return list(dict.fromkeys(names))
    if _ADDRESSES.match(cell):
        return list(dict.fromkeys(address.strip("<>") for address in cell.split()))
    if separator == ANY_SEPARATOR:
        pieces = _JOINING.split(cell)
    else:
        pieces = [cell] if separator is None else cell.split(None if separator == " " else separator)
    return list(dict.fromkeys(name for piece in pieces if (name := piece.strip())))


def _listed(cell: str) -> list[str] | None:
    """The items of a list of strings and whole numbers in JSON or Python notation; None if it is another text.

    >>> _listed("['a', 'b, c', 3,]"), _listed("[a]"), _listed("[]")
    (['a', 'b, c', '3'], None, [])
    """
    try:
        values = json.loads(cell)
    except (ValueError, RecursionError):
        values = _python_list(cell)
    if isinstance(values, list) and all(isinstance(value, (str, int)) for value in values):
        return [text for value in values if (text := str(value).strip())]
    return None


def _python_list(cell: str) -> list[str | int] | None:
    """The items of ``['a', 3]``, found in one pass; a parser of all of Python takes a hundred times the memory."""
    inside, at = cell[1:-1].strip(), 0
    values: list[str | int] = []
    while at < len(inside):
        match = _PIECE.match(inside, at)
        if match is None:
            return None
        item, at = match[1], match.end()
        if item[0] in "'\"" and "\\" not in item:
            values.append(item[1:-1])
            continue
        try:
            values.append(ast.literal_eval(item))  # one string with escapes, or one number
        except (ValueError, SyntaxError):
            return None
    return values


def separator_of(table: Table, columns: list[str], given: str | None) -> tuple[str | None, str]:
    """What separates the labels in the cells of some columns, and the reason in one sentence."""
    if given is not None:
        if given == ANY_SEPARATOR:
            return given, f"Labels are split at {ANY_OF}, as given."
        return (None, "Every cell is one label, as given.") if given == NO_SEPARATOR else (given, "")
    texts = [cell for cell in _strings(table, columns) if not cell.startswith((*_LISTS, "<"))]
    if not texts:
        kind = cell_kind(table, columns)
        return None, "Every cell is one label." if kind == "names" else f"The label cells hold {kind}."
    if any(name.strip().lower() == "subject_uris" for name in columns):
        return " ", "Annif's column 'subject_uris' separates addresses by blanks."
    if is_bare_addresses(texts):
        return " ", "The label cells hold addresses, separated by blanks."
    try:
        separator = label_separator(texts)
    except AmbiguousSeparatorError as error:
        what = "blanks" if error.sign == " " else "commas"
        hold = "Column {} holds" if len(columns) == 1 else "Columns {} hold"
        raise DataError(
            f"{hold.format(', '.join(map(repr, columns)))} {what}. {error.problem}",
            path=table.path,
            remedy=f"Use {settings_text(label_separator=error.sign)} to split at {what}, or "
            f"{settings_text(label_separator=NO_SEPARATOR)} to read every cell as one label.",
        ) from None
    if separator is None:
        return None, "No label cell holds a separator, so every cell is one label."
    count = sum(separator in text.strip() for text in texts)
    what = "a blank" if separator == " " else repr(separator)
    none = settings_text(label_separator=NO_SEPARATOR)
    other = "" if separator == " " else f" Use {none} if it belongs to the names."
    return separator, f"Of {counted(len(texts), 'label cell')} {count:,} hold {what}, which separates labels.{other}"


def joined_labels(names: set[str]) -> list[str]:
    """The labels that are other labels with a sign between them which did not separate them.

    >>> joined_labels({"VPN", "mail", "vpn, Mail", "mail / VPN", "Smith, John", "it", "it/mail"})
    ['mail / VPN', 'vpn, Mail']

    A slash counts only between blanks: in "it/mail" it is a path of a hierarchy.
    """
    known = {plain_spelling(name) for name in names}
    return sorted(
        name
        for name in names
        if any(sign in name and {plain_spelling(one) for one in name.split(sign)} <= known for sign in JOINING)
    )


def cell_kind(table: Table, columns: list[str]) -> str:
    """What the cells of label columns hold, in words: names, lists, or addresses in angle brackets."""
    cells = _strings(table, columns)
    if is_addresses(cells):
        return "addresses in angle brackets"
    if any(cell.strip() and not cell.startswith(_LISTS) for cell in cells):
        return "names"
    holds_lists = any(isinstance(cell, list) for name in columns for cell in table.columns[name])
    return "lists" if holds_lists or any(cell.startswith(_LISTS) for cell in cells) else "names"


def _strings(table: Table, columns: list[str]) -> list[str]:
    return [cell for name in columns for cell in table.columns[name] if isinstance(cell, str)]


def is_mark_column(values: list[Any], *, strict: bool = False) -> bool:
    """Whether at least half of the filled cells of a column are marks: 0 and 1, yes and no, true and false, or x.

    With `strict` every cell must be filled, with 0 and 1 or true and false.
    """
    texts = [mark_text(value) for value in values]
    if strict:
        return bool(texts) and all(text in NUMBERS_AND_TRUTH for text in texts)
    found = Counter(text in MARKS for text in texts if text)
    return found[True] >= max(found[False], 1)


def mark_text(value: Any) -> str:
    """A mark in lower case without blanks around it; empty for None."""
    return "" if value is None else str(value).strip().lower()


def bad_marks(table: Table, name: str) -> set[int]:
    """The rows of a column of marks that hold something else, after reporting them."""
    bad: set[int] = set()
    for row, value in enumerate(table.columns[name]):
        if mark_text(value) not in MARKS and mark_text(value):
            table.problems.report(
                f"Column {name!r} holds {value!r} instead of 0 or 1.",
                path=table.path,
                line=table.lines[row],
                remedy=f"Correct the value, or leave the column out of {setting_name('label_column')}.",
            )
            bad.add(row)
    return bad


def bad_cells(table: Table, name: str) -> set[int]:
    """The rows of a column of label names whose cell cannot be read, after reporting them."""
    bad: set[int] = set()
    for row, cell in enumerate(table.columns[name]):
        names = names_of_cell(cell, None)
        if isinstance(names, str):
            table.problems.report(
                names,
                path=table.path,
                line=table.lines[row],
                remedy=f"Give {name!r} as a list of strings, or as one string.",
            )
            bad.add(row)
    return bad


def names_of_cell(cell: Any, separator: str | None) -> list[str] | str:
    """The labels of a cell, or a sentence about why it holds none."""
    if cell is None:
        return []
    if isinstance(cell, dict) and cell.keys() == {"choices"}:  # Label Studio
        cell = cell["choices"]
    if isinstance(cell, str):
        return split_cell(cell, separator)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return [str(cell)]
    if not isinstance(cell, list):
        return f"The labels are {type(cell).__name__} {str(cell)[:40]!r}, not a list of strings."
    names: set[str] = set()
    for item in cell:
        value = (item.get("label") or item.get("uri")) if isinstance(item, dict) else item
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            return f"The label {str(item)[:40]!r} is not a string."
        names.add(str(value).strip())
    return sorted(names - {""})
