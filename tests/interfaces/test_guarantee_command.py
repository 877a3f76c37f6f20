"""``train --guarantee`` and ``--probabilities``: what they print, keep, and refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from manylabel.cli.run import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code, capsys.readouterr().err
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


def recorded(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command wrote to standard output, parsed as JSON."""
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def test_a_guaranteed_recall(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained = printed(capsys, "train", "townhall", "--guarantee", "recall=0.8", "--set", "decision.share=0.3")
    guaranteed = "Guaranteed, recall 0.8: new documents of the same kind get at least 80 % of their labels on average."
    assert guaranteed in trained
    assert guaranteed in printed(capsys, "inspect", "townhall.manylabel")
    measured = printed(capsys, "evaluate", "townhall", "--model", "townhall.manylabel")
    assert guaranteed in measured
    assert "Measured here: recall 0." in measured
    facts = recorded(capsys, "inspect", "townhall.manylabel", "--json")
    assert facts["guarantee"]["metric"] == "recall"
    assert facts["facts"]["recipe"]["decision"]["share"] == 0.3
    result = recorded(capsys, "evaluate", "townhall", "--model", "townhall.manylabel", "--json")
    assert 0 < result["results"][0]["remarks"]["guarantee"]["measured"] <= 1


def test_a_guaranteed_false_discovery_rate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = recorded(capsys, "train", "townhall", "--guarantee", "fdr=0.3", "--json")
    assert facts["guarantee"]["level"] == 0.3
    assert facts["guarantee"]["bound"] <= 0.3
    shown = printed(capsys, "inspect", "townhall.manylabel")
    assert "at most 30 % of the labels predicted for new documents of the same kind are wrong on average" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--guarantee", "recall=0.999"], "cannot be guaranteed: giving every label that training has seen to"),
        (["--guarantee", "recall"], "--guarantee is written recall=0.9 or fdr=0.2, not 'recall'."),
        (["--guarantee", "precision=0.9"], "--guarantee is written recall=0.9 or fdr=0.2"),
        (["--guarantee", "recall=90"], "recall=90: the level is a fraction above 0 and below 1. Write recall=0.9."),
        (["--guarantee", "fdr=1"], "fdr=1: the level is a fraction above 0 and below 1. Write fdr=0.2."),
        (["--guarantee", "recall=0.9", "--set", "decision.rule=top-k"], "without --set decision.rule"),
        (["--guarantee", "recall=0.9", "--metric", "exact-match"], "give it without --metric"),
    ],
)
def test_what_cannot_be_guaranteed(
    arguments: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in printed(capsys, "train", "townhall", *arguments, code=2)
    assert not Path("townhall.manylabel").exists()


def test_probabilities_of_margins(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "townhall", "--method", "svm", "--probabilities", "logistic")
    Path("new.jsonl").write_text('{"id": "a", "text": "the bus was late again"}\n')
    answer = recorded(capsys, "predict", "townhall.manylabel", "new.jsonl", "--scores")
    assert answer["scores"]
    for row in answer["scores"]:
        assert 0 <= row["score"] <= 1
        assert 0 <= row["threshold"] <= 1
        assert (row["label"] in answer["labels"]) == (row["score"] >= row["threshold"])
