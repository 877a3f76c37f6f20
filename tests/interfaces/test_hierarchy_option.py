"""``--hierarchy`` on the command line: evaluation, model files, and wrong hierarchies."""

import json
from pathlib import Path

import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run

TEXTS = ["late bus", "bus stop broken", "late train", "train cancelled", "hole in the road", "road works"] * 4
LABELS = [["travel/bus"], ["travel/bus"], ["travel/train"], ["travel/train"], ["roads"], ["roads"]] * 4
METHODS = ("svm-closed", "svm-top-down", "svm-propagated")


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f'"{text}",{";".join(names)}' for text, names in zip(TEXTS, LABELS, strict=True)]
    Path("mail.csv").write_text("text,labels\n" + "\n".join(lines) + "\n")
    return tmp_path


def _run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert run(list(arguments)) == code
    said = capsys.readouterr()
    return said.out, said.err


def test_flat_top_down_and_propagated_side_by_side(mail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    methods = [word for name in ("svm", *METHODS) for word in ("--method", name)]
    out, _ = _run(capsys, "evaluate", "mail.csv", "--hierarchy", "names:/", *methods, "--json")
    results = json.loads(out)["results"]
    assert [result["method"] for result in results] == ["svm", *METHODS]
    assert all(result["metrics"]["all"]["hierarchical-f1"] > 0.5 for result in results)
    assert "ancestors" in results[0]["conventions"]["hierarchical-f1"]
    page, _ = _run(capsys, "evaluate", "mail.csv", "--hierarchy", "names:/", *methods)
    assert "Hierarchical F1" in page
    flat, _ = _run(capsys, "evaluate", "mail.csv")
    assert "Hierarchical" not in flat


def test_the_model_file_brings_the_hierarchy_to_data_without_one(
    mail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("tree.tsv").write_text("travel/bus\ttravel\ntravel/train\ttravel\n")
    _run(capsys, "train", "mail.csv", "--method", "svm-top-down", "--hierarchy", "tree.tsv", "-m", "m.manylabel")
    page, _ = _run(capsys, "evaluate", "mail.csv", "--model", "m.manylabel")
    assert "Hierarchical F1" in page


def test_wrong_hierarchies_are_told_in_one_sentence(mail: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tree.tsv").write_text("travel/bus\ttravel\ntravel/bus\ttravel/bus\n")
    _, said = _run(capsys, "train", "mail.csv", "--hierarchy", "tree.tsv", code=2)
    assert "tree.tsv, line 2" in said
    out, _ = _run(capsys, "train", "mail.csv", "--hierarchy", "tree.tsv", "--on-error", "skip", "--json")
    assert len(json.loads(out)["skipped"]) == 1
    _, said = _run(capsys, "evaluate", "mail.csv", "--hierarchy", "no-such-file.tsv", code=2)
    assert "no-such-file.tsv" in said
    _, said = _run(capsys, "evaluate", "mail.csv", "--split-by", "author", code=2)
    assert "column to split by" in said


@pytest.mark.parametrize("form", ["<{}>", "{}"], ids=["brackets", "bare"])
def test_a_file_of_addresses_is_read_with_the_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    uri = "http://x.org/{}".format
    number = {"travel/bus": 1, "travel/train": 2, "roads": 3}
    rows = [f"{text}\t<{uri(number[names[0]])}>" for text, names in zip(TEXTS, LABELS, strict=True)]
    Path("mail.tsv").write_text("\n".join(rows) + "\n")
    Path("names.tsv").write_text(
        "".join(f"<{uri(key)}>\t{name}\n" for key, name in enumerate(["bus", "train", "roads", "travel"], 1))
    )
    Path("tree.tsv").write_text("".join(f"{form.format(uri(key))}\t{form.format(uri(4))}\n" for key in (1, 2)))
    _run(capsys, "train", "mail.tsv", "--method", "svm-top-down", "--hierarchy", "tree.tsv", "-m", "m.manylabel")
    model = TextClassifier.load("m.manylabel")
    assert (model.labels_, model.nodes_) == (["bus", "roads", "train"], ["bus", "roads", "train", "travel"])
    assert model.parents_.tolist() == [3, -1, 3, -1]
