"""Corrected copies of tables: the user's own file in which only cells of labels differ."""

import csv
import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font

from manylabel.cli.run import run
from manylabel.data.reading import read, write_corrected
from manylabel.exceptions import DataError
from manylabel.progress import remarks_to

MARKS = (
    'nr;title;text;roads;buses;note\r\n1;"Hole";"a hole; in the road";1;0;x\r\n'
    '2;Bus;"the bus ""15"" is\r\nlate";0;1;\r\n'
    "\r\n3;Both;late bus on a bad road;1;1;y\r\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def corrected(
    text: str | bytes, labels: list[list[str]], name: str = "mail.csv", **options: Any
) -> tuple[str, list[str]]:
    """The copy of a file with other labels, after checking that it is read with them; and the remarks."""
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode(options.get("encoding", "utf-8")))
    loaded, remarks = read(name, **options), list[str]()
    with remarks_to(remarks.append):
        write_corrected(loaded.corpus, labels, [], f"copy-{name}", format=loaded.format)
    again = read(f"copy-{name}", **options).corpus
    assert [sorted(one) for one in again.label_sets] == [sorted(one) for one in labels]
    assert list(again.fields.values()) == list(loaded.corpus.fields.values())
    data = Path(f"copy-{name}").read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    return data.decode(options.get("encoding", "utf-8")), remarks


def test_marks_change_and_a_new_label_gets_a_column() -> None:
    copy, remarks = corrected(MARKS, [[], ["buses", "roads"], ["buses", "roads", "trams"]])
    assert copy == (
        'nr;title;text;roads;buses;note;trams\r\n1;"Hole";"a hole; in the road";0;0;x;0\r\n'
        '2;Bus;"the bus ""15"" is\r\nlate";1;1;;0\r\n\r\n3;Both;late bus on a bad road;1;1;y;1\r\n'
    )
    assert remarks == ["copy-mail.csv: new at the end: 'trams'."]


def test_an_unchanged_copy_has_the_same_bytes() -> None:
    sets = [["roads"], ["buses"], ["buses", "roads"]]
    for name, data, options in (
        ("a.csv", b"\xef\xbb\xbf" + MARKS.encode(), {}),
        ("b.csv", MARKS.replace("Hole", "Höhle").encode("cp1252"), {"encoding": "cp1252"}),
        ("c.csv", MARKS.encode("utf-16"), {"encoding": "utf-16"}),
        ("d.csv", b"\xfe\xff" + MARKS.encode("utf-16-be"), {"encoding": "utf-16"}),
    ):
        corrected(data, sets, name, **options)
        assert Path(f"copy-{name}").read_bytes() == data
        sets[0] = ["buses", "roads"]
        corrected(data, sets, name, **options)
        copy = Path(f"copy-{name}").read_bytes()
        assert len(copy) == len(data)
        assert sum(one != other for one, other in zip(copy, data, strict=True)) == 1  # a 0 became a 1
        sets[0] = ["roads"]


def test_numbered_columns_move_up_and_grow() -> None:
    text = 'label_1,text,label_2,other\nroads,a hole,"buses",1\n,no label,,2\nbuses,late,,3\n'
    copy, remarks = corrected(text, [["buses"], ["roads"], ["buses", "roads", "trams"]])
    assert copy == (
        'label_1,text,label_2,other,label_3\nbuses,a hole,"",1,\nroads,no label,,2,\nbuses,late,roads,3,trams\n'
    )
    assert remarks == ["copy-mail.csv: new at the end: 'label_3'."]


