"""The wheel carries every file of the package, not only its Python modules."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "manylabel"
BUILT = {".py", ".pyc", ".so", ".pyd", ".c"}
"""Endings of modules, which setuptools finds itself, and of what the build leaves behind."""


def test_every_file_is_named_in_the_package_data() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    patterns = tools["setuptools"]["package-data"]["manylabel"]
    carried = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    there = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in BUILT}
    assert sorted(str(path.relative_to(PACKAGE)) for path in there - carried) == []
