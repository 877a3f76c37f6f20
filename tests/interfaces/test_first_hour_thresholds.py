"""Point 17 of the first-hour list: thresholds can be corrected, and scores are shown as probabilities."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.data import load
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr
from manylabel.exceptions import DecisionError, ParameterError, UnknownNameError
from manylabel.models.score_kinds import ScoreKind
from manylabel.wording import settings_worded_for

LETTERS = load("townhall").corpus.subset(range(200))
NEW = load("townhall").corpus.subset(range(200, 260))
LABEL = "streets/parking"


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return TextClassifier("svm", folds=3).fit(LETTERS.texts, LETTERS.label_sets)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, model: TextClassifier) -> Path:
    target = tmp_path_factory.mktemp("thresholds") / "letters.manylabel"
    model.save(target, {"data": "townhall", "documents": 200})
    return target


class Printed:
    """Runs commands and returns what they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object, code: int = 0) -> str:
        found = run([str(argument) for argument in arguments])
        out, err = self.capsys.readouterr()
        assert found == code, err
        return out if code == 0 else err


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    return Printed(capsys)


def fresh(path: Path) -> TextClassifier:
    return TextClassifier.load(path)


def test_point_17_scores_are_probabilities_and_label_sets_are_the_same(model: TextClassifier) -> None:
    plain = TextClassifier("svm", folds=3, decision={"probabilities": None}).fit(LETTERS.texts, LETTERS.label_sets)
    assert plain.predict(NEW.texts) == model.predict(NEW.texts)
    assert (plain.predict_scores(NEW.texts) < 0).any()  # margins
    shown = model.predict_scores(NEW.texts)
    assert ((shown >= 0) & (shown <= 1)).all()
    np.testing.assert_array_equal(model.predict_scores(NEW.texts, raw=True), plain.predict_scores(NEW.texts))
    assert all(0 <= value <= 1 for value in model.thresholds.values())
    for prediction in model.iter_predictions(NEW.texts):
        at_least = {name: s >= model.thresholds[name] for name, s in zip(model.labels_, prediction.scores, strict=True)}
        assert all(at_least[name] for name in prediction.labels)


def test_point_17_assignment_corrects_the_model(path: Path) -> None:
    model = fresh(path)
    before, scores = model.predict(NEW.texts), model.predict_scores(NEW.texts)
    model.thresholds[LABEL] = 0.9
    assert model.thresholds[LABEL] == 0.9
    column = model.labels_.index(LABEL)
    for old, new, row in zip(before, model.predict(NEW.texts), scores, strict=True):
        assert [name for name in old if name != LABEL] == [name for name in new if name != LABEL]
        assert (LABEL in new) == (row[column] >= 0.9)
    assert [model.predict([text])[0] for text in NEW.texts[:5]] == model.predict(NEW.texts)[:5]  # the short way too
    model.thresholds = 0.5
    expected = [[name for name, s in zip(model.labels_, row, strict=True) if s >= 0.5] for row in scores]
    assert model.predict(NEW.texts) == expected
    model.thresholds = {LABEL: 1.0}
    assert all(LABEL not in names for names in model.predict(NEW.texts))


def test_point_17_wrong_assignments_are_refused(path: Path) -> None:
    model = fresh(path)
    with pytest.raises(UnknownNameError, match="Did you mean 'streets/parking'"):
        model.thresholds["streets/parkin"] = 0.5
    with pytest.raises(KeyError, match="Did you mean 'streets/parking'"):
        model.thresholds["streets/parkin"]
    assert model.thresholds.get("streets/parkin") is None
    wrong = (
        f"The threshold of '{LABEL}' must be a number from 0 to 1, because scores are shown as probabilities, not -0.3."
    )
    with pytest.raises(ParameterError, match=f"^{re.escape(wrong)}$"):
        model.thresholds[LABEL] = -0.3
    with pytest.raises(
        DecisionError, match=r"^A label keeps its threshold\. To never predict it, set the threshold to 1\.$"
    ):
        del model.thresholds[LABEL]
    top = TextClassifier("svm", folds=3, decision={"rule": "top-k", "k": 2}).fit(LETTERS.texts, LETTERS.label_sets)
    assert not top.thresholds
    with pytest.raises(KeyError, match="no thresholds of labels"):
        top.thresholds[LABEL]
    whole = (
        "This model decides label sets as a whole, so a single label has no threshold. Set all thresholds at once, "
        "or train with decision={'rule': 'per-label'}."
    )
    with pytest.raises(DecisionError, match=f"^{re.escape(whole)}$"):
        top.thresholds[LABEL] = 0.5
    one = TextClassifier("svm", folds=3, decision={"rule": "top-k", "k": 1}).fit(LETTERS.texts, LETTERS.label_sets)
    single = (
        "This model predicts exactly one label per document, the one with the highest score, so it has no thresholds. "
        "Train with single_label=False."
    )
    with pytest.raises(DecisionError, match=f"^{re.escape(single)}$"):
        one.thresholds = 0.5
    asked = "Use predict --threshold to leave uncertain documents without a label, or train with --multi-label."
    with settings_worded_for("command line"), pytest.raises(DecisionError, match=re.escape(asked)):
        one.thresholds = 0.5
    with settings_worded_for("request"), pytest.raises(DecisionError, match="with --multi-label on the command line"):
        one.thresholds = 0.5


