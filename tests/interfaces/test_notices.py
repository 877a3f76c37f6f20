"""What commands print beside their figures, so that a new user is not led astray."""

import re
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.exceptions import UnknownNameError

ROWS = (
    "the bus was late,buses\na hole in the road,roads\nlate bus and bad road,buses;roads\nnothing here,\n"
    "the bus never came,buses\nholes in this road,roads\n"
)


@pytest.fixture
def letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("letters.csv").write_text("text,labels\n" + 5 * ROWS)
    return Path("letters.csv")


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(list(map(str, arguments))) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("omikuji", "label-tree"),
        ("tfidf", "rocchio"),
        ("TF-IDF", "rocchio"),
        ("fastText", "auto, svm and logistic"),
        ("mllm", "--label-descriptions"),
        ("svc", "svm here, with --single-label"),
        ("nn_ensemble", "ensemble-stacked"),
    ],
)
def test_methods_of_other_tools_are_answered_with_ours(name: str, ours: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        TextClassifier(name).fit(["a", "b"], [["x"], ["y"]])
    first, hint, rest = re.split(r"(?<=\.) ", str(raised.value), maxsplit=2)
    assert first == f"Unknown method: {name!r}."
    assert ours in hint
    assert rest.startswith("Known: auto,")


def test_a_misspelt_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'label-tree'"):
        TextClassifier("label-trees").fit(["a", "b"], [["x"], ["y"]])
