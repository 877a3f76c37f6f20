"""Points 1 and 3 of the first-hour list: how columns are chosen, what is printed about it, several label columns."""

import pytest

from manylabel.cli.run import remark_printer, run
from manylabel.data import read
from manylabel.exceptions import DataError

TICKETS = "id;Title;Description;tag_1;tag_2;tag_3\r\n" + "".join(
    f"{row};Ticket, {row};<p>The {word} is down again and we need it</p>;{word};{second};\r\n"
    for row, (word, second) in enumerate([("vpn", "network"), ("printer", ""), ("mail", "network"), ("vpn", "")] * 5)
)


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_bytes(("\ufeff" + TICKETS).encode())
    return path


def test_point_1_addresses_are_labels_whatever_their_length(tmp_path):
    """Point 1: Annif's tutorial TSV has short texts and long addresses."""
    path = tmp_path / "train.tsv"
    path.write_text("cats\t<http://example.org/a-very-long-address/1> <http://example.org/2>\ndogs\t<http://x.org/3>\n")
    corpus = read(path).corpus
    assert corpus.texts == ["cats", "dogs"]
    assert corpus.labels == [["http://example.org/2", "http://example.org/a-very-long-address/1"], ["http://x.org/3"]]


def test_point_1_addresses_in_the_first_column_are_labels(tmp_path):
    """Point 1: a column of addresses is labels wherever it stands."""
    path = tmp_path / "train.tsv"
    path.write_text("<http://x.org/1>\tA text about cats and dogs\n<http://x.org/3>\tMore\n")
    assert read(path).corpus.texts == ["A text about cats and dogs", "More"]


def test_point_1_a_comma_in_doubt_asks(tmp_path):
    """Point 1: "Smith, John" is not two labels unless the user wants that."""
    path = tmp_path / "books.csv"
    path.write_text('text,labels\nOne,"Smith, John"\nTwo,"Miller, Ann"\n')
    with pytest.raises(DataError, match=r"'Miller, Ann' one label or several.*label_separator='none'"):
        read(path)
    assert read(path, label_separator="none").corpus.labels == [["Smith, John"], ["Miller, Ann"]]
    assert read(path, label_separator=",").corpus.labels == [["John", "Smith"], ["Ann", "Miller"]]


def test_point_1_a_blank_in_doubt_asks(tmp_path):
    """Point 1: "Hardware request" is not two labels where "request" is never a label of its own."""
    names = ["Hardware request", "Software request", "Hardware issue", "Software issue", "Hardware", "Account"]
    path = tmp_path / "tickets.csv"
    path.write_text("text,category\n" + "".join(f"One,{name}\n" for name in names))
    with pytest.raises(DataError, match=r"'category' holds blanks. Is 'Hardware issue' one.*label_separator='none'"):
        read(path)
    assert read(path, label_separator="none").corpus.labels == [[name] for name in names]
    path.write_text("text,category\nOne,acq earn\nTwo,earn\nThree,acq\n")
    assert read(path).corpus.labels == [["acq", "earn"], ["earn"], ["acq"]]


def test_point_1_labels_are_never_texts(tmp_path):
    """Point 1: a column that is given as labels is not read as a title too, whatever its name."""
    path = tmp_path / "books.csv"
    path.write_text("text,subject\nOn whales,sea\nOn trees,forest\n")
    corpus = read(path, label_column="subject").corpus
    assert (corpus.texts, corpus.labels) == (["On whales", "On trees"], [["sea"], ["forest"]])
    with pytest.raises(DataError, match=r"'subject' is given both as text and as labels"):
        read(path, text_column=["subject", "text"], label_column="subject")


def test_point_3_a_pattern_leaves_out_the_text(tmp_path):
    """Point 3: the pattern * stands for all columns but the text, the title and the id."""
    path = tmp_path / "marks.csv"
    path.write_text("id,title,text,vpn,mail\n7,Help,It is slow,1,0\n8,Help,It is full,0,1\n")
    corpus = read(path, label_column="*").corpus
    assert (corpus.ids, corpus.labels) == (["7", "8"], [["vpn"], ["mail"]])


