"""What is printed about files that are no tables of documents, or nearly some."""

import io
from pathlib import Path

import pytest

from manylabel.cli.run import run

ROWS = "".join(f"{n};the {word} is down;{word};2024-01-{n + 10}\n" for n, word in enumerate(["vpn", "printer"] * 6))
TABLE = f"id;text;labels;date\n{ROWS}"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """What a command prints besides its result."""
    assert run(list(arguments)) == code
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "This is a picture (JPEG), not a table or text."),
        (b"\x89PNG\r\n\x1a\n", "This is a picture (PNG), not a table or text."),
        (b"%PDF-1.4\n%\xe2\xe3\n", "This is a PDF, not a table or text. Export it as a table or text."),
    ],
)
@pytest.mark.parametrize("name", ["scan.csv", "scan"])
def test_a_picture_is_called_a_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, begin: bytes, message: str
) -> None:
    """Whatever its name, and whatever encoding is given."""
    path = tmp_path / name
    path.write_bytes(begin + bytes(range(256)))
    for options in ([], ["-o", "encoding=cp1252"]):
        assert message in printed(capsys, "train", str(path), *options)


@pytest.mark.parametrize("title", ["Tickets of 2024\n\n", "Tickets of 2024;;;\n\n"])
def test_lines_above_the_header_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], title: str) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(title + TABLE)
    message = printed(capsys, "describe", str(path))
    assert "Line 1 has 1 cell, 'Tickets of 2024'; line 3, which looks like the header, has 4." in message
    assert "Delete the lines above the header." in message


def test_rows_above_the_header_of_a_sheet_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in [["Tickets of 2024"], [], *(line.split(";") for line in TABLE.splitlines())]:
        book.active.append(row)
    book.save(path := tmp_path / "tickets.xlsx")
    message = printed(capsys, "describe", str(path))
    assert "Row 1 has 1 cell, 'Tickets of 2024'; row 3, which looks like the header, has 4." in message
    assert "Delete the rows above the header." in message


def test_texts_of_one_column_are_no_title(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text('text\n"the id, text"\n"id, text, labels"\n')
    assert run(["describe", str(path)]) == 0


def test_a_column_of_dates_is_doubted_as_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(TABLE)
    found = printed(capsys, "describe", str(path), "--label-column", "date", code=0)
    assert "All 12 labels of 'date' look like dates, first '2024-01-10'. Are these the labels?" in found
    assert "look like dates" not in printed(capsys, "describe", str(path), code=0)


def test_the_delimiter_that_is_in_use_is_not_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text(TABLE + "20;a;b;c;d;e\n")
    message = printed(capsys, "describe", str(path))
    assert "The row has 6 cells instead of 4. Quote cells that hold the delimiter ';'" in message
    assert "or give another delimiter (-o delimiter=,)" in message


def test_explaining_nothing_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = tmp_path / "tickets.csv", str(tmp_path / "tickets.manylabel")
    path.write_text(TABLE)
    assert run(["train", str(path), "--model", model, "--method", "nb"]) == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    capsys.readouterr()
    message = printed(capsys, "explain", model)
    assert "There is no document to explain. Give a text: manylabel explain" in message
