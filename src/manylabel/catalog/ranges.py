"""Which values of a setting are worth trying: what ``manylabel tune`` searches.

A row of the catalogue names settings and their ranges (`Method.search`). A range turns a place from 0 to 1 into a
value, so that places spread evenly give values spread evenly: over the logarithm, for numbers whose size matters.

    >>> Log(0.01, 100).at(0.5), Whole(5, 80).at(0.5), Uniform(0, 1).at(0.25), Choice("a", "b").at(0.5)
    (1.0, 20, 0.25, 'b')
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from manylabel.parameters import value_text


class Range(Protocol):
    """A set of values with an order to go through them."""

    def at(self, place: float) -> Any:
        """The value at a place, 0 ≤ place < 1."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Log:
    """Numbers from `low` to `high`, even over their logarithm; two digits, so that a recipe can be read."""

    low: float
    high: float

    def at(self, place: float) -> float:
        """The value ``low (high / low)^place``, to two digits."""
        value = float(f"{self.low * (self.high / self.low) ** place:.1e}")
        return min(max(value, self.low), self.high)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g} (log)"


@dataclass(frozen=True, slots=True)
class Uniform:
    """Numbers from `low` to `high`, evenly spread; two decimals."""

    low: float
    high: float

    def at(self, place: float) -> float:
        """The value ``low + place (high − low)``, to two decimals."""
        return min(max(round(self.low + place * (self.high - self.low), 2), self.low), self.high)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole numbers from `low` (1 or more) to `high`, even over their logarithm; two digits from a hundred on."""

    low: int
    high: int

    def at(self, place: float) -> int:
        """The value ``low (high / low)^place``, rounded."""
        value = self.low * (self.high / self.low) ** place
        digits = 1 - math.floor(math.log10(value))
        return int(min(max(round(value, min(digits, 0)), self.low), self.high))

    def __str__(self) -> str:
        return f"{self.low:,} to {self.high:,} (log)"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few values."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def at(self, place: float) -> Any:
        """The value in whose equal share of 0 to 1 the place lies."""
        return self.values[min(int(place * len(self.values)), len(self.values) - 1)]

    def __str__(self) -> str:
        return ", ".join(map(value_text, self.values))


Search = Mapping[str, Range]
"""Ranges by setting, written ``section.key``."""

WORDS: Search = {
    "features.ngram_range": Choice((1, 1), (1, 2)),
    "features.stemmer": Choice(None, "auto"),
    "features.min_df": Choice(1, 2, 3),
}
FEWER_TERMS: Search = {"selection.k": Whole(500, 50_000)}
FALLBACK: Search = {"decision.fallback": Choice("none", "argmax")}
SHRINKAGE: Search = {"decision.shrinkage": Choice(0.0, 2.0, 5.0, 10.0, 20.0), **FALLBACK}
LINEAR: Search = {**WORDS, "weighting.tf": Choice("log", "binary"), "model.C": Log(0.05, 20)}
COSINE: Search = {**WORDS, "weighting.tf": Choice("log", "binary"), "weighting.idf": Choice("plain", "smooth")}
