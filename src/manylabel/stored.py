"""What estimators store in model files: the type, shape and range of every learned attribute.

Every estimator declares its learned attributes in `learned`. A state that was read from a file is compared with the
declaration before any of it is used, so that a forged file cannot hand a kernel numbers out of bounds or types it does
not expect. Sizes have names: the same name stands for the same number wherever it occurs in one estimator.

>>> declared = {"order_": wholes("labels", below="labels"), "weights_": reals("labels", 2)}
>>> check_state("Demo", declared, {"order_": np.array([1, 0]), "weights_": np.zeros((2, 2))})
{'labels': 2}
>>> check_state("Demo", declared, {"order_": np.array([1, 7]), "weights_": np.zeros((2, 2))})
Traceback (most recent call last):
...
ValueError: Demo.order_ holds numbers of 2 and more
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from itertools import islice
from operator import lt
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from manylabel.estimator import Estimator

Size: TypeAlias = str | int | None
"""A number, a name that stands for one number within an estimator, or None for any number."""
Sizes: TypeAlias = dict[str, int]
MOST = 1 << 40
"""The largest size."""
CHECKED: ContextVar[dict[int, Sizes] | None] = ContextVar("CHECKED", default=None)
"""While a model is read, the sizes of its estimators that were checked, by identity: none is checked twice."""


class Stored(Protocol):
    """A declaration of a learned attribute."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """What is wrong with a value, as the end of a sentence; None if nothing is. New sizes are added to `sizes`."""


def check_state(owner: str, learned: Mapping[str, Stored], state: Mapping[str, Any]) -> Sizes:
    """The named sizes of a state; `ValueError` unless it has the declared attributes and each is as declared."""
    if unknown := state.keys() - learned.keys():
        raise ValueError(f"{owner}.{min(unknown)} is not a learned attribute")
    sizes: Sizes = {}
    if (problem := _wrong_field(learned, state, sizes)) is not None:
        raise ValueError(f"{owner}.{problem}")
    return sizes


def _wrong_field(declared: Mapping[str, Stored], values: Mapping[str, Any], sizes: Sizes) -> str | None:
    """The first declared field that is missing or not as declared, and what is wrong with it; None if there is none."""
    for name, stored in declared.items():
        if name not in values:
            if not isinstance(stored, Sometimes) or stored.beside in values:
                return f"{name} is missing"
        elif (problem := stored.problem(values[name], sizes)) is not None:
            return f"{name} {problem}"
    return None


def _sized(actual: tuple[int, ...], wanted: tuple[Size, ...], sizes: Sizes) -> str | None:
    """What is wrong with a shape."""
    if len(actual) != len(wanted):
        return f"has {len(actual)} dimensions instead of {len(wanted)}"
    for number, size in zip(actual, wanted, strict=True):
        expected = sizes.setdefault(size, number) if isinstance(size, str) else size
        if expected is not None and number != expected:
            return f"has the size {number} instead of {expected}{f' ({size})' if isinstance(size, str) else ''}"
    return None


class Array:
    """An array of one of some types; where they are set, its numbers are finite, at least `low`, and below `below`."""

    def __init__(
        self, kinds: tuple[str, ...], sizes: tuple[Size, ...], low: int | None = None, below: Size | None = None
    ) -> None:
        self.kinds, self.sizes, self.low, self.below = kinds, sizes, low, below

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, np.ndarray) or value.dtype.str[1:] not in self.kinds:
            return f"is not an array of {' or '.join(self.kinds)}"
        if (wrong := _sized(value.shape, self.sizes, sizes)) is not None:
            return wrong
        below = sizes[self.below] if isinstance(self.below, str) else self.below
        if value.size and self.low is not None and not (value.min() >= self.low and value.max() < np.inf):
            return f"holds numbers below {self.low} or beyond all bounds"
        if value.size and below is not None and value.max() >= below:
            return f"holds numbers of {below} and more"
        return None


def reals(*sizes: Size) -> Array:
    """An array of double-precision numbers."""
    return Array(("f8",), sizes)


def finite_reals(*sizes: Size) -> Array:
    """An array of finite double-precision numbers of at least −2⁶²."""
    return Array(("f8",), sizes, low=-(1 << 62))


def amounts(*sizes: Size) -> Array:
    """An array of finite double-precision numbers of at least 0."""
    return Array(("f8",), sizes, low=0)


def singles(*sizes: Size) -> Array:
    """An array of single- or double-precision numbers."""
    return Array(("f4", "f8"), sizes)


def wholes(*sizes: Size, low: int | None = 0, below: Size | None = None, bits: int = 64) -> Array:
    """An array of whole numbers."""
    return Array((f"i{bits // 8}",), sizes, low, below)


def flags(*sizes: Size) -> Array:
    """An array of truth values."""
    return Array(("b1",), sizes)


class Matrix:
    """A sparse matrix; its indices were checked when it was read. Its values are finite and at least `low`, if set."""

    def __init__(self, rows: Size, columns: Size, kinds: tuple[str, ...] = ("f8",), low: int | None = None) -> None:
        self.rows, self.columns, self.kinds, self.low = rows, columns, kinds, low

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, sparse.csr_array) or value.dtype.str[1:] not in self.kinds:
            return f"is not a sparse matrix of {' or '.join(self.kinds)}"
        if (wrong := Array(self.kinds, (None,), self.low).problem(value.data, {})) is not None:
            return wrong
        return _sized(value.shape, (self.rows, self.columns), sizes)


class Forest:
    """The parent of each node, −1 for a root; no node is its own ancestor."""

    def __init__(self, nodes: Size) -> None:
        self.nodes = nodes

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if (wrong := wholes(self.nodes, low=-1).problem(value, sizes)) is not None:
            return wrong
        if len(value) and value.max() >= len(value):
            return "names a parent that is not there"
        above = value
        for _ in range(len(value).bit_length()):  # each round doubles the distance of the ancestor
            above = np.where(above >= 0, above[above], -1)
        return "makes a node its own ancestor" if (above >= 0).any() else None


class Starts:
    """Where the part of each of some things begins in arrays that hold all parts, and in the end their length.

    No part is empty where they are `filled`.
    """

    def __init__(self, things: str, length: str, filled: bool = False) -> None:
        self.things, self.length, self.filled = things, length, filled

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if (wrong := wholes(None).problem(value, sizes)) is not None:
            return wrong
        if (wrong := _sized((len(value) - 1,), (self.things,), sizes)) is not None:
            return wrong
        whole = value[0] == 0 and _sized((int(value[-1]),), (self.length,), sizes) is None
        return None if whole and not (np.diff(value) < self.filled).any() else "does not divide its arrays"


class Values:
    """An array of class values, such as numbers or words."""

    def __init__(self, size: Size) -> None:
        self.size = size

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, np.ndarray) or not (
            value.dtype.kind in "biufU" or all(isinstance(one, str) for one in value.ravel())
        ):
            return "is not an array of values"
        return _sized(value.shape, (self.size,), sizes)


class Scalar:
    """A number; a whole one in `low` to `high` where `whole`, which may give a size its name."""

    def __init__(self, whole: bool = False, low: int | None = None, high: int = MOST, size: str | None = None) -> None:
        self.whole, self.low, self.high, self.size = whole, low, high, size

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return f"is not a {'whole ' if self.whole else ''}number"
        if self.low is not None and not self.low <= value <= self.high:
            return f"is {value}, outside {self.low} to {self.high}"
        if self.size is not None:
            return _sized((int(value),), (self.size,), sizes)
        return None


def total(size: str | None = None) -> Scalar:
    """A whole number of at least 0; it may give a size its name."""
    return Scalar(whole=True, low=0, size=size)


class Flag:
    """True or false."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        return None if isinstance(value, (bool, np.bool_)) else "is neither true nor false"


