"""``manylabel learning-curve``, and the warnings of ``evaluate`` about near-duplicates."""

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
    name = {"recall@3": "recall@3"}.get(metric, metric)
    assert curve.steps[-1].mean == pytest.approx(result.metrics["all"][name])


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
def test_wrong_wishes(arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["learning-curve", "townhall", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_too_few_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("text,labels\n" + "late bus,a\nbad road,b\n" * 6)
    assert run(["learning-curve", str(path)]) == 2
    assert "needs at least 24 training documents" in capsys.readouterr().err


@pytest.fixture
def copied(tmp_path: Path) -> str:
    """Forty letters, each there twice."""
    path = tmp_path / "mail.csv"
    rows = [
        f"letter {n} about the {'bus' if n % 2 else 'road'} number {n},{'buses' if n % 2 else 'roads'}"
        for n in range(100, 140)
    ]
    path.write_text("text,labels\n" + "\n".join(rows * 2) + "\n")
    return str(path)


def test_evaluate_warns_of_near_duplicates(copied: str, capsys: pytest.CaptureFixture[str]) -> None:
    evaluate = ("evaluate", copied, "--method", "nb", "-j", "1")
    shown = printed(capsys, *evaluate)
    assert "of 20 test documents are near-duplicates of training documents" in shown
    found = json.loads(printed(capsys, *evaluate, "--json"))["near_duplicates"]
    assert found["documents"] == found["identical"] > 0
    assert "training documents that nearly equal a test document were left out" in printed(
        capsys, *evaluate, "--drop-duplicates"
    )
    apart = printed(capsys, *evaluate, "--split-by", "duplicates")
    assert "keeps near-duplicates together" in apart
    assert "near-duplicates of training documents" not in apart


def test_describe_counts_near_duplicates(copied: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Near-duplicates: 40 pairs among 80 documents" in printed(capsys, "describe", copied)
    assert json.loads(printed(capsys, "describe", copied, "--json"))["near_duplicates"]["pairs"] == 40


def test_a_model_file_is_not_split_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evaluate", "townhall", "--model", str(tmp_path / "x"), "--split-by", "time:date"]) == 2
    assert "a model file has been trained" in capsys.readouterr().err
