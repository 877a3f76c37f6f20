"""Documents to label next: values by hand, no near-duplicates, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest

from manylabel.cli.run import run
from manylabel.estimator import Csr
from manylabel.insight.suggest import best_candidates, choose_documents, document_values


def test_uncertain_documents_of_rare_labels_are_worth_most() -> None:
    P = np.array([[0.5, 0.01], [0.01, 0.5], [0.99, 0.01]])
    values = document_values(P, [9, 1])
    half, sure = np.log(2), -0.01 * np.log(0.01) - 0.99 * np.log(0.99)
    np.testing.assert_allclose(values, [half / 10 + sure / 2, sure / 10 + half / 2, sure / 10 + sure / 2])


def test_candidates_are_the_most_valuable_documents_and_few_where_labels_are_many() -> None:
    values = np.random.default_rng(0).random(3000)
    order = np.argsort(-values)
    for count, n_labels, most in ((10, 90, 1000), (100, 90, 2000), (10, 1 << 20, 16), (10, 1 << 24, 10)):
        assert best_candidates(values, count, n_labels).tolist() == order[:most].tolist()


def test_a_batch_holds_no_near_duplicates_and_no_document_twice() -> None:
    random = np.random.default_rng(0)
    X = Csr(random.poisson(0.5, (30, 8)).astype(float))
    groups = np.arange(30) // 3
    chosen = choose_documents(random.random((30, 4)), [1, 2, 3, 4], X, 30, groups)
    assert len(chosen) == 10
    assert len(set(groups[chosen].tolist())) == 10


def test_like_documents_are_not_chosen_in_a_row() -> None:
    X = Csr(np.array([[1.0, 0.0], [1.0, 0.01], [0.0, 1.0]]))
    assert choose_documents(np.array([[0.5], [0.49], [0.1]]), [3], X, 3).tolist() == [0, 2, 1]


def test_a_batch_is_spread_over_labels() -> None:
    P = np.array([[0.5, 0.01]] * 4 + [[0.01, 0.2]] * 4)
    assert choose_documents(P, [0, 0], Csr(np.eye(8)), 4).tolist() == [0, 4, 1, 5]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = ['"the bus was late",buses', '"a hole in the road",roads', '"late bus, bad road",buses;roads'] * 6
    rows += ['"the bus on the road",', '"the bus on the road",', '"nothing at all",']
    Path("mail.csv").write_text("id,text,labels\n" + "".join(f"{n},{row}\n" for n, row in enumerate(rows)))
    return tmp_path


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suggest", "mail.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["labelled"], found["candidates"]) == (18, 3)
    ids = [one["document"] for one in found["documents"]]
    assert len(set(ids) & {"18", "19"}) == 1
    assert {name for name, _ in found["documents"][0]["labels"]} == {"buses", "roads"}
    Path("more.csv").write_text("id,text\na,a late bus\nb,a bad road\n")
    assert run(["suggest", "mail.csv", "--unlabelled", "more.csv", "--documents", "1"]) == 0
    assert "1 document of 2 without a label, by a model of 18 labelled ones." in capsys.readouterr().out


def test_nothing_to_choose_from(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("all.csv").write_text("text,labels\n" + 5 * "late bus,buses\nbad road,roads\n")
    assert run(["suggest", "all.csv"]) == 2
    assert "--unlabelled" in capsys.readouterr().err