def test_several_named_columns_keep_their_labels() -> None:
    text = "text,area,product\nlate bus,transport,\nbroken oven,,kitchen\nbad oven and bus,transport,kitchen\n"
    options = {"label_column": ["area", "product"]}
    copy, _ = corrected(text, [["kitchen", "transport"], ["transport"], ["kitchen", "new", "transport"]], **options)
    assert copy == (
        "text,area,product\nlate bus,transport,kitchen\nbroken oven,transport,\n"
        "bad oven and bus,transport;new,kitchen\n"
    )


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        (
            "text,tags\nx,b; a\ny,a; b\nz,\n",
            [["a", "b", "c"], ["b"], ["b", "c"]],
            "text,tags\nx,b; a; c\ny,b\nz,b; c\n",
        ),
        ("text,tags\nx,a|b\ny,\n", [["b"], ["a", "b"]], "text,tags\nx,b\ny,a|b\n"),
        ("text,tag\nx,a\ny,b\n", [["a", "b"], ["b"]], "text,tag\nx,a;b\ny,b\n"),
        ("text,tag\nx,a\ny,b\n", [["a; b"], ["c, d"]], 'text,tag\nx,"[""a; b""]"\ny,"[""c, d""]"\n'),
        ("text,tags\nx,a;b\ny,b\n", [["a", "b;c"], ["b"]], 'text,tags\nx,"[""a"", ""b;c""]"\ny,b\n'),
        ('text,tags\nx,"[""a""]"\ny,[]\n', [[], ["b", "c"]], 'text,tags\nx,"[]"\ny,"[""b"", ""c""]"\n'),
        ("text,tags\nx,['a']\ny,[]\n", [["a", "b"], []], "text,tags\nx,\"['a', 'b']\"\ny,[]\n"),
        (
            'text,tags\nx,"{""choices"": [""a"", ""b""]}"\ny,a\n',
            [["a", "b", "c"], ["b"]],
            'text,tags\nx,"{""choices"": [""a"", ""b"", ""c""]}"\ny,b\n',
        ),
        ("text,note\nx,1\ny,2\n", [["a"], ["a", "b"]], "text,note,labels\nx,1,a\ny,2,a;b\n"),
    ],
)
def test_one_column_of_labels(text: str, labels: list[list[str]], expected: str) -> None:
    Path("mail.csv").write_text(text)
    corpus = read("mail.csv").corpus
    write_corrected(corpus, labels, [], "copy.csv", format="csv")
    assert Path("copy.csv").read_text() == expected
    assert [sorted(one) for one in read("copy.csv").corpus.label_sets] == labels


def test_cells_with_several_separators_are_changed_one_by_one() -> None:
    Path("mail.csv").write_text("text,labels\nx,vpn|mail\ny,vpn / mail\nz,vpn\n", encoding="utf-8")
    corpus = read("mail.csv", label_separator="any").corpus
    labels = [["mail", "vpn"], ["mail", "print", "vpn"], ["mail", "vpn"]]
    write_corrected(corpus, labels, ["mail", "print", "vpn"], "copy.csv", format="csv")
    assert Path("copy.csv").read_text(encoding="utf-8").split("\n")[1:4] == [
        "x,vpn|mail",
        "y,vpn|mail|print",
        "z,vpn|mail",
    ]
    assert read("copy.csv", label_separator="any").corpus.label_sets == labels


@pytest.mark.parametrize(
    ("usual", "expected"), [("vpn,mail", "mail,print"), ("vpn, mail", "mail, print"), ("vpn / mail", "mail / print")]
)
def test_changed_cells_have_the_separator_of_most_cells(usual: str, expected: str) -> None:
    rows = [f"{number}\tthe {word}\t{usual}\n" for number, word in enumerate(["one", "two", "three"])]
    Path("mail.tsv").write_text(f"id\ttext\tlabels\n{''.join(rows)}3\tfour\tvpn; mail\n4\tfive\tmail\n")
    corpus = read("mail.tsv", label_separator="any").corpus
    labels = [*corpus.label_sets[:4], ["mail", "print"]]
    write_corrected(corpus, labels, ["mail", "print", "vpn"], "copy.tsv", format="tsv")
    before, after = (Path(name).read_text().splitlines() for name in ("mail.tsv", "copy.tsv"))
    assert after == [*before[:-1], f"4\tfive\t{expected}"]
    assert [set(one) for one in read("copy.tsv", label_separator="any").corpus.label_sets] == [
        set(one) for one in labels
    ]


def test_spreadsheets_words_for_yes_and_no_are_kept() -> None:
    text = "text,urgent,done\nx,yes,\ny,,x\nz,yes,\n"
    copy, _ = corrected(text, [[], ["done", "urgent"], ["urgent"]], label_column=["urgent", "done"])
    assert copy == "text,urgent,done\nx,,\ny,yes,x\nz,yes,\n"


def test_tables_without_a_header() -> None:
    text = "a hole in the road\troads\nthe bus is late\tbuses\nbus on a bad road\tbuses;roads\n"
    copy, _ = corrected(text, [["buses"], ["buses"], ["roads", "trams"]], "mail.tsv")
    assert copy == text.replace("\troads\n", "\tbuses\n", 1).replace("buses;roads", "roads;trams")
    addresses = "<http://x.org/1> <http://x.org/2>\ta hole\n<http://x.org/1>\tlate bus\n"
    copy, _ = corrected(addresses, [["http://x.org/2"], ["http://x.org/1", "http://x.org/3"]], "uris.tsv")
    assert copy == "<http://x.org/2>\ta hole\n<http://x.org/1> <http://x.org/3>\tlate bus\n"


