"""Points 1 and 2 of the first-hour list: prediction needs no labels, and a model remembers how its data were read."""

import io
import json

import pytest

from forging import forge
from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.data import load
from manylabel.data.reading_options import ReadingOptions
from manylabel.exceptions import ModelFileError

WORDS = [("vpn", "network"), ("printer", "paper"), ("mail", "network"), ("vpn", "access")] * 8


def write_table(path, header, row, delimiter=";"):
    lines = [
        header,
        *(row.format(number=number, word=word, second=second) for number, (word, second) in enumerate(WORDS)),
    ]
    path.write_text("".join(line.replace(";", delimiter) + "\n" for line in lines))
    return path


@pytest.fixture
def model(tmp_path, capfd):
    """A model of tickets whose text is in an unusual column, beside a column that looks like the text."""
    data = write_table(
        tmp_path / "tickets.csv",
        "nr;text;what happened;queue;team",
        "{number};see attachment;the {word} is down and the {second} fails;{word};{second}",
    )
    path = tmp_path / "tickets.manylabel"
    options = ["--text-column", "what happened", "--label-column", "queue", "--label-column", "team"]
    assert run(["train", str(data), "--model", str(path), *options, "--method", "nb-binary"]) == 0
    capfd.readouterr()
    return path


def predicted(capfd):
    captured = capfd.readouterr()
    lines = [line for line in captured.out.splitlines() if line.startswith("{")]
    return [sorted(json.loads(line)["labels"]) for line in lines], captured.err


def test_point_1_prediction_needs_no_labels(model, tmp_path, capfd):
    """Point 1: several columns that may hold labels do not matter to `predict`."""
    new = tmp_path / "new.csv"
    new.write_text("what happened,tags,topic\nthe printer is down,a,b\n")
    assert run(["predict", str(model), str(new)]) == 0
    labels, err = predicted(capfd)
    assert labels == [["paper", "printer"]]
    assert "text from 'what happened', as in training; no labels read" in err


def test_a_text_or_data_in_place_of_a_file_are_answered_with_the_order(model, tmp_path, capfd):
    assert run(["predict", str(model), "the vpn is down"]) == 2
    assert f"echo 'the vpn is down' | manylabel predict {model}" in capfd.readouterr().err
    data = tmp_path / "tickets.csv"
    assert run(["predict", str(data), str(model)]) == 2
    assert "the model comes before the data" in capfd.readouterr().err


def test_point_2_predict_reads_the_columns_of_the_training(model, tmp_path, capfd):
    """Point 2: the column of the training is read, not one with a more usual name; the delimiter is found anew."""
    new = write_table(tmp_path / "new.csv", "text;what happened", "see attachment;the printer is down", ",")
    assert run(["predict", str(model), str(new)]) == 0
    labels, _ = predicted(capfd)
    assert labels == [["paper", "printer"]] * len(WORDS)


def test_point_2_options_come_before_those_of_the_training(model, tmp_path, capfd):
    """Point 2: --text-column names another column."""
    new = tmp_path / "new.csv"
    new.write_text("text,what happened\nthe printer is down,the vpn is down\n")
    assert run(["predict", str(model), str(new), "--text-column", "text"]) == 0
    assert predicted(capfd)[0] == [["paper", "printer"]]


def test_point_2_a_missing_column_is_reported_with_the_remedy(model, tmp_path, capfd):
    """Point 2: a file without the column that was given in training is not read by guessing."""
    new = tmp_path / "new.csv"
    new.write_text("text,team\nthe printer is down,paper\n")
    assert run(["predict", str(model), str(new)]) == 2
    problem = "There is no column 'what happened', which was read in training. Found: 'text', 'team'."
    assert f"{problem} Use --text-column NAME." in capfd.readouterr().err
    assert run(["evaluate", str(new), "--model", str(model), "--text-column", "text"]) == 2
    problem = "There is no column 'queue', from which labels were read in training. Found: 'text', 'team'."
    assert f"{problem} Use --label-column NAME." in capfd.readouterr().err