def test_point_17_predict_takes_a_threshold_and_a_number(path: Path, tmp_path: Path, printed: Printed) -> None:
    texts = tmp_path / "new.txt"
    texts.write_text("no parking in our street\nzzzz\n", encoding="utf-8")
    scores = fresh(path).predict_scores(["no parking in our street"])[0]
    found = printed("predict", path, texts, "--threshold", "0.05")
    labels = [json.loads(line)["labels"] for line in found.splitlines()]
    assert set(labels[0]) == {n for n, s in zip(fresh(path).labels_, scores, strict=True) if s >= 0.05}
    assert labels[1] == []  # no known word, as by the model's own rule
    found = printed("predict", path, texts, "--top", "3")
    assert [len(json.loads(line)["labels"]) for line in found.splitlines()] == [3, 0]
    for more, expected in (((), 3), (("--runners-up", "2"), 5)):
        found = printed("predict", path, texts, "--top", "3", "--scores", *more)
        assert len(json.loads(found.splitlines()[0])["scores"]) == expected
    found = printed("predict", path, texts, "--top", "1", "--threshold", "0.999")
    assert [len(json.loads(line)["labels"]) for line in found.splitlines()][1] == 0
    raw = json.loads(printed("predict", path, texts, "--raw-scores").splitlines()[0])["scores"]
    assert min(row["score"] for row in raw) < 0
    assert "from 0 to 1" in printed("predict", path, texts, "--threshold", "7", code=2)


def test_point_17_the_command_writes_a_new_model_with_a_record(path: Path, tmp_path: Path, printed: Printed) -> None:
    shown = printed("thresholds", path)
    assert "precision" in shown
    assert "out-of-fold scores" in shown
    new = tmp_path / "new.manylabel"
    written = printed("thresholds", path, "--set", f"{LABEL}=0.6", "--output", new)
    assert f"The corrected model is in {new}" in written
    changed = fresh(new).thresholds
    old = fresh(path).thresholds
    assert changed is not None
    assert old is not None
    assert changed == {**old, LABEL: 0.6}
    assert f"Threshold changed after training (set): {LABEL}" in printed("inspect", new)
    again = tmp_path / "again.manylabel"
    printed("thresholds", new, "--precision", "0.9", "--output", again)
    assert len(json.loads(printed("inspect", again, "--json"))["changes"]) == 2
    assert "Nothing was written" in printed("thresholds", path, "--all", "0.4")
    assert fresh(path).thresholds == old


def test_point_17_targets_are_reached_where_they_are_measured(path: Path, tmp_path: Path, printed: Printed) -> None:
    new = tmp_path / "precise.manylabel"
    record = json.loads(printed("thresholds", path, "--precision", "0.8", "--output", new, "--json"))
    rows = [row for row in record["labels"] if row["changed"]]
    assert rows
    assert all(row["precision"] >= 0.8 - 1e-9 for row in rows)
    data = tmp_path / "new.jsonl"
    lines = [json.dumps({**dict(t), "labels": s}) for t, s in zip(NEW.texts, NEW.label_sets, strict=True)]
    data.write_text("\n".join(lines), encoding="utf-8")
    record = json.loads(
        printed("thresholds", path, "--recall", "0.9", "--only", LABEL, "--data", data, "--output", new, "--json")
    )
    (row,) = [row for row in record["labels"] if row["changed"]]
    assert row["label"] == LABEL
    given = [LABEL in names for names in NEW.label_sets]
    hits = sum(LABEL in names for names, true in zip(fresh(new).predict(NEW.texts), given, strict=True) if true)
    assert hits >= 0.9 * sum(given)


