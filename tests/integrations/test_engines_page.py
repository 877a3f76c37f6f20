"""The examples of docs/guides/data-engines.md, run where their engine is installed."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from manylabel import TextClassifier, load_corpus
from pages import run_program

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "data-engines.md").read_text(encoding="utf-8")
SECTIONS = {title: body for title, _, body in (one.partition("\n") for one in PAGE.split("\n## ")[1:])}
PACKAGES = {
    "Arrow": "pyarrow",
    "Spark": "pyspark",
    "Ray": "ray",
    "Dask": "dask",
    "DuckDB": "duckdb",
    "Polars": "polars",
}
ELSEWHERE = {
    "Spark": {"PYSPARK_PYTHON": sys.executable},
    "Ray": {"RAY_AUTH_MODE": "disabled", "RAY_raylet_start_wait_time_s": "300"},
}
"""Engines that start processes and print about them: run in a process of their own, with these settings."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model and the file of the page; two labels are enough."""
    found = tmp_path_factory.mktemp("letters")
    letters = load_corpus("townhall").corpus.split("train")
    wanted = {"transport/buses", "streets/roads"}
    labels = [[name for name in names if name in wanted] for names in letters.label_sets]
    TextClassifier("svm", model={"C": 1.0}).fit(letters.texts, labels).save(found / "letters.manylabel")
    match = re.search(r'```text title="new.csv"\n(.*?)```', PAGE, re.DOTALL)
    assert match is not None
    (found / "new.csv").write_text(match[1], encoding="utf-8")
    return found


def test_every_engine_has_an_example() -> None:
    assert [title for title in SECTIONS if title in PACKAGES] == list(PACKAGES)


@pytest.mark.parametrize("engine", PACKAGES)
def test_the_example_of_an_engine(engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec(PACKAGES[engine]) is None:
        pytest.skip(f"{PACKAGES[engine]} is not installed; make integrations installs it")
    (code,) = re.findall(r"```python\n(.*?)```", SECTIONS[engine], re.DOTALL)
    if engine in ELSEWHERE:
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, cwd=folder, env=os.environ | ELSEWHERE[engine]
        )
        assert not done.returncode, done.stderr
        printed = done.stdout
    else:
        monkeypatch.chdir(folder)
        printed = run_program(code, {})
    assert "transport/buses" in printed.split("streets/roads")[0], printed
    assert "streets/roads" in printed