def test_point_2_evaluate_reads_the_columns_of_the_training(model, tmp_path, capfd):
    """Point 2: texts and labels of `evaluate --model` come from the columns of the training."""
    header = "labels;text;what happened;queue;team"
    new = write_table(tmp_path / "new.csv", header, "x;y;the {word} is down and the {second} fails;{word};{second}")
    assert run(["evaluate", str(new), "--model", str(model), "--json"]) == 0
    captured = capfd.readouterr()
    metrics = json.loads(captured.out)["results"][0]["metrics"]
    assert metrics["all"]["micro-f1"] > 0.9
    assert "labels from 'queue', 'team', one per cell; exactly 2 labels per document" in captured.err


def test_point_2_lines_of_json_have_the_keys_of_the_training(model, tmp_path, capfd):
    """Point 2: so do plain text files and standard input, a JSON object per line."""
    new = tmp_path / "new.txt"
    new.write_text('the printer is down\n{"text": "see attachment", "what happened": "the printer is down"}\n')
    assert run(["predict", str(model), str(new)]) == 0
    assert predicted(capfd)[0] == [["paper", "printer"]] * 2
    new.write_text('the printer is down\n{"text": "the printer is down"}\n')
    assert run(["predict", str(model), str(new), "--text-column", "text"]) == 0
    assert predicted(capfd)[0] == [["paper", "printer"]] * 2
    assert run(["predict", str(model), str(new), "--on-error", "skip"]) == 0
    assert "no text under 'what happened'. Keys: 'text'." in capfd.readouterr().err


def test_point_2_columns_that_were_guessed_are_kept_where_they_are(tmp_path, capfd):
    """Point 2: guessed columns are remembered; a new file without them is read anew, and that is printed."""
    data = write_table(tmp_path / "a.csv", "title;body;tags", "About {word};the {word} is down;{word},{second}")
    model = tmp_path / "a.manylabel"
    assert run(["train", str(data), "--model", str(model), "--method", "nb-binary"]) == 0
    new = tmp_path / "new.csv"
    new.write_text("id,text,body\n1,see attachment,the printer and the paper\n")
    assert run(["predict", str(model), str(new)]) == 0
    labels, err = predicted(capfd)
    assert labels == [["paper", "printer"]]
    assert "There is no column 'title', which was read in training; only 'body' is read." in err
    new.write_text("id,text\n1,the printer and the paper\n")
    assert run(["predict", str(model), str(new)]) == 0
    labels, err = predicted(capfd)
    assert labels == [["paper", "printer"]]
    assert "There are no columns 'title', 'body', which were read in training; other columns are chosen" in err


def test_point_2_a_title_that_training_lacked_is_not_read(tmp_path, capfd):
    """Point 2: the fields of a document are those of the training, also where the text repeats its title."""
    data = write_table(tmp_path / "a.csv", "text;labels", "the {word} is down;{word}")
    model = tmp_path / "a.manylabel"
    assert run(["train", str(data), "--model", str(model), "--method", "nb-binary"]) == 0
    like = TextClassifier.load(model).reading
    new = tmp_path / "new.csv"
    new.write_text("title,text\nvpn,the printer is down\n")
    assert load(new, like=like).corpus.texts == ["the printer is down"]
    assert load(new).corpus.texts == [{"title": "vpn", "text": "the printer is down"}]


def test_point_2_options_of_the_format_and_the_encoding_are_remembered(tmp_path):
    """Point 2: a delimiter, an encoding and a given format apply to files of the same kind, UTF-8 is recognised."""
    data = tmp_path / "a.data"
    data.write_bytes("text~labels\nTür kaputt~Tür\nLicht aus~Licht\n".encode("latin-1"))
    options = {"format": "csv", "delimiter": "~", "encoding": "latin-1"}
    corpus = load(data, **options).corpus
    assert corpus.reading is not None
    new = tmp_path / "b.data"
    new.write_bytes(data.read_bytes())
    assert load(new, like=corpus.reading).corpus.labels == [["Tür"], ["Licht"]]
    new.write_bytes("text~labels\nTür kaputt~Tür\n".encode())
    assert load(new, like=corpus.reading).corpus.texts == ["Tür kaputt"]
    lines = tmp_path / "b.jsonl"
    lines.write_text('{"text": "Tür~kaputt", "labels": ["Tür"]}\n')
    assert load(lines, like=corpus.reading).corpus.texts == ["Tür~kaputt"]


