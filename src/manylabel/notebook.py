"""Objects in a notebook: short HTML tables, and texts with highlighted evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

MOST_NAMES = 8
MOST_CHARACTERS = 200
ROUNDING = 1e-9
"""Contributions below this are rounding errors."""
MARK_STYLE = """mark { color: inherit; border-radius: .15rem; }
mark.for { background: rgb(27 127 77 / var(--strength)); }
mark.against { background: rgb(201 92 16 / var(--strength)); text-decoration: underline dotted; }"""
"""How `marked_html` is drawn: words against a label are also underlined, for readers and printers without colour."""


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


def strengths(stretches: Sequence[tuple[str, float]]) -> list[tuple[str, float, float]]:
    """Stretches of a text with their contributions and strengths from −1 to 1; those below a tenth count as 0.

    >>> strengths([("the ", 0.01), ("bus", 0.5), ("late", -0.25)])
    [('the ', 0.01, 0.0), ('bus', 0.5, 1.0), ('late', -0.25, -0.5)]
    """
    most = max((abs(value) for _, value in stretches), default=0.0) or 1.0
    return [(text, value, value / most if abs(value) >= most / 10 else 0.0) for text, value in stretches]


def signed(value: float) -> str:
    """A number with its sign and two decimals; with two significant digits where these would be zeros.

    What rounding leaves of a sum is 0.

    >>> signed(0.5), signed(-0.25), signed(-0.00123), signed(0.0), signed(1e-16)
    ('+0.50', '−0.25', '−0.0012', '+0.00', '+0.00')
    """
    if abs(value) < ROUNDING:
        return "+0.00"
    return f"{value:+{'.2f' if abs(value) >= 0.005 else '.2g'}}".replace("-", "−")


def marked_html(stretches: Sequence[tuple[str, float]]) -> str:
    """A text with its evidence highlighted, given in stretches with their contributions.

    >>> marked_html([("a ", 0.0), ("bus", 0.5)])
    '<p class="marked">a <mark class="for" style="--strength: 0.60" title="+0.50">bus</mark></p>'
    """
    parts = []
    for text, value, strength in strengths(stretches):
        if not strength:
            parts.append(escape(text))
            continue
        side, opacity = "for" if strength > 0 else "against", f"--strength: {0.1 + 0.5 * abs(strength):.2f}"
        parts.append(f'<mark class="{side}" style="{opacity}" title="{signed(value)}">{escape(text)}</mark>')
    return f'<p class="marked">{"".join(parts)}</p>'
