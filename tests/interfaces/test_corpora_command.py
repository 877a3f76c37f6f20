"""``manylabel corpora``: a whole review without a server, from data to a corrected file."""

import json
from pathlib import Path
from typing import Any

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import read
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.server.store.concepts import find_concepts
from manylabel.server.store.decisions import decide
from manylabel.server.store.files import CorpusFiles
from manylabel.server.store.filters import own_name
from manylabel.server.store.labels import add as add_label
from manylabel.server.store.labels import rename

ROWS = ["the bus was late,buses", "a hole in the road,roads", "bus on a bad road,buses;roads", "the dark lamp,lamps"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a scored corpus; tests review documents of their own."""
    place = tmp_path_factory.mktemp("server")
    lines = [f"{number},{row}" for number, row in enumerate(ROWS * 5)]
    (place / "mail.csv").write_text("id,text,labels\n" + "\n".join(lines) + "\n")
    assert run(["corpora", "import", str(place), "mail", str(place / "mail.csv")]) == 0
    assert run(["corpora", "score", str(place), "mail", "--method", "nb-binary"]) == 0
    return place


class Command:
    """Runs actions on the corpus and returns what they print."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def text(self, action: str, *arguments: str) -> str:
        self.capsys.readouterr()
        assert run(["corpora", action, str(self.folder), "mail", *arguments]) == 0, self.capsys.readouterr().err
        return self.capsys.readouterr().out

    def json(self, action: str, *arguments: str) -> Any:
        return json.loads(self.text(action, *arguments, "--json"))

    def refused(self, action: str, *arguments: str) -> str:
        self.capsys.readouterr()
        assert run(["corpora", action, str(self.folder), *arguments]) == 2
        return self.capsys.readouterr().err


@pytest.fixture
def command(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(folder, capsys)


def test_corpora_and_their_documents_are_shown(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["corpora", "list", str(command.folder)]) == 0
    assert capsys.readouterr().out == "mail\n"
    assert (command.json("show")["documents"], "out-of-fold" in command.text("show")) == (20, True)
    assert "the dark lamp" in command.text("show", "--document", "4")
    assert "no document" in command.refused("show", "mail", "--document", "99")
    assert command.text("search", "--rule", "lamp AND bus").startswith("0 documents\n")
    assert command.text("search", "--filter", '{"text": "lamp"}').startswith("5 documents\n")
    assert "not [1]" in command.refused("search", "mail", "--filter", "[1]")
    assert "--filter is not JSON" in command.refused("search", "mail", "--filter", "{")


@pytest.mark.parametrize("action", [["export"], ["score", "--method", "nb-binary", "--output"]], ids=lambda one: one[0])
def test_places_that_cannot_be_written_are_refused_first(command: Command, action: list[str], tmp_path: Path) -> None:
    name, *options = action
    assert "does not exist. Make it first." in command.refused(name, "mail", *options, str(tmp_path / "no" / "a.csv"))


def test_documents_are_found_by_label_relation_and_rule(command: Command) -> None:
    found = command.json("search", "--label", "buses", "--relation", "true", "--text", "road", "--order", "score")
    assert (found["total"], len(found["documents"])) == (5, 5)
    again = command.json("search", "--filter", json.dumps(found["filter"]), "--documents", "2")
    assert (again["total"], len(again["documents"]), again["next"] is None) == (5, 2, False)
    assert command.json("search", "--rule", "bus NOT road")["total"] == 5
    assert "10 documents" in command.text("search", "--text", "bus")
    assert "filter.state" in command.refused("search", "mail", "--state", "done")
    assert "belongs to a --label" in command.refused("search", "mail", "--relation", "true")
    assert "not JSON" in command.refused("search", "mail", "--filter", "{")
    assert "There is no corpus 'other'" in command.refused("search", "other")


def test_decisions_of_a_file_are_kept_undone_and_printed(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "decisions.jsonl"
    file.write_text('{"document": "3", "accept": ["roads"], "state": "reviewed"}\n'
                    '{"document": 8, "revision": 1, "reject": ["lamps"]}\n'
                    '{"document": "11", "label": "buses", "action": "add"}\n')  # fmt: skip
    event = command.json("decide", str(file), "--by", "Ana")["event"]
    printed = [json.loads(line) for line in command.text("decisions").splitlines()]
    assert {(one["document"], one["label"], one["action"], one["by"]) for one in printed} == {
        ("3", "roads", "add", "Ana"),
        ("7", "lamps", "remove", "Ana"),
        ("11", "buses", "add", "Ana"),
    }
    target = tmp_path / "corrected.csv"
    command.text("export", str(target))
    assert sorted(list(read(target).corpus.label_sets)[3]) == ["lamps", "roads"]
    assert "changed by Ana after" in command.refused("decide", "mail", str(file), "--by", "Ben")
    assert command.json("events", "--by", "Ana")["events"][0]["documents"] == [4, 8, 12]
    assert command.json("undo", "--by", "Ana")["undone"] == event
    assert command.text("decisions") == ""
    file.write_text('\n{"document": "nobody"}\n')
    assert "decisions.jsonl, line 2: There is no document 'nobody'" in command.refused(
        "decide", "mail", str(file), "--by", "Ana"
    )
    file.write_bytes(b"\xff{\n")
    assert "line 1: " in command.refused("decide", "mail", str(file), "--by", "Ana")
    file.write_text("{\n")
    assert "line 1: This is not JSON" in command.refused("decide", "mail", str(file), "--by", "Ana")


def test_bulk_actions_are_previewed_first(command: Command) -> None:
    arguments = ["--by", "Cem", "--filter", '{"text": "lamp"}', "--do", "accept", "--label", "lamps"]
    assert "5 changes in 5 documents" in command.text("bulk", *arguments)
    assert command.json("bulk", *arguments)["event"] is None
    assert command.json("bulk", *arguments, "--yes")["event"] is not None
    assert command.json("search", "--label", "lamps", "--relation", "accepted")["total"] == 5
    command.text("undo", "--by", "Cem")
    assert "'do' with 'label'" in command.refused("bulk", "mail", "--by", "Cem")


def test_labels_thresholds_and_confusions(command: Command) -> None:
    found = command.json("labels", "--order", "documents", "--descending")
    assert (found["total"], found["labels"][0]["label"], found["labels"][0]["documents"]) == (3, "buses", 10)
    assert "3 labels" in command.text("labels")
    command.text("label", "rename", "lamps", "street lamps", "--by", "Dea")
    assert command.json("labels", "--typed", "street")["total"] == 1
    assert "TO is given" in command.refused("label", "mail", "merge", "roads", "--by", "Dea")
    command.text("undo", "--by", "Dea")
    study = command.json("thresholds", "--label", "roads", "--threshold", "0.9", "--save", "--by", "Dea")
    assert study["labels"][0]["now"]["threshold"] == 0.9
    assert "leave" in command.text("thresholds", "--recall", "0.5")
    command.text("undo", "--by", "Dea")
    assert set(command.json("confusions")) == {"documents", "total", "pairs"}
    assert "wrongly predicted" in command.text("confusions")


def test_keyword_rules_are_tried_and_kept(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "rules.txt"
    file.write_text("buses: bus\nroads: (\n")
    shown = command.text("rules", str(file))
    assert "100.0 %" in shown
    assert "rules.txt, line 2: The query ends" in shown
    assert command.json("rules", str(file), "--save", "--by", "Eli")["rules"][0]["documents"] == 10
    assert command.text("rules") == "buses: bus\nroads: (\n"
    file.write_bytes(b"\xff")
    assert "not UTF-8" in command.refused("rules", "mail", str(file))
    assert "--save and --by" in command.refused("rules", "mail", "--save")


def test_a_corpus_is_deleted_only_when_told_so(command: Command, tmp_path: Path) -> None:
    data = str(command.folder / "mail.csv")
    assert run(["corpora", "import", str(tmp_path), "mail", data]) == 0
    assert run(["corpora", "delete", str(tmp_path), "mail"]) == 2
    assert run(["corpora", "delete", str(tmp_path), "mail", "--yes"]) == 0
    assert list((tmp_path / "corpora").iterdir()) == []


def test_thresholds_are_written_into_a_model(command: Command, tmp_path: Path) -> None:
    model, output = tmp_path / "mail.manylabel", tmp_path / "new.manylabel"
    command.text("score", "--method", "nb-binary", "--output", str(model))
    command.text("thresholds", "--threshold", "0.75", "--save", "--by", "Fay")
    command.text("write-thresholds", str(model), str(output))
    written = TextClassifier.load(output).decided_.thresholds()
    assert written is not None
    assert written.tolist() == pytest.approx([0.75] * 3)
    command.text("undo", "--by", "Fay")


def test_an_audit_leaves_suggestions_and_a_queue_can_be_chosen(command: Command, tmp_path: Path) -> None:
    kept = command.json("audit")["suggestions"]
    assert command.json("search", "--any-label", "suggested", "--order", "suggestion")["total"] <= kept
    file = tmp_path / "decisions.jsonl"
    file.write_text('{"document": "19", "clear": ["lamps"]}\n')  # a document without a label, to choose
    command.text("decide", str(file), "--by", "Gil")
    chosen = command.json("suggest", "--documents", "1")["documents"]
    assert [one["id"] for one in command.json("search", "--queue", "--order", "queue")["documents"]] == ["19"]
    assert [one["id"] for one in chosen] == ["19"]


@pytest.mark.parametrize("is_given", [True, False], ids=["given", "beside the data"])
def test_labels_are_named_by_a_vocabulary(is_given: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The review shows names, the export has the addresses of the file, and nothing outside the corpus is needed."""
    data, words = tmp_path / "titles.tsv", tmp_path / ("names" if is_given else "") / "names.csv"
    data.write_text("the late bus\t<http://x.org/1>\na hole in the road\t<http://x.org/2>\n")
    words.parent.mkdir(exist_ok=True)
    words.write_text("uri,label_de,label_en\nhttp://x.org/1,Busse,buses\nhttp://x.org/2,Wege,roads\n")
    options = ["--vocabulary", str(words)] if is_given else []
    command, folder = Command(tmp_path / "server", capsys), str(tmp_path / "server")
    assert run(["corpora", "import", folder, "mail", str(data), *options, "--label-language", "de"]) == 0
    assert "Labels are named by names.csv, of which the corpus keeps a copy." in capsys.readouterr().out
    words.unlink()
    assert [one["label"] for one in command.json("labels")["labels"]] == ["Busse", "Wege"]
    assert command.json("show", "--document", "1")["labels"][0]["label"] == "Busse"
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text('{"document": 1, "accept": ["Wege"]}\n')
    command.text("decide", str(decisions), "--by", "Ana")
    command.text("export", str(tmp_path / "corrected.tsv"))
    first, second = (tmp_path / "corrected.tsv").read_text().splitlines()
    assert first == "the late bus\t<http://x.org/1> <http://x.org/2>"
    assert second == data.read_text().splitlines()[1]


def test_an_export_keeps_the_addresses_of_all_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A renamed label keeps its address, a concept of the vocabulary gets its own, any other label one of its name."""
    data, words = tmp_path / "titles.tsv", tmp_path / "names.csv"
    rows = ["the late bus\t<http://x.org/2> <http://x.org/1>", "a hole\t<http://x.org/2>", "rails\t<http://x.org/1>"]
    data.write_text("\n".join(rows) + "\n")
    words.write_text(
        "uri,label_de,label_en\nhttp://x.org/1,Busse,buses\nhttp://x.org/2,Wege,roads\nhttp://x.org/3,Bahn,trams\n"
        "http://x.org/4,,bikes\n"
    )
    command = Command(tmp_path / "server", capsys)
    assert run(["corpora", "import", str(tmp_path / "server"), "mail", str(data), "--label-language", "en"]) == 0
    capsys.readouterr()
    folder = CorpusFiles(tmp_path / "server").get("mail").folder
    with CorpusFiles(tmp_path / "server").get("mail").writing() as database:
        rename(database, "Ana", "buses", "coaches")
        for name in ("Bahn", "night life"):
            add_label(database, "Ana", name)
        rename(database, "Ana", "Bahn", "Tram")
        found = [*(find_concepts(folder, database, typed, 9) or [] for typed in ("bUss", "<http://x.org/4>"))]
        known = {"label": "coaches", "uri": "http://x.org/1", "name": "Busse", "is_new": False}
        assert found == [[known], [{"label": "bikes", "uri": "http://x.org/4", "name": "bikes", "is_new": True}]]
        assert find_concepts(folder, database, "zoo", 9) == []
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text('{"document": 2, "accept": ["Tram", "coaches"]}\n{"document": 3, "accept": ["night life"]}\n')
    command.text("decide", str(decisions), "--by", "Ana")
    command.text("export", str(tmp_path / "corrected.tsv"))
    first, second, third = (tmp_path / "corrected.tsv").read_text().splitlines()
    assert first == rows[0]
    assert second == f"{rows[1]} <http://x.org/3> <http://x.org/1>"
    assert third == f"{rows[2]} <urn:manylabel:night%20life>"


def test_labels_of_a_vocabulary_are_named_by_their_addresses_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also after a label was renamed; the address and the name of one label are the same label."""
    data = tmp_path / "titles.tsv"
    data.write_text("the late bus\t<http://x.org/1>\na hole in the road\t<http://x.org/2>\n")
    (tmp_path / "names.tsv").write_text("<http://x.org/1>\tbuses\n<http://x.org/2>\troads\n")
    command = Command(tmp_path / "server", capsys)
    assert run(["corpora", "import", str(tmp_path / "server"), "mail", str(data)]) == 0
    capsys.readouterr()
    found = command.json("search", "--label", "http://x.org/2", "--relation", "true")
    assert [one["number"] for one in found["documents"]] == [2]
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text('{"document": 1, "accept": ["<http://x.org/2>"]}\n')
    command.text("decide", str(decisions), "--by", "Ana")
    assert [one["label"] for one in command.json("show", "--document", "1")["labels"]] == ["buses", "roads"]
    with CorpusFiles(tmp_path / "server").get("mail").writing() as database:
        rename(database, "Ana", "http://x.org/1", "coaches")
        assert own_name(database, "http://x.org/1") == "coaches"
        twice = {"document": 1, "revision": 2, "accept": ["coaches", "http://x.org/1"], "reject": [], "clear": []}
        with pytest.raises(ParameterError, match="named twice"):
            decide(database, "Ana", [{**twice, "state": None}])
        with pytest.raises(UnknownNameError):
            own_name(database, "http://x.org/3")