def test_point_17_figures_of_the_thresholds_are_those_of_out_of_fold_decisions() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(300, 2))
    Y = (scores + random.normal(size=(300, 2)) > 0.8).astype(np.int8)
    thresholds = np.array([0.3, 1.1])
    quality = ThresholdFigures().fit(scores, Csr(Y), ScoreKind.MARGIN, thresholds)
    precision, recall = quality.at(thresholds)
    for label in range(2):
        predicted, true = scores[:, label] >= thresholds[label], Y[:, label] == 1
        assert precision[label] == pytest.approx((predicted & true).sum() / predicted.sum())
        assert recall[label] == pytest.approx((predicted & true).sum() / true.sum())


def test_point_17_a_target_lies_within_reach_where_labels_are_told_apart() -> None:
    """The wide gap below the documents with the label holds no score: precision there is that of its upper end."""
    scores = np.array([[0.9], [0.8], [0.7], [-1.0], [-1.2], [-1.4]])
    quality = ThresholdFigures().fit(scores, Csr([[1], [1], [1], [0], [0], [0]]), ScoreKind.MARGIN, np.array([0.0]))
    found = quality.thresholds_for("precision", 0.9)
    assert found == pytest.approx([-0.15])
    assert [figure.tolist() for figure in quality.at(found)] == [[1.0], [1.0]]
    assert quality.at(np.array([-1.1]))[0] == pytest.approx([3 / 4.5], abs=0.2)


def test_point_17_a_target_out_of_reach_writes_nothing(path: Path, tmp_path: Path, printed: Printed) -> None:
    data, new = tmp_path / "new.jsonl", tmp_path / "new.manylabel"
    data.write_text(json.dumps({"text": "Nothing here.", "labels": ["streets/roads"]}), encoding="utf-8")
    text = printed("thresholds", path, "--precision", "1", "--only", LABEL, "--data", data, "--output", new)
    assert "1 label does not reach precision 1" in text
    assert "no model file was written" in text
    assert not new.exists()


def test_a_change_prints_what_it_does_to_recall(path: Path, printed: Printed) -> None:
    record = json.loads(printed("thresholds", path, "--all", "0.999", "--json"))
    effect, rows = record["effect"], record["labels"]
    documents = sum(row["documents"] for row in rows)
    assert effect["recall"] == pytest.approx(sum(row["recall"] * row["documents"] for row in rows) / documents)
    assert effect["recall"] < effect["recall_before"] / 2
    lost = effect["hardly_predicted"]
    before = {row["label"]: row["recall"] for row in json.loads(printed("thresholds", path, "--json"))["labels"]}
    assert lost == [row["label"] for row in rows if row["recall"] < min(0.1, before[row["label"]])]
    text = printed("thresholds", path, "--all", "0.999")
    assert f"recall {effect['recall']:.3f} (before {effect['recall_before']:.3f}). {len(lost)} labels are then" in text
    assert f"(recall below 0.1): {', '.join(lost[:5])} and" in text
    assert "If that is not wanted, choose lower thresholds." in text
    text = printed("thresholds", path, "--recall", "1")
    assert "If that is not wanted, ask for less recall, or name the labels that need it with --only LABEL." in text
    quiet = printed("thresholds", path, "--set", f"{LABEL}=0.5")
    assert "Over all labels: precision" in quiet
    assert "If that is not wanted" not in quiet
    assert json.loads(printed("thresholds", path, "--json"))["effect"] is None


def test_a_label_that_loses_half_of_its_recall_is_named(path: Path, printed: Printed) -> None:
    before = {row["label"]: row["recall"] for row in json.loads(printed("thresholds", path, "--json"))["labels"]}
    for threshold in (0.7, 0.8, 0.9, 0.95, 0.98):
        record = json.loads(printed("thresholds", path, "--set", f"{LABEL}={threshold}", "--json"))
        recall = next(row["recall"] for row in record["labels"] if row["label"] == LABEL)
        assert record["effect"]["recall_halved"] == ([LABEL] if 0.1 <= recall < before[LABEL] / 2 else [])
        if record["effect"]["recall_halved"]:
            break
    text = " ".join(printed("thresholds", path, "--set", f"{LABEL}={threshold}").split())
    assert f"1 label keeps less than half of the recall: {LABEL}. If that is not wanted, choose lower" in text


