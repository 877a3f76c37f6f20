"""docs/architecture.md names files that exist, and a prediction of the default passes through few of them."""

import re
import sys
import tomllib
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import manylabel
from manylabel.classifier import TextClassifier
from manylabel.data import load

PACKAGE = Path(manylabel.__file__).parent
PAGE = PACKAGE.parents[1] / "docs" / "architecture.md"
MOST_FILES = 25


@pytest.mark.skipif(not PAGE.exists(), reason="the package was installed without its documentation")
def test_every_file_on_the_page_exists_and_paths_are_short() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = page.split("\n## ")
    for section in sections:
        named = set(re.findall(r"`([a-z_]+/[a-z_0-9]+\.pyx?|[a-z]+\.py)`", section))
        assert [name for name in sorted(named) if not (PACKAGE / name).exists()] == []
        if section.startswith("The path of one document"):
            assert 10 < len(named) <= MOST_FILES


@pytest.mark.skipif(not PAGE.exists(), reason="the package was installed without its documentation")
def test_the_order_of_imports_is_that_of_the_checks() -> None:
    contracts = tomllib.loads((PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [layer.split(" | ") for layer in contracts["contracts"][0]["layers"]]
    listed = " ".join(PAGE.read_text(encoding="utf-8").split())
    listed = listed[listed.index("Imports point downwards") :].partition("make check`: ")[2].partition(".")[0]
    assert [re.findall(r"`(\w+)`", layer) for layer in listed.split("→")] == layers[1:]  # __main__ is no room


@pytest.mark.parametrize("n_texts", [1, 40])
def test_a_prediction_of_the_default_passes_through_few_files(n_texts: int) -> None:
    corpus = load("townhall").corpus.subset(range(160))
    model = TextClassifier(n_jobs=1).fit(corpus.texts, corpus.label_sets)
    assert model.decided_.choice_ is not None
    texts, files = corpus.texts[:n_texts], set[str]()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)):
            files.add(name.removeprefix(str(PACKAGE)))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        model.predict(texts)
    finally:
        sys.setprofile(before)
    assert 10 < len(files) <= MOST_FILES, sorted(files)
