"""``manylabel learning-curve``: would more documents help?"""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run
from manylabel.tasks.corpora import Source
from manylabel.tasks.evaluate import evaluate_methods
from manylabel.tasks.learning_curve import learning_curve

CURVE = ("learning-curve", "townhall", "--method", "nb-binary", "--steps", "4", "--repeats", "2", "-j", "1")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_curve_rises_and_is_the_same_again(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (json.loads(printed(capsys, *CURVE, "--json")) for _ in range(2))
    assert [step["documents"] for step in first["steps"]] == [52, 104, 208, 415]
    means = [step["mean"] for step in first["steps"]]
    assert means == sorted(means)
    assert means[-1] > means[0] + 0.1
    assert first["outlook"]["gain"] > 0
    assert first["outlook"]["low"] < first["outlook"]["value"] < first["outlook"]["high"]
    assert {row["verdict"] for row in first["labels"]} <= {"rising", "level", "open", "rare"}
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


@pytest.mark.parametrize("metric", ["macro-f1", "recall@3"])
def test_the_last_step_is_what_evaluate_measures(metric: str) -> None:
    source = Source("townhall")
    curve = learning_curve(source, method="svm", metric=metric, steps=3, repeats=1, n_jobs=1)
    result = evaluate_methods(source, ["svm"], n_jobs=1).results[0]
    assert curve.steps[-1].mean == pytest.approx(result.metrics["all"][metric])


def test_a_loss_falls(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, *CURVE, "--metric", "hamming-loss", "--json"))
    assert found["steps"][-1]["mean"] < found["steps"][0]["mean"]
    assert found["outlook"]["value"] <= found["steps"][-1]["mean"]


def test_the_page_and_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "curve.html"
    shown = printed(capsys, *CURVE, "--report", str(path))
    assert "Would more documents help?" in shown
    assert "● measured" in shown
    assert "Too rare to judge" in shown
    page = path.read_text()
    assert "Would more documents help?" in page
    assert "<ml-chart><script" in page


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--steps", "2"), "steps"),
        (("--metric", "micro"), "Did you mean 'micro-f1'"),
        (("--method", "svn"), "Did you mean"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["learning-curve", "townhall", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_too_few_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("text,labels\n" + "late bus,a\nbad road,b\n" * 6)
    assert run(["learning-curve", str(path)]) == 2
    assert "needs at least 24 training documents" in capsys.readouterr().err
