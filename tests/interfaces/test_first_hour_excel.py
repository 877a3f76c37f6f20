"""Point 16 of the first-hour list, reading: Excel workbooks and pandas' records; and a ticket file as a whole."""

import datetime
import json
import zipfile
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.data import read
from manylabel.exceptions import DataError, MissingExtraError

openpyxl = pytest.importorskip("openpyxl")

HEADER = ["Nr", "Title", "Description", "tag_1", "tag_2", "when"]


@pytest.fixture
def book(tmp_path) -> Path:
    """A workbook of two sheets: a number among the texts, empty cells, dates, and a blank row."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Tickets"
    sheet.append(HEADER)
    sheet.append([1, "VPN", "the vpn is down", "vpn", "network", datetime.datetime(2024, 5, 1)])
    sheet.append([2, "Printer", 42, "printer", None, datetime.datetime(2024, 5, 2, 8, 30)])
    sheet.append([])
    sheet.append([3, None, "no mail since noon", "mail", "network", None])
    workbook.create_sheet("Notes").append(["text", "labels"])
    workbook["Notes"].append(["call back", "later"])
    path = tmp_path / "tickets.xlsx"
    workbook.save(path)
    return path


def changed(book: Path, name: str, content: bytes) -> Path:
    """A copy of the workbook in which one part has other content."""
    target = book.with_name("changed.xlsx")
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return target


def sheet_of(cells: str) -> bytes:
    names = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    return f"<worksheet {names}><sheetData>{cells}</sheetData></worksheet>".encode()


def test_point_16_excel_is_read(book):
    """Point 16: columns are found by name; numbers among texts are texts; ids are the rows of the sheet."""
    reading = read(book)
    corpus = reading.corpus
    assert reading.format == "excel"
    assert dict(corpus.fields) == {
        "Title": ["VPN", "Printer", ""],
        "Description": ["the vpn is down", "42", "no mail since noon"],
    }
    assert corpus.labels == [["network", "vpn"], ["printer"], ["mail", "network"]]
    assert corpus.metadata == {"Nr": [1, 2, 3], "when": ["2024-05-01", "2024-05-02T08:30:00", None]}
    assert corpus.ids == ["2", "3", "5"]
    assert read(book, id_column="Nr").corpus.ids == ["1", "2", "3"]
    assert read(book, keep_blank=True).corpus.ids == ["2", "3", "4", "5"]


def test_point_16_the_sheet_is_printed_and_can_be_chosen(book, capfd):
    """Point 16: the first sheet is read and the others are named; -o sheet=NAME chooses one."""
    assert run(["describe", str(book)]) == 0
    assert "sheet 'Tickets' is read, not sheet 'Notes' (-o sheet=NAME)" in capfd.readouterr().err
    for sheet in ("Notes", 2):
        assert read(book, sheet=sheet).corpus.texts == ["call back"]
    with pytest.raises(DataError, match=r"no sheet 'Note'. Found: 'Tickets', 'Notes'. Use sheet='NAME'."):
        read(book, sheet="Note")


def test_point_16_a_sheet_may_be_called_by_a_year(tmp_path, capsys):
    """Point 16: -o sheet=2026 names a sheet, although it is a number in TOML."""
    workbook = openpyxl.Workbook()
    workbook.create_sheet("2026").append(["text", "labels"])
    workbook["2026"].append(["a late bus", "buses"])
    workbook.save(tmp_path / "years.xlsx")
    assert run(["convert", str(tmp_path / "years.xlsx"), str(tmp_path / "years.csv"), "-o", "sheet=2026"]) == 0
    assert (tmp_path / "years.csv").read_text().splitlines()[1].endswith("a late bus,buses")


def test_point_16_a_workbook_is_recognised_by_its_content(book, tmp_path):
    """Point 16: whatever its name is; an old workbook is refused with the remedy."""
    renamed = tmp_path / "export.data"
    renamed.write_bytes(book.read_bytes())
    assert read(renamed).format == "excel"
    old = tmp_path / "old.xls"
    old.write_bytes(b"\xd0\xcf\x11\xe0" + b"0" * 600)
    with pytest.raises(DataError, match=r"old Office program.*Save it as .xlsx or .csv"):
        read(old)


def test_point_16_bombs_are_refused(book):
    """Point 16: what unpacks to too much, has too many cells or expands entities is refused in a sentence."""
    bomb = changed(book, "xl/theme/theme1.xml", bytes(9 << 20))
    assert bomb.stat().st_size < 1 << 16
    with pytest.raises(DataError, match=r"unpacked to more than 100 times as much.*limits={'expansion': "):
        read(bomb)
    wide = "".join(f'<row r="{row}"><c r="XFD{row}"><v>1</v></c></row>' for row in range(1, 100))
    with pytest.raises(DataError, match=r"line 62: There are 1,\d*,\d* cells or more in.*sheet_cells': NUMBER"):
        read(changed(book, "xl/worksheets/sheet1.xml", sheet_of(wide)), limits={"sheet_cells": 1_000_000})
    entities = '<!ENTITY a "{}">'.format("A" * 1000)
    entities += "".join(f'<!ENTITY {y} "{f"&{x};" * 10}">' for x, y in zip("abcdefgh", "bcdefghi", strict=True))
    cell = sheet_of('<row r="1"><c r="A1" t="inlineStr"><is><t>&i;</t></is></c></row>')
    laughs = f'<?xml version="1.0"?><!DOCTYPE worksheet [{entities}]>'.encode() + cell
    with pytest.raises(DataError, match=r"The Excel file cannot be read"):
        read(changed(book, "xl/worksheets/sheet1.xml", laughs))


def test_point_16_broken_workbooks_are_refused(book, tmp_path):
    """Point 16: cut files, sheets without documents, and names that occur twice."""
    cut = tmp_path / "cut.xlsx"
    cut.write_bytes(book.read_bytes()[:2000])
    with pytest.raises(DataError, match=r"cannot be read.*zip"):
        read(cut)
    with pytest.raises(DataError, match=r"The Excel file cannot be read \(not a zip file|File is not a zip"):
        read(cut, format="excel")
    sheet = "xl/worksheets/sheet1.xml"
    with pytest.raises(DataError, match=r"The Excel file cannot be read"):
        read(changed(book, sheet, b"<worksheet><sheetData><row"))
    with pytest.raises(DataError, match=r"Sheet 'Tickets' is empty"):
        read(changed(book, sheet, sheet_of("")))
    row = '<row r="1"><c r="A1" t="str"><v>text</v></c>{}</row>'
    with pytest.raises(DataError, match=r"column names but no documents"):
        read(changed(book, sheet, sheet_of(row.format(""))))
    with pytest.raises(DataError, match=r"names column 'text' twice"):
        read(changed(book, sheet, sheet_of(row.format('<c r="B1" t="str"><v>text</v></c>') + '<row r="2"/>')))


def test_point_16_without_openpyxl_the_extra_is_named(book, monkeypatch):
    """Point 16: Excel is an extra."""
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"manylabel\[excel\]"):
        read(book)


def test_point_16_a_model_of_a_csv_reads_excel_in_the_same_way(book, tmp_path, capfd):
    """Points 2 and 16: the columns of the training are looked for in other formats too."""
    data = tmp_path / "tickets.csv"
    rows = [("vpn", "vpn"), ("printer", "printer"), ("mail", "mail")] * 4
    data.write_text("text,Description,tag_1\n" + "".join(f"see below,no {word},{label}\n" for word, label in rows))
    model = tmp_path / "a.manylabel"
    options = ["--text-column", "Description", "--label-column", "tag_1", "--method", "nb-binary"]
    assert run(["train", str(data), "--model", str(model), *options]) == 0
    capfd.readouterr()
    assert run(["predict", str(model), str(book)]) == 0
    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [one["id"] for one in found] == ["2", "3", "4", "5"]  # the blank row keeps its place
    assert [one["labels"] for one in found] == [["vpn"], [], [], ["mail"]]


def test_point_16_records_of_pandas_are_read(tmp_path):
    """Point 16: a JSON array of objects, on one line or on many."""
    rows = [
        {"id": 7, "text": "the bus was late", "labels": ["buses"], "year": 2024},
        {"id": 8, "text": "a hole", "labels": []},
    ]
    path = tmp_path / "a.json"
    for indent in (None, 2):
        path.write_text(json.dumps(rows, indent=indent))
        reading = read(path)
        assert reading.format == "json"
        assert reading.corpus.texts == ["the bus was late", "a hole"]
        assert reading.corpus.labels == [["buses"], []]
        assert reading.corpus.ids == ["7", "8"]
        assert reading.corpus.metadata == {"year": [2024, None]}
    lines = tmp_path / "b.json"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read(lines).format == "jsonl"


def test_point_16_records_written_by_pandas(tmp_path):
    """Point 16: the file that pandas writes."""
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "a.json"
    frame = pandas.DataFrame({"text": ["Grüße aus Köln", "late bus"], "topic": ["mail", "buses"]})
    frame.to_json(path, orient="records")
    assert read(path).corpus.texts == ["Grüße aus Köln", "late bus"]
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    assert read(tmp_path / "a.xlsx").corpus.labels == [["mail"], ["buses"]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'[{"text": "a"', r"line 1: The file is not JSON"),
        (b'[{"text": "a", "labels": []}, 3]', r"line 2: The array holds a JSON int, not an object"),
        (b'[{"text": "\xff"}]', r"not utf-8 text"),
    ],
)
def test_point_16_wrong_records_are_refused(content, problem, tmp_path):
    """Point 16: with the place of the problem."""
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=problem):
        read(path)


TICKETS = [
    ("VPN down again", "The <b>vpn</b> &amp; the tunnel are down", ("vpn", "network", "")),
    ("Printer, 2nd floor", "The printer is out of <i>paper</i>", ("printer", "", "")),
    ("Mail; urgent", "No mail since noon, the server does not answer", ("mail", "network", "server")),
    ("Access", "Please give me access to the <a href='x'>server</a>", ("access", "", "server")),
]


def test_point_1_tickets_with_semicolons_bom_three_tag_columns_and_html(tmp_path, capfd):
    """Points 1 to 3 and 10 together: no wrong guess, and every choice is printed, by `describe` and `train` alike."""
    rows = [
        f'{number};"{title}";"<p>{text}</p>";{";".join(tags)}\r\n'
        for number, (title, text, tags) in enumerate(TICKETS * 10, start=1)
    ]
    path = tmp_path / "tickets.csv"
    path.write_bytes(("\ufeffTicket ID;Title;Description;tag_1;tag_2;tag_3\r\n" + "".join(rows)).encode())
    model = tmp_path / "tickets.manylabel"
    printed = []
    for command in (["describe", str(path)], ["train", str(path), "--model", str(model)]):
        assert run(command) == 0
        captured = capfd.readouterr()
        printed.append(captured.out)
        assert (
            f"{path}: read as csv; cells separated by semicolons; text from 'Title', 'Description'; "
            "labels from 'tag_1', 'tag_2', 'tag_3', one per cell; ids from 'Ticket ID'; 1 to 3 labels per document; "
            "language English; HTML in most documents."
        ) in captured.err
    assert "They are numbered, so they are joined." in printed[0]
    assert "English stems, HTML removed" in printed[1]
    corpus = read(path).corpus
    assert corpus.labels[:2] == [["network", "vpn"], ["printer"]]
    assert corpus.texts[2]["Title"] == "Mail; urgent"
