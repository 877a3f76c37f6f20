"""The commands and examples of docs/exporting.md, run."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.exporting.form import exportable_methods
from manylabel.exporting.targets import TARGETS

PAGE = (Path(__file__).parents[2] / "docs" / "exporting.md").read_text(encoding="utf-8")
SECTIONS = {title: body for title, _, body in (one.partition("\n") for one in PAGE.split("\n## ")[1:])}
BUSES, ROADS = "transport/buses", "streets/roads"
"""Labels of the letters that come with manylabel, whose model the page exports."""
ROWS = [("the bus was late", [BUSES]), ("a hole in the road", [ROADS]), ("late bus, bad road", [BUSES, ROADS])]
NEEDED = {"ONNX": ["onnx", "onnxruntime"], "DuckDB": ["duckdb", "pyarrow"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("letters")
    texts, labels = zip(*(ROWS * 5), strict=True)
    TextClassifier("svm").fit(list(texts), list(labels)).save(found / "letters.manylabel")
    return found


def blocks(section: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SECTIONS[section], re.DOTALL)


def export(section: str) -> None:
    (command,) = blocks(section, "console")
    words = shlex.split(command.removeprefix("$ "))
    assert words[0] == "manylabel"
    assert run(words[1:]) == 0


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_javascript(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(folder)
    export("JavaScript")
    assert "import { predict, predictScores, labels } from './letters.mjs';" in capsys.readouterr().out
    (code,) = blocks("JavaScript", "js")
    Path("page.mjs").write_text(code, encoding="utf-8")
    done = subprocess.run(["node", "page.mjs"], capture_output=True, text=True, timeout=30)
    assert done.stdout.startswith(f"[ '{BUSES}' ]\n[ [ '{ROADS}' ], [] ]\n{ROADS} 0."), done.stderr


@pytest.mark.parametrize("section", ["scikit-learn", "ONNX", "DuckDB"])
def test_python(section: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDED.get(section, []):
        pytest.importorskip(package)
    monkeypatch.chdir(folder)
    export(section)
    (code,) = blocks(section, "python")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "transport/buses" in done.stdout
    assert "None" not in done.stdout  # the score of a label that the model does not have


def test_the_page_names_every_target_method_and_entry() -> None:
    for target in TARGETS:
        assert f"| `{target}` |" in PAGE
    named = set(re.findall(r"`([a-z0-9-]+)`", SECTIONS["What can be exported"]))
    families = {"nb-", "rocchio"}
    others = {name for name in exportable_methods() if name not in named and not name.endswith("-tfidf")}
    assert {name for name in others if not any(name.startswith(one) for one in families)} == set()


def test_an_unknown_target_and_a_file_in_the_way(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert run(["export", "letters.manylabel", "--to", "onx"]) == 2
    assert "Did you mean 'onnx'?" in capsys.readouterr().err
    assert run(["export", "letters.manylabel", "--to", "sklearn", "--output", "letters.manylabel"]) == 2
    assert "letters.manylabel is a file" in capsys.readouterr().err
    assert run(["export", "letters.manylabel", "--to", "json", "--output", "letters.manylabel"]) == 2
    assert "would be overwritten" in capsys.readouterr().err


def test_json_record(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    monkeypatch.chdir(folder)
    assert run(["export", "letters.manylabel", "--to", "json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["target"], found["output"], found["labels"]) == ("json", "letters.json", 2)
    assert found["files"] == [{"path": "letters.json", "bytes": Path("letters.json").stat().st_size}]
    form = json.loads(Path("letters.json").read_text(encoding="utf-8"))
    for entry in form:
        assert f"`{entry}`" in SECTIONS["The form"]
