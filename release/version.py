"""Write a version and its date into the three files that name them.

Run ``python -m release.version 0.3.0`` once for each release, then commit. It sets ``__version__``, names the section
Unreleased of CHANGELOG.md after the version, and sets ``version`` and ``date-released`` in CITATION.cff.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"\d+\.\d+\.\d+([abc]\d+|rc\d+)?")


def replaced(text: str, pattern: str, new: str, path: str) -> str:
    """The text with the one line that matches the pattern replaced; an error if there is none, or several."""
    text, times = re.subn(pattern, new, text, flags=re.MULTILINE)
    if times != 1:
        raise SystemExit(f"{path}: {times} lines match {pattern}, instead of one. Nothing was written.")
    return text


def dated(texts: dict[str, str], version: str, day: str) -> dict[str, str]:
    """The contents of the three files, by path, for a version that is released on a day (year-month-day)."""
    module, changes, citation = texts
    undated = re.sub(r"^date-released:.*\n", "", texts[citation], flags=re.MULTILINE)
    return {
        module: replaced(texts[module], r'^__version__ = ".*"$', f'__version__ = "{version}"', module),
        changes: replaced(texts[changes], r"^## \[Unreleased\]$", f"## [{version}] - {day}", changes),
        citation: replaced(undated, r"^version: .*$", f"version: {version}\ndate-released: {day}", citation),
    }


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Write the files; the day is today's, in UTC."""
    if len(arguments) != 1 or not VERSION.fullmatch(arguments[0]):
        raise SystemExit("Give the version, for example: python -m release.version 0.3.0")
    paths = ("src/manylabel/__init__.py", "CHANGELOG.md", "CITATION.cff")
    texts = {path: (root / path).read_text(encoding="utf-8") for path in paths}
    for path, text in dated(texts, arguments[0], f"{datetime.now(UTC):%Y-%m-%d}").items():
        (root / path).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
