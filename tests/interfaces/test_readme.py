"""The README does what it says: its Python runs, its commands run on its own table, its pages are up to date."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

from manylabel.cli.run import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_the_python_example_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", blocks("python")[0]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    labels, score = done.stdout.splitlines()
    assert "environment/waste" in labels
    assert float(score) > 0.6
    assert (tmp_path / "townhall.manylabel").is_file()


def test_the_commands_run_on_the_readers_own_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table = blocks("text")[0]
    header, *rows = table.splitlines()
    Path("letters.csv").write_text("\n".join([header, *rows * 10]) + "\n")
    Path("new.csv").write_text("text\nThe bus was late.\n")
    commands = [shlex.split(line.partition("#")[0]) for block in blocks("sh") for line in block.splitlines()]
    for words in commands:
        if words[:1] == ["manylabel"] and words[1] not in ("compare", "serve"):  # two minutes, and until it is stopped
            assert run(words[1:]) == 0, words
    assert '"labels": ["buses"]' in capsys.readouterr().out


def test_every_link_leads_somewhere() -> None:
    """Those of docs, which also lead to generated pages, are tested in test_site.py."""
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md"]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_generated_pages_are_up_to_date() -> None:
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "build.py"), "--check"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_every_command_and_option_exists() -> None:
    commands = [shlex.split(line.partition("#")[0]) for block in blocks("sh") for line in block.splitlines()]
    commands = [words for words in commands if words[:1] == ["manylabel"]]
    assert len(commands) > 6
    for words in commands:
        assert run([*(word for word in words[1:] if word != ">"), "--help"]) == 0, words


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"))
    assert listed == sorted(path.name for path in folder.glob("0*.md"))


def test_every_name_in_the_documentation_exists() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        imported = re.findall(r"^from (manylabel(?:\.\w+)*) import (\w+(?:, \w+)*)", text, flags=re.MULTILINE)
        names = {f"{module}.{name}" for module, names in imported for name in names.split(", ")}
        names |= set(re.findall(r"`(manylabel(?:\.\w+)+)(?:\([^`]*\))?`", text))
        for name in sorted(names - {"manylabel.toml"}):
            resolve_name(name)


def test_the_examples_of_the_pages_run() -> None:
    pages = [path for path in (ROOT / "docs").rglob("*.md") if ">>> " in path.read_text(encoding="utf-8")]
    assert "metrics.md" in {path.name for path in pages}
    for path in pages:
        assert doctest.testfile(str(path), module_relative=False, encoding="utf-8").failed == 0, path
