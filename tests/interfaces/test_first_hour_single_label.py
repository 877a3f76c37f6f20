"""Point 4 of the first-hour list: documents that all have exactly one label get exactly one."""

import json
from pathlib import Path

import numpy as np
import pytest

from manylabel.classifier import TextClassifier
from manylabel.cli.run import run
from manylabel.exceptions import ParameterError

PAIRS = [
    ("the bus was late again", "buses"),
    ("a deep hole in the road", "roads"),
    ("the library is closed today", "libraries"),
    ("my bus did not come", "buses"),
    ("the road needs new tar", "roads"),
    ("no new books in the library", "libraries"),
] * 5
TEXTS, NAMES = [text for text, _ in PAIRS], [name for _, name in PAIRS]
SETS = [[name] for name in NAMES]
NEW = ["is the bus on the road?", "library books", "late", "the road to the library has a hole and no bus"]


@pytest.mark.parametrize("method", ["auto", "svm", "nb", "nb-binary", "nb-powerset", "knn"])
def test_point_4_exactly_one_label_is_predicted(method: str) -> None:
    model = TextClassifier(method, folds=2).fit(TEXTS, SETS)
    assert model.predicts_one_label
    best = model.predict_scores(NEW).argmax(axis=1)
    assert model.predict(NEW) == [[model.labels_[column]] for column in best]
    assert [model.predict([text])[0] for text in NEW] == model.predict(NEW)
    assert model.predict(["zzzz"]) in ([[]], [["buses"]], [["libraries"]], [["roads"]])


def test_point_4_probabilities_sum_to_one_in_the_order_of_the_scores() -> None:
    model = TextClassifier("svm", folds=2).fit(TEXTS, SETS)
    shown, raw = model.predict_scores(NEW), model.predict_scores(NEW, raw=True)
    assert shown.sum(axis=1) == pytest.approx(np.ones(len(NEW)))
    np.testing.assert_array_equal(np.argsort(shown, axis=1), np.argsort(raw, axis=1))


def test_point_4_the_user_decides_otherwise() -> None:
    assert not TextClassifier("svm", single_label=False, folds=2).fit(TEXTS, SETS).predicts_one_label
    mixed = [*SETS[:-1], ["buses", "roads"]]
    assert not TextClassifier("svm", folds=2).fit(TEXTS, mixed).predicts_one_label
    assert TextClassifier("svm", single_label=True, folds=2).fit(TEXTS, mixed).predicts_one_label
    rule = {"rule": "top-k", "k": 2}
    assert [len(names) for names in TextClassifier("svm", decision=rule).fit(TEXTS, SETS).predict(NEW[:2])] == [2, 2]
    with pytest.raises(ParameterError, match="Give one of them"):
        TextClassifier("svm", decision=rule, single_label=True).fit(TEXTS, SETS)


def test_point_4_a_batch_does_not_tell_that_all_documents_have_one_label() -> None:
    model = TextClassifier("nb-binary").partial_fit(TEXTS[:6], SETS[:6])
    assert not model.predicts_one_label


def test_point_4_train_and_inspect_print_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mail.csv").write_text("text,label\n" + "".join(f"{text},{name}\n" for text, name in PAIRS), encoding="utf-8")
    assert run(["train", "mail.csv", "--method", "svm"]) == 0
    assert "Every document has exactly one label, so exactly one is predicted" in capsys.readouterr().out
    assert run(["inspect", "mail.manylabel"]) == 0
    assert "Exactly one label is predicted per document" in capsys.readouterr().out
    Path("new.txt").write_text("\n".join(NEW) + "\n", encoding="utf-8")
    assert run(["predict", "mail.manylabel", "new.txt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [len(json.loads(line)["labels"]) for line in lines] == [1] * len(NEW)
    assert run(["predict", "mail.manylabel", "new.txt", "--threshold", "1"]) == 0
    assert not any(json.loads(line)["labels"] for line in capsys.readouterr().out.splitlines())
    assert run(["train", "mail.csv", "--method", "svm", "--multi-label"]) == 0
    assert "but any number is predicted" in capsys.readouterr().out
    assert run(["evaluate", "mail.csv", "--method", "svm", "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert result["recipe"]["decision"]["single_label"] is True
