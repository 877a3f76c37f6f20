"""JSON and TOML from strangers: parsed within a depth, every failure with its reason."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from manylabel.data.limits import raising

_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[{]|[\]}]', re.DOTALL)
"""A string, an opening or a closing bracket; a string that is never closed extends to the end."""


class NotJsonError(ValueError):
    """Why a text is not JSON, and the line where it is not."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def parse_json(text: str, nesting: int) -> Any:
    """The value of a JSON text whose lists and objects are at most `nesting` deep; else `NotJsonError`.

    >>> parse_json('{"a": [1]}', 2)
    {'a': [1]}
    >>> parse_json("[" * 100_000, 100)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    NotJsonError: lists and objects are nested more than 100 deep; raise the limit: limits={'nesting': NUMBER}
    """
    if text.count("[") + text.count("{") > nesting and is_deeper(text, nesting):
        raise NotJsonError(f"lists and objects are nested more than {nesting} deep; {raising('nesting')}")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise NotJsonError(f"{error.msg}, column {error.colno}", error.lineno) from None
    except RecursionError:
        raise NotJsonError("lists and objects are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise NotJsonError(str(error).partition(";")[0]) from None


def parse_toml(text: str, nesting: int) -> dict[str, Any]:
    """The tables of a TOML text whose keys and values are at most `nesting` deep; else `ValueError` with the reason.

    >>> parse_toml("a = " + "[" * 1500, 100)
    Traceback (most recent call last):
    ...
    ValueError: keys or values are nested more than 100 deep
    """
    parts = max(piece.count(".") for piece in re.split(r"[=,\[\]{}\n]", text))  # those of the longest dotted key
    if is_deeper(text, nesting) or parts > nesting:
        raise ValueError(f"keys or values are nested more than {nesting} deep")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("keys or values are nested too deeply") from None


def is_deeper(text: str, nesting: int) -> bool:
    """Whether brackets outside strings are nested more than `nesting` deep, found in one pass.

    >>> is_deeper('[[{"a": "]]]["}]]', 2), is_deeper('[[{"a": "]]]["}]]', 3)
    (True, False)
    """
    depth = 0
    for match in _BRACKETS.finditer(text):
        if match[0] in "[{":
            depth += 1
            if depth > nesting:
                return True
        elif match[0] in "]}":
            depth -= 1
    return False
