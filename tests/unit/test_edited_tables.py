"""Tables with other labels in another format than their file has: the user's own columns stay."""

from pathlib import Path

import openpyxl
import pytest

from manylabel.data.reading import read, write_corrected
from manylabel.exceptions import DataError
from manylabel.progress import remarks_to

SURVEY = (
    "Nr,Subject,Text,is_late,is_full,Since\n"
    '007,Bus,"the ""15"", late",1,0,2026-05-01\n'
    "8,Tram,full tram,0,1,2026-05-02\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "format"), [("out.xlsx", "excel"), ("out.tsv", "tsv")])
def test_another_format_of_tables_keeps_the_columns(name: str, format: str) -> None:
    Path("survey.csv").write_text(SURVEY)
    corpus, remarks = read("survey.csv", label_column="is_*").corpus, list[str]()
    with remarks_to(remarks.append):
        write_corrected(corpus, [["is_full"], ["is_full", "is_new"]], [], name, format=format)
    written = read(name, label_column="is_*").corpus
    assert written.columns == {
        "Nr": ["007", "8"],
        "Subject": ["Bus", "Tram"],
        "Text": ['the "15", late', "full tram"],
        "is_late": ["0", "0"],
        "is_full": ["1", "1"],
        "Since": ["2026-05-01", "2026-05-02"],
        "is_new": ["0", "1"],
    }
    assert written.label_sets == [["is_full"], ["is_full", "is_new"]]
    assert remarks[0] == f"{name}: new at the end: 'is_new'."


def test_a_workbook_is_written_as_a_table_with_its_columns() -> None:
    book = openpyxl.Workbook()
    for row in (["Text", "No", "labels"], ["late bus", 1, "buses"], ["deep hole", None, "roads"]):
        book.active.append(row)
    book.save("mail.xlsx")
    write_corrected(read("mail.xlsx").corpus, [["buses", "roads"], []], [], "out.csv", format="csv")
    assert Path("out.csv").read_text() == "Text,No,labels\nlate bus,1,buses;roads\ndeep hole,,\n"


def test_a_table_without_header_is_written_with_other_columns() -> None:
    Path("mail.csv").write_text("x,a\ny,b\n")
    corpus, remarks = read("mail.csv", header=False).corpus, list[str]()
    with remarks_to(remarks.append):
        write_corrected(corpus, [["b"], ["b"]], [], "out.xlsx", format="excel")
    reason = "out.xlsx: the columns of mail.csv are not kept. The table has no header. Labels are in one column."
    assert remarks == [reason]
    assert read("out.xlsx").corpus.label_sets == [["b"], ["b"]]


def test_a_text_that_no_cell_can_hold_is_not_cut() -> None:
    Path("mail.csv").write_text(f"Text,labels\n{'x' * 40_000},a\ny,b\n")
    with pytest.raises(DataError, match="A cell of Excel holds 32,767 characters; 'Text' of document"):
        write_corrected(read("mail.csv").corpus, [["b"], []], [], "out.xlsx", format="excel")
