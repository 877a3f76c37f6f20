"""Training in time-ordered folds: the folds that are scored, what is stated about them, and wrong columns."""

from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.data import time_blocks
from manylabel.decisions import DecidedModel, GlobalThreshold
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError
from manylabel.models import LinearSVM, ScoreKind, out_of_fold_scores

TEXTS = ["the bus was late again", "a deep hole in our road", "no bus, and holes in the road"] * 5
SETS = [["buses"], ["roads"], ["buses", "roads"]] * 5
DATES = [f"2024-01-{day:02}" for day in range(1, 16)]


def test_scores_are_those_of_models_of_the_other_folds() -> None:
    random = np.random.default_rng(0)
    X, Y = Csr(random.random((12, 4))), Csr(random.integers(0, 2, (12, 2)))
    splits = time_blocks(np.arange(12), 3)
    scores, rows = out_of_fold_scores(LinearSVM(), X, Y, splits=splits)
    assert rows.tolist() == list(range(12))
    for train, test in splits:
        assert scores[test] == pytest.approx(LinearSVM().fit(X[train], Y[train]).scores(X[test]))
    rule = DecidedModel(LinearSVM(), GlobalThreshold()).fit(X, Y, splits=splits).rule_
    assert isinstance(rule, GlobalThreshold)
    assert rule.threshold_ == GlobalThreshold().fit(scores, Y, ScoreKind.MARGIN).threshold_


@pytest.mark.parametrize("count", [0, 5, 14, 16, 100])
def test_there_is_one_date_per_document(count: int) -> None:
    dates = ["2024-01-01"] * count
    with pytest.raises(ParameterError, match=f"There are 15 documents but {count} dates"):
        TextClassifier("svm").fit(TEXTS, SETS, dates=dates)
    described = TextClassifier()
    with pytest.raises(ParameterError, match="There are 0 documents but"):
        described.fit([], [], descriptions={"buses": "late bus", "roads": "holes"}, dates=[*dates, "2024-01-01"])


@pytest.mark.parametrize(("forward", "documents"), [(True, 12), (False, 9)])
def test_splits_that_leave_documents_untested_are_refused(forward: bool, documents: int) -> None:
    """The scores of documents that no fold tests would be what the memory held before."""
    X, Y = Csr(np.eye(12)), Csr(np.ones((12, 1)))
    with pytest.raises(DataError, match="must test each of the 12 documents exactly once, but they test 9 documents"):
        out_of_fold_scores(LinearSVM(), X, Y, splits=time_blocks(np.arange(documents), 3, forward=forward))


def test_a_model_states_that_its_quality_was_measured_in_time_ordered_folds(tmp_path: Path) -> None:
    model = TextClassifier().fit(TEXTS, SETS, dates=DATES)
    assert model.expected_ is not None
    assert model.expected_["order"] == "time"
    model.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").expected_ == model.expected_
    assert "order" not in (TextClassifier("svm").fit(TEXTS, SETS).expected_ or {})


def test_the_option_names_a_column_of_dates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, model = tmp_path / "letters.csv", str(tmp_path / "m.manylabel")
    rows = [f'{day},"{text}",{"|".join(labels)}\n' for day, text, labels in zip(DATES, TEXTS, SETS, strict=True)]
    data.write_text("sent,text,labels\n" + "".join(rows), encoding="utf-8")
    assert run(["train", str(data), "--model", model, "--method", "svm", "--order-by", "sent"]) == 0
    assert "in time-ordered folds" in " ".join(capsys.readouterr().out.split())
    assert run(["train", str(data), "--model", model, "--order-by", "when"]) == 2
    assert "sent" in capsys.readouterr().err
