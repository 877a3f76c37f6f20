"""Hot loops over raw arrays, compiled at install where a compiler was at hand.

Each kernel is a Cython module (``NAME.pyx``) with a plain twin (``NAME_reference.py``) that defines it and stands in
for it where nothing was compiled. The environment variable ``MANYLABEL_PLAIN=1`` chooses the twins although compiled
kernels are there. The other modules drive the kernels: they check arrays, hand out threads and pick the twin.

    >>> active() in ("compiled", "plain Python")
    True
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType

NAMES = (
    "tokens",
    "characters",
    "words",
    "counting",
    "neighbours",
    "tables",
    "scoring",
    "mixture",
    "mixture_search",
    "thresholds",
    "linear",
)


def compiled_module(name: str) -> ModuleType | None:
    """The compiled module of that name, unless it was not built or the plain twins are asked for."""
    if _plain_twins_wanted():
        return None
    try:
        return importlib.import_module(f"manylabel.kernels.{name}")
    except ImportError:
        return None


def active() -> str:
    """Which kernels are at work, "compiled" or "plain Python", told without importing any of them."""
    built = all(importlib.util.find_spec(f"manylabel.kernels.{name}") for name in NAMES)
    return "compiled" if built and not _plain_twins_wanted() else "plain Python"


def _plain_twins_wanted() -> bool:
    return os.environ.get("MANYLABEL_PLAIN", "") not in ("", "0")