def test_point_1_a_first_row_in_doubt_asks(tmp_path):
    """Point 1: a header with unusual names is not a document."""
    path = tmp_path / "tickets.tsv"
    rows = "".join(f"the {word} is down again and we need it\t{word}\n" for word in ("vpn", "mail") * 4)
    path.write_text(f"Anfrage\tBereich\n{rows}")
    with pytest.raises(DataError, match=r"header or a document: 'Anfrage', 'Bereich'.*text_column='Anfrage'"):
        read(path)
    assert len(read(path, text_column="Anfrage", label_column="Bereich").corpus) == 8
    assert len(read(path, format="tsv", header=False).corpus) == 9
    path.write_text(rows)
    assert len(read(path).corpus) == 8


def test_point_1_tables_with_commas_may_have_no_header(tmp_path):
    """Point 1: the message about a missing column of texts names the option, and with it the columns have places."""
    path = tmp_path / "tickets.csv"
    path.write_text("the vpn is down,network\nno mail today,mail\n")
    with pytest.raises(DataError, match=r"longest cells are in .*, or header=False if the first row is a document"):
        read(path)
    corpus = read(path, header=False).corpus
    assert (corpus.texts, corpus.labels) == (["the vpn is down", "no mail today"], [["network"], ["mail"]])


def test_point_1_labels_before_texts_are_separated_as_the_format_says_or_refused(tmp_path):
    """Point 1: semicolons between the labels of LibMultiLabel lines do not make one label of two."""
    path = tmp_path / "tickets.tsv"
    path.write_text("vpn;mail\tthe vpn and the mail are down and we need them\nmail\tthe mail is down today again\n")
    remedy = r"format='tsv', header=False, text_column='2', label_column='1'"
    with pytest.raises(DataError, match=rf"'vpn;mail' hold ';'.*{remedy}"):
        read(path)
    found = read(path, format="tsv", header=False, text_column="2", label_column="1").corpus
    assert found.labels == [["mail", "vpn"], ["mail"]]


def test_point_1_ids_have_many_names(tmp_path):
    """Point 1: a column such as Ticket-ID holds the ids where every row has its own."""
    path = tmp_path / "tickets.csv"
    path.write_text("Customer-ID,Ticket-ID,text\nC1,T1,one\nC1,T2,two\n")
    assert read(path).corpus.ids == ["T1", "T2"]
    english = ("Ticket No", "ticket_nr", "Case Number", "Issue key")
    german = ("Ticketnummer", "Vorgangsnummer", "Ticket-Nr.", "Auftragsnummer")
    for name in (*english, *german, "Numéro de dossier", "número de caso", "Zaaknummer", "Tikettinumero"):
        path.write_text(f"{name},text\nT1,one\nT2,two\n")
        assert read(path).corpus.ids == ["T1", "T2"]
    path.write_text("Vorgangsnummer,Ticket-ID,text\n1,T1,one\n2,T2,two\n")
    assert read(path).corpus.ids == ["T1", "T2"]
    for table in (
        "Customer-ID,text\nC1,one\nC1,two\n",
        "Telefonnummer,text\nC1,one\nC2,two\n",
        "Nr.,text\n1,one\n2,two\n",
    ):
        path.write_text(table)
        assert read(path).corpus.ids == ["2", "3"]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("I1,a bus\nI2,a road\nI2,a lamp\n", "'Ticket Nr.' is not used as ids: 'I2' occurs twice."),
        ("I1,a bus\nI2,a road\n,a lamp\n", "'Ticket Nr.' is not used as ids: 1 document has none."),
        ("I1,a bus\nI1,a road\nI1,a lamp\n", None),
    ],
)
def test_point_1_a_column_that_is_no_id_after_all_is_named(tmp_path, capsys, rows, why):
    """Point 1: most rows have an id of their own, but not all; a column with few values holds something else."""
    path = tmp_path / "tickets.csv"
    path.write_text(f"Ticket Nr.,text\n{rows}")
    assert run(["describe", str(path)]) == 0
    printed = capsys.readouterr()
    if why is None:
        assert "not used as ids" not in printed.out + printed.err
    else:
        assert why in printed.out
        assert f"{path}: {why} Ids are line numbers; -o id_column=… names this or another column." in printed.err


