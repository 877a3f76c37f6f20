"""The audit: flipped labels are found, rare labels are safe, nothing is changed, corrections can be undone."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.cli.run import run
from manylabel.data.splits import iterative_stratification
from manylabel.estimator import Csr
from manylabel.insight.audit import by_other_labels, doubted_documents, doubts, judge
from manylabel.models.linear_svm import LinearSVM
from manylabel.tasks.corrections import _difference, _restored

ROWS = ['"the bus was late again",buses', '"a deep hole in the road",roads', '"late bus and bad road",buses;roads']


def noisy(seed: int = 0) -> tuple[Csr, Csr, set[tuple[int, int]], set[tuple[int, int]]]:
    """Documents whose terms decide six labels, 4 % of which were removed and as many added."""
    random = np.random.default_rng(seed)
    Y = (random.random((400, 6)) < 0.3).astype(np.int8)
    X = np.hstack([3.0 * Y + random.poisson(0.1, Y.shape), random.poisson(0.5, (400, 10))])
    cells = np.argwhere(Y)
    gone = {tuple(cell) for cell in cells[random.choice(len(cells), 28, replace=False)].tolist()}
    free = np.argwhere(Y == 0)
    added = {tuple(cell) for cell in free[random.choice(len(free), 28, replace=False)].tolist()}
    for row, column in gone | added:
        Y[row, column] = 1 - Y[row, column]
    return Csr(X), Csr(Y), gone, added  # type: ignore[return-value]


def test_flipped_labels_come_first() -> None:
    X, Y, gone, added = noisy()
    found = doubts(judge(LinearSVM(C=0.1), X, Y).log_odds, Y)
    pairs = list(zip(found.rows.tolist(), found.columns.tolist(), strict=True))[: len(gone) + len(added)]
    assert np.mean([pair in gone | added for pair in pairs]) > 0.9
    for (row, column), missing in zip(pairs, found.missing.tolist(), strict=False):
        assert bool(Y[row, column]) != missing
    assert (np.diff(found.probability) <= 0).all()


def test_a_rare_label_is_not_judged_and_does_not_flood() -> None:
    X, Y, _, _ = noisy()
    rare = np.zeros((400, 2), dtype=np.int8)
    rare[:4, 0] = rare[5:17, 1] = 1
    Z = Csr(np.hstack([Y.toarray(), rare]))
    found = doubts(judge(LinearSVM(C=0.1), X, Z).log_odds, Z, least=0.0)
    assert 6 not in found.columns
    assert ((found.columns == 7) & found.missing).sum() <= 12
    assert (found.columns[:56] == 7).sum() <= 3


def test_other_labels_are_regressed_without_the_label_itself() -> None:
    """The closed form equals least squares on the other labels, solved one label at a time."""
    random = np.random.default_rng(1)
    Y = (random.random((60, 4)) < 0.5).astype(np.int8)
    Y[:, 1] |= Y[:, 0]
    splits = iterative_stratification(Csr(Y), 3, 0)
    found = by_other_labels(Csr(Y), splits)
    for train, test in splits:
        mean = Y[train].mean(axis=0)
        K = np.cov(Y[train].T, bias=True)
        K = K + np.diag(0.05 * np.diag(K) + 1e-6)
        for label in range(4):
            others = [one for one in range(4) if one != label]
            weights = np.linalg.solve(K[np.ix_(others, others)], K[others, label])
            expected = mean[label] + (Y[test][:, others] - mean[others]) @ weights
            np.testing.assert_allclose(found[test, label], expected, atol=1e-9)


def test_documents_that_no_label_explains() -> None:
    X, Y, _, _ = noisy()
    text = X.toarray()
    text[0, :6] = 0.0
    labels = Y.toarray()
    labels[0] = [1, 0, 0, 0, 0, 0]
    Z = Csr(labels)
    found = doubts(judge(LinearSVM(C=0.1), Csr(text), Z).log_odds, Z)
    assert 0 in doubted_documents(found, Z).tolist()


@pytest.mark.parametrize(
    ("old", "new"), [(b"", b"abc"), (b"abc", b""), (b"aXb", b"aYYb"), (b"same", b"same"), (b"aa", b"aaa")]
)
def test_differences_restore(old: bytes, new: bytes) -> None:
    assert _restored(old, _difference(old, new)) == new


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{number},{ROWS[number % 3]}" for number in range(60)]
    lines[6] = '6,"the bus was late again",roads'
    Path("mail.csv").write_text("id,text,labels\r\n" + "\r\n".join(lines) + "\r\n", newline="")
    return tmp_path


def test_the_command_finds_the_wrong_label_and_its_copies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("mail.csv").read_bytes()
    assert run(["audit", "mail.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first = found["doubted"][0]
    assert (first["document"], first["label"], first["action"]) == ("6", "buses", "add")
    (add,) = (one for one in found["doubted"] if (one["document"], one["action"]) == ("6", "add"))
    assert "bus" in [term for term, _ in add["evidence"]]
    assert any(set(one["only_first"]) | set(one["only_second"]) == {"buses", "roads"} for one in found["copies"])
    assert run(["audit", "mail.csv", "--report", "audit.html"]) == 0
    assert "Probably missing labels" in Path("audit.html").read_text(encoding="utf-8")
    assert Path("mail.csv").read_bytes() == before


def decisions(*lines: dict[str, Any]) -> None:
    Path("decisions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("name", ["mail.csv", "mail.jsonl"])
def test_apply_then_revert_gives_the_bytes(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "mail.jsonl":
        assert run(["convert", "mail.csv", "mail.jsonl"]) == 0
    before = Path(name).read_bytes()
    decisions(
        {"document": "6", "label": "buses", "action": "add", "why": "it is about a bus", "by": "anna"},
        {"document": "6", "label": "roads", "action": "remove"},
        {"document": "7", "label": "roads", "action": "remove", "accept": False},
        {"document": "0", "label": "buses", "action": "add"},
    )
    assert run(["audit", name, "--apply", "decisions.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "1 label added, 1 removed" in out
    assert "Nothing to do for 0: buses is there already." in out
    corrected = Path(name.replace("mail.", "mail.corrected."))
    record = Path(f"{corrected}.record.jsonl")
    assert Path(name).read_bytes() == before
    assert corrected.read_bytes() != before
    head, *changes = (json.loads(line) for line in record.read_text(encoding="utf-8").splitlines())
    assert head["original_sha256"] == hashlib.sha256(before).hexdigest()
    assert [(one["document"], one["label"], one["action"]) for one in changes] == [
        ("6", "buses", "add"),
        ("6", "roads", "remove"),
    ]
    assert (changes[0]["by"], changes[0]["why"]) == ("anna", "it is about a bus")
    assert all(one["when"] and one["model"] for one in changes)
    assert run(["audit", "--revert", str(record)]) == 0
    assert corrected.read_bytes() == before


def test_wrong_decisions_and_changed_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decisions({"document": "6", "label": "buses", "action": "keep"})
    assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == 2
    assert "decisions.jsonl, line 1" in capsys.readouterr().err
    decisions({"document": "nine", "label": "buses", "action": "add"})
    assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == 2
    assert "'nine'" in capsys.readouterr().err
    decisions({"document": "6", "label": "buses", "action": "add"})
    assert run(["audit", "mail.csv", "--apply", "decisions.jsonl"]) == 0
    Path("mail.corrected.csv").write_text("changed")
    assert run(["audit", "--revert", "mail.corrected.csv.record.jsonl"]) == 2
    assert "was changed after" in capsys.readouterr().err
    assert run(["audit"]) == 2
    assert run(["audit", "--revert", "decisions.jsonl"]) == 2
    assert "not a record" in capsys.readouterr().err
