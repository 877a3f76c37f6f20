"""Objects in a notebook: short HTML tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

MOST_NAMES = 8
MOST_CHARACTERS = 200


def html_table(title: str, rows: Mapping[str, str]) -> str:
    """A table of facts about an object as HTML, one row per fact.

    >>> html_table("Corpus", {"labels": "roads & buses"})
    '<table><caption>Corpus</caption><tr><th>labels</th><td>roads &amp; buses</td></tr></table>'
    """
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{escape(title)}</caption>{cells}</table>"


def some_names(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """The number of names and the first of them.

    >>> some_names(["buses", "roads", "waste"], most=2)
    '3: buses, roads, …'
    """
    return f"{len(names):,}: {', '.join(names[:most])}{', …' if len(names) > most else ''}"


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """The beginning of a text, on one line.

    >>> shortened("The bus\\nwas late.", most=12)
    'The bus was…'
    """
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[: most - 1].rstrip()}…"