def test_an_empty_row_hides_no_ids(tmp_path, capsys):
    """Neither alone, nor where the ids of the training were recognised: there the same column has them."""
    new, model = tmp_path / "new.csv", tmp_path / "tickets.manylabel"
    new.write_text("Ticket-ID,text\n77001,the printer\n,\n77003,the vpn\n")
    assert read(new, keep_blank=True).corpus.ids == ["77001", "3", "77003"]
    rows = "".join(f"{77100 + row},{word} is down,{word}\n" for row, word in enumerate(["vpn", "printer"] * 6))
    (tmp_path / "tickets.csv").write_text(f"Ticket-ID,text,labels\n{rows}")
    assert run(["train", str(tmp_path / "tickets.csv"), "--model", str(model), "--method", "nb"]) == 0
    new.write_text("Ticket-ID,text\n77001,the printer\n77001,the vpn\n,the vpn\n")
    capsys.readouterr()
    assert run(["predict", str(model), str(new), "--to", "csv"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == ["77001", "77001", "4"]


@pytest.mark.parametrize(
    ("title", "text", "labels"),
    [
        ("Betreff", "Beschreibung", "Kategorie"),
        ("Titel", "Text", "Schlagwörter"),
        ("Objet", "Texte", "Catégories"),
        ("Asunto", "Descripción", "Etiquetas"),
        ("Otsikko", "Kuvaus", "Asiasanat"),
        ("Onderwerp", "Omschrijving", "Categorie"),
    ],
)
def test_point_1_names_of_columns_in_other_languages(tmp_path, title, text, labels):
    path = tmp_path / "tickets.csv"
    rows = "".join(f"{n};subject {n};printer {n} is broken;printer|office\n" for n in range(4))
    path.write_text(f"Nr;{title};{text};{labels}\n{rows}", encoding="utf-8")
    corpus = read(path).corpus
    assert corpus.layout is not None
    assert (corpus.layout.sides, corpus.layout.text, corpus.layout.labels) == ((title,), text, (labels,))
    assert corpus.labels[0] == ["office", "printer"]
    numbered = "".join(f"{n};printer {n} is broken;printer;office\n" for n in range(4))
    path.write_text(f"Nr;{text};{labels} 1;{labels} 2\n{numbered}", encoding="utf-8")
    assert read(path).corpus.labels[0] == ["office", "printer"]


def test_point_1_several_possible_label_columns_ask(tmp_path):
    """Point 1: with two candidates for the labels, the message lists both and the option."""
    path = tmp_path / "a.csv"
    path.write_text("text,topics,category\nx,a,b\n")
    with pytest.raises(DataError, match=r"'topics', 'category'.*label_column=\['topics', 'category'\]"):
        read(path)


def test_point_1_every_choice_is_printed(tickets, capfd):
    """Point 1: `describe` prints one line with columns, separator, labels per document and language."""
    assert run(["describe", str(tickets)]) == 0
    line = next(line for line in capfd.readouterr().err.splitlines() if line.startswith(str(tickets)))
    for part in (
        "read as csv",
        "cells separated by semicolons",
        "text from 'Title', 'Description'",
        "labels from 'tag_1', 'tag_2', 'tag_3', one per cell",
        "1 to 2 labels per document",
        "language English",
    ):
        assert part in line


def test_point_3_label_columns_are_joined(tickets):
    """Point 3: by name, as a list, or by a pattern."""
    expected = [["network", "vpn"], ["printer"]]
    for given in (["tag_1", "tag_2"], "tag_1,tag_2", "tag_*", ["tag_*"]):
        assert read(tickets, label_column=given).corpus.labels[:2] == expected
    with pytest.raises(DataError, match=r"no column 'tag_9'.*label_column='NAME'"):
        read(tickets, label_column=["tag_1", "tag_9"])


def test_point_3_names_and_marks_are_joined(tmp_path):
    """Point 3: columns of names, of 0 and 1, and of yes and no."""
    path = tmp_path / "a.csv"
    path.write_text("text,queue,urgent,vip\nx,mail,1,no\ny,vpn,0,yes\n")
    assert read(path, label_column=["queue", "urgent", "vip"]).corpus.labels == [["mail", "urgent"], ["vip", "vpn"]]


def test_point_3_the_option_may_be_repeated(tmp_path, capfd):
    """Point 3: the command line joins repeated --label-column."""
    path = tmp_path / "a.csv"
    path.write_text("text,queue,kind\nthe mail is late,mail,bug\nthe vpn is down,vpn,bug\n")
    assert run(["describe", str(path), "--label-column", "queue", "--label-column", "kind"]) == 0
    assert "labels from 'queue', 'kind', one per cell; exactly 2 labels per document" in capfd.readouterr().err


def test_point_1_describe_explains_how_the_data_were_read(tickets, capfd):
    """Point 1: every choice with its reason and the option that changes it; a byte order mark does not matter."""
    assert run(["describe", str(tickets)]) == 0
    captured = capfd.readouterr()
    rows = {line.split("  ")[0]: line for line in captured.out.splitlines()}
    for what, chosen, option in (
        ("format", "csv, cells separated by semicolons, column names in the first row.", "-o delimiter=…"),
        ("text", "'Title', 'Description'. 'Description' is a usual name for texts.", "--text-column"),
        ("labels", "'tag_1', 'tag_2', 'tag_3'. They are numbered, so they are joined.", "--label-column"),
        ("separator", "No label cell holds a separator, so every cell is one label.", "--label-separator"),
        ("ids", "'id'.", "-o id_column=…"),
        ("label sets", "1 to 2 per document.", ""),
        ("language", "English, by its most common words", "--set features.stemmer=…"),
        ("HTML", "most documents contain HTML: tags are removed in training.", "--set features.markup=keep"),
    ):
        assert chosen in rows[what]
        assert option in rows[what]
    assert "HTML in most documents" in captured.err
    assert run(["describe", str(tickets), "--label-column", "tag_1"]) == 0
    assert f"Compare: manylabel evaluate {tickets} --label-column tag_1" in " ".join(capfd.readouterr().out.split())


def test_point_1_describe_explains_tables_without_a_header(tmp_path, capfd):
    """Point 1: columns without names are called by their place."""
    path = tmp_path / "train.tsv"
    path.write_text("<http://x.org/1>\tthe bus was late\n<http://x.org/3>\tthe road is closed\n")
    assert run(["describe", str(path)]) == 0
    captured = capfd.readouterr()
    assert "no header; text from column 2; labels from column 1, addresses in angle brackets" in captured.err
    assert "column 2. Without a header, two or three columns are text, labels and perhaps id." in captured.out
    assert "The label cells hold addresses in angle brackets." in captured.out


def test_point_1_columns_of_like_lengths_ask(tmp_path):
    """Point 1: without a header, texts and labels of about the same length are not told apart by a guess."""
    path = tmp_path / "train.tsv"
    path.write_text("late bus\tbuses roads\nbad road\troads\n")
    with pytest.raises(
        DataError, match=r"format='tsv' \(texts, then labels\) or format='libmultilabel' \(labels, then"
    ):
        read(path)
    assert read(path, format="tsv").corpus.texts == ["late bus", "bad road"]
    assert read(path, format="libmultilabel").corpus.texts == ["buses roads", "roads"]


def test_point_1_a_choice_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Point 1: a command that reads the same data twice prints how it read them once."""
    printer = remark_printer()
    for text in ("mail.csv: read as csv.", "mail.csv: read as csv.", "new.csv: read as csv."):
        printer(text)
    assert capsys.readouterr().err == "mail.csv: read as csv.\nnew.csv: read as csv.\n"


def test_point_1_exports_of_label_studio_are_read(tmp_path):
    """Point 1: several choices are an object in JSON-MIN, and its text in CSV; a single choice is a name."""
    names = [["buses", "roads, paths"], ["roads"]]
    records = tmp_path / "project.json"
    records.write_text(
        '[{"id": 1, "text": "late bus", "labels": {"choices": ["buses", "roads, paths"]}},'
        ' {"id": 2, "text": "a hole", "labels": "roads"}]'
    )
    table = tmp_path / "project.csv"
    table.write_text('id,labels,text\n1,"{""choices"":[""buses"",""roads, paths""]}",late bus\n2,roads,a hole\n')
    assert read(records).corpus.labels == names
    assert read(table).corpus.labels == names
