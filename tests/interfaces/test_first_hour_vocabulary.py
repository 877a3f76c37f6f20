"""The first hour with Annif's tutorial layout: addresses in a table, names in a folder, a thesaurus beside them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import read
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.exceptions import DataError, ManylabelWarning
from manylabel.tasks.corpora import Source
from manylabel.tasks.evaluate import evaluate_model
from manylabel.tasks.models import inspect, predict_source, train

TURTLE = """@base <http://example.org/v/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<1> a skos:Concept ; skos:prefLabel "buses"@en, "Busse"@de .
<2> a skos:Concept ; skos:prefLabel "roads"@en, "Wege"@de .
"""
BUS, ROAD = "the late buses again", "a deep hole in the roads"


def _layout(folder: Path) -> tuple[Path, Path]:
    (folder / "subjects.ttl").write_text(TURTLE)
    table = folder / "documents.tsv"
    table.write_text(f"{BUS}\t<http://example.org/v/1>\n{ROAD}\t<http://example.org/v/2>\n" * 6)
    texts = folder / "fulltext"
    texts.mkdir()
    for name, text, label in (("a", BUS, "buses"), ("b", ROAD, "roads")):
        (texts / f"{name}.txt").write_text(text)
        (texts / f"{name}.key").write_text(f"{label}\n")
    return table, texts


def test_point_11_addresses_and_names_are_one_label(tmp_path: Path) -> None:
    """Point 11: trained on addresses, evaluated on names, with the vocabulary found beside the data."""
    table, texts = _layout(tmp_path)
    model = tmp_path / "model.manylabel"
    trained = train(Source(str(table), format="tsv"), model, method="nb-binary")
    assert trained.classifier.labels_ == ["buses", "roads"]
    assert "subjects.ttl" in str(trained.record.vocabulary)
    result = evaluate_model(Source(str(texts)), model).results[0]
    assert result.metrics["all"]["micro-f1"] == 1
    found = [p.as_dict(with_scores=False) for p in predict_source(TextClassifier.load(model), Source(str(texts)))[0]]
    assert found[0] == {"id": "a", "labels": ["buses"], "uris": ["http://example.org/v/1"]}
    assert inspect(model).addresses == {"buses": "http://example.org/v/1", "roads": "http://example.org/v/2"}


def test_point_11_labels_in_another_language(tmp_path: Path) -> None:
    """Point 11: --label-language names the labels in any language of the vocabulary."""
    table, texts = _layout(tmp_path)
    model = tmp_path / "model.manylabel"
    trained = train(Source(str(table), format="tsv", label_language="de"), model, method="nb-binary")
    assert trained.classifier.labels_ == ["Busse", "Wege"]
    assert evaluate_model(Source(str(texts)), model).results[0].metrics["all"]["micro-f1"] == 1


def test_predict_names_labels_in_another_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, texts = _layout(tmp_path)
    model, plain = str(tmp_path / "model.manylabel"), tmp_path / "plain.csv"
    assert run(["train", str(table), "--format", "tsv", "--method", "nb-binary", "--model", model]) == 0
    capsys.readouterr()
    assert run(["predict", model, str(texts), "--label-language", "DE", "--scores"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["labels"], first["uris"]) == (["Busse"], ["http://example.org/v/1"])
    assert {one["label"] for one in first["scores"]} == {"Busse", "Wege"}
    assert run(["predict", model, str(texts), "--label-language", "fi"]) == 2
    assert "Found: de, en" in capsys.readouterr().err
    assert run(["predict", model, str(texts), "--label-language", "de", "--workers", "2", "--output", "x.csv"]) == 2
    assert "--workers and --cluster do not take" in capsys.readouterr().err
    plain.write_text("text,labels\n" + f"{BUS},bus\n{ROAD},road\n" * 6)
    without = str(tmp_path / "plain.manylabel")
    (tmp_path / "subjects.ttl").unlink()
    assert run(["train", str(plain), "--method", "nb-binary", "--model", without]) == 0
    assert run(["predict", without, str(texts), "--label-language", "de"]) == 2
    assert "has no vocabulary" in capsys.readouterr().err


def test_evaluate_names_labels_in_another_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `predict` does; a language that the model has no names in is refused."""
    table, _ = _layout(tmp_path)
    model = str(tmp_path / "model.manylabel")
    assert run(["train", str(table), "--format", "tsv", "--method", "nb-binary", "--model", model]) == 0
    evaluate = ["evaluate", str(table), "--format", "tsv", "--model", model, "--label-language"]
    capsys.readouterr()
    assert run([*evaluate, "de"]) == 0
    out = capsys.readouterr().out
    assert "Busse" in out
    assert "buses" not in out
    assert run([*evaluate, "fi"]) == 2
    assert "Found: de, en" in capsys.readouterr().err