def test_point_2_a_separator_that_was_seen_is_kept(tmp_path):
    """Point 2: names with commas stay whole where the labels of the training were separated by semicolons."""
    data = tmp_path / "a.csv"
    data.write_text('text,labels\none,"Smith, John;Miller, Ann"\ntwo,"Smith, John"\n')
    like = load(data).corpus.reading
    new = tmp_path / "b.csv"
    new.write_text('text,labels\none,"Smith, John"\ntwo,"Miller, Ann"\n')
    assert load(new, like=like).corpus.labels == [["Smith, John"], ["Miller, Ann"]]


def test_point_2_headerless_tables_are_read_by_position(tmp_path):
    """Point 2: columns without a name are not looked for by name in other files."""
    data = tmp_path / "a.tsv"
    data.write_text("cats purr\t<http://x.org/1>\ndogs bark\t<http://x.org/2>\n")
    like = load(data).corpus.reading
    assert load(data, like=like).corpus.texts == ["cats purr", "dogs bark"]
    new = tmp_path / "b.csv"
    new.write_text("body,labels\ncats purr,x\n")
    assert load(new, like=like).corpus.texts == ["cats purr"]
    assert load(data, like=load(new).corpus.reading).corpus.texts == ["cats purr", "dogs bark"]


def test_point_2_the_model_file_keeps_the_options_and_checks_them(model, capfd):
    """Point 2: they are typed data, survive a copy, are printed by `inspect`, and damage is reported."""
    loaded = TextClassifier.load(model)
    assert loaded.reading is not None
    assert loaded.reading.texts == ("what happened",)
    assert loaded.reading.given["label_column"] == ["queue", "team"]
    capfd.readouterr()
    assert run(["inspect", str(model)]) == 0
    assert "Read as csv; text from 'what happened'; labels from 'queue', 'team'; new data" in capfd.readouterr().out
    damages: list[dict] = [{"texts": "body"}, {"separator": 3}, {"format": None}, {"given": {"a": {}}}, {"fields": []}]
    for damage in damages:
        with pytest.raises(ValueError, match=r"not a|different lengths|does not map"):
            ReadingOptions.from_dict({**loaded.reading.as_dict(), **damage})
    forged = forge(
        model, model.with_suffix(".forged"), lambda header, _: header["tree"]["state"].update(reading_={"texts": []})
    )
    with pytest.raises(ModelFileError, match=r"do not make a model \(other fields"):
        TextClassifier.load(forged)
    loaded.reading_ = {"texts": []}
    with pytest.raises(ModelFileError, match=r"cannot hold this TextClassifier: other fields"):
        loaded.save(model)


def test_point_2_next_hints_repeat_the_options(tmp_path, capfd):
    """Point 2: a command that is suggested works as it is printed."""
    data = write_table(tmp_path / "my tickets.csv", "what;queue", "the {word} is down;{word}")
    options = ["--text-column", "what", "--label-column", "queue"]
    model = tmp_path / "a.manylabel"
    assert run(["train", str(data), "--model", str(model), "--method", "nb-binary", *options]) == 0
    assert f"'{data}' --text-column what --label-column queue" in capfd.readouterr().out


def test_point_2_the_test_file_is_read_as_the_training_file(tmp_path):
    """Point 2: columns and separator of a folder's splits are those of train.*, not guessed for each file."""
    (tmp_path / "train.csv").write_text('body,labels\none,"Smith, John;Miller, Ann"\ntwo,"Smith, John"\n')
    (tmp_path / "test.csv").write_text('text,body,labels\nx,three,"Smith, John"\ny,four,"Miller, Ann"\n')
    corpus = load(tmp_path).corpus
    assert corpus.texts == ["one", "two", "three", "four"]
    assert corpus.label_names == ["Miller, Ann", "Smith, John"]
    (tmp_path / "train.csv").unlink()
    (tmp_path / "test.csv").unlink()
    (tmp_path / "train.tsv").write_text("the first text\tacq earn\nthe second text\tacq\nthe third text\tearn\n")
    (tmp_path / "test.tsv").write_text("one more text of some length\tacq earn\n")
    assert load(tmp_path).corpus.label_names == ["acq", "earn"]