def test_labels_that_other_files_name() -> None:
    Path("names.txt").write_text("roads\nbuses\n")
    Path("mail.csv").write_text("text,labels\na hole,0\nlate,1\n")
    corpus = read("mail.csv").corpus
    assert corpus.label_sets == [["roads"], ["buses"]]
    write_corrected(corpus, [["buses", "roads"], ["roads"]], ["roads", "buses"], "copy.csv", format="csv")
    assert Path("copy.csv").read_text() == "text,labels\na hole,0;1\nlate,0\n"


def test_merged_spellings_stay_where_nothing_changes() -> None:
    Path("mail.csv").write_text("text,labels\nx,VPN\ny,vpn;mail\nz,VPN\n")
    corpus = read("mail.csv", merge_labels=True).corpus
    write_corrected(corpus, [["VPN"], ["VPN"], ["VPN", "mail"]], ["VPN", "mail"], "copy.csv", format="csv")
    assert Path("copy.csv").read_text() == "text,labels\nx,VPN\ny,vpn\nz,VPN;mail\n"


def test_lines_that_were_skipped_are_copied() -> None:
    data = b"text,roads,buses\na,1,0\nb,1\nc\xff,1,1\nd,0,1\n,,\n"
    Path("mail.csv").write_bytes(data)
    corpus = read("mail.csv", on_error="skip").corpus
    write_corrected(corpus, [["roads", "trams"], []], [], "copy.csv", format="csv")
    assert Path("copy.csv").read_bytes() == (b"text,roads,buses,trams\na,1,0,1\nb,1,0\nc\xff,1,1\nd,0,0,0\n,,,\n")
    again = read("copy.csv", on_error="skip")
    assert (len(again.corpus), len(again.skipped)) == (2, 2)


def test_a_compressed_file() -> None:
    copy, _ = corrected(gzip.compress(b"text,labels\nx,a\ny,b\n"), [["a", "b"], ["b"]], "mail.csv.gz")
    assert copy == "text,labels\nx,a;b\ny,b\n"


@pytest.mark.parametrize(
    ("text", "labels", "options", "reason"),
    [
        (MARKS, [["note"], ["buses"], []], {}, "there is one of that name, which is not a label"),
        ("text,labels\nx,a\ny,b\n", [["ł"], ["b"]], {"encoding": "cp1252"}, "'ł' in a label has no place in cp1252"),
        (
            "x,1,0\ny,0,1\n",
            [["4"], ["3"]],
            {"header": False, "text_column": "1", "label_column": ["2", "3"]},
            "no header",
        ),
    ],
)
def test_columns_that_cannot_hold_the_labels(text: str, labels: list[list[str]], options: Any, reason: str) -> None:
    Path("mail.csv").write_text(text)
    corpus, remarks = read("mail.csv", **options).corpus, list[str]()
    with remarks_to(remarks.append):
        write_corrected(corpus, labels, [], "copy.csv", format="csv")
    assert len(remarks) == 1
    assert remarks[0].startswith("copy.csv: the columns of mail.csv are not kept.")
    assert reason in remarks[0]
    assert [sorted(one) for one in read("copy.csv").corpus.label_sets] == labels


def test_options_that_a_copy_needs_are_named() -> None:
    remarks: list[str] = []
    Path("mail.csv").write_text("text,is_new,is_old\nx,yes,no\ny,no,yes\n")
    corpus = read("mail.csv", label_column="is_*").corpus
    with remarks_to(remarks.append):
        write_corrected(corpus, [["is_new", "late"], []], [], "copy.csv", format="csv")
    columns = ["is_new", "is_old", "late"]
    assert remarks[0] == "copy.csv: new at the end: 'late'."
    assert remarks[-1] == "copy.csv: to read it, add " + f"label_column={columns}."
    assert read("copy.csv", label_column=columns).corpus.label_sets == [["is_new", "late"], []]
    Path("mail.csv").write_text(MARKS)
    with remarks_to(remarks.append):  # 'summary' is a usual name for texts
        write_corrected(read("mail.csv").corpus, [["summary"], [], []], [], "copy.csv", format="csv")
    assert remarks[-1].endswith("add label_column=['roads', 'buses', 'summary'].")
    Path("mail.csv").write_text('text,labels\nx,"Smith, John;a"\ny,"Doe, Jo"\n')
    with remarks_to(remarks.append):  # a semicolon showed that the comma separates nothing
        write_corrected(read("mail.csv").corpus, [["Smith, John"], ["Doe, Jo"]], [], "copy.csv", format="csv")
    assert remarks[-1] == "copy.csv: to read it, add label_separator=';'."
    assert read("copy.csv", label_separator=";").corpus.label_sets == [["Smith, John"], ["Doe, Jo"]]


