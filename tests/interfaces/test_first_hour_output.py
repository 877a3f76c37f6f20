"""What `predict` prints and writes in the first hour with one's own data."""

import json
import math
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.data.strict_json import dumps

ROWS = '"the bus was late",buses\n"a hole in the road",roads\n"late bus, bad road",buses;roads\n"nothing",\n'
CSV = "text,labels\n" + 3 * ROWS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code, capsys.readouterr().err
    return capsys.readouterr().out


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def test_point_12_json_holds_null_instead_of_nan_and_infinity() -> None:
    """Point 12: numbers that JSON lacks become null, at any depth."""
    text = dumps({"a": [math.nan, {"b": (math.inf, -math.inf, 1.5)}]})
    assert json.loads(text, parse_constant=refuse) == {"a": [None, {"b": [None, None, 1.5]}]}


def test_point_12_infinite_thresholds_are_null(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Point 12: a label that is never predicted has the threshold null in `predict --scores`."""
    lines = ['"the bus was late",buses', '"a hole in the road",roads', '"bus and road",buses;roads']
    Path("mail.csv").write_text("text,labels\n" + "\n".join(4 * lines) + '\n"a hole in the road",parks\n')
    rule = ["decision.rule=per-label", "decision.below_floor=fbr.0", "decision.floor=0.9"]
    printed(capsys, "train", "mail.csv", "--method", "svm", *(part for one in rule for part in ("--set", one)))
    out = printed(capsys, "predict", "mail.manylabel", "mail.csv", "--scores", "--runners-up", "9")
    read = [json.loads(line, parse_constant=refuse) for line in out.splitlines()]
    thresholds = {row["label"]: row["threshold"] for row in read[0]["scores"]}
    assert thresholds["parks"] is None
    assert all("parks" not in document["labels"] for document in read)
