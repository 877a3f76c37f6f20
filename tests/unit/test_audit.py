"""The audit: flipped labels are found, rare labels are safe, nothing is changed, corrections can be undone."""

import base64
import hashlib
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manylabel.cli.run import run
from manylabel.estimator import Csr
from manylabel.insight import cells, label_evidence
from manylabel.insight.audit import doubted_documents, doubts, judge
from manylabel.insight.label_evidence import Regression, companions, same_others
from manylabel.insight.label_halves import division
from manylabel.models.linear_svm import LinearSVM
from manylabel.reports.audit_page import audit_page
from manylabel.reports.audit_records import AuditRecord
from manylabel.reports.page import render_text
from manylabel.tasks.audit import evidence_for
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
    found = doubts(judge(LinearSVM(C=0.1), X, Y), Y)
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
    found = doubts(judge(LinearSVM(C=0.1), X, Z), Z, least=0.0)
    assert 6 not in found.columns
    assert ((found.columns == 7) & found.missing).sum() <= 12
    assert (found.columns[:56] == 7).sum() <= 3
    only_rare = Csr(rare[:, :1])
    assert len(doubts(judge(LinearSVM(C=0.1), X, only_rare), only_rare, least=0.0)) == 0


def test_other_labels_are_regressed_without_the_label_itself() -> None:
    """The closed form equals least squares on the other labels, solved one label at a time."""
    random = np.random.default_rng(1)
    Y = (random.random((60, 4)) < 0.5).astype(np.int8)
    Y[:, 1] |= Y[:, 0]
    train, test = Y[:40], Y[40:]
    found = Regression.of(Csr(train)).predicted(Csr(test))
    mean, K = train.mean(axis=0), np.cov(train.T, bias=True)
    K = K + np.diag(0.05 * np.diag(K) + 1e-6)
    for label in range(4):
        others = [one for one in range(4) if one != label]
        weights = np.linalg.solve(K[np.ix_(others, others)], K[others, label])
        np.testing.assert_allclose(found[:, label], mean[label] + (test[:, others] - mean[others]) @ weights, atol=1e-9)


def test_rarer_labels_are_not_regressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_evidence, "MOST_REGRESSED", 2)
    Y = Csr(np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1], [1, 0, 0]]))
    found = Regression.of(Y)
    assert found.labels.tolist() == [0, 2]
    np.testing.assert_allclose(found.predicted(Y)[:, 1], 0.25)


def test_a_cell_is_judged_alike_with_and_without_its_label() -> None:
    """All evidence of other labels is that of the remaining documents: the cell's own label does not take part."""
    random = np.random.default_rng(2)
    Y = (random.random((50, 5)) < 0.5).astype(np.int8)
    several = np.flatnonzero(Y.sum(axis=1) > 2)[:3].tolist()
    for row, column in zip(several, [0, 3, 4], strict=True):
        one, other = Y.copy(), Y.copy()
        one[row, column], other[row, column] = 1, 0
        rows, columns = np.array([row]), np.array([column])
        with_label = companions(Csr(one), rows, columns, np.array([True]))
        without = companions(Csr(other), rows, columns, np.array([False]))
        assert with_label.number == without.number
        rest = np.delete(Y, row, axis=0)
        others = [label for label in np.flatnonzero(Y[row]).tolist() if label != column]
        share = rest[:, column].mean()
        expected = max((rest[rest[:, m] > 0, column].sum() + 3 * share) / (rest[:, m].sum() + 3) for m in others)
        np.testing.assert_allclose([with_label.implied, without.implied], expected)
        np.testing.assert_allclose(with_label.likelihood, without.likelihood)
        sets = [set(np.flatnonzero(line).tolist()) - {column} for line in rest]
        same = [line[column] for line, found in zip(rest, sets, strict=True) if found == set(others)]
        for Z, has in ((one, True), (other, False)):
            share_with, number = same_others(Csr(Z), rows, columns, np.array([has]))
            assert number.tolist() == [len(same)]
            np.testing.assert_allclose(share_with, (sum(same) + 2 * share) / (len(same) + 2))


