"""Dependencies: their licences are listed, and the oldest versions that are tested are those admitted."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOOLS = ("dev", "docs", "fuzz")
"""Extras for work on manylabel itself."""


def bounds(lines: list[str]) -> dict[str, str]:
    """The oldest version of each package."""
    found = [re.match(r"([A-Za-z0-9._-]+)>=([0-9.]+)", line) for line in lines]
    return {match[1].lower(): match[2] for match in found if match}


def for_users() -> dict[str, str]:
    extras = [line for name, lines in PROJECT["optional-dependencies"].items() if name not in TOOLS for line in lines]
    return bounds([*PROJECT["dependencies"], *extras])


def test_the_licence_of_every_dependency_is_listed() -> None:
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    listed = {row[0].lower(): row[1] for row in rows[2:]}
    assert for_users().keys() <= listed.keys()
    assert all(licence and licence != "see the package" for licence in listed.values())


def test_the_oldest_versions_tested_are_those_admitted() -> None:
    lines = (ROOT / "tests" / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    tested = {name.lower(): version for name, _, version in (line.partition("==") for line in lines) if version}
    for name, oldest in for_users().items():
        assert name in tested, f"{name} is missing in tests/constraints-oldest.txt"
        assert (tested[name] + ".0.0.0").startswith(oldest), f"{name}: {tested[name]} is tested, {oldest} admitted"


def test_every_dependency_has_a_lower_bound() -> None:
    everything = [
        *PROJECT["dependencies"],
        *(line for lines in PROJECT["optional-dependencies"].values() for line in lines),
    ]
    assert [line for line in everything if ">=" not in line and not line.startswith("manylabel[")] == []
