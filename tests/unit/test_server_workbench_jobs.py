"""The jobs of the workbench: previews of data."""

from pathlib import Path

import pytest

from manylabel.server.jobs.store import JobStore
from served import InProcess, ended_job, in_process, run_job

LETTERS = "key;body;topics;split\n" + "".join(
    f"{number};{text};{label};{'test' if number % 3 == 0 else 'train'}\n"
    for number, (text, label) in enumerate(
        [("late bus", "buses"), ("bad road", "roads"), ("dark lamp", "lamps"), ("bus on road", "buses,roads")] * 6
        + [("late road", ""), ("dark bus", "")]
    )
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    store = JobStore(tmp_path_factory.mktemp("server"))
    store.prepare()
    (store.uploads / "letters.csv").write_text(LETTERS)
    return in_process({}, data=str(store.folder))


def test_a_preview_shows_what_was_guessed(server: InProcess) -> None:
    found = run_job(server, {"kind": "preview", "data": "letters"})
    assert found["columns"] == {
        "text": ["body"], "title": None, "label": ["topics"], "id": None, "split": "split", "unused": ["key"],
    }  # fmt: skip
    assert (found["format"], found["delimiter"], found["header"], found["encoding"]) == ("csv", ";", True, "utf-8")
    assert found["available_columns"] == ["key", "body", "topics", "split"]
    assert (found["label_separator"], found["sheets"], found["language"]) == (",", None, None)
    assert (found["documents"], found["labels"], found["documents_without_labels"]) == (26, 3, 2)
    assert found["cardinality"] == pytest.approx(30 / 26)
    assert found["top_labels"][0] == {"label": "buses", "documents": 12}
    assert found["splits"] == {"test": 9, "train": 17}
    assert found["sample"][1] == {"id": "3", "fields": {"body": "bad road"}, "labels": ["roads"], "split": "train"}
    assert len(found["sample"]) == 20
    assert any("'body' is a usual name for texts" in one for one in found["choices"])
    assert any("10 documents or fewer" in one for one in found["warnings"])
    assert not any(str(server.settings.data) in one for one in found["choices"] + found["warnings"])


def test_a_preview_follows_the_options_and_changes_nothing(server: InProcess) -> None:
    folder = Path(str(server.settings.data))
    before = sorted(folder.glob("[mu]*/*")), list(folder.glob("corpora/*"))
    options = {"id_column": "key", "label_separator": "none"}
    found = run_job(server, {"kind": "preview", "data": "letters", "options": options})
    assert (found["columns"]["id"], found["sample"][1]["id"]) == ("key", "1")
    assert {"label": "buses,roads", "documents": 6} in found["top_labels"]
    failed = ended_job(server, {"kind": "preview", "data": "letters", "options": {"text_column": "bodi"}})
    assert failed["state"] == "failed"
    assert "There is no column 'bodi'. Found: 'key', 'body'" in failed["error"]
    assert (sorted(folder.glob("[mu]*/*")), list(folder.glob("corpora/*"))) == before


def test_sheets_of_a_workbook_and_terms_of_counts_are_shown(server: InProcess) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    sheet = book.create_sheet("letters")
    for row in (["text", "labels"], ["late bus", "buses"], ["bad road", "roads"]):
        sheet.append(row)
    folder = Path(str(server.settings.data), "uploads")
    book.save(folder / "book.xlsx")
    found = run_job(server, {"kind": "preview", "data": "book", "options": {"sheet": "letters"}})
    assert (found["sheet"], found["sheets"], found["documents"]) == ("letters", ["notes", "letters"], 2)
    (folder / "counts.svm").write_text("0,1 3:2 5:1\n1 4:1\n")
    found = run_job(server, {"kind": "preview", "data": "counts"})
    assert (found["columns"], found["encoding"], found["documents"]) == (None, "utf-8", 2)
    assert len(found["sample"][0]["fields"]["text"].split()) == 2


def test_a_preview_needs_data(server: InProcess) -> None:
    answer = server.ask("POST", "/v1/jobs", {"kind": "preview", "corpus": "letters"})
    assert (answer.status, answer.json()["detail"]) == (
        422,
        "A job of the kind 'preview' needs 'data', the name of uploaded data.",
    )