def test_point_11_folders_keep_the_addresses_of_their_tables(tmp_path: Path) -> None:
    """Point 11: a .tsv file comes before a .key file, and its address decides, whatever it calls the concept."""
    table, texts = _layout(tmp_path)
    for name, number in (("a", 1), ("b", 2)):
        (texts / f"{name}.tsv").write_text(f"<http://example.org/v/{number}>\tformer name {number}\n")
    alone = read(texts).corpus
    assert alone.labels == [["former name 1"], ["former name 2"]]
    assert alone.vocabulary is not None
    assert alone.vocabulary.address_of("former name 1") == "http://example.org/v/1"
    model = tmp_path / "model.manylabel"
    train(Source(str(table), format="tsv"), model, method="nb-binary")
    assert evaluate_model(Source(str(texts)), model).results[0].metrics["all"]["micro-f1"] == 1
    subjects = (tmp_path / "subjects.ttl").rename(tmp_path / "elsewhere.backup")
    assert subjects.exists()
    trained = train(Source(str(texts)), model, method="nb-binary").classifier
    assert trained.label_addresses["former name 2"] == "http://example.org/v/2"


def test_point_11_objects_of_annif_keep_their_addresses(tmp_path: Path) -> None:
    """Point 11: the subjects of Annif's JSON lines are labels by name, and predictions carry their addresses."""
    birds, trains = '{"uri": "http://x/1", "label": "birds"}', '{"uri": "http://x/2", "label": "trains"}'
    lines = [f'{{"text": "birds nest", "subjects": [{birds}]}}', f'{{"text": "late trains", "subjects": [{trains}]}}']
    lines.append('{"text": "a rock", "subjects": [{"uri": "http://x/3"}, {"label": "stones"}]}')
    (tmp_path / "train.jsonl").write_text("\n".join(lines * 3) + "\n")
    corpus = read(tmp_path / "train.jsonl").corpus
    assert corpus.labels is not None
    assert corpus.labels[:3] == [["birds"], ["trains"], ["http://x/3", "stones"]]
    assert corpus.vocabulary is not None
    assert {name: corpus.vocabulary.address_of(name) for name in ("birds", "trains", "stones")} == {
        "birds": "http://x/1", "trains": "http://x/2", "stones": None,
    }  # fmt: skip


