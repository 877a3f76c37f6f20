"""``manylabel rules`` and ``--rules``: from suggested rules to a model that keeps them."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.features.keyword_rules import parse_rules

ROWS = '"the bus was late",buses\n"a hole in the road",roads\n"late bus, bad road",buses;roads\n"nothing",\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mail.csv").write_text("text,labels\n" + 3 * ROWS)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_suggested_rules_can_be_used_as_they_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "rules", "mail.csv")
    assert {label: str(query) for label, query in parse_rules(text).items()} == {"buses": "bus", "roads": "road"}
    assert "# 6 documents, precision 1.00, recall 1.00" in text
    Path("rules.txt").write_text(text)
    printed(capsys, "train", "mail.csv", "--method", "rules", "--rules", "rules.txt")
    assert "Micro F1" in printed(capsys, "evaluate", "mail.csv", "--model", "mail.manylabel")
    assert "Micro F1" in printed(capsys, "evaluate", "mail.csv", "--method", "svm", "--rules", "rules.txt")
    suggested = json.loads(printed(capsys, "rules", "mail.csv", "--json"))
    assert suggested[0] == {"label": "buses", "query": "bus", "documents": 6, "precision": 1.0, "recall": 1.0}


def test_a_rule_gives_its_label_from_a_model_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules.txt").write_text('roads: potholes OR "speed bump*"\n')
    printed(capsys, "train", "mail.csv", "--method", "nb", "--rules", "rules.txt")
    Path("rules.txt").unlink()
    Path("new.csv").write_text('id,text\n7,"late bus at the speed bumps"\n')
    answer = json.loads(printed(capsys, "predict", "mail.manylabel", "new.csv"))
    assert "roads" in answer["labels"]


def test_a_wrong_rule_is_shown_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules.txt").write_text("# mine\nroads: (hole OR\n")
    assert run(["train", "mail.csv", "--rules", "rules.txt"]) == 2
    assert capsys.readouterr().err.endswith(
        "manylabel: rules.txt, line 2: The query ends at column 16 where a word, a phrase in quotes, NOT or ( was "
        "expected:\n    roads: (hole OR\n                   ^\n"
    )


def test_ready_made_counts_are_asked_by_the_names_of_their_terms(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("counts.svm").write_text("0 1:2 2:1\n1 2:1\n0,1 1:1\n" * 4)
    text = printed(capsys, "rules", "counts.svm")
    assert str(parse_rules(text)["0"]) == "t0", "the first column, which the format leaves without a name of its own"
    Path("rules.txt").write_text(text)
    assert "Micro F1" in printed(capsys, "evaluate", "counts.svm", "--method", "rules", "--rules", "rules.txt")
