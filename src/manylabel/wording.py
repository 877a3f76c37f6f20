"""Numbers with their nouns, so that messages read "1 label" and "2 labels"."""

from __future__ import annotations

__all__ = ["counted", "there_are"]


def counted(count: int, one: str, several: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "label"), counted(1200, "label"), counted(2, "label is", "labels are")
    ('1 label', '1,200 labels', '2 labels are')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def there_are(count: int, one: str, several: str | None = None, adverb: str = "") -> str:
    """A number with its noun after "there is" or "there are".

    >>> there_are(1, "document"), there_are(3, "document", adverb="only")
    ('there is 1 document', 'there are only 3 documents')
    """
    return " ".join(filter(None, ["there is" if count == 1 else "there are", adverb, counted(count, one, several)]))


def shown(value: object, most: int = 200) -> str:
    """A value of a setting as a message shows it: its beginning where it is long.

    >>> shown("a"), shown([1, 2]), shown(16**5000)
    ("'a'", '[1, 2]', 'a very large number')
    """
    try:
        text = repr(value)
    except ValueError:  # Python does not print whole numbers of more than 4300 digits
        return "a very large number"
    except RecursionError:
        return "a deeply nested value"
    return text if len(text) <= most else f"{text[:most]}…"
