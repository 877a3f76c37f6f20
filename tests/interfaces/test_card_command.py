"""`manylabel card`: what training stored and what the makers state, as a page and as files."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import load
from manylabel.tasks.card import card

LETTERS = load("townhall").corpus.subset(range(200))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("card") / "letters.manylabel"
    model = TextClassifier("svm", folds=3).fit(LETTERS.texts, LETTERS.label_sets)
    model.save(target, {"data": "townhall", "documents": 200, "unlabelled": 7, "written_by": "train"})
    return target


def test_figures_are_those_of_the_stored_curves(path: Path) -> None:
    found, model = card(path), TextClassifier.load(path)
    decided = model.decided_
    assert decided.figures_ is not None
    own = decided.rule_.score_thresholds(len(model.labels_), decided.score_kind)
    precision, recall = decided.figures_.at(own)
    for one, p, r in zip(found.figures, precision, recall, strict=True):
        assert one.recall == pytest.approx(r)
        if one.precision is not None:
            assert one.precision == pytest.approx(p)
            assert one.f1 == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)
            assert one.f1 in (0.0, 1.0) or one.f1_interval[0] < one.f1 < one.f1_interval[1]
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()
    counts = dict(zip(model.labels_, model.label_counts_.tolist(), strict=True))
    assert found.few == [label for label in model.labels_ if counts[label] < 20]


def test_the_card_is_printed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["card", str(path), "--about", "Letters to a town.", "--labels", "3"]) == 0
    shown = capsys.readouterr().out
    for expected in (
        "Model card: letters",
        "Letters to a town.",
        "Trained on townhall: 200 documents.",
        "more labels: --labels all.",
        "fewer than 20 training documents",
        "Not stated by its makers (--licence).",
        'method = "svm"',
    ):
        assert expected in shown
    assert run(["card", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["about"] is None


def test_the_markdown_begins_with_the_header_of_hubs(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "README.md"
    assert run(["card", str(path), "--licence", 'our "own": terms', "--report", str(target)]) == 0
    header, _, rest = target.read_text().removeprefix("---\n").partition("\n---\n\n")
    assert "library_name: manylabel" in header
    assert r'license: "our \"own\": terms"' in header
    assert rest.startswith("# Model card: letters\n")
    assert run(["card", str(path), "--report", str(tmp_path / "card.html")]) == 0
    assert "<!doctype html>" in (tmp_path / "card.html").read_text()[:40]


def test_a_model_without_figures_says_how_to_measure_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "plain.manylabel"
    TextClassifier("nb-unilabel").fit(LETTERS.texts[:60], LETTERS.label_sets[:60]).save(target)
    assert run(["card", str(target)]) == 0
    shown = capsys.readouterr().out
    assert "manylabel evaluate" in shown
    assert "95 % interval" not in shown
