"""Constraints on parameters: declared in the class, checked in `fit`.

>>> check_parameter("Threshold", "value", 3, Number(low=0, high=1))
Traceback (most recent call last):
...
manylabel.exceptions.ParameterError: Threshold: value must be a number from 0 to 1, not 3.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from manylabel.exceptions import ParameterError
from manylabel.wording import shown

LARGEST = 2**63 - 1
"""The largest whole number that arrays hold."""


class Constraint(Protocol):
    """A set of allowed values that can describe itself."""

    def allows(self, value: object) -> bool:
        """Whether the value is in the set."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Number:
    """A real (or whole) number in an interval; `open_low`, `open_high` leave an end out."""

    low: float | None = None
    high: float | None = None
    whole: bool = False
    open_low: bool = False
    open_high: bool = False

    def allows(self, value: object) -> bool:
        """Whether the value is a number of the interval."""
        kind = numbers.Integral if self.whole else numbers.Real
        if isinstance(value, int) and abs(value) > LARGEST:  # it would be no float
            return False
        if isinstance(value, bool) or not isinstance(value, kind):
            return False
        number = float(value)
        above = self.low is None or (number > self.low if self.open_low else number >= self.low)
        below = self.high is None or (number < self.high if self.open_high else number <= self.high)
        return above and below

    def __str__(self) -> str:
        """The interval in words.

        >>> print(Number(0, 1), Number(0, 1, open_low=True), Number(0, 1, open_high=True), sep="; ")
        a number from 0 to 1; a number above 0 and at most 1; a number of at least 0 and below 1
        """
        kind = "a whole number" if self.whole else "a number"
        if self.low is not None and self.high is not None and not self.open_low and not self.open_high:
            return f"{kind} from {_plain(self.low)} to {_plain(self.high)}"
        ends = []
        if self.low is not None:
            ends.append(f"{'above' if self.open_low else 'of at least'} {_plain(self.low)}")
        if self.high is not None:
            ends.append(f"{'below' if self.open_high else 'at most' if ends else 'of at most'} {_plain(self.high)}")
        return " ".join([kind, " and ".join(ends)]).strip()


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few values."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def allows(self, value: object) -> bool:
        """Whether the value is one of them."""
        return any(value is option or (type(value) is type(option) and value == option) for option in self.values)

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(value) for value in self.values)


@dataclass(frozen=True, slots=True)
class Satisfies:
    """Anything a test accepts, described in words."""

    words: str
    test: Callable[[Any], bool]

    def allows(self, value: object) -> bool:
        """Whether the test accepts the value."""
        return bool(self.test(value))

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class AnyOf:
    """What any of several constraints allows."""

    options: tuple[Constraint, ...]

    def __init__(self, *options: Constraint) -> None:
        object.__setattr__(self, "options", options)

    def allows(self, value: object) -> bool:
        """Whether one of the constraints allows the value."""
        return any(option.allows(value) for option in self.options)

    def __str__(self) -> str:
        return " or ".join(str(option) for option in self.options)


FLAG = Satisfies("True or False", lambda value: isinstance(value, (bool,)) or type(value).__name__ == "bool_")
SEED = AnyOf(OneOf(None), Number(low=0, whole=True))


def names_given(parameter: str, given: Iterable[Any]) -> list[Any]:
    """The names as a list; an error for one name alone, whose characters would be taken for names.

    >>> names_given("retire", ["trams"])
    ['trams']
    >>> names_given("retire", "trams")
    Traceback (most recent call last):
    ...
    manylabel.exceptions.ParameterError: retire must be a list of names, not 'trams'. For one name, give ['trams'].
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(
            f"{parameter} must be a list of names, not {shown(given)}. For one name, give [{shown(given)}]."
        )
    return list(given)


def check_parameter(owner: str, name: str, value: object, constraint: Constraint) -> None:
    """Raise `ParameterError` with a full sentence unless the constraint allows the value."""
    if constraint.allows(value):
        return
    offer = ""
    words = [option for option in _words(constraint) if isinstance(option, str)]
    if isinstance(value, str) and (near := difflib.get_close_matches(value, words, n=1, cutoff=0.5)):
        offer = f" Did you mean {near[0]!r}?"
    raise ParameterError(f"{owner}: {name} must be {constraint}, not {shown(value)}.{offer}")


def value_text(value: object) -> str:
    """A value as a table shows it.

    >>> value_text((1, 2)), value_text(None), value_text(0.5), value_text(True)
    ('1-2', 'none', '0.5', 'true')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return "-".join(map(value_text, value)) if all(isinstance(one, int) for one in value) else " ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _plain(bound: float) -> str:
    """A bound of an interval; a large whole number without an exponent, which `g` would round.

    >>> _plain(0.5), _plain(2**31 - 1), _plain(1e300)
    ('0.5', '2,147,483,647', '1e+300')
    """
    return f"{bound:,.0f}" if 1e6 <= bound < 1e15 and float(bound).is_integer() else f"{bound:g}"


def _words(constraint: Constraint) -> list[object]:
    if isinstance(constraint, OneOf):
        return list(constraint.values)
    if isinstance(constraint, AnyOf):
        return [word for option in constraint.options for word in _words(option)]
    return []