def test_only_assigned_labels_and_near_documents_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of cells grows with the assigned labels, not with documents × labels, whatever the batches."""
    monkeypatch.setattr(cells, "MORE", 5)
    X, Y, _, _ = noisy()
    Y = Csr(np.hstack([Y.toarray()[:, :3] & (np.arange(400) % 4 == 0)[:, None], Y.toarray()[:, 3:] * 0]))
    whole = judge(LinearSVM(C=0.1), X, Y).cells
    assert whole.has.sum() == Y.nnz
    assert len(whole.rows) <= Y.nnz + 2 * (3 * Y.nnz + 3 * (5 + 5))
    monkeypatch.setattr(cells, "row_batches", lambda n, _: [slice(low, low + 30) for low in range(0, n, 30)])
    parts = judge(LinearSVM(C=0.1), X, Y).cells
    assert parts.has.sum() == Y.nnz
    both = set(zip(whole.rows.tolist(), whole.columns.tolist(), strict=True)) & set(
        zip(parts.rows.tolist(), parts.columns.tolist(), strict=True)
    )
    assert len(both) > 0.8 * len(whole.rows)


def test_documents_that_no_label_explains() -> None:
    X, Y, _, _ = noisy()
    text = X.toarray()
    text[0, :6] = 0.0
    labels = Y.toarray()
    labels[0] = [1, 0, 0, 0, 0, 0]
    Z = Csr(labels)
    found = doubts(judge(LinearSVM(C=0.1), Csr(text), Z), Z)
    assert 0 in doubted_documents(found, Z).tolist()


def two_topics(seed: int = 0) -> tuple[Csr, Csr]:
    """A label of two topics and a label of one, 60 documents each."""
    random = np.random.default_rng(seed)
    topics = random.dirichlet(np.full(60, 0.1), 3)
    counts = [random.multinomial(30, 0.8 * topics[topic] + 0.2 / 60) for topic in [0, 1] * 30 + [2] * 60]
    Y = np.zeros((120, 2), dtype=np.int8)
    Y[:60, 0] = Y[60:, 1] = 1
    return Csr(np.array(counts, dtype=np.float64)), Csr(Y)


def test_a_label_of_two_topics_is_divided() -> None:
    X, _ = two_topics()
    found = division(X, np.arange(60))
    assert found is not None
    assert sorted(len({row % 2 for row in group.tolist()}) for group in found.groups) == [1, 1]
    assert not set(found.terms[0].tolist()) & set(found.terms[1].tolist())
    assert division(X, np.arange(60, 120)) is None
    assert division(X, np.arange(30)) is None
    assert division(Csr(np.ones((60, 5))), np.arange(60)) is None


def test_the_terms_of_a_divided_label_occur_in_its_documents() -> None:
    """The first 60 terms occur in documents of other labels only."""
    X, _ = two_topics()
    counts = np.block([[np.zeros((60, 60)), X[:60].toarray()], [X[60:].toarray(), np.zeros((60, 60))]])
    found = division(Csr(counts), np.arange(60))
    assert found is not None
    for rows, others, terms in zip(found.groups, found.groups[::-1], found.terms, strict=True):
        assert (counts[rows][:, terms].mean(axis=0) > counts[others][:, terms].mean(axis=0)).all()


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


def test_labels_that_may_be_one_or_two_and_implied_ones_are_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, Y = two_topics()
    words = [
        " ".join(f"w{term} " * count for term, count in enumerate(row) if count) for row in X.toarray().astype(int)
    ]
    names = [["both", "boths"] if one else ["single"] for one in Y.toarray()[:, 0]]
    names[119] = ["top"]
    lines = [{"id": str(n), "text": text, "labels": names[n]} for n, text in enumerate(words)]
    Path("sections.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    Path("tree.tsv").write_text("single\ttop\n", encoding="utf-8")
    assert run(["audit", "sections.jsonl", "--hierarchy", "tree.tsv", "--rows", "3"]) == 0
    shown = capsys.readouterr().out
    assert run(["audit", "sections.jsonl", "--hierarchy", "tree.tsv", "--report", "page.html", "--json"]) == 0
    page, found = Path("page.html").read_text(encoding="utf-8"), json.loads(capsys.readouterr().out)
    for title in ("Labels that the hierarchy implies (59)", "Labels that may be one", "Labels that may be two"):
        assert title in shown
        assert title in page
    assert [one["label"] for one in found["divided"]] == ["both", "boths"]
    assert sum(found["divided"][0]["documents"]) == 60
    assert {int(one) % 2 for one in found["divided"][0]["examples"]} == {0, 1}
    assert found["alike"][0]["reason"] == "60 of 60 documents have both"


def test_documents_that_no_label_explains_are_shown() -> None:
    empty: Any = ()
    record = AuditRecord("mail", 3, 2, 4, 2, empty, 0, empty, 0, empty, 0, ("17", "21"), empty, empty)
    shown = render_text(audit_page(record, 20))
    assert "2 documents that no label explains" in shown
    assert "17, 21" in shown
    assert "read from disk" not in shown
    shown = render_text(audit_page(replace(record, not_looked_for=("copies", "twins")), 20))
    assert "The documents were read from disk, so copies and twins were not looked for." in shown


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
    for wrong in (b'{"document": "\xe9"}', b"[" * 2000, b"3"):
        Path("decisions.jsonl").write_bytes(wrong)
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
    head = json.loads(Path("mail.corrected.csv.record.jsonl").read_text().splitlines()[0])
    for change in ({"restore": base64.b85encode(zlib.compress(b"x y\n")).decode()}, {"corrected_sha256": None}):
        kept = {key: value for key, value in {**head, **change}.items() if value is not None}
        Path("record.jsonl").write_text(json.dumps(kept))
        assert run(["audit", "--revert", "record.jsonl"]) == 2
        assert "not a record" in capsys.readouterr().err
    assert run(["audit", "--revert", "decisions.jsonl"]) == 2
    assert "not a record" in capsys.readouterr().err


def test_terms_of_a_doubt_are_those_that_add_something() -> None:
    """No term is listed with a contribution of 0; `signed` gives small ones their digits."""
    model = LinearSVM(n_jobs=1).fit(Csr([[1.0, 0, 0], [0, 1.0, 0]] * 4), Csr([[1], [0]] * 4))
    terms = evidence_for(model, Csr([[1.0, 0, 1.0]]), 0, True, ["bus", "road", "rare"])
    assert [term for term, _ in terms] == ["bus"]
