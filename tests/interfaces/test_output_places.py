"""What would be lost is refused before any work is done: files that are read, places that cannot be written."""

import gzip
import sys
from pathlib import Path

import pytest

from manylabel.cli.predicting import output_format
from manylabel.cli.run import run

TABLE = "text,labels\n" + "".join(f"the bus is late,buses\na hole in the road {i},roads\n" for i in range(6))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "letters.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "letters.csv", "--model", "./letters.csv"],
        ["predict", "letters.csv", "letters.csv", "--output", "letters.csv"],
        ["evaluate", "letters.csv", "--per-label", "letters.csv"],
        ["compare", "letters.csv", "--csv", "letters.csv"],
        ["tune", "letters.csv", "--model", "letters.csv"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_is_read_is_never_overwritten(
    table: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert "is an input and would be overwritten" in capsys.readouterr().err
    assert table.read_text() == TABLE
    assert list(table.parent.iterdir()) == [table]


def test_a_dash_is_standard_output_of_predictions(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "letters.csv", "--method", "nb"]) == 0
    capsys.readouterr()
    for to in ("jsonl", "csv", "tsv"):
        assert run(["predict", "letters.manylabel", "letters.csv", "--to", to]) == 0
        printed = capsys.readouterr().out
        assert run(["predict", "letters.manylabel", "letters.csv", "--to", to, "--output", "-"]) == 0
        assert capsys.readouterr().out == printed
    assert run(["predict", "letters.manylabel", "letters.csv", "--to", "xlsx", "--output", "-"]) == 2
    assert "xlsx is not text. Write it to a file" in capsys.readouterr().err
    assert not table.with_name("-").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "letters.csv", "-"],
        ["train", "letters.csv", "--model", "-"],
        ["evaluate", "letters.csv", "--per-label", "-"],
        ["evaluate", "letters.csv", "--tables", "-"],
    ],
    ids=lambda arguments: arguments[-2],
)
def test_a_dash_is_no_name_of_a_file(table: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert "- stands for standard output, which takes only" in capsys.readouterr().err
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv", "mine.jsonl", "mine.csv.gz", "mine.xlsx", "mine.parquet"])
def test_predictions_replace_earlier_ones_and_no_table_of_the_user(
    table: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "letters.csv", "--method", "nb"]) == 0
    target, predict = table.with_name(name), ["predict", "letters.manylabel", "letters.csv", "--output", name]
    others = {
        "mine.jsonl": b'{"id": 1, "labels": ["roads"]}\n',
        "mine.csv.gz": gzip.compress(TABLE.encode()),
        "mine.xlsx": b"PK no workbook",
        "mine.parquet": b"PAR1",
    }
    mine = others.get(name, TABLE.encode())
    target.write_bytes(mine)
    assert run(predict) == 2
    assert f"{name} exists, holds no predictions of manylabel, and would be overwritten." in capsys.readouterr().err
    assert target.read_bytes() == mine
    target.unlink()
    for _ in range(2):
        assert run(predict) == 0


