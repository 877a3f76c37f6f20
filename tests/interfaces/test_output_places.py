"""What would be lost is refused before any work is done: files that are read, places that cannot be written."""

from pathlib import Path

import pytest

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


def test_places_that_cannot_be_written_are_refused_first(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "letters.csv", "--report", "nowhere/page.html"]) == 2
    assert "the folder" in capsys.readouterr().err
    assert run(["train", "letters.csv", "--model", "."]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert list(table.parent.iterdir()) == [table]


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
    assert "names no method" in capsys.readouterr().err
