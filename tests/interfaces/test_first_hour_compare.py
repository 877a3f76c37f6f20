"""Point 19 of the first hour: `compare` keeps others' files, checks extras first, runs named methods in all folds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.recipe import Recipe
from manylabel.tasks import compare as comparing

NAMED = ["--methods", "nb-binary,nb-app,rocchio", "--folds", "2", "--jobs", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = {"bus": ["bus", "stop", "late"], "road": ["hole", "road", "bus"]}
    lines = []
    for number in range(60):
        label = "bus" if number % 2 else "road"
        lines.append(f"{' '.join(rng.choice(words[label], size=3))} word{rng.integers(20)},{label}")
    Path("mail.csv").write_text("text,labels\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_point_19_compare_keeps_models_that_it_did_not_write(capsys: pytest.CaptureFixture[str]) -> None:
    """Point 19: a model of `train` or any other file is not overwritten; a model of `compare` is."""
    assert run(["train", "mail.csv", "--method", "nb-binary"]) == 0
    before = Path("mail.manylabel").read_bytes()
    for command in (["compare", "mail.csv", *NAMED], ["tune", "mail.csv"]):
        capsys.readouterr()
        assert run(command) == 2
        assert "holds the model of `manylabel train`" in capsys.readouterr().err
        assert Path("mail.manylabel").read_bytes() == before
    TextClassifier.load("mail.manylabel").save("own.manylabel")
    assert run(["compare", "mail.csv", *NAMED, "--model", "own.manylabel"]) == 2
    assert "own.manylabel holds a model saved from Python" in capsys.readouterr().err
    Path("notes.txt").write_text("mine")
    assert run(["compare", "mail.csv", *NAMED, "--model", "notes.txt"]) == 2
    assert "notes.txt is not a model" in capsys.readouterr().err
    assert Path("notes.txt").read_text() == "mine"
    for _ in range(2):
        assert run(["compare", "mail.csv", *NAMED, "--model", "best.manylabel"]) == 0


def test_the_remedy_for_several_data_sets_is_one_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    """--model is refused for several data sets, so that the error does not offer it for all of them."""
    Path("post.csv").write_text(Path("mail.csv").read_text())
    assert run(["train", "mail.csv", "--method", "nb-binary"]) == 0
    capsys.readouterr()
    assert run(["compare", "mail.csv", "post.csv", *NAMED]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "Remove or rename the file first, or run compare for each data set alone, with --model." in shown


def test_point_19_what_is_to_be_written_is_checked_before_the_budget_is_spent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Point 19: a page needs no extra; one that cannot be written is refused before anything is compared."""
    monkeypatch.setattr(comparing, "compare", None)
    assert run(["compare", "mail.csv", *NAMED, "--report", "no/such/folder/out.html"]) == 2
    assert "no/such/folder" in capsys.readouterr().err
    assert not Path("mail.manylabel").exists()


def test_point_19_named_methods_run_in_all_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point 19: methods that the user named are not stopped, however far behind; others may be."""
    from manylabel.choosing import race
    from manylabel.tasks.corpora import Source

    monkeypatch.setattr(race.RaceRunner, "_behind", lambda self, leader, runner: True)
    found = comparing.compare(
        Source("mail.csv"), None, methods=["nb-binary", "nb-app", "rocchio"], budget=600.0, n_jobs=1
    )
    rows = found.record.leaderboard
    assert {row.method for row in rows} >= {"nb-binary", "nb-app", "rocchio"}
    assert {row.folds for row in rows} == {5}


@pytest.mark.parametrize("strategy", ["mnb-vw-cc", "mnb-vw-ecc", "one-vs-one", "nb-powerset"])
def test_point_19_strategies_take_any_base_method(strategy: str) -> None:
    """Point 19: chains and ensembles learn by the model of any method that `model.base` names."""
    texts = ["late bus", "bad road", "late bus on a bad road", "bus stop", "hole in the road", "bus, hole"] * 4
    labels = [["bus"], ["road"], ["bus", "road"], ["bus"], ["road"], ["bus", "road"]] * 4
    recipe = Recipe.of(strategy, {"model": {"base": "nb-binary"}})
    assert type(recipe.build_model().get_params()["model"]).__name__ == "BinaryNaiveBayes"
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    model = TextClassifier(strategy, model={"base": "nb-binary"}).fit(texts, labels)
    assert "bus" in model.predict(["late bus"])[0]


def test_point_19_a_chain_of_svms_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Point 19: `--set model.base=svm` brings the SVM with its tf-idf weights; wrong bases are refused."""
    assert run(["train", "mail.csv", "--method", "mnb-vw-cc", "--set", "model.base=svm", "--set", "model.C=0.5"]) == 0
    model = TextClassifier.load("mail.manylabel")
    assert model.recipe.weighting["idf"] == "smooth"
    assert model.decided_.model_.get_params()["model__C"] == 0.5
    capsys.readouterr()
    assert run(["train", "mail.csv", "--method", "svm", "--set", "model.base=nb"]) == 2
    assert "mnb-vw-cc" in capsys.readouterr().err
    assert run(["train", "mail.csv", "--method", "mnb-vw-cc", "--set", "model.base=ensemble"]) == 2
    assert "one model" in capsys.readouterr().err
