"""``manylabel tune`` as a user types it."""

import itertools
import json
from pathlib import Path

import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.deadline import Deadline

QUICK = ("tune", "townhall", "--method", "nb-complement", "--folds", "2", "--jobs", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_page_shows_rungs_finalists_effects_and_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, *QUICK, "--trials", "5", "--model", "tuned.manylabel")
    assert shown.startswith("Tuning nb-complement on townhall for Micro F1\n")
    assert "1 of 2" in shown
    assert "2 of 2" in shown
    assert "times 5 trials" in shown or "No setting was better" in shown
    assert 'method = "nb-complement"' in shown
    assert TextClassifier.load("tuned.manylabel").recipe.method == "nb-complement"


def test_the_same_table_for_one_thread_and_two(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (
        json.loads(printed(capsys, "tune", "townhall", "--method", "svm", "--folds", "2", "--trials", "4",
                           "--jobs", jobs, "--json"))
        for jobs in "12"
    )  # fmt: skip
    for facts in (one, two):
        assert facts.pop("seconds") > 0
    assert one == two
    assert one["finalists"][0]["value"] >= one["rungs"][-1]["preset"]


def test_a_gain_that_is_not_shown_leaves_the_preset(capsys: pytest.CaptureFixture[str]) -> None:
    # 24 letters cannot show that anything is better, whatever is found on them.
    rows = '"the bus was late",buses\n"a hole in the road",roads\n"late bus, bad road",buses;roads\n"nothing",\n'
    Path("mail.csv").write_text("text,labels\n" + 6 * rows)
    facts = json.loads(printed(capsys, "tune", "mail.csv", "--method", "nb-app", "--trials", "6", "--json"))
    assert facts["verdict"] is None or not facts["verdict"]["shown"]
    assert facts["chosen"] == 0
    assert TextClassifier.load("mail.manylabel").recipe == TextClassifier("nb-app").recipe


def test_fixed_settings_stay(capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads(printed(capsys, *QUICK, "--trials", "3", "--set", "model.alpha=0.5", "--json"))
    assert "model.alpha" not in facts["ranges"]
    assert facts["recipe"]["model"]["alpha"] == 0.5


def test_the_clock_stops_a_search_and_the_page_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(
        "manylabel.tasks.tune.Deadline", lambda seconds: Deadline(seconds, clock=lambda: float(next(ticks)))
    )
    shown = printed(capsys, *QUICK, "--budget", "20s", "--trials", "40")
    assert "The time budget ended the search early" in shown
    assert "settings were not tried" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "svn"), "Did you mean 'svm"),
        (("--metric", "micro-f2"), "Did you mean 'micro-f1'"),
        (("--folds", "1"), "at least 2 folds"),
        (("--trials", "1"), "at least 2 trials"),
        (("--budget", "abc"), "90s, 2m"),
        (("--set", "model.c=1"), "Did you mean 'C'"),
    ],
)
def test_wrong_input_is_answered_in_a_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", "townhall", *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""
    assert not list(Path().glob("*.manylabel"))
