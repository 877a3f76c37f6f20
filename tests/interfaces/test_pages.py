"""The pages for users do what they show: every command and every program runs and prints what stands there."""

import re
import shlex
from pathlib import Path

import pytest

from manylabel.cli.run import run
from pages import BLOCK, agrees, empty_folder, run_page

DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = ("start", "tutorials", "guides", "coming-from")
PAGES = sorted(path for folder in FOLDERS for path in (DOCS / folder).glob("*.md"))


def title(page: Path) -> str:
    return f"{page.parent.name}/{page.name}"


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_the_page_shows_what_its_code_prints(page: Path) -> None:
    with empty_folder():
        _, differences = run_page(page.read_text(encoding="utf-8"))
    assert not differences, "\n\n".join(map(str, differences))


def test_commands_that_are_not_run_exist() -> None:
    lines = [
        line
        for page in PAGES
        for block in BLOCK.finditer(page.read_text(encoding="utf-8"))
        for line in block["body"].splitlines()
        if block["language"] == "sh" and line.startswith("manylabel ")
    ]
    assert lines
    for line in dict.fromkeys(lines):
        words = shlex.split(re.split(r" [>|] ", line.partition(" #")[0])[0])
        assert run([*words[1:], "--help"]) == 0, line


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("trained in … s", "trained in 0.3 s", True),
        ("first\n…\nlast", "first\nlast", True),
        ("first\n…\nlast", "first\nsecond\nthird\nlast", True),
        ("first\nlast", "first\nsecond\nlast", False),
        ("0.81", "0.83", False),
        ("", "a warning", False),
        ("", "", True),
    ],
)
def test_outputs_are_compared(shown: str, printed: str, expected: bool) -> None:
    assert agrees(shown, printed) is expected


def test_a_wrong_output_is_found() -> None:
    page = '```text title="a.txt"\nfirst\n```\n\n```console\n$ cat a.txt\nsecond\n```\n\n```python\nprint(1)\n```\n'
    with empty_folder():
        new, differences = run_page(page)
    assert [one.printed for one in differences] == ["first", "1"]
    assert new.endswith("```console\n$ cat a.txt\nfirst\n```\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n")
