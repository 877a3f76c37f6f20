"""Point 18 of the first hour: `train` reports an honest expected quality, and `evaluate` names training documents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.decisions.best_rule import BestRule
from manylabel.decisions.cross_fitting import CrossFitted, unseen_decisions
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.estimator import Csr, unfitted_copy
from manylabel.evaluation.expected import expected_quality
from manylabel.evaluation.training_documents import MOST, count_seen, kept_hashes
from manylabel.metrics import compute_metrics
from manylabel.metrics.targets import find_target_metric
from manylabel.models.score_kinds import ScoreKind

N_DOCUMENTS, N_LABELS = 300, 6


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    words = {"buses": ["bus", "stop", "late"], "roads": ["hole", "road", "tar"], "trees": ["tree", "leaf", "root"]}
    rng = np.random.default_rng(0)
    rows = []
    for number in range(90):
        labels = sorted(rng.choice(list(words), size=int(rng.integers(1, 3)), replace=False).tolist())
        text = " ".join(str(rng.choice(words[label])) for label in labels for _ in range(3))
        rows.append(json.dumps({"id": str(number), "text": f"{text} note{number}", "labels": labels}))
    (tmp_path / "mail.jsonl").write_text("\n".join(rows) + "\n")
    (tmp_path / "some.jsonl").write_text("\n".join(rows[:7]) + "\n" + rows[0].replace("note0", "other") + "\n")
    return tmp_path


def scored(seed: int) -> tuple[np.ndarray, Csr]:
    """Scores that say a little about the labels."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((N_DOCUMENTS, N_LABELS)) < 0.1).astype(np.int8)
    return rng.normal(size=Y.shape) + 1.5 * Y, Csr(Y)


def micro_f1(Y_true: Csr, Y_pred: Csr) -> float:
    return compute_metrics(Y_true, Y_pred, ["micro-f1"])["micro-f1"]


@pytest.mark.parametrize("rule", [PerLabelThreshold(0.0), BestRule()], ids=["per-label", "best"])
def test_point_18_a_rule_is_judged_on_documents_it_did_not_learn_from(rule: PerLabelThreshold | BestRule) -> None:
    """Point 18: a rule judged on the scores it learned from looks better than it is on new documents."""
    own, honest, new = [], [], []
    for seed in range(20):
        scores, Y = scored(seed)
        crossed = rule.fit_crossed(scores, Y, ScoreKind.MARGIN)
        assert crossed is not None
        honest.append(micro_f1(*unseen_decisions([crossed], Y)))
        own.append(micro_f1(Y, rule.decide(scores, ScoreKind.MARGIN)))
        others, Y_others = scored(1000 + seed)
        new.append(micro_f1(Y_others, rule.decide(others, ScoreKind.MARGIN)))
    error = np.std(np.subtract(honest, new), ddof=1) / np.sqrt(len(new))
    assert abs(np.mean(honest) - np.mean(new)) < 2 * error
    assert np.mean(own) > np.mean(new) + 2 * error


def test_point_18_the_choice_among_candidates_is_made_on_the_other_folds() -> None:
    """Point 18: two candidates, each right in one fold; the fold's own luck must not choose its candidate."""
    Y = Csr([[1, 0], [1, 0], [0, 1], [0, 1]])
    right_first, right_last = Csr([[1, 0], [1, 0], [1, 0], [1, 0]]), Csr([[0, 1], [0, 1], [0, 1], [0, 1]])
    crossed = CrossFitted(
        np.arange(4), np.array([0, 0, 1, 1]), (right_first, right_last), find_target_metric("micro-f1")
    )
    Y_true, Y_pred = unseen_decisions([crossed], Y)
    assert micro_f1(Y_true, Y_pred) == 0
    assert micro_f1(Y, right_first) == 0.5  # what the better candidate would claim


