"""Point 16 of the first-hour list: predictions beside the user's own columns, in the format of the file's name."""

import csv
import json
from datetime import datetime
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.data.labelled_table import free_name, table_stream

ROWS = [
    ("7", "<p>The <b>VPN</b> is down again</p>", "network", "vpn", "", "=1+1"),
    ("8", "<p>The printer on floor 2 has no paper</p>", "hardware", "", "printer", "+49 30 1"),
    ("9", "<div>VPN and printer do not work</div>", "network", "vpn", "printer", "@home"),
    ("10", "<p>A new screen, please</p>", "hardware", "", "", "-"),
] * 4
HEADER = "ticket;message;tag_area;tag_net;tag_device;note\n"
TICKETS = "\ufeff" + HEADER + "".join(";".join(row) + "\n" for row in ROWS)
COLUMNS = HEADER.strip().split(";")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tickets (semicolons, BOM, three tag columns, HTML) and a model of them."""
    place = tmp_path_factory.mktemp("tickets")
    (place / "tickets.csv").write_text(TICKETS, encoding="utf-8")
    options = ["--text-column", "message", "--label-column", "tag_*", "--method", "nb-binary"]
    assert run(["train", str(place / "tickets.csv"), "--model", str(place / "t.manylabel"), *options]) == 0
    return place


def predict(folder: Path, name: str, *options: str, data: str = "tickets.csv", code: int = 0) -> Path:
    target = folder / name
    arguments = [str(folder / "t.manylabel"), str(folder / data), "--output", str(target), *options]
    assert run(["predict", *arguments]) == code
    return target


def test_point_16_a_workbook_keeps_all_columns_and_no_text_is_a_formula(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    sheet = openpyxl.load_workbook(predict(folder, "out.xlsx")).active
    header, *rows = list(sheet.iter_rows())
    assert [cell.value for cell in header] == [*COLUMNS, "labels", "scores"]
    assert len(rows) == len(ROWS)
    assert [cell.value or "" for cell in rows[0][:6]] == list(ROWS[0])
    assert [row[5].data_type for row in rows[:4]] == ["s"] * 4
    assert all(row[6].value for row in rows[:3])


@pytest.mark.parametrize(("name", "delimiter"), [("out.csv", ";"), ("out.tsv", "\t")])
def test_point_16_tables_keep_all_columns_in_their_order(folder: Path, name: str, delimiter: str) -> None:
    with predict(folder, name).open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream, delimiter=delimiter))
    assert header == [*COLUMNS, "labels", "scores"]
    assert [tuple(row[:6]) for row in rows] == ROWS
    assert "vpn" in rows[0][6].split(";")


def test_point_16_parquet_and_json_lines(folder: Path) -> None:
    lines = predict(folder, "out.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    assert list(first)[:6] == COLUMNS
    assert "vpn" in first["labels"]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(predict(folder, "out.parquet"))
    assert table.column_names == [*COLUMNS, "labels", "scores"]
    assert table.column("labels")[0].as_py() == first["labels"]


def test_point_16_a_column_of_the_same_name_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "more.csv").write_text("message,labels\nthe vpn is down,mine\n", encoding="utf-8")
    with predict(folder, "more_out.csv", data="more.csv").open(encoding="utf-8", newline="") as stream:
        header, row = list(csv.reader(stream))
    assert header == ["message", "labels", "predicted_labels", "scores"]
    assert row[1] == "mine"
    assert "so predictions are in 'predicted_labels'" in capsys.readouterr().err


def test_point_16_nothing_is_written_on_an_error(folder: Path) -> None:
    target = folder / "kept.csv"
    target.write_text("precious\n", encoding="utf-8")
    (folder / "broken.csv").write_bytes(b"message;note\n\xff\xfe;x\n")
    predict(folder, "kept.csv", data="broken.csv", code=2)
    assert target.read_text(encoding="utf-8") == "precious\n"
    assert run(["predict", str(folder / "t.manylabel"), str(folder / "tickets.csv"), "--to", "xlsx"]) == 2


def test_point_16_names_of_added_columns_and_cells_of_any_type(tmp_path: Path) -> None:
    assert free_name("scores", ["scores"]) == "predicted_scores"
    with table_stream(tmp_path / "a.csv", "csv") as append:
        append({"x": [None, 3], "y": [["a", "b"], {"k": 1}]})
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == 'x,y\n,a;b\n3,"{""k"": 1}"\n'


def test_point_16_dates_stay_dates_in_a_workbook(tmp_path: Path) -> None:
    """Point 16: dates are read as texts and written as dates, so that Excel sorts and filters them."""
    openpyxl = pytest.importorskip("openpyxl")
    columns = {
        "created": ["2026-04-03T20:18:00", "", "2026-04-04T00:00:00"],
        "due": ["2026-04-05", "2026-04-06", "2026-02-30"],
        "old": ["1850-01-01", "1850-01-02", "1850-01-03"],
    }
    with table_stream(tmp_path / "a.xlsx", "xlsx") as append:
        append(columns)
    rows = list(openpyxl.load_workbook(tmp_path / "a.xlsx").active.iter_rows(min_row=2, values_only=True))
    assert [row[0] for row in rows] == [datetime(2026, 4, 3, 20, 18), None, datetime(2026, 4, 4)]
    assert [row[1] for row in rows] == columns["due"]
    assert [row[2] for row in rows] == columns["old"]
