"""``manylabel compare``: a page, JSON, a report, a model to train again; wrong input is said in a sentence."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run

FEW = ["--methods", "nb-binary,rocchio", "--methods", "nb-app", "--folds", "2", "--jobs", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_page_report_and_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["compare", "townhall", *FEW, "--budget", "10m", "--report", "out.html", "--model", "best.manylabel"]) == 0
    )
    page = capsys.readouterr().out
    assert "Comparing methods on townhall for Micro F1" in page
    assert "2 time-ordered folds (date)" in page
    assert "The winner is" in page
    assert "On the test split (190 documents" in page
    assert "the mean over random samples of as many of the compared documents" in " ".join(page.split())
    recipe = page.partition("The recipe")[2].partition("method = ")
    Path("best.toml").write_text(recipe[1] + recipe[2].partition("The model, trained")[0])
    html = Path("out.html").read_text()
    assert "Methods compared" in html
    assert html.count("<ml-chart><script") == 3
    assert run(["train", "townhall", "--recipe", "best.toml", "--model", "again.manylabel", "--jobs", "1"]) == 0
    assert run(["predict", "best.manylabel", "townhall", "--json"]) == 0
    capsys.readouterr()
    answers = []
    for model in ("best.manylabel", "again.manylabel"):
        assert run(["evaluate", "townhall", "--model", model, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out)["results"][0]["metrics"])
    assert answers[0] == answers[1]


def test_json_and_several_data_sets(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{word} text {number},{word}" for number in range(12) for word in ("bus", "road")]
    Path("a.csv").write_text("text,labels\n" + "\n".join(lines) + "\n")
    Path("b.csv").write_text(Path("a.csv").read_text())
    assert run(["compare", "a.csv", *FEW, "--metric", "exact-match", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metric"]["name"] == "exact-match"
    assert found["test"] is None
    assert found["leaderboard"][0]["value"] == 1.0
    assert {row["method"] for row in [*found["leaderboard"], *found["stopped"]]} == {"nb-binary", "nb-app", "rocchio"}
    assert Path("a.manylabel").exists()
    assert run(["compare", "a.csv", "b.csv", *FEW]) == 0
    page = capsys.readouterr().out
    assert "Over 2 data sets" in page
    assert "Nemenyi" in page


def test_a_test_file_is_measured_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{word} text {number},{word}" for number in range(12) for word in ("bus", "road")]
    Path("a.csv").write_text("text,labels\n" + "\n".join(lines) + "\n")
    Path("t.csv").write_text("text,labels\na bus,bus\na road,road\na road,bus\n")
    assert run(["compare", "a.csv", *FEW, "--test", "t.csv", "--metric", "recall@1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    test = found["test"]
    assert run(["evaluate", "a.csv", "--method", "nb-binary", "--test", "t.csv", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["results"][0]
    for fact in ("versions", "train_sha256", "true_labels_sha256"):
        assert found[fact] == measured[fact]
    assert test["documents"] == 3
    assert test["value"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods", "svmm"], "Did you mean 'svm'"),
        (["--metric", "micro"], "Did you mean 'micro-f1'"),
        (["--folds", "1"], "at least 2 folds"),
        (["--budget", "abc"], "90s, 2m"),
        (["townhall", "--model", "x.manylabel"], "one data set"),
    ],
)
def test_wrong_input(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert run(["compare", "townhall", *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert not list(Path().iterdir())
