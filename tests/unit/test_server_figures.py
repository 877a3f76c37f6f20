"""Figures of a corpus under review: confusions, and labels with their metrics."""

from pathlib import Path

import pytest

from manylabel.exceptions import UnknownNameError
from manylabel.server.store import figures, filling, labels
from manylabel.server.store.files import CorpusFile
from reviewed import SCORES, decide, decision, ids, make_corpus, scores_of, undo

MISSED_ROADS = [
    {"missed": "roads", "wrong": "lamps", "documents": 2},
    {"missed": "roads", "wrong": "buses", "documents": 1},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> CorpusFile:
    """A corpus in which two documents miss roads and get lamps, one of them buses too."""
    corpus = make_corpus(tmp_path_factory.mktemp("data"))
    changed = [*[one for one in SCORES if one[:2] not in ((5, 1), (5, 2))], (1, 2, 0.9), (5, 1, 0.3), (5, 2, 0.6)]
    changed = [(row, column, 0.1 if (row, column) == (1, 1) else score) for row, column, score in changed]
    with corpus.writing() as database:
        filling.keep_scores(database, scores_of(changed))
    return corpus


def test_confusions_are_pairs_of_a_missed_and_a_wrong_label(made: CorpusFile) -> None:
    with made.reading() as database:
        found = figures.confusions(database, "", None, 10)
        assert (found["documents"], found["total"], found["pairs"]) == (2, 2, MISSED_ROADS)
        assert figures.confusions(database, "", None, 1)["pairs"] == MISSED_ROADS[:1]
        assert figures.confusions(database, "BUS", None, 10)["pairs"] == MISSED_ROADS[1:]
        assert figures.confusions(database, "", "lamps", 10)["pairs"] == MISSED_ROADS[:1]
        assert figures.confusions(database, "bus", "lamps", 10)["total"] == 0
        with pytest.raises(UnknownNameError):
            figures.confusions(database, "", "lamp", 10)
    opened = [{"label": "roads", "relation": "false negative"}, {"label": "lamps", "relation": "false positive"}]
    assert ids(made, labels=opened) == "bf"


def test_a_decision_ends_a_confusion(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    with corpus.writing() as database:
        assert figures.confusions(database, "", None, 10) == {"documents": 0, "total": 0, "pairs": []}
    decide(corpus, "Ana", decision(6, accept=["lamps"]))  # lamps is missed there, and buses is wrong
    with corpus.reading() as database:
        assert figures.confusions(database, "", None, 10)["pairs"] == [
            {"missed": "lamps", "wrong": "buses", "documents": 1}
        ]
    decide(corpus, "Ana", decision(6, revision=2, accept=["buses"]))
    with corpus.reading() as database:
        assert figures.confusions(database, "", None, 10)["total"] == 0


def test_scores_of_other_labels_are_left_out(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    with corpus.writing() as database:
        filling.keep_scores(database, scores_of(SCORES, labels=["x", "y", "z"]))
        assert figures.confusions(database, "", None, 10) == {"documents": 0, "total": 0, "pairs": []}


def table(corpus: CorpusFile, order: figures.LabelOrder, descending: bool = False, typed: str = "") -> str:
    with corpus.reading() as database:
        total, found = figures.label_table(database, typed, order, descending, 0, 10)
    assert total == len(found)
    return " ".join(one["label"] for one in found)


def test_labels_have_figures_at_their_thresholds(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    decide(corpus, "Ana", decision(5, reject=["buses"]), decision(6, accept=["buses"]))
    with corpus.writing() as database:
        labels.add(database, "Ana", "Äpfel")
        total, found = figures.label_table(database, "", "name", False, 0, 10)
    assert (total, [one["label"] for one in found]) == (4, ["Äpfel", "buses", "lamps", "roads"])
    assert found[1] == {
        "label": "buses", "documents": 3, "decided": 2, "threshold": 0.5, "true_positives": 3, "false_positives": 1,
        "false_negatives": 0, "precision": 0.75, "recall": 1.0, "f1": 6 / 7,
    }  # fmt: skip
    assert (found[0]["documents"], found[0]["f1"], found[0]["threshold"]) == (0, None, None)


def test_labels_are_ordered_by_any_figure(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)  # f1: buses 2/3, roads 4/5, lamps 0
    assert table(corpus, "f1") == "lamps buses roads"
    assert table(corpus, "f1", descending=True) == "roads buses lamps"
    assert table(corpus, "precision") == "buses roads lamps"  # lamps is never predicted: no precision
    assert table(corpus, "precision", descending=True) == "roads buses lamps"
    assert table(corpus, "documents", descending=True, typed="S") == "roads buses lamps"
    assert table(corpus, "false_positives", descending=True) == "buses lamps roads"
    assert table(corpus, "name", descending=True, typed="a") == "roads lamps"
    with corpus.reading() as database:
        total, found = figures.label_table(database, "", "name", False, 1, 1)
    assert (total, found[0]["label"]) == (3, "lamps")


def test_events_after_another_tell_what_others_changed(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    with corpus.reading() as database:
        seen = labels.events(database, None, None, None, 1)[1]
    first, _ = decide(corpus, "Ana", decision(5, reject=["buses"]), decision(3, accept=["lamps"], state="reviewed"))
    second, _ = undo(corpus, "Ana")
    with corpus.reading() as database:
        found, latest = labels.events(database, None, None, seen, 10)
        assert (labels.events(database, None, None, latest, 10), latest) == (([], second), second)
    assert [(one["number"], one["by"], one["kind"]) for one in found] == [
        (second, "Ana", "undo"),
        (first, "Ana", "decision"),
    ]
    assert [one["documents"] for one in found] == [[3, 5], [3, 5]]