def test_point_2_the_order_of_columns_without_a_header_is_remembered(tmp_path):
    """Point 2: texts stay the first column of a table without a header, whatever the lengths of its columns."""
    data = tmp_path / "a.tsv"
    data.write_text("the bus was late again\tbuses\na deep hole in the road\troads\n")
    like = load(data).corpus.reading
    new = tmp_path / "b.tsv"
    for labels in ("buses roads", "buses of the town and roads of the county"):
        new.write_text(f"late bus\t{labels}\n")
        assert load(new, like=like).corpus.texts == ["late bus"]


def test_point_2_another_main_text_keeps_the_fields_of_the_training(tmp_path):
    """Point 2: --text-column replaces the main text; a title is read if training had one."""
    new = tmp_path / "new.csv"
    new.write_text("title,message\nvpn,the printer is down\n")
    for header, expected in (
        ("title;body;tags", [{"title": "vpn", "body": "the printer is down"}]),
        ("subject;body;tags", ["the printer is down"]),
        ("note;body;tags", ["the printer is down"]),
    ):
        data = write_table(tmp_path / "a.csv", header, "About {word};the {word} is down;{word}")
        like = load(data).corpus.reading
        assert load(new, like=like, text_column="message").corpus.texts == expected


def test_point_2_columns_given_by_number_are_remembered(tmp_path, capfd):
    """Point 2: in a table without a header, columns that were given by number are read by `predict` too."""
    data, path = tmp_path / "tickets.tsv", tmp_path / "tickets.manylabel"
    data.write_text("".join(f"{word};{second}\tthe {word} is down and the {second} fails\n" for word, second in WORDS))
    options = ["--format", "tsv", "-o", "header=false", "--text-column", "2", "--label-column", "1"]
    assert run(["train", str(data), "--model", str(path), *options, "--method", "nb-binary"]) == 0
    capfd.readouterr()
    assert run(["predict", str(path), str(data)]) == 0
    labels, err = predicted(capfd)
    assert labels[:2] == [["network", "vpn"], ["paper", "printer"]]
    assert "text from '2', as in training" in err


def test_point_2_attributes_of_arff_keep_their_names(tmp_path, capfd):
    """Point 2: explanations name the attributes of the training file; a file with another order is refused."""
    rows = "{0 1,2 1,4 2}\n{1 1,3 2}\n{0 1,4 1}\n{1 1,3 1}\n" * 4
    head = "@relation 'letters: -C 2'\n@attribute buses {0,1}\n@attribute roads {0,1}\n"
    attributes = [f"@attribute {name} numeric\n" for name in ("late", "hole", "bus")]
    data, model = tmp_path / "letters.arff", tmp_path / "letters.manylabel"
    data.write_text("".join([head, *attributes, "@data\n", rows]))
    assert run(["train", str(data), "--method", "nb-binary", "--model", str(model)]) == 0
    assert run(["explain", str(model), str(data), "--id", "8"]) == 0
    captured = capfd.readouterr()
    assert "bus" in captured.out.partition("buses: predicted")[2].split()
    assert f"{data}: read as arff.\n" in captured.err
    data.write_text("".join([head, *reversed(attributes), "@data\n", rows]))
    assert run(["predict", str(model), str(data)]) == 2
    assert "column 1 is 'bus', in training it was 'late'" in capfd.readouterr().err


def test_texts_typed_at_a_terminal_are_asked_for(model, monkeypatch, capfd):
    """No bar runs over the words that are being typed."""

    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal(io.BytesIO(b"the printer is down\n")))
    assert run(["predict", str(model)]) == 0
    labels, err = predicted(capfd)
    assert labels == [["paper", "printer"]]
    assert "Type one text per line. Ctrl-D ends the input." in err
