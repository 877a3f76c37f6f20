"""The numbers printed in the papers, as data files that name their source."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def numbers(paper: str) -> dict[str, Any]:
    """The numbers printed in a paper, by table.

    >>> numbers("vilar2004")["unilabel"]["error"]
    8.56
    """
    text = (files(__package__) / f"{paper}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
