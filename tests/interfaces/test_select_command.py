"""``manylabel select``, and training on selected terms from the command line."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def test_the_command_prints_functions_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "select", "townhall", "-f", "chi2", "-f", "or", "--label", "transport/buses", "--top", "4")
    lines = shown.splitlines()
    header = next(line for line in lines if "chi2" in line)
    assert header.split() == ["chi2", "or"]
    assert sum(line.split()[:1] in (["1"], ["2"], ["3"], ["4"], ["5"]) for line in lines) == 4
    assert "bus" in shown
    everything = printed(capsys, "select", "townhall", "-f", "all", "--scope", "global", "--top", "2")
    assert "ig (sum)" in everything
    assert "chi2 (max)" in everything
    facts = json.loads(printed(capsys, "select", "townhall", "--labels", "2", "--json"))
    assert len(facts["found"]) == 2
    assert facts["functions"] == ["chi2", "ig", "rs", "or"]


def test_wrong_names_are_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean 'chi2'?" in printed(capsys, "select", "townhall", "-f", "chi", code=2)
    assert "Did you mean 'transport/buses'?" in printed(capsys, "select", "townhall", "-l", "buses", code=2)
    assert "settings of features alone" in printed(capsys, "select", "townhall", "-s", "model.C=1", code=2)
    assert "No term is in" in printed(capsys, "select", "townhall", "--min-df", "100000", code=2)
    assert "At least one term" in printed(capsys, "select", "townhall", "--top", "0", code=2)
    assert "--base above 1" in printed(capsys, "select", "townhall", "--base", "1", code=2)


def test_training_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(tmp_path / "m.manylabel")
    settings = ["--set", "selection.function=ig", "--set", "selection.k=100"]
    assert "100 terms" in printed(capsys, "train", "townhall", "--model", model, *settings)
    assert "One-error" in printed(capsys, "evaluate", "townhall", "--model", model)
    assert "selection  k" in printed(capsys, "inspect", model)