def test_a_target_is_not_sold_as_a_guarantee(path: Path, tmp_path: Path, printed: Printed) -> None:
    new = tmp_path / "precise.manylabel"
    text = " ".join(printed("thresholds", path, "--precision", "0.9", "--output", new).split())
    assert "reach precision 0.9 on the documents on which they were chosen. Expect less precision" in text
    assert f"no guarantee. Measure it on other labelled documents (manylabel evaluate DATA --model {new})" in text
    assert "--guarantee fdr=0.1)" in text
    text = " ".join(printed("thresholds", path, "--recall", "0.8").split())
    assert "New documents may have less recall: this is no guarantee." in text
    assert "--guarantee recall=0.8)" in text
    assert "no guarantee" not in printed("thresholds", path, "--all", "0.5")


def test_python_sets_the_thresholds_that_the_command_sets(path: Path, tmp_path: Path, printed: Printed) -> None:
    for option, target in (("--precision", {"precision": 0.9}), ("--recall", {"recall": 0.8})):
        new, model = tmp_path / "new.manylabel", fresh(path)
        printed("thresholds", path, option, *target.values(), "--output", new)
        found = model.thresholds_for(**target)
        assert 0 < len(found) <= len(model.labels_)
        model.thresholds = found
        assert model.thresholds == fresh(new).thresholds
        assert model.predict(NEW.texts) == fresh(new).predict(NEW.texts)


def test_python_refuses_targets_that_are_none(model: TextClassifier, tmp_path: Path, printed: Printed) -> None:
    for wrong in ({}, {"precision": 0.9, "recall": 0.9}):
        with pytest.raises(ParameterError, match=r"^Give either a precision or a recall"):
            model.thresholds_for(**wrong)
    for value in (0, 1.5, "0.9", True):
        with pytest.raises(ParameterError, match=f"^precision must be a number above 0 and up to 1, not {value!r}"):
            model.thresholds_for(precision=value)  # type: ignore[arg-type]
    natural = TextClassifier("nb-binary").fit(LETTERS.texts[:50], LETTERS.label_sets[:50])
    with pytest.raises(DecisionError, match=r"learns no thresholds.*Train it with decision="):
        natural.thresholds_for(precision=0.9)
    natural.save(tmp_path / "natural.manylabel")
    text = " ".join(printed("thresholds", tmp_path / "natural.manylabel", "--precision", "0.9", code=2).split())
    assert "learns no thresholds" in text
    assert (
        "Train it with --set decision.rule=per-label. Or give labelled documents that the model was not trained on"
        in text
    )


def test_figures_that_stay_the_same_are_explained(path: Path, printed: Printed) -> None:
    thresholds = fresh(path).thresholds
    assert thresholds is not None
    command = ["thresholds", path, "--set", f"{LABEL}={thresholds[LABEL] + 1e-7:.12f}"]
    assert json.loads(printed(*command, "--json"))["effect"]["unmoved"] == [LABEL]
    same = f"Precision and recall of {LABEL} stay the same: no score lies between its old and its new threshold."
    assert same in " ".join(printed(*command).split())
    for value in (0.999, thresholds[LABEL]):
        assert json.loads(printed(*command[:2], "--set", f"{LABEL}={value!r}", "--json"))["effect"]["unmoved"] == []


def test_point_17_targets_are_not_measured_on_training_documents(tmp_path: Path, printed: Printed) -> None:
    """Points 17 and 18: neither the training file nor a part of it shows the precision on new documents."""
    data, part, model = tmp_path / "all.jsonl", tmp_path / "part.jsonl", tmp_path / "all.manylabel"
    lines = [json.dumps({**dict(t), "labels": s}) for t, s in zip(NEW.texts, NEW.label_sets, strict=True)]
    data.write_text("\n".join(lines), encoding="utf-8")
    part.write_text("\n".join(lines[10:30]), encoding="utf-8")
    printed("train", data, "--model", model, "--method", "nb-binary")
    for seen in (data, part):
        text = printed("thresholds", model, "--precision", "0.9", "--data", seen, code=2)
        assert "The model was trained on these documents" in text


@pytest.mark.parametrize("curve", ["logistic", "isotonic"])
def test_point_17_a_shown_threshold_leads_back_to_the_score(curve: Any) -> None:
    random = np.random.default_rng(1)
    scores = random.normal(size=(200, 3))
    Y = Csr((scores + random.normal(size=(200, 3)) > 0.5).astype(np.int8))
    calibration = Calibration(curve).fit(scores, Y)
    wanted = np.array([0.3, 0.5, 0.7])
    found = calibration.inverse(wanted)
    assert calibration.transform(found[np.newaxis])[0] == pytest.approx(wanted, abs=1e-6)
