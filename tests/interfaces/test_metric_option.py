"""``--metric``: what matters, said on the command line."""

import json
from pathlib import Path

import pytest

from manylabel.cli.run import run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code, capsys.readouterr().err
    caught = capsys.readouterr()
    return caught.out if code == 0 else caught.err


def test_training_says_what_was_chosen_and_for_what(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "train", "townhall", "--method", "svm", "--metric", "exact-match", "--model", "t.manylabel")
    assert "Chosen for exact match on out-of-fold scores: " in shown
    assert "(rule " in shown
    assert "Chosen for exact match" in printed(capsys, "inspect", "t.manylabel")
    facts = json.loads(printed(capsys, "inspect", "t.manylabel", "--json"))
    assert facts["chosen"]["metric"] == "exact-match"
    assert 0 < facts["chosen"]["value"] < 1


def test_evaluating_several_methods_for_a_metric(capsys: pytest.CaptureFixture[str]) -> None:
    """What was chosen travels with the result; a method that decides by itself is given the rule, too."""
    told = printed(
        capsys, "evaluate", "townhall", "--method", "rocchio", "--method", "ml-knn", "--metric", "recall@2", "--json"
    )
    for result in json.loads(told)["results"]:
        assert result["remarks"]["chosen_for_metric"]["rule"] == "top-k, k 2"
        assert result["metrics"]["all"]["predicted-cardinality"] == pytest.approx(2.0)
        assert "hits divided by the true labels" in result["conventions"]["recall@2"]


def test_a_model_is_measured_by_the_metric_that_it_was_trained_for(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "train", "townhall", "--method", "nb-app", "--metric", "recall@10", "--model", "t.manylabel")
    shown = printed(capsys, "evaluate", "townhall", "--model", "t.manylabel")
    (row,) = (line.split() for line in shown.splitlines() if line.startswith("Recall at 10 "))
    (recall,) = (line.split() for line in shown.splitlines() if line.startswith("Recall at 5 "))
    assert float(row[3]) > float(recall[3])


def test_wrong_metrics_are_refused_in_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean 'micro-f1'" in printed(capsys, "train", "townhall", "--metric", "mikro-f1", code=2)
    accuracy = printed(capsys, "train", "townhall", "--metric", "accuracy", code=2)
    assert "scikit-learn's accuracy of label sets is 'exact-match' here." in accuracy
    assert "Name the average: 'micro-f1', 'macro-f1' or" in printed(
        capsys, "train", "townhall", "--metric", "f1", code=2
    )
    both = printed(capsys, "train", "townhall", "--metric", "exact-match", "--set", "decision.rule=top-k", code=2)
    assert "not both" in both
    measured = printed(capsys, "evaluate", "townhall", "--model", "t.manylabel", "--metric", "exact-match", code=2)
    assert "not both" in measured
