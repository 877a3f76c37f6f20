"""Near-duplicates as ``evaluate`` and ``describe`` report them, and splits that keep them together."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.fixture
def copied(tmp_path: Path) -> str:
    """Forty letters, each there twice."""
    path = tmp_path / "mail.csv"
    rows = [
        f"letter {n} about the {'bus' if n % 2 else 'road'} number {n},{'buses' if n % 2 else 'roads'}"
        for n in range(100, 140)
    ]
    path.write_text("text,labels\n" + "\n".join(rows * 2) + "\n")
    return str(path)


def test_evaluate_warns_of_near_duplicates(copied: str, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate = ("evaluate", copied, "--method", "nb", "-j", "1")
    shown = printed(capsys, *evaluate)
    assert "of 20 test documents are near-duplicates of training documents" in shown
    found = json.loads(printed(capsys, *evaluate, "--json"))["near_duplicates"]
    assert found["documents"] == found["identical"] > 0
    assert "training documents that nearly equal a test document were left out" in printed(
        capsys, *evaluate, "--drop-duplicates"
    )
    apart = printed(capsys, *evaluate, "--split-by", "duplicates")
    assert "keeps near-duplicates together" in apart
    assert "near-duplicates of training documents" not in apart


def test_describe_counts_near_duplicates(copied: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Near-duplicates: 40 pairs among 80 documents" in printed(capsys, "describe", copied)
    assert json.loads(printed(capsys, "describe", copied, "--json"))["near_duplicates"]["pairs"] == 40


def test_a_model_file_is_not_split_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "townhall", "--model", str(tmp_path / "x"), "--split-by", "time:date"]) == 2
    assert "a model file has been trained" in capsys.readouterr().err
