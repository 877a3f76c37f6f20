"""Input texts: documents as strings or fields, accents, and checks of the settings of `Vectorizer`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np

from manylabel.exceptions import DataError
from manylabel.parameters import Number

Text = str | Mapping[str, str]
"""A document: one string, or strings by field name."""
WHOLE = "*"
"""The name of the field that is the whole document, all its fields joined."""


def strings(texts: Iterable[Text], fields: Sequence[str] | None = None) -> list[str]:
    r"""The documents as strings: one per document, or with `fields` one per document and field in turn.

    Without `fields`, the fields of a document are joined by line breaks. With `fields`, a missing field is empty, and
    a document that is one string counts as the last field. The field "*" is the whole document.

    >>> strings(["one", {"title": "A", "body": "b"}])
    ['one', 'A\nb']
    >>> strings(["one", {"title": "A", "body": "b"}], ["title", "body"])
    ['', 'one', 'A', 'b']
    >>> strings(["one", {"title": "A", "body": "b"}], ["title", "*"])
    ['', 'one', 'A', 'A\nb']
    """
    if isinstance(texts, (str, bytes, Mapping)):
        raise DataError(
            f"A sequence of documents was expected, not a single {type(texts).__name__}.",
            remedy="Put the document in a list.",
        )
    documents = texts if isinstance(texts, list) else list(texts)
    if fields is None:
        if all(issubclass(kind, str) for kind in set(map(type, documents))):
            return cast("list[str]", documents)
        return [_joined(document, position) for position, document in enumerate(documents)]
    return [text for position, document in enumerate(documents) for text in _by_field(document, position, fields)]


def without_accents(text: str, how: str) -> str:
    """The text with accented letters replaced by plain ones.

    "unicode" removes the combining marks of the decomposed text (NFKD); "ascii" removes every character that ASCII
    does not have: scikit-learn's `strip_accents_unicode` and `strip_accents_ascii`.

    >>> without_accents("Señor Çelik, Łódź", "unicode"), without_accents("Señor Çelik, Łódź", "ascii")
    ('Senor Celik, Łodz', 'Senor Celik, odz')
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([character for character in decomposed if not unicodedata.combining(character)])


def is_pattern(value: object) -> bool:
    """Whether the value is "words", "letters", "auto" or a regular expression with at most one group."""
    if not isinstance(value, str):
        return False
    try:
        return value in ("words", "letters", "auto") or re.compile(value).groups <= 1
    except re.error:
        return False


def is_range(value: object) -> bool:
    """Whether the value is a pair of whole numbers, both at least 1, the smaller first."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    whole = Number(low=1, whole=True)
    return whole.allows(value[0]) and whole.allows(value[1]) and value[0] <= value[1]


def is_share(value: object) -> bool:
    """Whether the value is a float from 0.0 to 1.0; a whole number would be a number of documents."""
    return isinstance(value, float) and 0.0 <= value <= 1.0


def is_words(value: object) -> bool:
    """Whether the value is a list of strings."""
    return isinstance(value, (list, tuple, set, frozenset, np.ndarray)) and all(isinstance(word, str) for word in value)


def _joined(document: object, position: int) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        return "\n".join(_checked(document[name], position, name) for name in document)
    raise _not_a_text(document, position)


def _by_field(document: object, position: int, fields: Sequence[str]) -> list[str]:
    if isinstance(document, str):
        return [""] * (len(fields) - 1) + [document]
    if isinstance(document, Mapping):
        return [
            _joined(document, position) if name == WHOLE else _checked(document.get(name, ""), position, name)
            for name in fields
        ]
    raise _not_a_text(document, position)


def _checked(value: object, position: int, field: str) -> str:
    if isinstance(value, str):
        return value
    raise _not_a_text(value, position, field)


def _not_a_text(value: object, position: int, field: str | None = None) -> DataError:
    what = f"Document {position}" if field is None else f"Field {field!r} of document {position}"
    return DataError(
        f"{what} is {type(value).__name__} {value!r:.40}, not a text.",
        remedy="A document is a string, or a mapping from field names to strings (positions count from 0).",
    )
