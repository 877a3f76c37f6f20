"""`manylabel update`: what is printed, the file that is written, and the errors."""

import json
from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.data import load, write

LETTERS = load("townhall").corpus.subset(range(200))
OLD, GONE = "streets/parking", "environment/waste"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("update") / "letters.manylabel"
    TextClassifier("svm", folds=2).fit(LETTERS.texts, LETTERS.label_sets).save(target, {"data": "townhall"})
    return target


def test_labels_are_renamed_and_retired_and_the_file_remembers_it(path, tmp_path, capsys):
    new = tmp_path / "new.manylabel"
    assert run(["update", str(path), "--output", str(new), "--rename", f"{OLD}=parking", "--retire", GONE]) == 0
    printed = capsys.readouterr().out
    assert f"renamed: {OLD} → parking" in printed
    assert f"retired: {GONE}" in printed
    before, after = TextClassifier.load(path), TextClassifier.load(new)
    kept = [column for column, label in enumerate(before.labels_) if label != GONE]
    assert after.labels_ == ["parking" if before.labels_[c] == OLD else before.labels_[c] for c in kept]
    texts = LETTERS.texts[:10]
    assert np.array_equal(after.predict_scores(texts), before.predict_scores(texts)[:, kept])
    assert run(["inspect", str(new), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["retired"] for one in found["updates"]] == [[GONE]]
    assert run(["inspect", str(new)]) == 0
    assert "Updated 20" in capsys.readouterr().out


def test_changes_are_read_from_a_file(path, tmp_path, capsys):
    new, changes = tmp_path / "new.manylabel", tmp_path / "changes.tsv"
    changes.write_text(f"# of this year\nrename\t{OLD}\tparking\nretire\t{GONE}\n")
    assert run(["update", str(path), "--output", str(new), "--changes", str(changes), "--json"]) == 0
    update = json.loads(capsys.readouterr().out)["update"]
    assert (update["renamed"], update["retired"]) == ({OLD: "parking"}, [GONE])
    changes.write_text(f"rename\t{OLD}\n")
    assert run(["update", str(path), "--output", str(new), "--changes", str(changes)]) == 2
    assert "changes.tsv" in (message := capsys.readouterr().err)
    assert "Write rename, tab, old, tab, new" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Nothing to update"),
        (["--retire", "streets/parkin"], "Did you mean 'streets/parking'?"),
        (["--rename", OLD], "takes OLD=NEW"),
        (["--rename", f"{OLD}={GONE}"], f"merge them: --merge {OLD}={GONE}."),
        (["--remove", OLD], "No such option: --remove (Possible options: --retire)"),
        (["--rename", f"{OLD}=a", "--retire", OLD], "in two ways"),
    ],
)
def test_wrong_changes_are_refused(path, tmp_path, capsys, arguments, message):
    new = tmp_path / "new.manylabel"
    assert run(["update", str(path), "--output", str(new), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not new.exists()


def test_new_documents_are_learned_and_measured_before(path, tmp_path, capsys):
    more, old, page = tmp_path / "more.csv", tmp_path / "old.csv", tmp_path / "update.html"
    write(load("townhall").corpus.subset(range(200, 240)), more)
    write(LETTERS, old)
    new = tmp_path / "new.manylabel"
    arguments = ["update", str(path), str(more), "--with", str(old), "--output", str(new)]
    assert run(arguments) == 0
    printed = capsys.readouterr().out
    assert "svm, all labels learned again" in printed
    assert "40 new documents and 200 former ones" in printed
    assert "known labels before" in printed
    assert run([*arguments, "--report", str(page)]) == 0
    assert "known labels before" in page.read_text()
    printed = capsys.readouterr().out
    assert "All labels were learned from the former and the new documents" in printed
    assert f"The updated model is in {new}." in printed
    assert "known labels before" not in printed
    assert TextClassifier.load(new).n_documents_ == 240
    assert run(["update", str(path), str(more), "--output", str(new)]) == 2
    assert "Give the documents of the training too" in capsys.readouterr().err


def test_documents_of_the_training_are_no_new_ones(tmp_path, capsys):
    old, corrected = tmp_path / "old.csv", tmp_path / "corrected.csv"
    write(LETTERS.subset(range(60)), old)
    write(LETTERS.subset(range(20, 80)), corrected)
    model, new = tmp_path / "letters.manylabel", tmp_path / "new.manylabel"
    assert run(["train", str(old), "--method", "nb-binary", "--model", str(model)]) == 0
    assert run(["update", str(model), str(corrected), "--output", str(new)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "The model was trained on 40 of the 60 new documents. They count twice" in printed
    assert "To learn corrected labels, train again" in printed
