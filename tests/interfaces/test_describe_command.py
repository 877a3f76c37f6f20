"""``manylabel describe``: what is in data, for a person and as JSON."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run

CSV = 'text,labels\n"late bus",buses\n"a hole in the road",roads;buses\n"bus again",buses\n"...",\n'


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_a_small_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mail.csv"
    path.write_text(CSV)
    shown = printed(capsys, "describe", str(path))
    assert "4 documents (csv)" in shown
    assert "1 document has no words." in shown
    assert "A labelled document has 1.33 labels on average and 2 at most; 25.0 % of the documents have none." in shown
    assert "2 different label sets, of which 1 is on one document only." in shown
    buses, roads = (
        next(line.split() for line in shown.splitlines() if line.startswith(name)) for name in ("bus", "roa")
    )
    assert (buses[1], buses[2], buses[-1]) == ("3", "75.0", "1")
    assert (roads[1], roads[2], roads[-1]) == ("1", "25.0", "3")

    facts = json.loads(printed(capsys, "describe", str(path), "--json"))
    assert facts["documents"] == 4
    assert facts["words"]["empty_documents"] == 1
    assert facts["words"]["per_document"]["most"] == 4  # one letter is no word
    assert facts["labels"]["imbalance"]["mean_ratio"] == 2.0
    assert [one["label"] for one in facts["labels"]["by_frequency"]] == ["buses", "roads"]


def test_repeated_ids_and_some_html_are_mentioned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("id,text,labels\n7,<p>late bus</p>,a\n7,a bus again,b\n8,a hole,a\n")
    shown = printed(capsys, "describe", str(path))
    assert "'id'. 1 id occurs more than once: '7'." in shown
    assert "33 % of the documents contain HTML: tags are kept" in shown


def test_a_given_text_is_read_without_the_title_that_is_recognised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tickets.csv"
    path.write_text("Betreff;Problembeschreibung;Zuordnung\nDrucker;Papierstau im Drucker;Hardware\n")
    shown = printed(
        capsys, "describe", str(path), "--text-column", "Problembeschreibung", "--label-column", "Zuordnung"
    )
    assert "text        'Problembeschreibung'. As given." in shown
    assert "not used    'Betreff'." in shown


def test_training_mentions_html_that_it_learns_from_and_audit_can_remove_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, model = tmp_path / "mail.csv", str(tmp_path / "mail.manylabel")
    texts = ["<div><p>late bus</p></div>", "a hole in the road", "the bus again", "<p>road with a hole</p>", "bus lane"]
    rows = "".join(f"{text},{'buses' if 'bus' in text else 'roads'}\n" for text in texts * 6)
    path.write_text(f"text,labels\n{rows}")
    train = ["train", str(path), "--model", model, "--method", "nb"]
    remark = "40 % of the documents contain HTML: tags are kept, and counted as words."
    for from_disk in ([], ["--workers", "1"]):
        assert run([*train, *from_disk]) == 0
        assert f"{remark} To remove them, use --set features.markup=strip." in " ".join(capsys.readouterr().err.split())
    assert run([*train, "--set", "features.markup=strip"]) == 0
    assert "HTML" not in capsys.readouterr().err
    assert run(["audit", str(path), "--set", "features.markup=strip"]) == 0


def test_the_corpus_that_is_shipped(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "describe", "townhall", "--labels", "3")
    assert "29 labels" in shown
    assert "The rarest labels" in shown
    assert "How unequal the labels are" in shown
    train = json.loads(printed(capsys, "describe", "townhall", "--split", "train", "--json"))
    assert train["documents"] == 415


def test_documents_without_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new.csv"
    path.write_text("text\nlate bus\na hole in the road\n")
    assert "carry no labels" in printed(capsys, "describe", str(path))
    assert json.loads(printed(capsys, "describe", str(path), "--json"))["labels"] is None


def test_measurements_have_no_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{number % 2},{number / 7:.3f},{-number / 3:.3f}\n" for number in range(12)]
    head = "@relation 'm: -C 1'\n@attribute a {0,1}\n@attribute f numeric\n@attribute g numeric\n@data\n"
    (tmp_path / "m.arff").write_text(head + "".join(rows))
    assert run(["describe", str(tmp_path / "m.arff")]) == 0
    printed = capsys.readouterr().out
    assert "2 columns of numbers, which are not counts of words." in printed
    assert "Near-duplicates" not in printed
