"""Labels made by programs, and descriptions of labels, by command: what is trained, measured, printed and kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run

BUS, ROAD = "the bus was late again", "a deep hole in our road"


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve letters of people, forty labelled by a program, four of them the same, one of these wrongly."""
    place = tmp_path_factory.mktemp("distil")
    people = [(f"{BUS if n % 2 else ROAD} {n}", ["buses" if n % 2 else "roads"]) for n in range(12)]
    lines(place / "human.jsonl", [{"text": text, "labels": labels} for text, labels in people])
    made: list[dict[str, Any]] = [
        {"text": f"{BUS if n % 2 else ROAD} {n}", "labels": ["buses" if n % 2 else "roads"]} for n in range(8, 48)
    ]
    made[0] = {"text": f" {ROAD}  8", "labels": ["buses"], "scores": {"buses": 0.3}}
    lines(place / "llm.jsonl", made)
    return place


@pytest.fixture(scope="module")
def distilled(folder: Path) -> dict[str, Any]:
    """What `distil` prints as JSON."""
    report, target = folder / "distilled.json", folder / "distilled.manylabel"
    words = ["distil", folder / "llm.jsonl", "--human", folder / "human.jsonl", "--to", target, "--method", "svm"]
    assert run([*map(str, words), "--report", str(report)]) == 0
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def test_agreement_is_measured_on_documents_of_both(distilled: dict[str, Any]) -> None:
    assert (distilled["documents_in_both"], distilled["program_documents"], distilled["human_documents"]) == (4, 36, 12)
    buses = next(one for one in distilled["labels"] if one["label"] == "buses")
    assert (buses["human"], buses["program"], buses["recall"]) == (2, 3, 1.0)
    assert buses["precision"] == pytest.approx(2 / 3)
    low, high = buses["precision_interval"]
    assert 0.1 < low < 2 / 3 < high < 1


def test_the_quality_is_that_on_documents_of_people(distilled: dict[str, Any], folder: Path) -> None:
    assert distilled["expected"]["documents"] == distilled["human_alone"]["documents"] == 12
    model = TextClassifier.load(folder / "distilled.manylabel")
    assert model.expected_ == distilled["expected"]
    assert model.n_documents_ == 48
    assert model.predict(["a late bus"]) == [["buses"]]


@pytest.mark.parametrize("command", ["inspect", "card"])
def test_provenance_is_kept_in_the_model(
    command: str, distilled: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, str(folder / "distilled.manylabel")]) == 0
    assert "program made the labels of 36 of the 48" in " ".join(capsys.readouterr().out.split())


def test_labels_with_a_low_score_are_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["distil", folder / "llm.jsonl", "--to", folder / "x.manylabel", "--least-score", "0.5", "--method", "svm"]
    assert run([*map(str, words), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["program_documents"], found["expected"], found["human_documents"]) == (40, None, 0)
    assert TextClassifier.load(folder / "x.manylabel").label_counts_.tolist() == [20, 19]


def test_prompts_are_written_and_answers_read_back(folder: Path) -> None:
    (folder / "labels.csv").write_text("label,description\nbuses,late buses\n", encoding="utf-8")
    lines(folder / "new.jsonl", [{"id": "n1", "text": "the bus stop is dark"}, {"id": "n2", "text": "holes"}])
    words = ["suggest", folder / "human.jsonl", "--unlabelled", folder / "new.jsonl", "--for-llm", folder / "ask.jsonl"]
    assert run([*map(str, words), "--label-descriptions", str(folder / "labels.csv")]) == 0
    asked = [json.loads(line) for line in (folder / "ask.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {one["id"] for one in asked} == {"n1", "n2"}
    assert {"label": "buses", "description": "buses late buses"} in asked[0]["candidates"]
    assert "late buses" in asked[0]["prompt"]
    answers = lines(folder / "answers.jsonl", [{"id": "n1", "labels": ["buses"]}, {"id": "n2", "labels": ["roads"]}])
    target = folder / "answered.manylabel"
    words = ["distil", answers, "--prompts", folder / "ask.jsonl", "--to", target, "--method", "nb-binary"]
    assert run(list(map(str, words))) == 0
    assert TextClassifier.load(target).labels_ == ["buses", "roads"]


@pytest.mark.parametrize(
    ("record", "message"),
    [({"id": "a", "labels": ["x"]}, "has no text"), ({"text": "a", "labels": "x"}, "no list of names")],
)
def test_a_line_that_is_no_labelled_document_is_named(
    record: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(tmp_path / "bad.jsonl", [record])
    assert run(["distil", str(path), "--to", str(tmp_path / "m.manylabel")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "bad.jsonl, line 1" in error


def test_a_model_of_descriptions_alone_is_trained_inspected_and_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    described, model, new = tmp_path / "labels.csv", tmp_path / "m.manylabel", tmp_path / "new.csv"
    described.write_text("label,description\nbuses,late bus\nroads,hole in the road\nlamps,street light\n")
    new.write_text(f"id,text\n1,{BUS}\n")
    assert run(["train", "--label-descriptions", str(described), "--model", str(model)]) == 0
    assert "3 of 3 labels (buses, roads, lamps) are known from their descriptions only" in capsys.readouterr().out
    assert run(["inspect", str(model)]) == 0
    assert "its description only" in capsys.readouterr().out
    assert run(["predict", str(model), str(new)]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["labels"] == ["buses"]
    assert "from their descriptions only" in printed.err
    assert run(["train"]) == 2
    assert "nothing to learn from" in capsys.readouterr().err
