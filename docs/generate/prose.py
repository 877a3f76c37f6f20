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
PARAMETERS = re.compile(r"Parameters\n-{4,}\n")
"""The head of the list of parameters in a docstring."""
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
    if PARAMETERS.match(block):
        return "\n".join(f"- `{name}`: {inline(text, link)}" for name, text in _items(block))
    if is_doctest:
        return f"```pycon\n{inspect.cleandoc(block)}\n```"
    if block.startswith("    "):
        return f"```text\n{inspect.cleandoc(block)}\n```"
    if FORMULA.search(block) and not block.rstrip().endswith((".", ":", ";", ",")):
        return f'<pre class="formula">{escape(block)}</pre>'
    prose, indented = re.match(r"((?:.*\n?)*?)((?: {4}.*\n?)*)$", block + "\n").groups()  # type: ignore[union-attr]
    return inline(prose.rstrip(), link) + (f"\n\n```text\n{inspect.cleandoc(indented)}\n```" if indented else "")


def parameters(docstring: str | None) -> dict[str, str]:
    """What the list of parameters in a docstring says of each; empty where there is none.

    >>> parameters("Count.\\n\\nParameters\\n----------\\nlow, high : the bounds,\\n    both included.")
    {'low': 'the bounds, both included.', 'high': 'the bounds, both included.'}
    """
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(docstring or ""))
    listed = [item for block in blocks if PARAMETERS.match(block) for item in _items(block)]
    return {name: text for names, text in listed for name in names.split(", ")}


def _items(block: str) -> list[tuple[str, str]]:
    """The entries of a list of parameters: their names, and the text on one line."""
    entries = [re.split(r" : |\n", entry, maxsplit=1) for entry in re.split(r"\n(?! )", PARAMETERS.sub("", block))]
    return [(names, " ".join(text.split())) for names, text in entries]


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
