"""What `predict` prints and writes in the first hour with one's own data."""

import io
import json
import math
import subprocess
import sys
from functools import partial
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
    """Point 12: a label that is never predicted has the threshold null in `predict --raw-scores`."""
    lines = ['"the bus was late",buses', '"a hole in the road",roads', '"bus and road",buses;roads']
    Path("mail.csv").write_text("text,labels\n" + "\n".join(4 * lines) + '\n"a hole in the road",parks\n')
    rule = ["decision.rule=per-label", "decision.below_floor=fbr.0", "decision.floor=0.9"]
    printed(capsys, "train", "mail.csv", "--method", "svm", *(part for one in rule for part in ("--set", one)))
    out = printed(capsys, "predict", "mail.manylabel", "mail.csv", "--raw-scores", "--runners-up", "9")
    read = [json.loads(line, parse_constant=refuse) for line in out.splitlines()]
    thresholds = {row["label"]: row["threshold"] for row in read[0]["scores"]}
    assert thresholds["parks"] is None
    assert all("parks" not in document["labels"] for document in read)


def trained(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(CSV)
    printed(capsys, "train", "mail.csv", "--method", "nb-binary")


def test_point_15_a_co_process_gets_its_answer_at_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Point 15: each line of an open pipe is answered before the next is written."""
    trained(capsys)
    command = [sys.executable, "-m", "manylabel", "predict", "mail.manylabel"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, (text, label) in enumerate([("late bus", "buses"), ("hole in the road", "roads")], start=1):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"id": str(number), "labels": [label]}
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_point_15_text_files_are_read_as_standard_input_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Point 15: a .txt file holds a text per line; bad bytes are skipped on request, blank lines keep their place."""
    trained(capsys)
    Path("new.txt").write_bytes(b"late, late bus\n\nf\xfcr\nhole in the road\n")
    assert run(["predict", "mail.manylabel", "new.txt"]) == 2
    assert "new.txt, line 3: These bytes are not UTF-8." in capsys.readouterr().err
    assert run(["predict", "mail.manylabel", "new.txt", "--on-error", "skip", "-j", "1"]) == 0
    shown = capsys.readouterr()
    assert [json.loads(line) for line in shown.out.splitlines()] == [
        {"id": "1", "labels": ["buses"]},
        {"id": "2", "labels": []},
        {"id": "4", "labels": ["roads"]},
    ]
    assert "skipped: new.txt, line 3" in shown.err
    assert len(printed(capsys, "predict", "mail.manylabel", "new.txt", "--encoding", "latin-1").splitlines()) == 4


def test_point_15_blank_rows_keep_their_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Point 15: a row without a text has a prediction too: no labels."""
    trained(capsys)
    Path("new.csv").write_text("number,text\na,late bus\nb,\n,\n\nc,hole in the road\n\n")
    Path("new.jsonl").write_text('{"id": 1, "text": "late bus"}\n{"id": 2, "text": null}\n')
    rows = [json.loads(line) for line in printed(capsys, "predict", "mail.manylabel", "new.csv").splitlines()]
    assert [row["labels"] for row in rows] == [["buses"], [], [], [], ["roads"]]
    rows = [json.loads(line) for line in printed(capsys, "predict", "mail.manylabel", "new.jsonl").splitlines()]
    assert [row["labels"] for row in rows] == [["buses"], []]


def test_point_15_an_id_of_null_is_the_number_of_the_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Point 15: records without an id are numbered, also where the key is there."""
    trained(capsys)
    Path("new.txt").write_text('{"id": null, "text": "late bus"}\n{"id": 0, "text": "late bus"}\n')
    rows = [json.loads(line) for line in printed(capsys, "predict", "mail.manylabel", "new.txt").splitlines()]
    assert [row["id"] for row in rows] == ["1", "0"]


def piped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str, code: int = 0
) -> tuple[list[tuple[str, list[str]]], str]:
    """The ids and labels that a command predicts for standard input, and its remarks."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert run(["predict", "mail.manylabel", *arguments]) == code
    shown = capsys.readouterr()
    rows = [json.loads(line) for line in shown.out.splitlines()]
    return [(row["id"], row["labels"]) for row in rows], shown.err


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        ('{"text": 5}\n', "jsonl", "line 1: 'text' of this record holds a number, not a text. Write texts in quotes."),
        ('{"body": null, "a": 1}\n', "jsonl", "line 1: This record has no text under 'text'. Keys: 'body', 'a'."),
        (
            "a bus\n{bad\n",
            "jsonl",
            "line 2: This line is not JSON: Expecting property name enclosed in double quotes, ",
        ),
        ('text\nbus\n"road\n', "csv", "line 3: A quote opened in this row is never closed."),
    ],
)
def test_what_is_wrong_on_standard_input_is_named_by_its_line(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    format: str,
    message: str,
) -> None:
    trained(capsys)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert run(["predict", "mail.manylabel", "--format", format]) == 2
    assert capsys.readouterr().err.startswith(f"manylabel: standard input, {message}")


def test_skipped_lines_of_a_table_on_standard_input_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(capsys)
    table = "id,text\n7,late bus\n8,bad,road\n"
    _, remarks = piped(capsys, monkeypatch, table, "--format", "csv", "--on-error", "skip")
    assert remarks.startswith("standard input: read as csv;")
    assert remarks.endswith("manylabel: skipped: standard input, line 3: The row has 3 cells instead of 2.\n")


def test_point_15_a_table_on_standard_input_is_read_where_its_format_is_given(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Point 15: --format csv holds for standard input; without it a header is a document, with a notice."""
    trained(capsys)
    table = 'id,text\n7,"late, late bus"\n8,hole in the road\n'
    ask = partial(piped, capsys, monkeypatch)
    as_table = [("7", ["buses"]), ("8", ["roads"])]
    assert ask(table, "--format", "csv")[0] == as_table
    assert ask(table.replace("8,", "8\t").replace("7,", "7\t").replace("id,", "id\t"), "--format", "tsv")[0] == as_table
    predicted, remarks = ask(table)
    assert [identity for identity, _ in predicted] == ["1", "2", "3"]
    assert remarks == (
        "standard input: the first line looks like the header of a table ('id,text'), and is read as a document. "
        "If this is a table, use --format csv.\n"
    )
    assert ask("late bus, bad road\nhole in the road\n") == ([("1", ["buses", "roads"]), ("2", ["roads"])], "")
    assert ask('{"id": 3, "text": "late bus"}\n', "--format", "jsonl") == ([("3", ["buses"])], "")
    assert "There is no column of texts. Found: 'a', 'b'." in ask("a,b\n1,2\n", "--format", "csv", code=2)[1]
    assert "Unknown format: 'csvv'. Did you mean 'csv'?" in ask(table, "--format", "csvv", code=2)[1]
