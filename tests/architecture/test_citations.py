"""The numbers that tests and docstrings cite, such as B-10, are explained in tests/formulas/README.md."""

import re
from pathlib import Path

import manylabel

TESTS = Path(__file__).parents[1]
INDEX = TESTS / "formulas" / "README.md"
CITATION = re.compile(r"\b([A-FMSX]-\d+)[a-z]?\b")
"""A letter and a number; a small letter after it is a part of the same point, explained in its row."""
ROW = re.compile(r"^\| ([A-Z]-\d+) \| \S", flags=re.MULTILINE)


def cited() -> dict[str, str]:
    """A file that cites each number."""
    files = [*TESTS.rglob("*.py"), *Path(manylabel.__file__).parent.rglob("*.py")]
    found: dict[str, str] = {}
    for path in sorted(files):
        if path != Path(__file__):
            found.update(dict.fromkeys(CITATION.findall(path.read_text(encoding="utf-8")), str(path)))
    return found


def test_every_cited_number_is_explained_once() -> None:
    rows = ROW.findall(INDEX.read_text(encoding="utf-8"))
    assert sorted(rows) == sorted(set(rows))
    assert {number: path for number, path in cited().items() if number not in rows} == {}


def test_every_explained_number_is_cited() -> None:
    rows = ROW.findall(INDEX.read_text(encoding="utf-8"))
    assert len(rows) > 70
    assert set(rows) - cited().keys() == set()