def workbook(*rows: list[Any], sheets: tuple[str, ...] = ("Mail", "Other")) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for cell in sheet[1]:
            cell.font = Font(bold=True)
    book.save("mail.xlsx")


def cells(name: str, sheet: str = "Mail") -> list[list[Any]]:
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(name)[sheet]]


def test_a_workbook_keeps_its_sheets_formulas_and_formats() -> None:
    rows: list[list[Any]] = [["nr", "title", "text", "roads", "buses", "sum"], [1, "Hole", "a <b> & c", 1, 0, "=D2+E2"]]
    rows += [[2, "Bus", "late", 0, 1, "=D3+E3"], [None] * 6, [3, "Both", "late on a bad road", True, 1, None]]
    workbook(*rows)
    corpus = read("mail.xlsx").corpus
    write_corrected(corpus, [[], ["buses", "roads"], ["buses", "roads", "T & T"]], [], "copy.xlsx", format="excel")
    assert cells("copy.xlsx", "Other") == rows
    rows[0].append("T & T")
    rows[1][3:] = [0, 0, "=D2+E2", 0]
    rows[2][3:] = [1, 1, "=D3+E3", 0]
    rows[3].append(None)
    rows[4].append(1)
    assert cells("copy.xlsx") == rows
    assert openpyxl.load_workbook("copy.xlsx")["Mail"]["G1"].font.b
    assert read("copy.xlsx").corpus.label_sets == [[], ["buses", "roads"], ["T & T", "buses", "roads"]]


def test_a_sheet_with_one_column_of_labels() -> None:
    workbook(["labels", "text"], ["a; b", "x"], [None, "y"], [" c ", "z"])
    corpus = read("mail.xlsx", sheet="Other").corpus
    write_corrected(corpus, [["b"], ["a", "b"], []], [], "copy.xlsx", format="excel")
    assert cells("copy.xlsx", "Other") == [["labels", "text"], ["b", "x"], ["a; b", "y"], [None, "z"]]
    assert cells("copy.xlsx", "Mail") == cells("mail.xlsx", "Mail")


def test_a_workbook_that_cannot_hold_the_labels() -> None:
    workbook(["text", "labels"], ["x", "a"], ["y", "b"])
    corpus = read("mail.xlsx").corpus
    with pytest.raises(DataError, match=r"copy.xlsx: A cell cannot hold .*Write another format"):
        write_corrected(corpus, [["\x01"], ["b"]], [], "copy.xlsx", format="excel")
    workbook(["text", "roads", "buses"], ["x", 1, 0], ["y", 0, "=1-B3"])
    corpus = read("mail.xlsx", label_column=["roads", "buses"]).corpus
    with pytest.raises(DataError, match="The label cell C3 holds a formula"):
        write_corrected(corpus, [["roads"], ["buses"]], [], "copy.xlsx", format="excel")
    assert not Path("copy.xlsx").exists()


def test_apply_keeps_the_columns_and_reverts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_bytes(MARKS.encode())
    Path("decisions.jsonl").write_text(json.dumps({"document": "3", "label": "roads", "action": "add"}))
    assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == 0
    copy = Path("mail.corrected.csv")
    assert copy.read_bytes() == MARKS.encode().replace(b"0;1;\r\n", b"1;1;\r\n")
    assert run(["audit", "--revert", "mail.corrected.csv.record.jsonl"]) == 0
    assert copy.read_bytes() == MARKS.encode()


def test_a_misspelt_label_is_an_error_and_a_new_one_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_bytes(MARKS.encode())
    fine = json.dumps({"document": "3", "label": "roads", "action": "add"}) + "\n"
    for action in ("add", "remove"):
        wrong = {"document": "2", "label": "busses", "action": action}
        Path("decisions.jsonl").write_text(fine + json.dumps(wrong))
        assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == 2
        assert (
            "decisions.jsonl, line 2: No document of mail.csv has the label 'busses'. Did you mean 'buses'? "
            'Correct it; or add "new": true to this line if it is a new label.'
        ) in " ".join(capsys.readouterr().err.split())
        assert not Path("mail.corrected.csv").exists()
    trams = [{"document": "2", "label": "trams", "action": "add"}, {"document": "3", "label": "trams", "action": "add"}]
    Path("decisions.jsonl").write_text(json.dumps(trams[0]) + "\n" + json.dumps({**trams[1], "new": True}))
    assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == 0
    assert "New labels: 'trams'." in capsys.readouterr().out
    assert read("mail.corrected.csv").corpus.label_sets[0] == ["roads", "trams"]