def test_training_says_that_it_replaced_the_model_of_other_data(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both `letters.csv` and `letters.tsv` have the model letters.manylabel."""
    table.with_suffix(".tsv").write_text(TABLE.replace(",", "\t"))
    for data, printed in (("letters.csv", False), ("letters.csv", False), ("letters.tsv", True)):
        assert run(["train", data, "--method", "nb"]) == 0
        found = "letters.manylabel: this replaced the model of letters.csv. Use --model to keep both."
        assert (found in capsys.readouterr().err) == printed


@pytest.mark.parametrize("command", ["evaluate", "compare", "learning-curve", "labels"])
def test_a_report_in_an_unknown_form_is_refused_first(
    table: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "letters.csv", "--report", "page.pdf"]) == 2
    assert "--report page.pdf: a report is HTML, Markdown, text or JSON." in capsys.readouterr().err
    assert list(table.parent.iterdir()) == [table]


def test_a_report_never_replaces_its_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "letters.txt"
    data.write_text("".join(f"__label__{name} a letter about {name}\n" for name in ("roads", "parks") * 10))
    before = data.read_bytes()
    assert run(["learning-curve", str(data), "--report", str(data)]) == 2
    assert "is an input and would be overwritten" in capsys.readouterr().err
    assert data.read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        *([name, "letters.csv", "--report"] for name in ("compare", "evaluate", "labels", "audit", "suggest", "card")),
        ["update", "letters.manylabel", "letters.csv", "--report"],
        ["distil", "letters.csv", "--to", "new.manylabel", "--report"],
        ["explain", "letters.manylabel", "letters.csv", "--report"],
        ["suggest", "letters.csv", "--for-llm"],
        ["demo", "--model"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_places_that_cannot_be_written_are_refused_first(
    table: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "nowhere/page.html"]) == 2
    assert "nowhere/page.html cannot be written: the folder" in capsys.readouterr().err
    assert list(table.parent.iterdir()) == [table]


def test_a_folder_is_no_model_file(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "letters.csv", "--model", "."]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize("command", ["compare", "evaluate"])
@pytest.mark.parametrize(
    ("missing", "why"),
    [("nosuch", "There is no file or folder nosuch"), ("no*.csv", "No file matches"), ("enron", "set 'enron' was not")],
)
def test_all_data_sets_are_looked_for_first(
    table: Path,
    command: str,
    missing: str,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("MANYLABEL_DATA", raising=False)
    monkeypatch.setenv("MANYLABEL_HOME", "no-cache")
    assert run([command, "letters.csv", missing]) == 2
    captured = capsys.readouterr()
    assert why in captured.err
    assert not captured.out
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize("more", [["letters.csv"], ["--method", "nb", "--method", "svm"]], ids=["data", "methods"])
def test_labels_of_several_results_are_refused_first(
    table: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", "letters.csv", *more, "--per-label", "labels.tsv"]) == 2
    captured = capsys.readouterr()
    assert "--per-label writes the labels of one method on one data set" in captured.err
    assert "read as" not in captured.err


@pytest.mark.parametrize(
    ("name", "package", "extra"), [("a.xlsx", "openpyxl", "excel"), ("a.parquet", "pyarrow", "parquet")]
)
def test_a_missing_package_is_named_first(
    table: Path,
    name: str,
    package: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert run(["predict", "no.manylabel", "letters.csv", "--output", name]) == 2
    assert f"manylabel[{extra}]" in capsys.readouterr().err, "before the model is looked for"


def test_documents_in_a_misspelt_split_are_reported(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = TABLE.splitlines()
    parts = ["split", *["train"] * (len(rows) - 3), "test", "trian"]
    table.write_text("\n".join(f"{row},{part}" for row, part in zip(rows, parts, strict=True)))
    assert run(["train", "letters.csv"]) == 0
    assert "1 document is in splits that are used only if --split names them: trian." in capsys.readouterr().err


def test_two_winners_do_not_share_a_file(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = table.parent / "more" / table.name
    other.parent.mkdir()
    other.write_text(TABLE)
    assert run(["compare", "letters.csv", "more/letters.csv"]) == 2
    assert "the same file" in capsys.readouterr().err
    assert run(["compare", "letters.csv", "--methods", " , "]) == 2
    assert "' , ' holds no name" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a.xls", "a.docx", "a.xlsx.gz"])
def test_an_ending_that_names_no_format_is_refused_first(
    table: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["predict", "no.manylabel", "letters.csv", "--output", name]) == 2
    told = capsys.readouterr().err
    assert f"Predictions cannot be written as {Path(name).suffix}" in told, "before the model is looked for"
    assert ".jsonl, .tsv, .csv, .xlsx, .parquet" in told


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.CSV", "csv"),
        ("a.tsv.gz", "tsv"),
        ("a.xlsx", "xlsx"),
        ("a.json", "jsonl"),
        ("a.txt", "jsonl"),
        ("a", "jsonl"),
    ],
)
def test_the_name_of_a_file_tells_its_format(name: str, format: str) -> None:
    assert output_format(Path(name)).value == format


@pytest.mark.parametrize("command", ["labels", "audit"])
def test_warnings_are_printed_beside_a_report(table: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    table.write_text(f"{TABLE}only one cell\n")
    assert run([command, "letters.csv", "--report", "page.html", "--on-error", "skip"]) == 0
    printed = capsys.readouterr()
    assert "Warning: 1 bad line was skipped:\nletters.csv, line" in printed.out
    assert len(printed.out.splitlines()) < 6
    assert "Written: page.html." in printed.err
