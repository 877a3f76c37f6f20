"""Messages of the first hour: numbers agree with their nouns, and a page tells how to install."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manylabel.cli.run import run
from manylabel.data.splits import k_fold
from manylabel.estimator import Csr
from manylabel.exceptions import ManylabelError
from manylabel.metrics import label_counts
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.wording import counted, there_are

ROOT = Path(__file__).parents[2]
ONE = Csr(np.ones((1, 1)))
NOUNS = (
    "attribute|batch|cell|class|column|document|draw|entr(?=ies)|feature|fold|group|id|key|label|line|member|model|name|"
    "number|pair|rank|repeat|result|row|round|rule|setting|split|step|term|text|value|word"
)
WHICH = "(?:bad|data|different|label|labelled|more|new|other|stratified|test|training|true|unlabelled)"
PLURAL = re.compile(
    rf"(?<![\d.,/])1 (?:{WHICH} )?(?:{NOUNS})(?:e?s|ies)\b(?! per)"
    r"|\b(?:are|were) (?:only )?1 |\b1 (?:are|were|have)\b"
)
"""One of something, named by a plural: "1 labels", "1 more labels", "there are 1"."""


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Runs a command in a folder with one document and with documents of one label; returns all that it prints."""
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("text,labels\nThe bus was late,buses\n", encoding="utf-8")
    rows = [
        f"{text} {number},{label}" for number in range(12) for text, label in (("late bus", "buses"), ("bad road", ""))
    ]
    Path("label.csv").write_text("\n".join(["text,labels", *rows]), encoding="utf-8")
    Path("new.csv").write_text("text\na late bus\n", encoding="utf-8")

    def result(command: str) -> str:
        run(command.split())
        found = capsys.readouterr()
        return " ".join((found.out + found.err).split())

    return result


def test_point_21_one_of_anything_is_singular_in_every_command(printed: Callable[[str], str]) -> None:
    """Point 21: no command prints "1 labels" for one document or documents of one label."""
    commands = [
        "describe one.csv",
        "train one.csv",
        "select one.csv",
        "rules one.csv",
        "evaluate one.csv",
        "compare one.csv",
        "tune one.csv",
        "learning-curve one.csv",
        "convert one.csv one.jsonl",
        "describe label.csv",
        "train label.csv --method svm --model label.manylabel",
        "inspect label.manylabel",
        "predict label.manylabel new.csv --scores",
        "evaluate label.csv --model label.manylabel",
        "evaluate label.csv --method nb-binary --json",
        "select label.csv",
        "rules label.csv",
        "compare label.csv --method svm-zero --budget 2s --folds 2",
        "compare label.csv --method svm-zero --budget 2s --folds 1",
        "tune label.csv --method svm-zero --budget 2s",
    ]
    texts = {command: printed(command) for command in commands}
    wrong = {command: PLURAL.findall(text) for command, text in texts.items() if PLURAL.search(text)}
    assert wrong == {}
    assert "1 document" in texts["describe one.csv"]
    assert "1 label" in texts["inspect label.manylabel"]


def test_point_21_errors_about_one_of_something_are_singular() -> None:
    """Point 21: the same for messages that only Python callers meet."""
    mistakes: dict[str, Callable[[], object]] = {
        "1 document cannot make 2 folds": lambda: k_fold(1, 2, 0),
        "X has 1 document but Y has 2 rows": lambda: LinearSVM().fit([[1.0]], [[1], [0]]),
        "Counts of 1 label cannot be added": lambda: label_counts([[1]], [[1]]) + label_counts([[1, 0]], [[1, 0]]),
        "there is only 1 document": lambda: out_of_fold_scores(LinearSVM(), ONE, ONE, 5, 0),
    }
    for expected, mistake in mistakes.items():
        with pytest.raises(ManylabelError, match=expected) as found:
            mistake()
        assert not PLURAL.search(str(found.value))


def test_point_21_numbers_and_nouns() -> None:
    assert counted(0, "label") == "0 labels"
    assert counted(1, "batch", "batches") == "1 batch"
    assert there_are(2, "batch", "batches") == "there are 2 batches"
    assert PLURAL.search("There are 1 documents")
    assert PLURAL.search("1 more labels")
    assert not PLURAL.search("11 labels, 1 label, 0.1 documents")


def test_point_21_a_page_tells_how_to_install_and_what_each_extra_is_for() -> None:
    """Point 21: `pip install .`, every extra with its purpose, and how to call manylabel after `make demo`."""
    page = (ROOT / "docs" / "start" / "installing.md").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert "pip install ." in page
    assert ".venv/bin/manylabel" in page
    purposes = dict(re.findall(r"^\| `\.\[(\w+)\]` \| (.+) \|$", page, flags=re.MULTILINE))
    assert set(purposes) == set(extras)