def test_a_decision_about_an_id_of_several_documents_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text(
        "id,text,labels\nT1,no mail,mail\nT1,no paper,print\nT2,no ink,print\n", encoding="utf-8"
    )
    for document, code in (("T1", 2), ("T2", 0)):
        decision = {"document": document, "label": "mail", "action": "add"}
        Path("decisions.jsonl").write_text(json.dumps(decision), encoding="utf-8")
        assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == code
        message = capsys.readouterr().err
        assert "mail.csv: 1 id is on several documents, first 'T1' (2 documents, lines 2, 3)." in message
        assert ("decisions.jsonl, line 1: This decision is about the document 'T1', but 2" in message) == (code == 2)


def test_a_column_named_by_a_number_that_no_document_has() -> None:
    copy, _ = corrected("text,7,0\nx,1,0\ny,1,0\n", [["0", "7"], []])
    assert copy == "text,7,0\nx,1,1\ny,0,0\n"


@pytest.mark.parametrize("shape", ["marks", "numbered", "joined"])
def test_any_labels_are_read_again_and_other_cells_are_as_they_were(shape: str) -> None:
    names = ["a", "b", "real estate", "Smith, John", "x;y", "ü", "[z]", 'say "hi"', "p|q"]
    for seed in range(60):
        random = Random(seed)
        known = random.sample(names, 4)
        rows = [random.sample(known, random.randint(0, 3)) for _ in range(5)]
        notes = ["".join(random.choices('ab ,;\n"\té|', k=8)) + "w" for _ in rows]
        if shape == "marks":
            head, cells = known, [[str(int(name in row)) for name in known] for row in rows]
        elif shape == "numbered":
            head, cells = ["label1", "label2", "label3"], [[*row, "", "", ""][:3] for row in rows]
        else:
            head, cells = ["labels"], [[json.dumps(row)] if random.random() < 0.3 else ["; ".join(row)] for row in rows]
        options = {
            "marks": {"label_column": known},
            "numbered": {"label_separator": "none"},
            "joined": {"label_separator": ";"},
        }[shape]
        delimiter, quoting = random.choice(",;\t|"), random.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
        with open("any.csv", "w", newline="") as stream:
            writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)
            writer.writerow(["text", *head, "note"])
            writer.writerows(
                [f"text {row}", *own, note] for row, (own, note) in enumerate(zip(cells, notes, strict=True))
            )
        corpus, remarks = read("any.csv", delimiter=delimiter, **options).corpus, list[str]()
        new = [
            random.sample(names, random.randint(0, 3)) if random.random() < 0.6 else one for one in corpus.label_sets
        ]
        with remarks_to(remarks.append):
            write_corrected(corpus, new, [], "copy.csv", format="csv")
        assert not any("not kept" in remark for remark in remarks)
        for needed in (remark.split("to read it, add ")[1][:-1] for remark in remarks if "to read it" in remark):
            options |= eval(f"dict({needed})")
        again = read("copy.csv", delimiter=delimiter, **options).corpus
        assert [sorted(one) for one in again.label_sets] == [sorted(one) for one in new]
        assert again.columns is not None
        assert (again.columns["text"], again.columns["note"]) == (corpus.fields["text"], corpus.metadata["note"])


def test_the_whole_output_of_an_audit_is_no_file_of_decisions(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mail.csv").write_text("text,labels\nlate bus,buses\n")
    Path("audit.json").write_text(json.dumps({"doubted": []}, indent=2))
    assert run(["audit", "mail.csv", "--apply", "audit.json"]) == 2
    assert "the objects of the list 'doubted'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mail.corrected.csv", "mail.corrected.tsv.gz", "mail.corrected.jsonl"])
def test_a_corrected_copy_has_a_name_of_its_own(name: str) -> None:
    rows = {"csv": b"text,labels\nlate bus,buses\n", "gz": gzip.compress(b"text\tlabels\nlate bus\tbuses\n")}
    Path(name).write_bytes(rows.get(name.rpartition(".")[2], b'{"text": "late bus", "labels": ["buses"]}\n'))
    assert read(name).corpus.name == "mail.corrected"
