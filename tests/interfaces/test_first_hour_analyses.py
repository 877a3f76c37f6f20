"""The analyses of the papers from the command line, for one's own data. Point 20 of the first-hour list."""

import csv
import json
import re
from pathlib import Path

import pytest

from manylabel.cli.run import run

LETTERS = ("evaluate", "townhall", "-j", "1")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_point_20_tables_of_an_evaluation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One CSV file per analysis, with the same figures as the JSON of the evaluation."""
    folder = tmp_path / "tables"
    methods = ("--method", "nb-app", "--method", "mnb-vw")
    found = json.loads(printed(capsys, *LETTERS, *methods, "--tables", str(folder), "--json"))["results"]
    assert {path.name for path in folder.iterdir()} == {
        "metrics.csv", "labels.csv", "set_sizes.csv", "threshold_sweep.csv", "precision_recall_curves.csv",
        "roc_curves.csv", "document_ranking.csv", "bin_weights.csv",
    }  # fmt: skip
    metrics = {
        (row["method"], row["documents"], row["metric"]): float(row["value"]) for row in rows(folder / "metrics.csv")
    }
    for result in found:
        assert metrics[result["method"], "all", "micro-f1"] == result["metrics"]["all"]["micro-f1"]
        labels = [row for row in rows(folder / "labels.csv") if row["method"] == result["method"]]
        assert [row["label"] for row in labels] == [row["label"] for row in result["labels"]]
        for written, row in zip(labels, result["labels"], strict=True):
            tp, fp, fn, tn = (int(written[name]) for name in ("tp", "fp", "fn", "tn"))
            assert (tp, tp + fp, tp + fn, tp + fp + fn + tn) == (row["hits"], row["predicted"], row["true"], 190)
            assert float(written["accuracy"]) == (tp + tn) / 190
        sizes = [row for row in rows(folder / "set_sizes.csv") if row["method"] == result["method"]]
        assert sum(int(row["documents"]) for row in sizes) == 190
    weights = rows(folder / "bin_weights.csv")
    assert {row["method"] for row in weights} == {"mnb-vw"}
    expected = found[1]["remarks"]["bin_weights"]["occurring"]
    assert [float(row["mean_weight"] or 0) for row in weights] == expected


def test_point_20_the_report_has_every_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    assert run([*LETTERS, "--method", "mnb-vw", "--labels", "0", "--report", str(path)]) == 0
    streams = capsys.readouterr()
    assert str(path) in streams.err
    assert "By label" not in streams.out
    page = path.read_text(encoding="utf-8")
    for heading in (
        "Precision–recall and ROC curves",
        "Threshold sweep: precision and recall",
        "Threshold sweep: documents with a wrong label set",
        "Predicted against true number of labels",
        "Labels",
        "Thresholds",
        "Calibration: are probabilities right?",
        "Confusions",
        "Worst mistakes: wrong labels with high scores",
        "Worst mistakes: missed labels with low scores",
        "Document ranking of each label",
        "Mean weight per frequency bin",
    ):
        assert re.search(f'<h2 id="part-\\d+">{re.escape(heading)}', page)
    assert page.count("<ml-chart><script") == 6


def test_point_20_a_stored_model_is_analysed_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model file and a method trained on the same split have the same tables."""
    model = tmp_path / "letters.manylabel"
    printed(capsys, "train", "townhall", "--method", "nb-binary", "-m", str(model))
    printed(capsys, "evaluate", "townhall", "--model", str(model), "--tables", str(tmp_path / "stored"))
    printed(capsys, *LETTERS, "--method", "nb-binary", "--tables", str(tmp_path / "trained"))
    for name in ("set_sizes.csv", "threshold_sweep.csv", "document_ranking.csv", "roc_curves.csv"):
        assert (tmp_path / "stored" / name).read_text() == (tmp_path / "trained" / name).read_text()


def test_point_20_tables_go_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before any work, a file in its place or a missing parent is an error with what to do."""
    taken = tmp_path / "taken.csv"
    taken.write_text("x")
    assert run([*LETTERS, "--method", "nb-binary", "--tables", str(taken)]) == 2
    assert "is a file. Give the name of a folder" in capsys.readouterr().err
    assert run([*LETTERS, "--method", "nb-binary", "--tables", str(tmp_path / "no" / "tables")]) != 0
    assert "does not exist. Make it first" in capsys.readouterr().err


def test_point_20_inspect_shows_the_mean_weight_per_bin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model file keeps it, for value-weighted naive Bayes only."""
    for method, kept in (("mnb-vw-reference", True), ("nb-binary", False)):
        model = tmp_path / f"{method}.manylabel"
        printed(capsys, "train", "townhall", "--method", method, "-m", str(model))
        weights = json.loads(printed(capsys, "inspect", str(model), "--json"))["bin_weights"]
        assert (weights is not None) is kept
        assert ("Mean weight per frequency bin" in printed(capsys, "inspect", str(model))) is kept
