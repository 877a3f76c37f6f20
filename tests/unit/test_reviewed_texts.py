"""Corpora under review: jobs read the texts that the command line reads, people see what is learned from, and exports
are the user's own file.
"""

import json
from pathlib import Path

import openpyxl
import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.server.store import filling, labels
from manylabel.server.store.files import CorpusFile, CorpusFiles
from manylabel.server.store.scoring import score_corpus
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.reviewing import written_formats
from reviewed import decide, decision, shown

SURVEY = "question;body;answer;roads;buses\n" + "".join(
    f"question{row % 3};filler{row};{'late bus' if row % 2 else 'a hole'} answer{row % 4};{1 - row % 2};{row % 2}\n"
    for row in range(20)
)
OPTIONS = {"text_column": ["question", "answer"]}


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusFile:
    """A corpus whose texts are in two columns with names of their own, beside one with a usual name for texts."""
    (tmp_path / "survey.csv").write_text(SURVEY)
    files = CorpusFiles(tmp_path)
    filling.import_corpus(files, "survey", str(tmp_path / "survey.csv"), OPTIONS)
    return files.get("survey")


def test_jobs_read_the_texts_that_the_command_line_reads(corpus: CorpusFile, tmp_path: Path) -> None:
    decide(corpus, "Ana", decision(1, accept=["buses"]))
    plain = load_source(Source(str(tmp_path / "survey.csv"), options=OPTIONS)).corpus
    found = load_source(filling.corrected_source(corpus)).corpus
    assert found.name == "survey"
    assert found.fields == plain.fields
    assert list(found.label_sets) == [["buses", "roads"], *plain.label_sets[1:]]
    score_corpus(corpus, None, {"method": "nb"}, tmp_path / "model.manylabel")
    model = TextClassifier.load(tmp_path / "model.manylabel")
    terms = set(model.get_feature_names_out())
    assert {"question1", "answer1"} <= terms
    assert "filler1" not in terms
    assert model.reading is not None
    assert model.reading.texts == ("question", "answer")


def test_data_that_were_changed_are_not_learned_from(corpus: CorpusFile) -> None:
    (corpus.folder / "original.csv").write_text(SURVEY.rsplit("question", 1)[0])
    with pytest.raises(DataError, match="20 label sets for 19 documents: the file was changed"):
        load_source(filling.corrected_source(corpus))


def test_an_export_in_the_own_format_keeps_all_columns(corpus: CorpusFile, tmp_path: Path) -> None:
    decide(corpus, "Ana", decision(1, accept=["buses"]), decision(2, reject=["buses"]))
    assert run(["corpora", "export", str(tmp_path), "survey", str(tmp_path / "out.csv")]) == 0
    before, after = SURVEY.split("\n"), (tmp_path / "out.csv").read_text().split("\n")
    assert [after[0], *after[3:]] == [before[0], *before[3:]]
    assert [line[-3:] for line in after[1:3]] == ["1;1", "0;0"]
    assert written_formats("csv")["excel"] == ".xlsx"


def test_an_export_as_a_workbook_keeps_all_columns(corpus: CorpusFile, tmp_path: Path) -> None:
    decide(corpus, "Ana", decision(1, accept=["buses"]))
    assert run(["corpora", "export", str(tmp_path), "survey", str(tmp_path / "out.xlsx")]) == 0
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet is not None
    written = [";".join(str(cell.value) for cell in row) for row in sheet]
    before = SURVEY.splitlines()
    assert [written[0], *written[2:]] == [before[0], *before[2:]]
    assert written[1] == before[1].removesuffix(";1;0") + ";1;1"


def test_a_workbook_is_exported_as_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["text", "labels", "n"], ["late bus", "buses", 1], ["deep hole", "roads", 2]):
        book.active.append(row)
    book.save(tmp_path / "mail.xlsx")
    files = CorpusFiles(tmp_path)
    filling.import_corpus(files, "mail", str(tmp_path / "mail.xlsx"), {})
    decide(files.get("mail"), "Ana", decision(2, accept=["buses"]))
    assert run(["corpora", "export", str(tmp_path), "mail", str(tmp_path / "out.xlsx")]) == 0
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert sheet is not None
    assert [[cell.value for cell in row] for row in sheet][2] == ["deep hole", "roads;buses", 2]


def test_html_is_shown_as_it_is_learned_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = ["<h1>Late bus</h1><p>Line&nbsp;15<br>was <b>late</b> &amp; full</p><script>x()</script>", "<p>a hole</p>"]
    rows = [{"text": text, "labels": ["a"]} for text in [*pages, "1 < 2"]]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(["corpora", "import", str(tmp_path), "pages", str(tmp_path / "pages.jsonl")]) == 0
    assert "Most documents contain HTML, which is removed here as it is in training." in capsys.readouterr().out
    corpus = CorpusFiles(tmp_path).get("pages")
    assert shown(corpus, 1)["fields"] == {"text": "Late bus\n\nLine 15\nwas late & full"}
    assert shown(corpus, 3)["fields"] == {"text": "1 < 2"}
    assert run(["corpora", "search", str(tmp_path), "pages", "--text", "script", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 0
    assert load_source(filling.corrected_source(corpus)).corpus.fields["text"][0] == pages[0]


def test_tags_that_training_keeps_are_shown(tmp_path: Path) -> None:
    rows = [{"text": text, "labels": ["a"]} for text in ("<b>bold</b>", "plain", "1 < 2")]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = CorpusFiles(tmp_path)
    assert not filling.import_corpus(files, "pages", str(tmp_path / "pages.jsonl"), {})["html_removed"]
    assert shown(files.get("pages"), 1)["fields"] == {"text": "<b>bold</b>"}


def test_a_misspelt_label_is_named_with_its_line(corpus: CorpusFile, tmp_path: Path) -> None:
    lines = [{"document": 1, "accept": ["buses"]}, {"document": 2, "label": "raods", "action": "remove"}]
    (tmp_path / "decisions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    with corpus.reading() as database, pytest.raises(DataError, match=r"line 2: Unknown label: 'raods'.*'roads'\?"):
        filling.read_decisions(database, tmp_path / "decisions.jsonl")


def test_new_labels_are_marked_in_decisions(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        labels.add(database, "Ana", "trams")
    decide(corpus, "Ana", decision(1, accept=["trams", "buses"]))
    with corpus.reading() as database:
        records = list(filling.decision_records(database))
    assert [(one["label"], one.get("new")) for one in records] == [("buses", None), ("trams", True)]


def test_no_other_format_is_written(corpus: CorpusFile, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UnknownNameError, match="format to write"):
        filling.export(corpus, tmp_path / "out", "reuters21578")
