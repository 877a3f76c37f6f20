"""The README does what it says: its Python runs, its commands print what it shows, its pages are up to date."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

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


def test_the_commands_print_what_the_page_that_is_run_shows() -> None:
    """Five minutes on the command line, which test_pages.py runs, has every line of the README's console."""
    shown = [line for line in blocks("console")[0].splitlines() if line and line != "…"]
    run_elsewhere = (ROOT / "docs" / "start" / "command-line.md").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("$ ") for line in shown) == 2
    assert [line for line in shown if line not in run_elsewhere] == []


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


def test_every_command_exists() -> None:
    named = re.findall(r"(?:`|\$ |\| )manylabel ([a-z-]+)", README)
    assert {"train", "predict", "serve", "explain", "audit"} <= set(named)
    for command in sorted(set(named)):
        assert run([command, "--help"]) == 0, command


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
