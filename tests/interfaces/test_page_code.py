"""The code of the pages for reference runs: Python and commands, each page in the order of its blocks.

A block after a line ``<!-- not run: reason -->`` is left out. The pages for learning (start, tutorials, guides) show
what their code prints, and have a test of their own.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel import TextClassifier, load_corpus, write_corpus
from manylabel.cli.run import run
from manylabel.data.labels import label_matrix

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(<!-- not run: [^>]+ -->\n\s*)?^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TESTED_ELSEWHERE = {"exporting.md", "serving.md"}
FOLDERS = (DOCS, DOCS / "methods", DOCS / "decisions")
TEXTS = {path.name: path.read_text(encoding="utf-8") for folder in FOLDERS for path in sorted(folder.glob("*.md"))}
PAGES = [name for name, text in TEXTS.items() if BLOCK.search(text) and name not in TESTED_ELSEWHERE]


class Encoder:
    """Stands for the encoders of other libraries."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.random.default_rng(0).normal(size=(len(texts), 8))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the pages name: letters.csv, a model of it, new letters, and decisions about its labels."""
    place = tmp_path_factory.mktemp("pages")
    letters = load_corpus("townhall").corpus.split("train").subset(range(60))
    write_corpus(letters, place / "letters.csv")
    TextClassifier("svm").fit(letters.texts, letters.label_sets).save(place / "letters.manylabel")
    (place / "new.csv").write_text("id,text\n17,The bus was late and the bin was full.\n", encoding="utf-8")
    first = f'{{"document": "{letters.ids[0]}", "label": "{letters.label_sets[0][0]}", "action": "remove"}}\n'
    (place / "decisions.jsonl").write_text(first, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the pages call model, texts, labels, X, Y and scores."""
    letters = load_corpus("townhall").corpus.split("train").subset(range(60))
    model = TextClassifier("svm").fit(letters.texts, letters.label_sets)
    Y = label_matrix(letters.label_sets, model.labels_)
    kept = np.flatnonzero(Y.sum(axis=0) >= 5)
    bus = ["travel/bus", "travel/train"]
    return {
        "TextClassifier": TextClassifier,
        "model": model,
        "texts": letters.texts,
        "labels": [[bus[number % 2]] for number in range(len(letters))],
        "X": model.transform(letters.texts),
        "Y": Y[:, kept],
        "out_of_fold_scores": model.predict_scores(letters.texts, raw=True)[:, kept],
        "scores": model.predict_scores(letters.texts[:5], raw=True)[:, kept],
        "encoder": Encoder(),
    }


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(
    page: str, folder: Path, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    known = dict(names)
    for left_out, language, body in BLOCK.findall(TEXTS[page]):
        if left_out:
            continue
        if language == "python":
            exec(compile(body, page, "exec"), known)
        for line in body.splitlines() if language == "sh" else ():
            words = shlex.split(line, comments=True)
            assert words[0] == "manylabel", f"{line}: mark the block as not run, with the reason"
            assert run(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"


def test_pages_that_show_outputs_have_a_test_of_their_own() -> None:
    assert {name for name, text in TEXTS.items() if "\n```console\n" in text} == TESTED_ELSEWHERE


def test_commands_that_are_not_run_exist() -> None:
    """The commands in indented lines, many of them with an explanation behind."""
    lines = {
        re.split(r" {2,}| \(", line.strip())[0]
        for text in TEXTS.values()
        for line in re.findall(r"^ {4}manylabel [^\n]+$", text, re.MULTILINE)
        if "…" not in line
    }
    assert len(lines) > 40
    for line in sorted(lines):
        words = shlex.split(re.split(r" [>|] ", line.removesuffix("\\"))[0])
        assert run([*words[1:], "--help"]) == 0, line
