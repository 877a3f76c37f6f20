"""The citation file is valid, and one command dates a release."""

import re
import shutil
from pathlib import Path

import pytest
from release.version import ROOT, main

from manylabel import __version__

FILES = ("src/manylabel/__init__.py", "CHANGELOG.md", "CITATION.cff")
REQUIRED = {"cff-version", "message", "title", "authors"}
ALLOWED = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url",
    "version",
}  # fmt: skip
"""The keys of the Citation File Format 1.2.0."""


def citation(folder: Path) -> dict[str, str]:
    """The keys at the top of the citation file, with what follows on their line."""
    text = (folder / "CITATION.cff").read_text(encoding="utf-8")
    pairs = re.findall(r"^([^\s#-][^:]*):[ ]?(.*)$", text, flags=re.MULTILINE)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_citation_file_is_valid() -> None:
    found = citation(ROOT)
    assert found.keys() >= REQUIRED
    assert found.keys() <= ALLOWED
    assert (found["cff-version"], found["type"], found["version"]) == ("1.2.0", "software", __version__)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.get("date-released", "2026-01-01"))


def test_one_command_dates_a_release(folder: Path) -> None:
    changes = folder / "CHANGELOG.md"
    for version in ("9.8.7", "9.9.0"):
        changes.write_text("# Changelog\n\n## [Unreleased]\n\n- A change.\n", encoding="utf-8")
        assert main([version], folder) == 0
        found = citation(folder)
        assert found.keys() == citation(ROOT).keys() | {"date-released"}
        assert found["version"] == version
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date-released"])
        assert f"\n## [{version}] - {found['date-released']}\n" in changes.read_text(encoding="utf-8")
        assert f'__version__ = "{version}"\n' in (folder / FILES[0]).read_text(encoding="utf-8")


def test_a_release_without_changes_is_refused(folder: Path) -> None:
    (folder / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    before = [(folder / name).read_bytes() for name in FILES]
    with pytest.raises(SystemExit, match=r"CHANGELOG\.md: 0 lines match .* Nothing was written\."):
        main(["9.8.7"], folder)
    with pytest.raises(SystemExit, match=r"Give the version"):
        main(["next"], folder)
    assert [(folder / name).read_bytes() for name in FILES] == before
