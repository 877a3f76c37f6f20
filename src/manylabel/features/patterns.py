"""Regular expressions that users give for tokens: refused where a text could make them run without end.

Python's engine tries every way to divide a text among nested repetitions: ``(a+)+$`` takes 2ⁿ steps for n letters. An
engine without this fault (RE2) splits other alphabets differently (its ``\\w`` and ``\\b`` know ASCII alone), so that a
model would find other tokens where that engine is installed. Patterns that may take exponential time are therefore
refused when they are set, and all others run in Python's engine.
"""

from __future__ import annotations

from functools import cache
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as names  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

REPEATS = (names.MAX_REPEAT, names.MIN_REPEAT, names.POSSESSIVE_REPEAT)
SINGLE = (names.LITERAL, names.NOT_LITERAL, names.IN, names.ANY)
"""Items that match exactly one character."""
FEW = 8
"""How often a group may be repeated, at most, for its repetitions not to matter."""
LONGEST = 10_000
"""Characters of a pattern."""


def backtracks(pattern: str) -> bool:
    r"""Whether some text makes a pattern take exponential time; `re.error` for what is no pattern.

    A repetition of a group is safe if every way to match the group has the same length, or if each repetition begins
    with a character that occurs nowhere else in the group.

    >>> [backtracks(pattern) for pattern in (r"\w+", r"\w+(?:-\w+)*", r"(?:[A-Z]\.)+", r"(a+)+$", r"(a|aa)+$")]
    [False, False, False, True, True]
    """
    if len(pattern) > LONGEST:
        return True
    return _any_ambiguous(parser.parse(pattern))


def _any_ambiguous(items: Any) -> bool:
    return any(_is_ambiguous(item) for item in items)


def _is_ambiguous(item: Any) -> bool:
    kind, value = item
    if kind in (names.GROUPREF, names.GROUPREF_EXISTS):
        return True  # what a reference repeats is tried in every length
    if kind in REPEATS:
        _, high, inside = value
        if _any_ambiguous(inside):
            return True
        several = high == names.MAXREPEAT or int(high) > FEW
        return several and kind != names.POSSESSIVE_REPEAT and not (_has_one_length(inside) or _has_mark(inside))
    return any(_any_ambiguous(inside) for inside in _insides(kind, value))


def _insides(kind: Any, value: Any) -> list[Any]:
    """The sequences inside a group, a branch or an assertion."""
    if kind is names.SUBPATTERN:
        return [value[-1]]
    if kind is names.BRANCH:
        return list(value[1])
    if kind in (names.ASSERT, names.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is names.ATOMIC_GROUP else []


def _has_one_length(items: Any) -> bool:
    """Whether the items match in one way alone: no repetition of open length, no branch."""
    for kind, value in items:
        if kind in REPEATS and (value[0] != value[1] or not _has_one_length(value[2])):
            return False
        if kind is names.BRANCH or not all(_has_one_length(inside) for inside in _insides(kind, value)):
            return False
    return True


def _has_mark(items: Any) -> bool:
    """Whether the items begin with a character that none of the others can match."""
    flat = _flat(items)
    if not flat or flat[0][0] not in SINGLE:
        return False
    mark, *others = [_characters(item) for item in flat]
    return bool(mark) and all(not mark & other for other in others)


def _flat(items: Any) -> list[Any]:
    """The items that match single characters, groups and repetitions opened; none if the first may occur repeatedly."""
    found: list[Any] = []
    for kind, value in items:
        if kind in SINGLE:
            found.append((kind, value))
        elif kind in REPEATS:
            if not found and tuple(value[:2]) != (1, 1):
                return []
            found += _flat(value[2])
        else:
            if not found and kind is names.BRANCH:
                return []
            for inside in _insides(kind, value):
                found += _flat(inside)
    return found


def _characters(item: Any) -> set[str]:
    """The characters, of the common alphabets, that an item matches."""
    kind, value = item
    if kind is names.ANY:
        return set(_alphabets())
    if kind is names.LITERAL:
        return {chr(value)}
    if kind is names.NOT_LITERAL:
        return set(_alphabets()) - {chr(value)}
    return set(compiler.compile(parser.SubPattern(parser.State(), [item])).findall(_alphabets()))


@cache
def _alphabets() -> str:
    """The characters of the common alphabets."""
    return "".join(map(chr, range(0x3000)))
