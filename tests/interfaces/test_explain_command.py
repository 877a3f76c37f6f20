"""``manylabel explain``: a text, a file, standard input; on the terminal, as JSON and as a page."""

import io
import json
import sys
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run

ROWS = '"the bus was late",buses\n"a hole in the road",roads\n"late bus, bad road",buses;roads\n"nothing",\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mail.csv").write_text("text,labels\n" + 5 * ROWS)
    assert run(["train", "mail.csv", "--method", "svm"]) == 0
    capsys.readouterr()
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_a_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "explain", "mail.manylabel", "Is the Bus here?")
    assert out.startswith("buses: predicted (probability 0.")
    assert "Is [the −" in out
    assert "[Bus +" in out
    assert "Without “bus” the label would not be predicted (probability 0." in out
    assert out.endswith("Contributions are exact: with the intercept they add up to the score.\n")


@pytest.mark.parametrize(
    "text", [30 * "Is the bus here? ", 90 * "公交车晚点" + "/bus", "bus\0", f"{30 * 'late bus '}.txt"]
)
def test_a_text_that_cannot_be_the_name_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert "probability 0." in printed(capsys, "explain", "mail.manylabel", text)


def test_a_label_that_is_not_predicted_where_others_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "explain", "mail.manylabel", "Is the Bus here?", "--label", "roads")
    assert out.startswith("Not predicted: roads. Predicted: buses.\n")
    assert "roads: not predicted (probability 0." in out
    nothing = printed(capsys, "explain", "mail.manylabel", "nothing", "--label", "roads")
    assert nothing.startswith("No label is predicted.\n")
    assert printed(capsys, "explain", "mail.manylabel", "nothing").startswith(
        "No label is predicted. These have the highest pro"
    )


def test_json_holds_positions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "explain", "mail.manylabel", "Is the Bus here?", "--json"))
    assert found["fields"] == [{"field": None, "text": "Is the Bus here?"}]
    buses = found["labels"][0]
    (bus,) = (term for term in buses["terms"] if term["term"] == "bus")
    assert bus["occurrences"] == [[{"field": None, "start": 7, "end": 10}]]
    assert buses["exact"] is True
    sums = buses["intercept"] + sum(term["contribution"] for term in buses["terms"])
    assert sums == pytest.approx(buses["total"], abs=1e-9)


def test_a_file_and_one_of_its_documents(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.csv").write_text('id,text\na,"late bus"\nb,"bad road"\nc,"a bus"\n')
    out = printed(capsys, "explain", "mail.manylabel", "new.csv", "--documents", "2")
    assert [f"Document {name}\n" in out for name in "abc"] == [True, True, False]
    out = printed(capsys, "explain", "mail.manylabel", "new.csv", "--id", "b", "--label", "roads")
    assert out.startswith("roads: predicted")
    assert run(["explain", "mail.manylabel", "new.csv", "--id", "x"]) == 2
    printed_error = capsys.readouterr().err
    assert "Unknown document: 'x'" in printed_error
    assert "id_column" not in printed_error
    Path("new.csv").write_text('mark,text\na,"late bus"\nb,"bad road"\n')
    assert run(["explain", "mail.manylabel", "new.csv", "--id", "b"]) == 2
    assert "ids are line numbers. Use -o id_column=NAME." in capsys.readouterr().err


def test_standard_input(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'late bus\n{"text": "bad road"}\n')))
    out = printed(capsys, "explain", "mail.manylabel")
    assert "Document 1\n" in out
    assert "[road +" in out


def test_a_page_needs_no_other_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "explain", "mail.manylabel", "<b>late</b> bus", "--report", "why.html")
    page = Path("why.html").read_text(encoding="utf-8")
    assert '<mark class="for"' in page
    assert "&lt;" in page
    assert "<b>late" not in page
    assert "src=" not in page


def test_a_report_beside_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "explain", "mail.manylabel", "the bus", "--json", "--report", "why.json")
    assert json.loads(Path("why.json").read_text(encoding="utf-8")) == [json.loads(out)]


def test_wrong_arguments(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "mail.manylabel", "missing.csv"]) == 2
    assert "missing.csv" in capsys.readouterr().err
    assert run(["explain", "mail.manylabel", "late bus", "--label", "bus"]) == 2
    assert "buses" in capsys.readouterr().err


def test_a_label_without_evidence_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rule predicts three labels, and the classifiers of two of them have no weight for these words."""
    pairs = [("cats purr", "cats"), ("dogs bark", "dogs"), ("mice squeak", "mice"), ("owls hoot", "owls")] * 5
    top = {"rule": "top-k", "k": 3}
    model = TextClassifier("label-tree", decision=top, model={"prune": 0.5}, features={"stemmer": None})
    model.fit([text for text, _ in pairs], [[label] for _, label in pairs]).save(folder / "tree.manylabel")
    assert run(["explain", str(folder / "tree.manylabel"), "cats purr", "--runners-up", "0"]) == 0
    shown = capsys.readouterr().out.split(": predicted")
    assert [("purr  " in part, "No term of the document speaks" in part) for part in shown[1:]] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    found = model.explain("cats purr", runners_up=0)
    assert [one.no_evidence_text is None for one in found.labels] == [True, False, False]
    assert "No term of the document speaks" in str(found)
    assert "No term of the document speaks" in found._repr_html_()
