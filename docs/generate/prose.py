"""Docstrings as Markdown."""

import inspect
import re
import unicodedata
from collections.abc import Callable
from html import escape

Linker = Callable[[str], str | None]
"""The address of what a code span names; None where it names nothing that has a place in the site."""
SPAN = re.compile(r"(``.+?``|`[^`\n]+`)", re.DOTALL)
PAGE = re.compile(r"docs/[\w/-]+(?:\.md)?")
EMPHASIS = re.compile(r"((?<![\w*])\*\w[\w -]*\*(?!\w))")
FORMULA = re.compile(r"[=≥≤Σ∝Π∈→≈]|\S {3,}\S")


def as_markdown(docstring: str, link: Linker) -> str:
    """A docstring as Markdown: prose with links, doctests and indented lines as code, formulas kept as they stand."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(docstring))
    parts: list[str] = []
    in_doctest = False
    for block in blocks:
        in_doctest = block.lstrip().startswith(">>>") or (in_doctest and block.startswith("    "))
        parts.append(_block(block, in_doctest, link))
    return "\n\n".join(parts)


def _block(block: str, is_doctest: bool, link: Linker) -> str:
    if is_doctest:
        return f"```pycon\n{inspect.cleandoc(block)}\n```"
    if block.startswith("    "):
        return f"```text\n{inspect.cleandoc(block)}\n```"
    if FORMULA.search(block) and not block.rstrip().endswith((".", ":", ";", ",")):
        return f'<pre class="formula">{escape(block)}</pre>'
    prose, indented = re.match(r"((?:.*\n?)*?)((?: {4}.*\n?)*)$", block + "\n").groups()  # type: ignore[union-attr]
    return inline(prose.rstrip(), link) + (f"\n\n```text\n{inspect.cleandoc(indented)}\n```" if indented else "")


def inline(text: str, link: Linker) -> str:
    """Prose as Markdown: signs that Markdown would read are escaped; known names in code spans and pages are linked."""
    return "".join(_span(part, link) if part.startswith("`") else _plain(part, link) for part in SPAN.split(text))


def _plain(text: str, link: Linker) -> str:
    plain = text.replace("&", "&amp;").replace("<", "&lt;")
    escaped = "".join(
        part if EMPHASIS.fullmatch(part) else re.sub(r"([*_\[\]])", r"\\\1", part) for part in EMPHASIS.split(plain)
    )
    return PAGE.sub(lambda match: f"[{match[0]}]({target})" if (target := link(match[0])) else match[0], escaped)


def _span(span: str, link: Linker) -> str:
    name = " ".join(span.strip("`").split())
    target = link(name)
    return f"[`{name}`]({target})" if target else f"`{name}`"


def first_line(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(docstring or "").split("\n\n")[0].split())


def slug(heading: str) -> str:
    """The anchor that the site gives to a heading, as Python-Markdown makes it.

    >>> slug("Vilar & Sanchis 2004: `nb`, ΔF1")
    'vilar-sanchis-2004-nb-f1'
    """
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def code(text: str) -> str:
    """A value or name as a code span; nothing for an empty text."""
    return f"`{text}`" if text else ""
