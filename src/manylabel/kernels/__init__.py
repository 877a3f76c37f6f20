"""Fast loops over raw arrays, compiled at installation if a compiler is available.

Each kernel is a Cython module (``NAME.pyx``) with a plain twin (``NAME_reference.py``) that defines it and replaces it
where nothing was compiled. The environment variable ``MANYLABEL_PLAIN=1`` selects the twins even if compiled kernels
exist. The other modules call the kernels: they check arrays, distribute work to threads and select the twin.

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
    "label_tree",
)


def compiled_module(name: str) -> ModuleType | None:
    """The compiled module of that name; None if it was not built or the plain twins were requested."""
    if _plain_twins_wanted():
        return None
    try:
        return importlib.import_module(f"manylabel.kernels.{name}")
    except ImportError:
        return None


def active() -> str:
    """Which kernels are used, "compiled" or "plain Python", found out without importing any of them."""
    built = all(importlib.util.find_spec(f"manylabel.kernels.{name}") for name in NAMES)
    return "compiled" if built and not _plain_twins_wanted() else "plain Python"


def _plain_twins_wanted() -> bool:
    return os.environ.get("MANYLABEL_PLAIN", "") not in ("", "0")