def test_point_1_the_vocabulary_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Points 1 and 11: which vocabulary names the labels is printed by every command, and `describe` explains it."""
    table, texts = _layout(tmp_path)
    assert run(["describe", str(table), "--format", "tsv"]) == 0
    out, err = capsys.readouterr()
    assert "labels named in 'en' by subjects.ttl" in err
    assert "The vocabulary subjects.ttl names 2 labels in the language 'en' (also de: --label-language)." in out
    assert run(["describe", str(texts)]) == 0
    assert "directory: folder of .txt files with .tsv or .key label files" in capsys.readouterr().out


def test_addresses_that_a_vocabulary_lacks_or_names_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An incomplete vocabulary: every label has its address, and what is not named is counted."""
    uri = "http://example.org/v/{}"
    rows = [("steel bridge", 1), ("paint coat", 2), ("wood lacquer", 3), ("old bird", 4)]
    table, words, model = tmp_path / "train.tsv", tmp_path / "words.tsv", tmp_path / "model.manylabel"
    table.write_text("".join(f"{text} of number {row}\t<{uri.format(key)}>\n" for row, (text, key) in enumerate(rows)))
    names = [(1, "bridges"), (2, "coating"), (3, "coating")]
    words.write_text("".join(f"<{uri.format(key)}>\t{name}\n" for key, name in names))
    options = ["--vocabulary", str(words), "--method", "nb-binary", "--model", str(model)]
    assert run(["train", str(table), *options]) == 0
    out = capsys.readouterr().out
    shared = "2 labels share their names with other concepts, so the end of the address is added, as in 'coating (2)'"
    assert f"names 3 labels; {shared}; 1 label is not in it: 'http://example.org/v/4'." in out
    assert "4 of 4 labels have a single training document, and can hardly be learned." in out
    assert TextClassifier.load(model).vocabulary.source == "words.tsv"  # without its folder
    addresses = {"bridges": 1, "coating (2)": 2, "coating (3)": 3, uri.format(4): 4}
    assert TextClassifier.load(model).label_addresses == {name: uri.format(key) for name, key in addresses.items()}