class Word:
    """A string, one of `choices` where there are any; it is not empty unless `empty`."""

    def __init__(self, choices: tuple[str, ...] = (), empty: bool = False) -> None:
        self.choices, self.empty = choices, empty

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, str) or not (value or self.empty):
            return "is not a word"
        return f"is {value[:40]!r}" if self.choices and value not in self.choices else None


class Names:
    """A list of different strings."""

    def __init__(self, size: Size) -> None:
        self.size = size

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, list) or not set(map(type, value)) <= {str}:
            return "is not a list of strings"
        is_sorted = all(map(lt, value, islice(value, 1, None)))  # as the terms of texts are; costs less than a set
        if not is_sorted and len(set(value)) < len(value):
            return "holds a string twice"
        return _sized((len(value),), (self.size,), sizes)


class Plain:
    """A mapping of words, numbers, truth values, lists and mappings."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        return None if isinstance(value, dict) and _is_plain(value) else "is not a mapping of plain values"


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str, np.generic))


class Fields:
    """A mapping of plain values with declared fields, and others besides."""

    def __init__(self, fields: Mapping[str, Stored]) -> None:
        self.fields = fields

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, dict):
            return "is not a mapping"
        if (wrong := _wrong_field(self.fields, value, sizes)) is not None:
            return f"is not complete: {wrong}"
        others = [inner for key, inner in value.items() if key not in self.fields]
        return None if all(map(_is_plain, others)) else "is not a mapping of plain values"


class Mapped:
    """A mapping, each of whose values is as declared."""

    def __init__(self, item: Stored) -> None:
        self.item = item

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, dict):
            return "is not a mapping"
        return next(filter(None, (self.item.problem(one, sizes) for one in value.values())), None)


class Part:
    """An estimator of a class, or of one of several, fitted if it learns anything; its numbers of labels and terms are
    the owner's sizes.
    """

    def __init__(
        self, base: type[Estimator] | tuple[type[Estimator], ...], labels: Size | None = None, terms: Size | None = None
    ) -> None:
        self.base, self.labels, self.terms = base, labels, terms

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        bases = self.base if isinstance(self.base, tuple) else (self.base,)
        if not isinstance(value, bases):
            return f"is not a {' or '.join(base.__name__ for base in bases)}"
        checked = CHECKED.get()
        own = None if checked is None else checked.get(id(value))
        if own is None:
            own = value.check_learned(value.learned_state())
        for name, size in (("labels", self.labels), ("terms", self.terms)):
            if name in own and (wrong := _sized((own[name],), (size,), sizes)) is not None:
                return f"{wrong} in its part {type(value).__name__}"
        return None


class Each:
    """A list, each of whose items is as declared."""

    def __init__(self, item: Stored, size: Size) -> None:
        self.item, self.size = item, size

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        if not isinstance(value, list):
            return "is not a list"
        found = (self.item.problem(one, sizes) for one in value)
        return _sized((len(value),), (self.size,), sizes) or next(filter(None, found), None)


class Maybe:
    """As declared, or None."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        return None if value is None else self.stored.problem(value, sizes)


class Sometimes:
    """As declared where it is there; some settings learn no such attribute.

    It is always there where the attribute named `beside` is.
    """

    def __init__(self, stored: Stored, beside: str | None = None) -> None:
        self.stored, self.beside = stored, beside

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        return self.stored.problem(value, sizes)


class Either:
    """As one of two declarations, such as a dense or a sparse table."""

    def __init__(self, one: Stored, other: Stored) -> None:
        self.one, self.other = one, other

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """See `Stored.problem`."""
        tried = dict(sizes)
        if self.one.problem(value, tried) is None:
            sizes.update(tried)
            return None
        return self.other.problem(value, sizes)
