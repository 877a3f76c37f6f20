"""The label report: pairs, implications, names, hierarchy, and what a model adds."""

import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, false_discovery_control

from manylabel.cli.run import run
from manylabel.data import load
from manylabel.data.hierarchy import Hierarchy
from manylabel.estimator import Csr
from manylabel.evaluation.mistakes import confusions
from manylabel.insight.dependencies import adjusted_p, label_pairs
from manylabel.insight.label_report import label_qualities, report_labels, similar_names
from manylabel.reports.label_records import Together
from manylabel.reports.labels_page import graph_svg
from manylabel.tasks.learning_curve import label_outlook


def test_p_values_are_those_of_the_binomial_test() -> None:
    random = np.random.default_rng(0)
    Y = (random.random((300, 6)) < [0.4, 0.4, 0.3, 0.2, 0.1, 0.5]).astype(int)
    Y[:, 1] |= Y[:, 0]
    Y[:, 5] &= 1 - Y[:, 0]
    found = label_pairs(Csr(Y), level=1.0)
    n = Y.sum(axis=0)
    for a, b, both, p in zip(found.first, found.second, found.both, found.p, strict=True):
        assert both == (Y[:, a] & Y[:, b]).sum()
        trials, share = min(n[a], n[b]), max(n[a], n[b]) / 300
        tail = binom.sf(both - 1, trials, share) if both > trials * share else binom.cdf(both, trials, share)
        assert p >= min(1.0, 2 * tail) - 1e-12
    pairs = list(zip(label_pairs(Csr(Y)).first.tolist(), label_pairs(Csr(Y)).second.tolist(), strict=True))
    assert {(0, 1), (0, 5)} <= set(pairs)


def test_adjusted_p_equals_scipys() -> None:
    p = np.random.default_rng(1).random(50) ** 3
    np.testing.assert_allclose(adjusted_p(p, 50), false_discovery_control(p))


def test_independent_labels_have_no_pairs() -> None:
    Y = Csr((np.random.default_rng(2).random((2000, 60)) < 0.1).astype(np.int8))
    assert len(label_pairs(Y)) == 0


def test_implications_exclusions_and_companions() -> None:
    Y = np.zeros((200, 3), dtype=np.int8)
    Y[:40, 0] = Y[:60, 1] = 1
    Y[100:160, 2] = 1
    found = report_labels(Csr(Y), ["lamp", "street", "bus"], None, "made")
    assert [(one.label, one.implied, one.both, one.documents) for one in found.implications] == [
        ("lamp", "street", 40, 40)
    ]
    assert {(one.first, one.second) for one in found.exclusions} == {("lamp", "bus"), ("street", "bus")}
    assert {one.label: one.companions for one in found.labels} == {"street": ("lamp",), "bus": (), "lamp": ("street",)}
    assert [one.imbalance for one in found.labels] == [1.0, 1.0, 1.5]


def test_missing_ancestors() -> None:
    Y = Csr(np.array([[1, 1], [1, 0], [0, 1]]))
    hierarchy = Hierarchy({"streets/roads": "streets"})
    (found,) = report_labels(Y, ["streets/roads", "streets"], hierarchy, "made").missing_ancestors
    assert (found.label, found.ancestor, found.lacking, found.documents) == ("streets/roads", "streets", 1, 2)


def test_similar_names_and_those_that_are_not() -> None:
    different = ["C", "C++", "category 0001", "category 0002", "lang:c", "lang:r", "cat", "car", "waste", "water"]
    assert similar_names(different, [9] * len(different)) == ()
    found = similar_names(["Café", "cafes", "recycling", "recicling", "Recyclings"], [9] * 5)
    assert [(one.first, one.second, one.reason) for one in found] == [
        ("Café", "cafes", "the same words"),
        ("Recyclings", "recycling", "the same words"),
        ("recicling", "recycling", "one letter apart"),
    ]