def test_a_name_that_concepts_share_is_the_same_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the documents have only one of these concepts, and where later ones bring the other."""
    table, model, new = (tmp_path / name for name in ("train.tsv", "model.manylabel", "new.manylabel"))
    words = "<http://x/p1>\tbirds\n<http://x/p6>\tMercury\n<http://x/p7>\tMercury\n"
    (tmp_path / "subjects.tsv").write_text(words)
    table.write_text("nests of birds\t<http://x/p1>\nthe orbit of planets\t<http://x/p6>\n" * 4)
    train(Source(str(table)), model, method="nb-binary", single_label=False)
    classifier = TextClassifier.load(model)
    assert classifier.label_addresses == {"Mercury (p6)": "http://x/p6", "birds": "http://x/p1"}
    assert [classifier.own_label(one) for one in ("http://x/p6", "Mercury (p6)")] == ["Mercury (p6)"] * 2
    assert run(["predict", str(model), str(table)]) == 0
    second = json.loads(capsys.readouterr().out.splitlines()[1])
    assert (second["labels"], second["uris"]) == (["Mercury (p6)"], ["http://x/p6"])
    for beside in (True, False):
        if not beside:
            (tmp_path / "subjects.tsv").unlink()
        assert evaluate_model(Source(str(table)), model).results[0].metrics["all"]["micro-f1"] == 1
    (tmp_path / "subjects.tsv").write_text(words)
    more = tmp_path / "more.tsv"
    more.write_text("a liquid metal\t<http://x/p7>\nmore orbits\t<http://x/p6>\n" * 4)
    assert run(["update", str(model), str(more), "--with", str(table), "--output", str(new)]) == 0
    assert sorted(TextClassifier.load(new).labels_) == ["Mercury (p6)", "Mercury (p7)", "birds"]
    assert run(["update", str(model), "--rename", "http://x/p6=planets", "--output", str(new)]) == 0
    assert TextClassifier.load(new).label_addresses == {"birds": "http://x/p1", "planets": "http://x/p6"}


def test_names_are_told_apart_whatever_their_addresses() -> None:
    """By the whole address where the ends are equal or the name is taken; in other languages by their own names."""
    names = {"http://x/1": "cell", "http://y/1": "cell", "http://x/2": "bank", "http://x/3#": "bank"}
    names |= {"http://x/4": "bank (2)", "urn:x:5": "rook"}
    words = LabelVocabulary({"en": names, "de": {"http://x/1": "Zelle", "http://x/6": "rook"}}, "en")
    shown = words.display_names()
    assert shown == {
        "http://x/1": "cell (http://x/1)", "http://y/1": "cell (http://y/1)", "http://x/2": "bank (http://x/2)",
        "http://x/3#": "bank (3)", "http://x/4": "bank (2)", "urn:x:5": "rook (5)", "http://x/6": "rook (6)",
    }  # fmt: skip
    assert words.display_names("de")["http://x/1"] == "Zelle"
    assert {address: words.address_of(name) for address, name in shown.items()} == {one: one for one in shown}


def test_point_16_tables_of_predictions_have_addresses(tmp_path: Path) -> None:
    """Points 11 and 16: labels, their addresses and scores are columns of every format, also for a folder of texts."""
    table, texts = _layout(tmp_path)
    model = tmp_path / "model.manylabel"
    train(Source(str(table), format="tsv"), model, method="nb-binary")
    for ending, sign in (("csv", ","), ("tsv", "\t")):
        target = tmp_path / f"out.{ending}"
        assert run(["predict", str(model), str(texts), "--output", str(target)]) == 0
        first, second, *_ = target.read_text().splitlines()
        assert first.split(sign) == ["id", "labels", "uris", "scores"]
        assert second.split(sign)[:3] == ["a", "buses", "http://example.org/v/1"]
        assert second.split(sign)[3].startswith("buses ")
    target = tmp_path / "out.jsonl"
    assert run(["predict", str(model), str(texts), "--output", str(target)]) == 0
    record = json.loads(target.read_text().splitlines()[0])
    assert (record["labels"], record["uris"]) == (["buses"], ["http://example.org/v/1"])
    assert [one["label"] for one in record["scores"]] == ["buses"]
    again = tmp_path / "again.csv"
    assert run(["predict", str(model), str(table), "--format", "tsv", "--output", str(again)]) == 0
    assert again.read_text().splitlines()[0] == "text,labels,predicted_labels,uris,scores"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("subjects.tsv", "<http://x.org/1>\tcats\n<http://x.org/2>\tdogs and wolves\n"),
        ("bare.tsv", "http://x.org/1\tcats\t1.1\nhttp://x.org/2\tdogs and wolves\t1.2\n"),
        ("subjects.csv", "uri,label_en,label_fi\nhttp://x.org/1,cats,kissat\n"),
        ("animals.ttl", TURTLE),
        ("animals.nt", '<http://x.org/1> <http://www.w3.org/2004/02/skos/core#prefLabel> "cats"@en .\n'),
    ],
)
@pytest.mark.parametrize("command", ["train", "describe"])
def test_a_vocabulary_is_not_read_as_documents(
    command: str, name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    assert run([command, str(tmp_path / name)]) == 2
    message = capsys.readouterr().err
    assert "looks like a " + ("vocabulary of labels" if name.endswith("sv") else "SKOS thesaurus") in message
    assert f"Give the documents as data and this file with --vocabulary {tmp_path / name}." in message


@pytest.mark.parametrize(
    "content",
    [
        "<http://x.org/1>\tcats purr\n<http://x.org/2>\tdogs bark\n<http://x.org/1>\tcats sleep\n",
        f"<http://x.org/1>\t{'a long text about cats ' * 5}\n<http://x.org/2>\tdogs bark\n",
        "uri,label_en,text\nhttp://x.org/1,cats,They purr.\nhttp://x.org/2,dogs,They bark.\n",
    ],
)
def test_documents_with_addresses_are_no_vocabulary(content: str, tmp_path: Path) -> None:
    table = tmp_path / f"data.{'csv' if ',' in content else 'tsv'}"
    table.write_text(content)
    assert len(read(table, **({"label_column": "label_en"} if "," in content else {})).corpus) >= 2
    vocabulary = tmp_path / "subjects.tsv"
    vocabulary.write_text("<http://x.org/1>\tcats\n<http://x.org/2>\tdogs\n")
    assert read(vocabulary, format="tsv").corpus.label_sets == [["http://x.org/1"], ["http://x.org/2"]]


def test_a_table_stands_in_for_a_thesaurus_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    table, _ = _layout(tmp_path)
    with pytest.warns(ManylabelWarning, match="thesaurus beside the data was not read"):
        train(Source(str(table), format="tsv"), tmp_path / "without.manylabel", method="nb-binary")
    (tmp_path / "subjects.tsv").write_text("<http://example.org/v/1>\tbuses\n<http://example.org/v/2>\troads\n")
    model = tmp_path / "model.manylabel"
    assert run(["train", str(table), "--format", "tsv", "--method", "nb-binary", "--model", str(model)]) == 0
    message = capsys.readouterr().err
    assert "Labels are named by subjects.tsv; subjects.ttl was not read. Reading SKOS needs" in message
    assert TextClassifier.load(model).labels_ == ["buses", "roads"]


def test_labels_of_a_vocabulary_are_given_by_address_or_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, _ = _layout(tmp_path)
    model, new = str(tmp_path / "model.manylabel"), str(tmp_path / "new.manylabel")
    train(Source(str(table), format="tsv"), Path(model), method="nb-binary", single_label=False)
    address, other = "http://example.org/v/1", "http://example.org/v/2"
    data = tmp_path / "more.tsv"
    data.write_text(f"buses and more buses\t<{address}>\nroads again\t<{other}>\n")
    for given in (address, f"<{address}>", "Busse", "buses"):
        assert run(["explain", model, BUS, "--label", given]) == 0
        assert "buses: predicted" in capsys.readouterr().out
        assert run(["thresholds", model, "--set", f"{given}=0.25", "--output", new]) == 0
        assert dict(TextClassifier.load(new).thresholds or {})["buses"] == 0.25
        assert run(["thresholds", model, "--precision", "0.5", "--only", given, "--data", str(data)]) == 0
        assert run(["update", model, "--rename", f"{given}=coaches", "--output", new]) == 0
        assert TextClassifier.load(new).label_addresses == {"coaches": address, "roads": other}
    changes = tmp_path / "changes.tsv"
    changes.write_text(f"merge\t{address}\t{other}\n")
    assert run(["update", model, "--changes", str(changes), "--output", new]) == 0
    assert TextClassifier.load(new).labels_ == ["roads"]
    capsys.readouterr()
    assert run(["explain", model, BUS, "--label", "http://example.org/v/3"]) == 2
    assert "Unknown label: 'http://example.org/v/3'." in capsys.readouterr().err


@pytest.mark.parametrize("brackets", ["{}", "<{}>"], ids=["bare data", "data in brackets"])
@pytest.mark.parametrize("labels_first", [False, True])
def test_addresses_without_angle_brackets(
    brackets: str, labels_first: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Texts about as long as their addresses are told from them, and a vocabulary without brackets is found."""
    one, two = (brackets.format(f"http://example.org/v/{number}") for number in (1, 2))
    rows = [(BUS, one), (ROAD, two), ("buses on the roads today", f"{one} {two}")] * 4
    lines = ["\t".join(reversed(row) if labels_first else row) for row in rows]
    (tmp_path / "train.tsv").write_text("\n".join(lines) + "\n")
    longest = "roads, " + "with all that belongs to them, " * 3
    (tmp_path / "subjects.tsv").write_text(f"http://example.org/v/1\tbuses\nhttp://example.org/v/2\t{longest}\n")
    model = tmp_path / "model.manylabel"
    assert run(["train", str(tmp_path / "train.tsv"), "--method", "nb-binary", "--model", str(model)]) == 0
    assert "labels named by subjects.tsv" in capsys.readouterr().err
    assert TextClassifier.load(model).label_addresses["buses"] == "http://example.org/v/1"
    assert TextClassifier.load(model).n_documents_ == 12


