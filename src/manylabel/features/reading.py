"""How texts are read where the settings leave the choice to the texts (`Reading`)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from manylabel.exceptions import ManylabelWarning, ParameterError, UnknownNameError
from manylabel.features.languages import RECOGNISED, guess_language
from manylabel.features.scripts import MAX_CHARACTERS, PATTERNS, guess_tokens, has_markup, spread, without_markup
from manylabel.features.terms import stemmer_languages
from manylabel.wording import settings_text

GUESS = "auto"
"""The value of `stemmer`, `tokens` and `markup` that chooses by the training texts."""
CHOSEN_BY_TEXTS: Mapping[str, Any] = {"tokens": GUESS, "markup": GUESS}
"""The settings with which classifiers and commands read texts, unless a method or the user sets them."""
MAX_LOST = 0.02
"""The largest share of letters other than a to z that ``tokens="letters"`` drops without a warning."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was chosen by the training texts: the tokens, the stemmer (None: no stems), and whether HTML is removed.

    >>> Reading.of(["<p>The bus was late and it was cold</p>"], tokens="auto", stemmer="auto", markup="auto")
    Reading(tokens='words', stemmer='english', strips_markup=True)
    """

    tokens: str = "words"
    stemmer: str | None = None
    strips_markup: bool = False

    @classmethod
    def of(cls, texts: Sequence[str], *, tokens: str, stemmer: str | None, markup: str, n_fields: int = 1) -> Self:
        """The settings, each "auto" replaced by what suits the texts; a document has `n_fields` of them in turn."""
        strips_markup = has_markup(texts, n_fields) if markup == GUESS else markup == "strip"
        sample = spread(texts)
        if strips_markup:
            sample = [without_markup(text) for text in sample]
        if tokens == GUESS:
            tokens = guess_tokens(sample)
        elif tokens == "letters":
            _warn_of_other_letters(sample)
        if stemmer == GUESS:
            language = guess_language(sample)
            stemmer = language if language in stemmer_languages() else None
        return cls(tokens, stemmer, strips_markup)

    def phrases(self) -> list[str]:
        """What is unusual about the reading, in words.

        >>> Reading("pairs", strips_markup=True).phrases()
        ['pairs of characters', 'HTML removed']
        """
        stems = [] if self.stemmer is None else [f"{self.stemmer.title()} stems"]
        tokens = {"pairs": ["pairs of characters"], "marked": ["words with vowel signs"]}.get(self.tokens, [])
        return stems + tokens + (["HTML removed"] if self.strips_markup else [])

    def learned_state(self) -> dict[str, Any]:
        """The choices as plain data; `restored` reads them."""
        return {"tokens_": self.tokens, "stemmer_": self.stemmer, "strips_markup_": self.strips_markup}

    @classmethod
    def restored(cls, state: Mapping[str, Any], *, tokens: str, stemmer: str | None, markup: str) -> Self:
        """The settings, each "auto" replaced by what `learned_state` returned; unknown values are an error."""
        state = {**cls().learned_state(), **state}
        chosen, language = state["tokens_"], state["stemmer_"]
        if tokens == GUESS and chosen not in ("words", *PATTERNS):
            raise ParameterError(f"Vectorizer: the stored tokens {chosen!r:.60} are not known.")
        if stemmer == GUESS and language not in (None, *RECOGNISED):
            raise UnknownNameError("language", str(language), RECOGNISED)
        return cls(
            str(chosen) if tokens == GUESS else tokens,
            language if stemmer == GUESS else stemmer,
            bool(state["strips_markup_"]) if markup == GUESS else markup == "strip",
        )


def _warn_of_other_letters(texts: Sequence[str]) -> None:
    """Warn if ``tokens="letters"`` would drop letters of the texts."""
    sample = "".join(text[:MAX_CHARACTERS] for text in texts).lower()
    letters = [] if sample.isascii() else re.findall(r"[^\W\d_]", sample)
    lost = sum(not letter.isascii() for letter in letters)
    if lost > MAX_LOST * len(letters):
        warnings.warn(
            f"tokens = 'letters' reads only the letters a to z, and {100 * lost / len(letters):.0f} % of the letters "
            f"here are others. Use {settings_text(**{'features.tokens': 'auto'})}.",
            ManylabelWarning,
            stacklevel=2,
        )
