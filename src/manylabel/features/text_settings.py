"""What the settings of a `Vectorizer` may be, where no range of numbers and no list of names says it."""

from __future__ import annotations

import re

import numpy as np

from manylabel.parameters import Number


def is_pattern(value: object) -> bool:
    """Whether this is a name of a way to split words, or a regular expression with at most one group."""
    if not isinstance(value, str):
        return False
    try:
        return value in ("words", "letters") or re.compile(value).groups <= 1
    except re.error:
        return False


def is_range(value: object) -> bool:
    """Whether these are two whole numbers from 1 up, the shorter first."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        return False
    whole = Number(low=1, whole=True)
    return whole.allows(value[0]) and whole.allows(value[1]) and value[0] <= value[1]


def is_share(value: object) -> bool:
    """Whether this is a share, told from a number of documents by being a float."""
    return isinstance(value, float) and 0.0 <= value <= 1.0


def is_words(value: object) -> bool:
    """Whether this is a list of strings."""
    return isinstance(value, (list, tuple, set, frozenset, np.ndarray)) and all(isinstance(word, str) for word in value)