def test_point_18_train_prints_the_expected_quality(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Point 18: `train` ends with the expected micro F1 and its interval; the file keeps it, `inspect` shows it."""
    assert run(["train", "mail.jsonl", "--metric", "exact-match"]) == 0
    printed = capsys.readouterr().out
    assert "Expected on new documents of the same kind: micro F1 " in printed
    assert "exact match" in printed
    assert "out of fold on 90 documents" in printed
    assert "manylabel evaluate mail.jsonl" not in printed
    assert run(["inspect", "mail.manylabel"]) == 0
    assert "Expected on new documents of the same kind: micro F1 " in capsys.readouterr().out
    assert run(["inspect", "mail.manylabel", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["expected"]
    assert [one["metric"] for one in expected["figures"]] == ["micro-f1", "exact-match"]
    for one in expected["figures"]:
        assert 0 <= one["low"] <= one["value"] <= one["high"] <= 1
    assert TextClassifier.load("mail.manylabel").expected_ == expected


def test_point_18_train_names_the_command_where_nothing_is_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Point 18: a method that learns nothing out of fold has no expected quality, and says what measures it."""
    assert run(["train", "mail.jsonl", "--method", "nb-binary"]) == 0
    printed = capsys.readouterr().out
    assert "was not measured" in printed
    assert "manylabel evaluate mail.jsonl --method nb-binary" in printed
    assert TextClassifier.load("mail.manylabel").expected_ is None
    assert run(["train", "mail.jsonl", "--method", "mnb-vw-cc", "--set", "model.base=svm", "--single-label"]) == 0
    hint = "manylabel evaluate mail.jsonl --method mnb-vw-cc --set model.base=svm --single-label"
    assert hint in capsys.readouterr().out


def test_point_18_no_error_is_no_certainty() -> None:
    """Point 18: where every held-out document is right, the interval says what that many documents can show."""
    Y = Csr(np.eye(4, dtype=np.int8).repeat(15, axis=0))
    (figure,) = expected_quality(Y, Y)["figures"]
    assert (figure["value"], figure["high"]) == (1.0, 1.0)
    assert figure["low"] == pytest.approx(scipy.stats.binomtest(60, 60).proportion_ci(0.95).low)


def test_point_18_measuring_it_does_not_change_the_rule() -> None:
    """Point 18: the learned rule is the same, whether or not it is cross-fitted."""
    scores, Y = scored(0)
    for rule in (PerLabelThreshold(), BestRule()):
        plain, crossed = unfitted_copy(rule).fit(scores, Y, ScoreKind.MARGIN), unfitted_copy(rule)
        crossed.fit_crossed(scores, Y, ScoreKind.MARGIN)
        decisions = [one.decide(scores, ScoreKind.MARGIN).toarray() for one in (plain, crossed)]
        np.testing.assert_array_equal(*decisions)


def test_point_18_evaluating_training_documents_is_named_first(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Point 18: all or some of the training documents, under other names, are noticed before any figure."""
    assert run(["train", "mail.jsonl"]) == 0
    capsys.readouterr()
    assert run(["evaluate", "mail.jsonl", "--model", "mail.manylabel"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Warning: The model was trained on these very documents (all 90 documents)")
    assert "Expected on new documents" in printed
    assert run(["evaluate", "some.jsonl", "--model", "mail.manylabel"]) == 0
    assert capsys.readouterr().out.startswith("Warning: The model was trained on 7 of these 8 documents")
    assert run(["evaluate", "some.jsonl", "--model", "mail.manylabel", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["training_documents"]
    assert found == {"seen": 7, "compared": 8, "documents": 8}


def test_point_18_hashes_of_training_documents_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point 18: of very many documents a random sample of hashes is kept, and documents are counted among it."""
    assert MOST == 65536
    monkeypatch.setattr("manylabel.evaluation.training_documents.MOST", 50)
    texts = [f"document {number}" for number in range(1000)]
    kept = kept_hashes(texts)
    assert len(kept) == 50
    found = count_seen(texts[:500], kept)
    assert found.documents == 500
    assert found.seen == found.compared < 60
    assert count_seen([f"another {number}" for number in range(500)], kept).seen == 0


def test_point_18_counts_are_recognised_in_any_order_of_columns() -> None:
    """Point 18: ready-made counts are recognised too, however their entries are stored."""
    kept = kept_hashes(Csr([[2, 0, 1], [0, 3, 0]]))
    unsorted = Csr((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2])), shape=(1, 3))
    assert count_seen(unsorted, kept).seen == 1
