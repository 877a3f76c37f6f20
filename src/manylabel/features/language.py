"""The language of texts, as far as function words tell it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from manylabel.features.stop_words import LANGUAGES, stop_words

LEAST = 0.15
"""The share of function words from which texts are taken to be in their language; in prose it is about 0.4."""
TEXTS, CHARACTERS = 1000, 400
"""So many texts are looked at, evenly spread, and so much of each."""


def guess_language(texts: Sequence[str]) -> str | None:
    """The language whose function words fill the texts, or None where no known language's do.

    >>> guess_language(["The bus was late again and nobody told us why."])
    'english'
    >>> guess_language(["Der Bus kam wieder zu spät, und niemand sagte uns, warum."])
    'german'
    >>> guess_language(["bus late hole road lamp"]) is None
    True
    """
    found = Counter(
        word
        for text in texts[:: -(-len(texts) // TEXTS) or 1]
        for word in re.findall(r"\b\w\w+\b", text[:CHARACTERS].lower())
    )
    of_language = {one: sum(found[word] for word in stop_words(one)) for one in LANGUAGES}
    best = max(LANGUAGES, key=lambda one: of_language[one])
    return best if of_language[best] >= LEAST * max(found.total(), 1) else None
