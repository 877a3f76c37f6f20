"""What a document may look like when it comes in, and the changes made to its letters before it is split."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from manylabel.exceptions import DataError

Text = str | Mapping[str, str]
WHOLE = "*"
"""The field that stands for the whole document, all its fields joined."""


def strings(texts: Iterable[Text], fields: Sequence[str] | None = None) -> list[str]:
    r"""The documents as strings: one a document, or with `fields` one for each document and field in turn.

    Without `fields`, the parts of a document that comes in fields are joined by a line end. With `fields`, a
    missing field is empty, and a document that is one string counts as the last field. The field "*" is the
    whole document.

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
    return [part for position, document in enumerate(documents) for part in _parts(document, position, fields)]


def without_accents(text: str, how: str) -> str:
    """The text with accented letters replaced by plain ones.

    "unicode" takes the combining marks off the decomposed text (NFKD), "ascii" drops whatever ASCII has no
    sign for: scikit-learn's `strip_accents_unicode` and `strip_accents_ascii`.

    >>> without_accents("Señor Çelik, Łódź", "unicode"), without_accents("Señor Çelik, Łódź", "ascii")
    ('Senor Celik, Łodz', 'Senor Celik, odz')
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([sign for sign in decomposed if not unicodedata.combining(sign)])


def _joined(document: object, position: int) -> str:
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        return "\n".join(_checked(document[name], position, name) for name in document)
    raise _not_a_text(document, position)


def _parts(document: object, position: int, fields: Sequence[str]) -> list[str]:
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
