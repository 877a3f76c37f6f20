"""Accents, and checks of the settings of `Vectorizer`."""

from __future__ import annotations

import re
import unicodedata

import numpy as np

from manylabel.features.patterns import backtracks
from manylabel.parameters import AnyOf, Number, Satisfies

LONGEST_RUN = 100


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
    """Whether the value is one of the named kinds of tokens, "auto" or a regular expression with at most one group."""
    if not isinstance(value, str):
        return False
    if value in ("words", "letters", "pairs", "marked", "auto"):
        return True
    try:
        return re.compile(value).groups <= 1 and not backtracks(value)
    except (re.error, RecursionError, OverflowError):
        return False


def is_range(value: object) -> bool:
    """Whether the value is a pair of whole numbers from 1 to `LONGEST_RUN`, the smaller first."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    whole = Number(low=1, high=LONGEST_RUN, whole=True)
    return whole.allows(value[0]) and whole.allows(value[1]) and value[0] <= value[1]


def is_share(value: object) -> bool:
    """Whether the value is a float from 0.0 to 1.0; a whole number would be a number of documents."""
    return isinstance(value, float) and 0.0 <= value <= 1.0


def is_words(value: object) -> bool:
    """Whether the value is a list of strings."""
    return isinstance(value, (list, tuple, set, frozenset, np.ndarray)) and all(isinstance(word, str) for word in value)


TOKENS = Satisfies(
    "'words', 'letters', 'pairs', 'marked', 'auto' or a regular expression with at most one group and no repetition "
    r"inside a repetition that backtracks (for a tokenizer of your own, join its tokens by blanks and use '\S+')",
    is_pattern,
)
LENGTHS = Satisfies("a pair of whole numbers (shortest, longest) from 1 to 100", is_range)
DOCUMENTS = AnyOf(Number(low=1, whole=True), Satisfies("a share from 0.0 to 1.0", is_share))
WORDS = Satisfies("a list of words", is_words)