@pytest.mark.parametrize(
    ("names", "documents", "reason"),
    [
        (["vpn", "vnp"], [5, 1], "two letters exchanged; 1 and 5 documents"),
        (["vpn", "vnp"], [4, 1], None),
        (["it/mail", "it/mial"], [30, 2], "two letters exchanged; 30 and 2 documents"),
        (["print", "prnt"], [20, 1], "one letter apart; 20 and 1 documents"),
        (["Print", "pront"], [40, 2], "one letter apart; 40 and 2 documents"),
        (["print", "prnt"], [19, 1], None),
        (["heat", "wheat"], [19, 283], None),
        (["tax", "tap"], [900, 1], None),
        (["q1 mail", "q2 mail"], [900, 1], None),
    ],
)
def test_short_names_are_similar_where_one_of_them_is_rare(names, documents, reason) -> None:
    assert [one.reason for one in similar_names(names, documents)] == ([] if reason is None else [reason])


def test_quality_and_confusions_by_hand() -> None:
    true = Csr(np.array([[1, 0], [1, 0], [0, 1], [1, 1]]))
    predicted = Csr(np.array([[1, 0], [0, 1], [0, 1], [1, 0]]))
    a, b = label_qualities(true, predicted, ["a", "b"], np.array([0.3, 0.4]))
    assert [a.precision, a.recall, a.f1, a.threshold] == pytest.approx([1.0, 2 / 3, 0.8, 0.3])
    assert (b.precision, b.recall) == (0.5, 0.5)
    for one, interval in ((b.precision, b.precision_interval), (a.recall, a.recall_interval), (a.f1, a.f1_interval)):
        assert one is not None
        assert interval[0] < one < interval[1]
    assert [(one.missed, one.wrong, one.documents) for one in confusions(true, predicted, ["a", "b"])] == [
        ("a", "b", 1)
    ]


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (
        '"the bus was late",buses;transport\n"a hole in the road",roads\n"late bus, bad road",buses;roads;transport\n'
    )
    Path("mail.csv").write_text("text,labels\n" + 20 * rows)
    assert run(["train", "mail.csv", "--method", "svm"]) == 0
    capsys.readouterr()
    assert run(["labels", "mail.csv", "--model", "mail.manylabel", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(one["label"], one["implied"]) for one in found["implications"]} == {
        ("buses", "transport"),
        ("transport", "buses"),
    }
    assert found["model"]["trained_on"] == 60
    assert found["model"]["terms"][0]["best"]["chi2"]
    assert found["model"]["verdicts"] is None, "of fewer than 200 training documents"
    assert {one["name"] for one in found["model"]["thresholds"]} == {"buses", "roads", "transport"}
    assert run(["labels", "mail.csv", "--model", "mail.manylabel", "--report", "labels.html"]) == 0
    page = Path("labels.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "<ml-thresholds>" in page
    assert page.count("Labels of mail") == 2, "as the title of the window and as the heading of the page"
    assert "figures are too good" in page
    capsys.readouterr()
    assert run(["labels", "mail.csv"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Imbalance (IRLbl): how many times as frequent as the label the most frequent one is;" in out
    assert "label documents share imbalance" in out
    Path("plain.csv").write_text("text\nlate bus\n")
    assert run(["labels", "plain.csv"]) == 2


def test_names_in_the_graph_do_not_cover_each_other() -> None:
    names = [f"label {number}" for number in range(12)]
    pairs = [Together(a, b, 20, 2.0, 1e-9) for a, b in combinations(names, 2)]
    found = re.findall(r'<text x="(\d+)" y="(\d+)"', graph_svg(pairs))
    places = np.array(found, dtype=float)
    gap = np.abs(places[:, None] - places)
    covered = (gap[..., 0] < 6 * len("label 10")) & (gap[..., 1] < 12) & ~np.eye(12, dtype=bool)
    assert len(found) == 12
    assert not covered.any()


def test_the_report_has_the_form_of_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "labels.md"
    assert run(["labels", "townhall", "--report", str(path)]) == 0
    assert path.read_text(encoding="utf-8").startswith("# Labels of townhall\n\n**")


def test_whether_more_documents_would_help() -> None:
    corpus = load("townhall").corpus
    found, sizes = label_outlook(corpus.split("train"), corpus.split("test"), "nb-binary")
    assert sizes == [104, 208, 415]
    tested = {one.label: one.tested for one in found}
    assert {one.verdict for one in found if tested[one.label] < 10} == {"rare"}
    for one in found:
        assert one.verdict == "rare" or (one.verdict == "rising") is (one.low > 0)