def test_a_folder_of_documents_and_a_vocabulary_without_angle_brackets(tmp_path: Path) -> None:
    (tmp_path / "documents.tsv").write_text(f"{BUS}\thttp://x.org/1\n{ROAD}\thttp://x.org/2\n")
    (tmp_path / "subjects.tsv").write_text("http://x.org/1\tbuses\nhttp://x.org/2\troads\n")
    assert read(tmp_path).corpus.label_sets == [["http://x.org/1"], ["http://x.org/2"]]


def test_the_format_that_a_message_offers_settles_the_doubt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The check of the size looked at the format again, so that --format led back to the same message."""
    table, model = str(tmp_path / "train.tsv"), str(tmp_path / "model.manylabel")
    Path(table).write_text("cats purr\tpets;cats\nbig dogs\tpets;dog\n" * 4)
    training = ["train", table, "--method", "nb-binary", "--model", model]
    assert run(training) == 2
    assert "Use --format tsv (texts, then labels) or --format libmultilabel" in capsys.readouterr().err
    assert run([*training, "--format", "tsv"]) == 0
    assert TextClassifier.load(model).labels_ == ["cats", "dog", "pets"]
    assert run(["predict", model, table]) == 0  # read as in training
    assert run(["evaluate", table, "--model", model]) == 0
    for command in (["labels", table], ["evaluate", table, "--method", "nb-binary"]):
        assert run([*command, "--format", "tsv"]) == 0, capsys.readouterr().err
    (tmp_path / "splits").mkdir()
    for split in ("train", "test"):
        (tmp_path / "splits" / f"{split}.tsv").write_text(Path(table).read_text())
    assert run(["labels", str(tmp_path / "splits"), "--format", "tsv"]) == 0


def test_a_vocabulary_without_languages_offers_none_to_choose() -> None:
    with pytest.raises(DataError, match=r"have no language.*Leave the language out"):
        LabelVocabulary({"": {"http://x/1": "cat"}}).checked_language("sv")
    with pytest.raises(DataError, match=r"no names in the language 'sv'\. Found: fi\..*Choose one of them"):
        LabelVocabulary({"": {}, "fi": {"http://x/1": "kissa"}}).checked_language("sv")


@pytest.mark.parametrize(
    ("command", "ours"),
    [("load-vocab", "--vocabulary FILE"), ("run", "manylabel serve"), ("hyperopt", "manylabel tune")],
)
def test_commands_of_annif_name_ours(command: str, ours: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "x"]) == 2
    assert ours in capsys.readouterr().err


def test_subjects_that_a_model_cannot_name_are_warned_of_with_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model file that is given as data says what it is for."""
    names, data, more = tmp_path / "names" / "names.tsv", tmp_path / "d.tsv", tmp_path / "more.tsv"
    names.parent.mkdir()
    names.write_text("<http://x/1>\troads\n<http://x/2>\tbuses\n<http://x/3>\tlamps\n")
    data.write_text("a hole in the road\t<http://x/1>\nthe late bus\t<http://x/2>\n" * 5)
    more.write_text("a dark lamp\t<http://x/3>\nthe late bus\t<http://x/2>\n" * 5)
    model = str(tmp_path / "m.manylabel")
    assert run(["train", str(data), "--vocabulary", str(names), "--method", "nb-binary", "--model", model]) == 0
    warning = "1 label of the data is a URI that the model has no name for, first http://x/3. To name them, use --voc"
    for options, warned in (([], True), (["--vocabulary", str(names)], False)):
        capsys.readouterr()
        assert run(["evaluate", str(more), "--model", model, *options]) == 0
        assert (warning in capsys.readouterr().err) == warned
    (tmp_path / "words.tsv").write_text("<http://x/1>\troads\n<http://x/2>\tbuses\n")
    assert run(["evaluate", str(more), "--model", model]) == 0
    lacking = "that neither the model nor the vocabulary words.tsv has a name for, first http://x/3.\n"
    assert lacking in capsys.readouterr().err
    assert run(["suggest", model]) == 2
    assert "This is a model file" in capsys.readouterr().err
